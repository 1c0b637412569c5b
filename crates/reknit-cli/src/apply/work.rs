//! [`Work`]: what an answer asks, and what becomes of it.

use std::borrow::Cow;

use reknit::edit::{self, Edit, FileAction, FilePlan, Match, Outcome, Parsed, Plan, Policy, Reason};

use super::Arguments;
use super::target::{Refusal, Target};
use crate::diff::{Diff, Sides};
use crate::outcome::Trouble;

/// An answer, and the files that it is for.
pub(super) struct Work {
    pub(super) parsed: Parsed,
    pub(super) target: Target,
    /// The edits that are for no file that may be touched.
    pub(super) refusals: Vec<Refusal>,
    policy: Policy,
}

impl Work {
    /// Reads the files that the edits name.
    pub(super) fn open(arguments: &Arguments, mut parsed: Parsed) -> Result<Self, Trouble> {
        let (target, refusals) = match &arguments.original {
            Some(file) => (Target::one(file, &mut parsed.edits)?, Vec::new()),
            None => Target::below(&arguments.root, &mut parsed.edits)?,
        };
        Ok(Self { parsed, target, refusals, policy: arguments.policy() })
    }

    /// The indexes of all edits that may have a place.
    pub(super) fn candidates(&self) -> Vec<usize> {
        let is_refused = |index| self.refusals.iter().any(|refusal| refusal.index == index);
        (0..self.parsed.edits.len()).filter(|&index| !is_refused(index)).collect()
    }

    /// Finds the places of some of the edits, as if the others were not there.
    pub(super) fn plan(&self, chosen: &[usize]) -> Plan {
        let edits = &self.parsed.edits;
        let edits: Cow<'_, [Edit]> = if chosen.len() == edits.len() {
            Cow::Borrowed(edits)
        } else {
            chosen.iter().map(|&index| edits[index].clone()).collect()
        };
        let mut plan = edit::plan(&edits, &self.target.originals(), self.policy);
        for report in plan.files.iter_mut().flat_map(|file| &mut file.reports) {
            report.index = chosen[report.index];
            if let Some(other) = other_edit(&mut report.outcome) {
                *other = chosen[*other];
            }
        }
        plan
    }

    /// The diff of one file, with its names.
    pub(super) fn diff<'a>(&'a self, file: &'a FilePlan) -> (Sides<'a>, Diff<'a>) {
        let original = self.target.content(&file.path);
        // What applies a diff takes its names from where it stands.
        let name = self.target.shown(&file.path).trim_start_matches('/');
        let before = self.target.exists(&file.path).then_some(name);
        let splices = file.splices.iter().map(|splice| (splice.range.clone(), &*splice.replacement));
        match &file.action {
            FileAction::Create | FileAction::Update => {
                (Sides { before, after: Some(name) }, Diff::new(original, splices))
            }
            FileAction::Delete => (Sides { before, after: None }, Diff::between(original, &[])),
            FileAction::Move { to } => (Sides { before, after: Some(to) }, Diff::new(original, splices)),
        }
    }

    /// Whether all that the answer asks has its place, and all of the answer could be read.
    pub(super) fn is_whole(&self, plan: &Plan) -> bool {
        self.refusals.is_empty() && self.parsed.problems.is_empty() && plan.rejected().next().is_none()
    }
}

/// The index of another edit that an outcome names.
fn other_edit(outcome: &mut Outcome) -> Option<&mut usize> {
    match outcome {
        Outcome::Applied(found) => found.inside.as_mut(),
        Outcome::Rejected(rejection) => match &mut rejection.reason {
            Reason::TakenAway { by, .. } | Reason::MovedAway { by, .. } | Reason::Overlaps { with: by } => {
                Some(by)
            }
            _ => None,
        },
    }
}

/// Where each edit of a file landed that has a place, by their indexes.
pub(super) fn applied(file: &FilePlan) -> impl Iterator<Item = (usize, &Match)> {
    file.reports.iter().filter_map(|report| match &report.outcome {
        Outcome::Applied(found) => Some((report.index, found)),
        Outcome::Rejected(_) => None,
    })
}

/// Whether anything is done to a file.
pub(super) fn changes(file: &FilePlan) -> bool {
    match file.action {
        // A file that none of the edits has a place in does not come into being.
        FileAction::Create | FileAction::Delete | FileAction::Move { .. } => applied(file).next().is_some(),
        FileAction::Update => !file.splices.is_empty(),
    }
}
