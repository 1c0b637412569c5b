//! The JSON form of [`Usage`] in agent events, which have other names for the counts.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::event::Usage;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cache_read_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cache_write_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reasoning_tokens: Option<u64>,
}

pub(crate) fn serialize<S: Serializer>(usage: &Usage, serializer: S) -> Result<S::Ok, S::Error> {
    let tokens = Tokens {
        input_tokens: usage.input,
        output_tokens: usage.output,
        cache_read_tokens: usage.cache_read,
        cache_write_tokens: usage.cache_write,
        reasoning_tokens: usage.reasoning,
    };
    tokens.serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Usage, D::Error> {
    let tokens = Tokens::deserialize(deserializer)?;
    Ok(Usage {
        input: tokens.input_tokens,
        output: tokens.output_tokens,
        cache_read: tokens.cache_read_tokens,
        cache_write: tokens.cache_write_tokens,
        reasoning: tokens.reasoning_tokens,
    })
}

/// Counts in this form.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct Counts(#[serde(with = "self")] pub(crate) Usage);

/// The same for an `Option`.
pub(crate) mod optional {
    use serde::Serializer;

    use crate::event::Usage;

    pub(crate) fn serialize<S: Serializer>(usage: &Option<Usage>, serializer: S) -> Result<S::Ok, S::Error> {
        match usage {
            Some(usage) => super::serialize(usage, serializer),
            None => serializer.serialize_none(),
        }
    }
}
