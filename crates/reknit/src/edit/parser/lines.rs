//! [`Lines`]: an answer that comes in pieces, line by line.

use std::mem;

use memchr::memchr;

use crate::edit::{Action, Edit};

/// One line of an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// The line with its line end; the last one of an answer may have none.
    pub(super) text: &'a str,
    /// Its number, counted from 1.
    pub(super) number: usize,
    /// The byte of the answer at which it begins.
    pub(super) at: usize,
}

impl<'a> Line<'a> {
    /// The line without whitespace around it.
    pub(super) fn trimmed(self) -> &'a str {
        self.text.trim_ascii()
    }

    pub(super) fn is_blank(self) -> bool {
        self.trimmed().is_empty()
    }

    /// The byte of the answer after it.
    pub(super) fn end(self) -> usize {
        self.at + self.text.len()
    }

    /// An edit that begins with it.
    pub(super) fn edit(self, path: Option<String>, action: Action) -> Edit {
        Edit { path, action, line: self.number, at: self.at..self.end(), repairs: Vec::new() }
    }
}

/// Cuts pieces into lines. What has no line end yet is kept back.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    pending: String,
    count: usize,
    at: usize,
}

impl Lines {
    /// Takes the next piece and gives the lines that are over.
    pub(super) fn push(&mut self, mut piece: &str, mut take: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr(b'\n', piece.as_bytes()) {
            let (head, rest) = piece.split_at(end + 1);
            piece = rest;
            if self.pending.is_empty() {
                self.give(head, &mut take);
            } else {
                let mut line = mem::take(&mut self.pending);
                line.push_str(head);
                self.give(&line, &mut take);
                line.clear();
                self.pending = line;
            }
        }
        self.pending.push_str(piece);
    }

    /// What has no line end yet.
    pub(super) fn pending(&self) -> &str {
        &self.pending
    }

    /// Gives the last line if it has no line end.
    pub(super) fn finish(&mut self, mut take: impl FnMut(Line<'_>)) {
        let line = mem::take(&mut self.pending);
        if !line.is_empty() {
            self.give(&line, &mut take);
        }
    }

    fn give(&mut self, text: &str, take: &mut impl FnMut(Line<'_>)) {
        // An answer that was kept as a file may begin with a byte order mark.
        let text = match text.strip_prefix('\u{FEFF}') {
            Some(rest) if self.count == 0 => {
                self.at += text.len() - rest.len();
                rest
            }
            _ => text,
        };
        self.count += 1;
        take(Line { text, number: self.count, at: self.at });
        self.at += text.len();
    }
}
