//! [`Report`]: errors and warnings, printed after everything else.

use crate::{explain, print_message};

/// Errors and warnings, each with the kind that `reknit explain` has an entry for.
#[derive(Default)]
pub(crate) struct Report {
    entries: Vec<(String, &'static str)>,
}

/// How many of them are printed; the rest are counted.
const MAX_PRINTED: usize = 10;

impl Report {
    pub(crate) fn add(&mut self, words: String, kind: &'static str) {
        self.entries.push((words, kind));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Prints it; `rest` says where to find the entries that are not printed.
    pub(crate) fn print(&self, rest: &str) {
        let first = &self.entries[..self.entries.len().min(MAX_PRINTED)];
        first.iter().for_each(|(words, _)| print_message(format_args!("{words}")));
        if self.entries.len() > MAX_PRINTED {
            print_message(format_args!("and {} more{rest}", self.entries.len() - MAX_PRINTED));
        }
        explain::point_to(first.iter().map(|(_, kind)| *kind));
    }
}
