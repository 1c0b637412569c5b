//! `reknit log`: what was written below a directory, and whether it was undone.

use reknit::Hint;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use reknit_workspace::journal::{Change, State};
use reknit_workspace::{Entry, EntryId};
use serde::Serialize;

use crate::explain;
use crate::files::{existing_journal, open_root, recover};
use crate::outcome::{CommandError, Outcome};
use crate::print::print_json;
use crate::print_message;
use crate::view::one_line;

mod time;

pub(crate) use time::Time;

/// List what `apply`, `run` and `undo` changed, newest first
#[derive(Args)]
#[command(after_help = "\
Examples:
  reknit log             the last 20 changes below this directory
  reknit log -n 100      the last 100
  reknit log --all       changes in all directories
  reknit log --json      the same as one JSON object
  reknit undo 12         undo entry 12

Exit code: 0 all entries listed, 1 some are damaged or still unfinished, 2 usage or other error")]
pub(crate) struct Arguments {
    /// Directory
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,

    /// List changes in all directories
    #[arg(long, conflicts_with = "root")]
    all: bool,

    /// List this many changes
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 20)]
    number: usize,

    /// Folder of the journal [default: `$XDG_STATE_HOME/reknit/journal`]
    #[arg(long, value_name = "DIR")]
    journal: Option<PathBuf>,

    /// Print the entries as one JSON object
    #[arg(long, conflicts_with = "ndjson")]
    json: bool,

    /// Print the entries, one JSON object per line
    #[arg(long)]
    ndjson: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, CommandError> {
    // An error about the directory comes first.
    let root = if arguments.all { None } else { Some(open_root(&arguments.root)?) };
    let mut is_whole = true;
    let log = match (existing_journal(arguments.journal.as_deref())?, root) {
        (None, _) => None,
        (Some(journal), None) => Some(journal.log_of_all(arguments.number)?),
        (Some(journal), Some(root)) => {
            if let Err(error) = recover(&journal, &root) {
                error.report();
                is_whole = false;
            }
            Some(journal.log(&root, arguments.number)?)
        }
    };
    let (entries, damaged) = log.map_or_else(Default::default, |log| (log.entries, log.damaged));
    let entries: Vec<_> = entries.iter().map(Listed::new).collect();
    let mut out = BufWriter::new(io::stdout().lock());
    if arguments.json {
        print_json(&mut out, &Listing { entries })?;
    } else if arguments.ndjson {
        for entry in &entries {
            print_json(&mut out, entry)?;
        }
    } else {
        for entry in &entries {
            out.write_all(entry.shown(arguments.all).as_bytes())?;
        }
        if entries.is_empty() {
            let hint = if arguments.all { "" } else { "; `--all` lists changes in other directories" };
            print_message(format_args!("no changes{hint}"));
        }
    }
    out.flush()?;
    for damage in &damaged {
        print_message(format_args!("error: {damage}\nhint: {}", damage.hint()));
    }
    if !damaged.is_empty() {
        explain::point_to([explain::WRITE]);
        is_whole = false;
    }
    Ok(if is_whole { Outcome::Done } else { Outcome::Partly })
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

#[derive(Serialize)]
struct Listing<'a> {
    entries: Vec<Listed<'a>>,
}

/// An entry as it is listed.
#[derive(Serialize)]
struct Listed<'a> {
    id: EntryId,
    at: Time,
    root: &'a Path,
    label: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    undoes: Option<EntryId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    undone_by: Option<EntryId>,
    /// Whether it is being written, or was interrupted.
    #[serde(skip_serializing_if = "is_false")]
    unfinished: bool,
    files: Vec<ListedFile<'a>>,
}

/// What was done to a file.
#[derive(Serialize)]
pub(crate) struct ListedFile<'a> {
    path: &'a str,
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'a str>,
}

impl<'a> Listed<'a> {
    fn new(entry: &'a Entry) -> Self {
        let undone_by = match entry.state {
            State::Undone { by } => Some(by),
            _ => None,
        };
        Self {
            id: entry.id,
            at: Time(entry.at),
            root: &entry.root,
            label: &entry.label,
            undoes: entry.undoes,
            undone_by,
            unfinished: entry.state == State::Unfinished,
            files: entry.changes.iter().map(ListedFile::new).collect(),
        }
    }

    /// The lines of the entry.
    fn shown(&self, with_root: bool) -> String {
        let what = match self.undoes {
            Some(id) => format!("undo of {id}"),
            None => one_line(self.label).into_owned(),
        };
        let unfinished = if self.unfinished { ", unfinished" } else { "" };
        let undone = self.undone_by.map_or_else(String::new, |id| format!(", undone by {id}"));
        let root = if with_root {
            format!(", below `{}`", one_line(&self.root.to_string_lossy()))
        } else {
            String::new()
        };
        let mut shown = format!("{}  {:#}  {what}{unfinished}{undone}{root}\n", self.id, self.at);
        for file in &self.files {
            shown += &format!("    {}\n", file.describe());
        }
        shown
    }
}

impl<'a> ListedFile<'a> {
    pub(crate) fn new(change: &'a Change) -> Self {
        let path = change.path().as_str();
        let (action, to) = match change {
            Change::Create { .. } => ("create", None),
            Change::Delete { .. } => ("delete", None),
            Change::Move { to, .. } => ("move", Some(to.as_str())),
            _ => ("update", None),
        };
        Self { path, action, to }
    }

    /// What was done, as a line.
    pub(crate) fn describe(&self) -> String {
        // A name may contain line feeds, which must not look like other lines.
        let path = one_line(self.path);
        match (self.action, self.to) {
            (_, Some(to)) => format!("moved `{path}` to `{}`", one_line(to)),
            (action, None) => format!("{action}d `{path}`"),
        }
    }
}
