//! Comments that stand for lines that a model did not write.

use memchr::memmem;

use super::lines::Line;
use super::needle::Needle;

/// What comments begin with.
const COMMENTS: [&str; 16] = [
    "#", "//", "/*", "*", "--", "<!--", ";", "%", "{/*", "'", "(*", "<%", "[... ", "(... ", "...", "\u{2026}",
];
/// What it begins with after code.
const AFTER_CODE: [&str; 3] = [" # ", " // ", " /* "];
/// What such a comment says of the lines.
const WORDS: [&str; 10] = [
    "rest",
    "existing",
    "unchanged",
    "remaining",
    "omitted",
    "unmodified",
    "previous",
    "original",
    "same",
    "other",
];

/// The first line that is a placeholder, unless the search or the file has it too.
pub(super) fn find(comes: &[Line<'_>], needle: &Needle<'_>, text: &[u8]) -> Option<String> {
    let is_new = |body: &[u8]| {
        let body = body.trim_ascii();
        needle.lines.iter().all(|line| line.body.trim_ascii() != body) && memmem::find(text, body).is_none()
    };
    let lines = comes.iter().filter_map(|line| std::str::from_utf8(line.body).ok());
    let is_one = |line: &&str| is_placeholder(line) || ends_with_placeholder(line);
    lines.map(str::trim).find(|line| is_one(line) && is_new(line.as_bytes())).map(str::to_owned)
}

/// Whether a line is a comment with an ellipsis and a word such as `rest` or `unchanged`.
pub(super) fn is_placeholder(line: &str) -> bool {
    let line = line.trim();
    let has_ellipsis = line.contains("...") || line.contains('\u{2026}');
    has_ellipsis
        && COMMENTS.iter().any(|mark| line.starts_with(mark))
        && line
            .split(|char: char| !char.is_alphanumeric())
            .any(|word| WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

/// Whether a line ends with such a comment that begins with the ellipsis.
fn ends_with_placeholder(line: &str) -> bool {
    let is_dots = |text: &str| text.starts_with("...") || text.starts_with('\u{2026}');
    let mut comments = AFTER_CODE.iter().filter_map(|mark| line.split_once(mark));
    comments.any(|(_, comment)| is_dots(comment) && is_placeholder(comment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_comments_with_an_ellipsis_and_a_word() {
        for line in [
            "# ... rest of the code unchanged ...",
            "  // … existing code …",
            "<!-- ... other items -->",
            "[... rest of the file ...]",
            "(* ... unchanged ... *)",
        ] {
            assert!(is_placeholder(line), "{line}");
        }
        assert!(ends_with_placeholder("    pass  # ... rest unchanged"));
        assert!(!ends_with_placeholder("rest = wait()  # ... a while"));
        for line in [
            "...",
            "    ...",
            "# the rest",
            "# wait...",
            "let rest = [...other];",
            "print('... rest')",
            "[...rest, last]",
        ] {
            assert!(!is_placeholder(line), "{line}");
        }
    }
}
