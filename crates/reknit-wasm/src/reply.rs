//! What reads a reply. [`Reply`]: a provider's stream, or a model's text, to messages.

use reknit::Item;
use reknit::event::Slot;
use reknit::message::{Change, Message, ToolCall};
use reknit::reply::Changes;
use serde::Serialize;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::failure::Failure;
use crate::json::{json, parse};

mod frames;
mod options;
mod output;
mod partial_json;
mod text_blocks;

pub use frames::Frames;
use options::Options;
use output::{Form, Join, Output};
pub use partial_json::PartialJson;
pub use text_blocks::{TextBlocks, detect_profile, profile_names, profile_source};

/// A reply that is being read.
#[wasm_bindgen]
pub struct Reply {
    reply: reknit::Reply,
}

/// A call that may be run.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Call<'a> {
    r#type: &'static str,
    id: &'a str,
    name: &'a str,
    /// The arguments as text, because a number in them may be more exact than JavaScript's.
    input_text: String,
}

/// The end of a message.
#[derive(Serialize)]
struct End<'a> {
    r#type: &'static str,
    message: &'a Message,
}

#[wasm_bindgen]
impl Reply {
    /// A reply of a provider.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str) -> Result<Reply, JsValue> {
        let options: Options = parse(options)?;
        let mut reply = options.dialect()?.map_or_else(reknit::Reply::detect, reknit::Reply::new);
        reply = reply.with_limits(&options.limits());
        if let Some(tagger) = options.tagger()? {
            reply = reply.with_tags(tagger);
        }
        Ok(Self { reply })
    }

    /// A reply that is only a model's text.
    #[wasm_bindgen(js_name = ofText)]
    pub fn of_text(options: &str) -> Result<Reply, JsValue> {
        let options: Options = parse(options)?;
        let tagger = options.tagger()?.ok_or_else(|| {
            Failure::usage("neither `profile` nor `grammar` is set", "name the profile of the model")
        })?;
        Ok(Self { reply: reknit::Reply::of_text(tagger).with_limits(&options.limits()) })
    }

    /// Takes a piece; returns the changes as a JSON array.
    pub fn push(&mut self, piece: &[u8], join: bool) -> String {
        written(self.reply.push(piece), Form::Array, join)
    }

    /// Ends the stream; returns the changes as a JSON array.
    pub fn finish(&mut self, join: bool) -> String {
        written(self.reply.finish(), Form::Array, join)
    }

    /// Takes a piece; returns the changes as lines of JSON.
    #[wasm_bindgen(js_name = pushLines)]
    pub fn push_lines(&mut self, piece: &[u8], join: bool) -> String {
        written(self.reply.push(piece), Form::Lines, join)
    }

    /// Ends the stream; returns the changes as lines of JSON.
    #[wasm_bindgen(js_name = finishLines)]
    pub fn finish_lines(&mut self, join: bool) -> String {
        written(self.reply.finish(), Form::Lines, join)
    }

    /// Takes a piece; returns the items as a JSON array.
    #[wasm_bindgen(js_name = pushItems)]
    pub fn push_items(&mut self, piece: &[u8]) -> String {
        items(self.reply.push(piece))
    }

    /// Ends the stream; returns the items as a JSON array.
    #[wasm_bindgen(js_name = finishItems)]
    pub fn finish_items(&mut self) -> String {
        items(self.reply.finish())
    }

    /// The current message, or the last one.
    pub fn message(&self) -> String {
        json(self.reply.message())
    }

    /// All messages, as a JSON array.
    pub fn messages(&self) -> String {
        json(&self.reply.messages().collect::<Vec<_>>())
    }

    /// The calls of the current message that may be run, as a JSON array of items.
    pub fn calls(&self) -> String {
        json(&self.reply.message().runnable_calls().map(Call::new).collect::<Vec<_>>())
    }

    pub fn dialect(&self) -> Option<String> {
        self.reply.dialect().map(|dialect| dialect.name().to_owned())
    }

    /// Why the rest of the input is refused, if it is.
    pub fn error(&self) -> Option<String> {
        let error = self.reply.error()?;
        Some(Failure::of(error.kind().name(), error).json())
    }
}

fn written(mut changes: Changes<'_>, form: Form, join: bool) -> String {
    let join = if join { Join::Growth } else { Join::Nothing };
    let mut output = Output::new(form);
    while let Some((change, _)) = changes.next() {
        output.write_change(&change, join);
    }
    output.finish()
}

fn items(mut changes: Changes<'_>) -> String {
    let mut output = Output::new(Form::Array);
    while let Some((change, message)) = changes.next() {
        let block = match &change {
            Change::Grew { block, .. } => *block,
            _ => Slot::new(0),
        };
        for item in Item::of(&change, message) {
            match item {
                Item::Text(text) => output.write_growth("text", block, &text),
                Item::Thinking(text) => output.write_growth("thinking", block, &text),
                Item::Call(call) => output.write(&Call::new(&call)),
                Item::End(message) => output.write(&End { r#type: "end", message: &message }),
                _ => {}
            }
        }
    }
    output.finish()
}

impl<'a> Call<'a> {
    fn new(call: &'a ToolCall) -> Self {
        let input_text = call.input().map_or_else(String::new, |input| input.to_string());
        Self { r#type: "call", id: &call.id, name: &call.name, input_text }
    }
}
