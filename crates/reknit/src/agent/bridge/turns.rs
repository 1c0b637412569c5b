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
    queues: BTreeMap<Voice, VecDeque<Turn>>,
    ready: VecDeque<AgentEvent>,
    last: Last,
}

#[derive(Clone, Debug)]
struct Turn {
    part: Address,
    /// What it has said while it waited.
    said: Vec<AgentEvent>,
    over: bool,
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
        let turn = Turn { part, said: Vec::new(), over: false };
        self.queues.entry(voice.clone()).or_default().push_back(turn);
    }

    /// A part that has begun says something.
    pub(super) fn say(&mut self, voice: &Voice, part: Address, event: AgentEvent) {
        let Some(queue) = self.queues.get_mut(voice) else { return };
        match queue.iter_mut().enumerate().rev().find(|(_, turn)| turn.part == part) {
            Some((0, _)) => self.tell(event),
            Some((_, turn)) => turn.said.push(event),
            None => {}
        }
    }

    /// A part has said all; the next of its voice is heard.
    pub(super) fn end(&mut self, voice: &Voice, part: Address) {
        let Some(mut queue) = self.queues.remove(voice) else { return };
        if let Some(turn) = queue.iter_mut().find(|turn| turn.part == part) {
            turn.over = true;
        }
        while queue.front().is_some_and(|turn| turn.over) {
            queue.pop_front();
            let said = queue.front_mut().map(|next| std::mem::take(&mut next.said));
            said.into_iter().flatten().for_each(|event| self.tell(event));
        }
        if !queue.is_empty() {
            self.queues.insert(voice.clone(), queue);
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
