//! [`Prose`]: text and thinking, up to the next marker.

use std::ops::Range;

use memchr::{memchr, memchr2, memmem};

use super::body::Json;
use super::call::{CallData, Input, Slice};
use super::channel::Channel;
use super::machine::{Machine, Step};
use super::markup::Markup;
use super::matcher::{Matcher, OpenerKind, is_next};
use super::params::Params;
use super::parsed::{Dropped, Parsed, RunKind};
use super::python::Python;
use super::rules::Look;
use super::series::Series;
use super::span::SpanKind;
use super::template::{Found, Match};
use crate::event::End;
use crate::json::PartialJson;

/// The longest run of backticks that can open an inline code span.
///
/// A run opens a span only if a run of the same length follows on its line, so every length can cost another
/// search of the line. Real text does not have longer ones.
const MAX_SPAN_TICKS: usize = 8;

/// Prose, and how far it has been searched for markers.
#[derive(Clone, Debug)]
pub(super) struct Prose {
    /// Everything before this has been searched.
    scan: usize,
    /// No marker starts before this. Whether code starts before this is only searched for when a marker
    /// follows, because nothing else depends on it.
    clear: usize,
    place: Place,
    code: Code,
    look: Look,
}

/// Where prose is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Text,
    /// Between the calls in a wrapper.
    Wrapper,
    Thinking,
}

/// Code in Markdown, in which markers do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code {
    None,
    /// In a run of backticks or tildes that starts here.
    Marks(usize),
    /// After a run of backticks, which may open a span, a fence or nothing.
    AfterTicks(Ticks),
    /// In a fenced block, up to a line with at least as many of the same mark.
    Fence(Fence),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fence {
    mark: u8,
    length: usize,
    /// Where the current line starts; `None` in the line that opens the fence.
    line: Option<usize>,
}

/// A run of backticks, and how far its line has been searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ticks {
    start: usize,
    length: usize,
    /// Whether it may open a fence: it is the first on its line, and no backtick has followed it on the line.
    fence: bool,
    /// Its line has been searched for a run of the same length up to here.
    ticks_searched: usize,
    /// Its line has been searched for markers up to here: the first one after it is held back until it is known
    /// whether that is in code.
    markers_searched: usize,
}

impl Prose {
    pub(super) fn new(scan: usize, place: Place) -> Self {
        Self { scan, clear: scan, place, code: Code::None, look: Look::default() }
    }

    pub(super) fn at_start(matcher: &Matcher) -> Self {
        Self::new(0, if matcher.grammar.starts_inside() { Place::Thinking } else { Place::Text })
    }

    /// Takes a piece that contains no marker while nothing is held back, as is the case for most pieces.
    /// Returns false if it cannot.
    ///
    /// The piece is searched before it is added to the text: reading memory that was just written is slow.
    #[inline]
    pub(super) fn skim(&mut self, matcher: &Matcher, parsed: &mut Parsed, piece: &str) -> bool {
        let plain = parsed.text.len() == self.scan.max(self.clear)
            && matches!(self.code, Code::None)
            && matcher.next_opener(self.place, piece.as_bytes()).is_none();
        if plain {
            parsed.text.push_str(piece);
            self.clear = parsed.text.len();
            parsed.add_prose(self.run_kind(matcher), self.clear);
        }
        plain
    }

    /// Continues the search, and shows everything that can no longer become a marker.
    pub(super) fn step(&mut self, matcher: &Matcher, parsed: &mut Parsed) -> Step {
        loop {
            let undecided = match self.code {
                Code::None => match self.search_text(matcher, parsed) {
                    Search::Undecided(shown) => Some(shown),
                    Search::On => None,
                    Search::Machine(machine) => return Step::Go(machine),
                },
                Code::AfterTicks(ticks) => self.search_line(ticks, matcher, parsed),
                Code::Marks(at) => self.open_code(at, parsed),
                Code::Fence(fence) => self.search_fence(fence, parsed),
            };
            if let Some(shown) = undecided {
                parsed.add_prose(self.run_kind(matcher), shown);
                return Step::Wait;
            }
        }
    }

    /// Outside of code: the next marker.
    fn search_text(&mut self, matcher: &Matcher, parsed: &mut Parsed) -> Search {
        let text = &parsed.text;
        if self.clear == text.len() {
            return Search::Undecided(text.len());
        }
        let Some(ahead) = matcher.next_opener_or_code(self.place, &text.as_bytes()[self.scan..]) else {
            self.scan = text.len();
            return Search::Undecided(text.len());
        };
        let at = self.scan + ahead;
        if let Some(name) = self.begun(matcher, parsed, at) {
            return Search::Machine(self.cut_call(matcher, parsed, at, name));
        }
        let machine = match matcher.opener(self.place, text, at, parsed.finished, &mut self.look) {
            Match::Full((found, kind)) => self.enter(matcher, parsed, at, kind, &found),
            Match::Partial => {
                self.scan = at;
                return Search::Undecided(at);
            }
            Match::No => None,
        };
        if let Some(machine) = machine {
            return Search::Machine(machine);
        }
        self.pass(matcher, parsed, at);
        Search::On
    }

    /// What has come of the name of a call at `at`, if the text ends in its opening marker. What is quoted in
    /// thinking is only mentioned.
    fn begun(&self, matcher: &Matcher, parsed: &Parsed, at: usize) -> Option<Range<usize>> {
        let is_quoted = self.place == Place::Thinking && parsed.text[..at].ends_with('`');
        (parsed.finished && !is_quoted).then(|| matcher.begun(self.place, &parsed.text, at)).flatten()
    }

    /// What starts at `at` is not a marker, or one that does not count. It may be code, also if a marker begins with
    /// backticks.
    fn pass(&mut self, matcher: &Matcher, parsed: &Parsed, at: usize) {
        if matcher.recognises_code(self.place) && matches!(parsed.text.as_bytes()[at], b'`' | b'~') {
            self.scan = at;
            self.code = Code::Marks(at);
        } else {
            self.scan = char_end(&parsed.text, at);
        }
    }

    /// In a run that starts at `at` and may open code. Returns how much can be shown if that is not decided
    /// yet.
    fn open_code(&mut self, at: usize, parsed: &Parsed) -> Option<usize> {
        let bytes = parsed.text.as_bytes();
        let mark = bytes[at];
        self.scan += bytes[self.scan..].iter().take_while(|&&byte| byte == mark).count();
        let end = self.scan;
        if end == bytes.len() && !parsed.finished {
            return Some(end);
        }
        let length = end - at;
        let fence = length >= 3 && is_first_on_line(bytes, at);
        self.code = match mark {
            // Only one run can be the first on its line, so that one may have any length.
            b'`' if length <= MAX_SPAN_TICKS || fence => Code::AfterTicks(Ticks {
                start: at,
                length,
                fence,
                ticks_searched: end,
                markers_searched: end,
            }),
            _ if fence => Code::Fence(Fence { mark, length, line: None }),
            _ => Code::None,
        };
        None
    }

    /// After a run of backticks: it opens a span if a run of the same length follows on the line, or else a
    /// fence if it can.
    fn search_line(&mut self, mut ticks: Ticks, matcher: &Matcher, parsed: &mut Parsed) -> Option<usize> {
        let bytes = parsed.text.as_bytes();
        let mut searched = ticks.ticks_searched;
        while let Some(ahead) = memchr2(b'`', b'\n', &bytes[searched..]) {
            let at = searched + ahead;
            if bytes[at] == b'\n' {
                return self.end_line(ticks, at);
            }
            let length = bytes[at..].iter().take_while(|&&byte| byte == b'`').count();
            if at + length == bytes.len() && !parsed.finished && length <= ticks.length {
                return self.hold(Ticks { ticks_searched: at, ..ticks }, matcher, parsed);
            }
            searched = at + length;
            // The rest of a longer run, of which the start has been searched already, does not count.
            if length == ticks.length && bytes[at - 1] != b'`' {
                self.scan = searched;
                self.code = Code::None;
                return None;
            }
            ticks.fence = false;
        }
        if parsed.finished {
            // The text may have been cut before the run that closes the span.
            let start = ticks.start;
            parsed.in_open_span |= !ticks.fence && is_unpaired(parsed.text.as_bytes(), start, ticks.length);
            return self.end_line(ticks, parsed.text.len());
        }
        self.hold(Ticks { ticks_searched: bytes.len(), ..ticks }, matcher, parsed)
    }

    /// The line of a run ends at `at` without a run of the same length.
    fn end_line(&mut self, ticks: Ticks, at: usize) -> Option<usize> {
        self.code = Code::None;
        if ticks.fence {
            self.code = Code::Fence(Fence { mark: b'`', length: ticks.length, line: None });
            self.scan = at;
        }
        // Otherwise the search continues after the run and not at what was held back, which may be in a span
        // that other runs open. A run that has no counterpart is the last of its length on the line, so this
        // cannot happen often.
        None
    }

    /// The line of a run has not ended: what may be a marker in it is held back.
    fn hold(&mut self, ticks: Ticks, matcher: &Matcher, parsed: &Parsed) -> Option<usize> {
        let text = &parsed.text;
        let mut at = ticks.markers_searched;
        loop {
            let ahead = matcher.next_opener_or_code(self.place, &text.as_bytes()[at..]);
            at = ahead.map_or(text.len(), |ahead| at + ahead);
            let is_over = at == text.len();
            if is_over || matcher.opener(self.place, text, at, parsed.finished, &mut self.look) != Match::No {
                self.code = Code::AfterTicks(Ticks { markers_searched: at, ..ticks });
                return Some(at);
            }
            at = char_end(text, at);
        }
    }

    /// In a fenced block: the line that ends it.
    fn search_fence(&mut self, fence: Fence, parsed: &Parsed) -> Option<usize> {
        let bytes = parsed.text.as_bytes();
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

    /// Handles the marker `found` at `at`. Returns `None` if it does not count there.
    fn enter(
        &self,
        matcher: &Matcher,
        parsed: &mut Parsed,
        at: usize,
        kind: OpenerKind,
        found: &Found,
    ) -> Option<Machine> {
        let marker = |parsed: &mut Parsed| {
            self.end(matcher, parsed, at);
            parsed.add_span(SpanKind::Markup, found.end);
        };
        let prose = |place| Some(Machine::Prose(Self::new(found.end, place)));
        match kind {
            OpenerKind::Thinking if self.place == Place::Thinking => {
                // The marker with which the prompt should have ended is in the text after all.
                if !parsed.is_whitespace_up_to(at) {
                    return None;
                }
                parsed.add_span(SpanKind::Whitespace, at);
                parsed.add_span(SpanKind::Markup, found.end);
                prose(Place::Thinking)
            }
            OpenerKind::Thinking => {
                let once = matcher.grammar.reasoning.as_ref().is_some_and(|reasoning| reasoning.once);
                if once && parsed.has_thinking {
                    return None;
                }
                parsed.has_thinking = true;
                marker(parsed);
                prose(Place::Thinking)
            }
            // A closing marker of something that is over already counts only right after a call.
            OpenerKind::ThinkingEnd if self.place != Place::Thinking && !parsed.has_calls() => None,
            OpenerKind::WrapperEnd if self.place == Place::Text && !parsed.is_after_call(at) => None,
            OpenerKind::CallEnd if !parsed.is_after_call(at) => None,
            OpenerKind::CallEnd => {
                marker(parsed);
                prose(self.place)
            }
            OpenerKind::ThinkingEnd | OpenerKind::WrapperEnd | OpenerKind::ChannelEnd => {
                marker(parsed);
                prose(Place::Text)
            }
            OpenerKind::Wrapper if parsed.finished && matcher.is_cut_wrapper(&parsed.text, found.end) => {
                let end = parsed.text.len();
                Some(self.cut_call(matcher, parsed, at, end..end))
            }
            OpenerKind::Wrapper => {
                marker(parsed);
                prose(Place::Wrapper)
            }
            // Code is not recognised in thinking, but what is quoted there ends nothing.
            OpenerKind::Markup { .. } | OpenerKind::Json { .. }
                if self.place == Place::Thinking && parsed.text[..at].ends_with('`') =>
            {
                None
            }
            OpenerKind::Markup { wrapper } => {
                self.end(matcher, parsed, at);
                let within = wrapper || self.place == Place::Wrapper;
                let mut markup = Markup::open(matcher, parsed, at, found, within);
                // A call that is complete in this piece never becomes the state, which saves moving it.
                Some(match markup.step(matcher, parsed) {
                    Step::Go(machine) => machine,
                    Step::Wait => Machine::Markup(Box::new(markup)),
                })
            }
            OpenerKind::Bare => parsed.is_whitespace_up_to(at).then(|| {
                let calls = Series::new(matcher, parsed, self, at, at);
                Machine::Json(Box::new(Json::bare(calls)))
            }),
            OpenerKind::Json { named: true } => {
                let calls = Series::new(matcher, parsed, self, at, found.end);
                Some(Machine::Json(Box::new(Json::named(matcher, parsed, calls, found.name))))
            }
            // It may take long to decide whether this is a call, and what comes before it is prose either
            // way.
            OpenerKind::Json { named: false } | OpenerKind::Python => {
                parsed.add_prose(self.run_kind(matcher), at);
                let calls = Series::new(matcher, parsed, self, at, found.end);
                Some(match kind {
                    OpenerKind::Python => Machine::Python(Box::new(Python::open(calls))),
                    _ => Machine::Json(Box::new(Json::marked(calls))),
                })
            }
            OpenerKind::Channel => {
                parsed.add_prose(self.run_kind(matcher), at);
                Some(Machine::Channel(Channel::open(matcher, parsed, self, at, found)))
            }
        }
    }

    /// At the end of a text in which a call begins at `at`, before its opening marker is complete: the call is
    /// cut. `name` is what has come of its name, so nothing is known of its tool.
    pub(super) fn cut_call(
        &self,
        matcher: &Matcher,
        parsed: &mut Parsed,
        at: usize,
        name: Range<usize>,
    ) -> Machine {
        let end = parsed.text.len();
        self.end(matcher, parsed, at);
        parsed.add_span(SpanKind::Markup, end);
        let block = parsed.open_call(CallData {
            name: Slice::Range(name.into()),
            range: (at..end).into(),
            input: match matcher.has_markup() {
                true => Input::Params(Params::default()),
                false => Input::json(PartialJson::with_depth(parsed.limits.json_depth)),
            },
            end: None,
            known: true,
            parent: None,
        });
        parsed.end_call(block, End::Cut, end);
        // Nothing follows, so no wrapper has to close.
        Machine::Prose(Self::new(end, Place::Text))
    }

    /// Whether the next call begins at `at`, after a malformed one that began in this prose.
    pub(super) fn next_call(
        &self,
        matcher: &Matcher,
        text: &str,
        at: usize,
        finished: bool,
        look: &mut Look,
    ) -> Match<()> {
        let byte = text.as_bytes()[at];
        let place = self.place_after_calls();
        if matcher.next_opener(place, &[byte]).is_none() {
            return Match::No;
        }
        matcher.opener(place, text, at, finished, look).and_then(|(found, kind)| match kind {
            OpenerKind::Json { named: true }
            | OpenerKind::Wrapper
            | OpenerKind::WrapperEnd
            | OpenerKind::Markup { .. }
            | OpenerKind::Channel => Match::Full(()),
            OpenerKind::Json { named: false } => is_next(text, found.end, b"{[").at_end(finished),
            OpenerKind::Thinking
            | OpenerKind::ThinkingEnd
            | OpenerKind::CallEnd
            | OpenerKind::Bare
            | OpenerKind::Python
            | OpenerKind::ChannelEnd => Match::No,
        })
    }

    /// The prose after the character at `at`, where something looked like a call but is not one.
    pub(super) fn resume_after(&self, matcher: &Matcher, parsed: &Parsed, at: usize) -> Self {
        let mut prose = Self::new(at, self.place);
        prose.pass(matcher, parsed, at);
        prose
    }

    /// Whether this is in a wrapper.
    pub(super) fn is_in_wrapper(&self) -> bool {
        self.place == Place::Wrapper
    }

    /// Whether this is in a wrapper, and there has been a call.
    pub(super) fn is_after_calls(&self, parsed: &Parsed) -> bool {
        self.place == Place::Wrapper && parsed.has_calls()
    }

    /// The prose from `at` on, after calls that began in this prose.
    pub(super) fn after_calls(&self, at: usize) -> Self {
        Self::new(at, self.place_after_calls())
    }

    /// Where prose is after calls that began in this prose.
    fn place_after_calls(&self) -> Place {
        match self.place {
            Place::Wrapper => Place::Wrapper,
            Place::Text | Place::Thinking => Place::Text,
        }
    }

    /// This prose ends at `at`, where something else starts.
    pub(super) fn end(&self, matcher: &Matcher, parsed: &mut Parsed, at: usize) {
        parsed.add_prose(self.run_kind(matcher), at);
        parsed.end_prose(at);
    }

    /// What this prose becomes.
    #[inline]
    pub(super) fn run_kind(&self, matcher: &Matcher) -> RunKind {
        match self.place {
            Place::Thinking if matcher.hides_thinking() => RunKind::Dropped(Dropped::Thinking),
            Place::Thinking => RunKind::Thinking,
            Place::Text | Place::Wrapper => RunKind::Text,
        }
    }
}

impl Fence {
    /// Whether `line` ends the block: it has at least as many of its marks, and otherwise only whitespace.
    fn ends_at(self, line: &[u8]) -> bool {
        let marks = line.trim_ascii();
        marks.len() >= self.length && marks.iter().all(|&byte| byte == self.mark)
    }
}

/// The outcome of a search.
enum Search {
    /// The search continues.
    On,
    /// More text is needed to decide; everything up to here can be shown.
    Undecided(usize),
    /// Something else starts.
    Machine(Machine),
}

/// The end of the character that starts at `at`.
fn char_end(text: &str, at: usize) -> usize {
    text.ceil_char_boundary(at + 1)
}

/// Whether the run of backticks at `at` has no counterpart in its paragraph, in which the text ends: none
/// follows it, and it does not close a span that an earlier line opens.
fn is_unpaired(bytes: &[u8], at: usize, length: usize) -> bool {
    let paragraph = memmem::rfind(&bytes[..at], b"\n\n").map_or(0, |end| end + 2);
    let (mut scan, mut open) = (paragraph, false);
    while let Some(ahead) = memchr(b'`', &bytes[scan..at]) {
        let start = scan + ahead;
        scan = start + bytes[start..at].iter().take_while(|&&byte| byte == b'`').count();
        open ^= scan - start == length;
    }
    !open
}

/// Whether only whitespace precedes `at` on its line.
fn is_first_on_line(bytes: &[u8], at: usize) -> bool {
    let before = bytes[..at].iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
    before.is_none_or(|&byte| byte == b'\n')
}
