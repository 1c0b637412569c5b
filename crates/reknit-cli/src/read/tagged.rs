//! [`Tagged`]: a reply whose texts have calls and thinking written into them.

use std::io::{self, BufWriter, StdoutLock, Write};
use std::time::Duration;

use reknit::json::PartialJson;
use reknit::message::{self, CallEnd, Status};
use reknit::parts::{Address, Args, Change, Opening, Origin, Part, Parts, ToolCall};
use reknit::tags::Grammar;
use reknit::{Limits, Message, tags};

use crate::outcome::Trouble;
use crate::pieces::Pieces;
use crate::print::print_json;
use crate::view::{End, Facts, Terminal, View, arguments};

/// What the ids of calls in text start with.
pub(super) const IDS: &str = "call_";

/// The parts of a reply, and how they are shown.
pub(super) struct Tagged {
    parts: Parts,
    form: Form,
}

enum Form {
    /// The message, at the end.
    Last,
    /// Every change, as it comes.
    Changes,
    /// The text and the calls, as they come.
    Text(Flow),
    /// All of it, on a terminal, as it comes.
    Live(Box<Live>),
}

impl Tagged {
    pub(super) fn new(grammar: &Grammar, json: bool, ndjson: bool) -> Result<Self, tags::GrammarError> {
        let form = match (json, ndjson, Terminal::on_stdout()) {
            (true, _, _) => Form::Last,
            (_, true, _) => Form::Changes,
            (_, _, Some(terminal)) => Form::Live(Box::new(Live::new(terminal))),
            (_, _, None) => Form::Text(Flow::default()),
        };
        Ok(Self { parts: Parts::with_grammar(grammar, None, IDS, &Limits::default())?, form })
    }

    pub(super) fn show(
        &mut self,
        change: &message::Change<'_>,
        message: &Message,
        at: Option<Duration>,
        out: &mut BufWriter<StdoutLock<'static>>,
    ) -> Result<(), Trouble> {
        let mut changes = self.parts.follow(message, change);
        while let Some((change, list)) = changes.next() {
            match &mut self.form {
                Form::Last => {}
                Form::Changes => print_json(out, &change)?,
                Form::Text(flow) => flow.show(&change, |part| list.part(part), out)?,
                Form::Live(live) => live.show(&change, |part| list.part(part), at),
            }
        }
        if let Form::Live(live) = &mut self.form {
            live.facts.model = message.model().map(str::to_owned);
            live.facts.input = message.usage().input;
            live.facts.output = message.usage().output;
            live.view.drain(out)?;
        }
        Ok(())
    }

    /// Waits for the next piece, or the end; returns when it came.
    pub(super) fn wait(&mut self, pieces: &mut Pieces, out: &mut impl Write) -> io::Result<Option<Duration>> {
        let Form::Live(live) = &mut self.form else { return Ok(None) };
        let at = pieces.wait(|elapsed| {
            live.view.status(&Facts { last: elapsed, ..live.facts.clone() });
            live.view.drain(out)?;
            out.flush()
        })?;
        live.view.measure();
        Ok(at)
    }

    /// The reply is over.
    pub(super) fn end(
        &mut self,
        message: &Message,
        out: &mut BufWriter<StdoutLock<'static>>,
    ) -> Result<(), Trouble> {
        match &mut self.form {
            Form::Last => print_json(out, &self.parts.list().neutral(message))?,
            Form::Changes => {}
            Form::Text(flow) => flow.end(out)?,
            Form::Live(live) => {
                let (end, words) = match message.status() {
                    Status::Stopped => (End::Whole, "done"),
                    Status::Failed => (End::Broken, "failed"),
                    Status::Waiting | Status::Streaming | Status::Cut => (End::Broken, "cut"),
                };
                live.view.finish(&live.facts, end, words);
                live.view.drain(out)?;
            }
        }
        Ok(())
    }
}

/// Text as it arrives, and a paragraph for each of the other parts.
#[derive(Default)]
struct Flow {
    last: Option<Address>,
    line_ended: bool,
}

impl Flow {
    fn show<'a>(
        &mut self,
        change: &Change<'_>,
        part: impl Fn(Address) -> Option<&'a Part>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        match change {
            Change::Opened { part, opening: Opening::Thinking { .. }, .. } => {
                self.put(*part, "[thinking, not shown]", out)
            }
            Change::Grew { part: address, text, .. } => match part(*address) {
                Some(Part::Text { .. }) => self.put(*address, text, out),
                _ => Ok(()),
            },
            Change::Closed { part: address, .. } => match part(*address) {
                Some(Part::Call(call)) => self.put(*address, &told(call), out),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn put(&mut self, part: Address, text: &str, out: &mut impl Write) -> io::Result<()> {
        if self.last.is_some_and(|last| last != part) {
            out.write_all(if self.line_ended { b"\n" } else { b"\n\n" })?;
        }
        self.last = Some(part);
        self.line_ended = text.ends_with('\n');
        out.write_all(text.as_bytes())
    }

    /// Ends the last line, if anything was shown.
    fn end(&self, out: &mut impl Write) -> io::Result<()> {
        if self.last.is_some() && !self.line_ended { out.write_all(b"\n") } else { Ok(()) }
    }
}

fn told(call: &ToolCall) -> String {
    let how = match call.args {
        Args::Complete(_) => "",
        Args::Malformed(_) => " [malformed]",
        Args::Streaming(_) | Args::Cut(_) => " [cut]",
    };
    let input = call.input().map_or(String::new(), |input| input.to_string());
    format!("[call {}] {input}{how}", call.name)
}

/// The parts on a terminal. Calls in text come one after the other and are shown as they grow; those of the
/// provider may grow side by side, and are shown when they are over.
struct Live {
    view: View,
    facts: Facts,
    json: PartialJson,
}

impl Live {
    fn new(terminal: Terminal) -> Self {
        Self { view: View::new(terminal), facts: Facts::default(), json: PartialJson::new() }
    }

    fn show<'a>(
        &mut self,
        change: &Change<'_>,
        part: impl Fn(Address) -> Option<&'a Part>,
        at: Option<Duration>,
    ) {
        self.facts.last = at.or(self.facts.last);
        match change {
            Change::Opened { opening: Opening::ToolCall { name, origin: Origin::Tagged(_), .. }, .. } => {
                self.json = PartialJson::new();
                self.view.call_opened(name);
            }
            Change::Grew { part: address, text, .. } => {
                self.count(text, at);
                match part(*address) {
                    Some(Part::Text { .. }) => self.view.text(text),
                    Some(Part::Thinking { .. }) => self.view.thinking(text),
                    Some(Part::Call(ToolCall { origin: Origin::Tagged(_), .. })) => {
                        // What is not JSON is told when the call is over.
                        let _ = self.json.push(text);
                        arguments::grew(&mut self.view, &self.json);
                    }
                    _ => {}
                }
            }
            Change::ParamOpened { name, .. } => self.view.argument_grew(name, ""),
            Change::ParamGrew { part: address, param, text, .. } => {
                self.count(text, at);
                if let Some(name) = part(*address).and_then(|part| param_name(part, *param)) {
                    self.view.argument_grew(name, text);
                }
            }
            Change::ParamClosed { .. } => self.view.argument_closed(),
            Change::Closed { part: address, end, .. } => {
                if let Some(Part::Call(call)) = part(*address) {
                    self.close(call, *end);
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, call: &ToolCall, end: CallEnd) {
        if call.origin == Origin::Native {
            self.view.call_opened(&call.name);
            if let Some(input) = call.input() {
                arguments::whole(&mut self.view, &input);
            }
        }
        match end {
            CallEnd::Closed => self.view.call_closed(End::Whole, ""),
            CallEnd::Cut => self.view.call_closed(End::Broken, "cut"),
            CallEnd::Malformed => self.view.call_closed(End::Broken, "malformed"),
        }
    }

    fn count(&mut self, text: &str, at: Option<Duration>) {
        self.facts.characters += text.chars().count() as u64;
        self.facts.first = self.facts.first.or(at);
    }
}

fn param_name(part: &Part, param: usize) -> Option<&str> {
    let Part::Call(ToolCall { args: Args::Streaming(reknit::parts::Input::Params(params)), .. }) = part
    else {
        return None;
    };
    params.get(param).map(|param| param.name.as_str())
}
