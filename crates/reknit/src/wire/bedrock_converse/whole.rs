//! A reply of `Converse` without a stream.

use super::{Fold, count};
use crate::event::{Owner, Start};
use crate::wire::State;
use crate::wire::events::Events;
use crate::wire::fields::{Error, Faults, Raw};
use crate::wire::numbered_blocks::Open;

impl Fold {
    pub(super) fn whole(&mut self, reply: Raw<'_>, events: &mut Events) -> Result<(), Error> {
        let ([output, reason, usage], others) = reply.split(["output", "stopReason", "usage"])?;
        let message = output.and_then(|output| output.get("message")).unwrap_or_default();
        *self = Self { state: State::Within, ..Self::default() };
        let role = message.get("role").and_then(Raw::owned_string);
        events.started(Start { id: None, model: None, role });
        let (mut faults, mut index) = (Faults::default(), 0);
        faults.each("`content`", message.get("content"), |block| {
            self.blocks.close_bare(events);
            let read = self.content(index, block, events);
            if self.blocks.slot(index).is_some() {
                self.blocks.end(index, events);
            }
            index += 1;
            read
        });
        others.keep(Owner::Message, events);
        if let Some(usage) = usage {
            count(usage, events);
        }
        self.stop(reason.and_then(Raw::owned_string), events);
        faults.result()
    }

    fn content(&mut self, index: u64, block: Raw<'_>, events: &mut Events) -> Result<(), Error> {
        let mut kind = None;
        block.members(|key, value| kind = kind.take().or(Some((key.to_owned(), value))))?;
        match kind {
            Some((kind, _)) if kind == "text" => self.delta(index, block, events),
            Some((kind, content)) if kind == "reasoningContent" => {
                self.thinking(index, content.get("reasoningText").unwrap_or(content), events)
            }
            Some((kind, cited)) if kind == "citationsContent" => {
                let mut faults = Faults::default();
                faults.each("`content`", cited.get("content"), |part| {
                    let text = part.get("text").unwrap_or(Raw::new("\"\""));
                    self.grow(index, "text", Open::Text, text, events);
                    Ok(())
                });
                faults.each("`citations`", cited.get("citations"), |citation| {
                    self.append(index, "citation", "citations", citation, events);
                    Ok(())
                });
                faults.result()
            }
            _ => self.start(index, block, events),
        }
    }
}
