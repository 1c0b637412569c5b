//! The environment of a command: the user's, without the keys that this program uses, and set for output that is
//! read by a program.

use std::env;
use std::ffi::{OsStr, OsString};

use tokio::process::Command;

/// What keeps commands from asking, paging and colouring.
const SET: [(&str, &str); 6] = [
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("NO_COLOR", "1"),
    ("TERM", "dumb"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// The providers whose keys are removed.
const PROVIDERS: [&str; 16] = [
    "ANTHROPIC",
    "OPENAI",
    "AZURE_OPENAI",
    "GEMINI",
    "GOOGLE",
    "GOOGLE_GENERATIVE_AI",
    "OPENROUTER",
    "MISTRAL",
    "GROQ",
    "DEEPSEEK",
    "XAI",
    "TOGETHER",
    "COHERE",
    "CEREBRAS",
    "FIREWORKS",
    "OLLAMA",
];
/// What such keys are called after the name of the provider.
const KEYS: [&str; 4] = ["_API_KEY", "_AUTH_TOKEN", "_ADMIN_KEY", "_API_KEYS"];

/// Prepares the environment of a command, which does not get keys: neither by their usual names, nor by these, nor
/// under another name.
pub(super) fn prepare(command: &mut Command, hidden: &[String]) {
    let is_hidden = |name: &OsStr| {
        name.to_str().is_some_and(|name| is_key(name) || hidden.iter().any(|hidden| hidden == name))
    };
    let keys: Vec<OsString> = env::vars_os()
        .filter(|(name, value)| is_hidden(name) && !value.is_empty())
        .map(|(_, value)| value)
        .collect();
    for (name, value) in env::vars_os() {
        if is_hidden(&name) || keys.contains(&value) {
            command.env_remove(name);
        }
    }
    command.envs(SET);
}

/// Whether a variable has the key of a provider.
fn is_key(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    KEYS.iter().any(|key| name.strip_suffix(key).is_some_and(|provider| PROVIDERS.contains(&provider)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_providers_are_removed_and_others_are_not() {
        for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_AUTH_TOKEN"] {
            assert!(is_key(name), "{name}");
        }
        for name in ["STRIPE_API_KEY", "PATH", "OPENAI_BASE_URL", "MY_OPENAI_API_KEY_FILE", "GITHUB_TOKEN"] {
            assert!(!is_key(name), "{name}");
        }
    }
}
