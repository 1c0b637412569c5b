//! [`Output`]: what is printed of a text, and when.

use std::borrow::Cow;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::time::Duration;

use reknit::tags::{Block, Change, Grammar, Parser, display_text};
use serde::Serialize;

use super::Arguments;
use super::flow::Flow;
use super::live::Live;
use crate::outcome::Trouble;
use crate::pieces::Pieces;
use crate::print::print_json;
use crate::view::Terminal;

/// Standard output, and what goes there.
pub(super) struct Output {
    out: BufWriter<StdoutLock<'static>>,
    kind: Kind,
    /// The grammar whose display cleans the text, which is then shown block by block.
    display: Option<Grammar>,
}

enum Kind {
    /// The text and the calls, as they come.
    Text(Flow),
    /// All of it, for people, as it comes.
    Live(Box<Live>),
    /// Every change, as it comes.
    Changes,
    /// The blocks, at the end.
    Blocks,
}

impl Output {
    pub(super) fn new(arguments: &Arguments, grammar: &Grammar) -> Self {
        let kind = match *arguments {
            Arguments { ndjson: true, .. } => Kind::Changes,
            Arguments { json: true, .. } => Kind::Blocks,
            _ => match Terminal::on_stdout() {
                Some(terminal) => Kind::Live(Box::new(Live::new(terminal, &grammar.name))),
                None => Kind::Text(Flow::default()),
            },
        };
        let display = arguments.display.then(|| grammar.clone());
        Self { out: BufWriter::new(io::stdout().lock()), kind, display }
    }

    /// Waits for the next piece, or the end; returns when it came.
    pub(super) fn wait(&mut self, pieces: &mut Pieces) -> Result<Option<Duration>, Trouble> {
        let Self { out, kind: Kind::Live(live), .. } = self else { return Ok(None) };
        let at = pieces.wait(|elapsed| {
            live.wait(elapsed);
            live.drain(out)?;
            out.flush()
        })?;
        live.get_ready();
        Ok(at)
    }

    /// Takes what a piece changed that came at a time.
    pub(super) fn show(&mut self, parser: &Parser, at: Option<Duration>) -> Result<(), Trouble> {
        if let Kind::Changes = self.kind {
            for told in parser.told() {
                print_json(&mut self.out, &told)?;
            }
        }
        for change in parser.changes() {
            let held = self.display.is_some() && is_text(parser, change);
            match &mut self.kind {
                _ if held => self.show_closed(parser, change)?,
                Kind::Text(flow) => flow.show(change, parser, &mut self.out)?,
                Kind::Live(live) => live.show(change, parser, at),
                Kind::Changes | Kind::Blocks => {}
            }
        }
        if let Kind::Live(live) = &mut self.kind {
            live.drain(&mut self.out)?;
        }
        Ok(self.out.flush()?)
    }

    /// The text is over.
    pub(super) fn end(&mut self, parser: &Parser, interrupted: bool) -> Result<(), Trouble> {
        if let Some((last, Block::Text { closed: false, .. })) = parser.blocks().enumerate().next_back()
            && self.display.is_some()
        {
            self.show_cleaned(parser, last)?;
        }
        match &mut self.kind {
            Kind::Text(flow) => flow.end(&mut self.out)?,
            Kind::Live(live) => {
                live.finish(parser, interrupted);
                live.drain(&mut self.out)?;
            }
            Kind::Changes => {
                for diagnostic in parser.diagnostics() {
                    print_json(&mut self.out, &Noticed { noticed: diagnostic })?;
                }
            }
            Kind::Blocks => match &self.display {
                None => print_json(&mut self.out, parser)?,
                Some(grammar) => {
                    let texts: Vec<_> = parser.blocks().map(|block| cleaned(grammar, block)).collect();
                    let blocks = parser.blocks().zip(&texts).map(|(block, text)| match block {
                        Block::Text { closed, .. } => Block::Text { text, closed },
                        other => other,
                    });
                    let (blocks, diagnostics) = (blocks.collect(), parser.diagnostics());
                    print_json(&mut self.out, &Displayed { blocks, diagnostics })?;
                }
            },
        }
        Ok(self.out.flush()?)
    }

    /// Shows a text block that is over, if that is what changed.
    fn show_closed(&mut self, parser: &Parser, change: Change) -> Result<(), Trouble> {
        match change {
            Change::Closed { block } => self.show_cleaned(parser, block),
            _ => Ok(()),
        }
    }

    fn show_cleaned(&mut self, parser: &Parser, block: usize) -> Result<(), Trouble> {
        let (Some(grammar), Some(shown)) = (&self.display, parser.block(block)) else { return Ok(()) };
        let text = cleaned(grammar, shown);
        match &mut self.kind {
            Kind::Text(flow) if !text.is_empty() => flow.text(block, &text, &mut self.out)?,
            Kind::Live(live) => live.text(&text),
            Kind::Text(_) | Kind::Changes | Kind::Blocks => {}
        }
        Ok(())
    }
}

/// The blocks as they are displayed.
#[derive(Serialize)]
struct Displayed<'a> {
    blocks: Vec<Block<'a>>,
    diagnostics: &'a [reknit::Diagnostic],
}

/// The line of a diagnostic.
#[derive(Serialize)]
struct Noticed<'a> {
    noticed: &'a reknit::Diagnostic,
}

/// The text of a block as it is displayed.
fn cleaned<'a>(grammar: &Grammar, block: Block<'a>) -> Cow<'a, str> {
    match block {
        Block::Text { text, closed } => display_text(grammar, text, closed),
        Block::Thinking { .. } | Block::Call(_) => Cow::Borrowed(""),
    }
}

fn is_text(parser: &Parser, change: Change) -> bool {
    let (Change::Opened { block } | Change::Grew { block, .. } | Change::Closed { block }) = change else {
        return false;
    };
    matches!(parser.block(block), Some(Block::Text { .. }))
}
