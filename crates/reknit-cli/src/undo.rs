//! `reknit undo`: undoes what was written.

use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::PathBuf;
use std::time::SystemTime;

use clap::Args;
use reknit_workspace::undo::{Conflicts, Error, Standing};
use reknit_workspace::{Entry, EntryId, Journal, RelPath, Root, Undo};
use serde::Serialize;

use crate::ask::{self, Keyboard};
use crate::explain;
use crate::files::{mention_signal, open_journal, open_root, prune, recover};
use crate::interrupt::Writing;
use crate::log::ListedFile;
use crate::outcome::{CommandError, Outcome};
use crate::print::print_json;
use crate::print_message;
use crate::view::{Style, Terminal, sanitized};

mod shown;

/// Undo what `apply` wrote, byte for byte
#[derive(Args)]
#[command(after_help = "\
Examples:
  reknit undo                undo the last write below this directory; repeat for the one before
  reknit undo 12             undo entry 12 of `reknit log`, which may be an undo itself
  reknit undo --dry-run      show the changes as a unified diff
  reknit undo --yes          do not ask for confirmation

Files that have changed since are left alone, unless you confirm it or use `--force`.
Exit code: 0 undone, 1 not undone, 2 usage or other error, 128 plus the number of a signal")]
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

    /// Folder of the journal [default: in the user's state folder]
    #[arg(long, value_name = "DIR")]
    journal: Option<PathBuf>,

    /// Print the state of each file as one JSON object
    #[arg(long)]
    json: bool,
}

/// What is to be undone, and where.
struct Subject {
    journal: Journal,
    root: Root,
    entry: Entry,
    standings: Vec<(RelPath, Standing)>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, CommandError> {
    let terminal = Terminal::on_stdout();
    let asked = ask::terminal().filter(|_| !arguments.json);
    if asked.is_none() && !arguments.yes && !arguments.dry_run {
        return Err(ask::cannot_ask());
    }
    let Some(subject) = find(arguments)? else {
        print_message(format_args!(
            "error: nothing to undo\nhint: `reknit log --all` lists changes in other directories"
        ));
        explain::point_to([explain::UNDO]);
        return Ok(Outcome::Partly);
    };
    let mut out = BufWriter::new(io::stdout().lock());
    if arguments.dry_run {
        if arguments.json {
            print_json(&mut out, &report(&subject, None))?;
        } else {
            shown::print(&mut out, terminal, &subject)?;
        }
        out.flush()?;
        return Ok(Outcome::Done);
    }
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
    undo(arguments, &mut out, &subject, conflicts)
}

/// Finds the entry and the state of its files; `None` if there is no entry.
fn find(arguments: &Arguments) -> Result<Option<Subject>, CommandError> {
    let journal = open_journal(arguments.journal.as_deref())?;
    let (root, entry) = match (arguments.entry, &arguments.root) {
        (Some(id), root) => {
            let entry = journal.entry(id).map_err(Error::from)?;
            let root = open_root(root.as_ref().unwrap_or(&entry.root))?;
            recover_unless_dry(arguments, &journal, &root);
            // It may have been recovered just now.
            let entry = journal.entry(id).map_err(Error::from)?;
            (root, Some(entry))
        }
        (None, root) => {
            let root = open_root(root.as_deref().unwrap_or(".".as_ref()))?;
            recover_unless_dry(arguments, &journal, &root);
            // The next undo does not undo this one, but what was written before.
            let entry = journal.newest(&root).map_err(Error::from)?;
            (root, entry)
        }
    };
    let Some(entry) = entry else { return Ok(None) };
    let standings = Undo::of(entry.id).preview(&root, &journal)?;
    Ok(Some(Subject { journal, root, entry, standings }))
}

fn recover_unless_dry(arguments: &Arguments, journal: &Journal, root: &Root) {
    if !arguments.dry_run {
        recover(journal, root);
    }
}

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
    let (choices, letters) = if changed.is_empty() || arguments.force {
        ("[y]es, [n]o", &['y', 'n'][..])
    } else {
        ("[o]verwrite the changed files, [s]kip them, [n]o", &['o', 's', 'n'][..])
    };
    let question = format!("Undo entry {}? {choices}:", subject.entry.id);
    let mut keyboard = Keyboard::open()?;
    Ok(match keyboard.ask(out, &terminal.paint(Style::Strong, &question), letters)? {
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
            if arguments.json {
                print_json(out, &report(subject, None))?;
                out.flush()?;
            }
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
    if arguments.json {
        print_json(out, &report(subject, Some(committed.entry.id)))?;
        out.flush()?;
    }
    prune(journal, root, now);
    Ok(Outcome::Done)
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
