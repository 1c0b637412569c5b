//! [`Prose`]: text and thinking, up to the next marker.

use memchr::{memchr, memchr2};

use super::body::Json;
use super::channel::Channel;
use super::grammar::BehindRule;
use super::literal::Literal;
use super::machine::{Machine, Step};
use super::markup::Markup;
use super::matcher::{Leads, Matcher};
use super::sheet::{Dropped, RunKind, Sheet};
use super::span::SpanKind;
use super::template::{Found, Match};
use crate::diagnostic::Kind;

/// The longest run of backticks that can open an inline code span.
///
/// A span that is not closed on its line is none, and finding that out takes a search of the line for
/// each length.
const LONGEST_SPAN: usize = 8;

/// Prose, and how far the search for markers in it has come.
#[derive(Clone, Debug)]
pub(super) struct Prose {
    /// Everything before this has been searched.
    scan: usize,
    /// Before this nothing starts that may be a marker. Whether code opened in it is not looked for before
    /// that matters.
    clear: usize,
    place: Place,
    code: Code,
}

/// Where prose stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Text,
    /// Between the calls of a wrapper.
    Wrapper,
    Thinking,
}

/// Code in Markdown, in which a marker is prose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code {
    None,
    /// In a run of backticks or tildes, which starts here.
    Marks(usize),
    /// Behind a run of backticks that opens a span, or a fence, or nothing.
    Run(Run),
    /// In a fenced block, up to a line of at least as many of the same mark.
    Fence(Fence),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fence {
    mark: u8,
    length: usize,
    /// Where the line starts that is searched; nothing in the line that opens the fence.
    line: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    length: usize,
    /// It is the first on its line and no other run has come behind it, so it may open a fence: the line that
    /// does has no backtick behind the run.
    fence: bool,
    /// Its line was searched for its like up to here.
    seen: usize,
    /// It was searched for markers up to here.
    looked: usize,
    /// The first marker behind it, held back until it is known whether it stands in code.
    held: Option<usize>,
}

impl Prose {
    pub(super) fn new(scan: usize, place: Place) -> Self {
        Self { scan, clear: scan, place, code: Code::None }
    }

    pub(super) fn at_start(matcher: &Matcher) -> Self {
        let inside = matcher.grammar.reasoning.as_ref().is_some_and(|reasoning| reasoning.inside);
        Self::new(0, if inside { Place::Thinking } else { Place::Text })
    }

    /// Takes a piece that has no marker in it, with nothing held back before it, which most pieces are.
    ///
    /// The piece is searched before it is added to the text: what was just written is slow to read.
    #[inline]
    pub(super) fn skim(&mut self, matcher: &Matcher, sheet: &mut Sheet, piece: &str) -> bool {
        let plain = sheet.text.len() == self.scan.max(self.clear)
            && matches!(self.code, Code::None)
            && matcher.next_opener(self.place, piece.as_bytes()).is_none();
        if plain {
            sheet.text.push_str(piece);
            self.clear = sheet.text.len();
            if !sheet.go_on(self.clear) {
                sheet.prose(self.kind(matcher, sheet), self.clear);
            }
        }
        plain
    }

    /// Searches on, and shows everything that cannot become a marker any more.
    pub(super) fn step(&mut self, matcher: &Matcher, sheet: &mut Sheet) -> Step {
        loop {
            let undecided = match self.code {
                Code::None => match self.search_text(matcher, sheet) {
                    Search::Undecided(shown) => Some(shown),
                    Search::On => None,
                    Search::Machine(machine) => return Step::Go(machine),
                },
                Code::Run(run) => self.search_line(run, matcher, sheet),
                Code::Marks(at) => self.open_code(at, sheet),
                Code::Fence(fence) => self.search_fence(fence, sheet),
            };
            if let Some(shown) = undecided {
                sheet.prose(self.kind(matcher, sheet), shown);
                return Step::Wait;
            }
        }
    }

    /// Outside of code: the next marker.
    fn search_text(&mut self, matcher: &Matcher, sheet: &mut Sheet) -> Search {
        let text = &sheet.text;
        if self.clear == text.len() {
            return Search::Undecided(text.len());
        }
        let Some(ahead) = matcher.next(self.place, &text.as_bytes()[self.scan..]) else {
            self.scan = text.len();
            return Search::Undecided(text.len());
        };
        let at = self.scan + ahead;
        let (found, leads) = matcher.opener(self.place, text, at, sheet.over);
        match found {
            Match::Full(found) => match self.enter(matcher, sheet, at, leads, &found) {
                Some(machine) => return Search::Machine(machine),
                None => self.pass(sheet, at),
            },
            Match::Partial => {
                self.scan = at;
                return Search::Undecided(at);
            }
            Match::No if matcher.reads_code(self.place) && matches!(text.as_bytes()[at], b'`' | b'~') => {
                self.scan = at;
                self.code = Code::Marks(at);
            }
            Match::No => self.pass(sheet, at),
        }
        Search::On
    }

    /// What starts at `at` is no marker.
    fn pass(&mut self, sheet: &Sheet, at: usize) {
        self.scan = behind_char(&sheet.text, at);
    }

    /// In a run that starts at `at`: it may open code. Returns how much can be shown if that is not decided.
    fn open_code(&mut self, at: usize, sheet: &Sheet) -> Option<usize> {
        let bytes = sheet.text.as_bytes();
        let mark = bytes[at];
        self.scan += bytes[self.scan..].iter().take_while(|&&byte| byte == mark).count();
        let end = self.scan;
        if end == bytes.len() && !sheet.over {
            return Some(end);
        }
        let length = end - at;
        let fence = length >= 3 && is_first_on_line(bytes, at);
        self.code = match mark {
            // A line has but one run that is the first, so that may be of any length.
            b'`' if length <= LONGEST_SPAN || fence => {
                Code::Run(Run { length, fence, seen: end, looked: end, held: None })
            }
            _ if fence => Code::Fence(Fence { mark, length, line: None }),
            _ => Code::None,
        };
        None
    }

    /// Behind a run of backticks: it opens a span if its like follows on the line, else a fence if it can.
    fn search_line(&mut self, mut run: Run, matcher: &Matcher, sheet: &Sheet) -> Option<usize> {
        let bytes = sheet.text.as_bytes();
        let mut seen = run.seen;
        while let Some(ahead) = memchr2(b'`', b'\n', &bytes[seen..]) {
            let at = seen + ahead;
            if bytes[at] == b'\n' {
                return self.end_line(run, at);
            }
            let length = bytes[at..].iter().take_while(|&&byte| byte == b'`').count();
            if at + length == bytes.len() && !sheet.over && length <= run.length {
                return self.hold(Run { seen: at, ..run }, matcher, sheet);
            }
            seen = at + length;
            // The rest of a run that was longer before is none.
            if length == run.length && bytes[at - 1] != b'`' {
                self.scan = seen;
                self.code = Code::None;
                return None;
            }
            run.fence = false;
        }
        if sheet.over {
            return self.end_line(run, bytes.len());
        }
        self.hold(Run { seen: bytes.len(), ..run }, matcher, sheet)
    }

    /// The line of a run ends at `at` without its like.
    fn end_line(&mut self, run: Run, at: usize) -> Option<usize> {
        self.code = Code::None;
        if run.fence {
            self.code = Code::Fence(Fence { mark: b'`', length: run.length, line: None });
            self.scan = at;
        }
        // Else the search goes on behind the run, not at what was held: that may stand in a span of other
        // runs. A run that has no like on its line is the last of its length, so this is seldom.
        None
    }

    /// The line of a run has not ended: what may be a marker in it is held back.
    fn hold(&mut self, run: Run, matcher: &Matcher, sheet: &Sheet) -> Option<usize> {
        let text = &sheet.text;
        let mut looked = run.held.unwrap_or(run.looked);
        let held = loop {
            let Some(ahead) = matcher.next(self.place, &text.as_bytes()[looked..]) else { break None };
            looked += ahead;
            if !matches!(matcher.opener(self.place, text, looked, sheet.over).0, Match::No) {
                break Some(looked);
            }
            looked = behind_char(text, looked);
        };
        let looked = held.unwrap_or(text.len());
        self.code = Code::Run(Run { looked, held, ..run });
        Some(held.unwrap_or(text.len()))
    }

    /// In a fenced block: the line that ends it.
    fn search_fence(&mut self, fence: Fence, sheet: &Sheet) -> Option<usize> {
        let bytes = sheet.text.as_bytes();
        let mut line = fence.line;
        while let Some(ahead) = memchr(b'\n', &bytes[self.scan..]) {
            let end = self.scan + ahead;
            self.scan = end + 1;
            if line.is_some_and(|start| fence.ends_at(&bytes[start..end])) {
                self.code = Code::None;
                return None;
            }
            line = Some(end + 1);
        }
        self.scan = bytes.len();
        self.code = Code::Fence(Fence { line, ..fence });
        Some(bytes.len())
    }

    /// What a marker leads to; nothing if it is none after all.
    fn enter(
        &self,
        matcher: &Matcher,
        sheet: &mut Sheet,
        at: usize,
        leads: Leads,
        found: &Found,
    ) -> Option<Machine> {
        let marker = |sheet: &mut Sheet| {
            sheet.prose(self.kind(matcher, sheet), at);
            sheet.end_prose(at);
            sheet.lay(SpanKind::Markup, found.end);
        };
        let prose = |place| Some(Machine::Prose(Self::new(found.end, place)));
        match leads {
            Leads::Thinking if self.place == Place::Thinking => {
                // The marker that the prompt was to end with came after all.
                if !sheet.is_blank_to(at) {
                    return None;
                }
                sheet.lay(SpanKind::Blank, at);
                sheet.lay(SpanKind::Markup, found.end);
                prose(Place::Thinking)
            }
            Leads::Thinking => {
                let once = matcher.grammar.reasoning.as_ref().is_some_and(|reasoning| reasoning.once);
                if once && sheet.thought {
                    return None;
                }
                sheet.thought = true;
                marker(sheet);
                prose(Place::Thinking)
            }
            Leads::ThinkingEnd | Leads::WrapperEnd => {
                marker(sheet);
                prose(Place::Text)
            }
            Leads::Wrapper => {
                marker(sheet);
                prose(Place::Wrapper)
            }
            Leads::Markup { wrapper } => {
                sheet.prose(self.kind(matcher, sheet), at);
                sheet.end_prose(at);
                let within = wrapper || self.place == Place::Wrapper;
                let mut markup = Markup::open(matcher, sheet, at, found, within);
                // A call that is there as a whole never becomes the state.
                Some(match markup.step(matcher, sheet) {
                    Step::Go(machine) => machine,
                    Step::Wait => Machine::Markup(Box::new(markup)),
                })
            }
            Leads::Bare => {
                sheet.is_blank_to(at).then(|| Machine::Json(Box::new(Json::bare(sheet, self, at))))
            }
            Leads::Json { named: true } => {
                Some(Machine::Json(Box::new(Json::named(matcher, sheet, self, at, found))))
            }
            // Whether it is a call may take long to decide; what stands before it is prose either way.
            Leads::Json { named: false } => {
                sheet.prose(self.kind(matcher, sheet), at);
                Some(Machine::Json(Box::new(Json::marked(sheet, self, at, found))))
            }
            Leads::Python | Leads::Gemma => {
                sheet.prose(self.kind(matcher, sheet), at);
                Some(Machine::Literal(Box::new(Literal::open(matcher, sheet, self, at, leads, found))))
            }
            Leads::Channel => {
                sheet.prose(self.kind(matcher, sheet), at);
                Some(Machine::Channel(Channel::open(sheet, self, at, found)))
            }
            Leads::ChannelEnd => {
                marker(sheet);
                prose(Place::Text)
            }
        }
    }

    /// The prose that goes on behind `at`, where a marker led to nothing.
    pub(super) fn behind(&self, sheet: &Sheet, at: usize) -> Self {
        let mut prose = Self::new(at, self.place);
        prose.pass(sheet, at);
        prose
    }

    /// Whether it stands in a wrapper that has had its calls.
    pub(super) fn is_behind_calls(&self, sheet: &Sheet) -> bool {
        self.place == Place::Wrapper && sheet.has_calls()
    }

    /// Goes on at `at`, behind calls that began in this prose; `missing` is the closing marker that should
    /// have been there.
    pub(super) fn go_on(&self, sheet: &mut Sheet, at: usize, missing: Option<&str>) -> Step {
        if let Some(missing) = missing {
            let message = format!("`{missing}` is missing behind a call that is whole");
            sheet.note(Kind::MissingCloser, sheet.decided(), message);
        }
        Step::Go(Machine::Prose(Self::new(at, self.place_behind_calls())))
    }

    /// Where prose stands behind calls that began in this.
    pub(super) fn place_behind_calls(&self) -> Place {
        match self.place {
            Place::Wrapper => Place::Wrapper,
            Place::Text | Place::Thinking => Place::Text,
        }
    }

    /// What the prose is.
    #[inline]
    pub(super) fn kind(&self, matcher: &Matcher, sheet: &Sheet) -> RunKind {
        match (self.place, matcher.grammar.behind_calls) {
            (Place::Thinking, _) if matcher.hides_thinking() => RunKind::Dropped(Dropped::Thinking),
            (Place::Thinking, _) => RunKind::Thinking,
            (_, BehindRule::Drop) if sheet.has_calls() => RunKind::Dropped(Dropped::BehindCall),
            _ => RunKind::Text,
        }
    }
}

impl Fence {
    /// Whether this line is the one that ends it: at least as many of its marks, and blanks.
    fn ends_at(self, line: &[u8]) -> bool {
        let marks = line.trim_ascii();
        marks.len() >= self.length && marks.iter().all(|&byte| byte == self.mark)
    }
}

/// What a search came to.
enum Search {
    /// It goes on from where it is.
    On,
    /// What is there does not decide it; everything up to here can be shown.
    Undecided(usize),
    /// Something else begins.
    Machine(Machine),
}

/// Where the character ends that starts at `at`.
fn behind_char(text: &str, at: usize) -> usize {
    text.ceil_char_boundary(at + 1)
}

/// Whether nothing but blanks stands before `at` on its line.
fn is_first_on_line(bytes: &[u8], at: usize) -> bool {
    let before = bytes[..at].iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
    before.is_none_or(|&byte| byte == b'\n')
}
