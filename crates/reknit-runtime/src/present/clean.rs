//! [`Cleaner`]: text without thinking tags and half tags.

use std::mem;

/// The tags that are not shown. What is between them is.
const TAGS: [&str; 2] = ["<thinking>", "</thinking>"];

/// How long the name of a tag may be before `<` is taken for something else.
const TAG: usize = 64;

/// Removes thinking tags from text that arrives in pieces, and holds back half a tag while the text grows.
///
/// As the agents do from which models have it, whitespace after `<thinking>` and before `</thinking>` goes too, one
/// character of it. Text such as `a < b` is not held back: no tag has a space after its `<`.
#[derive(Clone, Debug, Default)]
pub struct Cleaner {
    /// What may still become part of a tag.
    held: String,
    /// Whether `<thinking>` was just removed.
    after_open: bool,
}

impl Cleaner {
    /// Nothing was read yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece of the text, and returns what can be shown.
    pub fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let held = mem::take(&mut self.held);
        let mut out = String::with_capacity(held.len());
        let mut rest = &*held;
        while let Some(at) = self.skip_blank(&mut rest).find('<') {
            let (before, tag) = rest.split_at(at);
            match tag[1..].find(|c: char| !is_name(c)).map(|end| end + 1) {
                // Half a tag, with the whitespace before it that would go with it.
                None if tag.len() <= TAG => {
                    let (shown, blank) = split_blank(before);
                    out.push_str(shown);
                    self.held = format!("{blank}{tag}");
                    return out;
                }
                end => {
                    let length = end.map_or(tag.len(), |end| end + usize::from(tag[end..].starts_with('>')));
                    match TAGS.iter().position(|known| *known == &tag[..length]) {
                        Some(0) => {
                            out.push_str(before);
                            self.after_open = true;
                        }
                        Some(_) => out.push_str(split_blank(before).0),
                        None => out.push_str(&rest[..at + length]),
                    }
                    rest = &tag[length..];
                }
            }
        }
        let (shown, blank) = split_blank(rest);
        out.push_str(shown);
        self.held = blank.to_owned();
        out
    }

    /// The text is over: returns what was held back, which was not a tag.
    pub fn finish(&mut self) -> String {
        self.after_open = false;
        mem::take(&mut self.held)
    }

    /// Skips one character of whitespace after `<thinking>`.
    fn skip_blank<'t>(&mut self, rest: &mut &'t str) -> &'t str {
        if self.after_open
            && let Some(first) = rest.chars().next()
        {
            self.after_open = false;
            if first.is_whitespace() {
                *rest = &rest[first.len_utf8()..];
            }
        }
        rest
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-')
}

/// Splits off one character of whitespace at the end.
fn split_blank(text: &str) -> (&str, &str) {
    let blank = text.chars().next_back().filter(|last| last.is_whitespace()).map_or(0, char::len_utf8);
    text.split_at(text.len() - blank)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text as a whole, as the rule says it.
    fn naive(text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = TAGS.iter().filter_map(|tag| rest.find(tag)).min() {
            if rest[at..].starts_with(TAGS[0]) {
                out.push_str(&rest[..at]);
                rest = &rest[at + TAGS[0].len()..];
                rest = rest.strip_prefix(char::is_whitespace).unwrap_or(rest);
            } else {
                out.push_str(split_blank(&rest[..at]).0);
                rest = &rest[at + TAGS[1].len()..];
            }
        }
        out + rest
    }

    fn in_pieces<'a>(pieces: impl IntoIterator<Item = &'a str>) -> String {
        let mut cleaner = Cleaner::new();
        let mut out: String = pieces.into_iter().map(|piece| cleaner.push(piece)).collect();
        out += &cleaner.finish();
        out
    }

    const TEXTS: [&str; 12] = [
        "",
        "plain text",
        "<thinking>\nhm\n</thinking>\nThen.",
        "a <thinking> b </thinking> c",
        "<thinking><thinking>x</thinking> </thinking>",
        "a < b and b > c",
        "a final <",
        "an unknown <tag> and </tag> and <read_file",
        "x </thinking",
        "x \n</thinking>y",
        "<<thinking>>",
        "ü <thinking>\u{a0}é</thinking> ö",
    ];

    #[test]
    fn any_cut_gives_the_text_without_its_tags() {
        for text in TEXTS {
            let expected = naive(text);
            assert_eq!(in_pieces([text]), expected, "{text:?} whole");
            assert_eq!(in_pieces(text.split_inclusive(|_| true)), expected, "{text:?} by characters");
            for (at, _) in text.char_indices() {
                assert_eq!(in_pieces([&text[..at], &text[at..]]), expected, "{text:?} cut at {at}");
            }
        }
    }

    #[test]
    fn half_a_tag_is_held_back_and_a_comparison_is_not() {
        let mut cleaner = Cleaner::new();
        assert_eq!(cleaner.push("go on <wri"), "go on");
        assert_eq!(cleaner.push("te_to_file> a < b"), " <write_to_file> a < b");
        assert_eq!(cleaner.push(&format!("<{}", "x".repeat(100))), format!("<{}", "x".repeat(100)));
    }
}
