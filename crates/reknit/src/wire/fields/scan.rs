//! [`Scan`]: JSON read from front to back, one key or value at a time.
//!
//! `serde_json` can do the same, but allocates in every frame for what is nested more than once. A value that
//! is skipped is only followed by its brackets and quotes; errors inside it are found by whoever reads it.
//!
//! What runs for every member is `#[inline]`: keys and values have a few bytes, so a call would cost more than
//! its work.

use std::borrow::Cow;

use super::{Raw, decode};
use crate::json::plain_end;

/// Why a frame's JSON cannot be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected} at byte {at} of {part}")]
pub(in crate::wire) struct Error {
    expected: &'static str,
    at: usize,
    /// What `at` is an offset in.
    part: &'static str,
}

/// The part that is the whole frame.
const FRAME: &str = "its data";

impl Error {
    /// The same error, found in a part of the frame.
    pub(in crate::wire) fn within(self, part: &'static str) -> Self {
        Self { part: if self.part == FRAME { part } else { self.part }, ..self }
    }
}

/// A place in a JSON text.
#[derive(Clone, Debug)]
pub(in crate::wire) struct Scan<'a> {
    text: &'a str,
    at: usize,
    /// Whether an object or array was entered and nothing in it was read.
    is_fresh: bool,
}

impl<'a> Scan<'a> {
    pub(in crate::wire) fn new(text: &'a str) -> Self {
        Self { text, at: 0, is_fresh: false }
    }

    /// Enters an object; [`key`](Self::key) gives its members.
    #[inline]
    pub(in crate::wire) fn object(&mut self) -> Result<(), Error> {
        self.expect(b'{', "an object")?;
        self.is_fresh = true;
        Ok(())
    }

    /// Enters an array; [`element`](Self::element) says whether it has another element.
    #[inline]
    pub(in crate::wire) fn array(&mut self) -> Result<(), Error> {
        self.expect(b'[', "an array")?;
        self.is_fresh = true;
        Ok(())
    }

    /// The next key of the object that was entered, or `None` after its last member. The value of a key must
    /// be read before the next.
    #[inline]
    pub(in crate::wire) fn key(&mut self) -> Result<Option<Cow<'a, str>>, Error> {
        if !self.has_next(b'}', "a comma or `}`")? {
            return Ok(None);
        }
        if self.peek() != Some(b'"') {
            return Err(self.not_a_key());
        }
        let start = self.at + 1;
        let bytes = self.text.as_bytes();
        let end = plain_end(bytes, start);
        if let Some([b'"', b':']) = bytes.get(end..end + 2) {
            self.at = end + 2;
            return Ok(Some(Cow::Borrowed(&self.text[start..end])));
        }
        self.other_key()
    }

    /// A key with escapes, or with whitespace after it.
    fn other_key(&mut self) -> Result<Option<Cow<'a, str>>, Error> {
        let key = self.string()?;
        self.expect(b':', "a colon")?;
        Ok(key
            .string_body()
            .map(|body| if key.is_plain { Cow::Borrowed(body) } else { decode(body).0.into() }))
    }

    /// Whether the array that was entered has another element, which must be read before the next.
    #[inline]
    pub(in crate::wire) fn element(&mut self) -> Result<bool, Error> {
        self.has_next(b']', "a comma or `]`")
    }

    /// Reads the next value as its text.
    #[inline]
    pub(in crate::wire) fn value(&mut self) -> Result<Raw<'a>, Error> {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'{' | b'[') => {
                let end = bracket_end(self.text.as_bytes(), self.at).ok_or_else(|| self.error(VALUE_END))?;
                Ok(self.take(end))
            }
            _ => {
                let end = self.scalar_end()?;
                Ok(self.take(end))
            }
        }
    }

    /// Reads the next value, if it is a string.
    #[inline]
    pub(in crate::wire) fn string_value(&mut self) -> Option<Raw<'a>> {
        if self.peek() == Some(b'"') { self.string().ok() } else { None }
    }

    #[inline]
    pub(in crate::wire) fn skip(&mut self, bytes: &[u8]) -> Option<()> {
        self.rest().strip_prefix(bytes)?;
        self.at += bytes.len();
        Some(())
    }

    #[inline]
    pub(in crate::wire) fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }

    #[inline]
    pub(in crate::wire) fn end(&mut self) -> Result<(), Error> {
        if self.peek().is_none() { Ok(()) } else { Err(self.error("the end")) }
    }

    /// The next byte that is not whitespace.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(self.at) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    /// Whether another member or element follows; if not, leaves the object or array, which ends with `close`.
    #[inline]
    fn has_next(&mut self, close: u8, expected: &'static str) -> Result<bool, Error> {
        let next = self.peek();
        if std::mem::take(&mut self.is_fresh) {
            let is_empty = next == Some(close);
            self.at += usize::from(is_empty);
            return Ok(!is_empty);
        }
        if next == Some(b',') {
            self.at += 1;
            return Ok(true);
        }
        self.expect(close, expected)?;
        Ok(false)
    }

    #[inline]
    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), Error> {
        if self.peek() != Some(byte) {
            return Err(self.error(expected));
        }
        self.at += 1;
        Ok(())
    }

    /// Reads the string that begins here.
    #[inline]
    fn string(&mut self) -> Result<Raw<'a>, Error> {
        let bytes = self.text.as_bytes();
        let end = plain_end(bytes, self.at + 1);
        if bytes.get(end) == Some(&b'"') {
            return Ok(Raw { is_plain: true, ..self.take(end + 1) });
        }
        let end = string_end(bytes, end).ok_or_else(|| self.error(VALUE_END))?;
        Ok(self.take(end))
    }

    #[inline]
    fn take(&mut self, end: usize) -> Raw<'a> {
        let taken = Raw::new(&self.text[self.at..end]);
        self.at = end;
        taken
    }

    /// Where the number or literal ends that begins here.
    #[inline]
    fn scalar_end(&self) -> Result<usize, Error> {
        let rest = &self.text.as_bytes()[self.at..];
        match rest.iter().position(|byte| !is_scalar(*byte)).unwrap_or(rest.len()) {
            0 => Err(self.error("a value")),
            length => Ok(self.at + length),
        }
    }

    /// The error for what is there instead of a key.
    #[cold]
    fn not_a_key(&mut self) -> Error {
        self.value().err().unwrap_or_else(|| self.error("a key"))
    }

    #[cold]
    fn error(&self, expected: &'static str) -> Error {
        Error { expected, at: self.at, part: FRAME }
    }
}

const VALUE_END: &str = "the end of this value";

/// Where the string ends that `at` is inside of.
#[inline]
fn string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at = plain_end(bytes, at);
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' if at + 1 < bytes.len() => at += 2,
            b'\\' => return None,
            _ => at += 1,
        }
    }
}

/// Where the array or object ends that begins at `at`.
fn bracket_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = string_end(bytes, at + 1)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 1 => return Some(at + 1),
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
}

/// Whether a byte can be part of a number or a literal.
#[inline]
fn is_scalar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::EndFinder;

    fn check(text: &str, expected: Result<&[(&str, &str)], &str>) {
        let mut seen = Vec::new();
        let read = Raw::new(text).members(|key, value| seen.push((key.to_owned(), value.text())));
        match (read, expected) {
            (Ok(()), Ok(expected)) => {
                let seen: Vec<_> = seen.iter().map(|(key, value)| (key.as_str(), *value)).collect();
                assert_eq!(seen, expected, "{text}");
            }
            (Err(error), Err(expected)) => assert_eq!(error.to_string(), expected, "{text}"),
            (read, _) => panic!("{text}: {read:?}"),
        }
    }

    #[test]
    fn members_are_given_as_their_text() {
        check("{}", Ok(&[]));
        check(r#" { "a" : 1 , "b":"x\"}" }  "#, Ok(&[("a", "1"), ("b", r#""x\"}""#)]));
        check(
            r#"{"a":{"b":[{},"]"]},"c":null,"c":-1.5e+3}"#,
            Ok(&[("a", r#"{"b":[{},"]"]}"#), ("c", "null"), ("c", "-1.5e+3")]),
        );
    }

    #[test]
    fn an_error_says_where_it_is() {
        for (text, expected, at) in [
            ("", "an object", 0),
            ("[1]", "an object", 0),
            (r#"{"a""#, "a colon", 4),
            (r#"{"a": "#, "a value", 6),
            (r#"{"a": "x"#, "the end of this value", 6),
            (r#"{"a": [1, 2"#, "the end of this value", 6),
            (r#"{"a": 1"#, "a comma or `}`", 7),
            (r#"{"a": 1 "b": 2}"#, "a comma or `}`", 8),
            (r#"{"a": 1,}"#, "a value", 8),
            (r#"{a: 1}"#, "a key", 2),
            (r#"{"a": 1} x"#, "the end", 9),
        ] {
            let expected = format!("expected {expected} at byte {at} of its data");
            check(text, Err(&expected));
        }
    }

    #[test]
    fn elements_are_given_as_their_text() {
        let mut seen = Vec::new();
        Raw::new(r#"[ 1, "a,b" ,[2],{"c":3}]"#).elements(|element| seen.push(element.text())).unwrap();
        assert_eq!(seen, ["1", r#""a,b""#, "[2]", r#"{"c":3}"#]);
        assert!(Raw::new("[1 2]").elements(|_| {}).is_err());
        assert!(Raw::new("{}").elements(|_| {}).is_err());
    }

    #[test]
    fn deep_nesting_does_not_overflow_the_stack() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(200_000), "]".repeat(200_000));
        Raw::new(&deep).members(|key, value| assert_eq!((key, value.text().len()), ("a", 400_000))).unwrap();
    }

    proptest! {
        #[test]
        fn a_value_ends_where_the_end_finder_says(text in r#"["{\[][\]{}"\\ \né,:a]{0,40}"#) {
            let end = Scan::new(&text).value().ok().map(|value| value.text().len());
            prop_assert_eq!(end, EndFinder::new().push(text.as_bytes()));
        }
    }
}
