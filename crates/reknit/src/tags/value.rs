//! [`Value`]: the value of a parameter while it arrives, cleaned as it is shown.

use std::mem;
use std::ops::Range;

use super::blank::{first_solid, last_solid};
use super::call::{Input, ParamData, Slice};
use super::grammar::Clean;
use super::matcher::Treatment;
use super::sheet::{Change, Sheet, SpanKind};

const AMPERSAND: &str = "&amp;";

/// What cleaning leaves of a whole value.
pub(super) fn cleaned(clean: Clean, text: &str, range: Range<usize>) -> Range<usize> {
    let value = &text[range.clone()];
    let from = match clean {
        Clean::Trim => first_solid(value).unwrap_or(value.len()),
        Clean::Newline if value.starts_with("\r\n") => 2,
        Clean::Newline | Clean::LineFeed => usize::from(value.starts_with('\n')),
        Clean::Keep => 0,
    };
    let value = &value[from..];
    let kept = match clean {
        Clean::Trim => last_solid(value).unwrap_or(0),
        Clean::Newline if value.ends_with("\r\n") => value.len() - 2,
        Clean::Newline | Clean::LineFeed => value.len() - usize::from(value.ends_with('\n')),
        Clean::Keep => value.len(),
    };
    range.start + from..range.start + from + kept
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

/// Whether more of a value may come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    Expected,
    None,
}

impl Value {
    pub(super) fn new(block: usize, param: usize, start: usize, treatment: Treatment) -> Self {
        Self { block, param, start, treatment, from: None, seen: start }
    }

    pub(super) fn treatment(&self) -> Treatment {
        self.treatment
    }

    /// Everything up to `to` is value.
    pub(super) fn grow(&mut self, sheet: &mut Sheet, to: usize) {
        if to > self.seen {
            self.show(sheet, to, Rest::Expected);
        }
    }

    /// The value ends at `at`.
    pub(super) fn close(&mut self, sheet: &mut Sheet, at: usize) {
        self.show(sheet, at, Rest::None);
        sheet.lay(SpanKind::Blank, at);
    }

    fn show(&mut self, sheet: &mut Sheet, to: usize, rest: Rest) {
        let fresh = self.seen;
        self.seen = to.max(fresh);
        let from = match self.from {
            Some(from) => from,
            None => match self.first(&sheet.text, fresh, to, rest) {
                Some(from) => {
                    self.from = Some(from);
                    sheet.lay(SpanKind::Blank, from);
                    self.data(sheet).value = Slice::Range(from..from);
                    if self.treatment.ampersands {
                        self.data(sheet).value = Slice::Owned(String::new());
                    }
                    from
                }
                None => return,
            },
        };
        let shown = sheet.decided().max(from);
        let end = self.last(&sheet.text, shown, fresh.max(from), to, rest).max(shown);
        if end > shown {
            self.append(sheet, shown, end);
        }
    }

    /// Where the cleaned value starts, if that is known.
    fn first(&self, text: &str, fresh: usize, to: usize, rest: Rest) -> Option<usize> {
        let start = self.start;
        let feed = |ends: &[&str]| match &text[start..to] {
            "" if rest == Rest::Expected => None,
            "\r" if rest == Rest::Expected && ends.len() > 1 => None,
            value => {
                Some(start + ends.iter().find(|end| value.starts_with(**end)).map_or(0, |end| end.len()))
            }
        };
        match self.treatment.clean {
            Clean::Trim => match first_solid(&text[fresh..to]) {
                Some(solid) => Some(fresh + solid),
                None => (rest == Rest::None).then_some(to),
            },
            Clean::Newline => feed(&["\r\n", "\n"]),
            Clean::LineFeed => feed(&["\n"]),
            Clean::Keep => Some(start),
        }
    }

    /// Up to where the value can be shown: `shown` is, and up to `fresh` all was looked at.
    fn last(&self, text: &str, shown: usize, fresh: usize, to: usize, rest: Rest) -> usize {
        let tail = &text[shown..to];
        let end = match self.treatment.clean {
            Clean::Trim => {
                // What was held back before may be half an entity, which at the end is none.
                let new = if rest == Rest::None { shown } else { fresh.min(to) };
                last_solid(&text[new..to]).map_or(shown, |solid| new + solid)
            }
            Clean::Newline => {
                let line = tail.strip_suffix('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
                let half = tail.strip_suffix('\r').filter(|_| rest == Rest::Expected);
                shown + line.or(half).unwrap_or(tail).len()
            }
            Clean::LineFeed => shown + tail.strip_suffix('\n').unwrap_or(tail).len(),
            Clean::Keep => to,
        };
        if self.treatment.ampersands && rest == Rest::Expected {
            let near = text[shown..end].char_indices().rev().take(AMPERSAND.len() - 1);
            let half = near.map(|(at, _)| shown + at).find(|&at| AMPERSAND.starts_with(&text[at..end]));
            return half.unwrap_or(end);
        }
        end
    }

    fn append(&self, sheet: &mut Sheet, shown: usize, end: usize) {
        sheet.lay(SpanKind::Value(self.block), end);
        let text = mem::take(&mut sheet.text);
        let data = self.data(sheet);
        let (from, to) = match &mut data.value {
            Slice::Range(range) => {
                let from = range.len();
                range.end = end;
                (from, range.len())
            }
            Slice::Owned(owned) => {
                let from = owned.len();
                for (number, part) in text[shown..end].split(AMPERSAND).enumerate() {
                    if number > 0 {
                        owned.push('&');
                    }
                    owned.push_str(part);
                }
                (from, owned.len())
            }
        };
        sheet.text = text;
        let (block, param) = (self.block, self.param);
        match sheet.changes.last_mut() {
            Some(Change::ParamGrew { block: b, param: p, to: last, .. }) if (*b, *p) == (block, param) => {
                *last = to;
            }
            _ => sheet.changes.push(Change::ParamGrew { block, param, from, to }),
        }
    }

    pub(super) fn data<'a>(&self, sheet: &'a mut Sheet) -> &'a mut ParamData {
        match &mut sheet.call(self.block).input {
            Input::Params(params) => &mut params.list[self.param],
            Input::Json(_) => unreachable!("markup has parameters"),
        }
    }
}
