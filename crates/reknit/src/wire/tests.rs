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
        Some(Dialect::GeminiInteractions),
        &[
            r#"{"event_type":"interaction.created","interaction":{"id":"i","model":"m"}}"#,
            r#"{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"x"}}"#,
            r#"{"event_type":"error","error":{"code":"x","message":"y"}}"#,
            r#"{"id":"i","object":"interaction","status":"completed","steps":[]}"#,
        ],
    );
    check(
        Some(Dialect::BedrockConverse),
        &[
            r#"{"messageStart":{"role":"assistant"}}"#,
            r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"x"}}}"#,
            r#"{"metadata":{"usage":{"inputTokens":1}}}"#,
            r#"{"throttlingException":{"message":"x"}}"#,
            r#"{"output":{"message":{"role":"assistant","content":[]}},"stopReason":"end_turn"}"#,
        ],
    );
    check(
        Some(Dialect::Cohere),
        &[
            r#"{"type":"message-start","id":"m","delta":{"message":{"role":"assistant"}}}"#,
            r#"{"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"x"}}}}"#,
            r#"{"id":"m","message":{"role":"assistant","content":[]},"finish_reason":"COMPLETE"}"#,
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
fn an_event_stream_names_its_events() {
    let named = |event, kind| Frame { event, kind, ..frame(r#"{"contentBlockIndex":0}"#) };
    let bedrock = Some(Dialect::BedrockConverse);
    assert_eq!(Dialect::detect(&named("contentBlockStop", Kind::Data)), bedrock);
    assert_eq!(Dialect::detect(&named("chunk", Kind::Data)), None);
    assert_eq!(Dialect::detect(&named("InternalFailure", Kind::Error)), bedrock);
    assert_eq!(Dialect::detect(&named("contentBlockStop", Kind::Comment)), None);
}

#[test]
fn frames_of_other_formats_are_not_claimed() {
    check(
        None,
        &[
            // Words that Gemini's Interactions, Bedrock, Cohere and Agent C use, but not like this.
            r#"{"event_type":"error","usageMetadata":{},"candidates":[]}"#,
            r#"{"event_type":"note","text":"x"}"#,
            r#"{"metadata":{"usage":{"tokens":1}}}"#,
            r#"{"messageStop":"now"}"#,
            r#"{"message":"x"}"#,
            r#"{"type":"message","id":"m"}"#,
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
const SHAPES: [(Dialect, &[&str]); 6] = [
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
        Dialect::BedrockConverse,
        &[
            r#"{"messageStart":{"role":"$"}}"#,
            r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"$"},"p":"%"}}"#,
            r#"{"contentBlockDelta":{"p":"%","contentBlockIndex":0,"delta":{"reasoningContent":{"text":"$"}}}}"#,
            r#"{"contentBlockDelta":{"contentBlockIndex":1,"delta":{"reasoningContent":{"signature":"$"}}}}"#,
            r#"{"contentBlockStart":{"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"$","name":"f"}}}}"#,
            r#"{"contentBlockDelta":{"contentBlockIndex":2,"delta":{"toolUse":{"input":"$"}}}}"#,
            r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"a"}},"x":"$"}"#,
            r#"{"contentBlockStop":{"contentBlockIndex":0}}"#,
            r#"{"contentBlockStop":{"contentBlockIndex":2}}"#,
            r#"{"messageStop":{"stopReason":"$"}}"#,
        ],
    ),
    (
        Dialect::Cohere,
        &[
            r#"{"type":"message-start","id":"$"}"#,
            r#"{"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"$"}}}}"#,
            r#"{"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"$"}}},"logprobs":1}"#,
            r#"{"type":"tool-plan-delta","delta":{"message":{"tool_plan":"$"}}}"#,
            r#"{"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":{"id":"$","function":{"name":"f"}}}}}"#,
            r#"{"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":"$"}}}}}"#,
            r#"{"type":"tool-call-end","index":0}"#,
            r#"{"type":"content-end","index":0}"#,
            r#"{"type":"message-end","delta":{"finish_reason":"$"}}"#,
        ],
    ),
    (
        Dialect::GeminiInteractions,
        &[
            r#"{"event_type":"interaction.created","interaction":{"id":"$"}}"#,
            r#"{"event_type":"step.start","index":0,"step":{"type":"model_output"}}"#,
            r#"{"event_type":"step.start","index":1,"step":{"type":"function_call","id":"$","name":"f"}}"#,
            r#"{"event_type":"step.delta","event_id":"%","index":0,"delta":{"type":"text","text":"$"}}"#,
            r#"{"event_type":"step.delta","index":1,"delta":{"type":"arguments_delta","arguments":"$"}}"#,
            r#"{"event_type":"step.delta","index":0,"delta":{"type":"image","data":"$"}}"#,
            r#"{"event_type":"step.stop","index":0}"#,
            r#"{"event_type":"step.stop","index":1}"#,
            r#"{"event_type":"interaction.completed","interaction":{"status":"$"}}"#,
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
