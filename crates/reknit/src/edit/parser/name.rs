//! File names above a fence or a marker, and after a fence's marks.

use super::fence::{Fence, Mark};
use super::lines::Line;

/// Names of files that have neither a dot nor a slash.
const PLAIN_NAMES: [&str; 12] = [
    "Makefile",
    "Dockerfile",
    "Containerfile",
    "Gemfile",
    "Rakefile",
    "Procfile",
    "Vagrantfile",
    "Jenkinsfile",
    "Justfile",
    "LICENSE",
    "README",
    "CHANGELOG",
];

/// What may be around a name in a line, and before it.
const DECORATION: [char; 6] = ['#', '*', '>', '-', ':', ' '];
const LABELS: [&str; 6] = ["File:", "file:", "Filename:", "filename:", "Path:", "path:"];

/// What may come before the name after a fence's marks.
const KEYS: [&str; 5] = ["path", "file", "filename", "title", "name"];

/// What is right above: a file name, a fence, or both in any order.
#[derive(Clone, Debug, Default)]
pub(super) struct Heading {
    pub(super) name: Option<String>,
    pub(super) fence: Option<Mark>,
}

impl Heading {
    /// Takes the next line; blank lines change nothing, and other text is not a heading.
    pub(super) fn push(&mut self, line: Line<'_>) {
        if let Some(fence) = Fence::read(line.text) {
            self.fence = Some(fence.mark);
            if let Some(name) = in_info(fence.info) {
                self.name = Some(name.to_owned());
            }
        } else if !line.is_blank() {
            self.name = in_line(line.trimmed()).map(str::to_owned);
            self.fence = self.fence.filter(|_| self.name.is_some());
        }
    }
}

/// The file name that a line is, except for what marks it as one: `#`, `*`, quotes, a colon.
pub(super) fn in_line(line: &str) -> Option<&str> {
    let text = line.strip_prefix("// ").unwrap_or(line).trim_matches(DECORATION);
    let text = LABELS.iter().find_map(|label| text.strip_prefix(label)).unwrap_or(text);
    let text = text.trim_matches(DECORATION);
    let name = unquoted(text);
    let is_one_word = !name.contains(char::is_whitespace);
    let is_quoted = name.len() < text.len();
    (looks_like_path(name) && (is_one_word || is_quoted)).then_some(name)
}

/// The file name after a fence's marks: `rust src/main.rs`, `src/main.rs`, `rust:src/main.rs`,
/// `path=src/main.rs`, `title="src/main.rs"`.
pub(super) fn in_info(info: &str) -> Option<&str> {
    let keyed = KEYS.iter().find_map(|key| {
        let at = info.match_indices(key).find(|(at, _)| {
            let before = info[..*at].chars().next_back();
            before.is_none_or(|char| char.is_whitespace() || char == '{')
                && info[at + key.len()..].starts_with('=')
        });
        at.map(|(at, _)| &info[at + key.len() + 1..])
    });
    if let Some(value) = keyed {
        let value = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value[1..].split(quote).next()?,
            _ => value.split(|char: char| char.is_whitespace() || char == '}').next()?,
        };
        return (!value.is_empty()).then_some(value);
    }
    let word = info.split_ascii_whitespace().last()?;
    let word = match word.split_once(':') {
        Some((language, path)) if language.len() > 1 && !looks_like_path(language) => path,
        _ => word,
    };
    let word = unquoted(word.trim_matches(['(', ')', '{', '}']));
    looks_like_path(word).then_some(word)
}

/// Whether a text has the form of a file's path: a dot or slash between other characters, or a known name.
fn looks_like_path(text: &str) -> bool {
    if PLAIN_NAMES.contains(&text) {
        return true;
    }
    let name = text.rsplit(['/', '\\']).next().unwrap_or(text);
    let has_folder = name.len() < text.len() && !name.is_empty();
    // `e.g.` and `...` end with their dot, and a number such as `1.5` is not a file.
    let has_ending = name.rsplit_once('.').is_some_and(|(_, ending)| {
        !ending.is_empty()
            && ending.chars().all(|char| char.is_ascii_alphanumeric() || char == '_' || char == '-')
    });
    (has_folder || has_ending)
        && text.chars().any(char::is_alphabetic)
        && !text.contains("://")
        && !text.contains(['<', '>', '|', '"', '\'', '`', ';', '{', '}', '=', ',', '(', '*'])
}

fn unquoted(text: &str) -> &str {
    let quotes = ['`', '"', '\''];
    quotes.iter().find_map(|&quote| text.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(text)
}
