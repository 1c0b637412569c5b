//! [`FileReport`] and [`Content`]: what became of a file, in JSON.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::Edit;
use super::outcome::Outcome;
use super::parser::Repair;
use super::plan::{FileAction, FilePlan};

/// What became of a file, in JSON: `{"path", "action", "edits"}`, with `to` for a move, and `content` or `bytes`.
///
/// An edit has its `index`, the `line` of the answer where it begins, the fields of its [`Outcome`], and `repairs` if
/// there are any.
#[derive(Clone, Debug, serde::Serialize)]
pub struct FileReport<'a> {
    path: &'a str,
    #[serde(flatten)]
    action: &'a FileAction,
    #[serde(flatten)]
    content: Option<Content<'a>>,
    edits: Vec<EditReport<'a>>,
}

#[derive(Clone, Debug, serde::Serialize)]
struct EditReport<'a> {
    index: usize,
    line: usize,
    #[serde(flatten)]
    outcome: &'a Outcome,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    repairs: &'a [Repair],
}

/// The content of a file, in JSON: `{"content"}`, or `{"bytes"}` in Base64 if it is not text.
#[derive(Clone, Debug)]
pub struct Content<'a>(Vec<&'a [u8]>);

impl FilePlan {
    /// Its report; `edits` are those that were planned. The new content is in it if the `original` is given.
    pub fn report<'a>(&'a self, edits: &'a [Edit], original: Option<&'a [u8]>) -> FileReport<'a> {
        let exists = !matches!(self.action, FileAction::Delete | FileAction::Missing);
        let content = original.filter(|_| exists).map(|original| Content::new(self.pieces(original)));
        let edits = self.reports.iter().map(|report| {
            let edit = &edits[report.index];
            EditReport {
                index: report.index,
                line: edit.line,
                outcome: &report.outcome,
                repairs: &edit.repairs,
            }
        });
        FileReport { path: &self.path, action: &self.action, content, edits: edits.collect() }
    }
}

impl<'a> FileReport<'a> {
    /// The same with the path as a person knows it.
    #[must_use]
    pub fn shown_as(self, path: &'a str) -> Self {
        Self { path, ..self }
    }
}

impl<'a> Content<'a> {
    /// The content that these pieces are together.
    pub fn new(pieces: impl IntoIterator<Item = &'a [u8]>) -> Self {
        Self(pieces.into_iter().collect())
    }
}

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match self.0.iter().map(|piece| str::from_utf8(piece)).collect() {
            Ok(texts) => map.serialize_entry("content", &Joined(texts))?,
            Err(_) => map.serialize_entry("bytes", &STANDARD.encode(self.0.concat()))?,
        }
        map.end()
    }
}

/// Pieces that are written as one text, without a copy of all of it.
struct Joined<'a>(Vec<&'a str>);

impl fmt::Display for Joined<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|piece| f.write_str(piece))
    }
}

impl Serialize for Joined<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Format, How, parse, plan};

    fn report(file: &[u8], with_content: bool) -> String {
        let answer = "a.txt\n<<<<<<< SEARCH\nb\n=======\nc\n>>>>>>> REPLACE\n";
        let parsed = parse(Format::SearchReplace, answer);
        let plan = plan(&parsed.edits, &[("a.txt", file)], How::Context);
        let original = with_content.then_some(file);
        serde_json::to_string(&plan.files[0].report(&parsed.edits, original).shown_as("b.txt")).unwrap()
    }

    #[test]
    fn content_is_text_or_bytes_or_absent() {
        let edits = r#""edits":[{"index":0,"line":2,"outcome":"applied","how":"exact","lines":[2,2]}]}"#;
        let start = r#"{"path":"b.txt","action":"update","#;
        assert_eq!(report(b"\"\nb\n", true), format!(r#"{start}"content":"\"\nc\n",{edits}"#));
        assert_eq!(report(b"\xff\nb\n", true), format!(r#"{start}"bytes":"/wpjCg==",{edits}"#));
        assert_eq!(report(b"a\nb\n", false), format!("{start}{edits}"));
    }
}
