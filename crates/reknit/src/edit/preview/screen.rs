//! [`Screen`]: what a preview shows.

use std::ops::Range;

use super::Change;

/// What is shown.
#[derive(Clone, Debug)]
pub(super) struct Screen<'a> {
    pub(super) bytes: Vec<u8>,
    original: &'a [u8],
    /// The byte of the original up to which it shows.
    pub(super) up_to: usize,
    /// What it was before the edit that is shown while it is written.
    before: Option<Before>,
}

/// The screen before an edit.
#[derive(Clone, Copy, Debug)]
struct Before {
    length: usize,
    up_to: usize,
    /// Where the replacement begins.
    replacement: usize,
}

impl<'a> Screen<'a> {
    /// Nothing of a file.
    pub(super) fn new(original: &'a [u8]) -> Self {
        Self { bytes: Vec::new(), original, up_to: 0, before: None }
    }

    /// Shows the original up to a place, at which a replacement will grow.
    pub(super) fn open(&mut self, range: Range<usize>, changes: &mut Vec<Change>) {
        let (length, up_to) = (self.bytes.len(), self.up_to);
        self.bytes.extend_from_slice(&self.original[up_to..range.start]);
        self.up_to = range.end;
        self.before = Some(Before { length, up_to, replacement: self.bytes.len() });
        self.grew(length, changes);
    }

    /// Shows more of the replacement that grows: all of it as it is now.
    pub(super) fn grow(&mut self, replacement: &[u8], changes: &mut Vec<Change>) {
        let Some(before) = self.before else { return };
        let length = self.bytes.len();
        self.bytes.extend_from_slice(&replacement[length - before.replacement..]);
        self.grew(length, changes);
    }

    /// Whether a replacement goes on with the one that is shown, which ends at this byte of the original.
    pub(super) fn goes_on_with(&self, end: usize, replacement: &[u8]) -> bool {
        let shown = self.before.map(|before| &self.bytes[before.replacement..]);
        self.up_to == end && shown.is_some_and(|shown| replacement.starts_with(shown))
    }

    /// Shows what is at a place from now on, unless it lies before what is shown.
    pub(super) fn show(&mut self, range: Range<usize>, replacement: &[u8], changes: &mut Vec<Change>) {
        if self.before.is_none() && range.start >= self.up_to {
            self.open(range, changes);
        }
        self.grow(replacement, changes);
        self.before = None;
    }

    /// Takes back what is shown of an edit that is not over.
    pub(super) fn retract(&mut self) {
        if let Some(before) = self.before.take() {
            self.bytes.truncate(before.length);
            self.up_to = before.up_to;
        }
    }

    fn grew(&self, from: usize, changes: &mut Vec<Change>) {
        if self.bytes.len() > from {
            changes.push(Change::Grew(from..self.bytes.len()));
        }
    }
}
