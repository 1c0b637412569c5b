//! [`Format`]: the ways in which models write edits.

use std::fmt;

/// A way to write edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Blocks of a search and a replacement text between lines of `<`, `=` and `>`.
    SearchReplace,
    /// A unified diff, its line numbers right or not.
    UnifiedDiff,
    /// `*** Begin Patch` … `*** End Patch`.
    ApplyPatch,
    /// Whole files, each in a fence below its name.
    Whole,
    /// The arguments of an edit tool as JSON: `old_string`, `new_string`, `replace_all`.
    StrReplace,
    /// Several files in one `<args>` element, each with search and replace blocks.
    RooArgs,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 6] = [
        Self::SearchReplace,
        Self::UnifiedDiff,
        Self::ApplyPatch,
        Self::Whole,
        Self::StrReplace,
        Self::RooArgs,
    ];

    /// Its name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::SearchReplace => "search-replace",
            Self::UnifiedDiff => "udiff",
            Self::ApplyPatch => "apply-patch",
            Self::Whole => "whole",
            Self::StrReplace => "str-replace",
            Self::RooArgs => "roo-args",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
