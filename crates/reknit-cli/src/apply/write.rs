//! A plan is written: all files or none.

use std::time::SystemTime;

use reknit::edit::{FileAction, Plan};
use reknit_workspace::{Batch, EntryId, File};

use super::report::deed;
use super::target::{Target, resolved};
use super::work::{Work, changes};
use crate::files::{open_journal, prune};
use crate::outcome::Trouble;
use crate::tell;

/// Writes what a plan changes, and says so. Gives the entry of the journal; none if nothing changes.
pub(super) fn write(work: &Work, plan: &Plan) -> Result<Option<EntryId>, Trouble> {
    let Target::Below { root, .. } = &work.target else { return Ok(None) };
    let batch = batch(work, plan);
    if batch.is_empty() {
        tell(format_args!("there is nothing to write"));
        return Ok(None);
    }
    let journal = open_journal()?;
    let now = SystemTime::now();
    let committed = batch.commit(root, &journal, now)?;
    for file in plan.files.iter().filter(|file| changes(file)) {
        tell(format_args!("{}", deed(work, file)));
    }
    for note in &committed.notes {
        tell(format_args!("warning: {note}"));
    }
    let id = committed.entry.id;
    tell(format_args!("`reknit undo {id}` takes it back"));
    prune(&journal, now);
    Ok(Some(id))
}

fn batch<'a>(work: &'a Work, plan: &'a Plan) -> Batch<'a> {
    let mut batch = Batch::new("apply");
    for file in plan.files.iter().filter(|file| changes(file)) {
        let path = resolved(&file.path);
        match (work.target.file(&file.path), &file.action) {
            (None, FileAction::Create) => batch.create(path, file.pieces(&[])),
            // It was created by the answer and moved or deleted by the same.
            (None, FileAction::Move { to }) => put(&mut batch, work, to, file.pieces(&[])),
            (None, FileAction::Update | FileAction::Delete) => {}
            (Some(File { bytes, stamp }), FileAction::Create | FileAction::Update) => {
                batch.update(path, stamp, file.pieces(bytes));
            }
            (Some(File { stamp, .. }), FileAction::Delete) => batch.delete(path, stamp),
            (Some(File { bytes, stamp }), FileAction::Move { to }) => match work.target.file(to) {
                // What is there gets the content, and keeps its permissions.
                Some(_) => {
                    put(&mut batch, work, to, file.pieces(bytes));
                    batch.delete(path, stamp);
                }
                None if file.splices.is_empty() => batch.move_to(path, stamp, resolved(to)),
                None => batch.move_and_update(path, stamp, resolved(to), file.pieces(bytes)),
            },
        }
    }
    batch
}

/// Writes a file, whether there is one or not.
fn put<'a>(batch: &mut Batch<'a>, work: &'a Work, path: &str, pieces: impl Iterator<Item = &'a [u8]> + 'a) {
    match work.target.file(path) {
        Some(file) => batch.update(resolved(path), &file.stamp, pieces),
        None => batch.create(resolved(path), pieces),
    }
}
