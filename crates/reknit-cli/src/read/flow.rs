//! [`Flow`]: a message for people, as it arrives.

use std::io::{self, Write};

use reknit::Message;
use reknit::event::{Opening, Runner, Slot};
use reknit::message::{Args, Block, Body, Change, State, ToolCall};

/// Text as it arrives, and a paragraph for each of the other blocks.
#[derive(Default)]
pub(crate) struct Flow {
    /// What was shown last.
    last: Option<Shown>,
    /// Whether what was shown last ended its line.
    line_ended: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Shown {
    /// A message that is over; the next one has blocks of the same slots.
    Message,
    /// Text: the next block of text goes on with it. Providers cut one answer into several blocks.
    Text,
    Block(Slot),
}

impl Flow {
    pub(crate) fn show(
        &mut self,
        change: &Change<'_>,
        message: &Message,
        out: &mut impl Write,
    ) -> io::Result<()> {
        match change {
            Change::Started(_) => self.last = self.last.map(|_| Shown::Message),
            Change::Grew { block, text, .. } => {
                if let Some(Body::Text { .. }) = message.block(*block).map(Block::body) {
                    self.turn_to(Shown::Text, out)?;
                    self.line_ended = text.ends_with('\n');
                    out.write_all(text.as_bytes())?;
                }
            }
            Change::Opened { block, opening: Opening::Thinking { .. }, .. } => {
                self.turn_to(Shown::Block(*block), out)?;
                out.write_all(b"[thinking]")?;
            }
            Change::Closed { block, .. } => {
                message.block(*block).map_or(Ok(()), |closed| self.call(closed, out))?;
            }
            Change::Cut {} | Change::Failed(_) => {
                let cut = message.blocks().iter().filter(|block| block.state() == State::Cut);
                cut.into_iter().try_for_each(|block| self.call(block, out))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Ends the last line, if anything was shown.
    pub(crate) fn end(&self, out: &mut impl Write) -> io::Result<()> {
        if self.last.is_some() && !self.line_ended { out.write_all(b"\n") } else { Ok(()) }
    }

    fn call(&mut self, block: &Block, out: &mut impl Write) -> io::Result<()> {
        let Body::ToolCall(ToolCall { name, runner, args, .. }) = block.body() else { return Ok(()) };
        self.turn_to(Shown::Block(block.slot()), out)?;
        let runner = if *runner == Runner::Provider { ", run by the provider" } else { "" };
        write!(out, "[call {name}{runner}] ")?;
        match args {
            Args::Complete(value) => write!(out, "{value}"),
            Args::Streaming(input) => write!(out, "{} [cut]", input.raw()),
            Args::Malformed { raw, error } => write!(out, "{raw} [malformed: {error}]"),
        }
    }

    /// Begins a new paragraph, unless this goes on with what was shown last.
    fn turn_to(&mut self, next: Shown, out: &mut impl Write) -> io::Result<()> {
        if self.last.is_some_and(|last| last != next) {
            out.write_all(if self.line_ended { b"\n" } else { b"\n\n" })?;
            self.line_ended = false;
        }
        self.last = Some(next);
        Ok(())
    }
}
