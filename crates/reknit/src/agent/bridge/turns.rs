//! [`Turns`]: reports blocks that grow at the same time one after the other.

use std::collections::{BTreeMap, VecDeque};

use crate::agent::AgentEvent;
use crate::event::Slot;
use crate::json::Object;

/// Blocks on the same track have to be reported one after the other, or their content would be mixed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Track {
    Text,
    Thinking,
    /// A call with this id.
    Call(String),
}

/// The events that are ready, and those that wait for the end of another block on their track.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    /// The blocks on each track. The first one is being reported, the others wait.
    queues: BTreeMap<Track, VecDeque<Slot>>,
    waiting: BTreeMap<Slot, Waiting>,
    ready: VecDeque<AgentEvent>,
    last: Last,
}

/// A block that waits for another one on its track.
#[derive(Clone, Debug, Default)]
struct Waiting {
    /// Its events so far.
    events: Vec<AgentEvent>,
    is_over: bool,
}

/// The chunk that the events so far end with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Last {
    #[default]
    Other,
    Thinking,
    /// Thinking that is over but not sealed.
    Unsealed,
}

impl Turns {
    /// A block starts. It waits if its track is in use.
    pub(super) fn begin(&mut self, track: &Track, block: Slot) {
        let queue = self.queues.entry(track.clone()).or_default();
        if !queue.is_empty() {
            self.waiting.insert(block, Waiting::default());
        }
        queue.push_back(block);
    }

    /// Adds an event of a block that has started.
    pub(super) fn send(&mut self, block: Slot, event: AgentEvent) {
        match self.waiting.get_mut(&block) {
            Some(waiting) => waiting.events.push(event),
            None => self.emit(event),
        }
    }

    /// A block ends. If it was being reported, the next one on its track is reported from now on.
    pub(super) fn end(&mut self, track: &Track, block: Slot) {
        if let Some(waiting) = self.waiting.get_mut(&block) {
            waiting.is_over = true;
            return;
        }
        let Some(mut queue) = self.queues.remove(track) else { return };
        queue.pop_front();
        while let Some(next) = queue.front() {
            let Waiting { events, is_over } = self.waiting.remove(next).unwrap_or_default();
            events.into_iter().for_each(|event| self.emit(event));
            if !is_over {
                self.queues.insert(track.clone(), queue);
                return;
            }
            queue.pop_front();
        }
    }

    /// Adds an event that does not have to wait.
    pub(super) fn emit(&mut self, event: AgentEvent) {
        match &event {
            AgentEvent::ReasoningDelta { .. } => {
                // Without a seal, this text would be appended to the previous thinking, and its signature
                // would cover both.
                if self.last == Last::Unsealed {
                    let metadata = Some(Object::new().into());
                    self.ready.push_back(AgentEvent::ReasoningEnd { metadata });
                }
                self.last = Last::Thinking;
            }
            AgentEvent::ReasoningEnd { metadata: None } if self.last == Last::Thinking => {
                self.last = Last::Unsealed;
            }
            AgentEvent::ReasoningEnd { metadata: Some(_) }
            | AgentEvent::TextDelta { .. }
            | AgentEvent::ToolInputStart { .. }
            | AgentEvent::Error { .. } => self.last = Last::Other,
            _ => {}
        }
        self.ready.push_back(event);
    }

    pub(super) fn next(&mut self) -> Option<AgentEvent> {
        self.ready.pop_front()
    }
}
