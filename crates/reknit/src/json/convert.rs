//! Conversions between [`Value`] and other types, including those of `serde_json`, and `serde` support.

use std::fmt;

use serde::de::{self, Error as _, MapAccess, SeqAccess};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::members::{Members, Misread};
use super::{Array, Number, Object, Value};
use crate::Text;

impl From<bool> for Value {
    fn from(bool: bool) -> Self {
        Self::Bool(bool)
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

macro_rules! from_integers {
    ($($integer:ty)*) => {$(
        impl From<$integer> for Value {
            fn from(integer: $integer) -> Self {
                Self::Number(integer.into())
            }
        }
    )*};
}

from_integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl From<Text> for Value {
    fn from(text: Text) -> Self {
        Self::String(text)
    }
}

impl From<Vec<Value>> for Value {
    fn from(elements: Vec<Value>) -> Self {
        Self::Array(elements.into())
    }
}

impl From<Array> for Value {
    fn from(array: Array) -> Self {
        Self::Array(array)
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(bool) => Self::Bool(bool),
            serde_json::Value::Number(number) => Self::Number(Number::from(&number)),
            serde_json::Value::String(text) => Self::String(text.into()),
            serde_json::Value::Array(elements) => Self::Array(elements.into_iter().map(Self::from).collect()),
            serde_json::Value::Object(members) => Self::Object(members.into_iter().collect()),
        }
    }
}

/// Numbers become what `serde_json` parses from their text.
impl From<Value> for serde_json::Value {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(bool) => Self::Bool(bool),
            Value::Number(number) => Self::Number((&number).into()),
            Value::String(text) => Self::String(String::from(&text)),
            Value::Array(elements) => Self::Array(elements.into_iter().map(Self::from).collect()),
            Value::Object(object) => {
                Self::Object(object.into_iter().map(|(key, value)| (key, Self::from(value))).collect())
            }
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(bool) => serializer.serialize_bool(*bool),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => text.serialize(serializer),
            Self::Array(elements) => serializer.collect_seq(&**elements),
            Self::Object(object) => object.serialize(serializer),
        }
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// Numbers are what the format makes of them: with `serde_json`, `1.10` becomes `1.1`. Use [`exact`] to keep
/// their text.
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Visitor)
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(Value::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

struct Visitor;

impl<'de> de::Visitor<'de> for Visitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E>(self, bool: bool) -> Result<Value, E> {
        Ok(bool.into())
    }

    fn visit_i64<E>(self, integer: i64) -> Result<Value, E> {
        Ok(integer.into())
    }

    fn visit_u64<E>(self, integer: u64) -> Result<Value, E> {
        Ok(integer.into())
    }

    fn visit_i128<E>(self, integer: i128) -> Result<Value, E> {
        Ok(integer.into())
    }

    fn visit_u128<E>(self, integer: u128) -> Result<Value, E> {
        Ok(integer.into())
    }

    // JSON has no infinities and no NaN. Like `serde_json`, read them from other formats as null.
    fn visit_f64<E>(self, float: f64) -> Result<Value, E> {
        Ok(Number::from_f64(float).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut array = Array::default();
        while let Some(element) = elements.next_element()? {
            array.push(element);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Object::new();
        while let Some((key, value)) = members.next_entry::<String, Value>()? {
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

impl TryFrom<Value> for Object {
    type Error = Misread;

    fn try_from(value: Value) -> Result<Self, Misread> {
        Members::new("the value", value).map(Members::rest)
    }
}

/// Deserializes a [`Value`] or an [`Object`] with every digit of its numbers.
///
/// It asks the format for the text of the value. `serde_json` and [`from_value`](super::from_value) provide
/// it for a field of a plain struct. The value may be nested up to 511 levels deep. With `flatten` and in untagged or internally tagged enums the text is no
/// longer available, which is an error.
///
/// ```
/// use reknit::json::{Value, exact};
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Call {
///     #[serde(deserialize_with = "exact")]
///     arguments: Value,
/// }
///
/// let text = r#"{"arguments":{"price":1.10}}"#;
/// let call: Call = serde_json::from_str(text)?;
/// assert_eq!(serde_json::to_string(&call)?, text);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn exact<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: TryFrom<Value, Error: fmt::Display>,
    D: Deserializer<'de>,
{
    let value = if deserializer.is_human_readable() {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Value::parse(raw.get(), DEPTH).map_err(D::Error::custom)?
    } else {
        Value::deserialize(deserializer)?
    };
    T::try_from(value).map_err(D::Error::custom)
}

/// How deeply a value may be nested. What was read with the default limit is written inside events, entries
/// and other forms, which may be inside others, and must be readable there.
const DEPTH: usize = 512;
