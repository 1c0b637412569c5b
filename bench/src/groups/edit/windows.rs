//! The usual way to find what is like a search text: its edit distance to every window of as many lines.

use strsim::normalized_levenshtein;

/// The line at which the window begins that is most like the search, counted from 1.
pub(super) fn closest(text: &str, search: &str) -> usize {
    let height = search.lines().count();
    let newlines = memchr::memchr_iter(b'\n', text.as_bytes());
    let starts: Vec<_> = std::iter::once(0).chain(newlines.map(|newline| newline + 1)).collect();
    let mut best = (0.0, 0);
    for (line, window) in starts.windows(height + 1).enumerate() {
        let likeness = normalized_levenshtein(&text[window[0]..window[height]], search);
        if likeness > best.0 {
            best = (likeness, line + 1);
        }
    }
    best.1
}
