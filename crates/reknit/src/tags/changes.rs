//! [`Changes`]: what one piece changed, each [`Change`] in a compact form.

/// What a piece changed in the blocks of a [`Parser`](super::Parser).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A block was opened.
    Opened {
        /// Its index.
        block: usize,
    },
    /// A text or thinking block grew.
    Grew {
        /// Its index.
        block: usize,
        /// Where the new part starts in [`Parser::text`](super::Parser::text).
        from: usize,
        /// Where it ends.
        to: usize,
    },
    /// A parameter of a call was opened; it is empty.
    ParamOpened {
        /// The index of the call.
        block: usize,
        /// The number of the parameter in the call.
        param: usize,
    },
    /// The value of a parameter grew.
    ParamGrew {
        /// The index of the call.
        block: usize,
        /// The number of the parameter in the call.
        param: usize,
        /// Where the new part starts in the parameter's text, see [`Call::params`](super::Call::params).
        from: usize,
        /// Where it ends.
        to: usize,
    },
    /// The value of a parameter is complete.
    ParamClosed {
        /// The index of the call.
        block: usize,
        /// The number of the parameter in the call.
        param: usize,
    },
    /// The arguments of a call grew.
    ArgsGrew {
        /// The index of the call.
        block: usize,
        /// Where the new part starts in the JSON text of the arguments.
        from: usize,
        /// Where it ends.
        to: usize,
    },
    /// A block was closed.
    Closed {
        /// Its index.
        block: usize,
    },
}

/// The changes of one piece, in the order of the text.
///
/// A message that arrives in one piece has thousands of changes, and storing them is much of the work. A
/// packed change has two fifths of the size of a [`Change`]; it is unpacked when somebody asks for it.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes(Vec<Packed>);

#[derive(Clone, Copy, Debug)]
struct Packed {
    /// The block's index, and in the lowest bits the kind of change.
    what: u32,
    /// The number of the parameter, for a change of one.
    param: u32,
    /// Where the new part starts and ends, for a change that adds something.
    from: u32,
    to: u32,
}

const KIND_BITS: u32 = 3;
const OPENED: u32 = 0;
const GREW: u32 = 1;
const PARAM_OPENED: u32 = 2;
const PARAM_GREW: u32 = 3;
const PARAM_CLOSED: u32 = 4;
const ARGS_GREW: u32 = 5;
const CLOSED: u32 = 6;

impl Changes {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a change. Growth that continues the last change is joined with it.
    ///
    /// Inlined, so that the compiler knows the kind of change here.
    #[inline(always)]
    pub(super) fn push(&mut self, change: Change) {
        let change = Packed::new(change);
        match self.0.last_mut() {
            Some(last) if change.continues(*last) => last.to = change.to,
            _ => self.0.push(change),
        }
    }

    pub(super) fn get(&self, number: usize) -> Option<Change> {
        self.0.get(number).map(|change| change.unpacked())
    }
}

impl Packed {
    /// No number is truncated: a text has at most [`MAX_TEXT_BYTES`](super::MAX_TEXT_BYTES) bytes and fewer
    /// blocks.
    #[inline(always)]
    fn new(change: Change) -> Self {
        let new = |kind, block: usize, param: usize, from: usize, to: usize| Self {
            what: (block as u32) << KIND_BITS | kind,
            param: param as u32,
            from: from as u32,
            to: to as u32,
        };
        match change {
            Change::Opened { block } => new(OPENED, block, 0, 0, 0),
            Change::Grew { block, from, to } => new(GREW, block, 0, from, to),
            Change::ParamOpened { block, param } => new(PARAM_OPENED, block, param, 0, 0),
            Change::ParamGrew { block, param, from, to } => new(PARAM_GREW, block, param, from, to),
            Change::ParamClosed { block, param } => new(PARAM_CLOSED, block, param, 0, 0),
            Change::ArgsGrew { block, from, to } => new(ARGS_GREW, block, 0, from, to),
            Change::Closed { block } => new(CLOSED, block, 0, 0, 0),
        }
    }

    #[inline(always)]
    fn continues(self, last: Self) -> bool {
        let grew = matches!(self.what & ((1 << KIND_BITS) - 1), GREW | PARAM_GREW | ARGS_GREW);
        grew && (self.what, self.param, self.from) == (last.what, last.param, last.to)
    }

    #[inline]
    fn unpacked(self) -> Change {
        let block = (self.what >> KIND_BITS) as usize;
        let [param, from, to] = [self.param, self.from, self.to].map(|number| number as usize);
        match self.what & ((1 << KIND_BITS) - 1) {
            OPENED => Change::Opened { block },
            GREW => Change::Grew { block, from, to },
            PARAM_OPENED => Change::ParamOpened { block, param },
            PARAM_GREW => Change::ParamGrew { block, param, from, to },
            PARAM_CLOSED => Change::ParamClosed { block, param },
            ARGS_GREW => Change::ArgsGrew { block, from, to },
            _ => Change::Closed { block },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tags::MAX_TEXT_BYTES;

    fn all_of(changes: &Changes) -> Vec<Change> {
        (0..).map_while(|number| changes.get(number)).collect()
    }

    #[test]
    fn a_change_is_unpacked_as_it_was() {
        let all = [
            Change::Opened { block: 0 },
            Change::Grew { block: MAX_TEXT_BYTES, from: 1, to: MAX_TEXT_BYTES },
            Change::ParamOpened { block: 2, param: 3 },
            Change::ParamGrew { block: 2, param: 3, from: 0, to: MAX_TEXT_BYTES },
            Change::ParamClosed { block: 2, param: MAX_TEXT_BYTES },
            Change::ArgsGrew { block: 4, from: 5, to: 6 },
            Change::Closed { block: MAX_TEXT_BYTES },
        ];
        let mut changes = Changes::default();
        for change in all {
            changes.push(change);
        }
        assert_eq!(all_of(&changes), all);
    }

    #[test]
    fn only_growth_that_continues_is_joined() {
        let grew = |block, from, to| Change::Grew { block, from, to };
        let mut changes = Changes::default();
        for change in
            [grew(1, 0, 2), grew(1, 2, 5), grew(1, 6, 7), grew(2, 7, 8), Change::Closed { block: 2 }]
        {
            changes.push(change);
        }
        changes.push(Change::Closed { block: 2 });
        let closed = Change::Closed { block: 2 };
        let kept = [grew(1, 0, 5), grew(1, 6, 7), grew(2, 7, 8), closed, closed];
        assert_eq!(all_of(&changes), kept);
    }
}
