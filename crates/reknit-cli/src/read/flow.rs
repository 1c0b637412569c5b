//! [`Flow`]: a message for people, as it arrives.

use std::io::{self, Write};

use reknit::Message;
use reknit::event::{Runner, Slot};
use reknit::message::{Args, Block, Body, Change, State, ToolCall};

/// Text as it arrives, and a paragraph for each of the other blocks.
#[derive(Default)]
pub(crate) struct Flow {
    /// The choice that is shown live: the first that came. The others follow at the end.
    choice: Option<u32>,
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
    Choice(u32),
}

impl Flow {
    pub(crate) fn show(
        &mut self,
        change: &Change<'_>,
        message: &Message,
        out: &mut impl Write,
    ) -> io::Result<()> {
        match change {
            Change::Started(_) => {
                self.choice = None;
                self.last = self.last.map(|_| Shown::Message);
            }
            Change::Opened { choice, block, .. } => {
                self.choice.get_or_insert(*choice);
                let block = message.block(*block).filter(|block| self.is_live(block));
                block.map_or(Ok(()), |opened| self.thinking(opened, out))?;
            }
            Change::Grew { block, text, .. } => {
                let block = message.block(*block).filter(|block| self.is_live(block));
                if let Some(Body::Text { .. }) = block.map(Block::body) {
                    self.text(text, out)?;
                }
            }
            Change::Closed { block, .. } => {
                let block = message.block(*block).filter(|block| self.is_live(block));
                block.map_or(Ok(()), |closed| self.call(closed, out))?;
            }
            Change::Ended { .. } => self.other_choices(message, out)?,
            Change::Cut {} | Change::Failed(_) => {
                let live = self.choice;
                let cut = message.blocks().iter().filter(|block| block.state() == State::Cut);
                let mut cut = cut.filter(|block| live == Some(block.choice()));
                cut.try_for_each(|block| self.call(block, out))?;
                self.other_choices(message, out)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Ends the last line, if anything was shown.
    pub(crate) fn end(&self, out: &mut impl Write) -> io::Result<()> {
        if self.last.is_some() && !self.line_ended { out.write_all(b"\n") } else { Ok(()) }
    }

    fn is_live(&self, block: &Block) -> bool {
        self.choice == Some(block.choice())
    }

    /// The choices that were not shown live, one after the other.
    fn other_choices(&mut self, message: &Message, out: &mut impl Write) -> io::Result<()> {
        let Some(live) = self.choice else { return Ok(()) };
        for choice in message.choices().iter().filter(|choice| live != choice.index()) {
            self.turn_to(Shown::Choice(choice.index()), out)?;
            write!(out, "[choice {}]", choice.index())?;
            for block in message.blocks().iter().filter(|block| block.choice() == choice.index()) {
                match block.body() {
                    Body::Text { text, .. } => self.text(&text.to_str(), out)?,
                    _ => {
                        self.thinking(block, out)?;
                        self.call(block, out)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn text(&mut self, text: &str, out: &mut impl Write) -> io::Result<()> {
        self.turn_to(Shown::Text, out)?;
        self.line_ended = text.ends_with('\n');
        out.write_all(text.as_bytes())
    }

    fn thinking(&mut self, block: &Block, out: &mut impl Write) -> io::Result<()> {
        let Body::Thinking { .. } = block.body() else { return Ok(()) };
        self.turn_to(Shown::Block(block.slot()), out)?;
        out.write_all(b"[thinking, not shown]")
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
