//! [`Nesting`]: where a JSON value ends, and nothing else.

use memchr::memchr2;

/// Finds the end of one JSON value in bytes cut anywhere, without judging what is in it.
///
/// Brackets are counted and strings skipped; whether the brackets match is for a parser to say.
/// A bare `null`, number or word has no end of its own and never closes.
///
/// ```
/// use reknit::json::Nesting;
///
/// let mut nesting = Nesting::new();
/// assert_eq!(nesting.push(br#" {"a": "}"#), None);
/// assert_eq!(nesting.push(br#""}, {"#), Some(2));
/// assert!(nesting.is_blank());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Nesting {
    depth: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Blank,
    Value,
    String,
    Escape,
}

impl Nesting {
    /// Before the first byte of a value.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes `bytes`; if the value closes in them, how many of them belong to it.
    ///
    /// The bytes behind that many are not taken: push them again, and they start the next value.
    pub fn push(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            self.state = match (self.state, byte) {
                (State::Escape, _) => State::String,
                (State::String, b'"') if self.depth == 0 => return self.close(at),
                (State::String, b'"') => State::Value,
                (State::String, b'\\') => State::Escape,
                (State::String, _) => {
                    at += memchr2(b'"', b'\\', &bytes[at..]).unwrap_or(bytes.len() - at);
                    State::String
                }
                (State::Blank, b' ' | b'\t' | b'\n' | b'\r') => State::Blank,
                (_, b'"') => State::String,
                (_, b'[' | b'{') => {
                    self.depth += 1;
                    State::Value
                }
                (_, b']' | b'}') if self.depth == 1 => return self.close(at),
                (_, b']' | b'}') => {
                    self.depth = self.depth.saturating_sub(1);
                    State::Value
                }
                (_, _) => State::Value,
            };
        }
        None
    }

    /// How many arrays and objects are open.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Whether nothing but blanks came since the start or the last value that closed.
    pub fn is_blank(&self) -> bool {
        matches!(self.state, State::Blank)
    }

    fn close(&mut self, at: usize) -> Option<usize> {
        *self = Self::new();
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ends of all values in `input`, fed in pieces of `size` bytes.
    fn ends(input: &str, size: usize) -> Vec<usize> {
        let mut nesting = Nesting::new();
        let mut ends = Vec::new();
        let mut done = 0;
        for piece in input.as_bytes().chunks(size) {
            let mut rest = piece;
            while let Some(n) = nesting.push(rest) {
                rest = &rest[n..];
                ends.push(done + piece.len() - rest.len());
            }
            done += piece.len();
        }
        ends
    }

    #[test]
    fn values_close_at_the_same_byte_however_cut() {
        for (input, expected) in [
            (r#"{"a":[1,2,{}]} [] "x" {"#, vec![14, 17, 21]),
            (r#"{"}]\"\\":"{"}[[]]"#, vec![14, 18]),
            (r#""\\""\"""#, vec![4, 8]),
            ("{\"é\":\"日本\"}", vec![15]),
            ("null 12", vec![]),
            (" ]]}{}", vec![6]),
        ] {
            for size in 1..=input.len() {
                assert_eq!(ends(input, size), expected, "{input} in pieces of {size}");
            }
        }
    }

    #[test]
    fn depth_and_blank_follow() {
        let mut nesting = Nesting::new();
        assert_eq!(nesting.push(b" \n"), None);
        assert!(nesting.is_blank());
        assert_eq!(nesting.push(b"[{\"[[["), None);
        assert!(!nesting.is_blank());
        assert_eq!(nesting.depth(), 2);
        assert_eq!(nesting.push(b"\"}] "), Some(3));
        assert_eq!(nesting.depth(), 0);
        assert!(nesting.is_blank());
    }
}
