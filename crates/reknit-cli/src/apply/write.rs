//! Writes a draft: all files or none.

use std::time::SystemTime;

use reknit_workspace::{Draft, EntryId};

use super::Arguments;
use super::report::describe;
use super::work::Work;
use crate::files::{open_journal, prune};
use crate::outcome::CommandError;
use crate::print_message;

/// Writes what a draft changes and reports it. Returns the entry of the journal; `None` if nothing changes.
pub(super) fn write(
    arguments: &Arguments,
    work: &Work<'_>,
    draft: &Draft<'_>,
) -> Result<Option<EntryId>, CommandError> {
    if draft.is_empty() {
        print_message(format_args!("nothing to write"));
        return Ok(None);
    }
    let journal = open_journal()?;
    let now = SystemTime::now();
    let committed = if arguments.keep_going {
        draft.commit_partial(&journal, now)?
    } else {
        draft.commit(&journal, now)?
    };
    for line in draft.plan().files.iter().filter_map(|file| describe(work, file)) {
        print_message(format_args!("{line}"));
    }
    for note in &committed.notes {
        print_message(format_args!("warning: {note}"));
    }
    let id = committed.entry.id;
    print_message(format_args!("run `reknit undo {id}` to undo this"));
    prune(&journal, now);
    Ok(Some(id))
}
