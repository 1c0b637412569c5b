//! Reads the arguments of a call, which were checked against the tool's definition before.

use std::borrow::Cow;

use reknit::json::{Object, Value};

use crate::tool::Failure;

/// A text. One that is absent or null is `None`.
pub(super) fn text(args: &Object, name: &str) -> Option<String> {
    args.get(name)?.as_str().map(Cow::into_owned)
}

/// A text that the call needs.
pub(super) fn required(args: &Object, name: &str) -> Result<String, Failure> {
    text(args, name).ok_or_else(|| Failure::missing(name))
}

/// A whole number that is not negative.
pub(super) fn number(args: &Object, name: &str) -> Result<Option<u64>, Failure> {
    let number = match args.get(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Number(number)) => number.as_u64(),
        Some(value) => value.as_str().and_then(|text| text.trim().parse().ok()),
    };
    let wrong =
        || Failure::mistake(format!("Invalid value for parameter '{name}': it must not be negative."));
    number.map(Some).ok_or_else(wrong)
}

/// Whether something is asked for. Calls in tags have only text.
pub(super) fn flag(args: &Object, name: &str) -> bool {
    match args.get(name) {
        Some(Value::Bool(yes)) => *yes,
        Some(value) => value.as_str().is_some_and(|text| text.trim().eq_ignore_ascii_case("true")),
        None => false,
    }
}
