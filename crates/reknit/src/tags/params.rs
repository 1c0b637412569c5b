//! [`Params`]: which parameters a call has.

use std::collections::BTreeMap;
use std::mem;
use std::ops::Range;

use super::call::Slice;
use super::span::Stretch;
use crate::json::Value;

/// How many parameters are looked at one by one.
const FEW: usize = 16;

/// The parameters of a call, in the order they came.
///
/// All calls share one list, so that a call with parameters takes no memory of its own. In it the parameters
/// of a call stand side by side, but for those behind a call in this call.
#[derive(Clone, Debug, Default)]
pub(super) struct Params {
    /// Where they start in the shared list, and how many of them stand there.
    first: u32,
    shared: u32,
    /// What few calls have.
    more: Option<Box<More>>,
}

#[derive(Clone, Debug, Default)]
struct More {
    /// The parameters behind a call in this call.
    own: Vec<ParamData>,
    /// The last one of each name, if there are many: a few are found sooner by looking at all.
    named: BTreeMap<String, usize>,
}

#[derive(Clone, Debug)]
pub(super) struct ParamData {
    pub(super) name: Stretch,
    /// Where its opening marker ends.
    pub(super) start: u32,
    pub(super) value: Slice,
    /// The value as the tool's schema wants it, if that is no string.
    pub(super) typed: Option<Box<Value>>,
    pub(super) closed: bool,
    /// A later parameter of the same name took its place.
    pub(super) replaced: bool,
}

impl Params {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.shared as usize + self.own().len()
    }

    pub(super) fn iter<'a>(&'a self, all: &'a [ParamData]) -> impl DoubleEndedIterator<Item = &'a ParamData> {
        all[self.in_list()].iter().chain(self.own())
    }

    pub(super) fn get<'a>(&'a self, all: &'a [ParamData], number: usize) -> &'a ParamData {
        let shared = &all[self.in_list()];
        shared.get(number).unwrap_or_else(|| &self.own()[number - shared.len()])
    }

    #[inline]
    pub(super) fn get_mut<'a>(&'a mut self, all: &'a mut [ParamData], number: usize) -> &'a mut ParamData {
        match &mut self.more {
            Some(more) if number >= self.shared as usize => &mut more.own[number - self.shared as usize],
            _ => &mut all[self.first as usize + number],
        }
    }

    /// The last one of this name.
    #[inline]
    pub(super) fn last(&self, all: &[ParamData], text: &str, name: &str) -> Option<usize> {
        if let Some(more) = &self.more
            && self.len() > FEW
        {
            return more.named.get(name).copied();
        }
        let same = |param: &ParamData| text.as_bytes()[param.name.range()] == *name.as_bytes();
        let own = self.own().iter().rposition(same).map(|number| self.shared as usize + number);
        own.or_else(|| all[self.in_list()].iter().rposition(same))
    }

    #[inline]
    pub(super) fn push(&mut self, all: &mut Vec<ParamData>, text: &str, param: ParamData) {
        if self.len() == 0 {
            self.first = all.len() as u32;
        }
        match &mut self.more {
            Some(more) if !more.own.is_empty() => more.own.push(param),
            _ if self.first as usize + self.shared as usize == all.len() => {
                self.shared += 1;
                all.push(param);
            }
            more => more.get_or_insert_default().own.push(param),
        }
        if self.len() > FEW {
            self.name_all(all, text);
        }
    }

    /// Adds the names that were not added yet.
    fn name_all(&mut self, all: &[ParamData], text: &str) {
        let unnamed = if self.len() == FEW + 1 { 0 } else { self.len() - 1 };
        let mut named = mem::take(&mut self.more.get_or_insert_default().named);
        for (param, number) in self.iter(all).skip(unnamed).zip(unnamed..) {
            named.insert(text[param.name.range()].to_owned(), number);
        }
        self.more.get_or_insert_default().named = named;
    }

    /// Where they stand in the shared list.
    #[inline]
    fn in_list(&self) -> Range<usize> {
        let first = self.first as usize;
        first..first + self.shared as usize
    }

    #[inline]
    fn own(&self) -> &[ParamData] {
        self.more.as_ref().map_or(&[], |more| &more.own)
    }
}
