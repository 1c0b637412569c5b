//! What an undo changes, as a diff.

use std::io::{BufWriter, StdoutLock};

use reknit_workspace::journal::Change;
use reknit_workspace::undo::Standing;
use reknit_workspace::{RelPath, Stamp, root};

use super::Subject;
use crate::diff::{self, Diff, Sides};
use crate::outcome::CommandError;
use crate::view::Terminal;

/// Prints the change of each file that is not back to its old content already.
pub(super) fn print(
    out: &mut BufWriter<StdoutLock<'static>>,
    terminal: Option<Terminal>,
    subject: &Subject,
) -> Result<(), CommandError> {
    for change in &subject.entry.changes {
        let (now, before) = match change {
            Change::Create { path, .. } => (path, None),
            Change::Move { path, to, before, .. } => (to, Some((path, before))),
            Change::Update { path, before, .. } | Change::Delete { path, before } => {
                (path, Some((path, before)))
            }
            _ => continue,
        };
        if is_as_before(subject, change.path()) && is_as_before(subject, now) {
            continue;
        }
        print_file(out, terminal, subject, now, before, change)?;
    }
    Ok(())
}

fn print_file(
    out: &mut BufWriter<StdoutLock<'static>>,
    terminal: Option<Terminal>,
    subject: &Subject,
    path: &RelPath,
    before: Option<(&RelPath, &Stamp)>,
    change: &Change,
) -> Result<(), CommandError> {
    let there = match subject.root.read(path) {
        Ok(file) => Some(file),
        Err(root::Error::NotFound { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let kept = match (before, &there) {
        (None, _) => Vec::new(),
        // A file that was only moved is moved back; the journal may not have its content.
        (Some((_, stamp)), Some(file)) if file.stamp.same_content(stamp) => file.bytes.clone(),
        (Some(_), there) => match subject.journal.content(&subject.entry, change)? {
            Some(content) => content,
            // Only moved, and changed since: it is moved back with what it contains now.
            None => there.as_ref().map(|file| file.bytes.clone()).unwrap_or_default(),
        },
    };
    let sides =
        Sides { before: there.as_ref().map(|_| path.as_str()), after: before.map(|(path, _)| path.as_str()) };
    let now = there.as_ref().map_or(&[][..], |file| &file.bytes);
    let diff = Diff::between(now, &kept);
    match terminal {
        Some(terminal) => diff::show(out, terminal, sides, &diff)?,
        None => diff::write(out, sides, &diff)?,
    }
    Ok(())
}

fn is_as_before(subject: &Subject, path: &RelPath) -> bool {
    let standing = subject.standings.iter().find(|(other, _)| other == path);
    standing.is_some_and(|(_, standing)| *standing == Standing::Already)
}
