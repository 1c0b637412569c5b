//! Finds the profile that a text is written in.

use std::cmp::Reverse;

use super::grammar::{Calls, Grammar};
use super::{Block, Call, Parser, Tools, profile};
use crate::diagnostic::counted;
use crate::event::End;

/// The profile that fits a text best, and why.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Detected {
    /// The profile.
    pub grammar: &'static Grammar,
    /// What it finds, for people.
    pub why: String,
}

/// How well a profile fits. Fields are compared in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    calls: usize,
    /// A call has begun, whatever became of it.
    has_calls: bool,
    broken: Reverse<usize>,
    diagnostics: Reverse<usize>,
    thoughts: usize,
    text_bytes: Reverse<usize>,
}

/// The profiles that are tried, the most common first: if several fit equally well, the first one wins.
///
/// Profiles that read the same as another one, and those that fit any text, are left out.
const CANDIDATES: [&str; 27] = [
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
    "minimax-m2-thinking",
    "mistral",
    "llama3-json",
    "pythonic",
    "gemma4",
    "granite",
    "nemotron-deci",
    "jamba",
    "phi4",
    "qwen3",
    "qwen3-thinking",
];

/// Finds the profile that fits a text best, even if the text is cut. That is the one with the most complete
/// calls, or else one in which a call begins; then the one with the fewest broken calls, the fewest
/// diagnostics, the most thinking and the least text.
///
/// ```
/// let found = reknit::tags::detect("<tool_call><function=f></function></tool_call>", None);
/// assert_eq!(found.grammar.name, "qwen3-coder");
/// assert_eq!(found.why, "it finds 1 complete call");
/// ```
pub fn detect(text: &str, tools: Option<&Tools>) -> Detected {
    let tried = CANDIDATES.into_iter().filter_map(profile);
    let fits = tried.filter_map(|grammar| Some((grammar, fit(grammar, text, tools)?)));
    // The first of equals wins: `max_by` would return the last.
    let best = fits.reduce(|best, next| if next.1 > best.1 { next } else { best });
    match best {
        Some((grammar, fit)) if fit.calls > 0 => {
            Detected { grammar, why: format!("it finds {}", counted(fit.calls as u64, "complete call")) }
        }
        Some((grammar, fit)) if fit.broken.0 > 0 => {
            Detected { grammar, why: format!("it finds {}", counted(fit.broken.0 as u64, "broken call")) }
        }
        Some((grammar, fit)) if fit.thoughts > 0 => {
            Detected { grammar, why: "it finds thinking or channels, but no calls".to_owned() }
        }
        _ => Detected {
            grammar: profile("none").expect("it is a profile"),
            why: "no profile finds a call or thinking".to_owned(),
        },
    }
}

/// How well a profile fits; `None` if it does not fit at all.
fn fit(grammar: &Grammar, text: &str, tools: Option<&Tools>) -> Option<Fit> {
    let mut parser = Parser::new(grammar, tools).expect("a profile of the engine can be used");
    // What comes after the limit does not change which notation the text is in.
    let _ = parser.push(text);
    parser.finish();
    let calls: Vec<_> = parser.calls().collect();
    // A profile that starts inside its thinking fits only a text that ends thinking without having started any.
    if grammar.starts_inside() && lone_end(grammar, text, &calls).is_none() {
        return None;
    }
    let from = end_of_foreign_thinking(grammar, text, &calls).unwrap_or(0);
    let calls: Vec<_> = match &grammar.calls {
        Some(Calls::Python(_)) if tools.is_none() => lists_on_their_own(text, &calls),
        _ => calls,
    };
    let calls: Vec<_> = calls.into_iter().filter(|call| call.range().start >= from).collect();
    let complete = calls.iter().filter(|call| call.end() == Some(End::Closed)).count();
    let starts = grammar.reasoning.iter().flat_map(|reasoning| &reasoning.open);
    let starts = starts.into_iter().any(|open| text.trim_start().starts_with(open.as_str()));
    let (mut thoughts, mut text_bytes) = (usize::from(starts || parser.parsed.has_channels), 0);
    for (number, block) in parser.blocks().enumerate() {
        match block {
            Block::Text { text, .. } => text_bytes += text.len(),
            // A model thinks first; what comes later may be about thinking.
            Block::Thinking { .. } => thoughts += usize::from(number == 0 || thoughts > 0),
            Block::Call(_) => {}
        }
    }
    Some(Fit {
        calls: complete,
        has_calls: !calls.is_empty(),
        broken: Reverse(calls.len() - complete),
        diagnostics: Reverse(parser.diagnostics().len()),
        thoughts,
        text_bytes: Reverse(text_bytes),
    })
}

/// Where thinking ends that nothing in the text has started, by the markers of this profile. What is quoted or
/// in a call ends nothing.
fn lone_end(grammar: &Grammar, text: &str, calls: &[Call<'_>]) -> Option<usize> {
    let reasoning = grammar.reasoning.as_ref()?;
    let start = reasoning.open.iter().filter_map(|open| text.find(open)).min().unwrap_or(text.len());
    let mut ends = text[..start].match_indices(&reasoning.close).map(|(at, _)| at);
    ends.find(|at| {
        !text[..*at].ends_with(['`', '"', '\'']) && !calls.iter().any(|call| call.range().contains(at))
    })
}

/// Where thinking ends that this profile does not know, but another one does: what looks like a call in it is
/// only considered by the model.
fn end_of_foreign_thinking(grammar: &Grammar, text: &str, calls: &[Call<'_>]) -> Option<usize> {
    let start = text.trim_start();
    let others = CANDIDATES.into_iter().filter_map(profile);
    others
        .filter_map(|other| {
            let reasoning = other.reasoning.as_ref()?;
            let known = grammar.reasoning.as_ref().is_some_and(|own| own.close == reasoning.close);
            if other.starts_inside() && !grammar.starts_inside() && other.calls == grammar.calls {
                return lone_end(other, text, calls);
            }
            let open = reasoning.open.iter().find(|open| start.starts_with(open.as_str()) && !known)?;
            let from = text.len() - start.len() + open.len();
            Some(text[from..].find(&reasoning.close).map_or(text.len(), |end| from + end))
        })
        .max()
}

/// The calls in lists that have their lines to themselves. In a text that may be anything, a list after other
/// code or in a sentence is not one of calls.
fn lists_on_their_own<'a>(text: &str, calls: &[Call<'a>]) -> Vec<Call<'a>> {
    let lists = calls.chunk_by(|_, next| !next.raw().starts_with('['));
    let own = lists.filter(|list| {
        let (start, end) = (list[0].range().start, list[list.len() - 1].range().end);
        let before = text[..start].rsplit('\n').next().unwrap_or_default();
        let after = text[end..].trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        let after = after.strip_prefix(']').unwrap_or_default().split('\n').next().unwrap_or_default().trim();
        (before.is_empty() || before.ends_with('>')) && (after.is_empty() || after.starts_with('<'))
    });
    own.flatten().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> &'static str {
        &detect(text, None).grammar.name
    }

    #[test]
    fn every_candidate_is_a_profile() {
        assert!(CANDIDATES.into_iter().all(|name| profile(name).is_some()));
    }

    #[test]
    fn each_notation_is_detected() {
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
        assert_eq!(found("Sure.\n[f(a=1), g()]\nDone."), "pythonic");
        assert_eq!(found("<|python_start|>[f(a=1)]<|python_end|>"), "pythonic");
        assert_eq!(found(r#"[TOOL_CALLS]f[ARGS]{}"#), "mistral");
        assert_eq!(found(r#"{"name": "f", "parameters": {}}"#), "llama3-json");
        assert_eq!(
            found("<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>b</arg_value>\n</tool_call>"),
            "glm47"
        );
        assert_eq!(found("<|channel|>final<|message|>answer"), "gpt-oss");
        assert_eq!(found("<think>\n\n</think>\n\nHello."), "hermes");
        assert_eq!(found("<|channel|>analysis<|message|>a<|end|><|channel|>final<|message|>b"), "gpt-oss");
    }
}
