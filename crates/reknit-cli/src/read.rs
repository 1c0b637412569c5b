//! `reknit read`: a provider's stream to the message in it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use reknit::message::Status;
use reknit::reply::Error;
use reknit::{Dialect, Message, Reply};

use crate::explain;
use crate::outcome::{Outcome, Trouble};
use crate::pieces::{Pieces, Recut};
use crate::record::Recorder;
use crate::tell;
use crate::tools;

mod output;
mod tagged;
mod events;
mod flow;
mod live;

use output::Output;

/// Turn a provider's stream into the message it holds, live
#[derive(Args)]
#[command(after_help = "\
Examples:
  curl -N … | reknit read                      the text, as it arrives
  curl -N … | reknit read --json               the whole message as one JSON object
  curl -N … | reknit read --ndjson             every change as a line of JSON
  curl -N … | reknit read --events             what `chunks` reads, as lines of JSON
  reknit read --as native --json reply.sse     the message in the provider's own form
  curl -N … | reknit read --record new.rec     the same, kept with its cuts and times
  reknit read new.rec                          what was recorded, read again

An interrupt (Ctrl-C) ends the input: what came is printed, as a message that is cut.
Exit code: 0 the message is whole, 1 it was cut or failed, 2 wrong use or trouble, 130 interrupted")]
pub(crate) struct Arguments {
    /// The stream or a recording of it; standard input if it is `-` or left out
    file: Option<PathBuf>,

    /// The dialect of the stream
    #[arg(long, value_name = "DIALECT", default_value = "auto", value_parser = from_dialect)]
    from: From,

    /// The form: neutral, or native for the provider's own
    #[arg(long = "as", value_name = "FORM", value_enum, default_value_t = Form::Neutral)]
    #[arg(hide_possible_values = true)]
    form: Form,

    /// Print every message of the stream, as an array, instead of the last one
    #[arg(long)]
    all: bool,

    /// Find calls and thinking in texts, as a profile of `tools` does
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    tools: Option<String>,

    /// Print the message as one JSON object
    #[arg(long, conflicts_with = "ndjson")]
    json: bool,

    /// Print every change as it comes, one JSON object a line
    #[arg(long)]
    ndjson: bool,

    /// Print the agent events of the reply as they come, one JSON object a line
    #[arg(long, conflicts_with_all = ["json", "ndjson", "all"])]
    events: bool,

    /// Feed the input cut at pseudo-random bytes, or `bytes` for one byte at a time
    #[arg(long, value_name = "SEED")]
    recut: Option<Recut>,

    /// Keep what is read in a new file, with its cuts and times, for `replay`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// Where the dialect comes from.
#[derive(Clone, Copy)]
enum From {
    Found,
    Named(Dialect),
}

fn from_dialect(name: &str) -> Result<From, String> {
    match name {
        "auto" => Ok(From::Found),
        name => name
            .parse()
            .map(From::Named)
            .map_err(|error: reknit::wire::UnknownName| format!("{error}; {}, or auto", error.hint())),
    }
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Form {
    Neutral,
    Native,
}

/// Nothing, if a dialect has the form that is asked for.
fn native_or_trouble(dialect: Dialect) -> Result<(), Trouble> {
    if dialect.has_native() {
        return Ok(());
    }
    let what = anyhow::anyhow!("`{dialect}` has no form of its own for a whole reply, only the stream");
    let trouble = Trouble::with_hint(what, "leave out `--as native`");
    Err(trouble.explained_as(explain::WRONG_USE))
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Trouble> {
    if (arguments.ndjson || arguments.events) && arguments.form == Form::Native {
        let (option, lines) = if arguments.events { ("--events", "events") } else { ("--ndjson", "changes") };
        let what = anyhow::anyhow!("`{option}` prints {lines}, which the provider's own form does not have");
        let hint = format!("use `--as native --json`, or `{option}` alone");
        return Err(Trouble::with_hint(what, hint).explained_as(explain::WRONG_USE));
    }
    if arguments.tools.is_some() && arguments.form == Form::Native {
        let what =
            anyhow::anyhow!("`--tools` looks into texts, which the provider's own form keeps as they are");
        let trouble = Trouble::with_hint(what, "use `--tools` without `--as native`");
        return Err(trouble.explained_as(explain::WRONG_USE));
    }
    if let (From::Named(dialect), Form::Native) = (arguments.from, arguments.form) {
        native_or_trouble(dialect)?;
    }
    let tags = arguments.tools.as_deref().map(tools::named).transpose()?;
    let mut output = Output::new(arguments, tags)?;
    let mut reply = match arguments.from {
        From::Found => Reply::detect(),
        From::Named(dialect) => Reply::new(dialect),
    };
    if arguments.form == Form::Native {
        reply = reply.with_native();
    }
    let mut pieces = Pieces::open(arguments.file.as_deref(), arguments.recut)?;
    let mut recorder = match (&arguments.record, arguments.from) {
        (None, _) => None,
        (Some(path), From::Found) => Some(Recorder::create(path, None)?),
        (Some(path), From::Named(dialect)) => Some(Recorder::create(path, Some(dialect))?),
    };
    let mut broken = None;
    loop {
        let at = output.wait(&mut pieces)?;
        match pieces.next() {
            Ok(Some(piece)) => {
                if let Some(Err(trouble)) = recorder.as_mut().map(|recorder| recorder.take(piece)) {
                    broken = Some(trouble);
                }
                output.show(reply.push(piece), at)?;
            }
            Ok(None) => break,
            // What came before the trouble is shown all the same.
            Err(error) => {
                broken = Some(error);
                break;
            }
        }
        // A recording has all of it, above all of what could not be read.
        if broken.is_some() || (reply.error().is_some() && recorder.is_none()) {
            break;
        }
    }
    output.show(reply.finish(), pieces.at())?;
    if let Some(trouble) = broken {
        output.end(reply)?;
        return Err(trouble);
    }
    if pieces.is_interrupted() {
        let is_whole = reply.message().status() == Status::Stopped;
        output.interrupt(reply)?;
        if !is_whole {
            tell(format_args!("error: interrupted before the message ended: it is cut"));
        }
        return Ok(Outcome::Interrupted);
    }
    let outcome = close(reply, arguments, &mut output);
    match pieces.problem() {
        Some(problem) => {
            tell(format_args!("error: {}\nhint: {}", problem.message, problem.hint()));
            explain::point_to([problem.kind.name()]);
            outcome.map(|_| Outcome::Partly)
        }
        None => outcome,
    }
}

/// Says how the reading went, behind what is to be printed then.
fn close(reply: Reply, arguments: &Arguments, output: &mut Output) -> Result<Outcome, Trouble> {
    if let Some(error @ (Error::UnknownDialect { .. } | Error::WrongDialect { .. } | Error::NoFrame { .. })) =
        reply.error()
    {
        output.clear()?;
        let trouble = Trouble::with_hint(anyhow::anyhow!("{error}"), error.hint());
        return Err(trouble.explained_as(error.kind().name()));
    }
    // Each with the kind that it is explained under.
    let mut words = Vec::new();
    if let Some(error) = reply.error() {
        // What came before the limit was read: that is how far this could be done.
        words.push((format!("error: {error}\nhint: {}", error.hint()), error.kind().name()));
    } else {
        words.extend(reply.messages().filter_map(how_it_ended));
    }
    let outcome = if words.is_empty() { Outcome::Done } else { Outcome::Partly };
    let in_the_output = arguments.ndjson || (arguments.json && arguments.form == Form::Neutral);
    if !in_the_output {
        // The error is a diagnostic too, and was told.
        let told = reply.error().map(ToString::to_string);
        let noticed = reply.messages().flat_map(Message::diagnostics);
        let noticed = noticed.filter(|odd| told.as_ref() != Some(&odd.message));
        words.extend(noticed.map(|odd| {
            let told = format!("warning: byte {}: {}\nhint: {}", odd.at, odd.message, odd.hint());
            (told, odd.kind.name())
        }));
    }
    let printed = output.end(reply);
    words.iter().take(MOST_TOLD).for_each(|(words, _)| tell(format_args!("{words}")));
    if words.len() > MOST_TOLD {
        tell(format_args!("and {} more; `--json --all` has them all", words.len() - MOST_TOLD));
    }
    explain::point_to(words.iter().take(MOST_TOLD).map(|(_, kind)| *kind));
    printed.map(|()| outcome)
}

/// How many errors and warnings are told one by one.
const MOST_TOLD: usize = 10;

fn how_it_ended(message: &Message) -> Option<(String, &'static str)> {
    match message.status() {
        Status::Stopped => None,
        Status::Failed => {
            let failure = message.failure()?;
            let kind = failure.kind.as_ref().map_or(String::new(), |kind| format!("{kind}: "));
            Some((format!("error: the provider reports: {kind}{}", failure.message), explain::FAILED))
        }
        Status::Waiting | Status::Streaming | Status::Cut => {
            let told =
                "error: the stream ended before the message did: it is cut\nhint: ask for the reply again";
            Some((told.to_owned(), explain::CUT))
        }
    }
}
