//! The profiles: the grammars that are included.

use std::sync::LazyLock;

use super::grammar::Grammar;

/// The grammars that are included, sorted by name.
///
/// `cline-v2` and `roo-v1` reproduce the parsers they are named after, bugs included, for comparison; their
/// files list how they differ from `cline` and `roo`.
pub fn profiles() -> &'static [Grammar] {
    &PROFILES
}

/// The profile with this name.
pub fn profile(name: &str) -> Option<&'static Grammar> {
    profiles().iter().find(|grammar| grammar.name == name)
}

/// The TOML of the profile with this name, to start a grammar of your own from.
pub fn profile_source(name: &str) -> Option<&'static str> {
    profiles().iter().zip(SOURCES).find(|(grammar, _)| grammar.name == name).map(|(_, source)| source)
}

static PROFILES: LazyLock<Vec<Grammar>> = LazyLock::new(|| {
    let read = |source| Grammar::from_toml(source).expect("a profile of the engine is a grammar");
    SOURCES.into_iter().map(read).collect()
});

macro_rules! sources {
    ($($name:literal)*) => { [$(include_str!(concat!("../../profiles/", $name, ".toml"))),*] };
}

const SOURCES: [&str; 34] = sources![
    "anthropic" "cline" "cline-v2" "deepseek-r1" "deepseek-v3" "deepseek-v3-1" "deepseek-v3-2" "deepseek-v4"
    "gemma4" "glm47" "gpt-oss" "granite" "harmony" "hermes" "jamba" "kimi" "kimi-k2" "kimi-k25" "llama3-json"
    "minimax-append-think" "minimax-m2" "minimax-m2-thinking" "mistral" "nemotron-deci" "nemotron-nano" "none" "phi4" "pythonic"
    "qwen25" "qwen3" "qwen3-coder" "qwen3-thinking" "roo" "roo-v1"
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tags::Parser;

    #[test]
    fn every_profile_can_be_used() {
        for grammar in profiles() {
            Parser::new(grammar, None).unwrap();
        }
    }
}
