//! [`Json`]: a call that is a JSON value, or whose arguments are one.
//!
//! A body ends where its JSON ends, never where a closing marker stands: that may as well be in a string.

use std::ops::Range;

use super::blank::behind_blanks;
use super::call::{CallData, Input, Slice};
use super::envelope::{Envelope, Progress};
use super::grammar::Body;
use super::machine::{Machine, Skip, Step};
use super::matcher::Matcher;
use super::prose::Prose;
use super::reader::{Read, Reader};
use super::sheet::Sheet;
use super::span::SpanKind;
use super::template::{Found, Match, any_literal, literal};
use crate::diagnostic::Kind;
use crate::json::{Nesting, PartialJson};
use crate::message::CallEnd;

/// One or more calls behind one opening marker.
#[derive(Clone, Debug)]
pub(super) struct Json {
    /// Where the prose goes on if this is no call.
    prose: Prose,
    /// Where the marker of the next call starts; nothing is laid from here on until it is a call.
    opened: usize,
    /// Where the JSON of that call starts.
    element: usize,
    scan: usize,
    list: bool,
    bare: bool,
    state: State,
    /// The call that is being read.
    open: Option<usize>,
    /// The last call.
    last: Option<usize>,
}

#[derive(Clone, Debug)]
enum State {
    /// Before the first value.
    Start,
    /// In the JSON object of a call.
    Envelope(Box<Envelope>),
    /// In the arguments of a call whose name is in the marker.
    Arguments(Reader),
    /// Before the arguments of such a call.
    Head,
    /// In an element of a list that is no call, or a malformed one: its brackets say where it ends, or a
    /// closing marker that does not stand in what was read of it.
    Broken { nesting: Nesting, read: usize },
    /// Behind an element of a list.
    Element,
    /// Behind a value: the closing marker, a separator, or neither.
    Behind,
}

impl Json {
    /// Behind a marker without a name: what follows is the whole call, or a list of calls.
    pub(super) fn marked(sheet: &Sheet, prose: &Prose, at: usize, found: &Found) -> Self {
        Self {
            prose: prose.behind(sheet, at),
            opened: at,
            element: found.end,
            scan: found.end,
            list: false,
            bare: false,
            state: State::Start,
            open: None,
            last: None,
        }
    }

    /// At a brace without a marker.
    pub(super) fn bare(sheet: &Sheet, prose: &Prose, at: usize) -> Self {
        let brace = Found { end: at, ..Found::default() };
        Self { bare: true, ..Self::marked(sheet, prose, at, &brace) }
    }

    /// Behind a marker with a name: what follows is the arguments.
    pub(super) fn named(
        matcher: &Matcher,
        sheet: &mut Sheet,
        prose: &Prose,
        at: usize,
        found: &Found,
    ) -> Self {
        let mut json = Self { state: State::Head, ..Self::marked(sheet, prose, at, found) };
        let name = Slice::Range(bare_name(matcher.body(), &sheet.text, found).into());
        json.begin(matcher, sheet, name, PartialJson::with_depth(matcher.limits.json_depth));
        sheet.lay(SpanKind::Markup, found.end);
        json
    }

    pub(super) fn step(&mut self, matcher: &Matcher, sheet: &mut Sheet) -> Step {
        let body = matcher.body();
        loop {
            let step = match &mut self.state {
                State::Start => self.start(matcher, sheet),
                State::Head => self.head(body, sheet),
                State::Arguments(_) => self.arguments(matcher, sheet),
                State::Envelope(_) => self.envelope(matcher, sheet),
                State::Broken { .. } => self.broken(body, sheet),
                State::Element => self.element(sheet),
                State::Behind => self.behind(body, sheet),
            };
            if let Some(step) = step {
                return step;
            }
        }
    }

    /// The text ends inside a call.
    pub(super) fn cut(&mut self, sheet: &mut Sheet) {
        match (&self.state, self.open) {
            (State::Broken { .. }, Some(block)) => {
                let end = sheet.text.len();
                sheet.lay(SpanKind::Value(block), end);
                sheet.end_call(block, CallEnd::Malformed, end);
            }
            _ => sheet.cut_call(self.open),
        }
    }

    /// Before the first value, or the next behind a separator.
    fn start(&mut self, matcher: &Matcher, sheet: &mut Sheet) -> Option<Step> {
        self.scan = behind_blanks(&sheet.text, self.scan);
        match sheet.text.as_bytes().get(self.scan) {
            Some(b'{') => {
                let limits = &matcher.limits;
                self.element = self.scan;
                self.state = State::Envelope(Box::new(Envelope::new(limits.param_bytes, limits.json_depth)));
                None
            }
            Some(b'[') if !self.list && !self.bare => {
                self.list = true;
                self.scan += 1;
                None
            }
            Some(b']') if self.list && self.last.is_some() => {
                self.scan += 1;
                sheet.lay(SpanKind::Markup, self.scan);
                self.state = State::Behind;
                None
            }
            None if !sheet.over => Some(Step::Wait),
            None if self.list && self.last.is_some() => Some(self.leave(sheet, Some("]"))),
            _ => Some(self.no_call()),
        }
    }

    /// Behind a marker with a name: what may stand before the arguments, and their brace.
    fn head(&mut self, body: &Body, sheet: &mut Sheet) -> Option<Step> {
        self.scan = behind_blanks(&sheet.text, self.scan);
        let block = self.open.expect("a name in the marker makes a call");
        match any_literal(&sheet.text, self.scan, &body.before, false) {
            Match::Full(end) => {
                self.scan = end;
                return None;
            }
            Match::Partial if !sheet.over => return Some(Step::Wait),
            Match::Partial | Match::No => {}
        }
        sheet.lay(SpanKind::Markup, self.scan);
        match sheet.text.as_bytes().get(self.scan) {
            Some(b'{') => {
                self.state = State::Arguments(Reader::new(&sheet.text, self.scan));
                None
            }
            None => Some(Step::Wait),
            Some(_) => Some(self.malformed(body, sheet, block, self.scan)),
        }
    }

    /// In the arguments of a call whose name is in the marker.
    fn arguments(&mut self, matcher: &Matcher, sheet: &mut Sheet) -> Option<Step> {
        let State::Arguments(reader) = &mut self.state else { return None };
        let block = self.open.expect("a name in the marker makes a call");
        let (start, scan) = (reader.start, self.scan);
        let read =
            sheet.with_json(block, |text, json| reader.read(text, scan, matcher.limits.param_bytes, json));
        let end = match read {
            Read::More => sheet.text.len(),
            Read::Done(end) | Read::Bad(end) => end,
        };
        self.scan = end;
        sheet.args_grew(block, start, end);
        match read {
            Read::More => Some(Step::Wait),
            Read::Done(_) => {
                self.close(sheet, block);
                self.state = State::Behind;
                None
            }
            Read::Bad(at) => Some(self.malformed(matcher.body(), sheet, block, at)),
        }
    }

    /// In the JSON object of a call.
    fn envelope(&mut self, matcher: &Matcher, sheet: &mut Sheet) -> Option<Step> {
        let State::Envelope(envelope) = &mut self.state else { return None };
        let strict = self.bare && self.open.is_none();
        let scan = self.scan;
        let progress = match self.open {
            Some(block) => sheet.with_json(block, |text, json| envelope.step(text, scan, Some(json), strict)),
            None => envelope.step(&sheet.text, scan, None, strict),
        };
        self.scan = match progress {
            Progress::On(at) | Progress::Wait(at) | Progress::Done(at) | Progress::Bad(at) => at,
        };
        // A bare object with a name may be anything; with arguments too it is a call.
        let is_call = self.open.is_none() && (!self.bare || envelope.arguments().is_some());
        if let Some(name) = envelope.name().filter(|_| is_call).map(str::to_owned) {
            let held = std::mem::take(&mut envelope.held);
            self.begin(matcher, sheet, Slice::Owned(Box::new(name)), held);
        }
        if let Some(block) = self.open {
            self.lay_envelope(sheet, block);
        }
        match (progress, self.open) {
            (Progress::On(_), _) => None,
            (Progress::Wait(_), None) if sheet.over => Some(self.no_call()),
            (Progress::Wait(_), _) => Some(Step::Wait),
            (Progress::Done(_), Some(block)) => {
                self.close(sheet, block);
                self.state = if self.list { State::Element } else { State::Behind };
                None
            }
            (Progress::Bad(at), Some(_)) if self.list => {
                sheet.note(Kind::MalformedArguments, at, "the arguments of a call are not JSON");
                self.read_again(at);
                None
            }
            (Progress::Bad(at), Some(block)) => Some(self.malformed(matcher.body(), sheet, block, at)),
            (Progress::Done(_) | Progress::Bad(_), None) if self.list && self.last.is_some() => {
                self.read_again(self.element);
                None
            }
            (Progress::Done(_) | Progress::Bad(_), None) => Some(self.no_call()),
        }
    }

    /// What has been read of the object of a call is its markup, but for the arguments.
    fn lay_envelope(&self, sheet: &mut Sheet, block: usize) {
        let State::Envelope(envelope) = &self.state else { return };
        if let Some(arguments) = envelope.arguments() {
            sheet.lay(SpanKind::Markup, arguments.start.max(sheet.decided()));
            sheet.args_grew(block, arguments.start, arguments.end);
        }
        if !envelope.in_arguments() {
            sheet.lay(SpanKind::Markup, self.scan.max(sheet.decided()));
        }
    }

    /// The element is no JSON, or no call: it is read again for its brackets alone, and the calls behind it
    /// are not lost. Up to `read` it is JSON that was shown.
    fn read_again(&mut self, read: usize) {
        self.scan = self.element;
        self.state = State::Broken { nesting: Nesting::new(), read };
    }

    /// In a broken element: where its brackets close, or the closing marker of the list if that comes first.
    fn broken(&mut self, body: &Body, sheet: &mut Sheet) -> Option<Step> {
        let State::Broken { nesting, read } = &mut self.state else { return None };
        let text = &sheet.text;
        let stands = |at: &usize| any_literal(text, *at, &body.close, sheet.over) != Match::No;
        let marker = (self.scan.max(*read)..text.len()).find(|at| text.is_char_boundary(*at) && stands(at));
        let end = marker.unwrap_or(text.len());
        if let Some(length) = nesting.push(&text.as_bytes()[self.scan..end]) {
            self.scan += length;
            self.drop_element(sheet);
            self.state = State::Element;
            return None;
        }
        self.scan = end;
        match (any_literal(text, end, &body.close, sheet.over), self.open) {
            (Match::Full(_), Some(_)) => {
                self.drop_element(sheet);
                self.state = State::Behind;
                None
            }
            (Match::Full(_), None) => Some(self.no_call()),
            (Match::Partial | Match::No, None) if sheet.over => Some(self.no_call()),
            (Match::Partial | Match::No, _) => Some(Step::Wait),
        }
    }

    /// A broken element ends here.
    fn drop_element(&mut self, sheet: &mut Sheet) {
        match self.open.take() {
            Some(block) => {
                sheet.lay(SpanKind::Value(block), self.scan);
                sheet.end_call(block, CallEnd::Malformed, self.scan);
            }
            None => {
                sheet.note(Kind::DroppedText, self.element, "an element of a list of calls is no call");
                sheet.lay(SpanKind::Blank, self.element);
                sheet.lay(SpanKind::Dropped, self.scan);
            }
        }
    }

    /// Behind an element of a list.
    fn element(&mut self, sheet: &mut Sheet) -> Option<Step> {
        self.scan = behind_blanks(&sheet.text, self.scan);
        match sheet.text.as_bytes().get(self.scan) {
            Some(b',') => {
                self.scan += 1;
                sheet.lay(SpanKind::Markup, self.scan);
                self.opened = self.scan;
                self.state = State::Start;
                None
            }
            Some(b']') => {
                self.scan += 1;
                sheet.lay(SpanKind::Markup, self.scan);
                self.state = State::Behind;
                None
            }
            None if !sheet.over => Some(Step::Wait),
            _ => Some(self.leave(sheet, Some("]"))),
        }
    }

    /// Behind the last value: the closing marker, a separator, or neither.
    fn behind(&mut self, body: &Body, sheet: &mut Sheet) -> Option<Step> {
        self.scan = behind_blanks(&sheet.text, self.scan);
        if self.scan == sheet.text.len() && !sheet.over {
            return Some(Step::Wait);
        }
        let text = &sheet.text;
        match any_literal(text, self.scan, &body.close, sheet.over) {
            Match::Full(end) => {
                sheet.lay(SpanKind::Markup, end);
                if let Some(block) = self.last {
                    sheet.call(block).range.end_at(end);
                }
                self.scan = end;
                return Some(self.leave(sheet, None));
            }
            Match::Partial => return Some(Step::Wait),
            Match::No => {}
        }
        if !body.separator.is_empty() {
            match literal(text, self.scan, &body.separator, sheet.over) {
                Match::Full(end) => {
                    self.opened = self.scan;
                    self.scan = end;
                    self.state = State::Start;
                    return None;
                }
                Match::Partial => return Some(Step::Wait),
                Match::No => {}
            }
        }
        let missing = body.close.first().filter(|_| !body.close_optional).cloned();
        Some(self.leave(sheet, missing.as_deref()))
    }

    /// Back to prose; `missing` is the closing marker that should have been there.
    fn leave(&self, sheet: &mut Sheet, missing: Option<&str>) -> Step {
        self.prose.go_on(sheet, self.scan, missing)
    }

    /// What began here is no call: it is prose.
    fn no_call(&self) -> Step {
        match self.last {
            // The marker led to calls; only what stands behind them is none.
            Some(_) => Step::Go(Machine::Prose(Prose::new(self.opened, self.prose.place_behind_calls()))),
            None => Step::Go(Machine::Prose(self.prose.clone())),
        }
    }

    /// What began here is a call.
    fn begin(&mut self, matcher: &Matcher, sheet: &mut Sheet, name: Slice, json: PartialJson) -> usize {
        if self.last.is_none() {
            sheet.prose(self.prose.kind(matcher, sheet), self.opened);
            sheet.end_prose(self.opened);
        }
        let known = matcher.knows(name.of(&sheet.text));
        let input = Input::json(json);
        let range = (self.opened..self.opened).into();
        let block = sheet.open_call(CallData {
            name,
            range,
            input,
            end: None,
            known,
            finalized: false,
            parent: None,
        });
        self.open = Some(block);
        self.last = Some(block);
        block
    }

    /// The call is whole.
    fn close(&mut self, sheet: &mut Sheet, block: usize) {
        sheet.lay(SpanKind::Markup, self.scan.max(sheet.decided()));
        let end = sheet.settle_json(block);
        sheet.end_call(block, end, self.scan);
        self.open = None;
    }

    /// The arguments are not JSON from `at` on.
    fn malformed(&self, body: &Body, sheet: &mut Sheet, block: usize, at: usize) -> Step {
        sheet.note(Kind::MalformedArguments, at, "the arguments of a call are not JSON");
        Step::Go(Machine::Skip(Skip::new(
            block,
            body.close.clone(),
            at.max(sheet.decided()),
            self.prose.place_behind_calls(),
        )))
    }
}

/// The name of a call in its marker, without what some models write around it.
fn bare_name(body: &Body, text: &str, found: &Found) -> Range<usize> {
    let Range { mut start, mut end } = found.name.range();
    if !body.name_prefix.is_empty() && text[start..end].starts_with(&body.name_prefix) {
        start += body.name_prefix.len();
    }
    if let (false, Some(index)) = (body.name_index.is_empty(), text[start..end].rfind(&body.name_index)) {
        let number = &text[start + index + body.name_index.len()..end];
        if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
            end = start + index;
        }
    }
    start..end
}
