//! What changes in a file, as a unified diff.

use std::fmt::Write as _;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput, sources};

/// How many lines around a change are shown.
const CONTEXT: u32 = 3;

/// A file before and after a change; `None` if it does not exist.
pub(super) struct Versions<'a> {
    pub(super) before: Option<&'a [u8]>,
    pub(super) after: Option<&'a [u8]>,
}

/// A unified diff.
pub(super) struct Unified {
    pub(super) text: String,
    pub(super) added: u32,
    pub(super) removed: u32,
}

impl Versions<'_> {
    /// The diff, with the path that the file has before and the one that it has after.
    pub(super) fn unified(&self, from: &str, to: &str) -> Unified {
        let name = |side: Option<&[u8]>, prefix: char, path: &str| {
            side.map_or_else(|| "/dev/null".to_owned(), |_| format!("{prefix}/{path}"))
        };
        let mut text = format!("--- {}\n+++ {}\n", name(self.before, 'a', from), name(self.after, 'b', to));
        let (before, after) = (self.before.unwrap_or_default(), self.after.unwrap_or_default());
        if [before, after].iter().any(|content| std::str::from_utf8(content).is_err()) {
            // Otherwise two different contents could be shown as the same text.
            text.push_str("Some bytes are not UTF-8 and are shown as U+FFFD.\n");
        }
        let mut input = InternedInput::default();
        input.update_before(sources::byte_lines(before));
        input.update_after(sources::byte_lines(after));
        let mut diff = Diff::compute(Algorithm::Histogram, &input);
        diff.postprocess_lines(&input);
        let (before, after) = (lines(before), lines(after));
        let mut printer = Printer { before: &before, after: &after, text };
        let mut changes: Vec<Change> = Vec::new();
        for hunk in diff.hunks() {
            let apart = changes.last().is_some_and(|last| hunk.before.start - last.0.end > 2 * CONTEXT);
            if apart {
                printer.hunk(&changes);
                changes.clear();
            }
            changes.push((hunk.before, hunk.after));
        }
        printer.hunk(&changes);
        Unified { text: printer.text, added: diff.count_additions(), removed: diff.count_removals() }
    }
}

/// Lines before and the lines that replace them.
type Change = (Range<u32>, Range<u32>);

struct Printer<'a> {
    before: &'a [&'a [u8]],
    after: &'a [&'a [u8]],
    text: String,
}

impl Printer<'_> {
    /// Changes that are near each other, with the lines around them.
    fn hunk(&mut self, changes: &[Change]) {
        let (Some(first), Some(last)) = (changes.first(), changes.last()) else { return };
        let lead = first.0.start.min(CONTEXT);
        let end = (last.0.end + CONTEXT).min(self.before.len() as u32);
        let trail = end - last.0.end;
        let before = first.0.start - lead..end;
        let after = first.1.start - lead..last.1.end + trail;
        let _ = writeln!(self.text, "@@ -{} +{} @@", Span(&before), Span(&after));
        let mut at = before.start;
        for (removed, added) in changes {
            self.lines(' ', self.before, at..removed.start);
            self.lines('-', self.before, removed.clone());
            self.lines('+', self.after, added.clone());
            at = removed.end;
        }
        self.lines(' ', self.before, at..end);
    }

    fn lines(&mut self, mark: char, side: &[&[u8]], range: Range<u32>) {
        for line in &side[range.start as usize..range.end as usize] {
            self.text.push(mark);
            self.text.push_str(&String::from_utf8_lossy(line));
            if !line.ends_with(b"\n") {
                self.text.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
}

/// `start,count`, as in the head of a hunk.
struct Span<'a>(&'a Range<u32>);

impl std::fmt::Display for Span<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = self.0.len();
        // An empty span is named after the line before it.
        let start = self.0.start + u32::from(count > 0);
        if count == 1 { write!(f, "{start}") } else { write!(f, "{start},{count}") }
    }
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unified(before: Option<&str>, after: Option<&str>) -> String {
        let versions = Versions { before: before.map(str::as_bytes), after: after.map(str::as_bytes) };
        versions.unified("a.txt", "a.txt").text
    }

    #[test]
    fn a_new_file_comes_from_nothing() {
        assert_eq!(unified(None, Some("a\nb\n")), "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n");
        assert_eq!(unified(None, Some("")), "--- /dev/null\n+++ b/a.txt\n");
    }

    #[test]
    fn a_line_without_an_end_says_so() {
        let expected = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n";
        assert_eq!(unified(Some("a"), Some("a\n")), expected);
    }

    #[test]
    fn changes_that_are_far_apart_are_hunks_of_their_own() {
        let before: String = (1..=20).map(|line| format!("{line}\n")).collect();
        let after = before.replace("\n5\n", "\nfive\n").replace("\n14\n", "\n").replace("20\n", "20\n21\n");
        let expected = "--- a/a.txt\n+++ b/a.txt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n\
            @@ -11,10 +11,10 @@\n 11\n 12\n 13\n-14\n 15\n 16\n 17\n 18\n 19\n 20\n+21\n";
        assert_eq!(unified(Some(&before), Some(&after)), expected);
    }

    #[test]
    fn bytes_that_are_not_text_are_not_shown_as_text() {
        let versions = Versions { before: Some(b"\xff\n"), after: Some(b"\xfe\n") };
        let text = versions.unified("a", "a").text;
        assert!(text.contains("not UTF-8"), "{text}");
    }
}
