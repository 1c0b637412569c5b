//! [`Value`]: the value of a parameter while it arrives, cleaned as it is shown.

use std::mem;
use std::ops::Range;

use super::blank::{first_solid, last_solid};
use super::call::Slice;
use super::change::Change;
use super::grammar::Clean;
use super::rules::Treatment;
use super::sheet::Sheet;
use super::span::SpanKind;

const AMPERSAND: &str = "&amp;";

/// What cleaning leaves of a whole value.
pub(super) fn cleaned(clean: Clean, text: &str, range: Range<usize>) -> Range<usize> {
    let start = first(clean, text, range.clone());
    start..last(clean, text, start..range.end)
}

/// Where a whole value starts when it is cleaned.
#[inline]
fn first(clean: Clean, text: &str, range: Range<usize>) -> usize {
    let value = &text.as_bytes()[range.clone()];
    match clean {
        Clean::Trim => first_solid(text, range.clone()).unwrap_or(range.end),
        Clean::Newline if value.starts_with(b"\r\n") => range.start + 2,
        Clean::Newline | Clean::LineFeed => range.start + usize::from(value.starts_with(b"\n")),
        Clean::Keep => range.start,
    }
}

/// Where it ends, if it starts as it should.
#[inline]
fn last(clean: Clean, text: &str, range: Range<usize>) -> usize {
    let value = &text.as_bytes()[range.clone()];
    match clean {
        Clean::Trim => last_solid(text, range.clone()).unwrap_or(range.start),
        Clean::Newline if value.ends_with(b"\r\n") => range.end - 2,
        Clean::Newline | Clean::LineFeed => range.end - usize::from(value.ends_with(b"\n")),
        Clean::Keep => range.end,
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
    #[inline]
    pub(super) fn close(&mut self, sheet: &mut Sheet, at: usize) {
        let Treatment { clean, .. } = self.treatment;
        let from = self.from.unwrap_or_else(|| first(clean, &sheet.text, self.start..at));
        let end = last(clean, &sheet.text, from..at.max(from));
        self.show(sheet, from, end);
        sheet.lay(SpanKind::Blank, at);
    }

    /// Where the cleaned value starts, if that is known; up to `fresh` all was looked at.
    fn certain_start(&self, text: &str, fresh: usize, to: usize) -> Option<usize> {
        match self.treatment.clean {
            Clean::Trim => first_solid(text, fresh..to),
            Clean::Newline if &text.as_bytes()[self.start..to] == b"\r" => None,
            clean => Some(first(clean, text, self.start..to)),
        }
    }

    /// Up to where the value can be shown: `shown` is, and up to `fresh` all was looked at.
    fn certain_end(&self, text: &str, shown: usize, fresh: usize, to: usize) -> usize {
        let end = match self.treatment.clean {
            Clean::Trim => last_solid(text, fresh.min(to)..to).unwrap_or(shown),
            // A carriage return may be half of a line end.
            Clean::Newline if text.as_bytes()[shown..to].ends_with(b"\r") => to - 1,
            clean => last(clean, text, shown..to),
        };
        if !self.treatment.ampersands {
            return end;
        }
        let near = text[shown..end].char_indices().rev().take(AMPERSAND.len() - 1);
        let half = near.map(|(at, _)| shown + at).find(|&at| AMPERSAND.starts_with(&text[at..end]));
        half.unwrap_or(end)
    }

    /// The value starts at `from` and is shown up to `end`, if it was not further already.
    #[inline]
    fn show(&self, sheet: &mut Sheet, from: usize, end: usize) {
        let shown = sheet.decided().max(from);
        sheet.lay(SpanKind::Blank, shown);
        if end > shown {
            self.append(sheet, from, shown, end);
        }
    }

    /// The value, which starts at `from` and is shown up to `shown`, is there up to `end`.
    #[inline]
    fn append(&self, sheet: &mut Sheet, from: usize, shown: usize, end: usize) {
        let (block, param) = (self.block, self.param);
        sheet.lay(SpanKind::Value(block), end);
        if self.treatment.ampersands {
            return self.append_decoded(sheet, shown, end);
        }
        sheet.param(block, param).value = Slice::Range((from..end).into());
        sheet.changes.push(Change::ParamGrew { block, param, from: shown - from, to: end - from });
    }

    /// What is written from `shown` to `end` is added to the value with its ampersands decoded.
    #[inline(never)]
    fn append_decoded(&self, sheet: &mut Sheet, shown: usize, end: usize) {
        let (block, param) = (self.block, self.param);
        let text = mem::take(&mut sheet.text);
        if let Slice::Owned(owned) = &mut sheet.param(block, param).value {
            let from = owned.len();
            for (number, part) in text[shown..end].split(AMPERSAND).enumerate() {
                if number > 0 {
                    owned.push('&');
                }
                owned.push_str(part);
            }
            let to = owned.len();
            sheet.changes.push(Change::ParamGrew { block, param, from, to });
        }
        sheet.text = text;
    }
}
