//! [`Value`]: any JSON value, exactly as it was written.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::str::FromStr;

use super::parser::Parser;
use super::string::plain_end;
use super::{Array, Error, Number, Object, Step};
use crate::{Limits, Text};

/// Any JSON value. Numbers keep their text, objects the order of their members, and strings are cheap to clone.
///
/// ```
/// use reknit::json::Value;
///
/// let value: Value = r#"{"id": 12345678901234567890123, "tags": ["a"]}"#.parse()?;
/// assert_eq!(value.pointer("/tags/0").and_then(Value::as_str).as_deref(), Some("a"));
/// assert_eq!(value.to_string(), r#"{"id":12345678901234567890123,"tags":["a"]}"#);
/// # Ok::<(), reknit::json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(Text),
    /// An array.
    Array(Array),
    /// An object.
    Object(Object),
}

/// How much of a text is parsed at a time.
const PART: usize = 16 << 10;

impl Value {
    /// Parses a text that is one value.
    ///
    /// The nesting of arrays and objects must stay below `depth`. This is how `serde_json` counts: its limit
    /// of 128 refuses the 128th level.
    pub fn parse(text: &str, depth: usize) -> Result<Self, Error> {
        let mut parser = Parser::new(depth);
        // In parts, because a parser knows everything that the last of them changed, which takes memory.
        parser.push_in_parts(text, PART)?;
        parser.finish()
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The boolean, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(bool) = self { Some(*bool) } else { None }
    }

    /// The number, if this is one.
    pub fn as_number(&self) -> Option<&Number> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    /// The number as a `u64`, if this is an integer in range.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// The string, if this is one.
    pub fn as_str(&self) -> Option<Cow<'_, str>> {
        self.as_text().map(Text::to_str)
    }

    /// The string as the [`Text`] that stores it, if this is a string.
    pub fn as_text(&self) -> Option<&Text> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The elements, if this is an array.
    pub fn as_array(&self) -> Option<&Array> {
        if let Self::Array(elements) = self { Some(elements) } else { None }
    }

    pub(crate) fn as_array_mut(&mut self) -> Option<&mut Array> {
        if let Self::Array(elements) = self { Some(elements) } else { None }
    }

    /// The members, if this is an object.
    pub fn as_object(&self) -> Option<&Object> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// The members, mutably, if this is an object.
    pub fn as_object_mut(&mut self) -> Option<&mut Object> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// The value of `key`, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object()?.get(key)
    }

    /// The value at a JSON pointer (RFC 6901), such as `/edits/0/path`.
    pub fn pointer(&self, pointer: &str) -> Option<&Value> {
        tokens(pointer)?.try_fold(self, |value, token| {
            let at = value.child_position(&token)?;
            value.child(at)
        })
    }

    /// The position of the child that a token of a pointer refers to.
    pub(super) fn child_position(&self, token: &str) -> Option<usize> {
        match self {
            Self::Object(object) => object.position(token),
            Self::Array(elements) => index(token).filter(|&at| at < elements.len()),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) => None,
        }
    }

    /// The element or member at a position.
    pub(super) fn child(&self, at: usize) -> Option<&Value> {
        match self {
            Self::Array(elements) => elements.get(at),
            Self::Object(object) => object.value_at(at),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) => None,
        }
    }

    /// The child at a position, if that is still the one that the step leads to.
    pub(super) fn child_at(&self, step: Step<'_>, at: usize) -> Option<&Value> {
        match (self, step) {
            (Self::Array(elements), Step::Index(_)) => elements.get(at),
            (Self::Object(object), Step::Key(key)) => {
                object.at(at).filter(|(name, _)| *name == key).map(|(_, value)| value)
            }
            (_, _) => None,
        }
    }

    /// Gives back the memory that an array or object kept for more.
    pub(super) fn shrink(&mut self) {
        match self {
            Self::Array(elements) => elements.shrink(),
            Self::Object(object) => object.shrink(),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) => {}
        }
    }

    /// The element or member at a position, mutably.
    pub(super) fn child_mut(&mut self, at: usize) -> Option<&mut Value> {
        match self {
            Self::Array(elements) => elements.get_mut(at),
            Self::Object(object) => object.value_at_mut(at),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) => None,
        }
    }
}

/// The tokens of a JSON pointer, unescaped, or `None` if it is not a pointer.
pub(super) fn tokens(pointer: &str) -> Option<impl Iterator<Item = Cow<'_, str>>> {
    let mut parts = pointer.split('/');
    if parts.next() != Some("") {
        return None;
    }
    Some(parts.map(|token| match token.contains('~') {
        true => Cow::Owned(token.replace("~1", "/").replace("~0", "~")),
        false => Cow::Borrowed(token),
    }))
}

/// The array index that a token of a pointer is. RFC 6901 allows neither signs nor leading zeros.
pub(super) fn index(token: &str) -> Option<usize> {
    let padded = token.starts_with('+') || (token.starts_with('0') && token != "0");
    token.parse().ok().filter(|_| !padded)
}

/// Parses one value with the default [`Limits::json_depth`].
impl FromStr for Value {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text, Limits::default().json_depth)
    }
}

/// Writes the value as JSON without whitespace.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(bool) => write!(f, "{bool}"),
            Self::Number(number) => f.write_str(number.as_str()),
            Self::String(text) => write_string(f, text.segments()),
            Self::Array(elements) => {
                f.write_char('[')?;
                for (at, element) in elements.iter().enumerate() {
                    f.write_str(if at == 0 { "" } else { "," })?;
                    element.fmt(f)?;
                }
                f.write_char(']')
            }
            Self::Object(object) => {
                f.write_char('{')?;
                for (at, (key, value)) in object.iter().enumerate() {
                    f.write_str(if at == 0 { "" } else { "," })?;
                    write_string(f, [key].into_iter())?;
                    f.write_char(':')?;
                    value.fmt(f)?;
                }
                f.write_char('}')
            }
        }
    }
}

fn write_string<'a>(f: &mut fmt::Formatter<'_>, mut segments: impl Iterator<Item = &'a str>) -> fmt::Result {
    f.write_char('"')?;
    segments.try_for_each(|segment| write_escaped(f, segment))?;
    f.write_char('"')
}

/// Writes a text as it is between the quotes of a JSON string.
pub(crate) fn write_escaped(f: &mut impl fmt::Write, text: &str) -> fmt::Result {
    let mut rest = text;
    loop {
        let (plain, special) = rest.split_at(plain_end(rest.as_bytes(), 0));
        f.write_str(plain)?;
        let mut chars = special.chars();
        match chars.next() {
            None => return Ok(()),
            Some(char @ ('"' | '\\')) => write!(f, "\\{char}")?,
            Some('\n') => f.write_str("\\n")?,
            Some('\r') => f.write_str("\\r")?,
            Some('\t') => f.write_str("\\t")?,
            Some('\u{8}') => f.write_str("\\b")?,
            Some('\u{c}') => f.write_str("\\f")?,
            Some(control) => write!(f, "\\u{:04x}", u32::from(control))?,
        }
        rest = chars.as_str();
    }
}
