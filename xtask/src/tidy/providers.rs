//! The names of providers, which only `wire/` knows.

use super::code::ENGINE;
use super::tokens::{Kind, Token, engine_files};
use super::{Problem, Tree};

/// The names, as the words that they are made of.
const PROVIDERS: [&[&str]; 8] = [
    &["anthropic"],
    &["openai"],
    &["open", "ai"],
    &["gemini"],
    &["bedrock"],
    &["cohere"],
    &["ollama"],
    &["agent", "c"],
];

/// The grammars of calls in text. One may have the name of a provider whose models write such calls.
const PROFILES: &str = "crates/reknit/profiles/";

const FIX: &str = "decide it in `wire/` and ask `Dialect`";

/// No code outside of `wire/` depends on who the provider is.
pub(super) fn names(tree: &Tree) -> Vec<Problem> {
    let is_profile = |path: &str, text: &str| {
        path.starts_with("tags") && tree.files.contains_key(&format!("{PROFILES}{text}.toml"))
    };
    let mut problems = Vec::new();
    let files = engine_files(tree).filter(|(path, _)| *path != "wire.rs" && !path.starts_with("wire/"));
    for (path, tokens) in files {
        for (at, token) in tokens.iter().enumerate() {
            let name = match &token.kind {
                Kind::Word(name) if names_provider(name) || is_variant(&tokens[..at], name) => name,
                // A text with spaces is written for people, and nothing is compared with it.
                Kind::Text(name)
                    if names_provider(name) && !name.contains(' ') && !is_profile(path, name) =>
                {
                    name
                }
                _ => continue,
            };
            let what = format!("`{name}` outside of `wire/`");
            problems.push(Problem::new(&format!("{ENGINE}{path}"), token.line, what, FIX));
        }
    }
    problems
}

fn names_provider(name: &str) -> bool {
    let words = words(name);
    PROVIDERS.iter().any(|provider| words.windows(provider.len()).any(|window| window == *provider))
}

/// The words of a name in lower case: `OpenAIChat`, `open-ai_chat` and `OPEN_AI_CHAT` have the same.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut previous = ' ';
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let begins = previous.is_lowercase() || chars.peek().is_some_and(|next| next.is_lowercase());
        if !c.is_alphanumeric() || c.is_uppercase() && begins {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().expect("there is a word from the start").extend(c.to_lowercase());
        }
        previous = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether `name` is a variant in `Dialect::name`.
fn is_variant(before: &[Token], name: &str) -> bool {
    let is_path = matches!(before, [.., dialect, colon, second]
        if dialect.word() == Some("Dialect") && colon.is_sign(':') && second.is_sign(':'));
    // Constants are in capitals, and functions in small letters.
    is_path && name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::super::tests::expect;
    use super::*;

    /// Checks a file outside of `wire/`; `expected` are the names that are reported.
    fn check(code: &str, expected: &[&str]) {
        let files = [("crates/reknit/profiles/anthropic.toml", ""), ("crates/reknit/src/reply.rs", code)];
        let problems: Vec<_> = expected
            .iter()
            .map(|name| format!("crates/reknit/src/reply.rs:1: `{name}` outside of `wire/`, {FIX}"))
            .collect();
        expect(names, &files, &problems.iter().map(String::as_str).collect::<Vec<_>>());
    }

    #[test]
    fn a_provider_is_reported_however_it_is_written() {
        check("if dialect == Dialect::Anthropic {}", &["Anthropic"]);
        check("matches!(dialect, Dialect::OpenAiChat | Dialect::AgentC)", &["OpenAiChat", "AgentC"]);
        check("match name { \"openai-chat\" => 1, \"x-ollama\" => 2 }", &["openai-chat", "x-ollama"]);
        check(
            "fn is_gemini() {} fn agent_c() {} const OPENAI_URL: u8 = 1;",
            &["is_gemini", "agent_c", "OPENAI_URL"],
        );
        check("#[serde(rename = \"agent-c\")] struct A;", &["agent-c"]);
        check("name == \"anthropic\"", &["anthropic"]);
        check("struct OpenAIChat; f(\"Open-Ai\")", &["OpenAIChat", "Open-Ai"]);
        check("match dialect { Dialect::Newcomer => {} }", &["Newcomer"]);
    }

    #[test]
    fn what_is_not_a_provider_is_not_reported() {
        check("for dialect in Dialect::ALL { Dialect::detect(frame); }", &[]);
        check("struct AgentCall; fn agent_chunk(geminis: u8) {}", &[]);
        check("\"ask it in `openai-chat`, which such servers understand\"", &[]);
        check("fn f() {} // as Anthropic does it", &[]);
        check("/// Like [`Dialect::Anthropic`].\nfn f() {}", &[]);
        check("#[cfg(test)]\nmod tests { fn f() { Dialect::Anthropic; } }", &[]);
    }

    #[test]
    fn a_profile_may_have_the_name_of_a_provider() {
        let files = [
            ("crates/reknit/profiles/anthropic.toml", ""),
            ("crates/reknit/src/tags/profile.rs", "[\"anthropic\", \"gemini\"]"),
        ];
        let expected = format!("crates/reknit/src/tags/profile.rs:1: `gemini` outside of `wire/`, {FIX}");
        expect(names, &files, &[&expected]);
    }

    #[test]
    fn only_the_engine_outside_of_wire_is_searched() {
        let code = "Dialect::Anthropic";
        let files = [
            ("crates/reknit-cli/src/main.rs", code),
            ("crates/reknit/examples/read.rs", code),
            ("crates/reknit/src/reply/tests.rs", code),
            ("crates/reknit/src/wire.rs", code),
            ("crates/reknit/src/wire/detect.rs", code),
        ];
        expect(names, &files, &[]);
    }
}
