//! The outcome of edits, in words.

use std::fmt::Write as _;

use reknit::Hint;
use reknit::edit::{Action, Closest, FileAction, FilePlan, Match, Outcome, Plan, Problem, Rejection};

use super::work::{Work, applied};
use crate::explain;
use crate::print_message;
use crate::report::Report;
use crate::view::one_line;

/// Reports the edits that cannot be applied and what could not be read, and why.
pub(super) fn report_failures(work: &Work<'_>, plan: &Plan, explained: bool) {
    let mut report = Report::default();
    for problem in &work.target.answer().problems {
        report.add(problem_words(problem, explained), problem.kind.name());
    }
    for refusal in work.target.refusals() {
        report.add(format!("error: {refusal}\nhint: {}", refusal.why.hint()), explain::PATH);
    }
    for (file, rejected) in plan.rejected() {
        let Outcome::Rejected(rejection) = &rejected.outcome else { continue };
        let name = work.target.shown(&file.path);
        let words = rejection_words(rejected.index, name, rejection, explained);
        report.add(words, rejection.reason.name());
    }
    report.print(SEE_JSON);
}

/// Reports that the reply is not complete.
pub(super) fn report_cut() {
    let mut report = Report::default();
    let words = "error: the reply is cut: edits may be missing\n\
                 hint: ask for the reply again; `--keep-going` applies the edits that arrived";
    report.add(words.to_owned(), explain::CUT);
    report.print(SEE_JSON);
}

/// Reports that there are no edits, and why.
pub(super) fn report_no_edits(problems: &[Problem], explained: bool) {
    let mut report = Report::default();
    for problem in problems {
        report.add(problem_words(problem, explained), problem.kind.name());
    }
    if report.is_empty() {
        report.add(format!("error: {NO_EDITS}\nhint: {NO_EDITS_HINT}"), explain::NO_EDITS);
    }
    report.print(SEE_JSON);
}

/// Where to find the errors that are not printed.
pub(super) const SEE_JSON: &str = "; `--json` prints them all";

pub(super) const NO_EDITS: &str = "no edits found in the answer";
pub(super) const NO_EDITS_HINT: &str = "if there are any, name their format with `--format`";

/// The error of an edit that cannot be applied.
pub(super) fn rejection_words(index: usize, name: &str, rejection: &Rejection, explained: bool) -> String {
    let Rejection { reason, closest, .. } = rejection;
    let whose = if name.is_empty() { String::new() } else { format!(" of `{name}`") };
    let mut words = format!("error: edit {}{whose}: {reason}\nhint: {}", index + 1, reason.hint());
    if let (true, Some(Closest { lines, score, diff, .. })) = (explained, closest) {
        let _ = write!(words, "\nclosest: {lines}, score {score:.2}");
        for line in diff.lines() {
            let _ = write!(words, "\n  {line}");
        }
    }
    words
}

pub(super) fn problem_words(problem: &Problem, explained: bool) -> String {
    let mut words = format!("error: {problem}\nhint: {}", problem.kind.hint());
    if explained {
        let _ = write!(words, "\nform:");
        for line in problem.kind.form().lines() {
            let _ = write!(words, "\n  {line}");
        }
    }
    words
}

/// Prints where each edit was applied, and how.
pub(super) fn explain_places(work: &Work<'_>, plan: &Plan) {
    for file in &plan.files {
        let name = work.target.shown(&file.path);
        for (index, words) in places(work, file) {
            print_message(format_args!("edit {} of `{name}`: {words}", index + 1));
        }
    }
}

/// Prints what was repaired in the answer, and what was done otherwise than it says.
pub(super) fn report_notes(work: &Work<'_>, plan: &Plan) {
    for file in &plan.files {
        let name = work.target.shown(&file.path);
        for report in &file.reports {
            let edit = &work.target.answer().edits[report.index];
            let number = report.index + 1;
            match &report.outcome {
                Outcome::Applied(found) => {
                    for repair in &edit.repairs {
                        let words = repair.kind;
                        print_message(format_args!(
                            "note: edit {number} of `{name}`: line {} of the answer: {words}",
                            repair.line
                        ));
                    }
                    for note in &found.notes {
                        print_message(format_args!("note: edit {number} of `{name}`: {note}"));
                    }
                }
                Outcome::Unchanged => {
                    print_message(format_args!(
                        "note: edit {number} of `{name}`: search text and replacement are the same"
                    ));
                }
                _ => {}
            }
        }
    }
}

/// Where each edit of a file is applied, by their indexes.
pub(super) fn places(work: &Work<'_>, file: &FilePlan) -> Vec<(usize, String)> {
    applied(file).map(|(index, found)| (index, place_words(work, file, index, found))).collect()
}

fn place_words(work: &Work<'_>, file: &FilePlan, index: usize, found: &Match) -> String {
    let lines: Vec<_> = found.lines.iter().map(ToString::to_string).collect();
    let edit = &work.target.answer().edits[index];
    let mut words = match &edit.action {
        Action::Delete => "the file is deleted".to_owned(),
        Action::Move { to } if work.target.exists(to) => {
            format!("the file is moved to `{to}`, replacing the existing file")
        }
        Action::Move { to } => format!("the file is moved to `{to}`"),
        _ if file.action == FileAction::Create => "the file is new".to_owned(),
        Action::Write { .. } => "the whole file".to_owned(),
        Action::Replace(_) | Action::Undecided(_) => format!("{}, {}", lines.join(" and "), found.how),
    };
    if let Some(earlier) = found.inside {
        let _ = write!(words, ", inside the text that edit {} inserts", earlier + 1);
    }
    for repair in &edit.repairs {
        let _ = write!(words, "; line {} of the answer: {}", repair.line, repair.kind);
    }
    for note in &found.notes {
        let _ = write!(words, "; {note}");
    }
    words
}

/// What was done to a file, as a line; `None` if nothing was.
pub(super) fn describe(work: &Work<'_>, file: &FilePlan) -> Option<String> {
    if !file.changes() {
        return None;
    }
    let path = one_line(&file.path);
    let edits = &work.target.answer().edits;
    let is_edit = |index: usize| !matches!(edits[index].action, Action::Move { .. });
    let edits = match applied(file).filter(|(index, _)| is_edit(*index)).count() {
        0 => String::new(),
        1 => ", 1 edit".to_owned(),
        count => format!(", {count} edits"),
    };
    match &file.action {
        FileAction::Create => Some(format!("created `{path}`")),
        FileAction::Update => Some(format!("updated `{path}`{edits}")),
        FileAction::Delete => Some(format!("deleted `{path}`")),
        FileAction::Move { to } => Some(format!("moved `{path}` to `{}`{edits}", one_line(to))),
        FileAction::Missing => None,
    }
}
