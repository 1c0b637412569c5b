//! `reknit apply`: a model's edits to files.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use reknit::edit::{FileAction, FilePlan, Format, How, Parser, Plan};
use reknit_compat::cline::Version;
use reknit_workspace::{Edits, Root};

use crate::ask;
use crate::diff;
use crate::files::{open_journal, open_root, recover};
use crate::names::OneOf;
use crate::outcome::{CommandError, Outcome};
use crate::pieces::{Pieces, Recut};
use crate::print::{print_bytes, print_json};
use crate::print_message;
use crate::view::Terminal;

mod answer;
mod input;
mod target;
mod work;
mod report;
mod json;
mod dialogue;
mod streaming;
mod cline;
mod write;

use answer::Answer;
use dialogue::{Decision, Dialogue};
use input::Input;
use json::{Contents, Summary};
use report::{explain_places, report_cut, report_failures, report_no_edits, report_notes};
use target::Target;
use work::{Planned, Work};

/// Apply a model's edits to files, or explain why they cannot be applied
#[derive(Args)]
#[command(after_help = "\
Examples:
  reknit apply answer.md                       show the changes below this directory, ask, write
  reknit apply --dry-run answer.md             the changes as a unified diff
  reknit apply --root src --yes answer.md      write without asking
  reknit apply --original a.rs answer.md       the new content of one file
  reknit apply --original a.rs --streaming …   as much of it as an unfinished answer contains
  reknit apply --dry-run --json answer.md      the outcome of each edit, as one JSON object
  reknit read reply.sse --json | reknit apply  the edits in the text and in the calls of a reply

An edit that matches two places, or none, is an error, and nothing is written or printed.
Exit code: 0 all edits were applied, 1 some were not, or the report could not be printed,
2 usage or other error, 128 plus the number of a signal that came before anything was written")]
pub(crate) struct Arguments {
    /// Answer, or a stream, recording or `read --json` of it; standard input if `-` or omitted
    answer: Option<PathBuf>,

    /// Edit this file, whatever the answer calls it, and print its new content
    #[arg(long, value_name = "FILE", conflicts_with_all = ["root", "yes"])]
    original: Option<PathBuf>,

    /// Edit the files below this directory
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,

    /// Format of the edits
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = FORMATS)]
    format: Found,

    /// Most that a place may differ in from the search text
    #[arg(long, value_name = "HOW", default_value = "context", value_parser = RUNGS)]
    loosest: How,

    /// Apply the edits that match, even if others do not
    #[arg(long)]
    keep_going: bool,

    /// Print what would change as a unified diff, and write nothing
    #[arg(long, conflicts_with_all = ["yes", "streaming", "ndjson"])]
    dry_run: bool,

    /// Write without asking for confirmation
    #[arg(long)]
    yes: bool,

    /// Folder of the journal [default: `$XDG_STATE_HOME/reknit/journal`]
    #[arg(long, value_name = "DIR", conflicts_with_all = ["original", "dry_run"])]
    journal: Option<PathBuf>,

    /// Write without a journal: this cannot be undone
    #[arg(long, conflicts_with_all = ["original", "dry_run", "journal"])]
    no_journal: bool,

    /// The answer is unfinished: print as much of the new content as is known
    #[arg(long, requires = "original")]
    streaming: bool,

    /// Report where each edit was applied and how, or the closest place
    #[arg(long)]
    explain: bool,

    /// Print the outcome of each edit as one JSON object
    #[arg(long, conflicts_with = "ndjson")]
    json: bool,

    /// Print one JSON object per file, or per change with `--streaming`
    #[arg(long)]
    ndjson: bool,

    /// Apply the edits as Cline does, for comparison
    #[arg(long, value_name = "NAME", requires = "original", value_parser = VERSIONS)]
    #[arg(conflicts_with_all = ["format", "loosest", "keep_going", "dry_run", "explain", "json", "ndjson"])]
    profile: Option<Version>,

    /// Feed the answer cut at pseudo-random bytes, or `bytes` for single bytes
    #[arg(long, value_name = "SEED")]
    recut: Option<Recut>,
}

/// How the format is known.
#[derive(Clone, Copy)]
enum Found {
    Auto,
    Named(Format),
}

const FORMATS: OneOf<Found> = OneOf {
    names: || ["auto"].into_iter().chain(Format::ALL.map(Format::name)).collect(),
    parse: |name| match name {
        "auto" => Some(Found::Auto),
        name => Format::ALL.into_iter().find(|format| format.name() == name).map(Found::Named),
    },
};

const RUNGS: OneOf<How> = OneOf {
    names: || How::ALL.map(How::name).to_vec(),
    parse: |name| How::ALL.into_iter().find(|how| how.name() == name),
};

const VERSIONS: OneOf<Version> = OneOf {
    names: || Version::ALL.map(Version::name).to_vec(),
    parse: |name| Version::ALL.into_iter().find(|version| version.name() == name),
};

impl Arguments {
    fn parser(&self) -> Parser {
        match self.format {
            Found::Auto => Parser::detect(),
            Found::Named(format) => Parser::new(format),
        }
    }

    fn is_json(&self) -> bool {
        self.json || self.ndjson
    }
}

/// Where the edits go.
enum Place<'a> {
    File(&'a Path),
    Below(Root),
}

/// What is done with a plan.
#[derive(Clone, Copy)]
enum Purpose {
    /// The new content is printed.
    Print,
    /// A diff is printed.
    Show,
    /// The files are written.
    Write,
    /// The user is asked whether they are.
    Ask(Terminal),
}

impl Purpose {
    /// Decided before anything is read, so that an error comes at once if the user cannot be asked.
    fn of(arguments: &Arguments) -> Result<Self, CommandError> {
        if arguments.dry_run {
            return Ok(Self::Show);
        }
        if arguments.original.is_some() {
            return Ok(Self::Print);
        }
        if arguments.yes {
            return Ok(Self::Write);
        }
        let terminal = ask::terminal().filter(|_| !arguments.is_json());
        terminal.map(Self::Ask).ok_or_else(ask::cannot_ask)
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, CommandError> {
    match (&arguments.original, arguments.profile) {
        (Some(file), Some(version)) => return cline::run(arguments, file, version),
        (Some(file), None) if arguments.streaming => return streaming::run(arguments, file),
        _ => {}
    }
    // Before anything is read, so that a wrong directory is an error at once.
    let place = match &arguments.original {
        Some(file) => Place::File(file),
        None => Place::Below(open_root(&arguments.root)?),
    };
    let purpose = Purpose::of(arguments)?;
    let Some(Input { parsed, is_cut }) = read(arguments)? else { return Ok(Outcome::Interrupted) };
    if parsed.edits.is_empty() {
        print_summary(arguments, &Summary::of_none(parsed.format, &parsed.problems).with_reason())?;
        report_no_edits(&parsed.problems, arguments.explain);
        return Ok(Outcome::Partly);
    }
    let target = match &place {
        Place::File(file) => Target::one(file, parsed)?,
        Place::Below(root) => {
            if matches!(purpose, Purpose::Write | Purpose::Ask(_)) && !arguments.no_journal {
                recover(&open_journal(arguments.journal.as_deref())?, root)?;
            }
            Target::Below(Edits::read(root, parsed))
        }
    };
    let work = Work { target, loosest: arguments.loosest };
    let planned = work.plan();
    if arguments.explain {
        explain_places(&work, planned.plan());
    } else {
        report_notes(&work, planned.plan());
    }
    let is_whole = work.is_whole(&planned) && !is_cut;
    if !is_whole {
        report_failures(&work, planned.plan(), arguments.explain);
        if is_cut {
            report_cut();
        }
        if !arguments.keep_going {
            print_summary(arguments, &Summary::new(&work, planned.plan(), Contents::Omitted))?;
            return Ok(Outcome::Partly);
        }
    }
    let done = act(arguments, &work, planned, purpose)?;
    Ok(if matches!(done, Outcome::Done) && !is_whole { Outcome::Partly } else { done })
}

/// Reads the whole answer, from its text or from the messages of a reply; `None` if that was interrupted.
fn read(arguments: &Arguments) -> Result<Option<Input>, CommandError> {
    let pieces = match arguments.format {
        Found::Auto => Pieces::open(arguments.answer.as_deref(), arguments.recut)?,
        Found::Named(_) => Pieces::open_raw(arguments.answer.as_deref(), arguments.recut)?,
    };
    let mut answer = Answer::new(pieces);
    let mut parser = arguments.parser();
    let mut text = String::new();
    while let Some(piece) = answer.next()? {
        parser.push(&piece);
        text.push_str(&piece);
    }
    if answer.is_interrupted() {
        return Ok(None);
    }
    let messages = match arguments.format {
        Found::Auto => Input::of_messages(text.as_bytes()),
        Found::Named(_) => None,
    };
    Ok(Some(messages.unwrap_or_else(|| Input { parsed: parser.finish(), is_cut: false })))
}

fn act(
    arguments: &Arguments,
    work: &Work<'_>,
    planned: Planned<'_>,
    purpose: Purpose,
) -> Result<Outcome, CommandError> {
    match (purpose, planned) {
        (Purpose::Print | Purpose::Show, planned) if arguments.is_json() => {
            print_summary(arguments, &Summary::new(work, planned.plan(), Contents::Included))?;
        }
        (Purpose::Show, planned) => print_diff(work, planned.plan())?,
        (Purpose::Print, planned) | (_, planned @ Planned::One(_)) => print_content(work, planned.plan())?,
        (Purpose::Ask(terminal), Planned::Below(draft))
            if draft.plan().files.iter().any(FilePlan::changes) =>
        {
            write::announce_pruning(arguments, &draft)?;
            match Dialogue::open(terminal)?.decide(work, draft)? {
                Decision::Apply(draft) => drop(write::write(arguments, work, &draft)?),
                Decision::Nothing => {
                    print_message(format_args!("nothing was written"));
                    return Ok(Outcome::Partly);
                }
                Decision::Interrupted => return Ok(Outcome::Interrupted),
            }
        }
        (Purpose::Write | Purpose::Ask(_), Planned::Below(draft)) => {
            // A file that is only moved is not read for a report that nobody wants.
            let contents = if arguments.is_json() { Contents::Included } else { Contents::Omitted };
            let mut summary = Summary::new(work, draft.plan(), contents);
            write::announce_pruning(arguments, &draft)?;
            summary.entry = write::write(arguments, work, &draft)?;
            return Ok(Outcome::of_written(print_summary(arguments, &summary)));
        }
    }
    Ok(Outcome::Done)
}

/// Prints the summary, if one was asked for.
fn print_summary(arguments: &Arguments, summary: &Summary<'_>) -> Result<(), CommandError> {
    let mut out = BufWriter::new(io::stdout().lock());
    if arguments.json {
        print_json(&mut out, summary)?;
    } else if arguments.ndjson {
        for line in summary.lines() {
            print_json(&mut out, &line)?;
        }
    }
    Ok(out.flush()?)
}

fn print_content(work: &Work<'_>, plan: &Plan) -> Result<(), CommandError> {
    for file in &plan.files {
        if file.action == FileAction::Delete {
            print_message(format_args!(
                "the answer deletes `{}`: it has no content",
                work.target.shown(&file.path)
            ));
        } else {
            print_bytes(file.pieces(work.target.content(&file.path).unwrap_or_default()))?;
        }
    }
    Ok(())
}

fn print_diff(work: &Work<'_>, plan: &Plan) -> Result<(), CommandError> {
    let terminal = Terminal::on_stdout_or_coloured();
    let mut out = BufWriter::new(io::stdout().lock());
    for file in plan.files.iter().filter(|file| file.changes()) {
        let (sides, diff) = work.diff(file);
        match terminal {
            Some(terminal) => diff::show(&mut out, terminal, sides, &diff)?,
            None => diff::write(&mut out, sides, &diff)?,
        }
    }
    Ok(out.flush()?)
}
