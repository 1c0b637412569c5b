//! [`Events`]: a reply as agent events, a line each.

use std::io::{BufWriter, StdoutLock};

use reknit::agent::Bridge;
use reknit::message::Change;
use reknit::tags::{Grammar, GrammarError};
use reknit::{Limits, Message, Parts};

use super::tagged::IDS;
use crate::outcome::Trouble;
use crate::print::print_json;

/// A reply on its way to agent events.
pub(super) struct Events {
    parts: Parts,
    bridge: Bridge,
}

impl Events {
    pub(super) fn new(tags: Option<&Grammar>) -> Result<Self, GrammarError> {
        let limits = Limits::default();
        let parts = match tags {
            Some(grammar) => Parts::with_grammar(grammar, None, IDS, &limits)?,
            None => Parts::new(&limits),
        };
        Ok(Self { parts, bridge: Bridge::new() })
    }

    pub(super) fn show(
        &mut self,
        change: &Change<'_>,
        message: &Message,
        out: &mut BufWriter<StdoutLock<'static>>,
    ) -> Result<(), Trouble> {
        let mut changes = self.parts.follow(message, change);
        while let Some((change, list)) = changes.next() {
            self.bridge.follow(&change, list, message);
        }
        drop(changes);
        self.print(out)
    }

    /// The reply is over.
    pub(super) fn end(&mut self, out: &mut BufWriter<StdoutLock<'static>>) -> Result<(), Trouble> {
        self.bridge.finish();
        self.print(out)
    }

    fn print(&mut self, out: &mut BufWriter<StdoutLock<'static>>) -> Result<(), Trouble> {
        while let Some(event) = self.bridge.next_event() {
            print_json(out, &event)?;
        }
        Ok(())
    }
}
