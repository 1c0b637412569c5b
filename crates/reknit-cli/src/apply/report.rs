//! What became of edits, in words.

use std::fmt::Write as _;

use reknit::edit::{Action, Closest, FileAction, FilePlan, Match, Outcome, Plan, Problem, Rejection};

use super::work::{Work, applied};
use crate::explain;
use crate::tell;

/// How many errors are told one by one.
const MOST_TOLD: usize = 10;

/// Says what has no place or could not be read, and why.
pub(super) fn tell_failures(work: &Work, plan: &Plan, explained: bool) {
    let mut told = Vec::new();
    for problem in &work.parsed.problems {
        told.push(problem_words(problem, explained));
    }
    for refusal in &work.refusals {
        let words = format!("error: edit {}: {}\nhint: {}", refusal.index + 1, refusal.message, refusal.hint);
        told.push((words, explain::PATH));
    }
    for (file, report) in plan.rejected() {
        let Outcome::Rejected(rejection) = &report.outcome else { continue };
        let name = work.target.shown(&file.path);
        told.push(rejection_words(report.index, name, rejection, explained));
    }
    tell_all(&told);
}

/// Says that nothing was found to do, and why.
pub(super) fn tell_no_edits(problems: &[Problem], explained: bool) {
    let mut told: Vec<_> = problems.iter().map(|problem| problem_words(problem, explained)).collect();
    if told.is_empty() {
        told.push((format!("error: {NO_EDITS}\nhint: {NO_EDITS_HINT}"), explain::NO_EDITS));
    }
    tell_all(&told);
}

pub(super) const NO_EDITS: &str = "no edit is found in the answer";
pub(super) const NO_EDITS_HINT: &str = "if there is one, name how it is written with `--format`";

/// An error of an edit, and the kind that it is explained under.
pub(super) fn rejection_words(
    index: usize,
    name: &str,
    rejection: &Rejection,
    explained: bool,
) -> (String, &'static str) {
    let Rejection { reason, closest } = rejection;
    let whose = if name.is_empty() { String::new() } else { format!(" of `{name}`") };
    let mut words = format!("error: edit {}{whose}: {reason}\nhint: {}", index + 1, reason.hint());
    if let (true, Some(Closest { place, diff })) = (explained, closest) {
        let _ = write!(words, "\nclosest: {}, score {:.2}", place.lines, place.score);
        for line in diff.lines() {
            let _ = write!(words, "\n  {line}");
        }
    }
    (words, reason.name())
}

pub(super) fn problem_words(problem: &Problem, explained: bool) -> (String, &'static str) {
    let mut words = format!("error: {problem}\nhint: {}", problem.kind.hint());
    if explained {
        let _ = write!(words, "\nform:");
        for line in problem.kind.form().lines() {
            let _ = write!(words, "\n  {line}");
        }
    }
    (words, problem.kind.name())
}

pub(super) fn tell_all(told: &[(String, &'static str)]) {
    told.iter().take(MOST_TOLD).for_each(|(words, _)| tell(format_args!("{words}")));
    if told.len() > MOST_TOLD {
        tell(format_args!("and {} more; `--json` has them all", told.len() - MOST_TOLD));
    }
    explain::point_to(told.iter().take(MOST_TOLD).map(|(_, kind)| *kind));
}

/// Says where each edit that has a place landed, and how.
pub(super) fn explain_places(work: &Work, plan: &Plan) {
    for file in &plan.files {
        let name = work.target.shown(&file.path);
        for (index, words) in places(work, file) {
            tell(format_args!("edit {} of `{name}`: {words}", index + 1));
        }
    }
}

/// Where each edit of a file landed that has a place, by their indexes.
pub(super) fn places(work: &Work, file: &FilePlan) -> Vec<(usize, String)> {
    applied(file).map(|(index, found)| (index, place_words(work, file, index, found))).collect()
}

fn place_words(work: &Work, file: &FilePlan, index: usize, found: &Match) -> String {
    let lines: Vec<_> = found.lines.iter().map(ToString::to_string).collect();
    let mut words = match &work.parsed.edits[index].action {
        Action::Delete => "the file is deleted".to_owned(),
        Action::Move { to } if work.target.exists(to) => {
            format!("the file is moved to `{to}`, over the one that is there")
        }
        Action::Move { to } => format!("the file is moved to `{to}`"),
        _ if file.action == FileAction::Create => "the file is new".to_owned(),
        Action::Write { .. } => "the whole file".to_owned(),
        Action::Replace(_) | Action::Undecided(_) => format!("{}, {}", lines.join(" and "), found.how),
    };
    if found.score < 1.0 {
        let _ = write!(words, ", score {:.2}", found.score);
    }
    if let Some(earlier) = found.inside {
        let _ = write!(words, ", inside what edit {} puts there", earlier + 1);
    }
    if let Some(next) = found.runner_up {
        let _ = write!(words, "; next best {}, score {:.2}", next.lines, next.score);
    }
    for repair in &work.parsed.edits[index].repairs {
        let _ = write!(words, "; line {} of the answer: {}", repair.line, repair.kind.message());
    }
    words
}

/// What is done to a file, in one line.
pub(super) fn deed(work: &Work, file: &FilePlan) -> String {
    let path = &file.path;
    let is_edit = |index: usize| !matches!(work.parsed.edits[index].action, Action::Move { .. });
    let edits = match applied(file).filter(|(index, _)| is_edit(*index)).count() {
        0 => String::new(),
        1 => ", 1 edit".to_owned(),
        count => format!(", {count} edits"),
    };
    match &file.action {
        FileAction::Create => format!("created `{path}`"),
        FileAction::Update => format!("updated `{path}`{edits}"),
        FileAction::Delete => format!("deleted `{path}`"),
        FileAction::Move { to } => format!("moved `{path}` to `{to}`{edits}"),
    }
}
