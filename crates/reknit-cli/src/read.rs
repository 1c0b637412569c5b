//! `reknit read`: a provider's stream to the message in it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use reknit::diagnostic::Kind;
use reknit::event::{End, Origin};
use reknit::message::Status;
use reknit::reply::Error;
use reknit::tags::Tagger;
use reknit::{Diagnostic, Dialect, Message, Reply};

use crate::explain;
use crate::outcome::{CommandError, Outcome};
use crate::pieces::{Pieces, Recut};
use crate::present::{Arriving, ReplyFeed, ReplyOutput, Source};
use crate::print_message;
use crate::record::Recorder;
use crate::report::Report;
use crate::tools;

/// Turn a provider's stream into the message it contains, live
#[derive(Args)]
#[command(after_help = "\
Examples:
  curl -N … | reknit read                      the text, as it arrives
  curl -N … | reknit read --json               the whole message as one JSON object
  curl -N … | reknit read --ndjson             every change as a line of JSON
  curl -N … | reknit read --events             agent events for `reknit chunks`, as lines of JSON
  reknit read --as native --json reply.sse     the message in the provider's own form
  curl -N … | reknit read --record new.rec     record the stream, with its cuts and times
  reknit read new.rec                          read the recording again

An interrupt (Ctrl-C) ends the input; what has arrived is printed as a message that is cut.
Exit code: 0 the message is complete, 1 it failed, or it or a call in its text is cut,
2 usage or other error, 130 interrupted")]
pub(crate) struct Arguments {
    /// Stream or recording; standard input if it is `-` or omitted
    file: Option<PathBuf>,

    /// Dialect of the stream
    #[arg(long, value_name = "DIALECT", default_value = "auto", value_parser = from_dialect)]
    from: From,

    /// Print the neutral form, or native for the provider's own
    #[arg(long = "as", value_name = "FORM", value_enum, default_value_t = Form::Neutral)]
    #[arg(hide_possible_values = true)]
    form: Form,

    /// Print every message of the stream, as an array, instead of the last one
    #[arg(long)]
    all: bool,

    /// Find calls and thinking in the text, with a profile of `reknit tools`
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    tools: Option<String>,

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
}

/// How the dialect is known.
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

/// Checks that a dialect has a form of its own.
fn check_native(dialect: Dialect) -> Result<(), CommandError> {
    if dialect.has_native() {
        return Ok(());
    }
    let what = anyhow::anyhow!("`{dialect}` has no form for a reply that is not streamed");
    Err(CommandError::with_hint(what, "omit `--as native`").explained_as(explain::WRONG_USE))
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, CommandError> {
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
    let tags = arguments.tools.as_deref().map(tools::named).transpose()?;
    let mut output = ReplyOutput::new(match *arguments {
        Arguments { ndjson: true, .. } => Arriving::Changes,
        Arguments { events: true, .. } => Arriving::Events(Box::default()),
        // The provider's own form is JSON or nothing.
        Arguments { all: true, .. } | Arguments { json: true, .. } | Arguments { form: Form::Native, .. } => {
            Arriving::Nothing
        }
        _ => Arriving::Shown(Box::new(ReplyFeed::new(Source::Stream))),
    });
    let mut reply = match arguments.from {
        From::Found => Reply::detect(),
        From::Named(dialect) => Reply::new(dialect),
    };
    if arguments.form == Form::Native {
        reply = reply.with_native();
    }
    if let Some(grammar) = tags {
        let tagger = Tagger::new(grammar, None, tools::IDS);
        reply = reply.with_tags(tagger.map_err(|error| tools::wrong_grammar(&error))?);
    }
    let mut pieces = Pieces::open(arguments.file.as_deref(), arguments.recut)?;
    let mut recorder = match (&arguments.record, arguments.from) {
        (None, _) => None,
        (Some(path), From::Found) => Some(Recorder::create(path, None)?),
        (Some(path), From::Named(dialect)) => Some(Recorder::create(path, Some(dialect))?),
    };
    let mut broken = None;
    loop {
        match output.next(&mut pieces) {
            Ok(Some(piece)) => {
                if let Some(Err(error)) = recorder.as_mut().map(|recorder| recorder.take(piece)) {
                    broken = Some(error);
                }
                output.take(reply.push(piece))?;
            }
            Ok(None) => break,
            // What came before the error is still shown.
            Err(error) => {
                broken = Some(error);
                break;
            }
        }
        // A recording has all of the input, above all what could not be read.
        if broken.is_some() || (reply.error().is_some() && recorder.is_none()) {
            break;
        }
    }
    output.take(reply.finish())?;
    if let Some(error) = broken {
        finish(reply, arguments, &mut output)?;
        return Err(error);
    }
    if pieces.is_interrupted() {
        let is_whole = reply.message().status() == Status::Stopped;
        output.interrupt();
        finish(reply, arguments, &mut output)?;
        if !is_whole {
            print_message(format_args!("error: interrupted before the message ended: it is cut"));
        }
        return Ok(Outcome::Interrupted);
    }
    let outcome = close(reply, arguments, &mut output);
    match pieces.problem() {
        Some(problem) => {
            print_message(format_args!("error: {}\nhint: {}", problem.message, problem.hint()));
            explain::point_to([problem.kind.name()]);
            outcome.map(|_| Outcome::Partly)
        }
        None => outcome,
    }
}

/// Prints what is printed at the end, and then reports errors and diagnostics.
fn close(reply: Reply, arguments: &Arguments, output: &mut ReplyOutput) -> Result<Outcome, CommandError> {
    if let Some(error @ (Error::UnknownDialect { .. } | Error::WrongDialect { .. } | Error::NoFrame { .. })) =
        reply.error()
    {
        output.clear()?;
        let unread = CommandError::with_hint(anyhow::anyhow!("{error}"), error.hint());
        return Err(unread.explained_as(error.kind().name()));
    }
    let mut report = Report::default();
    match reply.error() {
        // What came before the limit was read.
        Some(error) => report.add(format!("error: {error}\nhint: {}", error.hint()), error.kind().name()),
        None => reply.messages().for_each(|message| report_end(message, &mut report)),
    }
    let outcome = if report.is_empty() { Outcome::Done } else { Outcome::Partly };
    let in_the_output = arguments.ndjson || (arguments.json && arguments.form == Form::Neutral);
    if !in_the_output {
        // The error is also a diagnostic, and was reported.
        let reported = reply.error().map(ToString::to_string);
        for message in reply.messages() {
            let diagnostics = message.diagnostics().iter();
            diagnostics
                .filter(|diagnostic| reported.as_ref() != Some(&diagnostic.message))
                .filter(|diagnostic| !is_cut_call(message, diagnostic))
                .for_each(|diagnostic| report_diagnostic("warning", diagnostic, &mut report));
        }
    }
    let printed = finish(reply, arguments, output);
    report.print("; `--json --all` prints them all");
    printed.map(|()| outcome)
}

/// Prints the message if it is printed as a whole.
fn finish(reply: Reply, arguments: &Arguments, output: &mut ReplyOutput) -> Result<(), CommandError> {
    output.finish()?;
    if let (Form::Native, Some(dialect)) = (arguments.form, reply.dialect()) {
        check_native(dialect)?;
    }
    match *arguments {
        Arguments { ndjson: true, .. } | Arguments { events: true, .. } => Ok(()),
        Arguments { all: true, form: Form::Neutral, .. } => {
            output.print(&reply.messages().collect::<Vec<_>>())
        }
        Arguments { all: true, form: Form::Native, .. } => output.print(&reply.into_native()),
        Arguments { json: true, form: Form::Neutral, .. } => output.print(reply.message()),
        Arguments { form: Form::Native, .. } => {
            reply.into_native().last().map_or(Ok(()), |last| output.print(last))
        }
        _ => Ok(()),
    }
}

/// Reports how a message ended, if it is not whole.
fn report_end(message: &Message, report: &mut Report) {
    match (message.status(), message.failure()) {
        (Status::Stopped, _) => {
            // For calls that the provider sent as blocks there is a diagnostic, with the place.
            let native = message.diagnostics().iter().filter(|diagnostic| is_cut_call(message, diagnostic));
            native.for_each(|diagnostic| report_diagnostic("error", diagnostic, report));
            let tagged = message.tool_calls().filter(|call| call.origin != Origin::Native);
            let cut = tagged.filter(|call| call.end() == Some(End::Cut));
            cut.for_each(|call| tools::report_call(&call.name, call.end(), report));
        }
        (_, Some(failure)) => {
            let kind = failure.kind.as_ref().map_or(String::new(), |kind| format!("{kind}: "));
            report.add(format!("error: the provider reported: {kind}{}", failure.message), explain::FAILED);
        }
        (_, None) => {
            let words =
                "error: the stream ended before the message did: it is cut\nhint: ask for the reply again";
            report.add(words.to_owned(), explain::CUT);
        }
    }
}

/// Whether this is about a call that was cut although the provider ended the message.
fn is_cut_call(message: &Message, diagnostic: &Diagnostic) -> bool {
    message.status() == Status::Stopped && diagnostic.kind == Kind::CutArguments
}

fn report_diagnostic(severity: &str, diagnostic: &Diagnostic, report: &mut Report) {
    let at = diagnostic.place().unwrap_or_default().at;
    let words = format!("{severity}: byte {at}: {}\nhint: {}", diagnostic.message, diagnostic.hint());
    report.add(words, diagnostic.kind.name());
}
