//! The value as far as it has come, which of it is open, and what the last piece did to it.

use super::object::{Inserted, KeyIndex};
use super::path::Trail;
use super::{Change, Object, State, Value};
use crate::Text;

/// Keys that stood in their object already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duplicates {
    /// How many there were. The value of the last one stands, at the place of the first.
    pub count: usize,
    /// The byte of the text at which the first of them starts.
    pub first_at: usize,
}

/// Where a value goes that starts now.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    Root,
    Element,
    /// With the byte at which the key stands.
    Member {
        key: String,
        at: usize,
    },
}

/// What may be open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    String,
    Array,
    Object,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    root: Option<Value>,
    /// Outermost first: arrays and objects, and behind them perhaps a string.
    open: Vec<Open>,
    trail: Trail,
    records: Vec<Record>,
    /// All that strings grew by in the last piece, one behind the other.
    pub(super) grown: String,
    duplicates: Option<Duplicates>,
}

#[derive(Clone, Debug)]
struct Open {
    kind: Kind,
    /// Its number on the trail.
    node: usize,
    /// Which child of its parent it is.
    at: usize,
    keys: KeyIndex,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    node: usize,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Opened,
    /// By this part of `grown`.
    Grew(usize, usize),
    Scalar,
    Closed,
}

impl Tree {
    /// Forgets the changes of the piece before.
    #[inline]
    pub(super) fn start_piece(&mut self) {
        self.records.clear();
        self.grown.clear();
        // Nodes are never fewer than open values, so equally many are the same.
        if self.trail.len() != self.open.len() {
            self.trail.keep(self.open.iter_mut().map(|open| &mut open.node));
        }
    }

    /// Starts an empty string, array or object.
    pub(super) fn open(&mut self, slot: Slot, kind: Kind) {
        let empty = match kind {
            Kind::String => Value::String(Text::new()),
            Kind::Array => Value::Array(Vec::new()),
            Kind::Object => Value::Object(Object::new()),
        };
        let (node, at) = self.insert(slot, empty);
        self.records.push(Record { node, what: What::Opened });
        self.open.push(Open { kind, node, at, keys: KeyIndex::default() });
    }

    /// Adds a value that is there at once.
    pub(super) fn scalar(&mut self, slot: Slot, value: Value) {
        let (node, _) = self.insert(slot, value);
        self.records.push(Record { node, what: What::Scalar });
    }

    /// Takes plain text into the open string.
    pub(super) fn grow(&mut self, text: &str) {
        let start = self.grown.len();
        self.grown.push_str(text);
        self.grew(start);
    }

    /// Takes what `grown` has behind `start` into the open string.
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
        self.records.push(Record { node, what: What::Grew(start, end) });
    }

    /// Closes the innermost open value.
    pub(super) fn close(&mut self) {
        if let Some(Open { node, .. }) = self.open.pop() {
            self.records.push(Record { node, what: What::Closed });
        }
    }

    /// What is open innermost.
    pub(super) fn kind(&self) -> Option<Kind> {
        self.open.last().map(|open| open.kind)
    }

    /// How many values are open.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(super) fn root(&self) -> Option<&Value> {
        self.root.as_ref()
    }

    pub(super) fn into_root(self) -> Option<Value> {
        self.root
    }

    pub(super) fn duplicates(&self) -> Option<Duplicates> {
        self.duplicates
    }

    #[inline]
    pub(super) fn changes(&self) -> impl Iterator<Item = Change<'_>> {
        self.records.iter().map(|record| {
            let path = self.trail.path(record.node);
            match record.what {
                What::Opened => Change::Opened { path },
                What::Grew(start, end) => Change::StringGrew { path, text: &self.grown[start..end] },
                What::Scalar => Change::Scalar { path },
                What::Closed => Change::Closed { path },
            }
        })
    }

    /// The state of the value that the positions of children lead to from the root.
    pub(super) fn state(&self, way: impl Iterator<Item = usize>) -> State {
        // The root is no child of anything; the first open value below it is the second.
        let mut open = self.open.iter();
        let mut on_open_way = open.next().is_some();
        for at in way {
            on_open_way = on_open_way && open.next().is_some_and(|open| open.at == at);
        }
        if on_open_way { State::Partial } else { State::Complete }
    }

    /// Puts a value in its place; its number on the trail, and which child it is.
    fn insert(&mut self, slot: Slot, value: Value) -> (usize, usize) {
        let parent = self.open.last().map_or(0, |open| open.node);
        match (slot, innermost(&mut self.root, &self.open)) {
            (Slot::Element, Some(Value::Array(elements))) => {
                elements.push(value);
                let at = elements.len() - 1;
                (self.trail.add(parent, at, None), at)
            }
            (Slot::Member { key, at: key_at }, Some(Value::Object(object))) => {
                let keys = &mut self.open.last_mut().expect("an object takes a member while it is open").keys;
                // The node first, since the object takes the key.
                let node = self.trail.add(parent, 0, Some(&key));
                let Inserted { at, replaced } = keys.insert(object, key, value);
                self.trail.set_at(node, at);
                if replaced.is_some() {
                    let duplicates = self.duplicates.get_or_insert(Duplicates { count: 0, first_at: key_at });
                    duplicates.count += 1;
                }
                (node, at)
            }
            (_, _) => {
                self.root = Some(value);
                (self.trail.add(0, 0, None), 0)
            }
        }
    }
}

/// The innermost open value.
fn innermost<'a>(root: &'a mut Option<Value>, open: &[Open]) -> Option<&'a mut Value> {
    let (_, below) = open.split_first()?;
    below.iter().try_fold(root.as_mut()?, |value, open| value.child_mut(open.at))
}
