//! What a person sees of a text.

use std::borrow::Cow;

use super::grammar::{Calls, Grammar};
use super::whitespace::is_whitespace;

/// Returns `text` as a person should see it: without the tags of thinking and, unless it is `finished`,
/// without a part at its end that may become a tag.
///
/// Only `<` or `</` and the start of a name that the grammar knows may become a tag: `if a < b` is left as it
/// is. The compatibility profiles remove more, as the programs that they reproduce do.
///
/// ```
/// use reknit::tags::{display_text, profile};
///
/// let cline = profile("cline").unwrap();
/// assert_eq!(display_text(cline, "<thinking>So:</thinking> I will <wri", false), "So: I will");
/// assert_eq!(display_text(cline, "if a <zz", false), "if a <zz");
/// assert_eq!(display_text(cline, "I will <wri", true), "I will <wri");
/// assert_eq!(display_text(profile("cline-v2").unwrap(), "if a <zz", false), "if a");
/// ```
pub fn display_text<'a>(grammar: &Grammar, text: &'a str, finished: bool) -> Cow<'a, str> {
    let mut shown = Cow::Borrowed(text);
    for name in &grammar.display.remove_tags {
        if shown.contains(&format!("<{name}>")) || shown.contains(&format!("</{name}>")) {
            shown = Cow::Owned(without_tag(&shown, name));
        }
    }
    let cut = match grammar.display.seed {
        true => seed_cut(&shown),
        false if finished => None,
        false => half_tag(grammar, &shown),
    };
    let Some(cut) = cut else { return shown };
    let trim = |text: &str| match grammar.display.seed {
        true => text.trim_matches(is_whitespace).to_owned(),
        false => text.trim_end_matches(is_whitespace).to_owned(),
    };
    Cow::Owned(trim(&shown[..cut]))
}

/// Removes the tags of this name, each with one whitespace character on its inner side.
fn without_tag(text: &str, name: &str) -> String {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut shown = String::with_capacity(text.len());
    for (number, part) in text.split(&open).enumerate() {
        let inner = part.chars().next().filter(|&c| number > 0 && is_whitespace(c));
        shown.push_str(&part[inner.map_or(0, char::len_utf8)..]);
    }
    let mut rest = String::with_capacity(shown.len());
    let mut parts = shown.split(&close).peekable();
    while let Some(part) = parts.next() {
        let inner = part.chars().next_back().filter(|&c| parts.peek().is_some() && is_whitespace(c));
        rest.push_str(&part[..part.len() - inner.map_or(0, char::len_utf8)]);
    }
    rest
}

/// Where an incomplete tag starts at the end of `text`.
fn half_tag(grammar: &Grammar, text: &str) -> Option<usize> {
    let at = text.rfind('<')?;
    let rest = &text[at + 1..];
    let start = rest.strip_prefix('/').unwrap_or(rest);
    let tools = match &grammar.calls {
        Some(Calls::Markup(markup)) => markup.tools.as_slice(),
        _ => &[],
    };
    let mut names = tools.iter().chain(&grammar.display.remove_tags);
    let known = names.any(|name| name.starts_with(start));
    let marker = openers(grammar).any(|opener| opener.len() > rest.len() && opener.starts_with(&text[at..]));
    (known || marker).then_some(at)
}

/// The literal text that the markers of thinking and calls start with.
fn openers(grammar: &Grammar) -> impl Iterator<Item = &str> {
    let reasoning = grammar.reasoning.iter().flat_map(|reasoning| &reasoning.open).map(String::as_str);
    let calls: Vec<&str> = match &grammar.calls {
        None => Vec::new(),
        Some(Calls::Markup(markup)) => {
            let wrapper = markup.wrapper.iter().flat_map(|wrapper| &wrapper.open);
            wrapper.chain([&markup.call]).map(String::as_str).collect()
        }
        Some(Calls::Json(body)) => {
            let wrapper = body.wrapper.iter().flat_map(|wrapper| &wrapper.open);
            wrapper.chain(&body.open).map(String::as_str).collect()
        }
        Some(Calls::Python(python)) => python.open.iter().map(String::as_str).collect(),
        Some(Calls::Gemma(gemma)) => vec![&gemma.open],
        Some(Calls::Channels(_)) => vec![super::channel::START, super::channel::CHANNEL],
    };
    reasoning.chain(calls).map(|opener| opener.split("{name}").next().unwrap_or(opener))
}

/// Where the regular expressions of the reproduced programs cut: at the last `<`, if only letters follow.
fn seed_cut(text: &str) -> Option<usize> {
    let at = text.rfind('<')?;
    let rest = &text[at + 1..];
    let name = rest.strip_prefix('/').unwrap_or(rest).trim_matches(is_whitespace);
    let letters = name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    (!rest.contains('>') && letters && (!name.is_empty() || rest.is_empty() || rest == "/")).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tags::profile;

    fn check(name: &str, cases: &[(&str, &str)]) {
        for (text, expected) in cases {
            assert_eq!(display_text(profile(name).unwrap(), text, false), *expected, "{text}");
        }
    }

    #[test]
    fn only_the_start_of_a_known_name_is_cut() {
        check(
            "cline",
            &[
                ("a < b", "a < b"),
                ("a <zz", "a <zz"),
                ("a <b", "a"),
                ("a <", "a"),
                ("a </", "a"),
                ("a <read_fil", "a"),
                ("a </read_fil", "a"),
                ("a <thin", "a"),
                ("a <read_file", "a"),
                ("a <read_files", "a <read_files"),
                ("a <Read", "a <Read"),
                ("<thinking> x </thinking> y", "x y"),
                ("<thinking>\n\nx\n\n</thinking>", "\nx\n"),
            ],
        );
        check("hermes", &[("a <tool_ca", "a"), ("a <tools", "a <tools"), ("a <thi", "a")]);
    }

    #[test]
    fn compatibility_profiles_cut_whatever_looks_like_a_name() {
        check(
            "roo-v1",
            &[
                ("a <b", "a"),
                (" a < b ", "a"),
                ("<h1", "<h1"),
                ("<my-tag", "<my-tag"),
                ("a </", "a"),
                ("a <b>c", "a <b>c"),
            ],
        );
    }
}
