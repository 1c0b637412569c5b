//! The arguments of a call in a text, written as JSON while they arrive.
//!
//! Whatever the notation in the text, the result is one JSON object, so that all later stages read arguments in
//! the same way.

use std::fmt::{Display, Write};

use super::call::{Call, Param};
use crate::json::write_escaped;

/// Its parameter with this number opens.
pub(super) fn open_param(param: Param<'_>, number: usize, json: &mut String) {
    // A parameter opens only after the previous one is complete.
    json.push(if number == 0 { '{' } else { ',' });
    json.push('"');
    escape(param.name(), json);
    json.push_str("\":");
    if !param.is_typed_late() {
        json.push('"');
    }
}

/// The open parameter grew by `text`. If its type is not known before it is complete, so is not its JSON.
pub(super) fn grow_param(param: Param<'_>, text: &str, json: &mut String) {
    if !param.is_typed_late() {
        escape(text, json);
    }
}

/// The open parameter is complete.
pub(super) fn close_param(param: Param<'_>, json: &mut String) {
    match param.is_typed_late() {
        true => write(param.value(), json),
        false => json.push('"'),
    }
}

/// The call is complete, and its parameters have been written.
pub(super) fn finish_params(count: usize, json: &mut String) {
    json.push_str(if count == 0 { "{}" } else { "}" });
}

/// The call is complete, and nothing has been written before.
pub(super) fn write_all(call: &Call<'_>, json: &mut String) {
    write(call.args(), json);
}

fn write(value: impl Display, json: &mut String) {
    write!(json, "{value}").expect("a string takes all that is written");
}

fn escape(text: &str, json: &mut String) {
    write_escaped(json, text).expect("a string takes all that is written");
}
