//! What the validators have in common.

use reknit::json::Value;

/// Ends a validator with a rule that does not hold.
macro_rules! rule {
    ($holds:expr, $($words:tt)+) => {
        if !$holds {
            return Err(format!($($words)+));
        }
    };
}

pub(super) use rule;

/// A member that has to be a text.
pub(super) fn text(value: &Value, member: &str) -> Result<String, String> {
    let found = value.get(member).and_then(Value::as_str);
    found.map(std::borrow::Cow::into_owned).ok_or_else(|| format!("no text `{member}` in {value}"))
}

/// A member that has to be a list with something in it.
pub(super) fn list<'v>(value: &'v Value, member: &str) -> Result<&'v [Value], String> {
    let found = value.get(member).and_then(Value::as_array).filter(|list| !list.is_empty());
    found.map(|list| list.as_slice()).ok_or_else(|| format!("no filled list `{member}` in {value}"))
}

/// A member that has to be an object.
pub(super) fn object(value: &Value, member: &str) -> Result<(), String> {
    let found = value.get(member).and_then(Value::as_object);
    found.map(|_| ()).ok_or_else(|| format!("no object `{member}` in {value}"))
}

/// A text with a visible character.
pub(super) fn filled_text(value: &Value, member: &str) -> Result<String, String> {
    let text = text(value, member)?;
    rule!(!text.trim().is_empty(), "a blank text: {value}");
    Ok(text)
}

/// A name out of letters, digits, dashes and underscores.
pub(super) fn plain_name(name: &str, longest: usize) -> Result<(), String> {
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    rule!(is_plain && (1..=longest).contains(&name.len()), "not a name: {name:?}");
    Ok(())
}
