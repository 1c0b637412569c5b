//! [`Page`]: what people are shown, on a terminal or elsewhere.

use std::io::{self, Write};
use std::time::Duration;

use crate::pieces::Pieces;
use crate::view::{End, Facts, Terminal, View};

/// What people are shown of sessions.
pub(super) enum Page {
    /// Text where there is no terminal.
    Plain {
        due: String,
        is_begun: bool,
    },
    Live {
        view: Box<View>,
        facts: Facts,
    },
}

impl Page {
    pub(super) fn on_stdout() -> Self {
        match Terminal::on_stdout() {
            Some(terminal) => Self::Live { view: Box::new(View::new(terminal)), facts: Facts::default() },
            None => Self::Plain { due: String::new(), is_begun: false },
        }
    }

    /// Waits for the next piece, or the end; returns when it came.
    pub(super) fn wait(&mut self, pieces: &mut Pieces, out: &mut impl Write) -> io::Result<Option<Duration>> {
        let Self::Live { view, facts } = self else { return Ok(None) };
        let at = pieces.wait(|elapsed| {
            view.status(&Facts { last: elapsed, ..facts.clone() });
            view.drain(out)?;
            out.flush()
        })?;
        view.measure();
        facts.last = at.or(facts.last);
        Ok(at)
    }

    /// Text follows that is not of the message before; `speaker` says it where that is not clear.
    pub(super) fn begin(&mut self, speaker: Option<&str>) {
        match (self, speaker) {
            (Self::Live { view, .. }, Some(speaker)) => view.note(&format!("[{speaker}]")),
            (Self::Live { view, .. }, None) => view.begin_paragraph(),
            (page @ Self::Plain { .. }, Some(speaker)) => page.put(&format!("[{speaker}] ")),
            (page @ Self::Plain { .. }, None) => page.put(""),
        }
    }

    /// Thinking follows; only a terminal can show it apart from the rest.
    pub(super) fn begin_thinking(&mut self) {
        match self {
            Self::Live { view, .. } => view.begin_paragraph(),
            Self::Plain { .. } => self.put("[thinking, not shown]"),
        }
    }

    pub(super) fn text(&mut self, piece: &str) {
        match self {
            Self::Live { view, .. } => view.text(piece),
            Self::Plain { due, .. } => due.push_str(piece),
        }
    }

    pub(super) fn thinking(&mut self, piece: &str) {
        if let Self::Live { view, .. } = self {
            view.thinking(piece);
        }
    }

    /// A paragraph of this program's words.
    pub(super) fn note(&mut self, words: &str) {
        match self {
            Self::Live { view, .. } => view.note(words),
            Self::Plain { .. } => self.put(words),
        }
    }

    pub(super) fn failure(&mut self, words: &str) {
        match self {
            Self::Live { view, .. } => view.failure(words),
            Self::Plain { .. } => self.put(&format!("[error] {words}")),
        }
    }

    /// Text of the model came at a time.
    pub(super) fn count(&mut self, piece: &str, at: Option<Duration>) {
        if let Self::Live { facts, .. } = self {
            facts.characters += piece.chars().count() as u64;
            facts.first = facts.first.or(at);
        }
    }

    /// Writes what is to be seen now.
    pub(super) fn drain(&mut self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Live { view, .. } => view.drain(out),
            Self::Plain { due, .. } => out.write_all(std::mem::take(due).as_bytes()),
        }
    }

    /// The input is over.
    pub(super) fn finish(&mut self, end: End, words: &str) {
        match self {
            Self::Live { view, facts } => view.finish(facts, end, words),
            Self::Plain { due, is_begun: true } => due.push('\n'),
            Self::Plain { .. } => {}
        }
    }

    /// Begins a paragraph where there is no terminal.
    fn put(&mut self, words: &str) {
        let Self::Plain { due, is_begun } = self else { return };
        if std::mem::replace(is_begun, true) {
            due.push_str("\n\n");
        }
        due.push_str(words);
    }
}
