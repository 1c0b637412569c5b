//! [`Price`]: what a provider's tokens cost.

use reknit::Dialect;
use reknit::event::Usage;

/// What a million tokens cost, in US dollars.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "http", derive(serde::Deserialize), serde(deny_unknown_fields))]
pub struct Price {
    /// Tokens of requests.
    pub input: f64,
    /// Tokens of replies, including thinking.
    pub output: f64,
    /// Tokens of requests that were read from a cache. Without this, the price of other tokens.
    #[cfg_attr(feature = "http", serde(default))]
    pub cache_read: Option<f64>,
    /// Tokens of requests that were written to a cache. Without this, the price of other tokens.
    #[cfg_attr(feature = "http", serde(default))]
    pub cache_write: Option<f64>,
}

impl Price {
    /// What these tokens cost, in US dollars, as this dialect counts them.
    ///
    /// ```
    /// use reknit::{Dialect, event::Usage};
    /// use reknit_runtime::provider::Price;
    ///
    /// let price = Price { input: 3.0, output: 15.0, cache_read: Some(0.3), cache_write: Some(3.75) };
    /// let usage = Usage { input: Some(1_000_000), cache_read: Some(1_000_000), ..Usage::default() };
    /// // Anthropic's input does not include what was read from the cache, OpenAI's does.
    /// assert_eq!(price.of(&usage, Dialect::Anthropic), 3.3);
    /// assert_eq!(price.of(&usage, Dialect::OpenAiResponses), 0.3);
    /// ```
    pub fn of(&self, usage: &Usage, dialect: Dialect) -> f64 {
        let count = |tokens: Option<u64>| tokens.unwrap_or_default();
        let (read, written) = (count(usage.cache_read), count(usage.cache_write));
        let input = match dialect {
            Dialect::Anthropic | Dialect::BedrockConverse => count(usage.input),
            _ => count(usage.input).saturating_sub(read).saturating_sub(written),
        };
        let output = match dialect {
            Dialect::Gemini => count(usage.output) + count(usage.reasoning),
            _ => count(usage.output),
        };
        let cost = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        cost(input, self.input)
            + cost(output, self.output)
            + cost(read, self.cache_read.unwrap_or(self.input))
            + cost(written, self.cache_write.unwrap_or(self.input))
    }
}
