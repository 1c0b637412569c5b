//! What a filter prints: JSON for programs, or what arrives, shown to people.
//!
//! A command turns its input into a stream of [`Shown`] things. On a pipe they become paragraphs, on a
//! terminal a live view.

use std::io::Write;

use serde::Serialize;

use crate::outcome::CommandError;
use crate::pieces::Pieces;
use crate::print::{Out, Output, print_json};
use crate::view::{Terminal, one_line};

mod live;
mod plain;
mod reply_feed;
mod reply_output;
mod shown;

pub(crate) use reply_feed::{ReplyFeed, Source};
pub(crate) use reply_output::{Arriving, ReplyOutput};
pub(crate) use shown::{Call, CallKey, Ended, Flaw, Shown};

use live::Live;
use plain::{Parts, Plain};

/// The output of a filter.
pub(crate) struct Presenter {
    out: Out,
    sink: Sink,
}

/// Where shown things go.
enum Sink {
    /// Nowhere: programs get JSON.
    None,
    Plain(Plain),
    Live(Box<Live>),
}

impl Presenter {
    /// Prints what is shown.
    pub(crate) fn for_people() -> Self {
        let sink = match Terminal::on_stdout() {
            Some(terminal) => Sink::Live(Box::new(Live::new(terminal))),
            None => Sink::Plain(Plain::new(Parts::All)),
        };
        Self { out: Out::stdout(), sink }
    }

    /// Prints text and nothing else.
    pub(crate) fn for_text(out: Out) -> Self {
        let mut plain = Plain::new(Parts::Text);
        if out.is_on_terminal() {
            plain = plain.sanitized();
        }
        Self { out, sink: Sink::Plain(plain) }
    }

    /// Prints JSON and nothing else.
    pub(crate) fn for_programs(out: Out) -> Self {
        Self { out, sink: Sink::None }
    }

    /// Where everything was printed.
    pub(crate) fn into_out(self) -> Out {
        self.out
    }

    /// The next piece of the input; `None` at the end. Meanwhile a terminal shows how long it takes.
    pub(crate) fn next<'a>(&mut self, pieces: &'a mut Pieces) -> Result<Option<&'a [u8]>, CommandError> {
        let Self { out, sink } = self;
        if let Sink::Live(live) = sink {
            let at = pieces.wait(|elapsed| {
                live.tick(elapsed);
                live.drain(out)?;
                out.flush()
            })?;
            live.piece_came(at);
        }
        pieces.next()
    }

    /// Shows one thing, the next time that this is flushed.
    pub(crate) fn show(&mut self, shown: Shown<'_>) {
        match &mut self.sink {
            Sink::None => {}
            Sink::Plain(plain) => plain.show(&shown),
            Sink::Live(live) => live.show(shown),
        }
    }

    /// Prints a value on a line of its own.
    pub(crate) fn print(&mut self, value: &impl Serialize) -> Result<(), CommandError> {
        print_json(&mut self.out, value)
    }

    /// Prints words on a line of their own.
    pub(crate) fn print_line(&mut self, words: &str) -> Result<(), CommandError> {
        let words = if self.out.is_on_terminal() { one_line(words) } else { words.into() };
        Ok(writeln!(self.out, "{words}")?)
    }

    /// Writes out everything that was shown or printed.
    pub(crate) fn flush(&mut self) -> Result<(), CommandError> {
        match &mut self.sink {
            Sink::None => {}
            Sink::Plain(plain) => plain.drain(&mut self.out)?,
            Sink::Live(live) => live.drain(&mut self.out)?,
        }
        Ok(self.out.flush()?)
    }

    /// Removes the status line, and drops what was not written yet.
    pub(crate) fn clear(&mut self) -> Result<(), CommandError> {
        if let Sink::Live(live) = &mut self.sink {
            live.clear(&mut self.out)?;
        }
        Ok(self.out.flush()?)
    }
}
