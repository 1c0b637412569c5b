//! [`from_value`]: reads a [`Value`] into any type.

use std::borrow::Cow;
use std::fmt::Display;
use std::iter;
use std::slice;

use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, Expected, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

use super::object::Member;
use super::{Number, Object, Value};
use crate::diagnostic::Hint;

#[cfg(test)]
mod tests;

/// Reads a value into any type that implements [`serde::Deserialize`].
///
/// The result is the same as that of `serde_json::from_str` for the same JSON, except that an `f64` is always
/// the one closest to the text of the number. To keep every digit of the numbers in a field of
/// type [`Value`], annotate it with [`exact`](super::exact).
///
/// ```
/// use reknit::json::{self, Value};
///
/// #[derive(serde::Deserialize)]
/// struct Arguments {
///     edits: Vec<Edit>,
/// }
///
/// #[derive(Debug, PartialEq, serde::Deserialize)]
/// struct Edit {
///     path: String,
///     line: Option<u32>,
/// }
///
/// let value: Value = r#"{"edits": [{"path": "a.rs"}, {"path": "b.rs", "line": 7}]}"#.parse()?;
/// let arguments: Arguments = json::from_value(&value)?;
/// assert_eq!(arguments.edits[1], Edit { path: "b.rs".into(), line: Some(7) });
///
/// let value: Value = r#"{"edits": [{"path": "a.rs", "line": "7"}]}"#.parse()?;
/// let error = json::from_value::<Arguments>(&value).err().unwrap();
/// assert_eq!(error.to_string(), r#"`/edits/0/line`: invalid type: string "7", expected u32"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T, DeserializeError> {
    T::deserialize(value)
}

/// Why a [`Value`] is not of the type that [`from_value`] was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", prefix(path))]
#[non_exhaustive]
pub struct DeserializeError {
    /// Where in the value, as a JSON pointer (RFC 6901); empty for the value itself.
    ///
    /// For a missing field this is the object that should have it.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

impl DeserializeError {
    /// The same error, seen from the array or object that contains the value.
    fn below(mut self, step: impl Display) -> Self {
        let step = step.to_string().replace('~', "~0").replace('/', "~1");
        self.path.insert_str(0, &step);
        self.path.insert(0, '/');
        self
    }
}

impl Hint for DeserializeError {
    fn hint(&self) -> Cow<'static, str> {
        "show the error to the model and ask it for the value again".into()
    }
}

fn prefix(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("`{path}`: ") }
}

impl serde::de::Error for DeserializeError {
    fn custom<T: Display>(message: T) -> Self {
        Self { path: String::new(), message: message.to_string() }
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        match found {
            // JSON does not have unit values.
            Unexpected::Unit => Self::custom(format_args!("invalid type: null, expected {expected}")),
            _ => Self::custom(format_args!("invalid type: {found}, expected {expected}")),
        }
    }
}

/// Strings are never borrowed, because a [`Text`](crate::Text) may be in several segments.
impl<'de> Deserializer<'de> for &'de Value {
    type Error = DeserializeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        match self {
            Value::Null => visitor.visit_unit(),
            Value::Bool(bool) => visitor.visit_bool(*bool),
            Value::Number(number) => visit_number(number, visitor),
            Value::String(text) => visitor.visit_str(&text.to_str()),
            Value::Array(elements) => visit_array(elements, visitor),
            Value::Object(object) => visit_object(object, visitor),
        }
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        match self {
            Value::Number(number) => visit_i128(number, visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        match self {
            Value::Number(number) => visit_u128(number, visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        match self {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        if name == RAW_VALUE {
            let raw = iter::once((RAW_VALUE, self.to_string()));
            return visitor.visit_map(MapDeserializer::new(raw));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        match self {
            Value::String(variant) => visitor.visit_enum(variant.to_str().into_deserializer()),
            Value::Object(object) if object.len() == 1 => {
                visitor.visit_enum(MapAccessDeserializer::new(Members::of(object)))
            }
            Value::Object(_) => {
                Err(DeserializeError::invalid_value(Unexpected::Map, &"an object with a single key"))
            }
            _ => Err(DeserializeError::invalid_type(self.unexpected(), &"a string or an object")),
        }
    }

    /// The name of a variant. Visitors would also accept its index.
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        match self {
            Value::String(_) => self.deserialize_any(visitor),
            _ => Err(DeserializeError::invalid_type(self.unexpected(), &visitor)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct
    }
}

/// The name by which [`serde_json::value::RawValue`] asks for the text of a value. With it, that type can be
/// used for a field, and so can [`exact`](super::exact).
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// Like `serde_json`: an integer if it is one and fits into 64 bits, and otherwise a float.
fn visit_number<'de, V: Visitor<'de>>(number: &Number, visitor: V) -> Result<V::Value, DeserializeError> {
    if let Some(integer) = number.as_u64() {
        visitor.visit_u64(integer)
    } else if let Some(integer) = number.as_i64() {
        visitor.visit_i64(integer)
    } else {
        visitor.visit_f64(number.as_f64())
    }
}

fn visit_i128<'de, V: Visitor<'de>>(number: &Number, visitor: V) -> Result<V::Value, DeserializeError> {
    match number.as_str().parse() {
        Ok(integer) => visitor.visit_i128(integer),
        Err(_) => visit_number(number, visitor),
    }
}

fn visit_u128<'de, V: Visitor<'de>>(number: &Number, visitor: V) -> Result<V::Value, DeserializeError> {
    match number.as_str().parse() {
        Ok(integer) => visitor.visit_u128(integer),
        Err(_) => visit_number(number, visitor),
    }
}

fn visit_array<'de, V: Visitor<'de>>(
    elements: &'de [Value],
    visitor: V,
) -> Result<V::Value, DeserializeError> {
    let mut rest = Elements { elements: elements.iter(), at: 0 };
    let value = visitor.visit_seq(&mut rest)?;
    match rest.elements.len() {
        0 => Ok(value),
        _ => Err(DeserializeError::invalid_length(elements.len(), &"fewer elements in the array")),
    }
}

fn visit_object<'de, V: Visitor<'de>>(object: &'de Object, visitor: V) -> Result<V::Value, DeserializeError> {
    let mut rest = Members::of(object);
    let value = visitor.visit_map(&mut rest)?;
    match rest.members.len() {
        0 => Ok(value),
        _ => Err(DeserializeError::invalid_length(object.len(), &"fewer members in the object")),
    }
}

struct Elements<'de> {
    elements: slice::Iter<'de, Value>,
    at: usize,
}

impl<'de> SeqAccess<'de> for Elements<'de> {
    type Error = DeserializeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DeserializeError> {
        let Some(element) = self.elements.next() else { return Ok(None) };
        let at = self.at;
        self.at += 1;
        seed.deserialize(element).map(Some).map_err(|error| error.below(at))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.elements.len())
    }
}

struct Members<'de> {
    members: slice::Iter<'de, Member>,
    /// The member whose key was read last.
    current: Option<&'de Member>,
}

impl<'de> Members<'de> {
    fn of(object: &'de Object) -> Self {
        Self { members: object.members().iter(), current: None }
    }
}

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = DeserializeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DeserializeError> {
        self.current = self.members.next();
        let Some((key, _)) = self.current else { return Ok(None) };
        seed.deserialize(Key(key)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, DeserializeError> {
        let (key, value) = self.current.expect("serde asks for a key before its value");
        seed.deserialize(value).map_err(|error| error.below(key))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.members.len())
    }
}

/// The key of a member. For a map with such keys it may be a number or a boolean in quotes.
struct Key<'de>(&'de str);

impl Key<'_> {
    fn number(&self) -> Result<Number, DeserializeError> {
        match Value::parse(self.0, 1) {
            // Nothing but the number, not even whitespace around it.
            Ok(Value::Number(number)) if number.as_str() == self.0 => Ok(number),
            _ => Err(DeserializeError::invalid_value(Unexpected::Str(self.0), &"a key that is a number")),
        }
    }
}

macro_rules! numbers {
    ($($method:ident => $visit:ident,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
            $visit(&self.number()?, visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = DeserializeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        visitor.visit_str(self.0)
    }

    numbers! {
        deserialize_i8 => visit_number,
        deserialize_i16 => visit_number,
        deserialize_i32 => visit_number,
        deserialize_i64 => visit_number,
        deserialize_i128 => visit_i128,
        deserialize_u8 => visit_number,
        deserialize_u16 => visit_number,
        deserialize_u32 => visit_number,
        deserialize_u64 => visit_number,
        deserialize_u128 => visit_u128,
        deserialize_f32 => visit_number,
        deserialize_f64 => visit_number,
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        match self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => Err(DeserializeError::invalid_type(Unexpected::Str(self.0), &visitor)),
        }
    }

    /// A key is never null.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        visitor.visit_enum(self.0.into_deserializer())
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
        ignored_any
    }
}

impl Value {
    /// The value as error messages describe it.
    fn unexpected(&self) -> Unexpected<'_> {
        match self {
            Self::Null => Unexpected::Unit,
            Self::Bool(bool) => Unexpected::Bool(*bool),
            Self::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(integer), _) => Unexpected::Unsigned(integer),
                (None, Some(integer)) => Unexpected::Signed(integer),
                (None, None) => Unexpected::Float(number.as_f64()),
            },
            Self::String(_) => Unexpected::Other("string"),
            Self::Array(_) => Unexpected::Seq,
            Self::Object(_) => Unexpected::Map,
        }
    }
}
