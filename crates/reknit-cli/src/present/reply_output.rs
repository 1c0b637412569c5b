//! [`ReplyOutput`]: what is printed of a reply, and when.

use reknit::agent::Bridge;
use reknit::reply::Changes;
use serde::Serialize;

use super::{Presenter, ReplyFeed};
use crate::outcome::CommandError;
use crate::pieces::Pieces;

/// Standard output, and what goes there of a reply.
pub(crate) struct ReplyOutput {
    presenter: Presenter,
    arriving: Arriving,
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
            Arriving::Changes | Arriving::Events(_) | Arriving::Nothing => Presenter::for_programs(),
        };
        Self { presenter, arriving }
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
                Arriving::Changes => self.presenter.print(&change)?,
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

    /// Removes the status line, and drops what was not written yet.
    pub(crate) fn clear(&mut self) -> Result<(), CommandError> {
        self.presenter.clear()
    }
}
