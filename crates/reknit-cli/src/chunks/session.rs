//! [`Session`]: agent events to chunks.

use reknit::Limits;
use reknit::agent::AgentEvent;
use reknit::json::Value;
use reknit::transcript::{Change, Chunk, Chunks, append};
use serde::Serialize;

use super::input::Input;
use super::lines::Place;
use super::noticed::Noticed;
use super::{Fold, Form, session_feed};
use crate::outcome::CommandError;
use crate::present::Presenter;

pub(super) struct Session {
    chunks: Chunks,
    form: Form,
}

impl Session {
    pub(super) fn new(form: Form, limits: &Limits) -> Self {
        Self { chunks: Chunks::default().with_limits(limits), form }
    }
}

impl Fold for Session {
    fn take(
        &mut self,
        event: Value,
        place: Place,
        presenter: &mut Presenter,
    ) -> Result<Vec<Noticed>, CommandError> {
        let event = match AgentEvent::read(event) {
            Ok((event, _)) => event,
            Err(misread) => return Ok(vec![Noticed::misread(&misread, place)]),
        };
        let change = append(&mut self.chunks, &event);
        match self.form {
            Form::People => session_feed::show(&change, &self.chunks, presenter),
            Form::Lines => presenter.print(&change)?,
            Form::Whole => {}
        }
        Ok(match &change {
            Change::Dropped(diagnostic) => vec![Noticed::dropped(&event, diagnostic, place)],
            _ => Vec::new(),
        })
    }

    fn finish(&mut self, _: Place, _: &mut Presenter) -> Result<Vec<Noticed>, CommandError> {
        Ok(Vec::new())
    }

    fn events(&self) -> u64 {
        self.chunks.events()
    }

    fn print(&self, input: &Input, presenter: &mut Presenter) -> Result<(), CommandError> {
        presenter.print(&Folded {
            chunks: &self.chunks,
            diagnostics: &input.noticed,
            diagnostics_omitted: input.omitted,
        })
    }
}

/// What all events became.
#[derive(Serialize)]
struct Folded<'a> {
    chunks: &'a [Chunk],
    diagnostics: &'a [Noticed],
    #[serde(skip_serializing_if = "is_zero")]
    diagnostics_omitted: u64,
}

pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}
