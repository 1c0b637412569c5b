//! `cline-v2`, with all its transitions.
//!
//! It has repairs for markers out of turn, which look among the lines outside blocks for one that is nearly
//! a marker. They date from when markers had to be exact: every line that they would take is a marker by
//! now, so none of them ever finds one, and only their errors are left.

use std::mem;

use super::error::quoted;
use super::file::File;
use super::line::{Marker, is_whitespace, lines, push_line};
use super::{ClineError, Constructed, End};

pub(super) fn construct(diff: &str, original: &str, end: End) -> Result<Constructed, ClineError> {
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

/// What is known as a marker on the last line: less than elsewhere.
fn is_exact_marker(line: &str) -> bool {
    matches!(line, "------- SEARCH" | "=======" | "+++++++ REPLACE")
}

struct Machine<'a> {
    file: File<'a>,
    state: State,
    /// The end of the last place: the next one is looked for from here.
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
    Blank,
    Text,
}

impl Machine<'_> {
    fn open(&mut self) -> Result<(), ClineError> {
        match self.state {
            State::Idle { stray: Stray::None | Stray::Blank } => {
                self.state = State::Search { search: String::new() };
                Ok(())
            }
            State::Idle { stray: Stray::Text } => Err(ClineError::MissingReplace),
            State::Search { .. } | State::Replace { .. } => Err(ClineError::InvalidTransition),
        }
    }

    fn divide(&mut self) -> Result<(), ClineError> {
        match &mut self.state {
            State::Idle { stray: Stray::None } => Err(ClineError::NoLines),
            State::Idle { stray: Stray::Blank | Stray::Text } => Err(ClineError::SearchWithoutStart),
            State::Search { search } => {
                let search = mem::take(search);
                self.place(&search)
            }
            State::Replace { .. } => Err(ClineError::InvalidTransition),
        }
    }

    fn place(&mut self, search: &str) -> Result<(), ClineError> {
        let range = if search.is_empty() {
            0..self.file.len()
        } else {
            self.file
                .find(search, self.passed)
                .ok_or_else(|| ClineError::NoMatch { search: quoted(search) })?
        };
        if range.start < self.passed {
            return Err(ClineError::WrongPlace { search: quoted(search) });
        }
        self.content.push_str(self.file.slice(self.passed..range.start));
        self.state = State::Replace { end: range.end };
        Ok(())
    }

    fn close(&mut self) -> Result<(), ClineError> {
        match self.state {
            State::Replace { end } => {
                self.passed = end;
                self.state = State::Idle { stray: Stray::None };
                Ok(())
            }
            State::Idle { stray: Stray::None } | State::Search { .. } => Err(ClineError::Unsaid),
            State::Idle { stray: Stray::Blank | Stray::Text } => Err(ClineError::MissingSeparator),
        }
    }

    fn take(&mut self, line: &str) {
        match &mut self.state {
            State::Idle { stray } => {
                let is_text = *stray == Stray::Text || !line.chars().all(is_whitespace);
                *stray = if is_text { Stray::Text } else { Stray::Blank };
            }
            State::Search { search } => push_line(search, line),
            State::Replace { .. } => push_line(&mut self.content, line),
        }
    }

    fn finish(mut self) -> Result<String, ClineError> {
        let State::Idle { .. } = self.state else { return Err(ClineError::Incomplete) };
        self.content.push_str(self.file.slice(self.passed..self.file.len()));
        Ok(self.content)
    }
}
