//! [`PartialJson`]: one JSON value while it arrives.

use super::parser::Parser;
use super::tree::Duplicates;
use super::value::tokens;
use super::{Error, Path, Value};
use crate::{Limits, Text};

/// One JSON value whose text comes in pieces cut anywhere.
///
/// No byte is looked at twice, and nothing that was shown is taken back: a string grows, while a number or
/// a literal is absent until it cannot change any more. What is accepted, and the value it makes, is what
/// `serde_json::from_str` accepts and makes; where a key is repeated the last value stands.
///
/// Behind the first error the text is only collected. What was understood before it stays.
///
/// ```
/// use reknit::json::{ErrorKind, PartialJson};
///
/// let mut json = PartialJson::new();
/// json.push(r#"{"a": [1, 2"#)?;
/// assert_eq!(json.value().unwrap().to_string(), r#"{"a":[1]}"#);
/// assert_eq!(json.check().unwrap_err().kind, ErrorKind::Truncated);
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
/// Strings, arrays and objects open and close; other values are there at once. A string that grew in a
/// piece did so in one step, whatever escapes were in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'a> {
    /// An empty string, array or object has come.
    Opened {
        /// Where it is.
        path: Path<'a>,
    },
    /// A string has got longer.
    StringGrew {
        /// Where it is.
        path: Path<'a>,
        /// What was added, with escapes resolved.
        text: &'a str,
    },
    /// A null, boolean or number has come.
    Scalar {
        /// Where it is.
        path: Path<'a>,
    },
    /// A string, array or object is over.
    Closed {
        /// Where it is.
        path: Path<'a>,
    },
}

impl<'a> Change<'a> {
    /// Where the change is.
    pub fn path(&self) -> Path<'a> {
        match *self {
            Self::Opened { path }
            | Self::StringGrew { path, .. }
            | Self::Scalar { path }
            | Self::Closed { path } => path,
        }
    }
}

/// How much of a value has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing that can be shown.
    Missing,
    /// A string, array or object that is not closed.
    Partial,
    /// All of it.
    Complete,
}

impl PartialJson {
    /// Before the first piece, with [`Limits::json_depth`] as it is by default.
    pub fn new() -> Self {
        Self::with_depth(Limits::default().json_depth)
    }

    /// Before the first piece; arrays and objects may be nested less than `depth` deep.
    ///
    /// This is how `serde_json` counts, whose 128 refuses the 128th.
    pub fn with_depth(depth: usize) -> Self {
        Self { raw: Text::new(), parser: Parser::new(depth), depth }
    }

    /// Takes the next piece.
    ///
    /// An error stays: later pieces are added to [`raw`](Self::raw) and get the same error.
    #[inline]
    pub fn push(&mut self, piece: &str) -> Result<(), Error> {
        self.raw.push_str(piece);
        self.parser.push(piece)
    }

    /// What the last piece changed, in the order of the text.
    #[inline]
    pub fn changes(&self) -> impl Iterator<Item = Change<'_>> {
        self.parser.tree.changes()
    }

    /// The value so far.
    #[inline]
    pub fn value(&self) -> Option<&Value> {
        self.parser.tree.root()
    }

    /// The value a change is about, without a search for its keys.
    ///
    /// It is missing if a member of the same name took its place within the same piece.
    pub fn at(&self, path: Path<'_>) -> Option<&Value> {
        path.places().try_fold(self.value()?, |value, (step, at)| value.child_at(step, at))
    }

    /// How much has come of the value that a JSON pointer leads to.
    pub fn state(&self, pointer: &str) -> State {
        let (Some(mut value), Some(tokens)) = (self.value(), tokens(pointer)) else { return State::Missing };
        let mut way = Vec::new();
        for token in tokens {
            let position = value.child_position(&token);
            let Some((at, child)) = position.and_then(|at| Some((at, value.child(at)?))) else {
                return State::Missing;
            };
            way.push(at);
            value = child;
        }
        self.parser.tree.state(way.into_iter())
    }

    /// The text of all pieces.
    pub fn raw(&self) -> &Text {
        &self.raw
    }

    /// Why the text cannot become a value any more.
    pub fn error(&self) -> Option<Error> {
        self.parser.error()
    }

    /// Whether the text so far is one whole value, and if not, why: the error, or that it is
    /// [`Truncated`](super::ErrorKind::Truncated) or [`Empty`](super::ErrorKind::Empty).
    pub fn check(&self) -> Result<(), Error> {
        self.parser.check()
    }

    /// The whole value, or why there is none.
    pub fn finish(self) -> Result<Value, Error> {
        self.parser.finish()
    }

    /// The keys that were repeated, if any.
    pub fn duplicate_keys(&self) -> Option<Duplicates> {
        self.parser.tree.duplicates()
    }
}

impl Default for PartialJson {
    fn default() -> Self {
        Self::new()
    }
}

/// Equal texts, read with the same limit, however they were cut.
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
    use crate::json::ErrorKind;

    fn read(text: &str) -> PartialJson {
        let mut json = PartialJson::new();
        let _ = json.push(text);
        json
    }

    /// For each text, the value so far, what is there of `/a`, and whether the text may end.
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
                {"a": 1}{"b": 2}             | {"a":1}                        | Complete | expected the end, found '{' at byte 8
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
        assert_eq!(refused, Some(Error { kind: ErrorKind::Depth { limit: 128 }, at: 127 }));
        assert_eq!(PartialJson::with_depth(1).push("[").unwrap_err().kind, ErrorKind::Depth { limit: 1 });
        assert_eq!(PartialJson::with_depth(0).push("1"), Ok(()));
    }

    #[test]
    fn the_last_of_a_repeated_key_stands_at_the_first_place() {
        let json = read(r#"{"a": 1, "b": 2, "a": {"c": 3, "\u0063": 4}}"#);
        assert_eq!(json.duplicate_keys(), Some(Duplicates { count: 2, first_at: 17 }));
        assert_eq!(json.finish().unwrap().to_string(), r#"{"a":{"c":4},"b":2}"#);
        assert_eq!(read(r#"{"a": {"a": 1}}"#).duplicate_keys(), None);
        let many: String = (0..100).map(|i| format!("\"k{}\":{i},", i % 60)).collect();
        let json = read(&format!("{{{many}\"end\":0}}"));
        assert_eq!(json.duplicate_keys().unwrap().count, 40);
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
        assert_eq!(error, Error { kind: ErrorKind::Control { found: '\n' }, at: 9 });
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
    fn a_growing_string_takes_no_allocation_a_piece() {
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
        // What is left is the doubling of the text and its raw form.
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
