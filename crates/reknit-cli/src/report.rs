//! [`Report`]: errors and warnings, printed after everything else.

use crate::{explain, print_message};

/// Errors and warnings, each with the kind that `reknit explain` has an entry for.
#[derive(Default)]
pub(crate) struct Report {
    entries: Vec<(String, &'static str)>,
    /// How many more there were.
    omitted: usize,
}

/// How many of them are printed; the rest are counted.
const MAX_PRINTED: usize = 10;

impl Report {
    /// The same, about one of several files.
    pub(crate) fn about(self, path: &str) -> Self {
        let named = |words: String| words.replacen(": ", &format!(": {path}: "), 1);
        let entries = self.entries.into_iter().map(|(words, kind)| (named(words), kind)).collect();
        Self { entries, ..self }
    }

    /// Adds another report. Of the entries that are not printed, it keeps the number.
    pub(crate) fn append(&mut self, other: Self) {
        let room = MAX_PRINTED.saturating_sub(self.entries.len());
        self.omitted += other.omitted + other.entries.len().saturating_sub(room);
        self.entries.extend(other.entries.into_iter().take(room));
    }

    pub(crate) fn add(&mut self, words: String, kind: &'static str) {
        self.entries.push((words, kind));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Prints it; `rest` says where to find the entries that are not printed.
    pub(crate) fn print(&self, rest: &str) {
        let first = &self.entries[..self.entries.len().min(MAX_PRINTED)];
        let mut hints = Vec::new();
        for (words, _) in first {
            // A hint that was given already says nothing new.
            let (what, hint) =
                words.split_once("\nhint: ").map_or((&**words, None), |(what, hint)| (what, Some(hint)));
            match hint {
                Some(hint) if !hints.contains(&hint) => {
                    hints.push(hint);
                    print_message(format_args!("{words}"));
                }
                _ => print_message(format_args!("{what}")),
            }
        }
        let more = self.entries.len() - first.len() + self.omitted;
        if more > 0 {
            print_message(format_args!("and {more} more{rest}"));
        }
        explain::point_to(first.iter().map(|(_, kind)| *kind));
    }
}
