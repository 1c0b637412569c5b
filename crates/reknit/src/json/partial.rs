//! [`PartialJson`]: a JSON value while it arrives.

use super::parser::Parser;
use super::value::tokens;
use super::{Error, Path, Value};
use crate::{Limits, Text};

/// A JSON value whose text arrives in pieces, cut anywhere.
///
/// No byte is read twice, and nothing that was shown is taken back: a string grows, while a number or literal
/// is absent until it cannot change any more. It accepts exactly the texts that `serde_json::from_str`
/// accepts, and produces the same value. If a key is repeated, its last value counts.
///
/// After the first error the text is only collected. What was parsed before the error stays available.
///
/// ```
/// use reknit::json::{ErrorKind, PartialJson};
///
/// let mut json = PartialJson::new();
/// json.push(r#"{"a": [1, 2"#)?;
/// assert_eq!(json.value().unwrap().to_string(), r#"{"a":[1]}"#);
/// assert_eq!(json.check().unwrap_err().kind(), ErrorKind::Truncated);
/// json.push("0]}")?;
/// assert_eq!(json.finish()?.to_string(), r#"{"a":[1,20]}"#);
/// # Ok::<(), reknit::json::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PartialJson {
    raw: Text,
    parser: Parser,
    depth: usize,
}

/// What a piece changed in a value.
///
/// Strings, arrays and objects are opened and closed, all other values appear at once. A string grows at most
/// once per piece, whatever escapes the piece contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'a> {
    /// An empty string, array or object was added.
    Opened {
        /// Its path.
        path: Path<'a>,
    },
    /// A string got longer.
    StringGrew {
        /// Its path.
        path: Path<'a>,
        /// The text that was added, unescaped.
        text: &'a str,
    },
    /// A null, boolean or number was added.
    Scalar {
        /// Its path.
        path: Path<'a>,
    },
    /// A string, array or object is complete.
    Closed {
        /// Its path.
        path: Path<'a>,
    },
}

impl<'a> Change<'a> {
    /// The path of the value that changed.
    pub fn path(&self) -> Path<'a> {
        match *self {
            Self::Opened { path }
            | Self::StringGrew { path, .. }
            | Self::Scalar { path }
            | Self::Closed { path } => path,
        }
    }
}

/// How much of a value has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing that can be shown yet.
    Missing,
    /// A string, array or object that is not complete.
    Partial,
    /// All of it.
    Complete,
}

/// The numbers that changes are stored with are large enough for what a piece of this length changes.
const LONGEST_PIECE: usize = 1 << 30;

impl PartialJson {
    /// Creates an empty value with the default [`Limits::json_depth`].
    pub fn new() -> Self {
        Self::with_depth(Limits::default().json_depth)
    }

    /// Creates an empty value in which the nesting of arrays and objects must stay below `depth`.
    ///
    /// This is how `serde_json` counts: its limit of 128 refuses the 128th level.
    pub fn with_depth(depth: usize) -> Self {
        Self { raw: Text::new(), parser: Parser::new(depth), depth }
    }

    /// Takes the next piece.
    ///
    /// An error is final: later pieces are added to [`raw`](Self::raw), and the same error is returned again.
    #[inline]
    pub fn push(&mut self, piece: &str) -> Result<(), Error> {
        self.raw.push_str(piece);
        self.parser.push_in_parts(piece, LONGEST_PIECE)
    }

    /// What the last piece changed, in text order. Of a piece of more than 1 GiB it is what its last GiB or
    /// less changed.
    #[inline]
    pub fn changes(&self) -> impl Iterator<Item = Change<'_>> {
        self.parser.tree.changes()
    }

    /// The value so far.
    #[inline]
    pub fn value(&self) -> Option<&Value> {
        self.parser.tree.root()
    }

    /// The value at the path of a change, without searching for its keys.
    ///
    /// It is `None` if a member with the same key replaced it within the same piece.
    pub fn at(&self, path: Path<'_>) -> Option<&Value> {
        path.steps_with_positions().try_fold(self.value()?, |value, (step, at)| value.child_at(step, at))
    }

    /// How much has arrived of the value at a JSON pointer.
    pub fn state(&self, pointer: &str) -> State {
        let (Some(mut value), Some(tokens)) = (self.value(), tokens(pointer)) else { return State::Missing };
        let mut positions = Vec::new();
        for token in tokens {
            let position = value.child_position(&token);
            let Some((at, child)) = position.and_then(|at| Some((at, value.child(at)?))) else {
                return State::Missing;
            };
            positions.push(at);
            value = child;
        }
        self.parser.tree.state(positions.into_iter())
    }

    /// The text of all pieces, including any that were not parsed because of an error.
    pub fn raw(&self) -> &Text {
        &self.raw
    }

    /// The text of all pieces, without the value.
    pub(crate) fn into_raw(self) -> Text {
        self.raw
    }

    /// The error, if the text can no longer become a value.
    pub fn error(&self) -> Option<Error> {
        self.parser.error()
    }

    /// Checks that the text so far is one complete value.
    ///
    /// If it could become one with more text, the error is [`Truncated`](super::ErrorKind::Truncated) or
    /// [`Empty`](super::ErrorKind::Empty).
    pub fn check(&self) -> Result<(), Error> {
        self.parser.check()
    }

    /// Returns the value if it is complete.
    pub fn finish(self) -> Result<Value, Error> {
        self.parser.finish()
    }

    /// How often a key was repeated in its object, and the byte of the text at which the first repeated key starts;
    /// `None` if none was. The last value of a key is kept, at the position of the first.
    pub fn duplicate_keys(&self) -> Option<(usize, usize)> {
        self.parser.tree.duplicates()
    }
}

impl Default for PartialJson {
    fn default() -> Self {
        Self::new()
    }
}

/// Equal if the texts and the depth limits are, however the texts were cut.
impl PartialEq for PartialJson {
    fn eq(&self, other: &Self) -> bool {
        self.depth == other.depth && self.raw == other.raw
    }
}

impl Eq for PartialJson {}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::diagnostic::Hint;
    use crate::json::error::Fault;

    fn read(text: &str) -> PartialJson {
        let mut json = PartialJson::new();
        let _ = json.push(text);
        json
    }

    /// For each text: the value so far, the state of `/a`, and whether the text is complete.
    fn check(texts: &[&str], expected: &Expect) {
        let line = |text: &&str| {
            let json = read(text);
            let value = json.value().map_or("nothing".to_owned(), Value::to_string);
            let end = json.check().map_or_else(|error| error.to_string(), |()| "whole".to_owned());
            format!("{text:<28} | {value:<30} | {:<8} | {end}\n", format!("{:?}", json.state("/a")))
        };
        expected.assert_eq(&texts.iter().map(line).collect::<String>());
    }

    #[test]
    fn a_prefix_shows_what_cannot_change() {
        check(
            &[
                "",
                "  ",
                r#"{"a"#,
                r#"{"a": "#,
                r#"{"a": "x"#,
                r#"{"a": "x\"#,
                r#"{"a": "x\u00"#,
                r#"{"a": "\ud83d"#,
                r#"{"a": "\ud83d\ude42"#,
                r#"{"a": 1"#,
                r#"{"a": 1 "#,
                r#"{"a": 1."#,
                r#"{"a": 1e"#,
                r#"{"a": t"#,
                r#"{"a": nul"#,
                r#"{"a": null"#,
                r#"{"a": [1, 2"#,
                r#"{"a": 12345678901234567890}"#,
                r#"{"a": 1}{"b": 2}"#,
                r#"{"__proto__": {"a": 1}}"#,
                "12",
                "12 ",
                "-",
            ],
            &expect![[r#"
                                             | nothing                        | Missing  | no value at byte 0
                                             | nothing                        | Missing  | no value at byte 2
                {"a                          | {}                             | Missing  | the value is cut at byte 3
                {"a":                        | {}                             | Missing  | the value is cut at byte 6
                {"a": "x                     | {"a":"x"}                      | Partial  | the value is cut at byte 8
                {"a": "x\                    | {"a":"x"}                      | Partial  | the value is cut at byte 9
                {"a": "x\u00                 | {"a":"x"}                      | Partial  | the value is cut at byte 12
                {"a": "\ud83d                | {"a":""}                       | Partial  | the value is cut at byte 13
                {"a": "\ud83d\ude42          | {"a":"🙂"}                      | Partial  | the value is cut at byte 19
                {"a": 1                      | {}                             | Missing  | the value is cut at byte 7
                {"a": 1                      | {"a":1}                        | Complete | the value is cut at byte 8
                {"a": 1.                     | {}                             | Missing  | the value is cut at byte 8
                {"a": 1e                     | {}                             | Missing  | the value is cut at byte 8
                {"a": t                      | {}                             | Missing  | the value is cut at byte 7
                {"a": nul                    | {}                             | Missing  | the value is cut at byte 9
                {"a": null                   | {"a":null}                     | Complete | the value is cut at byte 10
                {"a": [1, 2                  | {"a":[1]}                      | Partial  | the value is cut at byte 11
                {"a": 12345678901234567890}  | {"a":12345678901234567890}     | Complete | whole
                {"a": 1}{"b": 2}             | {"a":1}                        | Complete | unexpected '{' after the value at byte 8
                {"__proto__": {"a": 1}}      | {"__proto__":{"a":1}}          | Missing  | whole
                12                           | nothing                        | Missing  | whole
                12                           | 12                             | Missing  | whole
                -                            | nothing                        | Missing  | the value is cut at byte 1
            "#]],
        );
    }

    #[test]
    fn depth_is_that_of_serde_json() {
        for depth in 100..140 {
            let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            let theirs = serde_json::from_str::<serde_json::Value>(&text).is_ok();
            assert_eq!(read(&text).check().is_ok(), theirs, "{depth}");
            let text = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
            let theirs = serde_json::from_str::<serde_json::Value>(&text).is_ok();
            assert_eq!(read(&text).check().is_ok(), theirs, "{depth}");
        }
        let refused = read(&"[".repeat(100_000)).error();
        assert_eq!(refused, Some(Error { fault: Fault::TooDeep { limit: 128 }, at: 127 }));
        assert_eq!(PartialJson::with_depth(1).push("[").unwrap_err().fault, Fault::TooDeep { limit: 1 });
        assert_eq!(PartialJson::with_depth(0).push("1"), Ok(()));
    }

    #[test]
    fn the_last_value_of_a_repeated_key_is_at_the_first_position() {
        let json = read(r#"{"a": 1, "b": 2, "a": {"c": 3, "\u0063": 4}}"#);
        assert_eq!(json.duplicate_keys(), Some((2, 17)));
        assert_eq!(json.finish().unwrap().to_string(), r#"{"a":{"c":4},"b":2}"#);
        assert_eq!(read(r#"{"a": {"a": 1}}"#).duplicate_keys(), None);
        let many: String = (0..100).map(|i| format!("\"k{}\":{i},", i % 60)).collect();
        let json = read(&format!("{{{many}\"end\":0}}"));
        assert_eq!(json.duplicate_keys().unwrap().0, 40);
        assert_eq!(json.value().unwrap().as_object().unwrap().len(), 61);
        assert_eq!(json.value().unwrap().get("k5").unwrap().as_u64(), Some(65));
    }

    #[test]
    fn a_replaced_member_keeps_its_path_and_has_no_value() {
        let json = read(r#"{"a":{"x":"1"},"a":{"y":2}}"#);
        let changes: Vec<_> = json
            .changes()
            .map(|change| (change.path().to_string(), json.at(change.path()).is_some()))
            .collect();
        let expected = [
            ("", true),
            ("/a", true),
            ("/a/x", false),
            ("/a/x", false),
            ("/a/x", false),
            ("/a", true),
            ("/a", true),
            ("/a/y", true),
            ("/a", true),
            ("", true),
        ];
        assert_eq!(changes, expected.map(|(path, found)| (path.to_owned(), found)));
    }

    #[test]
    fn an_error_keeps_the_value_and_all_the_text() {
        let mut json = PartialJson::new();
        json.push(r#"{"a": "x"#).unwrap();
        let error = json.push("y\nz").unwrap_err();
        assert_eq!(error, Error { fault: Fault::Control { found: '\n' }, at: 9 });
        assert!(!error.hint().is_empty());
        assert_eq!(json.changes().count(), 1);
        assert_eq!(json.push("\"}"), Err(error));
        assert_eq!(json.changes().count(), 0);
        assert_eq!(json.value().unwrap().to_string(), r#"{"a":"xy"}"#);
        assert_eq!(*json.raw(), "{\"a\": \"xy\nz\"}");
        assert_eq!(json.finish(), Err(error));
    }

    #[test]
    fn equality_is_that_of_text_and_depth() {
        let mut cut = PartialJson::new();
        cut.push("[1").unwrap();
        assert_ne!(cut, read("[1]"));
        cut.push("]").unwrap();
        assert_eq!(cut, read("[1]"));
        assert_ne!(PartialJson::with_depth(5), PartialJson::new());
        fn is_send_and_sync<T: Send + Sync>(_: &T) {}
        is_send_and_sync(&cut);
    }

    #[test]
    fn a_growing_string_does_not_allocate_per_piece() {
        let mut json = read(r#"{"path": "a.rs", "edits": [{"content": ""#);
        let pieces = 4096;
        let count = |json: &mut PartialJson| {
            allocation_counter::measure(|| {
                for _ in 0..pieces {
                    json.push(r"plain \n and \u00e9").unwrap();
                    let last = json.changes().last().unwrap();
                    assert_eq!(last.path(), "/edits/0/content");
                }
            })
            .count_total
        };
        count(&mut json);
        // Only the string and the raw text allocate, when they double.
        assert!(count(&mut json) <= 4);
    }

    #[test]
    fn a_long_key_is_not_moved_for_every_piece() {
        let mut json = PartialJson::new();
        json.push("[0,").unwrap();
        json.push(&format!("{{\"x\":1,\"{}\":[", "k".repeat(1000))).unwrap();
        for i in 0..50 {
            json.push(&format!("{{\"a{i}\":{i}}},\"")).unwrap();
            json.push("text\",").unwrap();
            let paths: Vec<_> = json.changes().map(|change| change.path().depth()).collect();
            assert_eq!(paths, [3, 3]);
            let path = json.changes().last().unwrap().path();
            assert_eq!(path.to_string(), format!("/1/{}/{}", "k".repeat(1000), 2 * i + 1));
        }
    }
}
