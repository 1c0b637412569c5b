//! [`EndFinder`]: finds where a JSON value ends without parsing it.

use memchr::memchr2;

/// Finds the end of a JSON value in bytes that are cut anywhere, without validating it.
///
/// It counts brackets and skips strings, but does not check that brackets match. A bare number or literal
/// has no closing byte, so its end is never found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EndFinder {
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

impl EndFinder {
    /// Creates a finder at the start of a value.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Takes `bytes`. If the value ends in them, returns how many of them belong to it.
    ///
    /// The bytes after the end are not taken. Push them again to start the next value.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Option<usize> {
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

    /// The number of open arrays and objects.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Whether only whitespace has been pushed since the start or the end of the last value.
    pub(crate) fn is_blank(&self) -> bool {
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
        let mut finder = EndFinder::new();
        let mut ends = Vec::new();
        let mut done = 0;
        for piece in input.as_bytes().chunks(size) {
            let mut rest = piece;
            while let Some(n) = finder.push(rest) {
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
        let mut finder = EndFinder::new();
        assert_eq!(finder.push(b" \n"), None);
        assert!(finder.is_blank());
        assert_eq!(finder.push(b"[{\"[[["), None);
        assert!(!finder.is_blank());
        assert_eq!(finder.depth(), 2);
        assert_eq!(finder.push(b"\"}] "), Some(3));
        assert_eq!(finder.depth(), 0);
        assert!(finder.is_blank());
    }
}
