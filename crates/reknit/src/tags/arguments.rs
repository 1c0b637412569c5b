//! [`Arguments`]: the arguments of a call in a text, written as JSON while they arrive.

use std::fmt::Write;

use super::call::Call;
use crate::json::write_escaped;

/// How far the JSON of a call's arguments has been written.
///
/// Whatever the notation in the text, the result is one JSON object, so that all later stages read arguments
/// in the same way.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arguments {
    /// Written when the call closes, because they may change until then.
    Late,
    /// JSON in the text, of which nothing has come yet.
    Json,
    /// A JSON object in the text, which is passed on unchanged.
    JsonObject,
    /// Parameters, of which none has come yet.
    Params,
    /// After a complete parameter.
    AfterParam,
    /// In a parameter that is a string.
    InString,
    /// In a parameter whose value is written once it is complete, because its type is not known before.
    InTyped,
}

impl Arguments {
    /// The start of a call. `reread` says that values may be read again when the call closes.
    pub(super) fn new(call: &Call<'_>, reread: bool) -> Self {
        match call.json() {
            _ if reread => Self::Late,
            Some(_) => Self::Json,
            None => Self::Params,
        }
    }

    /// The arguments are JSON in the text and start with `text`, which decides whether they can be passed on.
    pub(super) fn begin_json(&mut self, text: &str) {
        // Some models write the object into a string, and some write `null`.
        *self = if text.starts_with('{') { Self::JsonObject } else { Self::Late };
    }

    /// A parameter opens.
    pub(super) fn open(&mut self, name: &str, typed: bool, json: &mut String) {
        match self {
            Self::Late | Self::Json | Self::JsonObject => return,
            Self::Params => json.push('{'),
            // A parameter opens only after the previous one is complete.
            Self::AfterParam | Self::InString | Self::InTyped => json.push(','),
        }
        json.push('"');
        escape(name, json);
        json.push_str("\":");
        *self = if typed {
            Self::InTyped
        } else {
            json.push('"');
            Self::InString
        };
    }

    /// The open parameter grew.
    pub(super) fn grow(self, text: &str, json: &mut String) {
        if let Self::InString = self {
            escape(text, json);
        }
    }

    /// The open parameter is complete.
    pub(super) fn close(&mut self, call: &Call<'_>, param: usize, json: &mut String) {
        match self {
            Self::InString => json.push('"'),
            Self::InTyped => {
                let value = call.param(param).map(|param| param.value());
                let _ = write!(json, "{}", value.unwrap_or_default());
            }
            Self::Late | Self::Json | Self::JsonObject | Self::Params | Self::AfterParam => return,
        }
        *self = Self::AfterParam;
    }

    /// The call is complete.
    pub(super) fn finish(self, call: &Call<'_>, json: &mut String) {
        match self {
            Self::Late => {
                let _ = write!(json, "{}", call.args());
            }
            Self::Params => json.push_str("{}"),
            Self::AfterParam => json.push('}'),
            // A complete call has no open parameter.
            Self::Json | Self::JsonObject | Self::InString | Self::InTyped => {}
        }
    }
}

fn escape(text: &str, json: &mut String) {
    write_escaped(json, text).expect("a string takes all that is written");
}
