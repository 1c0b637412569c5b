//! Writes a draft: all files or none.

use std::time::SystemTime;

use reknit_workspace::{Draft, EntryId, Journal};

use super::Arguments;
use super::report::describe;
use super::work::Work;
use crate::files::{self, mention_signal, open_journal, prune};
use crate::interrupt::Writing;
use crate::outcome::CommandError;
use crate::print_message;

/// Says which entries the journal loses if this draft is written.
pub(super) fn announce_pruning(arguments: &Arguments, draft: &Draft<'_>) -> Result<(), CommandError> {
    if draft.is_empty() || arguments.no_journal {
        return Ok(());
    }
    let journal = open_journal(arguments.journal.as_deref())?;
    files::announce_pruning(&journal, draft.root(), draft.saved_bytes())
}

/// Writes what a draft changes and reports it. Returns the entry of the journal; `None` if there is none.
pub(super) fn write(
    arguments: &Arguments,
    work: &Work<'_>,
    draft: &Draft<'_>,
) -> Result<Option<EntryId>, CommandError> {
    if draft.is_empty() {
        print_message(format_args!("nothing to write"));
        return Ok(None);
    }
    let writing = Writing::begin()?;
    let journal = if arguments.no_journal {
        Journal::temporary()?
    } else {
        open_journal(arguments.journal.as_deref())?
    };
    let journal = journal.stop_on(writing.stop());
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
    mention_signal();
    if arguments.no_journal {
        print_message(format_args!("written without a journal: this cannot be undone"));
        return Ok(None);
    }
    let id = committed.entry.id;
    print_message(format_args!("run `reknit undo {id}` to undo this"));
    prune(&journal, draft.root(), now);
    Ok(Some(id))
}
