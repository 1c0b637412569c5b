//! Journals of the first version: one folder of entries for all roots, and one of contents named by their hash.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::entry::{Range, Saved, at};
use super::file::{Plan, Unsealed};
use super::{Change, Entry, EntryId, Error, Folder, Journal, Locked, State, Unfinished, counter, io_error};
use crate::root::RelPath;
use crate::stamp::Hash;
use crate::system;

/// The line of JSON in the file of such an entry, after the line with its hash.
#[derive(Deserialize)]
struct Stored {
    version: u64,
    id: EntryId,
    at_ms: u64,
    root: PathBuf,
    label: String,
    #[serde(default)]
    undoes: Option<EntryId>,
    changes: Vec<Change>,
    #[serde(default)]
    made: Vec<RelPath>,
}

/// Carries the entries of such a journal over, oldest first. What cannot be read is kept in `damaged`.
///
/// Each file is removed once its entry is carried over, so that it goes on after an interruption.
pub(super) fn carry_over(journal: &Journal) -> Result<(), Error> {
    let entries = journal.folder.join("entries");
    if !entries.is_dir() {
        return Ok(());
    }
    // Processes of the first version lock this.
    let lock = journal.folder.join("lock");
    let file = system::open_private(&lock).map_err(io_error(&lock, "locking the journal"))?;
    file.lock().map_err(io_error(&lock, "locking the journal"))?;

    let names = system::names(&entries).map_err(io_error(&entries, "listing the journal"))?;
    let mut ids: Vec<EntryId> =
        names.iter().filter_map(|name| name.to_str()?.strip_suffix(".json")?.parse().ok()).collect();
    ids.sort_unstable();
    // A journal that the first version started again has numbers that are taken.
    let mut renumbered = BTreeMap::new();
    for id in ids {
        let path = entries.join(format!("{id}.json"));
        match read(id, &path) {
            Ok(stored) => {
                let new = carry_entry(journal, stored, &renumbered)?;
                renumbered.insert(id, new);
                system::remove(&path).map_err(io_error(&path, "removing an entry"))?;
            }
            Err(_) => {
                let damaged = journal.folder.join("damaged");
                system::make_private_directory(&damaged).map_err(io_error(&damaged, "creating a folder"))?;
                system::rename(&path, &damaged.join(format!("{id}.json")))
                    .map_err(io_error(&path, "moving a damaged entry"))?;
            }
        }
    }
    for folder in [entries, journal.folder.join("blobs")] {
        system::remove_all(&folder).map_err(io_error(&folder, "removing a folder"))?;
    }
    Ok(())
}

fn read(id: EntryId, path: &Path) -> Result<Stored, String> {
    let text = fs::read(path).map_err(|error| error.to_string())?;
    let end = text.iter().position(|&byte| byte == b'\n').ok_or("truncated")?;
    let (hash, body) = (&text[..end], &text[end + 1..]);
    if Hash::of(body).to_string().as_bytes() != hash {
        return Err("the checksum does not match".into());
    }
    let stored: Stored = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    if stored.version != 1 || stored.id != id {
        return Err("another version, or another entry".into());
    }
    Ok(stored)
}

fn carry_entry(
    journal: &Journal,
    stored: Stored,
    renumbered: &BTreeMap<EntryId, EntryId>,
) -> Result<EntryId, Error> {
    counter::skip_to(journal, stored.id)?;
    let mut lock = Locked::new(journal, Folder::for_path(journal, &stored.root)?)?;
    let mut id = stored.id;
    if let Ok(there) = journal.entry(id) {
        if there.at == at(stored.at_ms) && there.changes == stored.changes {
            // The last attempt was interrupted right after this one.
            if lock.unfinished() == Some(Unfinished::Begun(id)) {
                lock.finish(id)?;
            }
            return Ok(id);
        }
        id = counter::next(journal)?;
    }
    let plan = Plan { id, token: String::new(), paths: Vec::new(), made: Vec::new() };
    let mut file = Unsealed::create(lock.folder.entry_file(id), &plan)?;
    let mut saved = Vec::new();
    for change in &stored.changes {
        saved.push(match change.before() {
            Some(before) => {
                let content = save(journal, &mut file, before.hash)?;
                Some(Saved { content, attributes: None })
            }
            None => None,
        });
    }
    let undoes = stored.undoes.map(|target| renumbered.get(&target).copied().unwrap_or(target));
    let entry = Entry {
        id,
        at: at(stored.at_ms),
        root: stored.root,
        label: stored.label,
        undoes,
        changes: stored.changes,
        made: stored.made,
        state: State::Done,
        saved,
    };
    let bytes = lock.seal(&entry, file)?;
    lock.carry_over(&entry, bytes)?;
    Ok(id)
}

/// Copies the content with this hash; `None` if it is missing.
fn save(journal: &Journal, file: &mut Unsealed, hash: Hash) -> Result<Option<Range>, Error> {
    let path = journal.folder.join("blobs").join(hash.to_string());
    let mut blob = match File::open(&path) {
        Ok(blob) => blob,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::Io { path, doing: "reading a saved file", source }),
    };
    // One that is damaged is noticed when it is needed: the hash is in the entry.
    file.save(&mut blob, || false).map(|(_, range)| Some(range))
}
