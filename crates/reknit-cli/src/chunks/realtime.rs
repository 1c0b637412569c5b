//! [`Realtime`]: the events of an Agent C server to its sessions.

use reknit::Limits;
use reknit::json::Value;
use reknit_compat::realtime::{Happening, Processor, Profile, ServerEvent, Tally, Time};
use serde::Serialize;

use super::input::Input;
use super::lines::Place;
use super::noticed::Noticed;
use super::session::is_zero;
use super::{Fold, Form};
use crate::names::OneOf;
use crate::outcome::CommandError;
use crate::present::Presenter;

mod feed;

use feed::Feed;

pub(super) const PROFILES: OneOf<Profile> =
    OneOf { names: || Profile::ALL.map(Profile::name).to_vec(), parse: |name| name.parse().ok() };

pub(super) struct Realtime {
    processor: Processor,
    /// When the last event came.
    now: Time,
    form: Form,
    feed: Feed,
}

impl Realtime {
    pub(super) fn new(profile: Profile, form: Form, limits: &Limits) -> Self {
        let processor = Processor::new(profile).with_limits(limits);
        Self { processor, now: Time::default(), form, feed: Feed::default() }
    }

    fn show(&mut self, happenings: &[Happening], presenter: &mut Presenter) -> Result<(), CommandError> {
        for happening in happenings {
            match self.form {
                Form::People => self.feed.show(happening, presenter),
                Form::Lines => presenter.print(happening)?,
                Form::Whole => {}
            }
        }
        Ok(())
    }
}

impl Fold for Realtime {
    fn take(
        &mut self,
        event: Value,
        place: Place,
        presenter: &mut Presenter,
    ) -> Result<Vec<Noticed>, CommandError> {
        let (event, now) = timed(event, self.now);
        self.now = now;
        let happenings = self.processor.process(&event, now);
        self.show(&happenings, presenter)?;
        // People see everything at once; what programs get must not depend on where the input is cut.
        if self.form == Form::People {
            let held = self.processor.flush(self.now);
            self.show(&held, presenter)?;
        }
        Ok(noticed(&happenings, place))
    }

    fn finish(&mut self, place: Place, presenter: &mut Presenter) -> Result<Vec<Noticed>, CommandError> {
        let happenings = self.processor.finish(self.now);
        self.show(&happenings, presenter)?;
        Ok(noticed(&happenings, place))
    }

    fn events(&self) -> u64 {
        self.processor.tally().events
    }

    fn print(&self, input: &Input, presenter: &mut Presenter) -> Result<(), CommandError> {
        presenter.print(&Ended {
            sessions: self.processor.sessions(),
            tally: self.processor.tally(),
            diagnostics: &input.noticed,
            diagnostics_omitted: input.omitted,
        })
    }
}

/// The diagnostics among what happened at a line.
fn noticed(happenings: &[Happening], place: Place) -> Vec<Noticed> {
    let diagnostics = happenings.iter().filter_map(|happening| match happening {
        Happening::Diagnostic(diagnostic) => Some(Noticed::from_realtime(diagnostic, place)),
        _ => None,
    });
    diagnostics.collect()
}

/// An event, and when it came: a line may be `{"at": TIME, "event": EVENT}`. The default is the time of the
/// event before.
fn timed(value: Value, now: Time) -> (ServerEvent, Time) {
    match (value.get("at").and_then(Value::as_u64), value.get("event")) {
        (Some(at), Some(event)) => (ServerEvent::from(event.clone()), Time(at)),
        (_, _) => (ServerEvent::from(value), now),
    }
}

/// What all events became.
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
