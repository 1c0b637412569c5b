//! [`plan`]: edits to ranges of files.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;

use super::Edit;
use super::ladder::How;
use super::locate::Claim;
use super::outcome::Outcome;
use super::rejection::{Reason, Rejection};
use super::target::Target;

/// What becomes of each file, and of each edit.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The files that edits name, in the order in which they are first named.
    pub files: Vec<FilePlan>,
}

/// What becomes of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct FilePlan {
    /// Its path; empty if the edits name none.
    pub path: String,
    /// What is done to it.
    pub action: FileAction,
    /// The ranges of it that are replaced, in the order of the file and without overlap.
    pub splices: Vec<Splice>,
    /// What became of each edit, in the order in which they were given.
    pub reports: Vec<Report>,
}

/// What is done to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "kebab-case")]
pub enum FileAction {
    /// It did not exist.
    Create,
    /// It gets another content, or none of its edits has a place and it stays.
    Update,
    /// Nothing: there is no such file, or the edits name none, and all of them are rejected.
    Missing,
    /// It is removed.
    Delete,
    /// It gets another name, and another content if there are splices.
    Move {
        /// The new path.
        to: String,
    },
}

/// A range of a file and the bytes that replace it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// The bytes of the original.
    pub range: Range<usize>,
    /// The new bytes.
    pub replacement: Vec<u8>,
}

/// What became of one edit.
///
/// In JSON it is `{"index", "outcome", …}`: the fields of the [`Outcome`] beside the index of its edit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The index of the edit in the list that was given.
    pub index: usize,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// Finds the place of each edit.
///
/// Edits are placed in the order given, each on the file as the ones before it leave it. A place may differ from a
/// search text by what `loosest` allows; [`How::Context`] allows the most. `files` are paths, as the edits name
/// them, and contents; files that are not among them do not exist. An edit that names no file is for the only one
/// there is; where others name it, that holds for what has its place by a search text only, and not for what is done
/// to a whole file.
pub fn plan(edits: &[Edit], files: &[(&str, &[u8])], loosest: How) -> Plan {
    let only = match files {
        [(path, _)] => Some(*path),
        _ => None,
    };
    let is_named = edits.iter().any(|edit| edit.path.is_some());
    let mut groups: Vec<(Option<&str>, Vec<usize>)> = Vec::new();
    let mut numbers: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    for (index, edit) in edits.iter().enumerate() {
        let may_be_only = !is_named || !edit.readings().is_empty();
        let path = edit.path.as_deref().or(only.filter(|_| may_be_only));
        let number = *numbers.entry(path).or_insert_with(|| {
            groups.push((path, Vec::new()));
            groups.len() - 1
        });
        groups[number].1.push(index);
    }
    let file = |(path, indexes): (Option<&str>, Vec<usize>)| {
        let Some(path) = path else { return without_path(&indexes) };
        let original = files.iter().find(|(name, _)| *name == path);
        plan_file(path, original.map(|(_, content)| *content), edits, &indexes, loosest)
    };
    let mut plan = Plan { files: groups.into_iter().map(file).collect() };
    plan.leave_identical_alone();
    plan
}

/// So many edits are looked for one by one. Looking up the lines of all edits in one pass costs more than that.
const FEW: usize = 4;

fn plan_file(
    path: &str,
    content: Option<&[u8]>,
    edits: &[Edit],
    indexes: &[usize],
    loosest: How,
) -> FilePlan {
    let mut target = Target::new(content, loosest);
    let mut claims: BTreeMap<&str, Claim> = BTreeMap::new();
    indexes.iter().for_each(|index| target.expect(&edits[*index]));
    for replace in indexes.iter().filter_map(|index| edits[*index].replace()) {
        claims.entry(&replace.search).or_insert(Claim::Open { edits: 0 }).add_edit();
    }
    if indexes.len() > FEW {
        // A file that is not UTF-8 is searched for each edit by itself, and says so where that matters.
        let _ = target.running.prepare();
    }
    let reports = indexes
        .iter()
        .map(|index| {
            let edit = &edits[*index];
            let mut alone = Claim::Open { edits: 1 };
            let shared = edit.replace().and_then(|replace| claims.get_mut(&*replace.search));
            let outcome = match target.act(*index, edit, shared.unwrap_or(&mut alone)) {
                Ok(found) => Outcome::Applied(found),
                Err(rejection) => Outcome::Rejected(rejection),
            };
            Report { index: *index, outcome }
        })
        .collect();
    target.into_plan(path, reports)
}

/// Edits that name no file where there is not exactly one.
fn without_path(indexes: &[usize]) -> FilePlan {
    let rejected = |index: &usize| {
        let outcome = Outcome::Rejected(Rejection::because(Reason::NoPath));
        Report { index: *index, outcome }
    };
    let reports = indexes.iter().map(rejected).collect();
    FilePlan { path: String::new(), action: FileAction::Missing, splices: Vec::new(), reports }
}

impl Plan {
    /// An edit that asks for what is there is not a failure of an answer that does something.
    fn leave_identical_alone(&mut self) {
        let reports = || self.files.iter().flat_map(|file| &file.reports);
        if !reports().any(|report| matches!(report.outcome, Outcome::Applied(_))) {
            return;
        }
        for report in self.files.iter_mut().flat_map(|file| &mut file.reports) {
            let is_identical = |rejection: &Rejection| rejection.reason == Reason::Identical;
            if matches!(&report.outcome, Outcome::Rejected(rejection) if is_identical(rejection)) {
                report.outcome = Outcome::Unchanged;
            }
        }
    }

    /// The reports of the edits that have no place, with their files.
    pub fn rejected(&self) -> impl Iterator<Item = (&FilePlan, &Report)> {
        self.files.iter().flat_map(|file| {
            file.reports
                .iter()
                .filter(|report| matches!(report.outcome, Outcome::Rejected(_)))
                .map(move |report| (file, report))
        })
    }
}

impl FilePlan {
    /// Whether anything is done to the file.
    pub fn changes(&self) -> bool {
        match self.action {
            FileAction::Create | FileAction::Delete | FileAction::Move { .. } => true,
            FileAction::Update => !self.splices.is_empty(),
            FileAction::Missing => false,
        }
    }

    /// The new content in pieces, none of them copied.
    pub fn pieces<'a>(&'a self, original: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let starts = std::iter::once(0).chain(self.splices.iter().map(|splice| splice.range.end));
        let ends = self.splices.iter().map(|splice| splice.range.start).chain([original.len()]);
        let replacements = self.splices.iter().map(|splice| &*splice.replacement).chain([&[][..]]);
        starts
            .zip(ends)
            .zip(replacements)
            .flat_map(move |((start, end), replacement)| [&original[start..end], replacement])
    }

    /// The new content as one.
    pub fn content(&self, original: &[u8]) -> Vec<u8> {
        self.pieces(original).collect::<Vec<_>>().concat()
    }
}
