//! Reads the members of a frame's JSON one by one, borrowed, whatever their types.
//!
//! A provider's frame is read leniently: a member of an unexpected type is treated as absent, a member with an
//! unknown name can be kept as its text, and nothing is allocated.

use std::borrow::Cow;
use std::ops::Range;

use super::other_members::Others;
use crate::json::{self, Object, Value};

mod scan;

pub(super) use scan::{Error, Scan};

/// A JSON value as its own text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw<'a> {
    text: &'a str,
    /// Whether it is known to be a string without escapes.
    is_plain: bool,
}

/// An object without members.
impl Default for Raw<'_> {
    fn default() -> Self {
        Self::new("{}")
    }
}

impl<'a> Raw<'a> {
    /// JSON that has not been scanned yet, such as that of a frame.
    pub(super) fn new(json: &'a str) -> Self {
        Self { text: json, is_plain: false }
    }

    pub(super) fn text(self) -> &'a str {
        self.text
    }

    pub(super) fn is_null(self) -> bool {
        self.text == "null"
    }

    pub(super) fn is_true(self) -> bool {
        self.text == "true"
    }

    /// Calls `member` for each member, if this is an object.
    pub(super) fn members(self, mut member: impl FnMut(&str, Raw<'a>)) -> Result<(), Error> {
        let mut scan = Scan::new(self.text);
        scan.object()?;
        while let Some(key) = scan.key()? {
            member(&key, scan.value()?);
        }
        scan.end()
    }

    /// The same without members that are null: to providers, these are absent.
    pub(super) fn fields(self, mut field: impl FnMut(&str, Raw<'a>)) -> Result<(), Error> {
        self.members(|key, value| {
            if !value.is_null() {
                field(key, value);
            }
        })
    }

    /// The members of these names, if this is an object, and the others. A member that is null is absent, and of
    /// two members with one name the last counts.
    pub(super) fn split<const N: usize>(
        self,
        names: [&str; N],
    ) -> Result<([Option<Raw<'a>>; N], Others<'a>), Error> {
        let (mut named, mut others) = ([None; N], Others::default());
        self.split_into(&names, &mut named, &mut others)?;
        Ok((named, others))
    }

    /// The same, with the members that precede an error.
    pub(super) fn split_leniently<const N: usize>(
        self,
        names: [&str; N],
    ) -> ([Option<Raw<'a>>; N], Others<'a>, Result<(), Error>) {
        let (mut named, mut others) = ([None; N], Others::default());
        let read = self.split_into(&names, &mut named, &mut others);
        (named, others, read)
    }

    fn split_into(
        self,
        names: &[&str],
        named: &mut [Option<Raw<'a>>],
        others: &mut Others<'a>,
    ) -> Result<(), Error> {
        let mut scan = Scan::new(self.text);
        scan.object()?;
        while let Some(key) = scan.key()? {
            let value = scan.value()?;
            if value.is_null() {
                continue;
            }
            match names.iter().position(|name| *name == key) {
                Some(at) => named[at] = Some(value),
                None => others.add(key, value),
            }
        }
        scan.end()
    }

    /// Calls `element` for each element, if this is an array.
    pub(super) fn elements(self, mut element: impl FnMut(Raw<'a>)) -> Result<(), Error> {
        let mut scan = Scan::new(self.text);
        scan.array()?;
        while scan.element()? {
            element(scan.value()?);
        }
        scan.end()
    }

    pub(super) fn address(self) -> Address {
        Address { start: self.text.as_ptr().addr(), length: self.text.len() }
    }

    /// The last member of this name.
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

    /// The body of a string, if it is known to have no escapes.
    pub(super) fn plain_body(self) -> Option<&'a str> {
        self.string_body().filter(|_| self.is_plain)
    }

    /// The text between the quotes of a string, with its escapes.
    pub(super) fn string_body(self) -> Option<&'a str> {
        self.text.strip_prefix('"')?.strip_suffix('"')
    }

    /// Whether it is a string and not empty.
    pub(super) fn has_text(self) -> bool {
        self.string_body().is_some_and(|body| !body.is_empty())
    }

    /// The string, if it is a string and not empty. Lone surrogates become U+FFFD.
    pub(super) fn string(self) -> Option<Cow<'a, str>> {
        let body = self.string_body().filter(|body| !body.is_empty())?;
        let has_escapes = !self.is_plain && memchr::memchr(b'\\', body.as_bytes()).is_some();
        Some(if has_escapes { decode(body).0.into() } else { Cow::Borrowed(body) })
    }

    pub(super) fn owned_string(self) -> Option<String> {
        self.string().map(Cow::into_owned)
    }

    pub(super) fn number(self) -> Option<u64> {
        self.text.parse().ok()
    }

    pub(super) fn index(self) -> Option<u32> {
        self.text.parse().ok()
    }

    /// The value, if it can be read exactly.
    pub(super) fn exact(self) -> Result<Value, json::Error> {
        self.text.parse()
    }

    /// The value, or its text if it is nested too deep or malformed. A malformed string is still read.
    pub(super) fn value(self) -> Value {
        let lenient = || Value::from(self.string_body().map_or(self.text.to_owned(), |body| decode(body).0));
        self.exact().unwrap_or_else(|_| lenient())
    }

    /// The value, with its text in place of each part that is nested too deep or malformed.
    pub(super) fn value_to_depth(self, depth: usize) -> Value {
        if depth == 0 || self.text.parse::<Value>().is_ok() {
            return self.value();
        }
        let (mut object, mut array) = (Object::new(), Vec::new());
        if self.members(|key, value| drop(object.insert(key, value.value_to_depth(depth - 1)))).is_ok() {
            Value::Object(object)
        } else if self.elements(|value| array.push(value.value_to_depth(depth - 1))).is_ok() {
            Value::from(array)
        } else {
            self.value()
        }
    }
}

/// Where a value is in memory; can be kept without borrowing the frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    start: usize,
    length: usize,
}

impl Address {
    /// Where in `frame` the value is, if it is a part of it.
    pub(super) fn place_in(self, frame: &str) -> Option<Range<usize>> {
        let start = self.start.checked_sub(frame.as_ptr().addr())?;
        let end = start.checked_add(self.length)?;
        (end <= frame.len()).then_some(start..end)
    }
}

/// The first error in the parts of a frame.
///
/// A part that cannot be read does not prevent the others from being read.
#[derive(Debug, Default)]
pub(super) struct Faults(Option<Error>);

impl Faults {
    pub(super) fn note(&mut self, part: &'static str, read: Result<(), Error>) {
        if let (Err(error), None) = (read, self.0) {
            self.0 = Some(error.within(part));
        }
    }

    /// Reads the elements of a list, which may be absent.
    pub(super) fn each<'a>(
        &mut self,
        part: &'static str,
        list: Option<Raw<'a>>,
        mut read: impl FnMut(Raw<'a>) -> Result<(), Error>,
    ) {
        let all = list.unwrap_or(Raw::new("[]")).elements(|element| self.note(part, read(element)));
        self.note(part, all);
    }

    pub(super) fn result(self) -> Result<(), Error> {
        self.0.map_or(Ok(()), Err)
    }
}

/// The body of a string, unescaped. Lone surrogates become U+FFFD.
pub(super) fn decode(body: &str) -> (String, Odd) {
    let (mut out, mut half) = (String::with_capacity(body.len()), None);
    let mut odd = unescape(body, &mut half, &mut out);
    odd.lone += flush(&mut half, &mut out);
    (out, odd)
}

/// Half of a surrogate pair at the end of a string, which waits for the other half at the start of the next.
///
/// Servers that split text into tokens by UTF-16 units send characters outside the basic plane this way.
pub(super) type Half = Option<u16>;

/// What had to be replaced or guessed in a string.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Odd {
    /// Halves of surrogate pairs that became U+FFFD.
    pub(super) lone: u32,
    /// Escapes that are not valid in JSON.
    pub(super) escapes: u32,
}

/// Decodes the body of a JSON string and appends it to `out`.
///
/// `half` is what the previous string left over, and afterwards what this one leaves over.
pub(super) fn unescape(body: &str, half: &mut Half, out: &mut String) -> Odd {
    let (mut lone, mut escapes) = (0, 0);
    let mut rest = body;
    while !rest.is_empty() {
        let run = memchr::memchr(b'\\', rest.as_bytes()).unwrap_or(rest.len());
        if run > 0 {
            lone += flush(half, out);
            out.push_str(&rest[..run]);
            rest = &rest[run..];
            continue;
        }
        let Escape { unit, length, is_known } = escape(rest);
        escapes += u32::from(!is_known);
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
    Odd { lone, escapes }
}

/// Stops waiting for the other half. Returns the number of characters replaced.
pub(super) fn flush(half: &mut Half, out: &mut String) -> u32 {
    match half.take() {
        Some(_) => {
            out.push(char::REPLACEMENT_CHARACTER);
            1
        }
        None => 0,
    }
}

struct Escape {
    /// The UTF-16 unit that it represents.
    unit: u16,
    length: usize,
    /// Whether it is valid in JSON.
    is_known: bool,
}

/// The escape at the start of `text`.
///
/// An invalid escape loses its backslash, or keeps it before a character that is not ASCII. A `\u` without four
/// digits becomes U+FFFD.
fn escape(text: &str) -> Escape {
    let unknown = |unit, length| Escape { unit, length, is_known: false };
    let unit = match text.as_bytes().get(1) {
        Some(b'n') => b'\n',
        Some(b't') => b'\t',
        Some(b'r') => b'\r',
        Some(b'b') => 0x08,
        Some(b'f') => 0x0C,
        Some(b'u') => {
            let digits = text.get(2..6).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
            let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
            return unit.map_or(unknown(0xFFFD, 2), |unit| Escape { unit, length: 6, is_known: true });
        }
        Some(itself @ (b'"' | b'\\' | b'/')) => *itself,
        Some(itself) if itself.is_ascii() => return unknown((*itself).into(), 2),
        Some(_) | None => return unknown(b'\\'.into(), 1),
    };
    Escape { unit: unit.into(), length: 2, is_known: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode_all(bodies: &[&str]) -> (String, u32) {
        let (mut out, mut half, mut lone) = (String::new(), None, 0);
        for body in bodies {
            lone += unescape(body, &mut half, &mut out).lone;
        }
        lone += flush(&mut half, &mut out);
        (out, lone)
    }

    #[test]
    fn every_escape_is_decoded() {
        let (text, lone) = decode_all(&[r#"a\"\\\/\b\f\n\r\té\u0041\u00e9😀"#]);
        assert_eq!((text.as_str(), lone), ("a\"\\/\u{8}\u{c}\n\r\té\u{41}é😀", 0));
    }

    #[test]
    fn an_invalid_escape_stays_text() {
        for (body, expected) in [
            (r"a\qb", "aqb"),
            (r"a\éb", r"a\éb"),
            (r"\😀", r"\😀"),
            (r"\u00é1", "\u{fffd}00é1"),
            (r"\u12", "\u{fffd}12"),
            (r"\u+123", "\u{fffd}+123"),
            (r"\ud83d\é", "\u{fffd}\\é"),
            ("\\", "\\"),
        ] {
            let (mut out, mut half) = (String::new(), None);
            assert_eq!(unescape(body, &mut half, &mut out).escapes, 1, "{body}");
            assert_eq!(decode_all(&[body]).0, expected, "{body}");
        }
    }

    #[test]
    fn a_pair_cut_between_two_strings_is_joined() {
        assert_eq!(decode_all(&[r"x\ud83d", r"\ude00y"]), ("x😀y".to_owned(), 0));
        assert_eq!(decode_all(&[r"\ud83d", "", r"\ude00"]), ("😀".to_owned(), 0));
    }

    #[test]
    fn a_lone_half_is_replaced_and_counted() {
        assert_eq!(decode_all(&[r"\ud83dx"]), ("\u{fffd}x".to_owned(), 1));
        assert_eq!(decode_all(&[r"\ude00\ud83d"]), ("\u{fffd}\u{fffd}".to_owned(), 2));
        assert_eq!(decode_all(&[r"\ud83d\ud83d\ude00"]), ("\u{fffd}😀".to_owned(), 1));
        assert_eq!(decode_all(&[r"\ud83d\n"]), ("\u{fffd}\n".to_owned(), 1));
    }

    #[test]
    fn members_of_any_type_are_returned() {
        let mut seen = Vec::new();
        let frame = Raw::new(r#"{"a": 1, "b\n": [null, {"c": "d"}], "e": "f"}"#);
        frame.members(|key, value| seen.push((key.to_owned(), value.text().to_owned()))).unwrap();
        let expected = [("a", "1"), ("b\n", r#"[null, {"c": "d"}]"#), ("e", r#""f""#)];
        assert_eq!(seen, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
        assert!(Raw::new("[1]").members(|_, _| {}).is_err());
        assert!(Raw::new(r#"{"a": "#).members(|_, _| {}).is_err());
    }
}
