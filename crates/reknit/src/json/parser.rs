//! The state machine that parses one JSON value.

use std::mem;

use super::Value;
use super::error::{Error, Fault};
use super::number::{Number, NumberState, in_range};
use super::string::{Decoded, Escape, decode, plain_end};
use super::tree::{Kind, Slot, Tree};

/// Parses text that is cut anywhere into a [`Tree`], reading each byte once.
#[derive(Clone, Debug)]
pub(super) struct Parser {
    pub(super) tree: Tree,
    state: State,
    /// The key that is being read. It is a field so that its memory is reused.
    key: String,
    /// The number of bytes parsed so far.
    at: usize,
    depth: usize,
}

#[derive(Clone, Debug)]
enum State {
    /// Before a value.
    Value(Slot),
    /// After `[`: a value, or the end of the array.
    FirstElement,
    /// After `{`: a key, or the end of the object.
    FirstKey,
    /// After a comma in an object.
    Key,
    /// In a key, which starts at the byte `at`.
    InKey {
        at: usize,
        escape: Escape,
    },
    /// After a key: its colon.
    Colon(Slot),
    /// In a string, which is open in the tree.
    InString {
        escape: Escape,
    },
    /// In a number, with the text of it that came in earlier pieces.
    InNumber {
        slot: Slot,
        text: String,
        progress: NumberState,
    },
    /// In `null`, `true` or `false`.
    InLiteral {
        slot: Slot,
        literal: &'static Literal,
        seen: usize,
    },
    /// After a value in an array or object: a comma, or the end.
    Comma,
    /// After the whole value.
    End,
    Failed(Error),
}

/// A word that is a value.
#[derive(Debug)]
struct Literal {
    text: &'static str,
    /// How errors name it.
    expected: &'static str,
    value: Value,
}

static NULL: Literal = Literal { text: "null", expected: "`null`", value: Value::Null };
static TRUE: Literal = Literal { text: "true", expected: "`true`", value: Value::Bool(true) };
static FALSE: Literal = Literal { text: "false", expected: "`false`", value: Value::Bool(false) };

impl Parser {
    pub(super) fn new(depth: usize) -> Self {
        Self { tree: Tree::default(), state: State::Value(Slot::Root), key: String::new(), at: 0, depth }
    }

    /// Parses a piece. After an error it only returns the same error again.
    pub(super) fn push(&mut self, piece: &str) -> Result<(), Error> {
        self.tree.start_piece();
        if let State::Failed(error) = self.state {
            return Err(error);
        }
        // Most pieces of a long string contain nothing special.
        if let State::InString { escape: Escape::None } = self.state
            && plain_end(piece.as_bytes(), 0) == piece.len()
        {
            self.tree.grow(piece);
            self.at += piece.len();
            return Ok(());
        }
        self.steps(piece)
    }

    /// Parses a text as if it had arrived in pieces of `size` bytes.
    #[inline]
    pub(super) fn push_in_parts(&mut self, text: &str, size: usize) -> Result<(), Error> {
        let mut rest = text;
        while rest.len() > size {
            let (part, after) = rest.split_at(rest.floor_char_boundary(size));
            self.push(part)?;
            rest = after;
        }
        self.push(rest)
    }

    /// Parses a piece step by step.
    fn steps(&mut self, piece: &str) -> Result<(), Error> {
        let mut rest = piece;
        while let Some(&byte) = rest.as_bytes().first() {
            let step = match &mut self.state {
                State::InString { .. } => self.in_string(rest),
                State::InKey { .. } => self.in_key(rest),
                State::InNumber { .. } => self.in_number(rest),
                State::InLiteral { .. } => self.in_literal(rest),
                State::Failed(error) => return Err(*error),
                _ if matches!(byte, b' ' | b'\n' | b'\r' | b'\t') => Ok(1),
                State::Value(_) => self.value(rest, "a value"),
                State::FirstElement if byte == b']' => self.close(),
                State::FirstElement => {
                    self.state = State::Value(Slot::Element);
                    self.value(rest, "a value or `]`")
                }
                State::FirstKey if byte == b'}' => self.close(),
                State::FirstKey => self.key(rest, "a key or `}`"),
                State::Key => self.key(rest, "a key"),
                State::Colon(_) => self.colon(rest),
                State::Comma => self.comma(rest),
                State::End => Err(Error { fault: Fault::Trailing { found: first_char(rest) }, at: self.at }),
            };
            match step {
                Ok(taken) => {
                    self.at += taken;
                    rest = &rest[taken..];
                }
                Err(error) => {
                    self.state = State::Failed(error);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    pub(super) fn error(&self) -> Option<Error> {
        if let State::Failed(error) = self.state { Some(error) } else { None }
    }

    /// Whether the text so far is one whole value.
    pub(super) fn check(&self) -> Result<(), Error> {
        match &self.state {
            State::End => Ok(()),
            State::Failed(error) => Err(*error),
            State::Value(Slot::Root) => Err(Error { fault: Fault::Empty, at: self.at }),
            State::InNumber { slot: Slot::Root, text, progress } if progress.is_whole() => {
                match in_range(text) {
                    true => Ok(()),
                    false => Err(Error { fault: Fault::OutOfRange, at: self.at }),
                }
            }
            _ => Err(Error { fault: Fault::Truncated, at: self.at }),
        }
    }

    pub(super) fn finish(self) -> Result<Value, Error> {
        self.check()?;
        match self.state {
            State::InNumber { text, .. } => Ok(Value::Number(Number::from_valid(&text))),
            _ => Ok(self.tree.into_root().expect("a value that has ended is in the tree")),
        }
    }

    fn value(&mut self, rest: &str, expected: &'static str) -> Result<usize, Error> {
        let State::Value(slot) = &mut self.state else { return Ok(0) };
        // The state left here is replaced below, or by the error.
        let slot = mem::replace(slot, Slot::Element);
        let literal = match rest.as_bytes()[0] {
            b'"' => {
                self.tree.open(slot, Kind::String);
                self.state = State::InString { escape: Escape::None };
                return Ok(1);
            }
            b'{' => return self.open(slot, Kind::Object, State::FirstKey),
            b'[' => return self.open(slot, Kind::Array, State::FirstElement),
            b'-' | b'0'..=b'9' => {
                self.state = State::InNumber { slot, text: String::new(), progress: NumberState::Start };
                return Ok(0);
            }
            b'n' => &NULL,
            b't' => &TRUE,
            b'f' => &FALSE,
            _ => return Err(self.unexpected(rest, expected)),
        };
        self.state = State::InLiteral { slot, literal, seen: 1 };
        Ok(1)
    }

    fn open(&mut self, slot: Slot, kind: Kind, inside: State) -> Result<usize, Error> {
        if self.tree.depth() + 1 >= self.depth {
            return Err(Error { fault: Fault::TooDeep { limit: self.depth }, at: self.at });
        }
        self.tree.open(slot, kind);
        self.state = inside;
        Ok(1)
    }

    fn key(&mut self, rest: &str, expected: &'static str) -> Result<usize, Error> {
        if !rest.starts_with('"') {
            return Err(self.unexpected(rest, expected));
        }
        self.key.clear();
        self.state = State::InKey { at: self.at, escape: Escape::None };
        Ok(1)
    }

    fn in_key(&mut self, rest: &str) -> Result<usize, Error> {
        let State::InKey { at, escape } = &mut self.state else { return Ok(0) };
        match decode(rest, escape, &mut self.key) {
            Ok(Decoded::Open) => Ok(rest.len()),
            Ok(Decoded::Closed(taken)) => {
                self.state = State::Colon(Slot::Member { key: self.key.as_str().into(), at: *at });
                Ok(taken)
            }
            Err((fault, offset)) => Err(Error { fault, at: self.at + offset }),
        }
    }

    fn colon(&mut self, rest: &str) -> Result<usize, Error> {
        let State::Colon(slot) = &mut self.state else { return Ok(0) };
        if !rest.starts_with(':') {
            return Err(self.unexpected(rest, "`:`"));
        }
        self.state = State::Value(mem::replace(slot, Slot::Element));
        Ok(1)
    }

    fn in_string(&mut self, rest: &str) -> Result<usize, Error> {
        let State::InString { escape } = &mut self.state else { return Ok(0) };
        let start = self.tree.grown.len();
        let decoded = decode(rest, escape, &mut self.tree.grown);
        self.tree.grew(start);
        match decoded {
            Ok(Decoded::Open) => Ok(rest.len()),
            Ok(Decoded::Closed(taken)) => {
                self.close()?;
                Ok(taken)
            }
            Err((fault, offset)) => Err(Error { fault, at: self.at + offset }),
        }
    }

    fn in_number(&mut self, rest: &str) -> Result<usize, Error> {
        let State::InNumber { slot, text, progress } = &mut self.state else { return Ok(0) };
        let taken = progress.advance(rest.as_bytes());
        let Some(next) = rest.as_bytes().get(taken) else {
            text.push_str(rest);
            return Ok(taken);
        };
        if !progress.is_whole() {
            let rest = &rest[taken..];
            let at = self.at + taken;
            return Err(Error { at, ..self.unexpected(rest, "a digit") });
        }
        if *progress == NumberState::Zero && next.is_ascii_digit() {
            return Err(Error { fault: Fault::LeadingZero, at: self.at + taken });
        }
        let whole = if text.is_empty() {
            &rest[..taken]
        } else {
            text.push_str(&rest[..taken]);
            text.as_str()
        };
        if !in_range(whole) {
            // It takes the whole number to know this, so the error is after it.
            return Err(Error { fault: Fault::OutOfRange, at: self.at + taken });
        }
        let number = Number::from_valid(whole);
        self.tree.scalar(mem::replace(slot, Slot::Element), Value::Number(number));
        self.end_value();
        Ok(taken)
    }

    fn in_literal(&mut self, rest: &str) -> Result<usize, Error> {
        let State::InLiteral { slot, literal, seen } = &mut self.state else { return Ok(0) };
        let Literal { text, expected, value }: &'static Literal = literal;
        if rest.as_bytes()[0] != text.as_bytes()[*seen] {
            return Err(self.unexpected(rest, expected));
        }
        *seen += 1;
        if *seen == text.len() {
            self.tree.scalar(mem::replace(slot, Slot::Element), value.clone());
            self.end_value();
        }
        Ok(1)
    }

    fn comma(&mut self, rest: &str) -> Result<usize, Error> {
        match (self.tree.kind(), rest.as_bytes()[0]) {
            (Some(Kind::Object), b',') => self.state = State::Key,
            (Some(Kind::Object), b'}') => return self.close(),
            (Some(Kind::Object), _) => return Err(self.unexpected(rest, "`,` or `}`")),
            (_, b',') => self.state = State::Value(Slot::Element),
            (_, b']') => return self.close(),
            (_, _) => return Err(self.unexpected(rest, "`,` or `]`")),
        }
        Ok(1)
    }

    fn close(&mut self) -> Result<usize, Error> {
        self.tree.close();
        self.end_value();
        Ok(1)
    }

    fn end_value(&mut self) {
        self.state = if self.tree.depth() == 0 { State::End } else { State::Comma };
    }

    fn unexpected(&self, rest: &str, expected: &'static str) -> Error {
        Error { fault: Fault::Unexpected { found: first_char(rest), expected }, at: self.at }
    }
}

fn first_char(rest: &str) -> char {
    rest.chars().next().unwrap_or_default()
}
