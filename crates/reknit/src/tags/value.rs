//! [`Value`]: the value of a parameter while it arrives, cleaned as it is shown.

use std::mem;
use std::ops::Range;

use super::call::Slice;
use super::changes::Change;
use super::grammar::Clean;
use super::parsed::Parsed;
use super::rules::Treatment;
use super::span::SpanKind;
use super::whitespace::{trimmed_end, trimmed_start};

const AMPERSAND: &str = "&amp;";

/// The range of a complete value after cleaning.
pub(super) fn cleaned(clean: Clean, text: &str, range: Range<usize>) -> Range<usize> {
    let start = first(clean, text, range.clone());
    start..last(clean, text, start..range.end)
}

/// Where a complete value starts after cleaning.
#[inline]
fn first(clean: Clean, text: &str, range: Range<usize>) -> usize {
    let value = &text.as_bytes()[range.clone()];
    match clean {
        Clean::Trim => trimmed_start(text, range.clone()).unwrap_or(range.end),
        Clean::Newline if value.starts_with(b"\r\n") => range.start + 2,
        Clean::Newline | Clean::LineFeed => range.start + usize::from(value.starts_with(b"\n")),
        Clean::Keep => range.start,
    }
}

/// Where a complete value ends after cleaning; `range` already starts where the cleaned value does.
#[inline]
fn last(clean: Clean, text: &str, range: Range<usize>) -> usize {
    let value = &text.as_bytes()[range.clone()];
    match clean {
        Clean::Trim => trimmed_end(text, range.clone()).unwrap_or(range.start),
        Clean::Newline if value.ends_with(b"\r\n") => range.end - 2,
        Clean::Newline | Clean::LineFeed => range.end - usize::from(value.ends_with(b"\n")),
        Clean::Keep => range.end,
    }
}

/// A value that is still open. Nothing is shown that cleaning could still remove.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) block: usize,
    pub(super) param: usize,
    /// Where it starts in the text, before cleaning.
    pub(super) start: usize,
    pub(super) treatment: Treatment,
    /// Where it starts after cleaning, once that is known.
    from: Option<usize>,
    /// Everything before this has been looked at.
    seen: usize,
}

impl Value {
    pub(super) fn new(block: usize, param: usize, start: usize, treatment: Treatment) -> Self {
        Self { block, param, start, treatment, from: None, seen: start }
    }

    /// Everything up to `to` belongs to the value, and more may follow.
    pub(super) fn grow(&mut self, parsed: &mut Parsed, to: usize) {
        if to <= self.seen {
            return;
        }
        let fresh = std::mem::replace(&mut self.seen, to);
        if self.from.is_none() {
            self.from = self.certain_start(&parsed.text, fresh, to);
        }
        let Some(from) = self.from else { return };
        let end = self.certain_end(&parsed.text, parsed.decided().max(from), fresh.max(from), to);
        self.show(parsed, from, end);
    }

    /// The value ends at `at`.
    #[inline]
    pub(super) fn close(&mut self, parsed: &mut Parsed, at: usize) {
        let Treatment { clean, .. } = self.treatment;
        let from = self.from.unwrap_or_else(|| first(clean, &parsed.text, self.start..at));
        let end = last(clean, &parsed.text, from..at.max(from));
        self.show(parsed, from, end);
        parsed.add_span(SpanKind::Whitespace, at);
    }

    /// Where the cleaned value starts, if that is known. Everything before `fresh` has been looked at.
    fn certain_start(&self, text: &str, fresh: usize, to: usize) -> Option<usize> {
        match self.treatment.clean {
            Clean::Trim => trimmed_start(text, fresh..to),
            Clean::Newline if &text.as_bytes()[self.start..to] == b"\r" => None,
            clean => Some(first(clean, text, self.start..to)),
        }
    }

    /// How far the value can be shown. Everything before `shown` is shown, and everything before `fresh` has
    /// been looked at.
    fn certain_end(&self, text: &str, shown: usize, fresh: usize, to: usize) -> usize {
        let end = match self.treatment.clean {
            Clean::Trim => trimmed_end(text, fresh.min(to)..to).unwrap_or(shown),
            // A carriage return may be the first half of a line end.
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

    /// Shows the value, which starts at `from`, up to `end`, unless more of it is shown already.
    #[inline]
    fn show(&self, parsed: &mut Parsed, from: usize, end: usize) {
        let (block, param) = (self.block, self.param);
        let shown = parsed.decided().max(from);
        parsed.add_span(SpanKind::Whitespace, shown);
        if end <= shown {
            return;
        }
        parsed.add_span(SpanKind::Value(block), end);
        if self.treatment.ampersands {
            return self.append_decoded(parsed, shown, end);
        }
        parsed.param(block, param).value = Slice::Range((from..end).into());
        parsed.changes.push(Change::ParamGrew { block, param, from: shown - from, to: end - from });
    }

    /// Extends the value by the text from `shown` to `end` with its ampersands decoded.
    #[inline(never)]
    fn append_decoded(&self, parsed: &mut Parsed, shown: usize, end: usize) {
        let (block, param) = (self.block, self.param);
        let text = mem::take(&mut parsed.text);
        if let Slice::Owned(owned) = &mut parsed.param(block, param).value {
            let from = owned.len();
            for (number, part) in text[shown..end].split(AMPERSAND).enumerate() {
                if number > 0 {
                    owned.push('&');
                }
                owned.push_str(part);
            }
            let to = owned.len();
            parsed.changes.push(Change::ParamGrew { block, param, from, to });
        }
        parsed.text = text;
    }
}
