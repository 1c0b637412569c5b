//! Spans of turns, requests and calls, with the names of OpenTelemetry's conventions for generative models.
//!
//! They cost next to nothing until somebody subscribes to them. Nothing that a model or a user said is in them.

use reknit::message::Message;
use tracing::field::Empty;
use tracing::{Span, info_span};

use crate::provider::{Error, Provider};
use crate::turn::Call;

/// A turn: everything between two words of the user.
pub(super) fn turn(session: &str, provider: &dyn Provider) -> Span {
    info_span!(
        parent: None,
        "invoke_agent",
        "gen_ai.operation.name" = "invoke_agent",
        "gen_ai.conversation.id" = session,
        "gen_ai.request.model" = provider.model(),
        "gen_ai.provider.name" = provider_name(provider),
        "error.type" = Empty,
    )
}

/// A request, until its reply is over.
pub(super) fn request(turn: &Span, session: &str, provider: &dyn Provider) -> Span {
    info_span!(
        parent: turn,
        "chat",
        "gen_ai.operation.name" = "chat",
        "gen_ai.conversation.id" = session,
        "gen_ai.request.model" = provider.model(),
        "gen_ai.provider.name" = provider_name(provider),
        "gen_ai.response.id" = Empty,
        "gen_ai.response.model" = Empty,
        "gen_ai.response.finish_reasons" = Empty,
        "gen_ai.usage.input_tokens" = Empty,
        "gen_ai.usage.output_tokens" = Empty,
        "error.type" = Empty,
    )
}

/// A call, from its review to its result.
pub(super) fn call(turn: &Span, call: &Call) -> Span {
    info_span!(
        parent: turn,
        "execute_tool",
        "gen_ai.operation.name" = "execute_tool",
        "gen_ai.tool.name" = &*call.name,
        "gen_ai.tool.call.id" = &*call.id,
        "gen_ai.tool.type" = "function",
    )
}

/// Notes what became of a reply.
pub(super) fn note_reply(span: &Span, message: &Message) {
    if let Some(id) = message.id() {
        span.record("gen_ai.response.id", id);
    }
    if let Some(model) = message.model() {
        span.record("gen_ai.response.model", model);
    }
    if let Some(stop) = message.stop() {
        let reasons = serde_json::to_string(&[stop.reason]).unwrap_or_default();
        span.record("gen_ai.response.finish_reasons", reasons);
    }
    let usage = message.usage();
    if let Some(input) = usage.input {
        span.record("gen_ai.usage.input_tokens", input);
    }
    if let Some(output) = usage.output {
        span.record("gen_ai.usage.output_tokens", output);
    }
    if let Some(failure) = message.failure() {
        span.record("error.type", failure.kind.as_deref().unwrap_or("failed"));
    }
}

/// Notes why there is no reply.
pub(super) fn note_error(span: &Span, error: &Error) {
    span.record("error.type", error.kind.name());
}

/// What the conventions call the provider.
fn provider_name(provider: &dyn Provider) -> &'static str {
    match provider.dialect().name() {
        "openai-chat" | "openai-responses" => "openai",
        "gemini" | "gemini-interactions" => "gcp.gemini",
        "bedrock-converse" => "aws.bedrock",
        name => name,
    }
}
