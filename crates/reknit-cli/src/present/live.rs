//! [`Live`]: what is shown on a terminal, as it arrives.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::mem;
use std::time::Duration;

use reknit::Text;
use reknit::agent::Stream;
use reknit::event::{Notation, Runner};
use reknit::json::{PartialJson, Value};

use super::shown::{Call, CallKey, Ended, Flaw, Shown};
use crate::view::{End, Facts, Terminal, View, arguments};

/// A terminal on which one call at a time is shown while it is written.
///
/// Calls that end meanwhile wait until it is over, and are then shown whole.
pub(super) struct Live {
    view: View,
    facts: Facts,
    stage: Stage,
    /// Calls that left the stage before their end.
    left: BTreeMap<CallKey, Since>,
    /// Calls that ended while another one was on stage.
    waiting: Vec<Waiting>,
}

/// What is shown as it grows, apart from text and thinking.
enum Stage {
    Empty,
    /// The arguments of a call.
    Arguments {
        call: CallKey,
        json: Box<PartialJson>,
    },
    /// What the command of a call writes.
    Output {
        call: CallKey,
    },
}

/// What came of a call since it left the stage.
enum Since {
    Nothing,
    More,
}

struct Waiting {
    key: CallKey,
    name: String,
    runner: Runner,
    ended: Ended<'static>,
}

impl Live {
    pub(super) fn new(terminal: Terminal) -> Self {
        Self {
            view: View::new(terminal),
            facts: Facts::default(),
            stage: Stage::Empty,
            left: BTreeMap::new(),
            waiting: Vec::new(),
        }
    }

    /// Nothing has come up to this time.
    pub(super) fn tick(&mut self, elapsed: Option<Duration>) {
        self.view.status(&Facts { last: elapsed, ..self.facts.clone() });
    }

    /// What is shown from now on came at this time, unless it was there from the start.
    pub(super) fn piece_came(&mut self, at: Option<Duration>) {
        self.view.measure();
        self.facts.last = at.or(self.facts.last);
    }

    /// Writes what is to be seen now.
    pub(super) fn drain(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.view.drain(out)
    }

    /// Removes the status line.
    pub(super) fn clear(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.view.clear(out)
    }

    pub(super) fn show(&mut self, shown: Shown<'_>) {
        match shown {
            Shown::About { model, input, output, is_final } => {
                self.facts.is_final = is_final;
                self.facts.model = model.map(str::to_owned);
                self.facts.input = input;
                // Some providers count a token before there is any.
                self.facts.output = output.filter(|_| self.facts.characters > 0);
            }
            Shown::Break => self.apart().begin_paragraph(),
            Shown::Text(text) => {
                self.count(text);
                self.apart().text(text);
            }
            Shown::Said { who, text } => {
                self.apart().note(&format!("[{who}]"));
                self.view.text(text);
            }
            Shown::ThinkingOpened => {}
            Shown::Thinking(text) => {
                self.count(text);
                self.apart().thinking(text);
            }
            Shown::ThinkingHidden => self.apart().note("[thinking, not shown by the provider]"),
            Shown::CallGrew { call, notation, at, text } => {
                self.count(text);
                self.call_grew(&call, notation, at, text);
            }
            Shown::CallEnded { call, ended } => self.call_ended(&call, ended),
            Shown::Wrote { call, stream, text } => {
                self.open_output(&call);
                let name = match stream {
                    Stream::Stdout => "stdout",
                    Stream::Stderr => "stderr",
                };
                self.view.argument_grew(name, text);
            }
            Shown::Answered { call, result, failed } => {
                self.open_output(&call);
                self.answered(result, failed);
            }
            Shown::Note(words) | Shown::Remark(words) => self.apart().note(words),
            Shown::Failure { code: None, message } => self.apart().failure(message),
            Shown::Failure { code: Some(code), message } => {
                self.apart().failure(&format!("{code} {message}"));
            }
            Shown::Over { end, words } => {
                self.clear_stage();
                self.view.finish(&self.facts, end, words);
                // The time goes on: the first piece of the next message came when it came.
                self.facts = Facts { last: self.facts.last, ..Facts::default() };
                self.left.clear();
            }
        }
    }

    /// The view, for something that is not about a call.
    fn apart(&mut self) -> &mut View {
        self.clear_stage();
        &mut self.view
    }

    fn call_grew(&mut self, call: &Call<'_>, notation: Notation, at: usize, text: &str) {
        if !matches!(&self.stage, Stage::Arguments { call: on_stage, .. } if *on_stage == call.key) {
            if let Some(since) = self.left.get_mut(&call.key) {
                if !text.trim().is_empty() {
                    *since = Since::More;
                }
                return;
            }
            if !self.is_being_written() {
                self.clear_stage();
            }
            if at > 0 || !matches!(self.stage, Stage::Empty) {
                return;
            }
            self.open_call(call.name, call.runner);
            self.stage = Stage::Arguments { call: call.key, json: Box::default() };
        }
        let Stage::Arguments { json, .. } = &mut self.stage else { return };
        match notation {
            Notation::Plain => self.view.argument_grew(arguments::ALL, text),
            Notation::Json => {
                // What is wrong with the arguments is shown when the call is over.
                let _ = json.push(text);
                arguments::grew(&mut self.view, json);
            }
        }
    }

    /// Whether there is a call on stage whose JSON is not whole. Only its end makes a call whole, but some
    /// providers end all of their calls together.
    fn is_being_written(&self) -> bool {
        matches!(&self.stage, Stage::Arguments { json, .. } if json.check().is_err())
    }

    fn call_ended(&mut self, call: &Call<'_>, ended: Ended<'_>) {
        match &self.stage {
            Stage::Arguments { call: on_stage, json } if *on_stage == call.key => {
                match &ended {
                    // Free text, of which nothing could be shown as it grew.
                    Ended::Whole(arguments) if json.error().is_some() => {
                        arguments::whole(&mut self.view, arguments);
                    }
                    Ended::Broken { flaw: Flaw::Malformed(Some(_)), raw, .. } => self.show_raw(raw),
                    Ended::Whole(_) | Ended::Broken { .. } => {}
                }
                self.close_call(&ended);
                self.stage = Stage::Empty;
                self.show_waiting();
            }
            Stage::Arguments { .. } => {
                let Call { key, name, runner } = *call;
                self.waiting.push(Waiting { key, name: name.to_owned(), runner, ended: ended.into_owned() });
            }
            Stage::Empty | Stage::Output { .. } => {
                self.clear_stage();
                self.show_ended(call, &ended);
            }
        }
    }

    /// Makes room for something else.
    fn clear_stage(&mut self) {
        match mem::replace(&mut self.stage, Stage::Empty) {
            Stage::Empty => return,
            Stage::Output { .. } => {}
            Stage::Arguments { call, .. } => drop(self.left.insert(call, Since::Nothing)),
        }
        self.view.call_closed(End::Whole, "");
        self.show_waiting();
    }

    fn show_waiting(&mut self) {
        for Waiting { key, name, runner, ended } in mem::take(&mut self.waiting) {
            self.show_ended(&Call { key, name: &name, runner }, &ended);
        }
    }

    /// Shows of a call that is over what was not shown yet.
    fn show_ended(&mut self, call: &Call<'_>, ended: &Ended<'_>) {
        match (self.left.remove(&call.key), ended) {
            (Some(Since::Nothing), Ended::Whole(_)) => {}
            (Some(Since::Nothing), Ended::Broken { flaw, .. }) => {
                let how = match flaw {
                    Flaw::Cut => " is cut".to_owned(),
                    Flaw::Malformed(_) => " is malformed".to_owned(),
                    Flaw::Other(words) => format!(": {words}"),
                };
                self.view.note(&format!("[call {} above{how}]", call.name));
            }
            (Some(Since::More) | None, _) => {
                self.open_call(call.name, call.runner);
                match ended {
                    Ended::Whole(arguments) | Ended::Broken { so_far: Some(arguments), .. } => {
                        arguments::whole(&mut self.view, arguments);
                    }
                    Ended::Broken { raw, so_far: None, .. } => self.show_raw(raw),
                }
                self.close_call(ended);
            }
        }
    }

    fn open_call(&mut self, name: &str, runner: Runner) {
        self.view.call_opened(name);
        if runner == Runner::Provider {
            self.view.note("run by the provider");
        }
    }

    fn show_raw(&mut self, raw: &Text) {
        raw.segments().for_each(|text| self.view.argument_grew(arguments::ALL, text));
    }

    fn close_call(&mut self, ended: &Ended<'_>) {
        match ended {
            Ended::Whole(_) => self.view.call_closed(End::Whole, ""),
            Ended::Broken { flaw, .. } => self.view.call_closed(End::Broken, &flaw.words()),
        }
    }

    fn open_output(&mut self, call: &Call<'_>) {
        if !matches!(self.stage, Stage::Output { call: on_stage } if on_stage == call.key) {
            self.clear_stage();
            self.view.result_opened(call.name);
            self.stage = Stage::Output { call: call.key };
        }
    }

    /// The result of the call whose output is on stage.
    fn answered(&mut self, result: &Value, failed: bool) {
        match result {
            Value::Object(_) => arguments::whole(&mut self.view, result),
            _ => arguments::show(&mut self.view, "result", result),
        }
        if failed {
            self.view.call_closed(End::Broken, "failed");
        } else {
            self.view.call_closed(End::Whole, "");
        }
        self.stage = Stage::Empty;
    }

    fn count(&mut self, text: &str) {
        self.facts.characters += text.chars().count() as u64;
        self.facts.first = self.facts.first.or(self.facts.last);
    }
}
