//! `reknit chunks --realtime`: the events of an Agent C server to its sessions.

use std::io::{self, BufWriter, StdoutLock, Write};
use std::time::Duration;

use reknit::json::Value;
use reknit_compat::realtime::{Happening, Processor, Profile, ServerEvent, Tally, Time};
use serde::Serialize;

use super::live::ended;
use super::noticed::Noticed;
use super::output::is_zero;
use super::{Arguments, Input, State, close};
use crate::outcome::{Outcome, Trouble};
use crate::pieces::Pieces;
use crate::print::print_json;

mod page;
mod people;

use page::Page;
use people::People;

pub(super) fn profile(name: &str) -> Result<Profile, String> {
    name.parse()
        .map_err(|error: reknit_compat::realtime::UnknownProfile| format!("{error}; {}", error.hint()))
}

pub(super) fn run(arguments: &Arguments, profile: Profile, mut pieces: Pieces) -> Result<Outcome, Trouble> {
    let mut input = Input::new(arguments.strict);
    let mut processor = Processor::new(profile).with_limits(&input.limits);
    let mut out = BufWriter::new(io::stdout().lock());
    let mut output = Output::new(arguments);
    let mut now = Time::default();
    let mut broken = None;
    while input.state == State::Open {
        let at = output.wait(&mut pieces, &mut out)?;
        broken = input.take(pieces.next());
        input.read(|value, place| {
            let (event, time) = timed(value, now);
            now = time;
            let happenings = processor.process(&event, now);
            output.show(&happenings, at, &mut out)?;
            // People see all of it at once; what programs get does not depend on where the input is cut.
            if let Output::People(_) = output {
                output.show(&processor.flush(now), at, &mut out)?;
            }
            let odd = happenings.iter().filter_map(|happening| match happening {
                Happening::Diagnostic(diagnostic) => Some(Noticed::odd(diagnostic, place)),
                _ => None,
            });
            Ok(odd.collect())
        })?;
        if input.state == State::Over {
            output.show(&processor.flush(now), at, &mut out)?;
        }
        output.drain(&mut out)?;
    }
    match &mut output {
        Output::Sessions => print_json(&mut out, &Ended::new(&processor, &input))?,
        Output::Happenings => {}
        Output::People(people) => {
            let (end, words) = ended(processor.tally().events, &input, pieces.is_interrupted());
            people.page.finish(end, &words);
        }
    }
    output.drain(&mut out)?;
    close(&input, arguments, broken, pieces.is_interrupted())
}

/// What is printed of the sessions.
enum Output {
    /// All of it, for people, as it comes.
    People(Box<People>),
    /// Everything that happens, as it comes.
    Happenings,
    /// The sessions, at the end.
    Sessions,
}

impl Output {
    fn new(arguments: &Arguments) -> Self {
        match *arguments {
            Arguments { json: true, .. } => Self::Sessions,
            Arguments { ndjson: true, .. } => Self::Happenings,
            _ => Self::People(Box::new(People::new(Page::on_stdout()))),
        }
    }

    /// Waits for the next piece, or the end; returns when it came.
    fn wait(&mut self, pieces: &mut Pieces, out: &mut impl Write) -> Result<Option<Duration>, Trouble> {
        match self {
            Self::People(people) => Ok(people.page.wait(pieces, out)?),
            Self::Happenings | Self::Sessions => Ok(None),
        }
    }

    /// Shows what happened at a time.
    fn show(
        &mut self,
        happenings: &[Happening],
        at: Option<Duration>,
        out: &mut BufWriter<StdoutLock<'static>>,
    ) -> Result<(), Trouble> {
        match self {
            Self::People(people) => happenings.iter().for_each(|happening| people.show(happening, at)),
            Self::Happenings => happenings.iter().try_for_each(|happening| print_json(out, happening))?,
            Self::Sessions => {}
        }
        Ok(())
    }

    /// Lets everything be seen that was shown.
    fn drain(&mut self, out: &mut impl Write) -> Result<(), Trouble> {
        if let Self::People(people) = self {
            people.page.drain(out)?;
        }
        Ok(out.flush()?)
    }
}

/// An event, and when it came: that of a line `{"at": TIME, "event": EVENT}`, or the one before.
fn timed(value: Value, now: Time) -> (ServerEvent, Time) {
    match (value.get("at").and_then(Value::as_u64), value.get("event")) {
        (Some(at), Some(event)) => (ServerEvent::from(event.clone()), Time(at)),
        (_, _) => (ServerEvent::from(value), now),
    }
}

/// All that came of the events.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ended<'a> {
    #[serde(flatten)]
    sessions: &'a reknit_compat::realtime::Sessions,
    tally: Tally,
    diagnostics: &'a [Noticed],
    #[serde(skip_serializing_if = "is_zero")]
    diagnostics_omitted: u64,
}

impl<'a> Ended<'a> {
    fn new(processor: &'a Processor, input: &'a Input) -> Self {
        Self {
            sessions: processor.sessions(),
            tally: processor.tally(),
            diagnostics: &input.noticed,
            diagnostics_omitted: input.omitted,
        }
    }
}
