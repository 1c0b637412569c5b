//! The outcome of an answer, as JSON.

use reknit::Hint;
use reknit::edit::{FileReport, Format, Plan, Problem, Repair};
use reknit_workspace::EntryId;
use reknit_workspace::edits::Refusal;
use serde::Serialize;
use std::borrow::Cow;

use super::report::{NO_EDITS, NO_EDITS_HINT};
use super::work::Work;
use crate::explain;

/// The whole report.
#[derive(Serialize)]
pub(super) struct Summary<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'static str>,
    files: Vec<FileLine<'a>>,
    problems: Vec<ProblemLine<'a>>,
    /// The entry of the journal, once the files are written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) entry: Option<EntryId>,
}

/// One file.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum FileLine<'a> {
    Planned(FileReport<'a>),
    /// A path that may not be touched.
    Refused {
        path: &'a str,
        edits: Vec<RefusedEdit<'a>>,
    },
}

/// An edit of a file that may not be touched.
#[derive(Serialize)]
pub(super) struct RefusedEdit<'a> {
    index: usize,
    line: usize,
    outcome: &'static str,
    reason: &'static str,
    message: String,
    hint: Cow<'static, str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    repairs: &'a [Repair],
}

/// A part of the answer that could not be read, or that no edit was found.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum ProblemLine<'a> {
    Unread(&'a Problem),
    NoEdits { kind: &'static str, message: &'static str, hint: &'static str },
}

/// Whether contents are printed: not if nothing is applied.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Contents {
    Included,
    Omitted,
}

impl<'a> Summary<'a> {
    pub(super) fn new(work: &'a Work<'_>, plan: &'a Plan, contents: Contents) -> Self {
        let answer = work.target.answer();
        let planned = plan.files.iter().map(|file| {
            let original = match contents {
                Contents::Included => Some(work.target.content(&file.path).unwrap_or_default()),
                Contents::Omitted => None,
            };
            FileLine::Planned(file.report(&answer.edits, original).shown_as(work.target.shown(&file.path)))
        });
        let mut files: Vec<_> = planned.collect();
        for refusal in work.target.refusals() {
            let edit = RefusedEdit::new(work, refusal);
            let known = files.iter_mut().find_map(|file| match file {
                FileLine::Refused { path, edits } if *path == refusal.why.path() => Some(edits),
                FileLine::Refused { .. } | FileLine::Planned(_) => None,
            });
            match known {
                Some(edits) => edits.push(edit),
                None => files.push(FileLine::Refused { path: refusal.why.path(), edits: vec![edit] }),
            }
        }
        Self { files, ..Self::of_none(answer.format, &answer.problems) }
    }

    /// The report of an answer without edits.
    pub(super) fn of_none(format: Option<Format>, problems: &'a [Problem]) -> Self {
        let problems = problems.iter().map(ProblemLine::Unread).collect();
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
            let (kind, message, hint) = (explain::NO_EDITS, NO_EDITS, NO_EDITS_HINT);
            self.problems.push(ProblemLine::NoEdits { kind, message, hint });
        }
        self
    }
}

/// A line of the report.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SummaryLine<'a> {
    File(&'a FileLine<'a>),
    Problem(&'a ProblemLine<'a>),
    Entry(EntryId),
}

impl<'a> RefusedEdit<'a> {
    fn new(work: &'a Work<'_>, refusal: &'a Refusal) -> Self {
        let edit = &work.target.answer().edits[refusal.index];
        Self {
            index: refusal.index,
            line: edit.line,
            outcome: "rejected",
            reason: explain::PATH,
            message: refusal.why.to_string(),
            hint: refusal.why.hint(),
            repairs: &edit.repairs,
        }
    }
}
