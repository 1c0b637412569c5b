//! [`Value`]: the value of a parameter while it arrives, cleaned as it is shown.

use std::mem;
use std::ops::Range;

use super::blank::{first_solid, last_solid, leading};
use super::call::Slice;
use super::grammar::Clean;
use super::matcher::Treatment;
use super::sheet::Sheet;
use super::span::SpanKind;

const AMPERSAND: &str = "&amp;";

/// What cleaning leaves of a whole value.
pub(super) fn cleaned(clean: Clean, text: &str, range: Range<usize>) -> Range<usize> {
    let start = range.start + first(clean, &text[range.clone()]);
    start..start + last(clean, &text[start..range.end])
}

/// Where a whole value starts when it is cleaned.
fn first(clean: Clean, value: &str) -> usize {
    match clean {
        Clean::Trim => leading(value),
        Clean::Newline if value.starts_with("\r\n") => 2,
        Clean::Newline | Clean::LineFeed => usize::from(value.starts_with('\n')),
        Clean::Keep => 0,
    }
}

/// Where it ends, if it starts as it should.
fn last(clean: Clean, value: &str) -> usize {
    match clean {
        Clean::Trim => last_solid(value).unwrap_or(0),
        Clean::Newline if value.ends_with("\r\n") => value.len() - 2,
        Clean::Newline | Clean::LineFeed => value.len() - usize::from(value.ends_with('\n')),
        Clean::Keep => value.len(),
    }
}

/// A value that is open. Nothing is shown that cleaning could still take away.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) block: usize,
    pub(super) param: usize,
    /// Where it starts in the text, before cleaning.
    pub(super) start: usize,
    treatment: Treatment,
    /// Where it starts after cleaning, once that is known.
    from: Option<usize>,
    /// Up to where the text was looked at.
    seen: usize,
}

impl Value {
    pub(super) fn new(block: usize, param: usize, start: usize, treatment: Treatment) -> Self {
        Self { block, param, start, treatment, from: None, seen: start }
    }

    pub(super) fn treatment(&self) -> Treatment {
        self.treatment
    }

    /// Everything up to `to` is value, and more of it may come.
    pub(super) fn grow(&mut self, sheet: &mut Sheet, to: usize) {
        if to <= self.seen {
            return;
        }
        let fresh = std::mem::replace(&mut self.seen, to);
        if self.from.is_none() {
            self.from = self.certain_start(&sheet.text, fresh, to);
        }
        let Some(from) = self.from else { return };
        let end = self.certain_end(&sheet.text, sheet.decided().max(from), fresh.max(from), to);
        self.show(sheet, from, end);
    }

    /// The value ends at `at`.
    pub(super) fn close(&mut self, sheet: &mut Sheet, at: usize) {
        let Treatment { clean, .. } = self.treatment;
        let from = self.from.unwrap_or_else(|| self.start + first(clean, &sheet.text[self.start..at]));
        let end = from + last(clean, &sheet.text[from..at.max(from)]);
        self.show(sheet, from, end);
        sheet.lay(SpanKind::Blank, at);
    }

    /// Where the cleaned value starts, if that is known; up to `fresh` all was looked at.
    fn certain_start(&self, text: &str, fresh: usize, to: usize) -> Option<usize> {
        match (self.treatment.clean, &text[self.start..to]) {
            (Clean::Trim, _) => first_solid(&text[fresh..to]).map(|solid| fresh + solid),
            (Clean::Newline, "\r") => None,
            (clean, value) => Some(self.start + first(clean, value)),
        }
    }

    /// Up to where the value can be shown: `shown` is, and up to `fresh` all was looked at.
    fn certain_end(&self, text: &str, shown: usize, fresh: usize, to: usize) -> usize {
        let tail = &text[shown..to];
        let end = match self.treatment.clean {
            Clean::Trim => last_solid(&text[fresh.min(to)..to]).map_or(shown, |solid| fresh + solid),
            // A carriage return may be half of a line end.
            Clean::Newline if tail.ends_with('\r') => to - 1,
            clean => shown + last(clean, tail),
        };
        if !self.treatment.ampersands {
            return end;
        }
        let near = text[shown..end].char_indices().rev().take(AMPERSAND.len() - 1);
        let half = near.map(|(at, _)| shown + at).find(|&at| AMPERSAND.starts_with(&text[at..end]));
        half.unwrap_or(end)
    }

    /// The value starts at `from` and is shown up to `end`, if it was not further already.
    fn show(&self, sheet: &mut Sheet, from: usize, end: usize) {
        let shown = sheet.decided().max(from);
        sheet.lay(SpanKind::Blank, shown);
        if end > shown {
            self.append(sheet, from, shown, end);
        }
    }

    /// The value, which starts at `from` and is shown up to `shown`, is there up to `end`.
    fn append(&self, sheet: &mut Sheet, from: usize, shown: usize, end: usize) {
        let (block, param) = (self.block, self.param);
        sheet.lay(SpanKind::Value(block), end);
        if !self.treatment.ampersands {
            sheet.param(block, param).value = Slice::Range(from..end);
            return sheet.param_grew(block, param, shown - from, end - from);
        }
        let text = mem::take(&mut sheet.text);
        if let Slice::Owned(owned) = &mut sheet.param(block, param).value {
            let grown = owned.len();
            for (number, part) in text[shown..end].split(AMPERSAND).enumerate() {
                if number > 0 {
                    owned.push('&');
                }
                owned.push_str(part);
            }
            let to = owned.len();
            sheet.param_grew(block, param, grown, to);
        }
        sheet.text = text;
    }
}
