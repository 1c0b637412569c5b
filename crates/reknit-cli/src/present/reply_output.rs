//! [`ReplyOutput`]: what is printed of a reply, and when.

use reknit::agent::Bridge;
use reknit::reply::Changes;
use serde::Serialize;

use super::{Presenter, ReplyFeed};
use crate::outcome::CommandError;
use crate::pieces::Pieces;
use crate::print::Out;

/// Standard output, and what goes there of a reply.
pub(crate) struct ReplyOutput {
    presenter: Presenter,
    arriving: Arriving,
    /// Which of several files the reply is in, for the lines that are printed of it.
    path: Option<String>,
}

/// A value of one of several files.
#[derive(Serialize)]
struct Labelled<'a, T> {
    path: &'a str,
    change: T,
}

/// What is printed while the reply arrives.
pub(crate) enum Arriving {
    /// All of it, for people.
    Shown(Box<ReplyFeed>),
    /// Every change, on a line of its own.
    Changes,
    /// Every agent event, on a line of its own.
    Events(Box<Bridge>),
    /// Nothing.
    Nothing,
}

impl ReplyOutput {
    pub(crate) fn new(arriving: Arriving) -> Self {
        let presenter = match arriving {
            Arriving::Shown(_) => Presenter::for_people(),
            Arriving::Changes | Arriving::Events(_) | Arriving::Nothing => {
                Presenter::for_programs(Out::stdout())
            }
        };
        Self { presenter, arriving, path: None }
    }

    /// Only the text.
    pub(crate) fn text(feed: ReplyFeed, out: Out) -> Self {
        Self { presenter: Presenter::for_text(out), arriving: Arriving::Shown(Box::new(feed)), path: None }
    }

    /// The reply of one of several files, kept until it is its turn.
    pub(crate) fn kept(arriving: Arriving, path: String) -> Self {
        let presenter = Presenter::for_programs(Out::Kept(Vec::new()));
        Self { presenter, arriving, path: Some(path) }
    }

    /// What was kept.
    pub(crate) fn into_kept(self) -> Vec<u8> {
        match self.presenter.into_out() {
            Out::Kept(kept) => kept,
            Out::Stdout(_) => Vec::new(),
        }
    }

    /// The next piece of the input; `None` at the end.
    pub(crate) fn next<'a>(&mut self, pieces: &'a mut Pieces) -> Result<Option<&'a [u8]>, CommandError> {
        self.presenter.next(pieces)
    }

    /// Takes what a piece changed.
    pub(crate) fn take(&mut self, mut changes: Changes<'_>) -> Result<(), CommandError> {
        while let Some((change, message)) = changes.next() {
            match &mut self.arriving {
                Arriving::Shown(feed) => feed.follow(&change, message, &mut self.presenter),
                Arriving::Changes => match &self.path {
                    None => self.presenter.print(&change)?,
                    Some(path) => self.presenter.print(&Labelled { path, change })?,
                },
                Arriving::Events(bridge) => {
                    bridge.follow(&change, message).try_for_each(|event| self.presenter.print(&event))?;
                }
                Arriving::Nothing => {}
            }
        }
        self.presenter.flush()
    }

    /// The input was interrupted.
    pub(crate) fn interrupt(&mut self) {
        if let Arriving::Shown(feed) = &mut self.arriving {
            feed.interrupt();
        }
    }

    /// The reply is over.
    pub(crate) fn finish(&mut self) -> Result<(), CommandError> {
        match &mut self.arriving {
            Arriving::Shown(feed) => feed.finish(&mut self.presenter),
            Arriving::Events(bridge) => bridge.finish().try_for_each(|event| self.presenter.print(&event))?,
            Arriving::Changes | Arriving::Nothing => {}
        }
        self.presenter.flush()
    }

    /// Prints a value on a line of its own.
    pub(crate) fn print(&mut self, value: &impl Serialize) -> Result<(), CommandError> {
        self.presenter.print(value)?;
        self.presenter.flush()
    }

    /// Prints words on a line of their own.
    pub(crate) fn print_line(&mut self, words: &str) -> Result<(), CommandError> {
        self.presenter.print_line(words)?;
        self.presenter.flush()
    }

    /// Removes the status line, and drops what was not written yet.
    pub(crate) fn clear(&mut self) -> Result<(), CommandError> {
        self.presenter.clear()
    }
}
