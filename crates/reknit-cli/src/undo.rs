//! `reknit undo`: undoes what was written.

use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::PathBuf;
use std::time::SystemTime;

use clap::Args;
use reknit_workspace::journal::Change;
use reknit_workspace::undo::{Conflicts, Error, Standing};
use reknit_workspace::{Entry, EntryId, Journal, RelPath, Root, Undo};
use serde::Serialize;

use crate::ask::{self, Key, Keyboard};
use crate::explain;
use crate::files::{announce_pruning, existing_journal, mention_signal, open_root, prune, recover};
use crate::interrupt::Writing;
use crate::log::ListedFile;
use crate::outcome::{CommandError, Outcome};
use crate::print::print_json;
use crate::print_message;
use crate::view::{Style, Terminal, sanitized};

mod shown;

/// Undo what `apply` and `run` wrote, byte for byte
#[derive(Args)]
#[command(after_help = "\
Examples:
  reknit undo                undo the last write below this directory; repeat for the one before
  reknit undo 12             undo entry 12 of `reknit log`, which may be an undo itself
  reknit undo --dry-run      show the changes as a unified diff
  reknit undo --yes          do not ask for confirmation

Files that have changed since are left alone, unless you confirm it or use `--force`.
Exit code: 0 undone, 1 not undone, or the report could not be printed, 2 usage or other error,
128 plus the number of a signal that came before anything was written")]
pub(crate) struct Arguments {
    /// Entry to undo; the last one that is not undone, if omitted
    #[arg(value_name = "ID")]
    entry: Option<EntryId>,

    /// Directory [default: that of the entry, or `.`]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,

    /// Print what would change as a unified diff, and write nothing
    #[arg(long, conflicts_with_all = ["yes", "force"])]
    dry_run: bool,

    /// Write without asking for confirmation
    #[arg(long)]
    yes: bool,

    /// Also undo files that have changed since
    #[arg(long)]
    force: bool,

    /// Undo the other files if some have changed since or cannot be restored
    #[arg(long, conflicts_with_all = ["force", "dry_run"])]
    skip: bool,

    /// Folder of the journal [default: `$XDG_STATE_HOME/reknit/journal`]
    #[arg(long, value_name = "DIR")]
    journal: Option<PathBuf>,

    /// Print the state of all files as one JSON object
    #[arg(long, conflicts_with = "ndjson")]
    json: bool,

    /// Print the state of each file, one JSON object per line
    #[arg(long)]
    ndjson: bool,
}

impl Arguments {
    fn is_json(&self) -> bool {
        self.json || self.ndjson
    }
}

/// What is to be undone, and where.
struct Subject {
    journal: Journal,
    root: Root,
    entry: Entry,
    standings: Vec<(RelPath, Standing)>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, CommandError> {
    let terminal = Terminal::on_stdout_or_coloured();
    let asked = ask::terminal().filter(|_| !arguments.is_json());
    let cannot_ask = asked.is_none() && !arguments.yes && !arguments.dry_run;
    // Without an answer nothing is written, also by a recovery.
    let manner = if arguments.dry_run || cannot_ask { Manner::Looks } else { Manner::Writes };
    let Some(subject) = find(arguments, manner)? else {
        print_message(format_args!(
            "error: nothing to undo\nhint: `reknit log --all` lists changes in other directories"
        ));
        explain::point_to([explain::UNDO]);
        return Ok(Outcome::Partly);
    };
    let mut out = BufWriter::new(io::stdout().lock());
    if subject.standings.iter().all(|(_, standing)| *standing == Standing::Already) {
        return nothing_left(arguments, &mut out, &subject);
    }
    if cannot_ask {
        return Err(ask::cannot_ask());
    }
    if arguments.dry_run {
        if arguments.is_json() {
            print_report(arguments, &mut out, &subject, None)?;
        } else {
            shown::print(&mut out, terminal, &subject)?;
            out.flush()?;
        }
        return Ok(Outcome::Done);
    }
    announce_pruning(&subject.journal, &subject.root, saved_bytes(&subject.entry))?;
    let conflicts = match asked.filter(|_| !arguments.yes) {
        None if arguments.force => Conflicts::Overwrite,
        None if arguments.skip => Conflicts::Skip,
        None => Conflicts::Refuse,
        Some(terminal) => {
            shown::print(&mut out, Some(terminal), &subject)?;
            match ask(&mut out, terminal, arguments, &subject)? {
                Decision::Undo(conflicts) => conflicts,
                Decision::Nothing => {
                    print_message(format_args!("nothing was written"));
                    return Ok(Outcome::Partly);
                }
                Decision::Interrupted => return Ok(Outcome::Interrupted),
            }
        }
    };
    let is_ready = |(_, standing): &(RelPath, Standing)| *standing == Standing::Ready;
    if conflicts == Conflicts::Skip && !subject.standings.iter().any(is_ready) {
        return nothing_left(arguments, &mut out, &subject);
    }
    undo(arguments, &mut out, &subject, conflicts)
}

/// At most how many bytes the journal has to save for the undo of an entry.
fn saved_bytes(entry: &Entry) -> u64 {
    let saved = entry.changes.iter().map(|change| match change {
        Change::Create { after, .. } | Change::Update { after, .. } => after.size,
        Change::Move { before, after, .. } if !after.same_content(before) => after.size,
        _ => 0,
    });
    saved.sum()
}

/// Says that an undo would change nothing. It is not written to the journal either.
fn nothing_left(
    arguments: &Arguments,
    out: &mut BufWriter<StdoutLock<'static>>,
    subject: &Subject,
) -> Result<Outcome, CommandError> {
    print_report(arguments, out, subject, None)?;
    let id = subject.entry.id;
    let why = if subject.standings.iter().all(|(_, standing)| *standing == Standing::Already) {
        "its files are as they were before it"
    } else {
        "its files have changed since, or cannot be restored"
    };
    print_message(format_args!(
        "error: nothing to undo in entry {id}: {why}\nhint: `reknit log` lists other entries, and `reknit undo ID` undoes one of them"
    ));
    explain::point_to([explain::UNDO]);
    Ok(Outcome::Partly)
}

/// Finds the entry and the state of its files; `None` if there is no entry.
fn find(arguments: &Arguments, manner: Manner) -> Result<Option<Subject>, CommandError> {
    let Some(journal) = existing_journal(arguments.journal.as_deref())? else { return Ok(None) };
    let (root, entry) = match (arguments.entry, &arguments.root) {
        (Some(id), root) => {
            let entry = journal.entry(id).map_err(Error::from)?;
            let root = open_root(root.as_ref().unwrap_or(&entry.root))?;
            manner.recover(&journal, &root)?;
            // It may have been recovered just now.
            let entry = journal.entry(id).map_err(Error::from)?;
            (root, Some(entry))
        }
        (None, root) => {
            let root = open_root(root.as_deref().unwrap_or(".".as_ref()))?;
            manner.recover(&journal, &root)?;
            // The next undo does not undo this one, but what was written before.
            let entry = journal.newest(&root).map_err(Error::from)?;
            (root, entry)
        }
    };
    let Some(entry) = entry else { return Ok(None) };
    let standings = Undo::of(entry.id).preview(&root, &journal)?;
    Ok(Some(Subject { journal, root, entry, standings }))
}

/// Whether anything may be written.
#[derive(Clone, Copy)]
enum Manner {
    Looks,
    Writes,
}

impl Manner {
    /// Finishes what was interrupted before.
    fn recover(self, journal: &Journal, root: &Root) -> Result<(), CommandError> {
        match self {
            Self::Looks => Ok(()),
            Self::Writes => recover(journal, root),
        }
    }
}

const YES_OR_NO: [Key; 2] =
    [Key { label: "[y]es", meaning: "restore the files" }, Key { label: "[n]o", meaning: "write nothing" }];

const ABOUT_CHANGED: [Key; 3] = [
    Key { label: "[o]verwrite the changed files", meaning: "what was changed since the entry is lost" },
    Key { label: "[s]kip them", meaning: "restore only the other files" },
    Key { label: "[n]o", meaning: "write nothing" },
];

enum Decision {
    Undo(Conflicts),
    Nothing,
    Interrupted,
}

/// Asks whether to write, and what to do about files that have changed since.
fn ask(
    out: &mut BufWriter<StdoutLock<'static>>,
    terminal: Terminal,
    arguments: &Arguments,
    subject: &Subject,
) -> Result<Decision, CommandError> {
    writeln!(out)?;
    let changed: Vec<_> =
        subject.standings.iter().filter(|(_, standing)| *standing == Standing::Changed).collect();
    for (path, standing) in &changed {
        let words = format!("`{path}`: {standing}");
        writeln!(out, "{}", terminal.paint(Style::Warning, &sanitized(&words)))?;
    }
    let keys = if changed.is_empty() || arguments.force { &YES_OR_NO[..] } else { &ABOUT_CHANGED[..] };
    let question = format!("Undo entry {}?", subject.entry.id);
    let mut keyboard = Keyboard::open()?;
    Ok(match keyboard.ask(out, terminal, &question, keys)? {
        Some('o') => Decision::Undo(Conflicts::Overwrite),
        Some('y') if arguments.force => Decision::Undo(Conflicts::Overwrite),
        Some('y') => Decision::Undo(Conflicts::Refuse),
        Some('s') => Decision::Undo(Conflicts::Skip),
        _ if keyboard.is_interrupted() => Decision::Interrupted,
        _ => Decision::Nothing,
    })
}

fn undo(
    arguments: &Arguments,
    out: &mut BufWriter<StdoutLock<'static>>,
    subject: &Subject,
    conflicts: Conflicts,
) -> Result<Outcome, CommandError> {
    let Subject { journal, root, entry, .. } = subject;
    let now = SystemTime::now();
    let writing = Writing::begin()?;
    let journal = &journal.clone().stop_on(writing.stop());
    let committed = match Undo::of(entry.id).conflicts(conflicts).commit(root, journal, now) {
        Ok(committed) => committed,
        Err(Error::Conflicts { entry, files }) => {
            let hint = hint_for(&files);
            let error = Error::Conflicts { entry, files };
            print_report(arguments, out, subject, None)?;
            print_message(format_args!("error: {error}\nhint: {hint}"));
            explain::point_to([explain::UNDO]);
            return Ok(Outcome::Partly);
        }
        Err(error) => return Err(error.into()),
    };
    for change in &committed.entry.changes {
        print_message(format_args!("{}", ListedFile::new(change).describe()));
    }
    for note in &committed.notes {
        print_message(format_args!("warning: {note}"));
    }
    mention_signal();
    print_message(format_args!("run `reknit undo {}` to reverse this", committed.entry.id));
    let printed = print_report(arguments, out, subject, Some(committed.entry.id));
    prune(journal, root, now);
    Ok(Outcome::of_written(printed))
}

/// What helps with files that cannot be undone.
fn hint_for(files: &[(RelPath, Standing)]) -> &'static str {
    let has = |wanted| files.iter().any(|(_, standing)| *standing == wanted);
    if has(Standing::Lost) {
        "`--skip` undoes the other files of the entry; the journal has lost the content of those"
    } else if has(Standing::Blocked) {
        "remove what is in the way, or use `--skip` to undo the other files of the entry"
    } else {
        "`--force` overwrites files that have changed since, `--skip` leaves them as they are"
    }
}

/// Prints the result, if it is wanted as JSON.
fn print_report(
    arguments: &Arguments,
    out: &mut BufWriter<StdoutLock<'static>>,
    subject: &Subject,
    entry: Option<EntryId>,
) -> Result<(), CommandError> {
    let report = report(subject, entry);
    if arguments.json {
        print_json(out, &report)?;
    } else if arguments.ndjson {
        for file in &report.files {
            print_json(out, &FileLine { entry, undoes: report.undoes, file })?;
        }
    }
    Ok(out.flush()?)
}

/// A file of the result, on a line of its own.
#[derive(Serialize)]
struct FileLine<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<EntryId>,
    undoes: EntryId,
    #[serde(flatten)]
    file: &'a FileReport<'a>,
}

/// The result, as JSON.
#[derive(Serialize)]
struct Report<'a> {
    /// The entry of the undo; absent if nothing was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<EntryId>,
    undoes: EntryId,
    files: Vec<FileReport<'a>>,
}

#[derive(Serialize)]
struct FileReport<'a> {
    path: &'a str,
    standing: &'static str,
}

fn report(subject: &Subject, entry: Option<EntryId>) -> Report<'_> {
    let files = subject.standings.iter().map(|(path, standing)| FileReport {
        path: path.as_str(),
        standing: match standing {
            Standing::Ready => "ready",
            Standing::Already => "already",
            Standing::Changed => "changed",
            Standing::Lost => "lost",
            _ => "blocked",
        },
    });
    Report { entry, undoes: subject.entry.id, files: files.collect() }
}
