//! One reply, as it arrives.

use std::path::Path;

use reknit::Hint;
use reknit::message::Status;
use reknit::tags::{Detected, detect};
use reknit::{Limits, Reply};

use super::look::Beginning;
use super::{Arguments, Form, From, Profile, check_native, ending};
use crate::explain;
use crate::outcome::{CommandError, Outcome};
use crate::pieces::Pieces;
use crate::present::{Arriving, ReplyFeed, ReplyOutput, Source};
use crate::print::Out;
use crate::print_message;
use crate::record::Recorder;
use crate::report::Report;

pub(super) fn run(arguments: &Arguments, file: Option<&Path>) -> Result<Outcome, CommandError> {
    let mut output = output(arguments);
    let mut pieces = Pieces::open(file, arguments.recut)?;
    let recorder = match (&arguments.record, arguments.from) {
        (None, _) => None,
        (Some(path), From::Found) => Some(Recorder::create(path, None)?),
        (Some(path), From::Named(dialect)) => Some(Recorder::create(path, Some(dialect))?),
    };
    // Pieces that are read to find the profile, and what ended them.
    let (mut held, mut broken) = (Vec::new(), None);
    let grammar = match arguments.tools {
        None => None,
        Some(Profile::Named(grammar)) => Some(grammar),
        Some(Profile::Auto) => {
            broken = hold(&mut pieces, &mut output, &mut held);
            let found = fitting(&held, arguments)?;
            if let Some(found) = &found {
                print_message(format_args!("profile: {}, because {}", found.grammar.name, found.why));
            }
            found.map(|found| found.grammar)
        }
    };
    let mut reading = Reading::new(arguments.reply(grammar)?, recorder);
    for piece in &held {
        if reading.take(piece, &mut output)? == Wants::NoMore {
            break;
        }
    }
    while broken.is_none() {
        match output.next(&mut pieces) {
            Ok(Some(piece)) => match reading.take(piece, &mut output) {
                Ok(Wants::More) => {}
                Ok(Wants::NoMore) => break,
                Err(error @ CommandError::BrokenPipe) => return Err(error),
                Err(error) => broken = Some(error),
            },
            Ok(None) => break,
            // What came before the error is still shown.
            Err(error) => broken = Some(error),
        }
    }
    let Reading { mut reply, beginning, .. } = reading;
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
    let outcome = close(reply, &beginning, arguments, &mut output);
    match pieces.problem() {
        Some(problem) => {
            print_message(format_args!("error: {}\nhint: {}", problem.message, problem.hint()));
            explain::point_to([problem.kind.name()]);
            outcome.map(|_| Outcome::Partly)
        }
        None => outcome,
    }
}

/// A reply that is being read.
pub(super) struct Reading {
    pub(super) reply: Reply,
    recorder: Option<Recorder>,
    pub(super) beginning: Beginning,
}

#[derive(PartialEq)]
pub(super) enum Wants {
    More,
    NoMore,
}

impl Reading {
    pub(super) fn new(reply: Reply, recorder: Option<Recorder>) -> Self {
        Self { reply, recorder, beginning: Beginning::default() }
    }

    pub(super) fn take(&mut self, piece: &[u8], output: &mut ReplyOutput) -> Result<Wants, CommandError> {
        self.beginning.take(piece);
        let recorded = self.recorder.as_mut().map_or(Ok(()), |recorder| recorder.take(piece));
        output.take(self.reply.push(piece))?;
        recorded?;
        // A recording has all of the input, above all what could not be read.
        let is_over = self.reply.error().is_some() && self.recorder.is_none();
        Ok(if is_over { Wants::NoMore } else { Wants::More })
    }
}

fn output(arguments: &Arguments) -> ReplyOutput {
    let feed = || ReplyFeed::new(Source::Stream);
    if arguments.text {
        return ReplyOutput::text(feed(), Out::stdout());
    }
    ReplyOutput::new(match *arguments {
        Arguments { ndjson: true, .. } => Arriving::Changes,
        Arguments { events: true, .. } => Arriving::Events(Box::default()),
        // The provider's own form is JSON or nothing.
        Arguments { all: true, .. } | Arguments { json: true, .. } | Arguments { form: Form::Native, .. } => {
            Arriving::Nothing
        }
        _ => Arriving::Shown(Box::new(feed())),
    })
}

/// Reads the whole input; returns the error that ended it, if one did.
pub(super) fn hold(
    pieces: &mut Pieces,
    output: &mut ReplyOutput,
    held: &mut Vec<Vec<u8>>,
) -> Option<CommandError> {
    let mut length = 0;
    loop {
        match output.next(pieces) {
            Ok(Some(piece)) => {
                length += piece.len() as u64;
                held.push(piece.to_vec());
            }
            Ok(None) => return None,
            Err(error) => return Some(error),
        }
        // A reply takes no more than that.
        if length > Limits::default().reply_bytes {
            return None;
        }
    }
}

/// The profile that fits the text of a whole reply best; none if there is no text.
pub(super) fn fitting(pieces: &[Vec<u8>], arguments: &Arguments) -> Result<Option<Detected>, CommandError> {
    let mut reply = arguments.reply(None)?;
    for piece in pieces {
        reply.push(piece);
    }
    reply.finish();
    let texts: String = reply.messages().map(reknit::Message::text).collect();
    Ok(if texts.is_empty() { None } else { Some(detect(&texts, None)) })
}

/// Prints what is printed at the end, and then reports errors and diagnostics.
fn close(
    reply: Reply,
    beginning: &Beginning,
    arguments: &Arguments,
    output: &mut ReplyOutput,
) -> Result<Outcome, CommandError> {
    if let Some(unreadable) = ending::unreadable(&reply, beginning) {
        output.clear()?;
        return Err(unreadable);
    }
    let mut report = Report::default();
    ending::report_errors(&reply, &mut report);
    let outcome = if report.is_empty() { Outcome::Done } else { Outcome::Partly };
    ending::report_warnings(&reply, arguments, &mut report);
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
