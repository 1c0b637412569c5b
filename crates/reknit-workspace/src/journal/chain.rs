//! Which entries are in effect. Those that are neither undos nor undone form a chain, the newest first.
//!
//! The log has the newest one, and the footer of each entry has the one before it. An undone entry stays in the chain
//! until the newest one before it is looked for: then it is passed over, once.

use super::file::Footer;
use super::lock::unfinished;
use super::{EntryId, Error, Folder};

/// The newest entry that is neither an undo nor undone.
///
/// An error if the end of the log is damaged: that entry may be the newest one.
pub(super) fn newest(folder: &Folder) -> Result<Option<EntryId>, Error> {
    let Some(records) = folder.records()? else { return Ok(None) };
    let tail = records.tail()?;
    if let Some(at) = tail.damaged {
        let what = "the checksum does not match".into();
        return Err(Error::DamagedRecord { path: records.path().to_owned(), at, what });
    }
    if let Some(unfinished) = unfinished(&tail) {
        return Err(Error::Unfinished { id: unfinished.id() });
    }
    Ok(tail.record.and_then(|record| record.summary.live))
}

/// An entry is done: marks what it undoes, and updates the newest entry that is in effect.
pub(super) fn finished(
    folder: &Folder,
    id: EntryId,
    footer: &Footer,
    live: &mut Option<EntryId>,
) -> Result<(), Error> {
    match footer.undoes {
        None => enter(folder, id, live),
        Some(target) => mark(folder, target, Some(id), live),
    }
}

/// Marks an entry as undone by another, or as not undone any more, and whatever it undoes itself the other way.
fn mark(
    folder: &Folder,
    id: EntryId,
    undone_by: Option<EntryId>,
    live: &mut Option<EntryId>,
) -> Result<(), Error> {
    let mut footer = match folder.footer(id) {
        Ok(footer) => footer,
        // It was pruned, or cannot be read and is reported where it is needed.
        Err(Error::NoEntry { .. } | Error::Damaged { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    if footer.undone_by != undone_by {
        footer.undone_by = undone_by;
        folder.set_footer(id, &footer)?;
    }
    match (footer.undoes, undone_by) {
        (Some(target), Some(_)) => mark(folder, target, None, live),
        (Some(target), None) => mark(folder, target, Some(id), live),
        (None, Some(_)) => {
            if *live == Some(id) {
                *live = first_in_effect(folder, footer.previous)?;
            }
            Ok(())
        }
        (None, None) => enter(folder, id, live),
    }
}

/// Enters an entry into the chain, at the place of its number.
fn enter(folder: &Folder, id: EntryId, live: &mut Option<EntryId>) -> Result<(), Error> {
    let mut after: Option<(EntryId, Footer)> = None;
    let mut next = *live;
    while let Some(other) = next.filter(|other| *other > id) {
        let footer = match folder.footer(other) {
            Ok(footer) => footer,
            // It stays the newest: an undo must not pass over it, and this one is undone by its number.
            Err(Error::NoEntry { .. } | Error::Damaged { .. }) => return Ok(()),
            Err(error) => return Err(error),
        };
        next = footer.previous;
        after = Some((other, footer));
    }
    if next == Some(id) {
        return Ok(());
    }
    let footer = folder.footer(id)?;
    if footer.previous != next {
        folder.set_footer(id, &Footer { previous: next, ..footer })?;
    }
    match after {
        None => *live = Some(id),
        Some((other, footer)) => {
            folder.set_footer(other, &Footer { previous: Some(id), ..footer })?;
        }
    }
    Ok(())
}

/// The first entry of the chain, from here on, that is not undone.
fn first_in_effect(folder: &Folder, mut next: Option<EntryId>) -> Result<Option<EntryId>, Error> {
    while let Some(id) = next {
        match folder.footer(id) {
            Ok(footer) if footer.undone_by.is_some() => next = footer.previous,
            // One that is damaged stays the newest: an undo must not pass over it.
            Ok(_) | Err(Error::Damaged { .. }) => return Ok(Some(id)),
            // So does one that is missing. If it was pruned, so was everything before it.
            Err(Error::NoEntry { .. }) => {
                let is_pruned = folder.ids()?.first().is_none_or(|first| *first > id);
                return Ok(if is_pruned { None } else { Some(id) });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}
