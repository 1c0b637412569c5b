//! [`Rows`]: what streams say, a row for each.

use reknit::Hint;
use reknit::event::End;
use reknit::message::{Args, Body, Status, ToolCall};
use reknit::{Diagnostic, Message, Reply};

use super::column::{Column, Lists, Numbers, Structs, Texts};
use crate::error::{PANIC, PANIC_HINT, caught};
use crate::message::{status_name, stop_reason_name};
use crate::reply::Choice;

#[derive(Default)]
pub(super) struct Rows {
    rows: Structs,
    status: Texts,
    dialect: Texts,
    model: Texts,
    stop_reason: Texts,
    usage: Usage,
    text: Texts,
    calls: Calls,
    diagnostics: Diagnostics,
    error: Errors,
}

/// The status of a stream that is not a provider's reply at all.
const UNREADABLE: &str = "unreadable";

impl Rows {
    /// Adds a row for a stream. Null gives a row of nulls.
    pub(super) fn read(&mut self, stream: Option<&[u8]>, choice: &Choice) {
        let Some(stream) = stream else { return self.push_nothing(None) };
        let read = caught(|| {
            let mut reply = choice.reply().expect("it was made once before");
            reply.push(stream);
            reply.finish();
            reply
        });
        match read {
            Ok(reply) => self.push(&reply),
            Err(words) => {
                self.push_nothing(Some((PANIC, &format!("the engine panicked: {words}"), PANIC_HINT)));
            }
        }
    }

    fn push(&mut self, reply: &Reply) {
        let message = reply.message();
        let is_unreadable =
            reply.error().is_some() && message.status() == Status::Cut && message.blocks().len() == 0;
        self.rows.push(true);
        self.status.push(Some(if is_unreadable { UNREADABLE } else { status_name(message) }));
        self.dialect.push(reply.dialect().map(reknit::Dialect::name));
        self.model.push(message.model());
        self.stop_reason.push(stop_reason_name(message));
        self.usage.push(Some(message));
        self.push_text(message);
        self.calls.push(Some(message));
        self.diagnostics.push(Some(message));
        match reply.error() {
            Some(error) => self.error.push(Some((error.kind().name(), &error.to_string(), &error.hint()))),
            None => self.error.push(None),
        }
    }

    fn push_nothing(&mut self, error: Option<(&str, &str, &str)>) {
        self.rows.push(true);
        self.status.push(error.map(|_| UNREADABLE));
        for column in [&mut self.dialect, &mut self.model, &mut self.stop_reason, &mut self.text] {
            column.push(None);
        }
        self.usage.push(None);
        self.calls.push(None);
        self.diagnostics.push(None);
        self.error.push(error);
    }

    /// The text of the first choice, straight from its pieces.
    fn push_text(&mut self, message: &Message) {
        let first = message.choices().first().map_or(0, reknit::message::Choice::index);
        let texts = message.blocks().filter(|block| block.choice() == first);
        let texts = texts.filter_map(|block| match block.body() {
            Body::Text { text, .. } => Some(text.segments()),
            _ => None,
        });
        self.text.push_pieces(Some(texts.flatten()));
    }

    pub(super) fn finish(self) -> Column {
        let columns = vec![
            self.status.finish("status"),
            self.dialect.finish("dialect"),
            self.model.finish("model"),
            self.stop_reason.finish("stop_reason"),
            self.usage.finish(),
            self.text.finish("text"),
            self.calls.finish(),
            self.diagnostics.finish(),
            self.error.finish(),
        ];
        self.rows.finish("", columns)
    }
}

/// Numbers of tokens.
#[derive(Default)]
struct Usage {
    rows: Structs,
    input: Numbers,
    output: Numbers,
    cache_read: Numbers,
    cache_write: Numbers,
    reasoning: Numbers,
}

impl Usage {
    fn push(&mut self, message: Option<&Message>) {
        let usage = message.map(|message| *message.usage()).unwrap_or_default();
        self.rows.push(message.is_some());
        self.input.push(usage.input);
        self.output.push(usage.output);
        self.cache_read.push(usage.cache_read);
        self.cache_write.push(usage.cache_write);
        self.reasoning.push(usage.reasoning);
    }

    fn finish(self) -> Column {
        let fields = vec![
            self.input.finish("input"),
            self.output.finish("output"),
            self.cache_read.finish("cache_read"),
            self.cache_write.finish("cache_write"),
            self.reasoning.finish("reasoning"),
        ];
        self.rows.finish("usage", fields)
    }
}

/// Calls: `input` is JSON if the `end` is `closed`, and `raw` the text as it came if it is not.
#[derive(Default)]
struct Calls {
    lists: Lists,
    rows: Structs,
    id: Texts,
    name: Texts,
    end: Texts,
    input: Texts,
    raw: Texts,
}

impl Calls {
    fn push(&mut self, message: Option<&Message>) {
        self.lists.push(message.map(|message| message.tool_calls().count()));
        for call in message.into_iter().flat_map(Message::tool_calls) {
            self.push_call(call);
        }
    }

    fn push_call(&mut self, call: &ToolCall) {
        self.rows.push(true);
        self.id.push(Some(&call.id));
        self.name.push(Some(&call.name));
        self.end.push(call.end().map(|end| match end {
            End::Closed => "closed",
            End::Cut => "cut",
            End::Malformed => "malformed",
        }));
        let raw = match &call.args {
            Args::Complete(value) => {
                self.input.push(Some(&value.to_string()));
                return self.raw.push(None);
            }
            Args::Streaming(input) | Args::Cut(input) => input.raw(),
            Args::Malformed { raw, .. } => raw,
        };
        self.input.push(None);
        // What the model wrote is more useful than the JSON that was made from it.
        self.raw.push_pieces(Some(call.raw.as_ref().unwrap_or(raw).segments()));
    }

    fn finish(self) -> Column {
        let fields = vec![
            self.id.finish("id"),
            self.name.finish("name"),
            self.end.finish("end"),
            self.input.finish("input"),
            self.raw.finish("raw"),
        ];
        self.lists.finish("calls", self.rows.finish("item", fields))
    }
}

#[derive(Default)]
struct Diagnostics {
    lists: Lists,
    rows: Structs,
    kind: Texts,
    message: Texts,
    at_byte: Numbers,
}

impl Diagnostics {
    fn push(&mut self, message: Option<&Message>) {
        self.lists.push(message.map(|message| message.diagnostics().len()));
        for diagnostic in message.into_iter().flat_map(Message::diagnostics) {
            let Diagnostic { kind, message, .. } = diagnostic;
            self.rows.push(true);
            self.kind.push(Some(kind.name()));
            self.message.push(Some(message));
            self.at_byte.push(diagnostic.place().map(|place| place.at));
        }
    }

    fn finish(self) -> Column {
        let fields =
            vec![self.kind.finish("kind"), self.message.finish("message"), self.at_byte.finish("at_byte")];
        self.lists.finish("diagnostics", self.rows.finish("item", fields))
    }
}

/// Why a stream was not read, or not to its end.
#[derive(Default)]
struct Errors {
    rows: Structs,
    kind: Texts,
    message: Texts,
    hint: Texts,
}

impl Errors {
    fn push(&mut self, error: Option<(&str, &str, &str)>) {
        self.rows.push(error.is_some());
        self.kind.push(error.map(|(kind, _, _)| kind));
        self.message.push(error.map(|(_, message, _)| message));
        self.hint.push(error.map(|(_, _, hint)| hint));
    }

    fn finish(self) -> Column {
        let fields = vec![self.kind.finish("kind"), self.message.finish("message"), self.hint.finish("hint")];
        self.rows.finish("error", fields)
    }
}
