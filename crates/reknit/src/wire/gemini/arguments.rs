//! [`Arguments`]: turns values that come by JSON path into a JSON text that only grows at its end.
//!
//! Vertex sends `{"jsonPath": "$.edits[0].path", "stringValue": "src/", "willContinue": true}`. Values come
//! in document order, so the containers around the latest one stay open in the text, and are closed when a
//! path leaves them. A value that comes after its place has passed is put aside. When the call is over, its
//! outermost key is written again with everything that belongs to it, because the last of two equal keys
//! counts.

use std::collections::BTreeSet;

use super::super::fields::Raw;
use crate::json::Value;

mod late;
mod path;
#[cfg(test)]
mod tests;

use late::{Late, Node};
use path::Step;

#[derive(Clone, Debug, Default)]
pub(super) struct Arguments {
    text: String,
    /// How many bytes of the text [`grown`](Self::grown) has returned.
    given: usize,
    /// The containers that are open in the text, the outermost first.
    levels: Vec<Level>,
    /// The path of the string that is open in the text.
    string: Option<Vec<Step>>,
    /// Paths of values that are to continue.
    unfinished: BTreeSet<Vec<Step>>,
    late: Vec<Late>,
    /// Whether a value is missing from the text.
    incomplete: bool,
}

#[derive(Clone, Debug)]
enum Level {
    Object { latest: String, used: BTreeSet<String> },
    Array { length: usize },
}

/// What became of a piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Taken {
    InOrder,
    /// Its place in the text had passed.
    Late,
    NotUnderstood,
}

#[derive(Clone, Copy)]
enum Piece<'a> {
    /// The body of a JSON string. It is copied as it is, so that the halves of a surrogate pair meet.
    Text(&'a str),
    Scalar(&'a str),
}

impl Arguments {
    /// Takes one element of `partialArgs`.
    pub(super) fn take(&mut self, partial: Raw<'_>) -> Taken {
        let (mut path, mut piece, mut continues, mut unknown) = (None, None, false, false);
        let read = partial.members(|key, value| match key {
            // Protocol buffers write null as `null` or as `"NULL_VALUE"`.
            "nullValue" => piece = Some(Piece::Scalar("null")),
            _ if value.is_null() => {}
            "jsonPath" => path = value.string().and_then(|path| path::parse(&path)),
            "stringValue" => match value.string_body() {
                Some(body) => piece = Some(Piece::Text(body)),
                None => unknown = true,
            },
            "numberValue" | "boolValue" => piece = Some(Piece::Scalar(value.text())),
            "willContinue" => continues = value.text() == "true",
            _ => unknown = true,
        });
        let Some(path) = path.filter(|_| read.is_ok() && !unknown) else {
            self.incomplete = true;
            return Taken::NotUnderstood;
        };
        match piece {
            Some(piece) => self.write(path, piece, continues),
            None if continues => {
                self.unfinished.insert(path);
                Taken::InOrder
            }
            None if self.unfinished.remove(&path) => {
                if self.string.as_ref() == Some(&path) {
                    self.close_string();
                }
                Taken::InOrder
            }
            None => {
                self.incomplete = true;
                Taken::NotUnderstood
            }
        }
    }

    pub(super) fn mark_incomplete(&mut self) {
        self.incomplete = true;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.late.is_empty() && !self.incomplete
    }

    /// Whether the first late value of the call has come, and is not in the text yet.
    pub(super) fn is_first_late(&self) -> bool {
        self.late.len() == 1
    }

    /// What the text grew by since this was last called.
    pub(super) fn grown(&mut self) -> &str {
        let from = std::mem::replace(&mut self.given, self.text.len());
        &self.text[from..]
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Writes the late values. Called when the call is over, complete or not.
    pub(super) fn settle(&mut self) {
        let late = std::mem::take(&mut self.late);
        if late.is_empty() {
            return;
        }
        self.close_string();
        self.leave(1);
        let before = if self.levels.is_empty() { "{}".to_owned() } else { format!("{}}}", self.text) };
        // The text is JSON, unless the provider sent half of a surrogate pair.
        let before: Value = before.parse().unwrap_or_default();
        self.incomplete |= before.is_null();
        let mut root = Node::new(before);
        let mut again = BTreeSet::new();
        for late in late {
            again.extend(late.path.first().cloned());
            root.set(late);
        }
        for step in again {
            if self.levels.is_empty() {
                self.open(&step);
            }
            self.enter(&step);
            let whole = root.child(&step).is_some_and(|node| node.write(&mut self.text));
            self.incomplete |= !whole;
        }
    }

    /// Ends the arguments and returns whether they are complete; if not, the text is left open.
    pub(super) fn end(&mut self) -> bool {
        self.settle();
        let whole = self.unfinished.is_empty() && !self.incomplete;
        if whole {
            self.leave(0);
        }
        whole
    }

    fn write(&mut self, path: Vec<Step>, piece: Piece<'_>, continues: bool) -> Taken {
        match piece {
            Piece::Text(body) if self.string.as_ref() == Some(&path) => {
                self.text.push_str(body);
                if !continues {
                    self.unfinished.remove(&path);
                    self.close_string();
                }
                return Taken::InOrder;
            }
            Piece::Text(_) | Piece::Scalar(_) => self.close_string(),
        }
        let fits = self.place(&path);
        let (was_unfinished, json) = match piece {
            Piece::Text(body) if continues => (!self.unfinished.insert(path.clone()), format!("\"{body}\"")),
            Piece::Text(body) => (self.unfinished.remove(&path), format!("\"{body}\"")),
            Piece::Scalar(json) => {
                self.unfinished.remove(&path);
                (false, json.to_owned())
            }
        };
        if !fits {
            self.late.push(Late { path, json, appends: was_unfinished });
            return Taken::Late;
        }
        self.text.push_str(&json);
        if continues && let Piece::Text(_) = piece {
            self.text.pop();
            self.string = Some(path);
        }
        Taken::InOrder
    }

    /// Extends the text to where the value of `path` is to be written, if its place has not passed.
    fn place(&mut self, path: &[Step]) -> bool {
        let Some((_, way)) = path.split_last() else { return false };
        let open = self.levels.len().saturating_sub(1);
        let shared = way.iter().zip(&self.levels).take(open).take_while(|(step, level)| level.is_at(step));
        let shared = shared.count();
        let begins = |step: &Step| !matches!(step, Step::Index(1..));
        let admitted = match self.levels.get(shared) {
            Some(level) => level.admits(&path[shared]),
            None => begins(&path[shared]),
        };
        if !admitted || !path[shared + 1..].iter().all(begins) {
            return false;
        }
        self.leave(shared + 1);
        if self.levels.is_empty() {
            self.open(&path[0]);
        }
        self.enter(&path[shared]);
        for step in &path[shared + 1..] {
            self.open(step);
            self.enter(step);
        }
        true
    }

    /// Opens the container that `step` is the first in.
    fn open(&mut self, step: &Step) {
        let (bracket, level) = match step {
            Step::Key(_) => ('{', Level::Object { latest: String::new(), used: BTreeSet::new() }),
            Step::Index(_) => ('[', Level::Array { length: 0 }),
        };
        self.text.push(bracket);
        self.levels.push(level);
    }

    /// Writes what precedes the next value of the innermost container: a comma, a key.
    fn enter(&mut self, step: &Step) {
        if self.levels.last().is_some_and(|level| !level.is_empty()) {
            self.text.push(',');
        }
        match (self.levels.last_mut(), step) {
            (Some(Level::Object { latest, used }), Step::Key(key)) => {
                self.text.push_str(&Value::from(&**key).to_string());
                self.text.push(':');
                used.insert(key.clone());
                key.clone_into(latest);
            }
            (Some(Level::Array { length }), _) => *length += 1,
            (Some(Level::Object { .. }) | None, _) => {}
        }
    }

    /// Closes containers until `count` are open.
    fn leave(&mut self, count: usize) {
        while self.levels.len() > count {
            self.text.push(match self.levels.pop() {
                Some(Level::Array { .. }) => ']',
                Some(Level::Object { .. }) | None => '}',
            });
        }
    }

    fn close_string(&mut self) {
        if self.string.take().is_some() {
            self.text.push('"');
        }
    }
}

impl Level {
    /// Whether its latest value is the one that `step` leads to.
    fn is_at(&self, step: &Step) -> bool {
        match (self, step) {
            (Self::Object { latest, used }, Step::Key(key)) => latest == key && !used.is_empty(),
            (Self::Array { length }, Step::Index(index)) => index.checked_add(1) == Some(*length),
            (Self::Object { .. }, Step::Index(_)) | (Self::Array { .. }, Step::Key(_)) => false,
        }
    }

    /// Whether a value that `step` leads to can be its next one.
    fn admits(&self, step: &Step) -> bool {
        match (self, step) {
            (Self::Object { used, .. }, Step::Key(key)) => !used.contains(key),
            (Self::Array { length }, Step::Index(index)) => index == length,
            (Self::Object { .. }, Step::Index(_)) | (Self::Array { .. }, Step::Key(_)) => false,
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Object { used, .. } => used.is_empty(),
            Self::Array { length } => *length == 0,
        }
    }
}
