//! [`Work`]: the edits of an answer and the files that they are for.

use reknit::edit::{self, FileAction, FilePlan, How, Match, Outcome, Plan};
use reknit_workspace::Draft;

use super::target::Target;
use crate::diff::{Diff, Sides};

/// An answer and the files that it is for.
pub(super) struct Work<'r> {
    pub(super) target: Target<'r>,
    pub(super) loosest: How,
}

/// Edits with their places.
pub(super) enum Planned<'w> {
    /// Those of one file.
    One(Plan),
    /// Those of files that may be written.
    Below(Draft<'w>),
}

impl Planned<'_> {
    pub(super) fn plan(&self) -> &Plan {
        match self {
            Self::One(plan) => plan,
            Self::Below(draft) => draft.plan(),
        }
    }
}

impl Work<'_> {
    /// Finds the places of the edits.
    pub(super) fn plan(&self) -> Planned<'_> {
        match &self.target {
            Target::One { content, answer, .. } => {
                let original = ("", &**content);
                Planned::One(edit::plan(&answer.edits, &[original], self.loosest))
            }
            Target::Below(edits) => Planned::Below(edits.plan(self.loosest)),
        }
    }

    /// The diff of one file, with its names.
    pub(super) fn diff<'a>(&'a self, file: &'a FilePlan) -> (Sides<'a>, Diff<'a>) {
        // Tools that apply a diff take its paths relative to the current directory.
        let name = self.target.shown(&file.path).trim_start_matches('/');
        let before = self.target.exists(&file.path).then_some(name);
        let is_only_moved = matches!(file.action, FileAction::Move { .. }) && file.splices.is_empty();
        // One that is only moved is not read for this.
        let original = if is_only_moved { None } else { self.target.content(&file.path) }.unwrap_or_default();
        let splices = file.splices.iter().map(|splice| (splice.range.clone(), &*splice.replacement));
        match &file.action {
            FileAction::Create | FileAction::Update => {
                (Sides { before, after: Some(name) }, Diff::new(original, splices))
            }
            FileAction::Delete | FileAction::Missing => {
                (Sides { before, after: None }, Diff::between(original, &[]))
            }
            FileAction::Move { to } => (Sides { before, after: Some(to) }, Diff::new(original, splices)),
        }
    }

    /// Whether every edit can be applied and all of the answer could be read.
    pub(super) fn is_whole(&self, planned: &Planned<'_>) -> bool {
        match planned {
            Planned::One(plan) => {
                self.target.answer().problems.is_empty() && plan.rejected().next().is_none()
            }
            Planned::Below(draft) => draft.is_whole(),
        }
    }
}

/// The matches of the edits of a file that can be applied, with their indexes.
pub(super) fn applied(file: &FilePlan) -> impl Iterator<Item = (usize, &Match)> {
    file.reports.iter().filter_map(|report| match &report.outcome {
        Outcome::Applied(found) => Some((report.index, found)),
        _ => None,
    })
}
