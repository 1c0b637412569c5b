//! `cline-v2`, with all its transitions.
//!
//! Cline has repairs for markers in the wrong place, which search the lines outside blocks for one that is
//! almost a marker. They date from a time when markers had to be exact: every line that they would accept is a
//! marker now, so they never find one, and only their errors remain.

use std::mem;

use super::error::quoted;
use super::file::File;
use super::line::{Marker, is_whitespace, lines, push_line};
use super::{Constructed, End, Error};

pub(super) fn construct(diff: &str, original: &str, end: End) -> Result<Constructed, Error> {
    let mut machine = Machine {
        file: File::new(original),
        state: State::Idle { stray: Stray::None },
        passed: 0,
        content: String::new(),
    };
    for line in lines(diff, is_exact_marker) {
        match Marker::of(line) {
            Some(Marker::Search) => machine.open()?,
            Some(Marker::Divider) => machine.divide()?,
            Some(Marker::Replace) => machine.close()?,
            None => machine.take(line),
        }
    }
    match end {
        End::Open => Ok(machine.content),
        End::Final => machine.finish(),
    }
    .map(|content| Constructed { content, match_indices: None })
}

/// Whether the last line is a marker; elsewhere more spellings are.
fn is_exact_marker(line: &str) -> bool {
    matches!(line, "------- SEARCH" | "=======" | "+++++++ REPLACE")
}

struct Machine<'a> {
    file: File<'a>,
    state: State,
    /// The end of the last match: the search for the next one starts here.
    passed: usize,
    content: String,
}

enum State {
    Idle { stray: Stray },
    Search { search: String },
    Replace { end: usize },
}

/// The lines since the last block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stray {
    None,
    Whitespace,
    Text,
}

impl Machine<'_> {
    fn open(&mut self) -> Result<(), Error> {
        match self.state {
            State::Idle { stray: Stray::None | Stray::Whitespace } => {
                self.state = State::Search { search: String::new() };
                Ok(())
            }
            State::Idle { stray: Stray::Text } => Err(Error::MissingReplace),
            State::Search { .. } | State::Replace { .. } => Err(Error::InvalidTransition),
        }
    }

    fn divide(&mut self) -> Result<(), Error> {
        match &mut self.state {
            State::Idle { stray: Stray::None } => Err(Error::NoLines),
            State::Idle { stray: Stray::Whitespace | Stray::Text } => Err(Error::SearchWithoutStart),
            State::Search { search } => {
                let search = mem::take(search);
                self.place(&search)
            }
            State::Replace { .. } => Err(Error::InvalidTransition),
        }
    }

    fn place(&mut self, search: &str) -> Result<(), Error> {
        let range = if search.is_empty() {
            0..self.file.len()
        } else {
            self.file.find(search, self.passed).ok_or_else(|| Error::NoMatch { search: quoted(search) })?
        };
        if range.start < self.passed {
            return Err(Error::WrongPlace { search: quoted(search) });
        }
        self.content.push_str(self.file.slice(self.passed..range.start));
        self.state = State::Replace { end: range.end };
        Ok(())
    }

    fn close(&mut self) -> Result<(), Error> {
        match self.state {
            State::Replace { end } => {
                self.passed = end;
                self.state = State::Idle { stray: Stray::None };
                Ok(())
            }
            State::Idle { stray: Stray::None } | State::Search { .. } => Err(Error::Unsaid),
            State::Idle { stray: Stray::Whitespace | Stray::Text } => Err(Error::MissingSeparator),
        }
    }

    fn take(&mut self, line: &str) {
        match &mut self.state {
            State::Idle { stray } => {
                let is_text = *stray == Stray::Text || !line.chars().all(is_whitespace);
                *stray = if is_text { Stray::Text } else { Stray::Whitespace };
            }
            State::Search { search } => push_line(search, line),
            State::Replace { .. } => push_line(&mut self.content, line),
        }
    }

    fn finish(mut self) -> Result<String, Error> {
        let State::Idle { .. } = self.state else { return Err(Error::Incomplete) };
        self.content.push_str(self.file.slice(self.passed..self.file.len()));
        Ok(self.content)
    }
}
