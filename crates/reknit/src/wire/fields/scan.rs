//! A look over the members of an object or the elements of an array, each as its own text.
//!
//! `serde_json` can do the same, but allocates for what is nested more than once, in every frame.

use crate::json::{Place, plain_run};

/// What is nested deeper than this, no provider sends.
const DEPTH: u32 = 64;

/// Calls `member` for each member of the object that `text` begins with, up to the first that is odd.
///
/// Odd is all that needs a slower look: what is not JSON, a key with escapes, nesting without end. Then it
/// returns `None`. What it takes for JSON is JSON, and `serde_json` sees the same members in it.
pub(super) fn members<'a>(text: &'a str, mut member: impl FnMut(&'a str, &'a str)) -> Option<()> {
    let mut scan = Scan { text, at: 0 };
    scan.take(b'{')?;
    if scan.take(b'}').is_some() {
        return Some(());
    }
    loop {
        let key = scan.value(0)?.strip_prefix('"')?.strip_suffix('"')?;
        if key.contains('\\') {
            return None;
        }
        scan.take(b':')?;
        member(key, scan.value(0)?);
        if scan.take(b',').is_none() {
            return scan.take(b'}');
        }
    }
}

/// Calls `element` for each element of the array that `text` begins with, up to the first that is odd.
pub(super) fn elements<'a>(text: &'a str, mut element: impl FnMut(&'a str)) -> Option<()> {
    let mut scan = Scan { text, at: 0 };
    scan.take(b'[')?;
    if scan.take(b']').is_some() {
        return Some(());
    }
    loop {
        element(scan.value(0)?);
        if scan.take(b',').is_none() {
            return scan.take(b']');
        }
    }
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }

    /// The next byte that is not blank.
    fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.rest().first()? {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// Goes behind `byte`, if it is the next one.
    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Goes behind the next value and returns its text.
    fn value(&mut self, depth: u32) -> Option<&'a str> {
        let first = self.peek()?;
        let start = self.at;
        match first {
            b'"' => self.string()?,
            b'{' => self.object(depth)?,
            b'[' => self.array(depth)?,
            b'n' => self.literal("null")?,
            b't' => self.literal("true")?,
            b'f' => self.literal("false")?,
            _ => self.number()?,
        }
        self.text.get(start..self.at)
    }

    fn object(&mut self, depth: u32) -> Option<()> {
        self.nest(depth)?;
        if self.take(b'}').is_some() {
            return Some(());
        }
        loop {
            self.take(b'"')?;
            self.at -= 1;
            self.string()?;
            self.take(b':')?;
            self.value(depth + 1)?;
            if self.take(b',').is_none() {
                return self.take(b'}');
            }
        }
    }

    fn array(&mut self, depth: u32) -> Option<()> {
        self.nest(depth)?;
        if self.take(b']').is_some() {
            return Some(());
        }
        loop {
            self.value(depth + 1)?;
            if self.take(b',').is_none() {
                return self.take(b']');
            }
        }
    }

    /// Goes behind an opening bracket.
    fn nest(&mut self, depth: u32) -> Option<()> {
        (depth < DEPTH).then(|| self.at += 1)
    }

    fn string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            self.at += plain_run(self.rest());
            match self.rest() {
                [b'"', ..] => {
                    self.at += 1;
                    return Some(());
                }
                [b'\\', b'"' | b'\\' | b'/' | b'n' | b't' | b'r' | b'b' | b'f', ..] => self.at += 2,
                // Halves of surrogate pairs are for the reader of the string to judge.
                [b'\\', b'u', digits @ ..]
                    if digits.iter().take_while(|byte| byte.is_ascii_hexdigit()).take(4).count() == 4 =>
                {
                    self.at += 6;
                }
                _ => return None,
            }
        }
    }

    fn literal(&mut self, word: &str) -> Option<()> {
        self.rest().starts_with(word.as_bytes()).then(|| self.at += word.len())
    }

    fn number(&mut self) -> Option<()> {
        let mut place = Place::Start;
        self.at += place.advance(self.rest());
        let goes_on = self.rest().first().is_some_and(u8::is_ascii_digit);
        (place.is_whole() && !goes_on).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Raw;
    use super::*;

    type Members = Vec<(String, String)>;

    /// The members by this module, and whether it followed to the end.
    fn scanned(text: &str) -> (Members, bool) {
        let mut seen = Vec::new();
        let end = members(text, |key, value| seen.push((key.to_owned(), value.to_owned())));
        (seen, end.is_some())
    }

    /// The members by `serde_json`, and whether it followed to the end.
    fn read(text: &str) -> (Members, bool) {
        let mut seen = Vec::new();
        let read =
            Raw::new(text).read_members(|key, value| seen.push((key.to_owned(), value.text().to_owned())));
        (seen, read.is_ok())
    }

    fn check(text: &str) {
        let (ours, followed) = scanned(text);
        let (theirs, is_object) = read(text);
        assert!(theirs.starts_with(&ours), "{text:?}: {ours:?}, {theirs:?}");
        if followed {
            assert!(is_object && ours == theirs, "{text:?}: {ours:?}, {theirs:?}");
        }
    }

    #[test]
    fn it_sees_what_serde_json_sees() {
        for text in [
            r#" { "a" : 1 , "b":[ ] } behind"#,
            r#"{"a":"\ud83d","b":{"c":[{"d":null}]},"e":-1.5e+3}"#,
            r#"{"a":01}"#,
            r#"{"a":1.}"#,
            r#"{"a":-}"#,
            r#"{"a":1,}"#,
            r#"{"a":1 "b":2}"#,
            r#"{"a":nul}"#,
            r#"{"a":truex}"#,
            r#"{"a":"\x"}"#,
            r#"{"a":"\u12"}"#,
            r#"{"a":"\u12é4"}"#,
            "{\"a\":\"\n\"}",
            r#"{"a\n":1}"#,
            r#"{1:1}"#,
            r#"{"a":{1:1}}"#,
            r#"{"a":[1,]}"#,
            r#"{"a":[,]}"#,
            r#"{"a":{]}}"#,
            r#"{"a"}"#,
            r#"{"a":1"#,
            r#"{"a":1,"b":2]"#,
            "[1]",
            "",
        ] {
            check(text);
        }
    }

    #[test]
    fn what_providers_send_is_followed_to_the_end() {
        for text in [r#"{}"#, r#"{"choices":[{"delta":{"content":"\n\u00e9"},"x":null}],"y":[1,-2.5,true]}"#]
        {
            assert!(scanned(text).1, "{text}");
            check(text);
        }
    }

    #[test]
    fn nesting_without_end_is_left_to_others() {
        let deep = format!(r#"{{"a":{}1{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
        assert!(!scanned(&deep).1);
        assert!(Raw::new(&deep).members(|_, _| {}).is_ok());
    }

    proptest! {
        #[test]
        fn any_text_is_seen_alike(text in r#"\{("[ab\\]{0,2}":? ?([\[{]{0,2}("[x"\\né]{0,3}"|-?[0-9.eE]{1,3}|null|[tf]r?u?e?)[\]},]{0,3}),?){0,3}\}?"#) {
            check(&text);
        }
    }
}
