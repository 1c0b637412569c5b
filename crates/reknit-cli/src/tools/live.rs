//! [`Live`]: the changes of a text, put on a terminal as they come.

use std::io::{self, Write};
use std::time::Duration;

use reknit::json::PartialJson;
use reknit::message::CallEnd;
use reknit::tags::{Block, Call, Change, Param, Parser};

use crate::view::{End, Facts, Terminal, View, arguments};

/// A text on a terminal.
pub(super) struct Live {
    view: View,
    facts: Facts,
    /// The arguments of the call on stage, for what each piece changes in them.
    json: PartialJson,
}

impl Live {
    pub(super) fn new(terminal: Terminal, profile: &str) -> Self {
        let facts = Facts { model: Some(profile.to_owned()), ..Facts::default() };
        Self { view: View::new(terminal), facts, json: PartialJson::new() }
    }

    /// Shows a change that came at a time.
    pub(super) fn show(&mut self, change: Change, parser: &Parser, at: Option<Duration>) {
        self.facts.last = at.or(self.facts.last);
        match change {
            Change::Grew { block, from, to } => {
                let text = &parser.text()[from..to];
                self.count(text, at);
                match parser.block(block) {
                    Some(Block::Thinking { .. }) => self.view.thinking(text),
                    Some(Block::Text { .. } | Block::Call(_)) | None => self.view.text(text),
                }
            }
            Change::Opened { block } => {
                if let Some(call) = call(parser, block) {
                    self.json = PartialJson::new();
                    self.view.call_opened(call.name());
                }
            }
            Change::ParamOpened { block, param } => {
                if let Some(param) = self::param(parser, block, param) {
                    self.view.argument_grew(param.name(), "");
                }
            }
            Change::ParamGrew { block, param, from, to } => {
                if let Some(param) = self::param(parser, block, param) {
                    let text = &param.text()[from..to];
                    self.count(text, at);
                    self.view.argument_grew(param.name(), text);
                }
            }
            Change::ParamClosed { .. } => self.view.argument_closed(),
            Change::ArgsGrew { block, from, to } => {
                if let Some(call) = call(parser, block) {
                    let text = &call.args_text()[from..to];
                    self.count(text, at);
                    // What is not JSON is told when the call is over.
                    let _ = self.json.push(text);
                    arguments::grew(&mut self.view, &self.json);
                }
            }
            Change::Closed { block } => {
                if let Some(call) = call(parser, block) {
                    match call.end() {
                        Some(CallEnd::Closed) | None => self.view.call_closed(End::Whole, ""),
                        Some(CallEnd::Cut) => self.view.call_closed(End::Broken, "cut"),
                        Some(CallEnd::Malformed) => self.view.call_closed(End::Broken, "malformed"),
                    }
                }
            }
        }
    }

    /// Shows a whole text.
    pub(super) fn text(&mut self, text: &str) {
        self.view.text(text);
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

    /// The text is over.
    pub(super) fn finish(&mut self, parser: &Parser, interrupted: bool) {
        let broken = parser.calls().filter(|call| call.end() != Some(CallEnd::Closed)).count();
        let calls = parser.calls().count();
        let told = match (calls, broken) {
            (1, 0) => "1 call".to_owned(),
            (calls, 0) => format!("{calls} calls"),
            (calls, broken) => format!("{calls} calls, {broken} of them broken"),
        };
        match (interrupted, broken) {
            (true, _) => self.view.finish(&self.facts, End::Broken, "interrupted"),
            (false, 0) => self.view.finish(&self.facts, End::Whole, &told),
            (false, _) => self.view.finish(&self.facts, End::Broken, &told),
        }
    }

    fn count(&mut self, text: &str, at: Option<Duration>) {
        self.facts.characters += text.chars().count() as u64;
        self.facts.first = self.facts.first.or(at);
    }
}

fn call(parser: &Parser, block: usize) -> Option<Call<'_>> {
    match parser.block(block)? {
        Block::Call(call) => Some(call),
        Block::Text { .. } | Block::Thinking { .. } => None,
    }
}

fn param(parser: &Parser, block: usize, param: usize) -> Option<Param<'_>> {
    call(parser, block)?.params().nth(param)
}
