//! The counts of tokens, under the names that the many servers use.

use super::super::fields::Raw;
use crate::event::Usage;

pub(super) fn counts(usage: Raw<'_>) -> Usage {
    let mut counts = Usage::default();
    let _ = usage.members(|key, value| match key {
        "prompt_tokens" => counts.input = value.number(),
        "completion_tokens" => counts.output = value.number(),
        "prompt_cache_hit_tokens" | "cache_read_input_tokens" | "cached_tokens" => {
            counts.cache_read = value.number();
        }
        "cache_creation_input_tokens" => counts.cache_write = value.number(),
        "reasoning_tokens" => counts.reasoning = value.number(),
        "prompt_tokens_details" => {
            let _ = value.members(|key, value| match key {
                "cached_tokens" => counts.cache_read = value.number().or(counts.cache_read),
                "cache_write_tokens" => counts.cache_write = value.number().or(counts.cache_write),
                _ => {}
            });
        }
        "completion_tokens_details" => {
            counts.reasoning = value.get("reasoning_tokens").and_then(Raw::number).or(counts.reasoning);
        }
        _ => {}
    });
    counts
}
