//! [`Json`]: a value with edits in it, while it is being written.

use memchr::memchr2;

use super::super::problem::{SNIPPET, snippet};
use super::super::{Open, Parsed, Problem, ProblemKind};
use super::arguments::{self, Key};
use crate::edit::{Action, Edit, Replace, Scope};
use crate::json::{Change, PartialJson, Step, Value};

/// A value that is being written.
#[derive(Clone, Debug)]
pub(super) struct Json {
    value: PartialJson,
    start: Bracket,
    /// The brackets that are open.
    brackets: Vec<Bracket>,
    scan: Scan,
    len: usize,
    /// Whether a key of an edit tool came.
    is_edit: bool,
    repeated_keys: usize,
    open: Option<OpenEdit>,
    /// The paths that the objects which are open have named, with their depths.
    paths: Vec<(usize, String)>,
    /// Edits that have no path yet, and those after them.
    waiting: Vec<Waiting>,
}

/// Where in the answer a bracket is.
#[derive(Clone, Copy, Debug)]
struct Bracket {
    at: usize,
    line: usize,
}

/// Where in a value its next byte is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scan {
    Plain,
    String,
    Escape,
}

/// The edit of an object that is open.
#[derive(Clone, Debug)]
struct OpenEdit {
    depth: usize,
    edit: Edit,
    phase: Phase,
    /// The texts that came, or began to.
    seen: Vec<Key>,
}

/// How much of an edit is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Its search text is not over.
    Search,
    /// It is.
    Replacement,
    /// A text is there twice, so that it will not be an edit.
    Unclear,
}

#[derive(Clone, Debug)]
struct Waiting {
    edit: Edit,
    /// The JSON pointer of its object.
    pointer: String,
}

impl Json {
    pub(super) fn new(at: usize, line: usize) -> Self {
        Self {
            value: PartialJson::new(),
            start: Bracket { at, line },
            brackets: Vec::new(),
            scan: Scan::Plain,
            len: 0,
            is_edit: false,
            repeated_keys: 0,
            open: None,
            paths: Vec::new(),
            waiting: Vec::new(),
        }
    }

    pub(super) fn open(&self) -> Option<Open<'_>> {
        let open = self.open.as_ref()?;
        match open.phase {
            Phase::Search => Some(Open::Search),
            Phase::Replacement => Some(Open::Replacement(&open.edit)),
            Phase::Unclear => None,
        }
    }

    /// Takes text up to the end of the next closing bracket: how much it was, and whether the value is over, or what
    /// follows is not JSON.
    pub(super) fn push(&mut self, text: &str, line: &mut usize, parsed: &mut Parsed) -> (usize, bool) {
        let (taken, lines, closed) = self.scan(text, *line);
        let before = self.len;
        self.len += taken;
        let result = self.value.push(&text[..taken]);
        self.follow(closed, parsed);
        if let Err(error) = result {
            // Where a text stops being JSON does not depend on how it was cut, but how much was taken does:
            // what follows the place is looked at again. The first byte is not, or it would never end.
            let taken = error.at.max(1).saturating_sub(before).min(taken);
            *line += text[..taken].matches('\n').count();
            if self.is_edit {
                parsed.problems.push(self.problem(ProblemKind::InvalidJson, self.start, error.at));
            }
            self.give_waiting(parsed);
            return (taken, true);
        }
        *line = lines;
        let is_over = self.brackets.is_empty();
        if is_over {
            self.give_waiting(parsed);
        }
        (taken, is_over)
    }

    /// Ends the answer inside of the value.
    pub(super) fn cut(&mut self, parsed: &mut Parsed) {
        self.give_waiting(parsed);
        if self.is_edit {
            parsed.problems.push(self.problem(ProblemKind::Incomplete, self.start, self.len));
        }
    }

    /// How much text there is up to the end of the next closing bracket, the line after it, and the bracket
    /// that it closes.
    fn scan(&mut self, text: &str, mut line: usize) -> (usize, usize, Option<Bracket>) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if byte == b'\n' {
                line += 1;
            }
            self.scan = match (self.scan, byte) {
                (Scan::Escape, _) => Scan::String,
                (Scan::String, b'\\') => Scan::Escape,
                (Scan::String, b'"') => Scan::Plain,
                (Scan::String, _) => {
                    // A line end in a string is no JSON, so none is missed here.
                    at += memchr2(b'"', b'\\', &bytes[at + 1..]).unwrap_or(bytes.len() - at - 1);
                    Scan::String
                }
                (Scan::Plain, b'"') => Scan::String,
                (Scan::Plain, b'{' | b'[') => {
                    self.brackets.push(Bracket { at: self.start.at + self.len + at, line });
                    Scan::Plain
                }
                (Scan::Plain, b'}' | b']') => return (at + 1, line, self.brackets.pop()),
                (Scan::Plain, _) => Scan::Plain,
            };
            at += 1;
        }
        (at, line, None)
    }

    /// Follows what the last piece changed; `closed` is the bracket that it closes, if it does.
    fn follow(&mut self, closed: Option<Bracket>, parsed: &mut Parsed) {
        let mut done = None;
        for change in self.value.changes() {
            let path = change.path();
            let key = match path.last() {
                Some(Step::Key(key)) => Key::read(key),
                Some(Step::Index(_)) | None => None,
            };
            self.is_edit |= key.is_some_and(Key::is_telling);
            match (change, key) {
                (Change::Opened { .. }, Some(key)) if key.is_telling() => {
                    let depth = path.depth() - 1;
                    let open = self.open.take_if(|open| open.depth == depth);
                    let mut open = open.unwrap_or_else(|| {
                        let at = self.brackets.get(depth).copied().or(closed).unwrap_or(self.start);
                        OpenEdit::new(depth, at, self.paths.last().map(|(_, path)| path.clone()))
                    });
                    open.begin(key);
                    self.open = Some(open);
                }
                (Change::StringGrew { text, .. }, Some(key)) => {
                    if let Some(open) = &mut self.open {
                        open.grow(key, text);
                    }
                }
                (Change::Closed { .. }, Some(Key::Old)) => {
                    if let Some(open) = self.open.as_mut().filter(|open| open.phase == Phase::Search) {
                        open.phase = Phase::Replacement;
                    }
                }
                (Change::Closed { .. }, Some(Key::Path)) => {
                    let depth = path.depth() - 1;
                    let name = self.value.at(path).and_then(Value::as_str);
                    self.paths.retain(|(at, _)| *at < depth);
                    self.paths.extend(name.map(|name| (depth, name.into_owned())));
                    if let Some(open) = &mut self.open {
                        open.edit.path = self.paths.last().map(|(_, path)| path.clone());
                    }
                }
                (Change::Closed { .. }, _) if matches!(self.value.at(path), Some(Value::Object(_))) => {
                    done = Some(path.to_string());
                    self.paths.retain(|(at, _)| *at < path.depth());
                }
                _ => {}
            }
        }
        if let (Some(pointer), Some(bracket)) = (done, closed) {
            self.open = None;
            self.close_object(pointer, bracket, parsed);
        }
    }

    /// An object is whole: if it is an edit, gives it or keeps it until its path is known.
    fn close_object(&mut self, pointer: String, bracket: Bracket, parsed: &mut Parsed) {
        let repeated = self.value.duplicate_keys().map_or(0, |(count, _)| count);
        let is_repeated = repeated > self.repeated_keys;
        self.repeated_keys = repeated;
        let object = self.value.value().and_then(|root| root.pointer(&pointer)).and_then(Value::as_object);
        let Some(read) = object.and_then(arguments::read) else { return };
        let read = if is_repeated { Err(ProblemKind::InvalidArguments) } else { read };
        match read {
            Err(kind) => {
                let end = self.len;
                parsed.problems.push(self.problem(kind, bracket, end));
            }
            Ok(action) => {
                let path = arguments::path_around(self.value.value(), &pointer);
                let at = bracket.at..self.start.at + self.len;
                let edit = Edit { path, action, line: bracket.line, at, repairs: Vec::new() };
                if edit.path.is_some() && self.waiting.is_empty() {
                    parsed.edits.push(edit);
                } else {
                    self.waiting.push(Waiting { edit, pointer });
                }
            }
        }
    }

    fn give_waiting(&mut self, parsed: &mut Parsed) {
        for Waiting { mut edit, pointer } in self.waiting.drain(..) {
            edit.path = arguments::path_around(self.value.value(), &pointer);
            parsed.edits.push(edit);
        }
    }

    /// A problem of what begins at a bracket; `end` is the byte of the value up to which it may be shown.
    fn problem(&self, kind: ProblemKind, bracket: Bracket, end: usize) -> Problem {
        let raw = self.value.raw();
        let part = raw.slice(bracket.at - self.start.at..end.min(raw.len())).unwrap_or_default();
        let shown: String = part.chars().take(SNIPPET).collect();
        let shown = shown.lines().next().unwrap_or_default();
        Problem { kind, line: bracket.line, snippet: snippet(shown) }
    }
}

impl OpenEdit {
    fn new(depth: usize, bracket: Bracket, path: Option<String>) -> Self {
        let action = Action::Replace(Replace { scope: Scope::Within, ..Replace::default() });
        let at = bracket.at..bracket.at;
        let edit = Edit { path, action, line: bracket.line, at, repairs: Vec::new() };
        Self { depth, edit, phase: Phase::Search, seen: Vec::new() }
    }

    /// A text begins.
    fn begin(&mut self, key: Key) {
        if self.seen.contains(&key) {
            self.phase = Phase::Unclear;
        }
        self.seen.push(key);
        if key == Key::Content && self.phase == Phase::Search {
            self.edit.action = Action::Write { content: String::new() };
            self.phase = Phase::Replacement;
        }
    }

    fn grow(&mut self, key: Key, text: &str) {
        match (&mut self.edit.action, key) {
            (Action::Replace(replace), Key::Old) => replace.search.push_str(text),
            (Action::Replace(replace), Key::New) => replace.replacement.push_str(text),
            (Action::Write { content }, Key::Content) => content.push_str(text),
            _ => {}
        }
    }
}
