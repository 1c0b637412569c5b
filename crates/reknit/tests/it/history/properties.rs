//! What must hold of the messages of any log.

use proptest::prelude::*;
use reknit::Dialect;
use reknit::agent::{AgentEvent, Body, Content};
use reknit::json::Value;

use super::parsed;
use super::promises::{self, DIALECTS, log, request};
use super::sessions::{any_entries, session};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn a_session_cut_anywhere_is_accepted_and_comes_back(bodies in session()) {
        let entries = log(bodies);
        for cut in 0..=entries.len() {
            for dialect in DIALECTS {
                if let Err(why) = promises::hold(dialect, &entries[..cut]) {
                    prop_assert!(false, "cut at {cut}: {why}");
                }
            }
        }
    }

    #[test]
    fn entries_in_any_order_are_accepted_and_come_back(bodies in any_entries()) {
        let entries = log(bodies);
        for dialect in DIALECTS {
            if let Err(why) = promises::hold(dialect, &entries) {
                prop_assert!(false, "{why}");
            }
        }
    }

    /// Only the last message may grow, if nothing came of the reply to it. What another provider was asked was
    /// not sent to this one.
    #[test]
    fn what_was_sent_stays_as_it_was_sent(bodies in session()) {
        let is_condensation = |body: &Body| matches!(body, Body::Condensation { .. });
        let entries = log(bodies.into_iter().filter(|body| !is_condensation(body)).collect());
        for dialect in DIALECTS {
            let all = request(dialect, &entries).messages;
            for (at, entry) in entries.iter().enumerate() {
                if let Body::Request { dialect: asked, .. } = &entry.body && asked == dialect.name() {
                    let sent = request(dialect, &entries[..at]).messages;
                    let stays = sent.len().saturating_sub(1);
                    prop_assert_eq!(&sent[..stays], &all[..stays], "{}, before entry {}", dialect, at);
                }
            }
        }
    }

    /// Whatever a provider sends with its thinking goes back byte for byte.
    #[test]
    fn thinking_is_sent_back_as_it_came(thought in ".+", seal in ".+") {
        let metadata = |key: &str| {
            [(key, Value::from(&*seal)), ("id", "rs_1".into())].into_iter().collect::<reknit::json::Object>()
        };
        for (dialect, key, place_of_text, place_of_seal) in [
            (Dialect::Anthropic, "signature", "/content/0/thinking", "/content/0/signature"),
            (Dialect::OpenAiChat, "signature", "/reasoning_details/0/text", "/reasoning_details/0/signature"),
            (Dialect::OpenAiResponses, "redactedData", "/summary/0/text", "/encrypted_content"),
            (Dialect::Gemini, "signature", "/parts/0/text", "/parts/0/thoughtSignature"),
        ] {
            let end = AgentEvent::ReasoningEnd { metadata: Some(metadata(key).into()) };
            let entries = log(vec![
                Body::UserMessage { content: vec![Content::Text { text: "Why?".to_owned() }] },
                Body::Request { dialect: dialect.name().to_owned(), model: "m".to_owned() },
                Body::Agent(AgentEvent::ReasoningDelta { delta: thought.clone() }),
                Body::Agent(end),
                Body::Agent(AgentEvent::TextDelta { delta: "So.".to_owned() }),
            ]);
            let messages = request(dialect, &entries).messages;
            for (place, expected) in [(place_of_text, &thought), (place_of_seal, &seal)] {
                let found = messages[1].pointer(place).and_then(Value::as_str);
                prop_assert_eq!(found.as_deref(), Some(&**expected), "{}", dialect);
            }
        }
    }
}

#[test]
fn a_call_keeps_every_digit_of_its_arguments() {
    let event = r#"{"type":"tool-call","toolCall":{"id":"c","name":"pay","arguments":{"sum":1.10,"to":12345678901234567890}}}"#;
    let entries = log(vec![
        Body::Request { dialect: "anthropic".to_owned(), model: "m".to_owned() },
        Body::Agent(serde_json::from_str(event).expect("it is an event")),
    ]);
    for (dialect, place) in
        [(Dialect::Anthropic, "/1/content/0/input"), (Dialect::Gemini, "/1/parts/0/functionCall/args")]
    {
        let messages = Value::from(request(dialect, &entries).messages);
        let expected = parsed(r#"{"sum":1.10,"to":12345678901234567890}"#);
        assert_eq!(messages.pointer(place), Some(&expected));
    }
}
