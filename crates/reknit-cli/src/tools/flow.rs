//! [`Flow`]: blocks for people, as they arrive, where there is no terminal.

use std::io::{self, Write};

use reknit::message::CallEnd;
use reknit::tags::{Block, Change, Parser};

/// Text as it arrives, and a paragraph for each of the other blocks.
#[derive(Default)]
pub(super) struct Flow {
    /// The block that was shown last.
    last: Option<usize>,
    line_ended: bool,
}

impl Flow {
    pub(super) fn show(&mut self, change: Change, parser: &Parser, out: &mut impl Write) -> io::Result<()> {
        match change {
            Change::Grew { block, from, to } => match parser.block(block) {
                Some(Block::Text { .. }) => self.text(block, &parser.text()[from..to], out),
                Some(Block::Thinking { .. } | Block::Call(_)) | None => Ok(()),
            },
            Change::Opened { block } => match parser.block(block) {
                Some(Block::Thinking { .. }) => self.text(block, "[thinking, not shown]", out),
                Some(Block::Text { .. } | Block::Call(_)) | None => Ok(()),
            },
            Change::Closed { block } => self.call(block, parser, out),
            Change::ParamOpened { .. }
            | Change::ParamGrew { .. }
            | Change::ParamClosed { .. }
            | Change::ArgsGrew { .. } => Ok(()),
        }
    }

    /// Shows a whole text.
    pub(super) fn text(&mut self, block: usize, text: &str, out: &mut impl Write) -> io::Result<()> {
        if self.last.is_some_and(|last| last != block) {
            out.write_all(if self.line_ended { b"\n" } else { b"\n\n" })?;
        }
        self.last = Some(block);
        self.line_ended = text.ends_with('\n');
        out.write_all(text.as_bytes())
    }

    /// Ends the last line, if anything was shown.
    pub(super) fn end(&self, out: &mut impl Write) -> io::Result<()> {
        if self.last.is_some() && !self.line_ended { out.write_all(b"\n") } else { Ok(()) }
    }

    fn call(&mut self, block: usize, parser: &Parser, out: &mut impl Write) -> io::Result<()> {
        let Some(Block::Call(call)) = parser.block(block) else { return Ok(()) };
        let told = match call.end() {
            Some(CallEnd::Malformed) => format!("{} [malformed]", call.raw()),
            Some(CallEnd::Cut) => format!("{} [cut]", call.raw()),
            Some(CallEnd::Closed) | None => call.args().to_string(),
        };
        self.text(block, &format!("[call {}] {told}", call.name()), out)
    }
}
