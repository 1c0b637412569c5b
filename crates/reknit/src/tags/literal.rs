//! [`Literal`]: calls in the notation of Python or of Gemma, whose arguments become JSON.

use super::blank::behind_blanks;
use super::call::{CallData, Input, Slice};
use super::grammar::Calls;
use super::machine::{Machine, Skip, Step};
use super::matcher::{Leads, Matcher};
use super::prose::Prose;
use super::sheet::Sheet;
use super::span::SpanKind;
use super::template::{Found, Match, Name, literal};
use super::transcode::{Notation, Progress, Transcoder};
use crate::diagnostic::Kind;
use crate::json::PartialJson;

/// The longest start of a call in a list, up to its first argument.
const LONGEST_HEAD: usize = 256;

/// One call, or a list of them.
#[derive(Clone, Debug)]
pub(super) struct Literal {
    /// Where the prose goes on if this is no call.
    prose: Prose,
    /// Where the next call starts; nothing is laid from here on until it is one.
    opened: usize,
    scan: usize,
    state: State,
    /// The call that is being read.
    open: Option<usize>,
}

#[derive(Clone, Debug)]
enum State {
    /// Before the name of a call in a list; whether it is the first.
    Head {
        first: bool,
    },
    Arguments(Box<Transcoder>),
    /// Behind a call in a list.
    Element,
    /// Behind a call on its own.
    Behind,
}

impl Literal {
    pub(super) fn open(
        matcher: &Matcher,
        sheet: &mut Sheet,
        prose: &Prose,
        at: usize,
        leads: Leads,
        found: &Found,
    ) -> Self {
        let mut machine = Self {
            prose: prose.behind(sheet, at),
            opened: at,
            scan: found.end,
            state: State::Head { first: true },
            open: None,
        };
        if let (Leads::Gemma, Some(Calls::Gemma(gemma))) = (leads, &matcher.grammar.calls) {
            machine.begin(matcher, sheet, found, Notation::Gemma { quote: gemma.quote.clone() });
        }
        machine
    }

    pub(super) fn step(&mut self, matcher: &Matcher, sheet: &mut Sheet) -> Step {
        loop {
            let step = match self.state {
                State::Head { first } => self.head(matcher, sheet, first),
                State::Arguments(_) => self.arguments(matcher, sheet),
                State::Element => self.element(sheet),
                State::Behind => self.behind(matcher, sheet),
            };
            if let Some(step) = step {
                return step;
            }
        }
    }

    /// The text ends inside a call.
    pub(super) fn cut(&mut self, sheet: &mut Sheet) {
        sheet.cut_call(self.open);
    }

    /// In a list: `name(` with an argument or the closing bracket behind it.
    fn head(&mut self, matcher: &Matcher, sheet: &mut Sheet, first: bool) -> Option<Step> {
        match python_head(&sheet.text, self.scan) {
            Match::Full(found) => {
                self.begin(matcher, sheet, &found, Notation::Python);
                None
            }
            Match::Partial if !sheet.over => Some(Step::Wait),
            _ if first => Some(Step::Go(Machine::Prose(self.prose.clone()))),
            _ => Some(self.leave(sheet, self.opened, Some("]"))),
        }
    }

    fn arguments(&mut self, matcher: &Matcher, sheet: &mut Sheet) -> Option<Step> {
        let State::Arguments(transcoder) = &mut self.state else { return None };
        let block = self.open.expect("arguments belong to a call");
        let bound = transcoder.start.saturating_add(matcher.limits.param_bytes).min(sheet.text.len());
        let bound = sheet.text.floor_char_boundary(bound);
        let progress = match transcoder.read(&sheet.text[..bound], self.scan) {
            Progress::Wait(_) if bound < sheet.text.len() => Progress::Bad(bound),
            progress => progress,
        };
        let (Progress::Wait(end) | Progress::Done(end) | Progress::Bad(end)) = progress;
        self.scan = end.max(self.scan);
        sheet.lay(SpanKind::Value(block), self.scan);
        let taken = sheet.push_json(block, &transcoder.json);
        transcoder.json.clear();
        match (progress, taken) {
            (Progress::Bad(_), _) | (_, Err(_)) => {
                sheet.note(Kind::MalformedArguments, self.scan, "the arguments of a call cannot be read");
                let closes = match &matcher.grammar.calls {
                    Some(Calls::Gemma(gemma)) => vec![gemma.close.clone()],
                    _ => vec!["]".to_owned()],
                };
                let place = self.prose.place_behind_calls();
                Some(Step::Go(Machine::Skip(Skip::new(block, closes, self.scan, place))))
            }
            (Progress::Wait(_), Ok(())) => Some(Step::Wait),
            (Progress::Done(_), Ok(())) => {
                let end = sheet.settle_json(block);
                sheet.end_call(block, end, self.scan);
                self.open = None;
                let list = matches!(matcher.grammar.calls, Some(Calls::Python(_)));
                self.state = if list { State::Element } else { State::Behind };
                None
            }
        }
    }

    fn element(&mut self, sheet: &mut Sheet) -> Option<Step> {
        self.scan = behind_blanks(&sheet.text, self.scan);
        match sheet.text.as_bytes().get(self.scan) {
            Some(b',') => {
                self.scan += 1;
                sheet.lay(SpanKind::Markup, self.scan);
                self.opened = self.scan;
                self.state = State::Head { first: false };
                None
            }
            Some(b']') => {
                sheet.lay(SpanKind::Markup, self.scan + 1);
                Some(self.leave(sheet, self.scan + 1, None))
            }
            None if !sheet.over => Some(Step::Wait),
            _ => Some(self.leave(sheet, self.scan, Some("]"))),
        }
    }

    fn behind(&mut self, matcher: &Matcher, sheet: &mut Sheet) -> Option<Step> {
        let Some(Calls::Gemma(gemma)) = &matcher.grammar.calls else { return None };
        self.scan = behind_blanks(&sheet.text, self.scan);
        match literal(&sheet.text, self.scan, &gemma.close, sheet.over) {
            Match::Full(end) => {
                sheet.lay(SpanKind::Markup, end);
                Some(self.leave(sheet, end, None))
            }
            Match::Partial => Some(Step::Wait),
            Match::No => Some(self.leave(sheet, self.scan, Some(&gemma.close))),
        }
    }

    fn begin(&mut self, matcher: &Matcher, sheet: &mut Sheet, found: &Found, notation: Notation) {
        if matches!(self.state, State::Head { first: true }) {
            sheet.prose(self.prose.kind(matcher, sheet), self.opened);
            sheet.end_prose(self.opened);
        }
        sheet.lay(SpanKind::Markup, found.end);
        let block = sheet.open_call(CallData {
            known: matcher.knows(found.name.of(&sheet.text)),
            name: Slice::Range(found.name.range().into()),
            range: (self.opened..found.end).into(),
            input: Input::json(PartialJson::with_depth(matcher.limits.json_depth)),
            end: None,
            finalized: false,
            parent: None,
        });
        self.open = Some(block);
        self.scan = found.end;
        self.state =
            State::Arguments(Box::new(Transcoder::new(notation, found.end, matcher.limits.json_depth)));
    }

    /// Back to prose at `at`; `missing` is the closing marker that should have been there.
    fn leave(&self, sheet: &mut Sheet, at: usize, missing: Option<&str>) -> Step {
        self.prose.go_on(sheet, at, missing)
    }
}

/// `name(` if it is the start of a call: behind it stands `)`, or a name with `=`.
fn python_head(text: &str, at: usize) -> Match<Found> {
    let head = &text[..text.floor_char_boundary((at + LONGEST_HEAD).min(text.len()))];
    let undecided = if head.len() < text.len() { Match::No } else { Match::Partial };
    let word = |from: usize| {
        let rest = &head[from..];
        let length = rest.find(|c: char| !(c.is_alphanumeric() || "_.-".contains(c)));
        length.map(|length| from..from + length)
    };
    let blank = |from: usize| behind_blanks(head, from);
    let start = blank(at);
    let Some(name) = word(start) else { return undecided };
    let first = text[name.clone()].chars().next();
    if !first.is_some_and(|c| c.is_alphabetic() || c == '_') || text.as_bytes()[name.end] != b'(' {
        return Match::No;
    }
    let end = name.end + 1;
    let behind = blank(end);
    let found = Match::Full(Found { end, name: Name::free(name), ..Found::default() });
    match head.as_bytes().get(behind) {
        None => undecided,
        Some(b')') => found,
        Some(_) => match word(behind) {
            None => undecided,
            Some(argument) if argument.is_empty() => Match::No,
            Some(argument) => match head.as_bytes().get(blank(argument.end)) {
                None => undecided,
                Some(b'=') => found,
                Some(_) => Match::No,
            },
        },
    }
}
