//! `reknit chunks`: the events of a session to what a person sees of it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use reknit::json::Value;
use reknit_compat::realtime::Profile;

use crate::outcome::{CommandError, Outcome};
use crate::pieces::{Pieces, Recut};
use crate::present::{Presenter, Shown};
use crate::print::Out;
use crate::report::Report;
use crate::view::End;

mod input;
mod lines;
mod noticed;
mod realtime;
mod session;
mod session_feed;

use input::{Input, State};
use lines::Place;
use noticed::Noticed;
use realtime::Realtime;
use session::Session;

/// Turn the events of a session into what a person sees of it, live
#[derive(Args)]
#[command(after_help = "\
Examples:
  reknit chunks events.ndjson                       text, calls and results, as they arrive
  reknit chunks --json events.ndjson                chunks as one JSON object
  reknit chunks --ndjson events.ndjson              what each event changed, as lines of JSON
  reknit read --events reply.sse | reknit chunks    the chunks of a reply
  reknit chunks --realtime --json server.ndjson     the sessions of a realtime server

Lines that are not events are reported and skipped.
Exit code: 0 every line is an event, 1 some are not, 2 usage or other error, 130 interrupted")]
pub(crate) struct Arguments {
    /// Events, one JSON object per line; standard input if it is `-` or omitted
    file: Option<PathBuf>,

    /// Print the chunks as one JSON object
    #[arg(long, conflicts_with = "ndjson")]
    json: bool,

    /// Print what each event changed as it arrives, one JSON object per line
    #[arg(long)]
    ndjson: bool,

    /// Read an Agent C server's events, by the rules as documented or of its client
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "documented", value_parser = realtime::PROFILES)]
    realtime: Option<Profile>,

    /// Stop at the first line that is not an event
    #[arg(long)]
    strict: bool,

    /// Feed the input cut at pseudo-random bytes, or `bytes` for single bytes
    #[arg(long, value_name = "SEED")]
    recut: Option<Recut>,
}

/// The words of the command line, with `--realtime NAME` as one word if it is a known name. Any other word after
/// it is the file.
pub(crate) fn with_joined_name(words: Vec<OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::with_capacity(words.len());
    for word in words {
        let is_name = word.to_str().is_some_and(|word| (realtime::PROFILES.parse)(word).is_some());
        match joined.last_mut() {
            Some(last) if last == "--realtime" && is_name => {
                last.push("=");
                last.push(word);
            }
            _ => joined.push(word),
        }
    }
    joined
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, CommandError> {
    let pieces = Pieces::open_raw(arguments.file.as_deref(), arguments.recut)?;
    let input = Input::new(arguments.strict);
    let form = match *arguments {
        Arguments { json: true, .. } => Form::Whole,
        Arguments { ndjson: true, .. } => Form::Lines,
        _ => Form::People,
    };
    match arguments.realtime {
        Some(profile) => fold(Realtime::new(profile, form, &input.limits), form, input, pieces),
        None => fold(Session::new(form, &input.limits), form, input, pieces),
    }
}

/// What is printed.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// Everything, for people, as it arrives.
    People,
    /// What each event changed, as it arrives.
    Lines,
    /// What all events became, at the end.
    Whole,
}

/// What events become.
trait Fold {
    /// Takes the event of a line and prints what it changed. Returns its diagnostics.
    fn take(
        &mut self,
        event: Value,
        place: Place,
        presenter: &mut Presenter,
    ) -> Result<Vec<Noticed>, CommandError>;

    /// The last event was taken. `place` is its place. Returns diagnostics about the end.
    fn finish(&mut self, place: Place, presenter: &mut Presenter) -> Result<Vec<Noticed>, CommandError>;

    /// How many events came.
    fn events(&self) -> u64;

    /// Prints what all of them became.
    fn print(&self, input: &Input, presenter: &mut Presenter) -> Result<(), CommandError>;
}

fn fold(
    mut fold: impl Fold,
    form: Form,
    mut input: Input,
    mut pieces: Pieces,
) -> Result<Outcome, CommandError> {
    let mut presenter = match form {
        Form::People => Presenter::for_people(),
        Form::Lines | Form::Whole => Presenter::for_programs(Out::stdout()),
    };
    let mut broken = None;
    while input.state == State::Open {
        broken = input.take(presenter.next(&mut pieces));
        input.read(|event, place| fold.take(event, place, &mut presenter))?;
        if input.state == State::Over {
            input.finish(|place| fold.finish(place, &mut presenter))?;
        }
        presenter.flush()?;
    }
    if form == Form::Whole {
        fold.print(&input, &mut presenter)?;
    }
    let (end, words) = ending(fold.events(), &input, pieces.is_interrupted());
    presenter.show(Shown::Over { end, words: &words });
    presenter.flush()?;
    match broken {
        Some(error) => Err(error),
        None => Ok(close(&input, form, pieces.is_interrupted())),
    }
}

/// How the input ended.
fn ending(events: u64, input: &Input, interrupted: bool) -> (End, String) {
    let count =
        |count: u64, word: &str| if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") };
    match (interrupted, input.bad_lines) {
        (true, _) => (End::Broken, "interrupted".to_owned()),
        (false, 0) => (End::Whole, count(events, "event")),
        (false, bad) => (End::Broken, format!("{}, {}", count(events, "event"), count(bad, "bad line"))),
    }
}

/// Reports what was wrong with the lines.
fn close(input: &Input, form: Form, interrupted: bool) -> Outcome {
    let mut report = Report::default();
    for noticed in input.noticed.iter().filter(|noticed| noticed.is_bad_line() || form == Form::People) {
        report.add(noticed.words(), noticed.kind);
    }
    report.print(match form {
        Form::Whole => "; the output has them all",
        Form::People | Form::Lines => "; `--json` prints them all",
    });
    match input.bad_lines {
        _ if interrupted => Outcome::Interrupted,
        0 => Outcome::Done,
        _ => Outcome::Partly,
    }
}
