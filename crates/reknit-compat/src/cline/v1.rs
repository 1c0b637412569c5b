//! `cline-v1`, with all its transitions.

use std::mem;
use std::ops::Range;

use super::error::quoted;
use super::file::File;
use super::line::{Marker, lines, push_line};
use super::{Constructed, End, Error};

pub(super) fn construct(diff: &str, original: &str, end: End) -> Result<Constructed, Error> {
    let mut machine = Machine {
        file: File::new(original),
        state: State::Idle,
        passed: 0,
        preview: String::new(),
        replacements: Vec::new(),
    };
    for line in lines(diff, |line| Marker::of(line).is_some()) {
        match Marker::of(line) {
            Some(Marker::Search) => machine.open(),
            Some(Marker::Divider) => machine.divide()?,
            Some(Marker::Replace) => machine.close()?,
            None => machine.take(line),
        }
    }
    Ok(match end {
        End::Open => machine.preview(),
        End::Final => machine.finish(),
    })
}

struct Machine<'a> {
    file: File<'a>,
    state: State,
    /// The end of the last match that was found in order: the search for the next one starts here.
    passed: usize,
    preview: String,
    replacements: Vec<Replacement>,
}

#[derive(Default)]
enum State {
    #[default]
    Idle,
    Search {
        search: String,
        /// The place of a block that was still open when this one began. It stays in force until this one
        /// has a place of its own, so its text is deleted if this one never gets one.
        left_open: Option<Found>,
    },
    Replace {
        search: String,
        found: Found,
        content: String,
    },
}

struct Found {
    range: Range<usize>,
    order: Order,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Below all earlier places, so the preview continues here.
    Below,
    /// Above one of them, so the preview does not show it.
    Above,
}

struct Replacement {
    range: Range<usize>,
    content: String,
}

impl Machine<'_> {
    fn open(&mut self) {
        let left_open = match mem::take(&mut self.state) {
            State::Idle => None,
            State::Search { left_open, .. } => left_open,
            State::Replace { found, .. } => Some(found),
        };
        self.state = State::Search { search: String::new(), left_open };
    }

    /// Places the block. A second divider places it again, and the preview shows the text before it twice.
    fn divide(&mut self) -> Result<(), Error> {
        let (search, before, content) = match mem::take(&mut self.state) {
            State::Idle => (String::new(), None, String::new()),
            State::Search { search, left_open } => (search, left_open, String::new()),
            State::Replace { search, found, content } => (search, Some(found), content),
        };
        let range = self.place(&search)?;
        let order = match before {
            // Once a place is above, the following ones are too, up to the next end of a block.
            Some(Found { order: Order::Above, .. }) => Order::Above,
            _ if range.start < self.passed => Order::Above,
            _ => Order::Below,
        };
        if order == Order::Below {
            self.preview.push_str(self.file.slice(self.passed..range.start));
        }
        self.state = State::Replace { search, found: Found { range, order }, content };
        Ok(())
    }

    fn place(&self, search: &str) -> Result<Range<usize>, Error> {
        if search.is_empty() {
            return if self.file.len() == 0 { Ok(0..0) } else { Err(Error::EmptySearch) };
        }
        self.file
            .find(search, self.passed)
            .or_else(|| self.file.exact(search, 0))
            .ok_or_else(|| Error::NoMatch { search: quoted(search) })
    }

    fn close(&mut self) -> Result<(), Error> {
        let (found, content) = match mem::take(&mut self.state) {
            State::Idle => return Err(Error::Malformatted { search: String::new() }),
            State::Search { search, left_open: None } => {
                return Err(Error::Malformatted { search: quoted(&search) });
            }
            State::Search { left_open: Some(found), .. } => (found, String::new()),
            State::Replace { found, content, .. } => (found, content),
        };
        if found.order == Order::Below {
            self.passed = found.range.end;
        }
        self.replacements.push(Replacement { range: found.range, content });
        Ok(())
    }

    fn take(&mut self, line: &str) {
        match &mut self.state {
            State::Idle => {}
            State::Search { search, .. } => push_line(search, line),
            State::Replace { found, content, .. } => {
                push_line(content, line);
                if found.order == Order::Below {
                    push_line(&mut self.preview, line);
                }
            }
        }
    }

    fn preview(self) -> Constructed {
        Constructed { content: self.preview, match_indices: Some(starts(&self.replacements)) }
    }

    fn finish(mut self) -> Constructed {
        // A block that has a place counts as closed; one without a place is dropped.
        self.close().ok();
        self.replacements.sort_by_key(|replacement| replacement.range.start);
        let mut content = String::new();
        let mut copied = 0;
        for replacement in &self.replacements {
            content.push_str(self.file.slice(copied..replacement.range.start));
            content.push_str(&replacement.content);
            // Where places overlap, this runs backwards and replaced text comes back.
            copied = replacement.range.end;
        }
        content.push_str(self.file.slice(copied..self.file.len()));
        Constructed { content, match_indices: Some(starts(&self.replacements)) }
    }
}

fn starts(replacements: &[Replacement]) -> Vec<usize> {
    replacements.iter().map(|replacement| replacement.range.start).collect()
}
