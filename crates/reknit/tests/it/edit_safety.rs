//! Any file and any edits: applied with every other byte as it was, or refused with nothing done; never both.

use std::collections::HashSet;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use reknit::edit::{
    Action, Edit, FileAction, FileEnd, FilePlan, Format, How, Match, Outcome, Parsed, Parser, Plan, Preview,
    Replace, Scope, parse, plan,
};

use crate::cuts::cut_at_random;
use crate::edit_follower::Follower;

const PATH: &str = "a.rs";
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Few enough that they meet: the same line in several places, and in several forms.
const LINES: [&str; 18] = [
    "a",
    "b",
    "  a",
    "\ta",
    "a  ",
    "",
    " ",
    "}",
    "    }",
    "...",
    "\"x\"",
    "\u{201C}x\u{201D}",
    "call(one, two);",
    "    call(one, two);",
    "long enough to tell = 1",
    "long enough to tell = 2",
    "enough to tell = 2",
    "\u{3000}é",
];

/// What answers are made of besides.
const MARKS: [&str; 34] = [
    "<<<<<<< SEARCH",
    "<<<<<<< SEARCH",
    "------- SEARCH",
    ":start_line:2",
    "-------",
    "=======",
    "=======",
    "\\=======",
    ">>>>>>> REPLACE",
    ">>>>>>> REPLACE",
    "+++++++ REPLACE",
    "```",
    "```rust",
    "a.rs",
    "*** Begin Patch",
    "*** Update File: a.rs",
    "*** Add File: b.rs",
    "*** Delete File: a.rs",
    "*** Move to: c.rs",
    "*** End of File",
    "*** End Patch",
    "--- a.rs",
    "+++ a.rs",
    "@@",
    "@@ -1,2 +1,2 @@",
    "@@ a",
    " a",
    "-a",
    "+b",
    "-call(one, two);",
    "{\"old_string\": \"a\\n\", \"new_string\": \"b\\n\", \"replace_all\": true}",
    "<args><file><path>a.rs</path><diff>",
    "</diff></file></args>",
    "1 | a",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    #[test]
    fn edits_are_placed_or_leave_no_trace(file in file(), asks in prop::collection::vec(ask(), 1..5), loosest in rung()) {
        let edits: Vec<_> = asks.iter().map(|ask| ask.edit(&file)).collect();
        check(&file, &edits, loosest);
    }

    #[test]
    fn answers_are_placed_or_leave_no_trace(
        file in file(),
        answer in answer(),
        format in select(Format::ALL.to_vec()),
        seed: u64,
    ) {
        let answer = answer.iter().map(|part| part.text(&file)).collect::<String>();
        for parser in [|_| Parser::detect(), Parser::new] {
            let whole = previewed(parser(format), &file, &[answer.as_bytes()]);
            let pieces = cut_at_random(answer.as_bytes(), seed);
            prop_assert_eq!(&previewed(parser(format), &file, &pieces), &whole, "random cut {}", seed);
            let bytes: Vec<_> = answer.as_bytes().chunks(1).collect();
            prop_assert_eq!(&previewed(parser(format), &file, &bytes), &whole, "byte by byte");
        }
        check(&file, &parse(format, &answer).edits, How::Context);
    }
}

/// What a preview ends with: what was read and planned, and what it reported and showed last.
fn previewed(parser: Parser, file: &[u8], pieces: &[&[u8]]) -> (Parsed, Plan, Follower) {
    let mut preview = Preview::new(parser, file, How::Context);
    let mut follower = Follower::default();
    let mut cut_character = Vec::new();
    for piece in pieces {
        cut_character.extend_from_slice(piece);
        let whole = std::str::from_utf8(&cut_character).map_or_else(|error| error.valid_up_to(), str::len);
        let text = std::str::from_utf8(&cut_character[..whole]).expect("it was looked at");
        follower.push(&mut preview, text);
        cut_character.drain(..whole);
    }
    let (parsed, plan) = preview.finish();
    (parsed, plan, follower)
}

/// Plans the edits of a file and looks at what the plan may not do.
fn check(file: &[u8], edits: &[Edit], loosest: How) {
    let planned = |edits: &[Edit]| plan(edits, &[(PATH, file)], loosest);
    let whole = planned(edits);
    assert_eq!(whole, planned(edits), "the same again");
    let mut indexes: Vec<_> =
        whole.files.iter().flat_map(|file| &file.reports).map(|report| report.index).collect();
    indexes.sort_unstable();
    assert_eq!(indexes, (0..edits.len()).collect::<Vec<_>>(), "one report for each edit");

    for plan in &whole.files {
        let original = if plan.path == PATH { file } else { &[] };
        check_splices(plan, original);
        let rejected = |outcome: &Outcome| matches!(outcome, Outcome::Rejected(_));
        if plan.reports.iter().all(|report| rejected(&report.outcome)) {
            let action = if plan.path == PATH { FileAction::Update } else { FileAction::Missing };
            assert_eq!((&*plan.splices, &plan.action), (&[][..], &action));
        }
        for report in &plan.reports {
            if let Outcome::Applied(found) = &report.outcome {
                check_match(&edits[report.index], found, original, loosest);
            }
        }
    }
    if all_different(edits) {
        let rejected: HashSet<_> = whole.rejected().map(|(_, report)| report.index).collect();
        let kept: Vec<_> = edits.iter().enumerate().filter(|(index, _)| !rejected.contains(index)).collect();
        let kept = planned(&kept.into_iter().map(|(_, edit)| edit.clone()).collect::<Vec<_>>());
        let done = |plan: &Plan| -> Vec<_> {
            let outcome = |file: &FilePlan| (file.path.clone(), file.action.clone(), file.splices.clone());
            plan.files.iter().filter(|file| file.changes()).map(outcome).collect()
        };
        assert_eq!(done(&whole), done(&kept), "an edit that is refused is as good as none");
    }
}

/// Splices are in order, in the file and apart, and all around them stays.
fn check_splices(plan: &FilePlan, original: &[u8]) {
    let mut at = if original.starts_with(BOM) { BOM.len() } else { 0 };
    let mut content = original[..at].to_vec();
    for splice in &plan.splices {
        assert!(at <= splice.range.start && splice.range.start <= splice.range.end, "{:?}", plan.splices);
        content.extend_from_slice(&original[at..splice.range.start]);
        content.extend_from_slice(&splice.replacement);
        at = splice.range.end;
    }
    content.extend_from_slice(&original[at..]);
    assert_eq!(plan.content(original), content);
}

/// A match is within the file and on an allowed rung, and what is exact is there.
fn check_match(edit: &Edit, found: &Match, original: &[u8], loosest: How) {
    assert!(found.how <= loosest, "{found:?}");
    let text = original.strip_prefix(BOM).unwrap_or(original);
    // A carriage return by itself ends a line where the first line has one.
    let returns = text.iter().find(|byte| b"\r\n".contains(byte)) == Some(&b'\r');
    let mut lines: Vec<&[u8]> = Vec::new();
    let mut start = 0;
    for (at, byte) in text.iter().enumerate() {
        if *byte == b'\n' || (returns && *byte == b'\r' && text.get(at + 1) != Some(&b'\n')) {
            lines.push(&text[start..=at]);
            start = at + 1;
        }
    }
    lines.extend((start < text.len()).then_some(&text[start..]));
    for place in &found.lines {
        assert!(1 <= place.first && place.first <= place.last + 1 && place.last <= lines.len(), "{found:?}");
    }
    if let Action::Replace(replace) = &edit.action
        && found.how == How::Exact
        && found.inside.is_none()
        && replace.scope == Scope::Lines
        && !replace.search.is_empty()
        && !replace.search.lines().any(|line| line.trim() == "...")
    {
        let place = lines[found.lines[0].first - 1..found.lines[0].last].concat();
        let search = replace.search.as_bytes();
        let open = search.strip_suffix(b"\n").unwrap_or(search);
        let open = open.strip_suffix(b"\r").unwrap_or(open);
        assert!(place == search || (place == open && text.ends_with(open)), "{found:?} of {edit:?}");
    }
}

/// Whether no two edits have the same search text. Those share their places.
fn all_different(edits: &[Edit]) -> bool {
    let mut seen = HashSet::new();
    let readings = edits.iter().flat_map(|edit| match &edit.action {
        Action::Replace(replace) => std::slice::from_ref(replace),
        Action::Undecided(readings) => readings,
        Action::Write { .. } | Action::Delete | Action::Move { .. } => &[],
    });
    let mut readings = readings.map(|replace| &replace.search);
    readings.all(|search| seen.insert(search))
}

fn rung() -> impl Strategy<Value = How> {
    prop_oneof![
        4 => Just(How::Context),
        1 => select(vec![How::Exact, How::LineEnds, How::TrailingWhitespace, How::Indentation, How::BlankLines]),
    ]
}

/// A file: with line ends of one kind or of two, with a mark or without, closed or not, seldom not UTF-8.
fn file() -> impl Strategy<Value = Vec<u8>> {
    let ends = prop_oneof![Just(&["\n"][..]), Just(&["\r\n"][..]), Just(&["\n", "\r\n", "\n"][..])];
    let line = (select(LINES.to_vec()), any::<Index>());
    let lines = prop::collection::vec(line, 0..14);
    let odd = prop::option::weighted(0.1, any::<Index>());
    (lines, ends, any::<bool>(), any::<bool>(), odd).prop_map(|(lines, ends, bom, closed, odd)| {
        let mut file = if bom { BOM.to_vec() } else { Vec::new() };
        for (number, (line, end)) in lines.iter().enumerate() {
            file.extend_from_slice(line.as_bytes());
            if closed || number + 1 < lines.len() {
                file.extend_from_slice(end.get(ends).as_bytes());
            }
        }
        if let Some(at) = odd {
            file.insert(at.index(file.len() + 1), 0xFF);
        }
        file
    })
}

/// A text: lines of the file, or any.
#[derive(Clone, Debug)]
enum Lines {
    Taken { from: Index, count: usize },
    Made(Vec<&'static str>),
}

impl Lines {
    fn text(&self, file: &[u8]) -> String {
        match self {
            Self::Taken { from, count } => {
                let text = String::from_utf8_lossy(file.strip_prefix(BOM).unwrap_or(file)).into_owned();
                let lines: Vec<_> = text.lines().collect();
                let start = from.index(lines.len() + 1);
                lines[start..].iter().take(*count).flat_map(|line| [line, "\n"]).collect()
            }
            Self::Made(lines) => lines.iter().flat_map(|line| [line, "\n"]).collect(),
        }
    }
}

fn text() -> impl Strategy<Value = Lines> {
    prop_oneof![
        (any::<Index>(), 0_usize..6).prop_map(|(from, count)| Lines::Taken { from, count }),
        prop::collection::vec(select(LINES.to_vec()), 0..5).prop_map(Lines::Made),
    ]
}

/// What is asked of the file, before the file is known.
#[derive(Clone, Debug)]
enum Ask {
    Replace(Place),
    Undecided(Vec<Place>),
    Write(Lines),
    Delete,
    Move,
}

/// A search and a replacement.
#[derive(Clone, Debug)]
struct Place {
    search: Lines,
    replacement: Lines,
    /// Whether the search text lacks its last line end and the first two bytes, as one within lines may.
    cut: bool,
    scope: Scope,
    hint: Option<usize>,
    below: Option<&'static str>,
    end: FileEnd,
}

impl Ask {
    fn edit(&self, file: &[u8]) -> Edit {
        let action = match self {
            Self::Replace(place) => Action::Replace(place.replace(file)),
            Self::Undecided(places) => {
                Action::Undecided(places.iter().map(|place| place.replace(file)).collect())
            }
            Self::Write(content) => Action::Write { content: content.text(file) },
            Self::Delete => Action::Delete,
            Self::Move => Action::Move { to: "b.rs".to_owned() },
        };
        Edit { path: None, action, line: 1, at: 0..0, repairs: Vec::new() }
    }
}

impl Place {
    fn replace(&self, file: &[u8]) -> Replace {
        let mut search = self.search.text(file);
        let mut replacement = self.replacement.text(file);
        if self.cut && self.scope != Scope::Lines {
            search = search.trim_end_matches('\n').chars().skip(2).collect();
            replacement.pop();
        }
        let mut replace = Replace::default();
        (replace.search, replace.replacement, replace.scope) = (search, replacement, self.scope);
        (replace.hint, replace.end) = (self.hint, self.end);
        replace.below.extend(self.below.map(str::to_owned));
        replace
    }
}

fn place() -> impl Strategy<Value = Place> {
    let scope = prop_oneof![
        12 => Just(Scope::Lines),
        3 => Just(Scope::Within),
        1 => Just(Scope::Everywhere),
    ];
    let below = prop::option::weighted(0.1, select(LINES.to_vec()));
    let end = prop_oneof![4 => Just(FileEnd::Kept), 1 => Just(FileEnd::Closed), 1 => Just(FileEnd::Here)];
    let hint = prop::option::weighted(0.2, 0_usize..20);
    (text(), text(), any::<bool>(), scope, hint, below, end).prop_map(
        |(search, replacement, cut, scope, hint, below, end)| Place {
            search,
            replacement,
            cut,
            scope,
            hint,
            below,
            end,
        },
    )
}

fn ask() -> impl Strategy<Value = Ask> {
    prop_oneof![
        12 => place().prop_map(Ask::Replace),
        2 => prop::collection::vec(place(), 1..4).prop_map(Ask::Undecided),
        1 => text().prop_map(Ask::Write),
        1 => Just(Ask::Delete),
        1 => Just(Ask::Move),
    ]
}

/// A part of an answer.
#[derive(Clone, Debug)]
enum Part {
    Block(Lines, Lines),
    Lines(Vec<&'static str>),
}

impl Part {
    fn text(&self, file: &[u8]) -> String {
        match self {
            Self::Block(search, replacement) => format!(
                "<<<<<<< SEARCH\n{}=======\n{}>>>>>>> REPLACE\n",
                search.text(file),
                replacement.text(file)
            ),
            Self::Lines(lines) => lines.iter().flat_map(|line| [line, "\n"]).collect(),
        }
    }
}

fn answer() -> impl Strategy<Value = Vec<Part>> {
    let line = select([&LINES[..], &MARKS, &MARKS].concat());
    let part = prop_oneof![
        (text(), text()).prop_map(|(search, replacement)| Part::Block(search, replacement)),
        prop::collection::vec(line, 0..12).prop_map(Part::Lines),
    ];
    prop::collection::vec(part, 1..4)
}
