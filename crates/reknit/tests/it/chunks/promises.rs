//! What is true for any events in any order. The tests and the fuzzer check it.

use reknit::Limits;
use reknit::agent::AgentEvent;
use reknit::diagnostic::{Kind, Location};
use reknit::transcript::{Change, Chunk, Chunks, append};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::naive;

/// Checks all of it.
pub(crate) fn hold(events: &[AgentEvent]) {
    events_are_what_was_written(events);
    a_copy_that_follows_is_the_same(events);
    chunks_that_are_read_back_continue_in_the_same_way(events);
    joined_deltas_show_the_same(events);
    every_event_is_accounted_for(events);
    a_simple_implementation_shows_the_same(events);
}

fn events_are_what_was_written(events: &[AgentEvent]) {
    for event in events {
        assert_eq!(through_json::<_, AgentEvent>(event), *event);
    }
}

/// A copy has the same chunks after each change, also if the change was sent as JSON.
fn a_copy_that_follows_is_the_same(events: &[AgentEvent]) {
    let (mut chunks, mut copy) = (Chunks::default(), Chunks::default());
    for event in events {
        let change = append(&mut chunks, event).into_owned();
        let read: Change<'static> = through_json(&change);
        assert_eq!(read, change);
        copy.follow(&read).unwrap_or_else(|misfit| panic!("{change:?}: {misfit}"));
        assert_eq!(copy, chunks, "after {event:?}");
    }
}

/// Chunks may be written and read back after any event.
fn chunks_that_are_read_back_continue_in_the_same_way(events: &[AgentEvent]) {
    let whole = fold(events);
    let mut before = Chunks::default();
    for at in 0..=events.len() {
        let list: Vec<Chunk> = through_json(&before[..]);
        assert_eq!(list, before[..]);
        let mut read_back = Chunks::from(list);
        for event in &events[at..] {
            append(&mut read_back, event);
        }
        assert_eq!(read_back[..], whole[..], "read back before event {at}");
        if let Some(event) = events.get(at) {
            append(&mut before, event);
        }
    }
}

/// A log may store two deltas as one.
fn joined_deltas_show_the_same(events: &[AgentEvent]) {
    let mut joined: Vec<AgentEvent> = Vec::new();
    for event in events {
        if !joined.last_mut().is_some_and(|last| join(last, event)) {
            joined.push(event.clone());
        }
    }
    assert_eq!(fold(&joined)[..], fold(events)[..], "{joined:?}");
}

/// An event changes the chunks, changes nothing, or is reported. All events that are reported are counted.
fn every_event_is_accounted_for(events: &[AgentEvent]) {
    let mut limits = Limits::default();
    limits.diagnostics = 2;
    let mut chunks = Chunks::default().with_limits(&limits);
    let (mut seen, mut silent, mut dropped) = (0, 0, Vec::new());
    for (number, event) in (0..).zip(events) {
        let before = chunks.to_vec();
        match append(&mut chunks, event) {
            Change::Nothing {} => {
                silent += 1;
                assert_eq!(chunks[..], before, "{event:?} changes nothing");
            }
            Change::Dropped(diagnostic) => {
                let is_unknown = matches!(event, AgentEvent::Unknown(_));
                let kind = if is_unknown { Kind::UnknownAgentEvent } else { Kind::OrphanAgentEvent };
                assert_eq!(
                    (diagnostic.kind, diagnostic.location),
                    (kind, Location::Event(number)),
                    "{event:?}"
                );
                assert_eq!(chunks[..], before, "{event:?} is dropped");
                dropped.push(diagnostic);
            }
            _ => seen += 1,
        }
    }
    assert_eq!(seen + silent + dropped.len(), events.len());
    assert_eq!(chunks.events(), events.len() as u64);
    assert!(chunks.diagnostics().iter().eq(dropped.iter().take(2)));
    assert_eq!(chunks.diagnostics().omitted(), dropped.len().saturating_sub(2) as u64);
}

fn a_simple_implementation_shows_the_same(events: &[AgentEvent]) {
    let (mut chunks, mut plain) = (Chunks::default(), Vec::new());
    for event in events {
        let json: serde_json::Value = through_json(event);
        if naive::knows(&json) {
            append(&mut chunks, event);
            naive::append(&mut plain, &json);
        }
    }
    assert_eq!(through_json::<_, serde_json::Value>(&chunks[..]), serde_json::Value::from(plain));
}

fn fold(events: &[AgentEvent]) -> Chunks {
    let mut chunks = Chunks::default();
    for event in events {
        append(&mut chunks, event);
    }
    chunks
}

/// Appends a delta to the one before it, if both belong to the same thing.
fn join(last: &mut AgentEvent, event: &AgentEvent) -> bool {
    use AgentEvent::{EditPreview, ReasoningDelta, ShellOutput, TextDelta, ToolInputDelta};
    let (grown, delta) = match (last, event) {
        (TextDelta { delta: grown }, TextDelta { delta })
        | (ReasoningDelta { delta: grown }, ReasoningDelta { delta }) => (grown, delta),
        (
            ToolInputDelta { tool_call_id: one, delta: grown },
            ToolInputDelta { tool_call_id: other, delta },
        ) if one == other => (grown, delta),
        (
            ShellOutput { data: grown, stream: to, tool_call_id: one },
            ShellOutput { data: delta, stream, tool_call_id: other },
        ) if (*to, &*one) == (*stream, other) => (grown, delta),
        (
            EditPreview { tool_call_id: one, path: file, delta: grown, .. },
            EditPreview { tool_call_id: other, path, delta, restarted: false },
        ) if (&*one, &*file) == (other, path) => (grown, delta),
        _ => return false,
    };
    grown.push_str(delta);
    true
}

fn through_json<T: Serialize + ?Sized, R: DeserializeOwned>(value: &T) -> R {
    let json = serde_json::to_string(value).expect("it is JSON");
    serde_json::from_str(&json).unwrap_or_else(|error| panic!("{json}: {error}"))
}
