//! The lines of a diff and the markers among them.

/// A line that is not content.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    /// A block begins.
    Search,
    /// Its search text is over.
    Divider,
    /// Its replacement is over.
    Replace,
}

impl Marker {
    /// The marker that a line is, if it is one: three or more signs, in the newer or the older spelling.
    pub(super) fn of(line: &str) -> Option<Self> {
        let sign = line.chars().next().filter(|sign| "-<=+>".contains(*sign))?;
        let word = line.trim_start_matches(sign);
        if line.len() - word.len() < 3 {
            return None;
        }
        match (sign, word) {
            ('-' | '<', " SEARCH" | " SEARCH>") => Some(Self::Search),
            ('=', "") => Some(Self::Divider),
            ('+' | '>', " REPLACE" | " REPLACE>") => Some(Self::Replace),
            _ => None,
        }
    }
}

/// The lines of a diff, without a last one that looks like the start of a marker.
pub(super) fn lines(diff: &str, is_marker: fn(&str) -> bool) -> Vec<&str> {
    let mut lines: Vec<&str> = diff.split('\n').collect();
    lines.pop_if(|last| last.starts_with(['-', '<', '=', '+', '>']) && !is_marker(last));
    lines
}

/// Appends a line, with a line ending whether it had one or not.
pub(super) fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// Whether JavaScript's `trim` removes `c`, as Cline uses it to compare lines: Unicode whitespace except
/// U+0085, and the byte order mark.
pub(super) fn is_whitespace(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}
