use proptest::prelude::*;

use super::{Dialect, Translator};
use crate::frame::{Frame, Kind};

fn frame(data: &str) -> Frame<'_> {
    Frame { number: 0, bytes: 0..0, kind: Kind::Data, event: "message", data, id: "", retry: None }
}

fn check(dialect: Option<Dialect>, frames: &[&str]) {
    for data in frames {
        assert_eq!(Dialect::detect(&frame(data)), dialect, "{data}");
    }
}

#[test]
fn a_dialect_is_known_by_its_frames() {
    check(
        Some(Dialect::Anthropic),
        &[
            r#"{"type":"message_start","message":{"model":"m","content":[],"usage":{}}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}"#,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"x"}}"#,
        ],
    );
    check(
        Some(Dialect::OpenAiChat),
        &[
            r#"{"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"x"}}]}"#,
            r#"{"id":"c","choices":[],"usage":{"prompt_tokens":1}}"#,
            r#"{"error":{"message":"x","type":"server_error","code":null}}"#,
            r#"{"error":{"message":"x","code":502}}"#,
        ],
    );
    check(
        Some(Dialect::OpenAiResponses),
        &[
            r#"{"type":"response.created","response":{"id":"r","model":"m","output":[]},"sequence_number":0}"#,
            r#"{"type":"response.output_text.delta","delta":"x","output_index":0,"sequence_number":4}"#,
            r#"{"id":"r","object":"response","output":[],"error":null,"status":"completed"}"#,
        ],
    );
    check(
        Some(Dialect::Gemini),
        &[
            r#"{"candidates":[{"content":{"parts":[{"text":"x"}],"role":"model"}}],"responseId":"r"}"#,
            r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#,
            r#"{"usageMetadata":{"promptTokenCount":1},"modelVersion":"m"}"#,
            r#"{"response":{"candidates":[]},"traceId":"t"}"#,
            r#"{"error":{"code":429,"message":"x","status":"RESOURCE_EXHAUSTED"}}"#,
        ],
    );
    check(
        Some(Dialect::Ollama),
        &[
            r#"{"model":"m","created_at":"t","message":{"role":"assistant","content":"x"},"done":false}"#,
            r#"{"model":"m","created_at":"t","response":"x","done":true}"#,
            r#"{"error":"model not found"}"#,
        ],
    );
    check(
        Some(Dialect::AgentC),
        &[
            r#"{"type":"text_delta","session_id":"s","role":"assistant","content":"x","format":"text"}"#,
            r#"{"type":"interaction","session_id":"s","started":true,"id":"i"}"#,
            r#"{"type":"user_turn_start","session_id":"s"}"#,
            r#"{"type":"chat_session_changed","chat_session":{"session_id":"s","messages":[]}}"#,
        ],
    );
}

#[test]
fn frames_of_other_formats_are_not_claimed() {
    check(
        None,
        &[
            // Gemini's Interactions.
            r#"{"event_type":"interaction.created","interaction":{"id":"i","model":"m"}}"#,
            r#"{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"x"}}"#,
            r#"{"event_type":"error","usageMetadata":{},"candidates":[]}"#,
            // Cohere, Bedrock, and a word of Agent C without a session.
            r#"{"type":"message-start","id":"m","delta":{"message":{"role":"assistant"}}}"#,
            r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"x"}}}"#,
            r#"{"metadata":{"usage":{"inputTokens":1}}}"#,
            r#"{"type":"text_delta","content":"x"}"#,
            // Ollama's other streams, and what is not an object.
            r#"{"status":"pulling manifest"}"#,
            r#"{"model":"m","embeddings":[[0.1]],"done":true}"#,
            r#"{"error":"x","error_type":"validation"}"#,
            "[1]",
            "\"x\"",
            "{}",
            "nothing",
        ],
    );
}

/// Frames with a `$` for a string that varies and a `%` for padding.
const SHAPES: [(Dialect, &[&str]); 3] = [
    (
        Dialect::Anthropic,
        &[
            r#"{"type":"message_start","message":{"id":"$"}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"$"}}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"f"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"$"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"$","x":"y"}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"$"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"$","text":"a"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"$" 1}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_stop","index":1}"#,
            r#"{"type":"message_stop"}"#,
        ],
    ),
    (
        Dialect::OpenAiChat,
        &[
            r#"{"id":"c","choices":[{"index":0,"delta":{"content":"$"}}],"p":"%"}"#,
            r#"{"id":"$","choices":[{"index":0,"delta":{"content":"a"}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"$","reasoning":"a"}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"\ud83d","reasoning":"$"}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"$"}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"$"}},{"index":1,"delta":{"content":"$"}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"i","function":{"name":"$"}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"$"}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"arguments":"$"}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"id":"$","function":{"arguments":"a"}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"name":"f","arguments":"$"}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"a","tool_calls":[{"function":{"arguments":"$"}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"arguments":"$"}},{"function":{}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"$"},"finish_reason":"stop"}]}"#,
            r#"{"usage":{"prompt_tokens":1}}"#,
            "[DONE]",
        ],
    ),
    (
        Dialect::Ollama,
        &[
            r#"{"model":"m","created_at":"%","message":{"content":"$"},"done":false}"#,
            r#"{"model":"m","created_at":"%","message":{"thinking":"$"},"done":false}"#,
            r#"{"model":"m","response":"$","created_at":"%","done":false}"#,
            r#"{"model":"m","created_at":"%","message":{"content":"$"},"done":true}"#,
        ],
    ),
];

fn body() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "a",
        "b c",
        r"\n",
        r"\ud83d",
        r"\ude00",
        r"a\ud83d",
        r"\q",
        "{",
        r#"{\"a\":1}"#,
    ])
}

/// Frames of one dialect, in runs of the same shape.
fn frames() -> impl Strategy<Value = (Dialect, Vec<String>)> {
    prop::sample::select(SHAPES.to_vec()).prop_flat_map(|(dialect, shapes)| {
        let run = (prop::sample::select(shapes), prop::collection::vec((body(), body()), 1..4));
        prop::collection::vec(run, 1..12).prop_map(move |runs| {
            let frames = runs.into_iter().flat_map(|(shape, bodies)| {
                bodies.into_iter().map(move |(text, padding)| shape.replace('$', text).replace('%', padding))
            });
            (dialect, frames.collect())
        })
    })
}

proptest! {
    #[test]
    fn a_repeated_frame_is_read_like_any_other((dialect, frames) in frames()) {
        let mut translator = Translator::new(dialect);
        let mut reader = Translator::new(dialect);
        for data in &frames {
            translator.push(&frame(data));
            reader.repeat.set(&frame(data), None);
            reader.push(&frame(data));
            loop {
                let (event, expected) = (translator.next_event(), reader.next_event());
                prop_assert_eq!(&event, &expected, "{:#?}", frames);
                if event.is_none() {
                    break;
                }
            }
        }
        translator.finish(0);
        reader.finish(0);
        prop_assert_eq!(translator.next_event(), reader.next_event());
    }
}
