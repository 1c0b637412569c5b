//! `reknit replay`: plays a recording at its original speed, to standard output or over HTTP, optionally with faults.

use reknit::Hint;
use std::io::{self, Write};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;

use crate::interrupt;
use crate::outcome::{CommandError, Outcome};
use crate::pieces::Recut;
use crate::print_message;

mod asked;
mod http;
mod routes;
mod schedule;
mod serve;
mod recording;

use recording::Recording;
use schedule::{Faults, Schedule, Speed, Stall};

/// Play a recording at its own pace, to standard output or as a provider's server
#[derive(Args)]
#[command(after_help = "\
Examples:
  reknit replay new.rec                        the bytes, at the times they arrived
  reknit replay new.rec --speed 4 | reknit read
  reknit replay new.rec --cut 2000 | reknit read    what is left after a broken connection
  reknit replay new.rec --serve 8080           a server that responds with it:
      ANTHROPIC_BASE_URL=http://127.0.0.1:8080   OPENAI_BASE_URL=http://127.0.0.1:8080/v1

A recording is what `reknit read --record FILE` writes; a raw stream is played all at once.
With --serve, a cut breaks the connection. The server listens on 127.0.0.1 only.

Exit code: 0 played, 1 the recording is incomplete, 2 usage or other error, 130 or 143 stopped
by a signal")]
pub(crate) struct Arguments {
    /// Recording or raw stream; standard input if it is `-` or omitted
    file: Option<PathBuf>,

    /// Speed relative to the recording; `max` does not wait at all
    #[arg(long, value_name = "X|max", default_value = "1", allow_hyphen_values = true)]
    speed: Speed,

    /// Cut it again at pseudo-random bytes, or `bytes` for single bytes
    #[arg(long, value_name = "SEED")]
    recut: Option<Recut>,

    /// Stop after this many bytes
    #[arg(long, value_name = "BYTE")]
    cut: Option<usize>,

    /// Wait this many milliseconds after this many bytes, at any speed; repeatable
    #[arg(long = "stall", value_name = "MS@BYTE")]
    stalls: Vec<Stall>,

    /// Serve it over HTTP on this port of 127.0.0.1; 0 picks a free port
    #[arg(long, value_name = "PORT")]
    serve: Option<u16>,

    /// Exit after this many requests
    #[arg(long, value_name = "N", requires = "serve", value_parser = clap::value_parser!(u64).range(1..))]
    requests: Option<u64>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, CommandError> {
    interrupt::end_at_once()?;
    let recording = Recording::load(arguments.file.as_deref())?;
    let faults = Faults { cut: arguments.cut, stalls: arguments.stalls.clone() };
    let schedule = Schedule::new(&recording.marks, arguments.speed, arguments.recut, &faults)
        .map_err(|error| CommandError::of(&error))?;
    let outcome = match &recording.diagnostic {
        None => Outcome::Done,
        Some(diagnostic) => {
            print_message(format_args!("error: {}\nhint: {}", diagnostic.message, diagnostic.hint()));
            Outcome::Partly
        }
    };
    match arguments.serve {
        Some(port) => serve::run(recording, schedule, port, arguments.requests)?,
        None => {
            let mut out = io::stdout().lock();
            schedule.play(&recording.bytes, sleeper(), |piece| {
                out.write_all(piece)?;
                out.flush()
            })?;
        }
    }
    Ok(outcome)
}

/// Waits until the given time since the call of `sleeper`. Nothing else in this command waits.
fn sleeper() -> impl FnMut(Duration) {
    let start = Instant::now();
    move |due| {
        let rest = due.saturating_sub(start.elapsed());
        if !rest.is_zero() {
            thread::sleep(rest);
        }
    }
}
