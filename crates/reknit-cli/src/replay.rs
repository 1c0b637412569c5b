//! `reknit replay`: a recording in its own time, to standard output or over HTTP, with faults if asked.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;

use crate::outcome::{Outcome, Trouble};
use crate::pieces::Recut;
use crate::tell;

mod http;
mod routes;
mod schedule;
mod serve;
mod recording;

use recording::Recording;
use schedule::{Faults, Schedule, Speed, Stall};

/// Play a recording in its own time, to standard output or as a provider's server
#[derive(Args)]
#[command(after_help = "\
Examples:
  reknit replay new.rec                        the bytes, when they came
  reknit replay new.rec --speed 4 | reknit read
  reknit replay new.rec --cut 2000 | reknit read    what a broken connection leaves
  reknit replay new.rec --serve 8080           a server that answers with it:
      ANTHROPIC_BASE_URL=http://127.0.0.1:8080   OPENAI_BASE_URL=http://127.0.0.1:8080/v1

A recording is what `reknit read --record FILE` writes; a raw stream is played all at once.
With --serve, a cut is a connection that breaks. It listens on 127.0.0.1 only.

Exit code: 0 played, 1 the recording lacks its end, 2 wrong use or trouble, 130 interrupted")]
pub(crate) struct Arguments {
    /// The recording or a raw stream; standard input if it is `-` or left out
    file: Option<PathBuf>,

    /// How much faster than recorded; `max` does not wait at all
    #[arg(long, value_name = "X|max", default_value = "1", allow_hyphen_values = true)]
    speed: Speed,

    /// Cut it anew at pseudo-random bytes, or `bytes` for one byte at a time
    #[arg(long, value_name = "SEED")]
    recut: Option<Recut>,

    /// End behind this many bytes
    #[arg(long, value_name = "BYTE")]
    cut: Option<usize>,

    /// Wait this many milliseconds behind this many bytes, at any speed; can be given again
    #[arg(long = "stall", value_name = "MS@BYTE")]
    stalls: Vec<Stall>,

    /// Answer HTTP requests with it on this port of 127.0.0.1; 0 takes any that is free
    #[arg(long, value_name = "PORT")]
    serve: Option<u16>,

    /// End behind this many requests
    #[arg(long, value_name = "N", requires = "serve", value_parser = clap::value_parser!(u64).range(1..))]
    requests: Option<u64>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Trouble> {
    // Set at once and never cleared: the condition is that there is none.
    let always = Arc::new(AtomicBool::new(true));
    signal_hook::flag::register_conditional_shutdown(signal_hook::consts::SIGINT, 130, always)
        .context("cannot prepare for an interrupt")?;

    let recording = Recording::load(arguments.file.as_deref())?;
    let faults = Faults { cut: arguments.cut, stalls: arguments.stalls.clone() };
    let schedule = Schedule::new(&recording.marks, arguments.speed, arguments.recut, &faults)
        .map_err(|error| Trouble::with_hint(anyhow::anyhow!("{error}"), error.hint()))?;
    let outcome = match &recording.problem {
        None => Outcome::Done,
        Some(problem) => {
            tell(format_args!("error: {}\nhint: {}", problem.message, problem.hint()));
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

/// Waits until so much time has passed since now. The only place that waits.
fn sleeper() -> impl FnMut(Duration) {
    let start = Instant::now();
    move |due| {
        let rest = due.saturating_sub(start.elapsed());
        if !rest.is_zero() {
            thread::sleep(rest);
        }
    }
}
