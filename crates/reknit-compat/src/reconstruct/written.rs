//! [`State`] and [`ChatMessage`] as JSON, and a state back from it.

use std::collections::BTreeMap;

use reknit::json::{PartialJson, Value};
use reknit::{Limits, Text};
use serde::Deserialize;
use serde::ser::{Serialize, SerializeStruct, Serializer};
use serde_json::value::RawValue;

use super::message::ChatMessage;
use super::state::{Kind, State, push_json};

/// How deep the input of a call lies in a message: in the message, its content, and the block.
const AROUND_INPUT: usize = 3;

impl Serialize for ChatMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Value::from(self).serialize(serializer)
    }
}

impl Serialize for State {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut state = serializer.serialize_struct("State", 4)?;
        state.serialize_field("message", &self.message())?;
        state.serialize_field("buffers", &self.buffers().collect::<BTreeMap<_, _>>())?;
        state.serialize_field("parsedJson", &self.parsed_json().collect::<BTreeMap<_, _>>())?;
        let indexes = self.message().map(|message| message.content().map(|(index, _)| index));
        let indexes: Vec<_> = indexes.into_iter().flatten().collect();
        if indexes.iter().zip(0..).any(|(index, place)| *index != place) {
            state.serialize_field("indexes", &indexes)?;
        } else {
            state.skip_field("indexes")?;
        }
        state.end()
    }
}

/// A state as its JSON says it. What can be read of the buffers follows from them, so `parsedJson` is not used.
#[derive(Deserialize)]
pub(super) struct Written {
    message: Option<Box<RawValue>>,
    buffers: BTreeMap<u32, Text>,
    indexes: Option<Vec<u32>>,
}

impl TryFrom<Written> for State {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let mut message = written.message.as_deref().map(read_message).transpose()?;
        if let (Some(message), Some(indexes)) = (&mut message, written.indexes) {
            number(message, indexes)?;
        }
        let mut json = BTreeMap::new();
        for (index, buffer) in written.buffers {
            let block = message.as_ref().and_then(|message| message.content.get(&index));
            if !block.is_some_and(|block| Kind::of(block).takes_json()) {
                return Err(format!("block {index} has a buffer and is not a tool's"));
            }
            let mut parsed = PartialJson::new();
            push_json(&mut parsed, &buffer);
            json.insert(index, parsed);
        }
        Ok(Self::of(message, json))
    }
}

fn read_message(text: &RawValue) -> Result<ChatMessage, String> {
    let depth = Limits::default().json_depth + AROUND_INPUT;
    match Value::parse(text.get(), depth) {
        Ok(Value::Object(fields)) => match ChatMessage::new(fields) {
            (message, 0) => Ok(message),
            _ => Err("the content of the message is not a list of blocks".to_owned()),
        },
        Ok(_) => Err("the message is not an object".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Gives the blocks the indexes that they had, which the list of blocks does not say.
fn number(message: &mut ChatMessage, indexes: Vec<u32>) -> Result<(), String> {
    if indexes.len() != message.content.len() || !indexes.is_sorted_by(|one, next| one < next) {
        return Err("the indexes are not those of the blocks, in ascending order".to_owned());
    }
    let blocks = std::mem::take(&mut message.content).into_values();
    message.content = indexes.into_iter().zip(blocks).collect();
    Ok(())
}
