//! The value so far, which parts of it are open, and what the last piece changed.

use std::mem;

use super::array::reserve_for_one;
use super::object::Inserted;
use super::path::Trail;
use super::{Array, Change, Object, State, Value};
use crate::Text;

/// Where the next value goes.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    Root,
    Element,
    /// With the byte at which the key starts.
    Member {
        key: Box<str>,
        at: usize,
    },
}

/// The kinds of values that can be open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    String,
    Array,
    Object,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    root: Option<Value>,
    /// Open arrays and objects, outermost first, and possibly a string at the end.
    open: Vec<Open>,
    trail: Trail,
    records: Vec<Record>,
    /// Everything that the last piece added to strings, one after the other.
    pub(super) grown: String,
    /// Where each of these additions ends.
    grown_ends: Vec<usize>,
    /// How often a key was repeated, and the byte at which the first of them starts.
    duplicates: Option<(usize, usize)>,
}

#[derive(Clone, Debug)]
struct Open {
    kind: Kind,
    /// Its number in the trail.
    node: usize,
    /// Its position among the children of its parent.
    at: usize,
}

/// What happened to which node, in 4 bytes: a long piece has millions of them.
#[derive(Clone, Copy, Debug)]
struct Record(u32);

#[derive(Clone, Copy, Debug)]
enum What {
    Opened,
    Grew,
    Scalar,
    Closed,
}

impl Record {
    fn new(node: usize, what: What) -> Self {
        let node = u32::try_from(node).ok().filter(|node| *node < 1 << 30);
        Self(node.expect("a piece has fewer values than bytes") << 2 | what as u32)
    }

    #[inline]
    fn node(self) -> usize {
        (self.0 >> 2) as usize
    }

    #[inline]
    fn what(self) -> What {
        match self.0 & 3 {
            0 => What::Opened,
            1 => What::Grew,
            2 => What::Scalar,
            _ => What::Closed,
        }
    }
}

/// For how many records, nodes and bytes of text there is still memory when the next piece comes.
const KEPT: usize = 1 << 18;

impl Tree {
    /// Discards the changes of the previous piece.
    #[inline]
    pub(super) fn start_piece(&mut self) {
        self.records.clear();
        self.grown.clear();
        self.grown_ends.clear();
        // Every open value has a node, so if there are equally many, there is nothing to remove.
        if self.trail.len() != self.open.len() {
            self.trail.keep(self.open.iter_mut().map(|open| &mut open.node));
        }
        if self.records.capacity() > KEPT || self.grown.capacity() > KEPT {
            self.shrink();
        }
    }

    /// Gives back the memory that a long piece needed.
    fn shrink(&mut self) {
        self.records.shrink_to(KEPT);
        self.grown.shrink_to(KEPT);
        self.grown_ends.shrink_to(KEPT);
        self.trail.shrink_to(KEPT);
    }

    /// Starts an empty string, array or object.
    pub(super) fn open(&mut self, slot: Slot, kind: Kind) {
        let empty = match kind {
            Kind::String => Value::String(Text::new()),
            Kind::Array => Value::Array(Array::default()),
            Kind::Object => Value::Object(Object::new()),
        };
        let (node, at) = self.insert(slot, empty);
        self.record(node, What::Opened);
        self.open.push(Open { kind, node, at });
    }

    /// Adds a null, boolean or number.
    pub(super) fn scalar(&mut self, slot: Slot, value: Value) {
        let (node, _) = self.insert(slot, value);
        self.record(node, What::Scalar);
    }

    /// Appends plain text to the open string.
    pub(super) fn grow(&mut self, text: &str) {
        let start = self.grown.len();
        self.grown.push_str(text);
        self.grew(start);
    }

    /// Appends what `grown` has from `start` on to the open string.
    #[inline]
    pub(super) fn grew(&mut self, start: usize) {
        let end = self.grown.len();
        if start == end {
            return;
        }
        let Some(&Open { node, .. }) = self.open.last() else { return };
        if let Some(Value::String(text)) = innermost(&mut self.root, &self.open) {
            text.push_str(&self.grown[start..]);
        }
        self.grown_ends.push(end);
        self.record(node, What::Grew);
    }

    /// Closes the innermost open value.
    pub(super) fn close(&mut self) {
        if let Some(value) = innermost(&mut self.root, &self.open) {
            value.shrink();
        }
        if let Some(Open { node, .. }) = self.open.pop() {
            self.record(node, What::Closed);
        }
    }

    #[inline]
    fn record(&mut self, node: usize, what: What) {
        reserve_for_one(&mut self.records);
        self.records.push(Record::new(node, what));
    }

    /// The kind of the innermost open value.
    pub(super) fn kind(&self) -> Option<Kind> {
        self.open.last().map(|open| open.kind)
    }

    /// The number of open values.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(super) fn root(&self) -> Option<&Value> {
        self.root.as_ref()
    }

    pub(super) fn into_root(self) -> Option<Value> {
        self.root
    }

    pub(super) fn duplicates(&self) -> Option<(usize, usize)> {
        self.duplicates
    }

    #[inline]
    pub(super) fn changes(&self) -> impl Iterator<Item = Change<'_>> {
        let (mut start, mut ends) = (0, self.grown_ends.iter());
        self.records.iter().map(move |record| {
            let path = self.trail.path(record.node());
            match record.what() {
                What::Opened => Change::Opened { path },
                What::Grew => {
                    let end = ends.next().map_or(start, |end| *end);
                    let text = &self.grown[mem::replace(&mut start, end)..end];
                    Change::StringGrew { path, text }
                }
                What::Scalar => Change::Scalar { path },
                What::Closed => Change::Closed { path },
            }
        })
    }

    /// The state of the value that the given positions lead to from the root.
    pub(super) fn state(&self, positions: impl Iterator<Item = usize>) -> State {
        // The root has no position, so the first position belongs to the second open value.
        let mut open = self.open.iter();
        let mut is_open = open.next().is_some();
        for at in positions {
            is_open = is_open && open.next().is_some_and(|open| open.at == at);
        }
        if is_open { State::Partial } else { State::Complete }
    }

    /// Inserts a value. Returns its number in the trail and its position in its parent.
    fn insert(&mut self, slot: Slot, value: Value) -> (usize, usize) {
        let parent = self.open.last().map_or(0, |open| open.node);
        match (slot, innermost(&mut self.root, &self.open)) {
            (Slot::Element, Some(Value::Array(elements))) => {
                elements.push(value);
                let at = elements.len() - 1;
                (self.trail.add_element(parent, at), at)
            }
            (Slot::Member { key, at: key_at }, Some(Value::Object(object))) => {
                // The node comes first because the object takes ownership of the key.
                let node = self.trail.add_member(parent, &key);
                let Inserted { at, replaced } = object.insert_at(key, value);
                self.trail.set_position_of_last_member(at);
                if replaced.is_some() {
                    let (count, _first_at) = self.duplicates.get_or_insert((0, key_at));
                    *count += 1;
                }
                (node, at)
            }
            (_, _) => {
                self.root = Some(value);
                (self.trail.add_element(0, 0), 0)
            }
        }
    }
}

/// The innermost open value.
fn innermost<'a>(root: &'a mut Option<Value>, open: &[Open]) -> Option<&'a mut Value> {
    let (_, below) = open.split_first()?;
    below.iter().try_fold(root.as_mut()?, |value, open| value.child_mut(open.at))
}
