//! [`Tag`]: the opening and closing markers of something with a name.

use std::collections::BTreeSet;

use super::exact::Exact;
use super::template::{Match, Name, Template};

/// The opening and closing markers of calls, or of parameters.
#[derive(Clone, Debug)]
pub(super) struct Tag {
    pub(super) open: Template,
    close: Template,
    /// The closing marker of each of the names it may have, sorted; empty if it may have any.
    closers: Vec<Exact>,
}

impl Tag {
    /// With any name.
    pub(super) fn free(open: Template, close: Template) -> Self {
        Self { open, close, closers: Vec::new() }
    }

    /// With one of `names`.
    pub(super) fn listed(open: Template, close: Template, names: &[String]) -> Self {
        let mut sorted = BTreeSet::new();
        sorted.extend(names.iter().filter(|name| !name.is_empty()).cloned());
        let names: Vec<_> = sorted.into_iter().collect();
        let closers = names.iter().map(|name| Exact::new(close.render(name))).collect();
        Self { open: open.with_names(&names), close, closers }
    }

    /// Whether the closing marker contains the name.
    pub(super) fn closes_by_name(&self) -> bool {
        self.close.has_name()
    }

    /// The byte that every closing marker starts with.
    #[inline]
    pub(super) fn close_byte(&self) -> u8 {
        self.close.first_byte()
    }

    /// Matches the closing marker of `name` at `at`. A marker that is cut by the end of the text is
    /// `Partial`, even if nothing follows.
    #[inline]
    pub(super) fn closes(&self, text: &str, at: usize, name: Name) -> Match<usize> {
        let Some(number) = name.number else { return self.closes_free(text, at, name) };
        self.closers[number as usize].find(text, at)
    }

    #[inline(never)]
    fn closes_free(&self, text: &str, at: usize, name: Name) -> Match<usize> {
        self.close.find_named(text, at, name.of(text))
    }

    /// The closing marker of `name`.
    pub(super) fn closer(&self, name: &str) -> String {
        self.close.render(name)
    }
}
