//! [`Number`]: a JSON number as its text.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A JSON number, stored digit for digit as it was written.
///
/// `1.10` stays `1.10`, and a 30-digit id keeps all 30 digits. Two numbers are equal if their texts are, so
/// `1.0` and `1` differ.
///
/// ```
/// use reknit::json::{Number, Value};
///
/// let price: Value = "1.10".parse()?;
/// assert_eq!(price.as_number().map(Number::as_str), Some("1.10"));
/// assert_eq!(price.as_number().map(Number::as_f64), Some(1.1));
/// # Ok::<(), reknit::json::Error>(())
/// ```
#[derive(Clone)]
pub struct Number {
    digits: Digits,
}

/// Enough for a time in milliseconds, and no more than what fits into [`Digits`] without making
/// [`Value`](super::Value) larger.
const INLINE: usize = 14;

#[derive(Clone)]
enum Digits {
    Inline {
        length: u8,
        bytes: [u8; INLINE],
    },
    /// Boxed twice, because a pointer to a text is too large.
    Boxed(Box<Box<str>>),
}

impl Number {
    /// The number as it was written.
    pub fn as_str(&self) -> &str {
        match &self.digits {
            Digits::Inline { length, bytes } => {
                str::from_utf8(&bytes[..usize::from(*length)]).expect("a number is ASCII")
            }
            Digits::Boxed(text) => text,
        }
    }

    /// The number as an `i64`, if it is an integer in range. `-0` is not an integer, because no integer has a
    /// negative zero.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_str().parse().ok().filter(|&integer| integer != 0 || self.as_str() == "0")
    }

    /// The number as a `u64`, if it is an integer in range.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_str().parse().ok()
    }

    /// The `f64` closest to the number, which is always finite.
    pub fn as_f64(&self) -> f64 {
        // The range was checked by `serde_json`, which rounds twice. The text may still round to infinity.
        self.as_str().parse::<f64>().map_or(0.0, |float| float.clamp(f64::MIN, f64::MAX))
    }

    /// The shortest number that parses to `float`, or `None` for infinities and NaN.
    pub(super) fn from_f64(float: f64) -> Option<Self> {
        serde_json::Number::from_f64(float).map(|number| Self::from(&number))
    }

    /// Creates a number from a text that is known to be one.
    pub(super) fn from_valid(text: &str) -> Self {
        let mut bytes = [0; INLINE];
        let digits = match bytes.get_mut(..text.len()) {
            Some(space) => {
                space.copy_from_slice(text.as_bytes());
                Digits::Inline { length: text.len() as u8, bytes }
            }
            None => Digits::Boxed(Box::new(text.into())),
        };
        Self { digits }
    }

    /// The number as an `f64`, if that has the same text.
    fn to_f64_exactly(&self) -> Option<f64> {
        let float = self.as_f64();
        (Self::from_f64(float).as_ref() == Some(self)).then_some(float)
    }
}

/// What the text of a number ends with so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NumberState {
    Start,
    Minus,
    Zero,
    Integer,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
}

impl NumberState {
    /// The state after `byte`, if the number can continue with it.
    fn after(self, byte: u8) -> Option<Self> {
        match (self, byte) {
            (Self::Start, b'-') => Some(Self::Minus),
            (Self::Start | Self::Minus, b'0') => Some(Self::Zero),
            (Self::Start | Self::Minus | Self::Integer, b'0'..=b'9') => Some(Self::Integer),
            (Self::Zero | Self::Integer, b'.') => Some(Self::Point),
            (Self::Point | Self::Fraction, b'0'..=b'9') => Some(Self::Fraction),
            (Self::Zero | Self::Integer | Self::Fraction, b'e' | b'E') => Some(Self::Exponent),
            (Self::Exponent, b'+' | b'-') => Some(Self::ExponentSign),
            (Self::Exponent | Self::ExponentSign | Self::ExponentDigits, b'0'..=b'9') => {
                Some(Self::ExponentDigits)
            }
            (_, _) => None,
        }
    }

    /// Advances over the bytes that belong to the number, and returns how many there are.
    pub(super) fn advance(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while let Some(next) = bytes.get(at).and_then(|&byte| self.after(byte)) {
            *self = next;
            at += 1;
        }
        at
    }

    /// Whether the number may end here.
    pub(super) fn is_whole(self) -> bool {
        matches!(self, Self::Zero | Self::Integer | Self::Fraction | Self::ExponentDigits)
    }
}

/// Whether `serde_json` reads the number as a finite `f64`.
pub(super) fn in_range(text: &str) -> bool {
    // The common case without parsing: fewer than 200 digits need an exponent of three digits to get near
    // 1e308.
    let exponent = text.rfind(['e', 'E']).map_or(0, |at| text.len() - at - 1);
    (text.len() < 200 && exponent < 3) || serde_json::from_str::<f64>(text).is_ok()
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Number {}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

macro_rules! from_integers {
    ($($integer:ty)*) => {$(
        impl From<$integer> for Number {
            fn from(integer: $integer) -> Self {
                Self::from_valid(&integer.to_string())
            }
        }
    )*};
}

from_integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

impl From<&serde_json::Number> for Number {
    fn from(number: &serde_json::Number) -> Self {
        Self::from_valid(&number.to_string())
    }
}

impl From<&Number> for serde_json::Number {
    /// The number that `serde_json` parses from the same text.
    fn from(number: &Number) -> Self {
        if let Some(integer) = number.as_u64() {
            return integer.into();
        }
        serde_json::from_str(number.as_str()).expect("a number in range is one for serde_json")
    }
}

/// Integers, and floats that an `f64` represents exactly, are serialized as such. Any other number is
/// serialized as its text if the format is human-readable, which only `serde_json` understands, and otherwise
/// as the closest `f64`.
impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(integer) = self.as_u64() {
            serializer.serialize_u64(integer)
        } else if let Some(integer) = self.as_i64() {
            serializer.serialize_i64(integer)
        } else if let Some(float) = self.to_f64_exactly() {
            serializer.serialize_f64(float)
        } else if serializer.is_human_readable() {
            serde_json::from_str::<&RawValue>(self.as_str())
                .map_err(serde::ser::Error::custom)?
                .serialize(serializer)
        } else {
            serializer.serialize_f64(self.as_f64())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_keeps_its_text() {
        for text in ["0", "-0", "1.10", "1E5", "1e+05", "123456789012345678901234567890", "-0.0"] {
            let number = Number::from_valid(text);
            assert_eq!(number.as_str(), text);
            assert_eq!(serde_json::to_string(&number).unwrap(), text);
        }
    }

    #[test]
    fn integers_are_those_of_serde_json() {
        for text in
            ["0", "-0", "7", "-7", "18446744073709551615", "18446744073709551616", "9223372036854775807"]
                .into_iter()
                .chain(["9223372036854775808", "-9223372036854775808", "-9223372036854775809", "1.0", "1e2"])
        {
            let (ours, theirs) = (Number::from_valid(text), text.parse::<serde_json::Number>().unwrap());
            assert_eq!(ours.as_u64(), theirs.as_u64(), "{text}");
            assert_eq!(ours.as_i64(), theirs.as_i64(), "{text}");
            assert_eq!(Some(ours.as_f64()), theirs.as_f64(), "{text}");
            assert_eq!(serde_json::Number::from(&ours), theirs, "{text}");
        }
    }

    #[test]
    fn the_range_is_that_of_serde_json() {
        let long = "9".repeat(309);
        let zeros = format!("0.{}1e300", "0".repeat(400));
        let near = ["1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308", "1e308"];
        for text in ["1e309", "1e400", "-1e400", "1e99999999999", "0e400", "1e-400", "10e307", "10e308"]
            .into_iter()
            .chain(near)
            .chain([long.as_str(), &long[1..], &zeros])
        {
            assert_eq!(in_range(text), serde_json::from_str::<f64>(text).is_ok(), "{text}");
        }
        assert!(!in_range("1e309") && in_range("1e308"));
    }

    #[test]
    fn floats_become_their_shortest_text() {
        assert_eq!(Number::from_f64(0.1).unwrap().as_str(), "0.1");
        assert_eq!(Number::from_f64(f64::NAN), None);
        assert_eq!(Number::from_f64(f64::INFINITY), None);
    }
}
