//! What a filter prints: JSON for programs, or what arrives, shown to people.
//!
//! A command turns its input into a stream of [`Shown`] things. On a pipe they become paragraphs, on a
//! terminal a live view.

use std::io::{self, BufWriter, StdoutLock, Write};

use serde::Serialize;

use crate::outcome::CommandError;
use crate::pieces::Pieces;
use crate::print::print_json;
use crate::view::Terminal;

mod live;
mod plain;
mod reply_feed;
mod reply_output;
mod shown;

pub(crate) use reply_feed::{ReplyFeed, Source};
pub(crate) use reply_output::{Arriving, ReplyOutput};
pub(crate) use shown::{Call, CallKey, Ended, Flaw, Shown};

use live::Live;
use plain::Plain;

/// Standard output of a filter.
pub(crate) struct Presenter {
    out: BufWriter<StdoutLock<'static>>,
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
        Self::new(match Terminal::on_stdout() {
            Some(terminal) => Sink::Live(Box::new(Live::new(terminal))),
            None => Sink::Plain(Plain::default()),
        })
    }

    /// Prints JSON and nothing else.
    pub(crate) fn for_programs() -> Self {
        Self::new(Sink::None)
    }

    fn new(sink: Sink) -> Self {
        Self { out: BufWriter::new(io::stdout().lock()), sink }
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
