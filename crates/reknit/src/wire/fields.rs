//! The members of a frame's JSON one by one, borrowed, whatever they are.
//!
//! A provider's frame is read leniently: a member of an unexpected type is as good as absent, one of an
//! unknown name can be kept as its own text, and nothing is allocated.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::json::Value;

mod scan;

/// A JSON value as its own text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// The JSON of a frame, not yet looked at.
    pub(super) fn new(json: &'a str) -> Self {
        Self(json)
    }

    pub(super) fn text(self) -> &'a str {
        self.0
    }

    pub(super) fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// Calls `member` for each member, if this is an object; an error if it is not JSON or no object.
    pub(super) fn members(self, mut member: impl FnMut(&str, Raw<'a>)) -> serde_json::Result<()> {
        let mut given = 0;
        let followed = scan::members(self.0, |key, value| {
            given += 1;
            member(key, Raw(value));
        });
        match followed {
            Some(()) => Ok(()),
            None => self.read_members(|key, value| match given {
                0 => member(key, value),
                _ => given -= 1,
            }),
        }
    }

    /// Calls `element` for each element, if this is an array.
    pub(super) fn elements(self, mut element: impl FnMut(Raw<'a>)) -> serde_json::Result<()> {
        let mut given = 0;
        let followed = scan::elements(self.0, |value| {
            given += 1;
            element(Raw(value));
        });
        match followed {
            Some(()) => Ok(()),
            None => self.read_elements(|value| match given {
                0 => element(value),
                _ => given -= 1,
            }),
        }
    }

    /// The members by `serde_json`, which reads everything and says what is wrong.
    #[cold]
    fn read_members(self, member: impl FnMut(&str, Raw<'a>)) -> serde_json::Result<()> {
        serde_json::Deserializer::from_str(self.0).deserialize_map(Members(member))
    }

    #[cold]
    fn read_elements(self, element: impl FnMut(Raw<'a>)) -> serde_json::Result<()> {
        serde_json::Deserializer::from_str(self.0).deserialize_seq(Elements(element))
    }

    /// A member of an object.
    pub(super) fn get(self, name: &str) -> Option<Raw<'a>> {
        let mut found = None;
        self.members(|key, value| {
            if key == name {
                found = Some(value);
            }
        })
        .ok()?;
        found
    }

    /// The text between the quotes of a string, escapes and all.
    pub(super) fn string_body(self) -> Option<&'a str> {
        self.0.strip_prefix('"')?.strip_suffix('"')
    }

    /// The string, if it is one and not empty. Lone surrogates are U+FFFD.
    pub(super) fn string(self) -> Option<Cow<'a, str>> {
        let body = self.string_body().filter(|body| !body.is_empty())?;
        if !body.contains('\\') {
            return Some(Cow::Borrowed(body));
        }
        let mut decoded = String::with_capacity(body.len());
        self.push_to(&mut decoded);
        Some(Cow::Owned(decoded))
    }

    /// Appends the string to `out`, if it is one. Lone surrogates are U+FFFD.
    pub(super) fn push_to(self, out: &mut String) {
        let mut half = None;
        unescape(self.string_body().unwrap_or_default(), &mut half, out);
        flush(&mut half, out);
    }

    pub(super) fn owned_string(self) -> Option<String> {
        self.string().map(Cow::into_owned)
    }

    pub(super) fn number(self) -> Option<u64> {
        self.0.parse().ok()
    }

    pub(super) fn index(self) -> Option<u32> {
        self.0.parse().ok()
    }

    /// The value, read exactly. One that is nested too deep is kept as its text.
    pub(super) fn value(self) -> Value {
        self.0.parse().unwrap_or_else(|_| Value::from(self.0))
    }
}

/// Half of a surrogate pair at the end of a string, waiting for the other half at the start of the next.
///
/// Servers that cut text into tokens by UTF-16 send characters outside the basic plane this way.
pub(super) type Half = Option<u16>;

/// Decodes the body of a valid JSON string behind `out`; returns how many lone halves became U+FFFD.
///
/// `half` is what the string before left over; afterwards it is what this one does.
pub(super) fn unescape(body: &str, half: &mut Half, out: &mut String) -> u32 {
    let mut lone = 0;
    let mut rest = body;
    while !rest.is_empty() {
        let run = memchr::memchr(b'\\', rest.as_bytes()).unwrap_or(rest.len());
        if run > 0 {
            lone += flush(half, out);
            out.push_str(&rest[..run]);
            rest = &rest[run..];
            continue;
        }
        let (unit, length) = escape(rest);
        rest = &rest[length..];
        match (half.take(), unit) {
            (Some(high), 0xDC00..=0xDFFF) => {
                let code = 0x1_0000 + ((u32::from(high) - 0xD800) << 10) + (u32::from(unit) - 0xDC00);
                out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            (before, _) => {
                *half = before;
                lone += flush(half, out);
                match unit {
                    0xD800..=0xDBFF => *half = Some(unit),
                    0xDC00..=0xDFFF => {
                        out.push(char::REPLACEMENT_CHARACTER);
                        lone += 1;
                    }
                    unit => out.push(char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER)),
                }
            }
        }
    }
    lone
}

/// Gives up waiting for the other half.
pub(super) fn flush(half: &mut Half, out: &mut String) -> u32 {
    match half.take() {
        Some(_) => {
            out.push(char::REPLACEMENT_CHARACTER);
            1
        }
        None => 0,
    }
}

/// The UTF-16 unit that the escape at the start of `text` stands for, and its length.
fn escape(text: &str) -> (u16, usize) {
    let unit = match text.as_bytes().get(1) {
        Some(b'n') => b'\n',
        Some(b't') => b'\t',
        Some(b'r') => b'\r',
        Some(b'b') => 0x08,
        Some(b'f') => 0x0C,
        Some(b'u') => {
            let unit = text.get(2..6).and_then(|digits| u16::from_str_radix(digits, 16).ok());
            return (unit.unwrap_or(0xFFFD), text.len().min(6));
        }
        Some(&itself) => itself,
        None => b'\\',
    };
    (unit.into(), text.len().min(2))
}

struct Members<F>(F);

impl<'de, F: FnMut(&str, Raw<'de>)> Visitor<'de> for Members<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
            (self.0)(&key, Raw(value.get()));
        }
        Ok(())
    }
}

struct Elements<F>(F);

impl<'de, F: FnMut(Raw<'de>)> Visitor<'de> for Elements<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON array")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        while let Some(value) = seq.next_element::<&'de RawValue>()? {
            (self.0)(Raw(value.get()));
        }
        Ok(())
    }
}

/// A key, borrowed unless it has escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(key)))
            }

            fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bodies: &[&str]) -> (String, u32) {
        let (mut out, mut half, mut lone) = (String::new(), None, 0);
        for body in bodies {
            lone += unescape(body, &mut half, &mut out);
        }
        lone += flush(&mut half, &mut out);
        (out, lone)
    }

    #[test]
    fn every_escape_is_decoded() {
        let (text, lone) = decode(&[r#"a\"\\\/\b\f\n\r\té\u0041\u00e9😀"#]);
        assert_eq!((text.as_str(), lone), ("a\"\\/\u{8}\u{c}\n\r\té\u{41}é😀", 0));
    }

    #[test]
    fn a_pair_cut_between_two_strings_is_joined() {
        assert_eq!(decode(&[r"x\ud83d", r"\ude00y"]), ("x😀y".to_owned(), 0));
        assert_eq!(decode(&[r"\ud83d", "", r"\ude00"]), ("😀".to_owned(), 0));
    }

    #[test]
    fn a_lone_half_is_replaced_and_counted() {
        assert_eq!(decode(&[r"\ud83dx"]), ("\u{fffd}x".to_owned(), 1));
        assert_eq!(decode(&[r"\ude00\ud83d"]), ("\u{fffd}\u{fffd}".to_owned(), 2));
        assert_eq!(decode(&[r"\ud83d\ud83d\ude00"]), ("\u{fffd}😀".to_owned(), 1));
        assert_eq!(decode(&[r"\ud83d\n"]), ("\u{fffd}\n".to_owned(), 1));
    }

    #[test]
    fn members_are_given_whatever_they_are() {
        let mut seen = Vec::new();
        let frame = Raw::new(r#"{"a": 1, "b\n": [null, {"c": "d"}], "e": "f"}"#);
        frame.members(|key, value| seen.push((key.to_owned(), value.text().to_owned()))).unwrap();
        let expected = [("a", "1"), ("b\n", r#"[null, {"c": "d"}]"#), ("e", r#""f""#)];
        assert_eq!(seen, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
        assert!(Raw::new("[1]").members(|_, _| {}).is_err());
        assert!(Raw::new(r#"{"a": "#).members(|_, _| {}).is_err());
    }
}
