//! [`Envelope`]: the JSON object that is a call, `{"name": …, "arguments": {…}}`.

use std::ops::Range;

use super::reader::{Read, Reader};
use crate::json::{PartialJson, Value};

/// The object of a call while it arrives.
#[derive(Clone, Debug)]
pub(super) struct Envelope {
    state: State,
    name: Option<String>,
    /// The range of the arguments, as far as they have come.
    arguments: Option<Range<usize>>,
    /// The arguments, while there is no call yet to hold them.
    pub(super) held: PartialJson,
    /// A key, or the value of another member.
    scratch: PartialJson,
    /// The members that are neither, and where they are.
    dropped: Vec<(usize, String)>,
    /// In the object of the member `function`, which some models write around the name and the arguments.
    in_function: bool,
    limit: usize,
    depth: usize,
}

#[derive(Clone, Debug)]
enum State {
    Open,
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

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It continues at this byte.
    On(usize),
    /// Everything that has come is read.
    Wait(usize),
    /// It ends here.
    Done(usize),
    /// From here on it is not the object of a call.
    Bad(usize),
}

impl Envelope {
    pub(super) fn new(limit: usize, depth: usize) -> Self {
        Self {
            state: State::Open,
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

    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub(super) fn arguments(&self) -> Option<Range<usize>> {
        self.arguments.clone()
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

    /// The members that are neither the name nor the arguments, since the last time.
    pub(super) fn take_dropped(&mut self) -> Vec<(usize, String)> {
        std::mem::take(&mut self.dropped)
    }

    /// Whether the arguments are being read.
    pub(super) fn in_arguments(&self) -> bool {
        matches!(self.state, State::InValue(Member::Arguments, _))
    }

    /// Reads one token. `call` holds the arguments once there is a call.
    ///
    /// With `strict`, an object with a key that calls do not have is not a call.
    pub(super) fn step(
        &mut self,
        text: &str,
        scan: usize,
        call: Option<&mut PartialJson>,
        strict: bool,
    ) -> Progress {
        let is_whitespace = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        let in_value = matches!(self.state, State::InKey(_) | State::InValue(..));
        let skipped = if in_value {
            0
        } else {
            text.as_bytes()[scan..].iter().take_while(|b| is_whitespace(b)).count()
        };
        let at = scan + skipped;
        let Some(&byte) = text.as_bytes().get(at) else { return Progress::Wait(at) };
        let next = match &mut self.state {
            State::Open if byte == b'{' => State::Key { close: true },
            State::Key { close: true } | State::Comma if byte == b'}' && self.in_function => {
                self.in_function = false;
                State::Comma
            }
            State::Key { close: true } | State::Comma if byte == b'}' => return Progress::Done(at + 1),
            State::Key { .. } if byte == b'"' => {
                self.scratch = PartialJson::with_depth(self.depth);
                self.state = State::InKey(Reader::new(text, at));
                return Progress::On(at);
            }
            State::Colon(member) if byte == b':' => State::Value(*member),
            State::Value(Member::Function) if byte == b'{' && !self.in_function => {
                self.in_function = true;
                State::Key { close: true }
            }
            State::Value(member) => {
                let member = *member;
                if member == Member::Arguments {
                    if self.arguments.is_some() {
                        return Progress::Bad(at);
                    }
                    self.arguments = Some(at..at);
                }
                self.scratch = PartialJson::with_depth(self.depth);
                self.state = State::InValue(member, Reader::new(text, at));
                return Progress::On(at);
            }
            State::Comma if byte == b',' => State::Key { close: false },
            State::InKey(reader) => match reader.read(text, at, self.limit, &mut self.scratch) {
                Read::More => return Progress::Wait(text.len()),
                Read::Bad(at) => return Progress::Bad(at),
                Read::Done(end) => {
                    let member = match self.scratch.value().and_then(Value::as_str).as_deref() {
                        Some("name") => Member::Name,
                        Some("arguments" | "parameters") => Member::Arguments,
                        Some("id" | "type" | "index") => Member::Other,
                        _ if strict => return Progress::Bad(end),
                        Some("args" | "input") => Member::Arguments,
                        Some("function") => Member::Function,
                        other => {
                            let start = reader.start;
                            self.dropped.push((start, other.unwrap_or_default().to_owned()));
                            Member::Other
                        }
                    };
                    self.state = State::Colon(member);
                    return Progress::On(end);
                }
            },
            State::InValue(member, reader) => {
                let member = *member;
                let json = match (member, call) {
                    (Member::Arguments, Some(json)) => json,
                    (Member::Arguments, None) => &mut self.held,
                    (Member::Name | Member::Function | Member::Other, _) => &mut self.scratch,
                };
                let read = reader.read(text, at, self.limit, json);
                let end = match read {
                    Read::More => text.len(),
                    Read::Done(end) | Read::Bad(end) => end,
                };
                if let (Member::Arguments, Some(range)) = (member, &mut self.arguments) {
                    range.end = end;
                }
                match read {
                    Read::More => return Progress::Wait(end),
                    Read::Bad(at) => return Progress::Bad(at),
                    Read::Done(end) => {
                        if member == Member::Name {
                            match self.scratch.value() {
                                Some(Value::String(name)) if !name.is_empty() => {
                                    self.name = Some(name.to_str().into_owned());
                                }
                                _ => return Progress::Bad(end),
                            }
                        }
                        self.state = State::Comma;
                        return Progress::On(end);
                    }
                }
            }
            _ => return Progress::Bad(at),
        };
        self.state = next;
        Progress::On(at + 1)
    }
}
