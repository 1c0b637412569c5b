//! The members of an object or the elements of an array, each as its own text.
//!
//! `serde_json` can do the same, but allocates for what is nested more than once, in every frame. A value
//! that is passed over is only followed by its brackets and quotes: who reads it will see what is in it.

use crate::json::plain_end;

/// Why a frame's JSON cannot be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected} at byte {at} of {part}")]
pub(in crate::wire) struct Error {
    expected: &'static str,
    at: usize,
    /// What the byte is counted in.
    part: &'static str,
}

/// The part of a frame that is all of it.
const FRAME: &str = "its data";

impl Error {
    /// The same error of something that stands in a part of the frame.
    pub(in crate::wire) fn within(self, part: &'static str) -> Self {
        Self { part: if self.part == FRAME { part } else { self.part }, ..self }
    }
}

/// Calls `member` with the text between the quotes of each key, and with the text of its value.
pub(super) fn members<'a>(text: &'a str, mut member: impl FnMut(&'a str, &'a str)) -> Result<(), Error> {
    let mut scan = Scan { text, at: 0 };
    scan.take(b'{', "an object")?;
    if scan.take(b'}', "").is_ok() {
        return scan.end();
    }
    loop {
        let key = scan.value()?.strip_prefix('"').and_then(|key| key.strip_suffix('"'));
        let key = key.ok_or(scan.error("a key"))?;
        scan.take(b':', "a colon")?;
        member(key, scan.value()?);
        if scan.take(b',', "").is_err() {
            scan.take(b'}', "a comma or `}`")?;
            return scan.end();
        }
    }
}

/// Calls `element` with the text of each element.
pub(super) fn elements<'a>(text: &'a str, mut element: impl FnMut(&'a str)) -> Result<(), Error> {
    let mut scan = Scan { text, at: 0 };
    scan.take(b'[', "an array")?;
    if scan.take(b']', "").is_ok() {
        return scan.end();
    }
    loop {
        element(scan.value()?);
        if scan.take(b',', "").is_err() {
            scan.take(b']', "a comma or `]`")?;
            return scan.end();
        }
    }
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    /// The next byte that is not blank.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        match self.text.as_bytes().get(self.at) {
            Some(&byte) if byte > b' ' => Some(byte),
            _ => self.peek_behind_blanks(),
        }
    }

    /// Most providers send none.
    #[cold]
    fn peek_behind_blanks(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        self.at += blanks;
        rest.get(blanks).copied()
    }

    /// Goes behind `byte`, if it is the next one.
    #[inline]
    fn take(&mut self, byte: u8, expected: &'static str) -> Result<(), Error> {
        if self.peek() != Some(byte) {
            return Err(self.error(expected));
        }
        self.at += 1;
        Ok(())
    }

    /// Goes behind the next value and returns its text.
    fn value(&mut self) -> Result<&'a str, Error> {
        let first = self.peek().ok_or(self.error("a value"))?;
        let rest = &self.text[self.at..];
        let length = match first {
            b'"' => string_end(rest.as_bytes(), 1).ok_or(self.error("the end of this value"))?,
            b'{' | b'[' => bracket_end(rest.as_bytes()).ok_or(self.error("the end of this value"))?,
            _ => rest.bytes().position(|byte| !is_scalar(byte)).unwrap_or(rest.len()),
        };
        if length == 0 {
            return Err(self.error("a value"));
        }
        self.at += length;
        Ok(&rest[..length])
    }

    /// Nothing may follow.
    fn end(mut self) -> Result<(), Error> {
        self.peek().map_or(Ok(()), |_| Err(self.error("the end")))
    }

    fn error(&self, expected: &'static str) -> Error {
        Error { expected, at: self.at, part: FRAME }
    }
}

/// The place behind a string, of whose inside `at` is a place.
#[inline]
fn string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at = plain_end(bytes, at);
        match (bytes.get(at)?, bytes.get(at + 1)) {
            (b'"', _) => return Some(at + 1),
            (b'\\', Some(_)) => at += 2,
            (b'\\', None) => return None,
            (_, _) => at += 1,
        }
    }
}

/// The place behind the array or object that `bytes` begins with.
fn bracket_end(bytes: &[u8]) -> Option<usize> {
    let (mut at, mut depth) = (0, 0_usize);
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
fn is_scalar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::Nesting;

    fn check(text: &str, expected: Result<&[(&str, &str)], &str>) {
        let mut seen = Vec::new();
        let read = members(text, |key, value| seen.push((key, value)));
        match (read, expected) {
            (Ok(()), Ok(expected)) => assert_eq!(seen, expected, "{text}"),
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
    fn what_cannot_be_followed_says_where() {
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
        elements(r#"[ 1, "a,b" ,[2],{"c":3}]"#, |element| seen.push(element)).unwrap();
        assert_eq!(seen, ["1", r#""a,b""#, "[2]", r#"{"c":3}"#]);
        assert!(elements("[1 2]", |_| {}).is_err());
        assert!(elements("{}", |_| {}).is_err());
    }

    #[test]
    fn nesting_without_end_is_followed_without_a_stack() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(200_000), "]".repeat(200_000));
        members(&deep, |key, value| assert_eq!((key, value.len()), ("a", 400_000))).unwrap();
    }

    proptest! {
        #[test]
        fn a_value_ends_where_it_ends_byte_by_byte(text in r#"["{\[][\]{}"\\ \né,:a]{0,40}"#) {
            let end = Scan { text: &text, at: 0 }.value().ok().map(str::len);
            prop_assert_eq!(end, Nesting::new().push(text.as_bytes()));
        }
    }
}
