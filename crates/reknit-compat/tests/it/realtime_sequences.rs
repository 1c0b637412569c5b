//! Realtime events in any order, at any time: what must hold of every sequence.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use proptest::prelude::*;
use proptest::sample::Index;
use reknit::json::Value;
use reknit_compat::realtime::{
    Happening, MessageKind, MessageStatus, Processor, Profile, ServerEvent, Session, Time,
};

use crate::corpus;
use crate::realtime::lines;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn a_sequence_in_two_parts_is_the_sequence(steps in steps(), agent_c: bool, cut: Index) {
        let profile = if agent_c { Profile::AgentC } else { Profile::Documented };
        let mut whole = Processor::new(profile);
        let expected = process(&mut whole, &steps);
        let (first, second) = steps.split_at(cut.index(steps.len()));
        let mut processor = Processor::new(profile);
        let mut happenings = process(&mut processor, first);
        let saved = serde_json::to_string(&processor).unwrap();
        let mut processor: Processor = serde_json::from_str(&saved).unwrap();
        happenings.extend(process(&mut processor, second));
        prop_assert_eq!(happenings, expected);
        prop_assert_eq!(processor, whole);
    }

    /// The deltas of a session are the texts of its messages, in order; nothing is lost and nothing mixed in.
    #[test]
    fn every_delta_is_in_a_message_of_its_session(steps in steps()) {
        let steps: Vec<_> = steps.into_iter().filter(|(event, _)| may_not_replace(event)).collect();
        let mut processor = Processor::new(Profile::Documented);
        process(&mut processor, &steps);
        let mut deltas: BTreeMap<String, String> = BTreeMap::new();
        for (event, _) in &steps {
            if matches!(event.kind(), "text_delta" | "thought_delta")
                && let Some(content) = event.raw().get("content").and_then(Value::as_str)
            {
                deltas.entry(event.session_id().unwrap_or_default().to_owned()).or_default().push_str(&content);
            }
        }
        for (session, expected) in deltas {
            let messages = processor.sessions().get(&session).into_iter().flat_map(Session::messages);
            let built = messages.filter(|message| message.role == "assistant" && message.kind != MessageKind::Media);
            let open = processor.open_message(&session);
            let texts = built.chain(open.iter()).map(|message| message.content.as_str().unwrap().into_owned());
            prop_assert_eq!(texts.collect::<String>(), expected);
        }
    }

    /// At every end and at every pause, the last streaming report has the whole text, whatever the times were.
    #[test]
    fn the_last_text_is_reported(steps in steps(), agent_c: bool) {
        let profile = if agent_c { Profile::AgentC } else { Profile::Documented };
        let mut processor = Processor::new(profile);
        let (mut streamed, mut ended) = (BTreeMap::new(), BTreeSet::new());
        let mut follow = |happenings: Vec<Happening>| {
            for happening in happenings {
                match happening {
                    Happening::MessageStreaming { message, .. } => {
                        streamed.insert(message.id.clone(), message.content.clone());
                    }
                    Happening::MessageComplete { message, .. } => {
                        prop_assert_ne!(message.status, MessageStatus::Streaming);
                        prop_assert_eq!(streamed.get(&message.id), Some(&message.content));
                        prop_assert!(ended.insert(message.id));
                    }
                    _ => {}
                }
            }
            Ok(())
        };
        follow(process(&mut processor, &steps))?;
        follow(processor.flush(Time(u64::MAX)))?;
        for session in ["s1", "s2", "sub1"] {
            if let Some(open) = processor.open_message(session) {
                prop_assert_eq!(streamed.get(&open.id), Some(&open.content));
            }
        }
    }

    /// Every event has an effect or is counted.
    #[test]
    fn events_without_effect_are_counted(steps in steps()) {
        let mut processor = Processor::new(Profile::Documented);
        let happenings = process(&mut processor, &steps);
        let tally = processor.tally();
        let count = |name: &str| {
            let named = |happening: &&Happening| matches!(happening, Happening::Diagnostic(odd) if odd.kind.name() == name);
            happenings.iter().filter(named).count() as u64
        };
        prop_assert_eq!(tally.events, steps.len() as u64);
        prop_assert_eq!(tally.unknown, count("unknown-event"));
        prop_assert_eq!(tally.malformed, count("malformed-event"));
        prop_assert_eq!(tally.duplicate, count("duplicate-event"));
        prop_assert_eq!(tally.interrupted, count("interrupted-message"));
    }
}

/// Events of all cases in any order, each some time after the one before.
fn steps() -> impl Strategy<Value = Vec<(ServerEvent, Time)>> {
    let step = (any::<Index>(), prop_oneof![Just(0), 0..200u64, Just(6000)]);
    prop::collection::vec(step, 1..40).prop_map(|steps| {
        let mut at = 1_767_323_045_000;
        let mut timed = |(index, later): (Index, u64)| {
            at += later;
            (index.get(events()).clone(), Time(at))
        };
        steps.into_iter().map(&mut timed).collect()
    })
}

fn events() -> &'static [ServerEvent] {
    static EVENTS: OnceLock<Vec<ServerEvent>> = OnceLock::new();
    EVENTS.get_or_init(|| {
        let cases = corpus::cases("realtime");
        let lines = cases.iter().flat_map(lines);
        lines.filter_map(|line| line.get("event").cloned()).map(ServerEvent::from).collect()
    })
}

fn process(processor: &mut Processor, steps: &[(ServerEvent, Time)]) -> Vec<Happening> {
    steps.iter().flat_map(|(event, at)| processor.process(event, *at)).collect()
}

/// Whether an event keeps the existing messages and the current session.
fn may_not_replace(event: &ServerEvent) -> bool {
    event.kind() != "chat_session_changed"
}
