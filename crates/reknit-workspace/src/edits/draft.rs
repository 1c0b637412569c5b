//! [`Draft`]: edits with their places, before anything is written.

use std::collections::BTreeSet;
use std::time::SystemTime;

use reknit::edit::{FileAction, FilePlan, How, Outcome, Plan};

use super::{Edits, Error, Failure, places};
use crate::journal::Journal;
use crate::root::Root;
use crate::write::{Batch, Committed};

/// The label of its entry in the journal.
const LABEL: &str = "apply";

/// Edits with their places in the files: what would be written, and what cannot be applied.
#[derive(Debug)]
#[must_use = "nothing is written before `commit`"]
pub struct Draft<'e> {
    edits: &'e Edits<'e>,
    loosest: How,
    /// The indexes of its edits, including refused ones.
    chosen: BTreeSet<usize>,
    plan: Plan,
}

impl<'e> Draft<'e> {
    pub(super) fn new(edits: &'e Edits<'e>, loosest: How, chosen: BTreeSet<usize>) -> Self {
        let refused = edits.refusals.iter().map(|refusal| refusal.index).collect();
        let allowed: Vec<_> = chosen.difference(&refused).copied().collect();
        let plan = places::find(&edits.answer.edits, &allowed, &edits.originals(), loosest);
        Self { edits, loosest, chosen, plan }
    }

    /// A draft of those of its edits for whose index in the answer the closure returns true.
    ///
    /// They are placed again, as if the answer did not contain the others. An edit can lose its place that way, for
    /// example if its search text comes from an edit that is left out.
    pub fn only(&self, is_chosen: impl Fn(usize) -> bool) -> Self {
        let chosen = self.chosen.iter().copied().filter(|&index| is_chosen(index)).collect();
        Self::new(self.edits, self.loosest, chosen)
    }

    /// What happens to each file, and to each edit that is not refused, by its index in the answer.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Everything that cannot be applied: what could not be parsed, refused edits, and edits without a place.
    pub fn failures(&self) -> impl Iterator<Item = Failure<'_>> {
        let problems = self.edits.answer.problems.iter().map(Failure::Problem);
        let refusals = self.edits.refusals.iter().filter(|refusal| self.chosen.contains(&refusal.index));
        let rejected = self.plan.rejected().filter_map(|(file, report)| match &report.outcome {
            Outcome::Rejected(rejection) => Some(Failure::Rejected { file, index: report.index, rejection }),
            _ => None,
        });
        problems.chain(refusals.map(Failure::Refused)).chain(rejected)
    }

    /// Whether everything can be applied.
    pub fn is_whole(&self) -> bool {
        self.failures().next().is_none()
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.batch().is_empty()
    }

    /// The root that its files are below.
    pub fn root(&self) -> &Root {
        self.edits.root
    }

    /// At most how many bytes of earlier contents the journal has to save for it.
    pub fn saved_bytes(&self) -> u64 {
        let size = |path: &str| self.edits.stamp(path).map_or(0, |stamp| stamp.size);
        let changed = self.plan.files.iter().filter(|file| file.changes());
        let saved = changed.map(|file| match &file.action {
            FileAction::Move { to } if self.edits.stamp(to).is_some() => size(&file.path) + size(to),
            // The file itself is moved.
            FileAction::Move { .. } if file.splices.is_empty() => 0,
            _ => size(&file.path),
        });
        saved.sum()
    }

    /// Writes all files or none, and none if there is a failure.
    ///
    /// `at` is the time for the journal. If a file has changed since it was read, that is an error.
    pub fn commit(&self, journal: &Journal, at: SystemTime) -> Result<Committed, Error> {
        match self.failures().count() {
            0 => self.commit_partial(journal, at),
            failures => Err(Error::NotWhole { failures }),
        }
    }

    /// Applies the edits that have a place even if there are failures. Still writes all files or none.
    pub fn commit_partial(&self, journal: &Journal, at: SystemTime) -> Result<Committed, Error> {
        let batch = self.batch();
        if batch.is_empty() {
            return Err(Error::Empty);
        }
        Ok(batch.commit(self.edits.root, journal, at)?)
    }

    fn batch(&self) -> Batch<'_> {
        let mut batch = Batch::new(LABEL);
        for file in self.plan.files.iter().filter(|file| file.changes()) {
            self.add(&mut batch, file);
        }
        batch
    }

    fn add<'a>(&'a self, batch: &mut Batch<'a>, file: &'a FilePlan) {
        let (path, before) = self.edits.file(&file.path);
        match (before, &file.action) {
            (None, FileAction::Create) => batch.create(path.clone(), file.pieces(&[])),
            // The answer creates the file and then moves it.
            (None, FileAction::Move { to }) => self.write(batch, to, file.pieces(&[])),
            // Or creates it and then deletes it.
            (None, FileAction::Update | FileAction::Delete) | (_, FileAction::Missing) => {}
            (Some(before), FileAction::Create | FileAction::Update) => {
                batch.update(path.clone(), &before.stamp, file.pieces(before.read_bytes()));
            }
            (Some(before), FileAction::Delete) => batch.delete(path.clone(), &before.stamp),
            (Some(before), FileAction::Move { to }) => {
                let (stamp, pieces) = (&before.stamp, file.pieces(before.read_bytes()));
                match self.edits.file(to) {
                    // The existing file gets the content and keeps its permissions.
                    (_, Some(_)) => {
                        self.write(batch, to, pieces);
                        batch.delete(path.clone(), stamp);
                    }
                    (to, None) if file.splices.is_empty() => batch.move_to(path.clone(), stamp, to.clone()),
                    (to, None) => batch.move_and_update(path.clone(), stamp, to.clone(), pieces),
                }
            }
        }
    }

    /// Writes a file, whether it exists or not.
    fn write<'a>(&'a self, batch: &mut Batch<'a>, path: &str, pieces: impl Iterator<Item = &'a [u8]> + 'a) {
        match self.edits.file(path) {
            (path, Some(file)) => batch.update(path.clone(), &file.stamp, pieces),
            (path, None) => batch.create(path.clone(), pieces),
        }
    }
}
