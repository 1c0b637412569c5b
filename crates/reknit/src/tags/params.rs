//! [`Params`]: the parameters of a call.

use std::collections::BTreeMap;
use std::mem;
use std::ops::Range;

use super::call::Slice;
use super::span::SmallRange;
use crate::json::Value;

/// With up to this many parameters, a name is found by comparing it with each. That is faster than a map for
/// the few that most calls have.
const MAX_SCANNED: usize = 16;

/// The parameters of a call, in the order in which they came.
///
/// All calls share one list, so that a call needs no allocation for its parameters. The parameters of a call
/// are adjacent in it, except those that come after a nested call.
#[derive(Clone, Debug, Default)]
pub(super) struct Params {
    /// Where its parameters start in the shared list, and how many are there.
    first: u32,
    shared: u32,
    /// What few calls have.
    more: Option<Box<More>>,
}

#[derive(Clone, Debug, Default)]
struct More {
    /// The parameters after a nested call.
    own: Vec<ParamData>,
    /// The first and the last parameter of each name, if there are more than [`MAX_SCANNED`].
    named: BTreeMap<String, (usize, usize)>,
}

#[derive(Clone, Debug)]
pub(super) struct ParamData {
    pub(super) name: SmallRange,
    /// Where its opening marker ends.
    pub(super) start: u32,
    pub(super) value: Slice,
    /// The value with the type that the tool's schema asks for, unless that is a string.
    pub(super) typed: Option<Box<Value>>,
    /// Its type is known only when it is complete.
    pub(super) typed_late: bool,
    /// There is a later parameter of the same name.
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

    /// The last parameter of this name.
    #[inline]
    pub(super) fn last(&self, all: &[ParamData], text: &str, name: &str) -> Option<usize> {
        if let Some(named) = self.named() {
            return named.get(name).map(|(_, last)| *last);
        }
        let same = |param: &ParamData| text.as_bytes()[param.name.range()] == *name.as_bytes();
        let own = self.own().iter().rposition(same).map(|number| self.shared as usize + number);
        own.or_else(|| all[self.in_list()].iter().rposition(same))
    }

    /// The first parameter of this name.
    pub(super) fn first(&self, all: &[ParamData], text: &str, name: &str) -> Option<usize> {
        if let Some(named) = self.named() {
            return named.get(name).map(|(first, _)| *first);
        }
        self.iter(all).position(|param| text[param.name.range()] == *name)
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
        if self.len() > MAX_SCANNED {
            self.name_all(all, text);
        }
    }

    /// The map of names, if there are enough parameters for one.
    #[inline]
    fn named(&self) -> Option<&BTreeMap<String, (usize, usize)>> {
        self.more.as_ref().filter(|_| self.len() > MAX_SCANNED).map(|more| &more.named)
    }

    /// Adds the names that are not in the map yet.
    fn name_all(&mut self, all: &[ParamData], text: &str) {
        let unnamed = if self.len() == MAX_SCANNED + 1 { 0 } else { self.len() - 1 };
        let mut named = mem::take(&mut self.more.get_or_insert_default().named);
        for (param, number) in self.iter(all).skip(unnamed).zip(unnamed..) {
            let same = named.entry(text[param.name.range()].to_owned()).or_insert((number, number));
            same.1 = number;
        }
        self.more.get_or_insert_default().named = named;
    }

    /// The range of its parameters in the shared list.
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
