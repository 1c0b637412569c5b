//! [`Turns`]: parts that grow at the same time, told one after the other.

use std::collections::{BTreeMap, VecDeque};

use crate::agent::AgentEvent;
use crate::json::Object;
use crate::parts::Address;

/// What the events of a part are told apart by. Parts of one voice would run into each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Voice {
    Text,
    Thinking,
    /// That of a call with this id.
    Call(String),
}

/// The events that may be told now, and those that wait for another part of their voice to end.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    /// The parts of each voice that are open or wait; the first of them is heard.
    queues: BTreeMap<Voice, VecDeque<Address>>,
    waiting: BTreeMap<Address, Waiting>,
    ready: VecDeque<AgentEvent>,
    last: Last,
}

/// A part that another of its voice stands before.
#[derive(Clone, Debug, Default)]
struct Waiting {
    /// What it has said meanwhile.
    said: Vec<AgentEvent>,
    is_over: bool,
}

/// What the chunk is that the events told so far end with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Last {
    #[default]
    Other,
    Thinking,
    /// Thinking that is over, with nothing that seals it.
    Unsealed,
}

impl Turns {
    /// A part begins to speak, or to wait.
    pub(super) fn begin(&mut self, voice: &Voice, part: Address) {
        let queue = self.queues.entry(voice.clone()).or_default();
        if !queue.is_empty() {
            self.waiting.insert(part, Waiting::default());
        }
        queue.push_back(part);
    }

    /// A part that has begun says something.
    pub(super) fn say(&mut self, part: Address, event: AgentEvent) {
        match self.waiting.get_mut(&part) {
            Some(waiting) => waiting.said.push(event),
            None => self.tell(event),
        }
    }

    /// A part has said all; if it was heard, the next of its voice is.
    pub(super) fn end(&mut self, voice: &Voice, part: Address) {
        if let Some(waiting) = self.waiting.get_mut(&part) {
            waiting.is_over = true;
            return;
        }
        let Some(mut queue) = self.queues.remove(voice) else { return };
        queue.pop_front();
        while let Some(next) = queue.front() {
            let Waiting { said, is_over } = self.waiting.remove(next).unwrap_or_default();
            said.into_iter().for_each(|event| self.tell(event));
            if !is_over {
                self.queues.insert(voice.clone(), queue);
                return;
            }
            queue.pop_front();
        }
    }

    /// Tells something that belongs to no voice, or whose turn it is.
    pub(super) fn tell(&mut self, event: AgentEvent) {
        match &event {
            AgentEvent::ReasoningDelta { .. } => {
                // Without a seal this thinking would go on with the last one, and its signature cover both.
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
