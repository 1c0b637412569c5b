//! `reknit read`: a provider's stream to the message in it, or many of them.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use reknit::tags::{Grammar, Tagger, profile};
use reknit::{Dialect, Reply};

use crate::explain;
use crate::names::OneOf;
use crate::outcome::{CommandError, Outcome};
use crate::pieces::Recut;
use crate::tools;

mod inputs;
mod look;
mod ending;
mod one;
mod progress;
mod in_order;
mod several;

use inputs::Inputs;

/// Turn a provider's stream into the message it contains, live
#[derive(Args)]
#[command(after_help = "\
Examples:
  curl -N … | reknit read                      the reply, as it arrives
  curl -N … | reknit read --text               its text, and nothing else
  curl -N … | reknit read --json               the whole message as one JSON object
  curl -N … | reknit read --ndjson             every change as a line of JSON
  curl -N … | reknit read --record new.rec     record the stream, with its cuts and times
  reknit read --as native --json reply.sse     the message in the provider's own form
  reknit read recordings/                      how each of many replies ended, and a summary
  reknit read --json a.sse b.sse               a line with `path` and `message` for each file

Ctrl-C or SIGTERM ends the input; what has arrived is printed as a message that is cut.
Exit code: 0 the message is complete, 1 it failed, or it or a call in its text is cut,
2 usage or other error, 130 or 143 ended by a signal; of several files, the worst of 0, 1 and 2")]
pub(crate) struct Arguments {
    /// Streams or recordings, or folders of *.sse and *.rec; standard input if `-` or omitted
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Dialect of the stream
    #[arg(long, value_name = "DIALECT", default_value = "auto", value_parser = DIALECTS)]
    from: From,

    /// Print the neutral form, or the provider's own
    #[arg(long = "as", value_name = "FORM", value_enum, default_value_t = Form::Neutral)]
    form: Form,

    /// Print every message of the stream, as an array, instead of the last one
    #[arg(long)]
    all: bool,

    /// Find calls and thinking in the text; `auto` reads the whole reply first
    #[arg(long, value_name = "PROFILE", conflicts_with = "all", value_parser = PROFILES)]
    tools: Option<Profile>,

    /// Print only the text of the reply
    #[arg(long, conflicts_with_all = ["json", "ndjson", "events", "all", "form"])]
    text: bool,

    /// Print the message as one JSON object
    #[arg(long, conflicts_with = "ndjson")]
    json: bool,

    /// Print every change as it arrives, one JSON object per line
    #[arg(long)]
    ndjson: bool,

    /// Print the reply's agent events as they arrive, one JSON object per line
    #[arg(long, conflicts_with_all = ["json", "ndjson", "all"])]
    events: bool,

    /// Feed the input cut at pseudo-random bytes, or `bytes` for single bytes
    #[arg(long, value_name = "SEED")]
    recut: Option<Recut>,

    /// Record the input in a new file, with its cuts and times, for `replay`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Read so many files at the same time [default: the number of processors]
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
}

/// How the dialect is known.
#[derive(Clone, Copy)]
enum From {
    Found,
    Named(Dialect),
}

const DIALECTS: OneOf<From> = OneOf {
    names: || ["auto"].into_iter().chain(Dialect::ALL.map(Dialect::name)).collect(),
    parse: |name| match name {
        "auto" => Some(From::Found),
        name => name.parse().ok().map(From::Named),
    },
};

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Form {
    Neutral,
    Native,
}

/// How calls and thinking in the text are found.
#[derive(Clone, Copy)]
enum Profile {
    /// In the way that fits best.
    Auto,
    Named(&'static Grammar),
}

const PROFILES: OneOf<Profile> = OneOf {
    names: tools::profile_names,
    parse: |name| match name {
        "auto" => Some(Profile::Auto),
        name => profile(name).map(Profile::Named),
    },
};

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, CommandError> {
    check(arguments)?;
    match inputs::list(&arguments.files)? {
        Inputs::One(file) => one::run(arguments, file),
        Inputs::Several(files) => {
            for (is_set, option) in [(arguments.events, "--events"), (arguments.record.is_some(), "--record")]
            {
                if is_set {
                    let what = anyhow::anyhow!("`{option}` is for one stream, and there are {}", files.len());
                    let hint = format!("use `{option}` for one file at a time");
                    return Err(CommandError::with_hint(what, hint).explained_as(explain::WRONG_USE));
                }
            }
            several::run(arguments, &files)
        }
    }
}

/// Checks what the options ask for together.
fn check(arguments: &Arguments) -> Result<(), CommandError> {
    if (arguments.ndjson || arguments.events) && arguments.form == Form::Native {
        let (option, lines) = if arguments.events { ("--events", "events") } else { ("--ndjson", "changes") };
        let what = anyhow::anyhow!("`{option}` prints {lines}, which the provider's own form does not have");
        let hint = format!("use `--as native --json`, or `{option}` alone");
        return Err(CommandError::with_hint(what, hint).explained_as(explain::WRONG_USE));
    }
    if arguments.tools.is_some() && arguments.form == Form::Native {
        let what = anyhow::anyhow!(
            "`--tools` splits texts into blocks, but the provider's own form keeps them as they are"
        );
        let error = CommandError::with_hint(what, "use `--tools` without `--as native`");
        return Err(error.explained_as(explain::WRONG_USE));
    }
    if let (From::Named(dialect), Form::Native) = (arguments.from, arguments.form) {
        check_native(dialect)?;
    }
    Ok(())
}

/// Checks that a dialect has a form of its own.
fn check_native(dialect: Dialect) -> Result<(), CommandError> {
    if dialect.has_native() {
        return Ok(());
    }
    let what = anyhow::anyhow!("`{dialect}` has no form for a reply that is not streamed");
    Err(CommandError::with_hint(what, "omit `--as native`").explained_as(explain::WRONG_USE))
}

impl Arguments {
    /// A reply that is read as asked for, with the calls in its text if there is a grammar for them.
    fn reply(&self, grammar: Option<&Grammar>) -> Result<Reply, CommandError> {
        let mut reply = match self.from {
            From::Found => Reply::detect(),
            From::Named(dialect) => Reply::new(dialect),
        };
        if self.form == Form::Native {
            reply = reply.with_native();
        }
        if let Some(grammar) = grammar {
            let tagger = Tagger::new(grammar, None, tools::IDS);
            reply = reply.with_tags(tagger.map_err(|error| tools::wrong_grammar(&error))?);
        }
        Ok(reply)
    }
}
