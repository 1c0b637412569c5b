use super::Dialect;
use crate::frame::{Frame, Kind};

fn check(dialect: Option<Dialect>, frames: &[&str]) {
    for data in frames {
        let frame =
            Frame { number: 0, bytes: 0..0, kind: Kind::Data, event: "message", data, id: "", retry: None };
        assert_eq!(Dialect::detect(&frame), dialect, "{data}");
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
fn frames_of_others_are_nobodys() {
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
            // Ollama's other streams, and what is no object.
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
