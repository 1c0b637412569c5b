//! What providers refuse: whether the messages of a request could be sent, by the rules of each provider's
//! documentation and by the errors that it answers with. For tests: the crates themselves do not use it.
//!
//! [`validate`] looks at messages. [`server`] is a provider that refuses what it should, and answers the rest.

use reknit::Dialect;
use reknit::json::Value;

mod rule;
mod anthropic;
mod openai_chat;
mod openai_responses;
mod gemini;
mod bedrock_converse;
mod cohere;
mod ollama;
pub mod server;

/// The dialects that requests are made in.
pub const DIALECTS: [Dialect; 7] = [
    Dialect::Anthropic,
    Dialect::OpenAiChat,
    Dialect::OpenAiResponses,
    Dialect::Gemini,
    Dialect::BedrockConverse,
    Dialect::Cohere,
    Dialect::Ollama,
];

/// Whether a provider would take these messages, or the rule that they break.
pub fn validate(dialect: Dialect, messages: &[Value]) -> Result<(), String> {
    match dialect {
        Dialect::Anthropic => anthropic::validate(messages),
        Dialect::OpenAiChat => openai_chat::validate(messages),
        Dialect::OpenAiResponses => openai_responses::validate(messages),
        Dialect::BedrockConverse => bedrock_converse::validate(messages),
        Dialect::Cohere => cohere::validate(messages),
        Dialect::Ollama => ollama::validate(messages),
        _ => gemini::validate(messages),
    }
}
