//! [`Live`]: the changes of chunks, put on a terminal as they come.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use reknit::agent::{Decision, Stream};
use reknit::json::{PartialJson, Value};
use reknit::transcript::{Call, Change, Chunk, Chunks, Input};

use super::flow::called;
use crate::view::{End, Facts, Terminal, View, arguments};

/// Chunks on a terminal.
///
/// One call is on stage at a time. Others that are written meanwhile are shown when they are whole.
pub(super) struct Live {
    view: View,
    facts: Facts,
    stage: Option<Stage>,
    /// The arguments of the call on stage, for what each piece changes in them.
    json: PartialJson,
    /// Calls that left the stage while they were written, and whether more of them came since.
    left: BTreeMap<Place, bool>,
}

/// A call, by its chunk and its number in there.
type Place = (usize, usize);

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// What a call is called with.
    Input(Place),
    /// What came of it.
    Output(Place),
}

impl Live {
    pub(super) fn new(terminal: Terminal) -> Self {
        Self {
            view: View::new(terminal),
            facts: Facts::default(),
            stage: None,
            json: PartialJson::new(),
            left: BTreeMap::new(),
        }
    }

    /// Shows a change that came at a time.
    pub(super) fn show(&mut self, change: &Change<'_>, chunks: &Chunks, at: Option<Duration>) {
        self.facts.last = at.or(self.facts.last);
        match change {
            Change::Opened { value, .. } => self.opened(value, at),
            Change::Grew { chunk, text, .. } => {
                self.count(text, at);
                self.clear_stage();
                match &chunks.list()[*chunk] {
                    Chunk::Thinking { .. } => self.view.thinking(text),
                    _ => self.view.text(text),
                }
            }
            Change::Sealed { chunk, .. } => {
                if let Chunk::Thinking { text, .. } = &chunks.list()[*chunk]
                    && text.is_empty()
                {
                    self.clear_stage();
                    self.view.note("[thinking, not shown by the provider]");
                }
            }
            Change::Called { value, .. } => self.called(value),
            Change::InputGrew { chunk, call, at: offset, text } => {
                self.count(text, at);
                if let Some(found) = called(chunks, *chunk, *call) {
                    self.input_grew((*chunk, *call), found, *offset, text);
                }
            }
            Change::InputWhole { chunk, call, .. } | Change::InputBroken { chunk, call, .. } => {
                if let Some(found) = called(chunks, *chunk, *call) {
                    self.input_ended((*chunk, *call), found);
                }
            }
            Change::Wrote { chunk, call, stream, text, .. } => {
                if let Some(found) = called(chunks, *chunk, *call) {
                    self.open_output((*chunk, *call), found);
                    let name = match stream {
                        Stream::Stdout => "stdout",
                        Stream::Stderr => "stderr",
                    };
                    self.view.argument_grew(name, text);
                }
            }
            Change::Answered { chunk, call, result, is_error } => {
                if let Some(found) = called(chunks, *chunk, *call) {
                    self.open_output((*chunk, *call), found);
                    self.answered(result, *is_error);
                }
            }
            Change::Approval { chunk, call, approval } => {
                if let Some(found) = called(chunks, *chunk, *call) {
                    let how = match approval.decision {
                        None => "waits for approval",
                        Some(Decision::Allow) => "allowed",
                        Some(Decision::Deny) => "denied",
                    };
                    self.clear_stage();
                    self.view.note(&format!("[{}: {how}]", found.name));
                }
            }
            Change::Previewed { .. } | Change::Dropped(_) | Change::Nothing {} => {}
        }
    }

    /// Something comes.
    pub(super) fn get_ready(&mut self) {
        self.view.measure();
    }

    /// Nothing comes at the moment.
    pub(super) fn wait(&mut self, elapsed: Option<Duration>) {
        self.view.status(&Facts { last: elapsed, ..self.facts.clone() });
    }

    /// Writes what is to be seen now.
    pub(super) fn drain(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.view.drain(out)
    }

    /// The input is over.
    pub(super) fn finish(&mut self, end: End, words: &str) {
        self.clear_stage();
        self.view.finish(&self.facts, end, words);
    }

    fn opened(&mut self, chunk: &Chunk, at: Option<Duration>) {
        self.clear_stage();
        match chunk {
            Chunk::Text { text } => {
                text.segments().for_each(|text| self.count(text, at));
                text.segments().for_each(|text| self.view.text(text));
            }
            Chunk::Thinking { text, .. } => {
                text.segments().for_each(|text| self.count(text, at));
                text.segments().for_each(|text| self.view.thinking(text));
            }
            Chunk::ToolBatch { calls } => calls.iter().for_each(|call| self.called(call)),
            Chunk::Error { message, status_code } => {
                let code = status_code.as_ref().map_or(String::new(), |code| format!("{} ", code.as_str()));
                self.view.failure(&format!("{code}{message}"));
            }
            Chunk::System { text, .. } => self.view.note(&format!("[{text}]")),
        }
    }

    /// A call was asked for. One that is being written is shown when something of it comes.
    fn called(&mut self, call: &Call) {
        if let Input::Whole { .. } | Input::Broken { .. } = call.input {
            self.clear_stage();
            self.show_whole(call);
        }
    }

    fn input_grew(&mut self, place: Place, call: &Call, offset: usize, text: &str) {
        if self.stage != Some(Stage::Input(place)) {
            if let Some(went_on) = self.left.get_mut(&place) {
                *went_on |= !text.trim().is_empty();
                return;
            }
            // Only its end makes a call whole, but some providers end all of their calls together.
            if !matches!(self.stage, Some(Stage::Input(_))) || self.json.check().is_ok() {
                self.clear_stage();
            }
            if self.stage.is_some() || offset > 0 {
                return;
            }
            self.view.call_opened(&call.name);
            self.json = PartialJson::new();
            self.stage = Some(Stage::Input(place));
        }
        // What is not JSON is shown when the call is over.
        if self.json.push(text).is_ok() {
            arguments::grew(&mut self.view, &self.json);
        }
    }

    fn input_ended(&mut self, place: Place, call: &Call) {
        if self.stage == Some(Stage::Input(place)) {
            if let (Input::Whole { arguments }, Some(_)) = (&call.input, self.json.error()) {
                arguments::whole(&mut self.view, arguments);
            }
            self.close_call(call);
            self.stage = None;
            return;
        }
        self.clear_stage();
        match (self.left.remove(&place), &call.input) {
            (Some(false), Input::Broken { input_error, .. }) => {
                self.view.note(&format!("[call {} above: {input_error}]", call.name));
            }
            (Some(false), _) => {}
            (Some(true) | None, _) => self.show_whole(call),
        }
    }

    fn show_whole(&mut self, call: &Call) {
        self.view.call_opened(&call.name);
        match &call.input {
            Input::Whole { arguments } => arguments::whole(&mut self.view, arguments),
            Input::Streaming { input_text } | Input::Broken { input_text, .. } => {
                input_text.segments().for_each(|text| self.view.argument_grew(arguments::ALL, text));
            }
        }
        self.close_call(call);
    }

    fn close_call(&mut self, call: &Call) {
        match &call.input {
            Input::Broken { input_error, .. } => self.view.call_closed(End::Broken, input_error),
            Input::Whole { .. } | Input::Streaming { .. } => self.view.call_closed(End::Whole, ""),
        }
    }

    fn open_output(&mut self, place: Place, call: &Call) {
        if self.stage != Some(Stage::Output(place)) {
            self.clear_stage();
            self.view.result_opened(&call.name);
            self.stage = Some(Stage::Output(place));
        }
    }

    /// The result of the call whose output is on stage.
    fn answered(&mut self, result: &Value, is_error: Option<bool>) {
        match result {
            Value::Object(_) => arguments::whole(&mut self.view, result),
            _ => arguments::show(&mut self.view, "result", result),
        }
        match is_error {
            Some(true) => self.view.call_closed(End::Broken, "failed"),
            Some(false) | None => self.view.call_closed(End::Whole, ""),
        }
        self.stage = None;
    }

    /// Makes room for something else.
    fn clear_stage(&mut self) {
        if let Some(stage) = self.stage.take() {
            self.view.call_closed(End::Whole, "");
            if let Stage::Input(place) = stage {
                self.left.insert(place, false);
            }
        }
    }

    fn count(&mut self, text: &str, at: Option<Duration>) {
        self.facts.characters += text.chars().count() as u64;
        self.facts.first = self.facts.first.or(at);
    }
}

/// How the input ended, in words.
pub(super) fn ended(events: u64, input: &super::Input, interrupted: bool) -> (End, String) {
    let count =
        |count: u64, word: &str| if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") };
    match (interrupted, input.bad_lines) {
        (true, _) => (End::Broken, "interrupted".to_owned()),
        (false, 0) => (End::Whole, count(events, "event")),
        (false, bad) => (End::Broken, format!("{}, {}", count(events, "event"), count(bad, "bad line"))),
    }
}
