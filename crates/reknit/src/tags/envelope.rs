//! [`Envelope`]: the JSON object that is a call, `{"name": …, "arguments": {…}}`.

use std::ops::ControlFlow::{Break, Continue};
use std::ops::Range;

use super::reader::{Read, Reader, Token};
use crate::json::{PartialJson, Value};

/// The object of a call while it arrives.
#[derive(Clone, Debug)]
pub(super) struct Envelope {
    state: State,
    pub(super) name: Option<String>,
    /// The range of the arguments, as far as they have come.
    pub(super) arguments: Option<Range<usize>>,
    /// The arguments, while there is no call yet to hold them.
    pub(super) held: PartialJson,
    /// A key, or the value of another member.
    scratch: PartialJson,
    /// The members that are neither and have not been reported, and where they are.
    pub(super) dropped: Vec<(usize, String)>,
    /// In the object of the member `function`, which some models write around the name and the arguments.
    in_function: bool,
    limit: usize,
    depth: usize,
}

#[derive(Clone, Debug)]
enum State {
    /// Before a key; `close` if the object may end there.
    Key {
        close: bool,
    },
    InKey(Reader),
    Colon(Member),
    Value(Member),
    InValue(Member, Reader),
    Comma,
}

/// A member of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Member {
    Name,
    Arguments,
    Function,
    Other,
}

impl Envelope {
    /// After the brace that opens the object.
    pub(super) fn new(limit: usize, depth: usize) -> Self {
        Self {
            state: State::Key { close: true },
            name: None,
            arguments: None,
            held: PartialJson::with_depth(depth),
            scratch: PartialJson::new(),
            dropped: Vec::new(),
            in_function: false,
            limit,
            depth,
        }
    }

    /// Whether it is known to be a call. A bare object that has a name can be anything; if it also has
    /// arguments, it is a call.
    pub(super) fn is_call(&self, bare: bool) -> bool {
        self.name.is_some() && (!bare || self.arguments.is_some())
    }

    /// What has come of the name.
    pub(super) fn name_so_far(&self) -> String {
        match self.state {
            State::InValue(Member::Name, _) => {
                self.scratch.value().and_then(Value::as_str).map(Into::into).unwrap_or_default()
            }
            _ => String::new(),
        }
    }

    /// Whether the arguments are being read.
    pub(super) fn in_arguments(&self) -> bool {
        matches!(self.state, State::InValue(Member::Arguments, _))
    }

    /// Reads what has come. `call` holds the arguments once there is a call.
    ///
    /// A `bare` object is not a call if it has a key that calls do not have, before it is known to be one.
    pub(super) fn read(
        &mut self,
        text: &str,
        mut scan: usize,
        mut call: Option<&mut PartialJson>,
        bare: bool,
    ) -> Read {
        loop {
            match self.token(text, scan, call.as_deref_mut(), bare) {
                Continue(next) => scan = next,
                Break(read) => return read,
            }
        }
    }

    fn token(&mut self, text: &str, scan: usize, call: Option<&mut PartialJson>, bare: bool) -> Token {
        let is_whitespace = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        let skipped = match self.state {
            State::InKey(_) | State::InValue(..) => 0,
            _ => text.as_bytes()[scan..].iter().take_while(|byte| is_whitespace(byte)).count(),
        };
        let at = scan + skipped;
        let Some(&byte) = text.as_bytes().get(at) else { return Break(Read::More(at)) };
        self.state = match self.state {
            State::Key { close: true } | State::Comma if byte == b'}' && self.in_function => {
                self.in_function = false;
                State::Comma
            }
            State::Key { close: true } | State::Comma if byte == b'}' => return Break(Read::Done(at + 1)),
            State::Key { .. } if byte == b'"' => {
                self.scratch = PartialJson::with_depth(self.depth);
                self.state = State::InKey(Reader::new(text, at));
                return Continue(at);
            }
            State::Colon(member) if byte == b':' => State::Value(member),
            State::Value(Member::Function) if byte == b'{' && !self.in_function => {
                self.in_function = true;
                State::Key { close: true }
            }
            State::Value(member) => {
                if member == Member::Arguments {
                    if self.arguments.is_some() {
                        return Break(Read::Bad(at));
                    }
                    self.arguments = Some(at..at);
                }
                self.scratch = PartialJson::with_depth(self.depth);
                self.state = State::InValue(member, Reader::new(text, at));
                return Continue(at);
            }
            State::Comma if byte == b',' => State::Key { close: false },
            State::InKey(_) => return self.key(text, at, bare),
            State::InValue(..) => return self.value(text, at, call, bare),
            _ => return Break(Read::Bad(at)),
        };
        Continue(at + 1)
    }

    fn key(&mut self, text: &str, at: usize, bare: bool) -> Token {
        let is_call = self.is_call(bare);
        let State::InKey(reader) = &mut self.state else { return Continue(at) };
        let read = reader.read(text, at, self.limit, &mut self.scratch);
        let Read::Done(end) = read else { return Break(read) };
        let member = match self.scratch.value().and_then(Value::as_str).as_deref() {
            Some("name") => Member::Name,
            Some("arguments" | "parameters") => Member::Arguments,
            Some("id" | "type" | "index") => Member::Other,
            _ if bare && !is_call => return Break(Read::Bad(end)),
            Some("args" | "input") => Member::Arguments,
            Some("function") => Member::Function,
            other => {
                self.dropped.push((reader.start, other.unwrap_or_default().to_owned()));
                Member::Other
            }
        };
        self.state = State::Colon(member);
        Continue(end)
    }

    fn value(&mut self, text: &str, at: usize, call: Option<&mut PartialJson>, bare: bool) -> Token {
        let is_call = self.is_call(bare);
        let State::InValue(member, reader) = &mut self.state else { return Continue(at) };
        let json = match (*member, call) {
            (Member::Arguments, Some(json)) => json,
            (Member::Arguments, None) => &mut self.held,
            (Member::Name | Member::Function | Member::Other, _) => &mut self.scratch,
        };
        let read = reader.read(text, at, self.limit, json);
        if let (Member::Arguments, Some(range)) = (*member, &mut self.arguments) {
            range.end = read.at();
        }
        let Read::Done(end) = read else { return Break(read) };
        if *member == Member::Name {
            match self.scratch.value() {
                // The call has the name that it began with.
                Some(Value::String(name)) if !name.is_empty() && is_call => {}
                Some(Value::String(name)) if !name.is_empty() => {
                    self.name = Some(name.to_str().into_owned());
                }
                _ => return Break(Read::Bad(end)),
            }
        }
        self.state = State::Comma;
        Continue(end)
    }
}
