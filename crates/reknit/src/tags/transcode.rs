//! [`Transcoder`]: arguments in another notation, rewritten as JSON while they arrive.

use std::fmt::Write;
use std::ops::ControlFlow::{Break, Continue};

use super::reader::{Read, Token};
use super::template::{Match, literal};
use super::whitespace::skip_whitespace;
use crate::json::Value;

/// Reads the arguments of one call and writes them as a JSON object.
#[derive(Clone, Debug)]
pub(super) struct Transcoder {
    notation: Notation,
    /// Where the arguments start.
    pub(super) start: usize,
    /// The open containers, the outermost first.
    open: Vec<Container>,
    /// Fewer containers than this may be open at a time.
    depth: usize,
    state: State,
    /// A word has been searched for its end up to here.
    searched: usize,
    /// JSON that has been written and not taken yet.
    pub(super) json: String,
}

/// How values are written.
#[derive(Clone, Debug)]
pub(super) enum Notation {
    /// `a=1, b="x"`, as in a Python call.
    Python,
    /// `a:1,b:<|"|>x<|"|>`, as Gemma writes them. `quote` is at both ends of a string.
    Gemma { quote: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Container {
    /// `name=value`, up to `)`.
    Arguments,
    /// `key: value`, up to `}`.
    Object,
    /// Values, up to this byte.
    List(u8),
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Before an item or the end of the container; `first` if it is the first item.
    Item {
        first: bool,
    },
    /// After a key.
    Colon,
    Value,
    /// In a string, which is a key or a value.
    String {
        /// What ends it: in Python a quote or three of them, which can be escaped; `None` for the notation's
        /// quote, in which nothing is escaped.
        quote: Option<&'static str>,
        key: bool,
    },
    /// After a value.
    Comma,
}

impl Transcoder {
    /// After the bracket that opens the arguments.
    pub(super) fn new(notation: Notation, start: usize, depth: usize) -> Self {
        let outermost = match notation {
            Notation::Python => Container::Arguments,
            Notation::Gemma { .. } => Container::Object,
        };
        Self {
            notation,
            start,
            open: vec![outermost],
            depth,
            state: State::Item { first: true },
            searched: 0,
            json: "{".to_owned(),
        }
    }

    /// How many containers are open, with the arguments.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// The quote that ends the string that is being read.
    pub(super) fn quote(&self) -> Option<u8> {
        match self.state {
            State::String { quote, .. } => quote.map(|quote| quote.as_bytes()[0]),
            _ => None,
        }
    }

    /// Reads `text` from `scan` on.
    pub(super) fn read(&mut self, text: &str, mut scan: usize) -> Read {
        while let Some(&container) = self.open.last() {
            let token = if let State::String { quote, key } = self.state {
                self.string(text, scan, quote, key)
            } else {
                scan = skip_whitespace(text, scan);
                let Some(&byte) = text.as_bytes().get(scan) else { return Read::More(scan) };
                self.token(text, scan, byte, container)
            };
            match token {
                Continue(end) => scan = end,
                Break(read) => return read,
            }
        }
        Read::Done(scan)
    }

    fn token(&mut self, text: &str, at: usize, byte: u8, container: Container) -> Token {
        match self.state {
            State::Item { .. } | State::Comma if byte == container.close() => {
                self.json.push(container.json_close());
                self.open.pop();
                self.state = State::Comma;
                Continue(at + 1)
            }
            State::Comma if byte == b',' => {
                self.state = State::Item { first: false };
                Continue(at + 1)
            }
            State::Item { first } => match container {
                Container::List(_) => self.value(text, at, byte, first),
                Container::Arguments | Container::Object => self.key(text, at, byte, container, first),
            },
            State::Colon if byte == (if container == Container::Arguments { b'=' } else { b':' }) => {
                self.json.push(':');
                self.state = State::Value;
                Continue(at + 1)
            }
            State::Value => self.value(text, at, byte, true),
            State::Comma | State::Colon | State::String { .. } => Break(Read::Bad(at)),
        }
    }

    fn key(&mut self, text: &str, at: usize, byte: u8, container: Container, first: bool) -> Token {
        match self.quoted(text, at, byte) {
            Match::Full((quote, after)) if container == Container::Object => {
                return self.open_string(quote, after, true, first);
            }
            Match::Full(_) => return Break(Read::Bad(at)),
            Match::Partial => return Break(Read::More(at)),
            Match::No => {}
        }
        let word = |c: char| c.is_alphanumeric() || "_-.".contains(c);
        let Some(length) = self.length(text, at, |c| !word(c)) else { return Break(Read::More(at)) };
        if length == 0 {
            return Break(Read::Bad(at));
        }
        self.write_string(&text[at..at + length], first);
        self.state = State::Colon;
        Continue(at + length)
    }

    fn value(&mut self, text: &str, at: usize, byte: u8, first: bool) -> Token {
        match self.quoted(text, at, byte) {
            Match::Full((quote, after)) => return self.open_string(quote, after, false, first),
            Match::Partial => return Break(Read::More(at)),
            Match::No => {}
        }
        let container = match (byte, &self.notation) {
            (b'{', _) => Container::Object,
            (b'[', _) => Container::List(b']'),
            (b'(', Notation::Python) => Container::List(b')'),
            _ => return self.word(text, at, first),
        };
        if self.open.len() + 1 >= self.depth {
            return Break(Read::Bad(at));
        }
        self.separate(first);
        self.json.push(if container == Container::Object { '{' } else { '[' });
        self.open.push(container);
        self.state = State::Item { first: true };
        Continue(at + 1)
    }

    /// A number, a literal, or in Gemma's notation a string without quotes.
    fn word(&mut self, text: &str, at: usize, first: bool) -> Token {
        let Some(length) = self.length(text, at, |c| ",]}):\n".contains(c)) else {
            return Break(Read::More(at));
        };
        let word = text[at..at + length].trim_end();
        let json = match word {
            "True" | "true" => "true".to_owned(),
            "False" | "false" => "false".to_owned(),
            "None" | "null" => "null".to_owned(),
            "" => return Break(Read::Bad(at)),
            word => match number(word) {
                Some(number) => number,
                None if matches!(self.notation, Notation::Gemma { .. }) => {
                    self.write_string(word, first);
                    self.state = State::Comma;
                    return Continue(at + length);
                }
                None => return Break(Read::Bad(at)),
            },
        };
        self.separate(first);
        self.json.push_str(&json);
        self.state = State::Comma;
        Continue(at + length)
    }

    /// The length of the word at `at`, if its end has come.
    fn length(&mut self, text: &str, at: usize, is_end: impl Fn(char) -> bool) -> Option<usize> {
        let from = self.searched.max(at);
        let end = text[from..].find(is_end);
        self.searched = end.map_or(text.len(), |end| from + end);
        end.map(|end| from + end - at)
    }

    /// Whether a string opens at `at`: what ends it, if that is not the notation's quote, and where it starts.
    fn quoted(&self, text: &str, at: usize, byte: u8) -> Match<(Option<&'static str>, usize)> {
        let (one, three) = match (&self.notation, byte) {
            (Notation::Gemma { quote }, _) => return literal(text, at, quote, false).map(|end| (None, end)),
            (Notation::Python, b'"') => ("\"", "\"\"\""),
            (Notation::Python, b'\'') => ("'", "'''"),
            (Notation::Python, _) => return Match::No,
        };
        match literal(text, at, three, false) {
            Match::Full(end) => Match::Full((Some(three), end)),
            Match::Partial => Match::Partial,
            // Two quotes are an empty string: the first opens it, and the second closes it.
            Match::No => Match::Full((Some(one), at + 1)),
        }
    }

    /// A string starts at `at`.
    fn open_string(&mut self, quote: Option<&'static str>, at: usize, key: bool, first: bool) -> Token {
        self.separate(first);
        self.json.push('"');
        self.state = State::String { quote, key };
        Continue(at)
    }

    /// In a string: reads as much of it as has come.
    fn string(&mut self, text: &str, mut scan: usize, quote: Option<&'static str>, key: bool) -> Token {
        loop {
            let end = match (quote, &self.notation) {
                (Some(quote), _) => quote,
                (None, Notation::Gemma { quote }) => quote,
                (None, Notation::Python) => unreachable!("a string in Python has a quote of its own"),
            };
            let rest = &text[scan..];
            let first = end.as_bytes()[0];
            let plain = match quote {
                Some(_) => memchr::memchr2(first, b'\\', rest.as_bytes()),
                None => memchr::memchr(first, rest.as_bytes()),
            };
            let plain = plain.unwrap_or(rest.len());
            let stop = literal(text, scan + plain, end, false);
            self.escape(&rest[..plain]);
            scan += plain;
            if scan == text.len() {
                return Break(Read::More(scan));
            }
            match stop {
                Match::Full(end) => {
                    self.json.push('"');
                    self.state = if key { State::Colon } else { State::Comma };
                    return Continue(end);
                }
                Match::Partial => return Break(Read::More(scan)),
                Match::No if text.as_bytes()[scan] == b'\\' && quote.is_some() => {
                    match escaped(&text[scan + 1..]) {
                        Match::Full((c, length)) => {
                            c.into_iter().for_each(|c| self.escape(c.encode_utf8(&mut [0; 4])));
                            scan += 1 + length;
                        }
                        Match::Partial => return Break(Read::More(scan)),
                        // The backslash is an ordinary character.
                        Match::No => {
                            self.escape("\\");
                            scan += 1;
                        }
                    }
                }
                Match::No => {
                    let next = text.ceil_char_boundary(scan + 1);
                    self.escape(&text[scan..next]);
                    scan = next;
                }
            }
        }
    }

    /// Writes the comma between two items.
    fn separate(&mut self, first: bool) {
        if !first {
            self.json.push(',');
        }
    }

    /// Writes a whole string as an item.
    fn write_string(&mut self, text: &str, first: bool) {
        self.separate(first);
        self.json.push('"');
        self.escape(text);
        self.json.push('"');
    }

    /// Writes a part of a JSON string.
    fn escape(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '"' => self.json.push_str("\\\""),
                '\\' => self.json.push_str("\\\\"),
                '\n' => self.json.push_str("\\n"),
                c if c < ' ' => write!(self.json, "\\u{:04x}", u32::from(c)).expect("a string takes all"),
                c => self.json.push(c),
            }
        }
    }
}

impl Container {
    fn close(self) -> u8 {
        match self {
            Self::Arguments => b')',
            Self::Object => b'}',
            Self::List(close) => close,
        }
    }

    fn json_close(self) -> char {
        match self {
            Self::Arguments | Self::Object => '}',
            Self::List(_) => ']',
        }
    }
}

/// A number as JSON writes it, with the same digits.
fn number(word: &str) -> Option<String> {
    let digits = word.strip_prefix('+').unwrap_or(word).replace('_', "");
    let json = match digits.strip_suffix('.') {
        Some(whole) => format!("{whole}.0"),
        None => digits,
    };
    matches!(Value::parse(&json, 1), Ok(Value::Number(_))).then_some(json)
}

/// The escape that follows a backslash in a Python string: the character that it stands for, unless it is a
/// line end, which is left out, and its length.
fn escaped(rest: &str) -> Match<(Option<char>, usize)> {
    let Some(first) = rest.chars().next() else { return Match::Partial };
    let simple = match first {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        '0' => '\0',
        '\\' | '\'' | '"' => first,
        '\n' => return Match::Full((None, 1)),
        'x' | 'u' | 'U' => {
            let length = match first {
                'x' => 2,
                'u' => 4,
                _ => 8,
            };
            let digits = &rest[1..rest.floor_char_boundary((1 + length).min(rest.len()))];
            return match u32::from_str_radix(digits, 16) {
                _ if digits.is_empty() && rest.len() == 1 => Match::Partial,
                _ if digits.starts_with('+') => Match::No,
                Ok(_) if digits.len() < length && rest.len() < 1 + length => Match::Partial,
                Ok(code) if digits.len() == length => {
                    let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                    Match::Full((Some(c), 1 + length))
                }
                _ => Match::No,
            };
        }
        _ => return Match::No,
    };
    Match::Full((Some(simple), first.len_utf8()))
}
