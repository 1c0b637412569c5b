//! `reknit apply`: a model's edits to files.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use reknit::edit::{FileAction, Format, How, Parsed, Parser, Plan, Policy};
use reknit_compat::cline::Version;

use crate::ask;
use crate::diff;
use crate::outcome::{Outcome, Trouble};
use crate::pieces::{Pieces, Recut};
use crate::print::{print_bytes, print_json};
use crate::tell;
use crate::view::Terminal;

mod answer;
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
use json::{Contents, Summary};
use report::{explain_places, tell_failures, tell_no_edits};
use work::{Work, changes};

/// Put a model's edits where they belong in files, or say why they cannot be
#[derive(Args)]
#[command(after_help = "\
Examples:
  reknit apply answer.md                       show what changes below this directory, ask, write
  reknit apply --dry-run answer.md             the changes as a unified diff
  reknit apply --root src --yes answer.md      write without asking
  reknit apply --original a.rs answer.md       the new content of one file
  reknit apply --original a.rs --streaming …   as much of it as an unfinished answer tells
  reknit apply --dry-run --json answer.md      what becomes of each edit, as one JSON object

An edit that fits two places, or none, is an error, and then nothing is written or printed.
Exit code: 0 all is done, 1 some edits have no place, 2 wrong use or trouble, 130 interrupted")]
pub(crate) struct Arguments {
    /// The model's answer; standard input if it is `-` or left out
    answer: Option<PathBuf>,

    /// Edit this file, whatever the answer calls it, and print its new content
    #[arg(long, value_name = "FILE", conflicts_with_all = ["root", "yes"])]
    original: Option<PathBuf>,

    /// Edit the files below this directory
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,

    /// How the edits are written
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = parse_format)]
    format: Found,

    /// The loosest rung of the ladder that is tried
    #[arg(long, value_name = "RUNG", default_value = "distance", value_parser = parse_rung)]
    loosest: How,

    /// Apply what has a place, also if something else has none
    #[arg(long)]
    keep_going: bool,

    /// Print what would change as a unified diff, and write nothing
    #[arg(long, conflicts_with_all = ["yes", "streaming", "ndjson"])]
    dry_run: bool,

    /// Write without asking
    #[arg(long)]
    yes: bool,

    /// The answer is unfinished: print as much of the new content as it tells
    #[arg(long, requires = "original")]
    streaming: bool,

    /// Say of every edit where it landed and how, or what comes closest
    #[arg(long)]
    explain: bool,

    /// Print what becomes of each edit as one JSON object
    #[arg(long, conflicts_with = "ndjson")]
    json: bool,

    /// The same with a line for each file, or for each change with `--streaming`
    #[arg(long)]
    ndjson: bool,

    /// Apply the edits as Cline does, for comparison: cline-v1 or cline-v2
    #[arg(long, value_name = "NAME", requires = "original", value_parser = parse_profile)]
    #[arg(conflicts_with_all = ["format", "loosest", "keep_going", "dry_run", "explain", "json", "ndjson"])]
    profile: Option<Version>,

    /// Feed the answer cut at pseudo-random bytes, or `bytes` for one at a time
    #[arg(long, value_name = "SEED")]
    recut: Option<Recut>,
}

/// How the format is found.
#[derive(Clone, Copy)]
enum Found {
    Auto,
    Named(Format),
}

fn parse_format(name: &str) -> Result<Found, String> {
    match name {
        "auto" => Ok(Found::Auto),
        name => name.parse().map(Found::Named).map_err(|error| format!("{error}; {}", error.hint())),
    }
}

fn parse_rung(name: &str) -> Result<How, String> {
    name.parse::<How>().map_err(|error| format!("{error}; {}", error.hint()))
}

fn parse_profile(name: &str) -> Result<Version, String> {
    let version = Version::ALL.into_iter().find(|version| version.name() == name);
    version.ok_or_else(|| "use cline-v1 or cline-v2".to_owned())
}

impl Arguments {
    fn parser(&self) -> Parser {
        match self.format {
            Found::Auto => Parser::detect(),
            Found::Named(format) => Parser::new(format),
        }
    }

    fn policy(&self) -> Policy {
        Policy { loosest: self.loosest }
    }

    fn is_json(&self) -> bool {
        self.json || self.ndjson
    }
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
    /// Somebody is asked whether they are.
    Ask(Terminal),
}

impl Purpose {
    /// Decided before anything is read: who cannot be asked is told at once.
    fn of(arguments: &Arguments) -> Result<Self, Trouble> {
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
        terminal.map(Self::Ask).ok_or_else(ask::nobody)
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Trouble> {
    match (&arguments.original, arguments.profile) {
        (Some(file), Some(version)) => return cline::run(arguments, file, version),
        (Some(file), None) if arguments.streaming => return streaming::run(arguments, file),
        _ => {}
    }
    let purpose = Purpose::of(arguments)?;
    let Some(parsed) = read(arguments)? else { return Ok(Outcome::Interrupted) };
    if parsed.edits.is_empty() {
        print_summary(arguments, &Summary::of_none(parsed.format, &parsed.problems).with_reason())?;
        tell_no_edits(&parsed.problems, arguments.explain);
        return Ok(Outcome::Partly);
    }
    let work = Work::open(arguments, parsed)?;
    let plan = work.plan(&work.candidates());
    if arguments.explain {
        explain_places(&work, &plan);
    }
    let is_whole = work.is_whole(&plan);
    if !is_whole {
        tell_failures(&work, &plan, arguments.explain);
        if !arguments.keep_going {
            print_summary(arguments, &Summary::new(&work, &plan, Contents::Withheld))?;
            return Ok(Outcome::Partly);
        }
    }
    let done = act(arguments, &work, plan, purpose)?;
    Ok(if matches!(done, Outcome::Done) && !is_whole { Outcome::Partly } else { done })
}

/// Reads the whole answer; `None` if that was interrupted.
fn read(arguments: &Arguments) -> Result<Option<Parsed>, Trouble> {
    let mut answer = Answer::new(Pieces::open_raw(arguments.answer.as_deref(), arguments.recut)?);
    let mut parser = arguments.parser();
    while let Some(piece) = answer.next()? {
        parser.push(&piece);
    }
    Ok((!answer.is_interrupted()).then(|| parser.finish()))
}

fn act(arguments: &Arguments, work: &Work, plan: Plan, purpose: Purpose) -> Result<Outcome, Trouble> {
    match purpose {
        Purpose::Print | Purpose::Show if arguments.is_json() => {
            print_summary(arguments, &Summary::new(work, &plan, Contents::Told))?;
        }
        Purpose::Print => print_content(work, &plan)?,
        Purpose::Show => print_diff(work, &plan)?,
        Purpose::Ask(terminal) if plan.files.iter().any(changes) => {
            match Dialogue::open(terminal)?.decide(work, plan)? {
                Decision::Apply(plan) => drop(write::write(work, &plan)?),
                Decision::Nothing => {
                    tell(format_args!("nothing was written"));
                    return Ok(Outcome::Partly);
                }
                Decision::Interrupted => return Ok(Outcome::Interrupted),
            }
        }
        Purpose::Write | Purpose::Ask(_) => {
            let mut summary = Summary::new(work, &plan, Contents::Told);
            summary.entry = write::write(work, &plan)?;
            print_summary(arguments, &summary)?;
        }
    }
    Ok(Outcome::Done)
}

/// Prints the summary, if one was asked for.
fn print_summary(arguments: &Arguments, summary: &Summary<'_>) -> Result<(), Trouble> {
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

fn print_content(work: &Work, plan: &Plan) -> Result<(), Trouble> {
    for file in &plan.files {
        if file.action == FileAction::Delete {
            tell(format_args!("the answer deletes `{}`: it has no content", work.target.shown(&file.path)));
        } else {
            print_bytes(file.pieces(work.target.content(&file.path)))?;
        }
    }
    Ok(())
}

fn print_diff(work: &Work, plan: &Plan) -> Result<(), Trouble> {
    let terminal = Terminal::on_stdout();
    let mut out = BufWriter::new(io::stdout().lock());
    for file in plan.files.iter().filter(|file| changes(file)) {
        let (sides, diff) = work.diff(file);
        match terminal {
            Some(terminal) => diff::show(&mut out, terminal, sides, &diff)?,
            None => diff::write(&mut out, sides, &diff)?,
        }
    }
    Ok(out.flush()?)
}
