//! `reknit chunks`: the events of a session to what a person sees of it.

use std::path::PathBuf;

use clap::Args;
use reknit::Limits;
use reknit::agent::AgentEvent;
use reknit::json::Value;
use reknit::transcript::{Change, Chunks, append};
use reknit_compat::realtime::Profile;

use crate::explain;
use crate::outcome::{Outcome, Trouble};
use crate::pieces::{Pieces, Recut};
use crate::tell;

mod flow;
mod lines;
mod live;
mod noticed;
mod output;
mod realtime;

use lines::{Lines, Place};
use noticed::Noticed;
use output::Output;

/// Fold the events of a session into what a person sees of it, live
#[derive(Args)]
#[command(after_help = "\
Examples:
  reknit chunks events.ndjson                       text, calls and results, as they arrive
  reknit chunks --json events.ndjson                chunks as one JSON object
  reknit chunks --ndjson events.ndjson              what each event changed, a line of JSON each
  reknit read --events reply.sse | reknit chunks    the chunks of a reply
  reknit chunks --realtime --json server.ndjson     the sessions of a realtime server

A line that is no event is told and skipped.
Exit code: 0 every line is an event, 1 one is not, 2 wrong use or trouble, 130 interrupted")]
pub(crate) struct Arguments {
    /// The events, one JSON object a line; standard input if it is `-` or left out
    file: Option<PathBuf>,

    /// Print the chunks as one JSON object
    #[arg(long, conflicts_with = "ndjson")]
    json: bool,

    /// Print what each event changed as it comes, one JSON object a line
    #[arg(long)]
    ndjson: bool,

    /// Read an Agent C server's events, by the rules `documented` or `agent-c`
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "documented", value_parser = realtime::profile)]
    realtime: Option<Profile>,

    /// Stop at the first line that is no event
    #[arg(long)]
    strict: bool,

    /// Feed the input cut at pseudo-random bytes, or `bytes` for one at a time
    #[arg(long, value_name = "SEED")]
    recut: Option<Recut>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Trouble> {
    let pieces = Pieces::open_raw(arguments.file.as_deref(), arguments.recut)?;
    match arguments.realtime {
        Some(profile) => realtime::run(arguments, profile, pieces),
        None => fold(arguments, pieces),
    }
}

fn fold(arguments: &Arguments, mut pieces: Pieces) -> Result<Outcome, Trouble> {
    let mut output = Output::new(arguments);
    let mut input = Input::new(arguments.strict);
    let mut chunks = Chunks::new(&input.limits);
    let mut broken = None;
    while input.state == State::Open {
        let at = output.wait(&mut pieces)?;
        broken = input.take(pieces.next());
        input.read(|value, line| {
            let event = match AgentEvent::read(value) {
                Ok((event, _)) => event,
                Err(misread) => return Ok(vec![Noticed::misread(&misread, line)]),
            };
            let change = append(&mut chunks, &event);
            output.show(&change, &chunks, at)?;
            Ok(match &change {
                Change::Dropped(diagnostic) => vec![Noticed::dropped(&event, diagnostic, line)],
                _ => Vec::new(),
            })
        })?;
        output.flush()?;
    }
    output.end(&chunks, &input, pieces.is_interrupted())?;
    close(&input, arguments, broken, pieces.is_interrupted())
}

/// The lines of the input, and what was odd in them.
struct Input {
    lines: Lines,
    limits: Limits,
    noticed: Vec<Noticed>,
    omitted: u64,
    bad_lines: u64,
    strict: bool,
    state: State,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Open,
    /// The input is over, or no more of it is wanted.
    Over,
}

impl Input {
    fn new(strict: bool) -> Self {
        let limits = Limits::default();
        Self {
            lines: Lines::new(limits.frame_bytes),
            limits,
            noticed: Vec::new(),
            omitted: 0,
            bad_lines: 0,
            strict,
            state: State::Open,
        }
    }

    /// Takes the next piece, or the end of the input. Trouble ends it too, and is given back: what came
    /// before is shown all the same.
    fn take(&mut self, piece: Result<Option<&[u8]>, Trouble>) -> Option<Trouble> {
        let trouble = match piece {
            Ok(Some(piece)) => {
                self.lines.push(piece);
                return None;
            }
            Ok(None) => None,
            Err(trouble) => Some(trouble),
        };
        self.lines.finish();
        self.state = State::Over;
        trouble
    }

    /// Hands out the lines that are there, each as its JSON, and notes what is odd about them.
    fn read(
        &mut self,
        mut fold: impl FnMut(Value, Place) -> Result<Vec<Noticed>, Trouble>,
    ) -> Result<(), Trouble> {
        while let Some(line) = self.lines.next() {
            let noticed = match noticed::read(&line, &self.limits) {
                Ok(None) => continue,
                Ok(Some(value)) => fold(value, line.place)?,
                Err(bad) => vec![bad],
            };
            let is_bad = noticed.iter().any(Noticed::is_bad_line);
            noticed.into_iter().for_each(|noticed| self.notice(noticed));
            if is_bad && self.strict {
                self.state = State::Over;
                break;
            }
        }
        Ok(())
    }

    fn notice(&mut self, noticed: Noticed) {
        self.bad_lines += u64::from(noticed.is_bad_line());
        if self.noticed.len() < self.limits.diagnostics {
            self.noticed.push(noticed);
        } else {
            self.omitted += 1;
        }
    }
}

/// Says what was odd, behind what is to be printed then.
fn close(
    input: &Input,
    arguments: &Arguments,
    broken: Option<Trouble>,
    interrupted: bool,
) -> Result<Outcome, Trouble> {
    if let Some(trouble) = broken {
        return Err(trouble);
    }
    let in_the_output = arguments.json || arguments.ndjson;
    let told = input.noticed.iter().filter(|noticed| noticed.is_bad_line() || !in_the_output);
    let told: Vec<_> = told.collect();
    told.iter().take(MOST_TOLD).for_each(|noticed| tell(format_args!("{}", noticed.told())));
    if told.len() > MOST_TOLD {
        let more = told.len() - MOST_TOLD;
        if arguments.json {
            tell(format_args!("and {more} more, which the output has too"));
        } else {
            tell(format_args!("and {more} more; `--json` has them all"));
        }
    }
    explain::point_to(told.iter().take(MOST_TOLD).map(|noticed| noticed.kind));
    Ok(match input.bad_lines {
        _ if interrupted => Outcome::Interrupted,
        0 => Outcome::Done,
        _ => Outcome::Partly,
    })
}

/// How many errors and warnings are told one by one.
const MOST_TOLD: usize = 10;
