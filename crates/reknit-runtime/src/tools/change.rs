//! Changes of files: planned to be reviewed, planned again to be written, all of them or none.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use reknit::Hint;
use reknit::edit::{FileAction, FilePlan, How, Outcome, Parsed, Reason};
use reknit_workspace::edits::{self, Failure as Part};
use reknit_workspace::{Draft, Edits, Journal, Root, write};

use super::blocking::blocking;
use super::diff::{Unified, Versions};
use super::excerpt::grouped;
use super::nearest;
use crate::question::Class;
use crate::tool::{Context, Failure, Output, Review};

/// A longer file is not read to be edited.
const LARGEST: u64 = 32 << 20;
/// How much of the difference to the closest place is shown, in bytes.
const CLOSEST: usize = 4_000;

/// Plans a change: what would be written, as a diff, or why it cannot be.
pub(super) async fn review(parsed: Parsed, context: &Context) -> Result<Review, Failure> {
    let plan = |edits: &Edits<'_>, draft: &Draft<'_>| {
        changed(edits, draft).map(|file| diff(edits, file).text).collect::<String>()
    };
    let progress = progress(&parsed);
    let diff = blocking(context, move |workspace, _| with_draft(&workspace.root, parsed, plan)).await?;
    let review = Review::of(Class::Write).with_progress(progress);
    Ok(if diff.is_empty() { review } else { review.with_detail(diff) })
}

/// How much a change does, if it is more than one edit.
fn progress(parsed: &Parsed) -> Option<String> {
    let edits = parsed.edits.len();
    let files: BTreeSet<_> = parsed.edits.iter().filter_map(|edit| edit.path.as_deref()).collect();
    match files.len() {
        _ if edits < 2 => None,
        0 | 1 => Some(format!("{edits} edits")),
        files => Some(format!("{edits} edits in {files} files")),
    }
}

/// Writes a change, unless the call is cancelled or dropped before the first file was touched.
pub(super) async fn write(parsed: Parsed, context: &Context) -> Result<Output, Failure> {
    let stop = StopOnDrop(Arc::new(AtomicBool::new(false)));
    let journal = context.workspace().journal.clone().stop_on(Arc::clone(&stop.0));
    let mut work = Box::pin(commit(parsed, journal, context));
    tokio::select! {
        done = &mut work => return done,
        () = context.cancelled().cancelled() => {}
    }
    drop(stop);
    // It may have got past the point where it can be stopped: then this is its real result.
    work.await
}

/// Stops a write. A call that was given up must not write when the file it waited for is free at last.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

async fn commit(parsed: Parsed, journal: Journal, context: &Context) -> Result<Output, Failure> {
    blocking(context, move |workspace, _| {
        with_draft(&workspace.root, parsed, |edits, draft| {
            if changed(edits, draft).next().is_none() {
                return Ok(Output::text("The files already have this content. Nothing was written."));
            }
            let committed = draft.commit(&journal, SystemTime::now()).map_err(|error| unwritten(&error))?;
            let mut text = String::new();
            for file in changed(edits, draft) {
                let _ = writeln!(text, "{}", done(file, &diff(edits, file)));
            }
            for note in committed.notes {
                let _ = writeln!(text, "Note: {note}.");
            }
            Ok(Output::text(text))
        })?
    })
    .await
}

/// Reads the files that edits name and places the edits. Fails if one of them has no place.
fn with_draft<T>(
    root: &Root,
    parsed: Parsed,
    then: impl FnOnce(&Edits<'_>, &Draft<'_>) -> T,
) -> Result<T, Failure> {
    refuse_large(root, &parsed)?;
    let edits = Edits::read(root, parsed);
    let draft = edits.plan(How::Context);
    if !draft.is_whole() {
        return Err(unplaced(root, &edits, &draft));
    }
    Ok(then(&edits, &draft))
}

fn refuse_large(root: &Root, parsed: &Parsed) -> Result<(), Failure> {
    for path in parsed.edits.iter().filter_map(|edit| edit.path.as_deref()) {
        let Ok(resolved) = root.resolve(path) else { continue };
        let size = fs::symlink_metadata(root.path().join(resolved.as_str())).map_or(0, |found| found.len());
        if size > LARGEST {
            let (size, largest) = (grouped(size), grouped(LARGEST));
            return Err(Failure::mistake(format!(
                "`{path}`: has {size} bytes, and only files of up to {largest} bytes can be edited. Use a command \
                 to change it."
            )));
        }
    }
    Ok(())
}

/// The files that are not going to be what they are.
fn changed<'d>(edits: &Edits<'_>, draft: &'d Draft<'_>) -> impl Iterator<Item = &'d FilePlan> {
    let is_same = |file: &FilePlan| {
        let before = edits.content(&file.path);
        file.action == FileAction::Update && before.is_some_and(|before| file.content(before) == before)
    };
    draft.plan().files.iter().filter(move |file| file.changes() && !is_same(file))
}

fn diff(edits: &Edits<'_>, file: &FilePlan) -> Unified {
    let before = edits.content(&file.path);
    let after = (file.action != FileAction::Delete).then(|| file.content(before.unwrap_or_default()));
    let to = match &file.action {
        FileAction::Move { to } => to,
        _ => &file.path,
    };
    Versions { before, after: after.as_deref() }.unified(&file.path, to)
}

/// What was done to a file. The diff is only repeated where it is not exactly what the model asked for.
fn done(file: &FilePlan, diff: &Unified) -> String {
    let verb = if file.action == FileAction::Create { "Created" } else { "Changed" };
    let mut text = format!("{verb} `{}` (+{} -{} lines).", file.path, diff.added, diff.removed);
    let mut is_loose = false;
    for report in &file.reports {
        let Outcome::Applied(found) = &report.outcome else { continue };
        let number = report.index + 1;
        if found.how > How::LineEnds {
            is_loose = true;
            let _ =
                write!(text, "\nEdit {number} was not found literally; the place differs in: {}.", found.how);
        }
        for note in &found.notes {
            is_loose = true;
            let _ = write!(text, "\nEdit {number}: {note}.");
        }
    }
    if is_loose {
        let _ = write!(text, "\nThis is what changed:\n{}", diff.text);
    }
    text
}

/// Why edits have no place, with the place that comes closest.
fn unplaced(root: &Root, edits: &Edits<'_>, draft: &Draft<'_>) -> Failure {
    let failures: Vec<_> = draft.failures().collect();
    let total = edits.answer().edits.len();
    let mut text = match total - failures.len().min(total) {
        0 => "Nothing was written.\n".to_owned(),
        fitting => format!(
            "Nothing was written, because edits are applied together or not at all: {fitting} of {total} have a \
             place. Send all of them again, with these corrected.\n"
        ),
    };
    for failure in &failures {
        let _ = write!(text, "\n{failure}.");
        if let Part::Rejected { file, rejection, .. } = failure
            && matches!(rejection.reason, Reason::NoFile)
        {
            text.push_str(&nearest::sentence(root, &file.path));
        }
        let _ = write!(text, "\nhint: {}\n", failure.hint());
        if let Part::Rejected { rejection, .. } = failure
            && let Some(closest) = &rejection.closest
        {
            let percent = closest.score * 100.0;
            let end = closest.diff.floor_char_boundary(CLOSEST);
            let shown = &closest.diff[..end];
            let more = if end < closest.diff.len() { "\n…" } else { "" };
            let lines = closest.lines;
            let _ = writeln!(text, "The closest place is {lines}, {percent:.0} % alike:\n{shown}{more}");
        }
    }
    Failure::mistake(text)
}

/// Why a change that has its place was not written.
fn unwritten(error: &edits::Error) -> Failure {
    let text = format!("Nothing was written: {error}.\nhint: {}", error.hint());
    match error {
        edits::Error::Write(write::Error::Changed { .. } | write::Error::Path(_)) => Failure::mistake(text),
        _ => Failure::other(text),
    }
}
