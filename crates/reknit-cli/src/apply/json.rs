//! The outcome of an answer, as JSON.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reknit::edit::{FileAction, FilePlan, Format, Outcome, Plan, Problem, Repair, Report};
use reknit_workspace::EntryId;
use reknit_workspace::edits::Refusal;
use serde::{Serialize, Serializer};

use super::report::{NO_EDITS, NO_EDITS_HINT};
use super::work::Work;
use crate::explain;

/// The whole report.
#[derive(Serialize)]
pub(super) struct Summary<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'static str>,
    files: Vec<FileReport<'a>>,
    problems: Vec<ProblemReport<'a>>,
    /// The entry of the journal, once the files are written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) entry: Option<EntryId>,
}

/// One file.
#[derive(Serialize)]
pub(super) struct FileReport<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'a str>,
    #[serde(flatten)]
    content: Option<Content<'a>>,
    edits: Vec<EditReport<'a>>,
}

/// The content of a file: text, or bytes if it is not text.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Content<'a> {
    Content(Text<'a>),
    Bytes(Bytes<'a>),
}

/// Pieces of text that are serialised as one, without being joined before.
pub(super) struct Text<'a>(Vec<&'a str>);

/// Pieces of bytes that are serialised as one, in Base64.
pub(super) struct Bytes<'a>(Vec<&'a [u8]>);

/// One edit.
#[derive(Serialize)]
struct EditReport<'a> {
    index: usize,
    /// The line of the answer where it begins.
    line: usize,
    #[serde(flatten)]
    outcome: EditOutcome<'a>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    repairs: &'a [Repair],
}

#[derive(Serialize)]
#[serde(untagged)]
enum EditOutcome<'a> {
    Placed(&'a Outcome),
    Refused { outcome: &'static str, reason: &'static str, message: String, hint: &'static str },
}

/// A part of the answer that could not be read.
#[derive(Serialize)]
pub(super) struct ProblemReport<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<&'a str>,
    message: String,
    hint: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    form: Option<&'static str>,
}

/// Whether contents are printed: not if nothing is applied.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Contents {
    Included,
    Omitted,
}

impl<'a> Summary<'a> {
    pub(super) fn new(work: &'a Work<'_>, plan: &'a Plan, contents: Contents) -> Self {
        let mut files: Vec<_> = plan.files.iter().map(|file| FileReport::new(work, file, contents)).collect();
        for refusal in work.target.refusals() {
            let edit = EditReport::refused(work, refusal);
            let path = refusal.why.path();
            match files.iter_mut().find(|file| file.action.is_none() && file.path == path) {
                Some(file) => file.edits.push(edit),
                None => {
                    files.push(FileReport { path, action: None, to: None, content: None, edits: vec![edit] });
                }
            }
        }
        let answer = work.target.answer();
        Self { files, ..Self::of_none(answer.format, &answer.problems) }
    }

    /// The report of an answer without edits.
    pub(super) fn of_none(format: Option<Format>, problems: &'a [Problem]) -> Self {
        let problems = problems.iter().map(ProblemReport::new).collect();
        Self { format: format.map(Format::name), files: Vec::new(), problems, entry: None }
    }

    /// The same line by line.
    pub(super) fn lines(&self) -> impl Iterator<Item = SummaryLine<'_>> {
        let files = self.files.iter().map(SummaryLine::File);
        let problems = self.problems.iter().map(SummaryLine::Problem);
        files.chain(problems).chain(self.entry.map(SummaryLine::Entry))
    }

    /// The same with the reason, if no problem gives one.
    pub(super) fn with_reason(mut self) -> Self {
        if self.problems.is_empty() {
            let (kind, message, hint) = (explain::NO_EDITS, NO_EDITS.to_owned(), NO_EDITS_HINT);
            let reason = ProblemReport { kind, line: None, snippet: None, message, hint, form: None };
            self.problems.push(reason);
        }
        self
    }
}

/// A line of the report.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SummaryLine<'a> {
    File(&'a FileReport<'a>),
    Problem(&'a ProblemReport<'a>),
    Entry(EntryId),
}

impl<'a> FileReport<'a> {
    fn new(work: &'a Work<'_>, file: &'a FilePlan, contents: Contents) -> Self {
        let to = if let FileAction::Move { to } = &file.action { Some(to.as_str()) } else { None };
        let exists = match file.action {
            FileAction::Create | FileAction::Update | FileAction::Move { .. } => true,
            FileAction::Delete | FileAction::Missing => false,
        };
        let content = (exists && contents == Contents::Included)
            .then(|| Content::new(file.pieces(work.target.content(&file.path).unwrap_or_default())));
        let edits = file
            .reports
            .iter()
            .map(|Report { index, outcome }| EditReport::new(work, *index, EditOutcome::Placed(outcome)));
        let path = work.target.shown(&file.path);
        Self { path, action: Some(file.action.name()), to, content, edits: edits.collect() }
    }
}

impl<'a> Content<'a> {
    pub(super) fn new(pieces: impl Iterator<Item = &'a [u8]>) -> Self {
        let pieces: Vec<_> = pieces.collect();
        match pieces.iter().map(|piece| std::str::from_utf8(piece)).collect() {
            Ok(texts) => Self::Content(Text(texts)),
            Err(_) => Self::Bytes(Bytes(pieces)),
        }
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|piece| f.write_str(piece))
    }
}

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(self.0.concat()))
    }
}

impl<'a> EditReport<'a> {
    fn new(work: &'a Work<'_>, index: usize, outcome: EditOutcome<'a>) -> Self {
        let edit = &work.target.answer().edits[index];
        Self { index, line: edit.line, outcome, repairs: &edit.repairs }
    }

    fn refused(work: &'a Work<'_>, refusal: &'a Refusal) -> Self {
        let (message, hint) = (refusal.why.to_string(), refusal.why.hint());
        let (outcome, reason) = ("rejected", explain::PATH);
        Self::new(work, refusal.index, EditOutcome::Refused { outcome, reason, message, hint })
    }
}

impl<'a> ProblemReport<'a> {
    pub(super) fn new(problem: &'a Problem) -> Self {
        let kind = problem.kind;
        Self {
            kind: kind.name(),
            line: Some(problem.line),
            snippet: Some(&problem.snippet),
            message: kind.message().to_owned(),
            hint: kind.hint(),
            form: Some(kind.form()),
        }
    }
}
