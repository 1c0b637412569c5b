//! `reknit undo`: what was written is taken back.

use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::PathBuf;
use std::time::SystemTime;

use clap::Args;
use reknit_workspace::undo::{Conflicts, Error, Standing};
use reknit_workspace::{Entry, EntryId, Journal, RelPath, Root, Undo};
use serde::Serialize;

use crate::ask::{self, Keyboard};
use crate::explain;
use crate::files::{open_journal, open_root, prune};
use crate::log::ListedFile;
use crate::outcome::{Outcome, Trouble};
use crate::print::print_json;
use crate::tell;
use crate::view::{Style, Terminal, harmless};

mod shown;

/// Take back what `apply` wrote, byte for byte
#[derive(Args)]
#[command(after_help = "\
Examples:
  reknit undo                what was written last below this directory; again: what came before
  reknit undo 12             entry 12 of `reknit log`, be it an undo itself
  reknit undo --dry-run      the changes as a unified diff
  reknit undo --yes          without asking

A file that somebody changed since is not touched, unless you say so or use `--force`.
Exit code: 0 it is undone, 1 it is not, 2 wrong use or trouble, 130 interrupted")]
pub(crate) struct Arguments {
    /// The entry; the last one that is not undone, if it is left out
    #[arg(value_name = "ID")]
    entry: Option<EntryId>,

    /// The directory [default: that of the entry, or `.`]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,

    /// Print what would change as a unified diff, and write nothing
    #[arg(long, conflicts_with_all = ["yes", "force"])]
    dry_run: bool,

    /// Write without asking
    #[arg(long)]
    yes: bool,

    /// Also undo files that were changed since
    #[arg(long)]
    force: bool,

    /// Print what becomes of each file as one JSON object
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

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Trouble> {
    let terminal = Terminal::on_stdout();
    let asked = ask::terminal().filter(|_| !arguments.json);
    if asked.is_none() && !arguments.yes && !arguments.dry_run {
        return Err(ask::nobody());
    }
    let Some(subject) = find(arguments)? else {
        tell(format_args!(
            "error: there is nothing to undo\nhint: `reknit log --all` lists what was changed elsewhere"
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
        None => Conflicts::Refuse,
        Some(terminal) => {
            shown::print(&mut out, Some(terminal), &subject)?;
            match ask(&mut out, terminal, arguments, &subject)? {
                Decision::Undo(conflicts) => conflicts,
                Decision::Nothing => {
                    tell(format_args!("nothing was written"));
                    return Ok(Outcome::Partly);
                }
                Decision::Interrupted => return Ok(Outcome::Interrupted),
            }
        }
    };
    undo(arguments, &mut out, &subject, conflicts)
}

/// Finds the entry and looks at its files; `None` if there is no entry.
fn find(arguments: &Arguments) -> Result<Option<Subject>, Trouble> {
    let journal = open_journal()?;
    let (root, entry) = match (arguments.entry, &arguments.root) {
        (Some(id), root) => {
            let entry = journal.entry(id).map_err(Error::from)?;
            (open_root(root.as_ref().unwrap_or(&entry.root))?, Some(entry))
        }
        (None, root) => {
            let root = open_root(root.as_deref().unwrap_or(".".as_ref()))?;
            let log = journal.log()?;
            // An undo is not undone by the next one: that goes on to what was written before.
            let is_next = |entry: &&Entry| {
                entry.root == root.path() && entry.undoes.is_none() && log.undone_by(entry.id).is_none()
            };
            let entry = log.entries.iter().find(is_next).cloned();
            (root, entry)
        }
    };
    let Some(entry) = entry else { return Ok(None) };
    let standings = Undo::of(entry.id).preview(&root, &journal)?;
    Ok(Some(Subject { journal, root, entry, standings }))
}

enum Decision {
    Undo(Conflicts),
    Nothing,
    Interrupted,
}

/// Asks whether to write, and what to do about files that were changed since.
fn ask(
    out: &mut BufWriter<StdoutLock<'static>>,
    terminal: Terminal,
    arguments: &Arguments,
    subject: &Subject,
) -> Result<Decision, Trouble> {
    writeln!(out)?;
    let changed: Vec<_> =
        subject.standings.iter().filter(|(_, standing)| *standing == Standing::Changed).collect();
    for (path, standing) in &changed {
        let words = format!("`{path}`: {standing}");
        writeln!(out, "{}", terminal.paint(Style::Odd, &harmless(&words)))?;
    }
    let (choices, letters) = if changed.is_empty() || arguments.force {
        ("[y]es, [n]o", &['y', 'n'][..])
    } else {
        ("[o]verwrite what was changed, [s]kip it, [n]o", &['o', 's', 'n'][..])
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
) -> Result<Outcome, Trouble> {
    let Subject { journal, root, entry, .. } = subject;
    let now = SystemTime::now();
    let committed = match Undo::of(entry.id).conflicts(conflicts).commit(root, journal, now) {
        Ok(committed) => committed,
        Err(error @ Error::Conflicts { .. }) => {
            if arguments.json {
                print_json(out, &report(subject, None))?;
                out.flush()?;
            }
            tell(format_args!("error: {error}\nhint: `--force` overwrites what was changed since"));
            explain::point_to([explain::UNDO]);
            return Ok(Outcome::Partly);
        }
        Err(error) => return Err(error.into()),
    };
    for change in &committed.entry.changes {
        tell(format_args!("{}", ListedFile::new(change).deed()));
    }
    for note in &committed.notes {
        tell(format_args!("warning: {note}"));
    }
    tell(format_args!("`reknit undo {}` brings it back", committed.entry.id));
    if arguments.json {
        print_json(out, &report(subject, Some(committed.entry.id)))?;
        out.flush()?;
    }
    prune(journal, now);
    Ok(Outcome::Done)
}

/// What became of an entry, as JSON.
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
