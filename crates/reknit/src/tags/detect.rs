//! Which profile a text is written in.

use super::grammar::Grammar;
use super::{Block, Parser, Tools, profile};
use crate::message::CallEnd;

/// The profile that fits a text, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Detected {
    /// The profile.
    pub grammar: &'static Grammar,
    /// What it found, for people.
    pub why: String,
}

/// How well a profile fits. The first difference decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    calls: usize,
    broken: Less,
    odd: Less,
    thoughts: usize,
    text: Less,
}

/// Less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Less(std::cmp::Reverse<usize>);

/// The profiles that are tried, the commonest first: of those that fit alike the first stands.
///
/// Left out are those that read what another one reads, and those that fit everything.
const TRIED: [&str; 25] = [
    "hermes",
    "qwen3-coder",
    "cline",
    "roo",
    "anthropic",
    "gpt-oss",
    "deepseek-r1",
    "deepseek-v3",
    "deepseek-v3-1",
    "deepseek-v3-2",
    "deepseek-v4",
    "kimi-k2",
    "kimi-k25",
    "kimi",
    "glm47",
    "minimax-m2",
    "mistral",
    "llama3-json",
    "pythonic",
    "gemma4",
    "granite",
    "nemotron-deci",
    "jamba",
    "phi4",
    "qwen3",
];

/// The profile that makes the most of a whole text: most whole calls, then fewest broken ones, fewest
/// diagnostics, most thinking, least text.
///
/// ```
/// let found = reknit::tags::detect("<tool_call><function=f></function></tool_call>", None);
/// assert_eq!(found.grammar.name, "qwen3-coder");
/// assert_eq!(found.why, "it finds 1 whole call");
/// ```
pub fn detect(text: &str, tools: Option<&Tools>) -> Detected {
    let tried = TRIED.into_iter().filter_map(profile);
    let fits = tried
        .filter(|grammar| starts_right(grammar, text))
        .map(|grammar| (grammar, fit(grammar, text, tools)));
    // The first of equals stands: `max_by` would give the last.
    let best = fits.reduce(|best, next| if next.1 > best.1 { next } else { best });
    let plural = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    match best {
        Some((grammar, fit)) if fit.calls > 0 => {
            Detected { grammar, why: format!("it finds {}", plural(fit.calls, "whole call")) }
        }
        Some((grammar, fit)) if fit.broken.0.0 > 0 => {
            Detected { grammar, why: format!("it finds {}", plural(fit.broken.0.0, "broken call")) }
        }
        Some((grammar, fit)) if fit.thoughts > 0 => {
            Detected { grammar, why: "it finds thinking, and no calls".to_owned() }
        }
        _ => Detected {
            grammar: profile("none").expect("it is a profile"),
            why: "no profile finds a call or thinking".to_owned(),
        },
    }
}

/// A profile that starts inside its thinking fits only a text that ends what it never began.
fn starts_right(grammar: &Grammar, text: &str) -> bool {
    grammar.reasoning.as_ref().is_none_or(|reasoning| {
        let close = text.find(&reasoning.close);
        let open = reasoning.open.iter().filter_map(|open| text.find(open)).min();
        !reasoning.inside || close.is_some_and(|close| open.is_none_or(|open| close < open))
    })
}

fn fit(grammar: &Grammar, text: &str, tools: Option<&Tools>) -> Fit {
    let mut parser = Parser::new(grammar, tools).expect("a profile of the engine can be used");
    // What is behind the limit does not change what the text is written in.
    let _ = parser.push(text);
    parser.finish();
    let less = |count: usize| Less(std::cmp::Reverse(count));
    let whole = |call: &super::Call<'_>| call.end() == Some(CallEnd::Closed);
    let (mut thoughts, mut prose) = (0, 0);
    for block in parser.blocks() {
        match block {
            Block::Text { text, .. } => prose += text.len(),
            Block::Thinking { .. } => thoughts += 1,
            Block::Call(_) => {}
        }
    }
    Fit {
        calls: parser.calls().filter(whole).count(),
        broken: less(parser.calls().filter(|call| !whole(call)).count()),
        odd: less(parser.diagnostics().len()),
        thoughts,
        text: less(prose),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> &'static str {
        &detect(text, None).grammar.name
    }

    #[test]
    fn what_is_tried_is_there() {
        assert!(TRIED.into_iter().all(|name| profile(name).is_some()));
    }

    #[test]
    fn each_way_of_writing_is_told_from_the_others() {
        assert_eq!(found("Hello."), "none");
        assert_eq!(found("<think>a</think>b"), "hermes");
        assert_eq!(found("a</think>b"), "deepseek-r1");
        assert_eq!(found("<read_file><path>a</path></read_file>"), "cline");
        assert_eq!(found("<apply_diff><path>a</path><diff>x</diff></apply_diff>"), "roo");
        assert_eq!(found(r#"<tool_call>{"name": "f", "arguments": {}}</tool_call>"#), "hermes");
        assert_eq!(found(r#"<function_calls><invoke name="f"></invoke></function_calls>"#), "anthropic");
        assert_eq!(
            found(r#"<minimax:tool_call><invoke name="f"></invoke></minimax:tool_call>"#),
            "minimax-m2"
        );
        assert_eq!(found("[f(a=1)]"), "pythonic");
        assert_eq!(found(r#"[TOOL_CALLS]f[ARGS]{}"#), "mistral");
        assert_eq!(found(r#"{"name": "f", "parameters": {}}"#), "llama3-json");
        assert_eq!(
            found("<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>b</arg_value>\n</tool_call>"),
            "glm47"
        );
        assert_eq!(found("<|channel|>final<|message|>answer"), "none");
        assert_eq!(found("<|channel|>analysis<|message|>a<|end|><|channel|>final<|message|>b"), "gpt-oss");
    }
}
