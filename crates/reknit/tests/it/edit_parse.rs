//! Edits out of answers: the cases of `corpus/edit-parse`, cut in every way.

use std::fmt::Write;

use reknit::Hint;
use reknit::edit::{Action, Edit, FileEnd, Format, Parsed, Parser, ProblemKind, Replace};
use reknit::edit::{Scope, parse};

use crate::corpus::{self, Verdict};
use crate::cuts::{Random, cut_at_random, same_for_every_cut, whole_characters};

#[test]
fn edit_parse_cases_give_what_they_must() {
    let mut verdict = Verdict::new();
    for format in Format::ALL {
        for case in corpus::cases(&format!("edit-parse/{format}")) {
            let parsed = same_for_every_cut(&case.input, |pieces| read(Parser::new(format), pieces));
            assert_eq!(parse(format, case.text()), parsed, "{}", case.name);
            assert_eq!(parsed.format, Some(format));
            verdict.expect(&case, "expected.txt", &summary(&parsed));
        }
    }
    for case in corpus::cases("edit-parse/auto") {
        let parsed = same_for_every_cut(&case.input, |pieces| read(Parser::detect(), pieces));
        let format = parsed.format.map_or("not found", Format::name);
        verdict.expect(&case, "expected.txt", &format!("format {format}\n{}", summary(&parsed)));
    }
    verdict.give();
}

/// What is found of an answer is what is read of it in its format.
#[test]
fn cases_are_found_to_be_in_their_format() {
    for format in Format::ALL {
        for case in corpus::cases(&format!("edit-parse/{format}")) {
            let found = same_for_every_cut(&case.input, |pieces| read(Parser::detect(), pieces));
            match found.format {
                Some(found_format) => {
                    assert_eq!(found_format, format, "{}", case.name);
                    assert_eq!(found, parse(format, case.text()), "{}", case.name);
                }
                None => assert_eq!(found, Parsed::default()),
            }
        }
    }
}

/// How many answers are made up for each format.
const MADE_UP: u64 = 400;

/// Whatever an answer holds, it comes out the same for every cut, and every line of content is in the one edit
/// in whose range it is.
#[test]
fn made_up_answers_come_out_the_same_and_whole() {
    for format in Format::ALL {
        let mut edits = 0;
        for seed in 0..MADE_UP {
            let answer = made_up(format, &mut Random::new(seed));
            let parsed = parse(format, &answer);
            let whole = read(Parser::new(format), &[answer.as_bytes()]);
            assert_eq!(whole, parsed, "{format} {seed}\n{answer}");
            let bytes: Vec<_> = answer.as_bytes().chunks(1).collect();
            assert_eq!(read(Parser::new(format), &bytes), parsed, "{format} {seed}\n{answer}");
            let pieces = cut_at_random(answer.as_bytes(), seed);
            assert_eq!(read(Parser::new(format), &pieces), parsed, "{format} {seed}\n{answer}");
            let found = read(Parser::detect(), &[answer.as_bytes()]);
            assert_eq!(read(Parser::detect(), &pieces), found, "{format} {seed}\n{answer}");
            if format != Format::StrReplace {
                parsed.edits.iter().for_each(|edit| holds_its_lines(&answer, edit));
            }
            edits += parsed.edits.len();
        }
        assert!(edits > 100, "{format}: only {edits} edits were made up");
    }
}

/// An answer of lines that mean something in a format, in any order; each line of content is there once.
fn made_up(format: Format, random: &mut Random) -> String {
    let (whole, lines): (&[&str], &[&str]) = match format {
        Format::SearchReplace => (
            &[
                "<<<<<<< SEARCH\n#\n=======\n#\n>>>>>>> REPLACE\n",
                "<<<<<<< SEARCH\n#\n=======\n",
                "```\n<<<<<<< SEARCH\n",
            ],
            &[
                "<<<<<<< SEARCH",
                "------- SEARCH>",
                "<<<<<<< HEAD",
                "<<<<<<<search",
                "=======",
                "===",
                ">>>>>>> REPLACE",
                "+++ REPLACE",
                ">>>>>>>",
                ">>>>>>> x",
                "```",
                "```rust",
                "src/a.rs",
                "```src/b.rs",
                ":start_line:3",
                "-------",
                "\\=======",
            ],
        ),
        Format::UnifiedDiff => (
            &["--- a/x.rs\n+++ b/x.rs\n@@ -1,2 +1,2 @@\n #\n-#\n+#\n", "@@\n-#\n+#\n", "```diff\n"],
            &[
                "--- a/y.rs",
                "+++ b/y.rs",
                "--- /dev/null",
                "+++ /dev/null",
                "@@ -3,1 +3,2 @@",
                "@@ ... @@",
                " #",
                "-#",
                "+#",
                "-#",
                "+#",
                "```",
                "diff --git a/z b/z",
                "rename from z",
                "rename to w",
                "new file mode 100644",
                "\\ No newline at end of file",
            ],
        ),
        Format::ApplyPatch => (
            &["*** Begin Patch\n", "*** Update File: a\n@@\n #\n-#\n+#\n", "*** Add File: b\n+#\n"],
            &[
                "*** End Patch",
                "*** Delete File: c",
                "*** Move to: d",
                "*** End of File",
                "@@",
                "@@ head",
                "@@ -1 +1 @@",
                " #",
                "-#",
                "+#",
                "*** Begin Patch",
                "*** odd",
                "```",
            ],
        ),
        Format::Whole => (
            &["src/a.rs\n```\n#\n```\n", "```rust src/b.rs\n#\n"],
            &["```", "````", "~~~", "```sh", "name.txt", "```title=c.txt", "`x`"],
        ),
        Format::StrReplace => (
            &[
                "{\"path\": \"a\", \"old_string\": \"#\", \"new_string\": \"#\"}\n",
                "{\"edits\": [{\"old_text\": \"#\", \"new_text\": \"#\"}",
            ],
            &[
                "{",
                "}",
                "[",
                "]",
                ",",
                ":",
                "\"",
                "\\",
                "\"old_string\"",
                "\"new_string\": \"",
                "\"path\": \"x\",",
                "1e999",
                "\\ud800",
                "true",
                "\"command\": \"view\"",
                "\"old_string\": \"#\",",
                "{\"new_str\": \"#\"",
            ],
        ),
        Format::RooArgs => (
            &[
                "<args>\n<file>\n<path>a</path>\n<diff>\n<content>\n<<<<<<< SEARCH\n#\n=======\n#\n>>>>>>> REPLACE\n</content>\n</diff>\n",
                "<<<<<<< SEARCH\n#\n=======\n#\n>>>>>>> REPLACE\n",
            ],
            &[
                "<args>",
                "</args>",
                "<file>",
                "</file>",
                "<path>b</path>",
                "<path>",
                "<diff>",
                "</diff>",
                "<content>",
                "</content>",
                "<start_line>4</start_line>",
                "<![CDATA[",
                "]]>",
                "<<<<<<< SEARCH",
                "=======",
                ">>>>>>> REPLACE</content>",
                "x <diff> y",
            ],
        ),
    };
    let mut answer = String::new();
    let mut content = 0;
    for _ in 0..2 + random.below(14) {
        let line = match random.below(6) {
            0 | 1 => whole[random.below(whole.len())].to_owned(),
            2 => "#\n".to_owned(),
            3 => ["\n", "prose, 1 ä\n", "\r\n"][random.below(3)].to_owned(),
            _ => format!("{}\n", lines[random.below(lines.len())]),
        };
        for char in line.chars() {
            if char == '#' {
                content += 1;
                answer.push_str(&format!("content{content}."));
            } else {
                answer.push(char);
            }
        }
    }
    if random.below(3) == 0 {
        answer.pop();
    }
    answer
}

/// A line of content is in the texts of an edit if, and only if, it is in the range of the edit.
fn holds_its_lines(answer: &str, edit: &Edit) {
    let texts: Vec<String> = match &edit.action {
        Action::Replace(replace) => vec![format!("{}{}", replace.search, replace.replacement)],
        Action::Undecided(readings) => {
            readings.iter().map(|replace| format!("{}{}", replace.search, replace.replacement)).collect()
        }
        Action::Write { content } => vec![content.clone()],
        Action::Delete | Action::Move { .. } => return,
    };
    let is_diff = |line: &str| line.starts_with('-') && matches!(edit.action, Action::Write { .. });
    let mut at = 0;
    for line in answer.split_inclusive('\n') {
        let inside = edit.at.contains(&at) && edit.at.contains(&(at + line.len() - 1));
        at += line.len();
        let Some(start) = line.find("content").filter(|_| !is_diff(line)) else { continue };
        let Some(end) = line.find('.') else { continue };
        for text in &texts {
            assert_eq!(text.contains(&line[start..=end]), inside, "{line:?} of {edit:?}\n{answer}");
        }
    }
}

#[test]
fn kinds_are_named_as_in_json() {
    for kind in ProblemKind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        assert!(!kind.to_string().is_empty() && kind.form().ends_with('\n') && !kind.hint().is_empty());
    }
}

/// Reads an answer in pieces and looks at what is open after each.
pub(crate) fn read(mut parser: Parser, pieces: &[&[u8]]) -> Parsed {
    let mut watch = Watch::default();
    for piece in whole_characters(pieces) {
        parser.push(&piece);
        watch.look(&parser);
    }
    let parsed = parser.finish();
    watch.end(&parsed.edits);
    parsed
}

/// What was shown of an answer, none of which may be taken back.
#[derive(Default)]
struct Watch {
    edits: Vec<Edit>,
    open: Option<Shown>,
}

/// An edit whose search text is known.
struct Shown {
    at: usize,
    path: Option<String>,
    action: Action,
}

impl Watch {
    fn look(&mut self, parser: &Parser) {
        self.end(parser.edits());
        self.edits = parser.edits().to_vec();
        let Some(edit) = parser.open() else { return };
        if let Some(shown) = self.open.take_if(|shown| shown.at == edit.at.start) {
            shown.check(edit);
        }
        self.open = Some(Shown { at: edit.at.start, path: edit.path.clone(), action: edit.action.clone() });
    }

    /// Whole edits stay as they are, except for what is reported of them later, and continue what was open.
    fn end(&self, edits: &[Edit]) {
        for (before, now) in self.edits.iter().zip(edits) {
            assert_eq!((&before.path, &before.action, &before.at), (&now.path, &now.action, &now.at));
            assert!(now.repairs.starts_with(&before.repairs));
        }
        assert!(edits.len() >= self.edits.len());
        if let Some(shown) = &self.open
            && let Some(edit) = edits[self.edits.len()..].iter().find(|edit| edit.at.start == shown.at)
        {
            shown.check(edit);
        }
    }
}

impl Shown {
    fn check(&self, now: &Edit) {
        assert!(self.path.is_none() || self.path == now.path, "{:?} became {:?}", self.path, now.path);
        match (&self.action, &now.action) {
            (Action::Replace(before), Action::Replace(now)) => grew(before, now),
            (Action::Replace(before), Action::Undecided(now)) => grew(before, &now[0]),
            (Action::Undecided(before), Action::Undecided(now)) => {
                assert!(now.len() >= before.len());
                before.iter().zip(now).for_each(|(before, now)| grew(before, now));
            }
            (Action::Write { content: before }, Action::Write { content: now }) => {
                assert!(now.starts_with(before.as_str()), "{before:?} became {now:?}");
            }
            (before, now) => panic!("{before:?} became {now:?}"),
        }
    }
}

fn grew(before: &Replace, now: &Replace) {
    assert_eq!(before.search, now.search);
    assert!(now.replacement.starts_with(&before.replacement), "{before:?} became {now:?}");
}

/// Everything that was read, one thing a line.
fn summary(parsed: &Parsed) -> String {
    let mut out = String::new();
    for edit in &parsed.edits {
        let path = edit.path.as_ref().map_or("no path".to_owned(), |path| format!("{path:?}"));
        writeln!(out, "edit {path} line {} bytes {}..{}", edit.line, edit.at.start, edit.at.end).unwrap();
        for repair in &edit.repairs {
            let kind = serde_json::to_value(repair.kind).unwrap();
            writeln!(out, "repair {} line {}", kind.as_str().unwrap(), repair.line).unwrap();
        }
        match &edit.action {
            Action::Replace(replace) => write_replace(&mut out, replace),
            Action::Undecided(readings) => {
                for (index, replace) in readings.iter().enumerate() {
                    writeln!(out, "reading {}", index + 1).unwrap();
                    write_replace(&mut out, replace);
                }
            }
            Action::Write { content } => write_text(&mut out, "content", content),
            Action::Delete => out.push_str("delete\n"),
            Action::Move { to } => writeln!(out, "move to {to:?}").unwrap(),
        }
    }
    for problem in &parsed.problems {
        let kind = problem.kind.name();
        writeln!(out, "problem {kind} line {} {:?}", problem.line, problem.snippet).unwrap();
    }
    if out.is_empty() {
        out.push_str("nothing\n");
    }
    out
}

fn write_replace(out: &mut String, replace: &Replace) {
    if let Some(hint) = replace.hint {
        writeln!(out, "hint {hint}").unwrap();
    }
    replace.below.iter().for_each(|heading| writeln!(out, "below {heading:?}").unwrap());
    match replace.scope {
        Scope::Lines => {}
        Scope::Within => out.push_str("within lines\n"),
        Scope::Everywhere => out.push_str("within lines, all\n"),
    }
    match replace.end {
        FileEnd::Kept => {}
        FileEnd::Closed => out.push_str("lines have ends\n"),
        FileEnd::Open => out.push_str("the last line has no end\n"),
        FileEnd::Here => out.push_str("at the end of the file\n"),
    }
    write_text(out, "search", &replace.search);
    write_text(out, "replacement", &replace.replacement);
}

/// A text with a line for each of its own.
fn write_text(out: &mut String, name: &str, text: &str) {
    writeln!(out, "{name}").unwrap();
    text.split_inclusive('\n').for_each(|line| writeln!(out, "  {line:?}").unwrap());
}
