//! Tool calls and thinking that a model writes into its text.
//!
//! A [`Parser`] takes text in pieces cut anywhere and shows, after each, the blocks so far: text, thinking
//! and calls, with values that grow while they arrive. How calls are written is a [`Grammar`]; there is a
//! [`profile`] for each common way. What may still become a marker is held back, and nothing that was shown
//! is ever taken back.
//!
//! ```
//! use reknit::tags::{Block, Parser, profile};
//!
//! let mut parser = Parser::new(profile("cline").unwrap(), None)?;
//! for piece in ["I will look.\n<read_", "file>\n<path>src/ma", "in.rs</pa", "th>\n</read_file>"] {
//!     parser.push(piece)?;
//! }
//! parser.finish();
//! let blocks: Vec<_> = parser.blocks().collect();
//! assert!(matches!(blocks[0], Block::Text { text: "I will look.", .. }));
//! let Block::Call(call) = blocks[1] else { panic!("the second block is a call") };
//! assert_eq!(call.name(), "read_file");
//! assert_eq!(call.args().to_string(), r#"{"path":"src/main.rs"}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod blank;
mod exact;
mod names;
mod template;
mod tag;
mod finder;
pub mod grammar;
mod profile;
mod tools;
mod rules;
mod matcher;
mod span;
mod change;
mod changes;
mod sheet;
mod machine;
mod prose;
mod markup;
mod param;
mod value;
mod tail;
mod body;
mod envelope;
mod reader;
mod literal;
mod transcode;
mod channel;
mod call;
mod params;
mod neutral;
mod display;
mod detect;
mod utf8;

pub use call::{Call, Param};
pub use change::Change;
pub use detect::{Detected, detect};
pub use display::display_text;
pub use grammar::{Grammar, GrammarError};
pub use neutral::Told;
pub use profile::{profile, profiles};
pub use span::SpanKind;
pub use tools::Tools;

use std::ops::Range;

use machine::{Machine, Step};
use matcher::Matcher;
use prose::Prose;
use sheet::{BlockData, Sheet};

use crate::diagnostic::{Diagnostic, Kind};
use crate::limits::Limits;

/// The longest text that is taken, whatever its limit: where something stands in it, or in arguments that were
/// read into JSON with six bytes for one, fits into 32 bits, and the number of a block into 29.
const MOST: usize = (1 << 29) - 1;

/// Reads the calls and the thinking in one text.
#[derive(Clone, Debug)]
pub struct Parser {
    matcher: Matcher,
    sheet: Sheet,
    machine: Machine,
    finished: bool,
    refused: Option<TooLong>,
    /// The last piece that came as bytes, kept for its room.
    decoded: String,
}

/// A part of a text.
#[derive(Clone, Copy, Debug)]
pub enum Block<'a> {
    /// Text for the reader.
    Text {
        /// The text.
        text: &'a str,
        /// Whether something came behind it that ended it.
        closed: bool,
    },
    /// The model's thinking.
    Thinking {
        /// The text.
        text: &'a str,
        /// Whether its closing marker came.
        closed: bool,
    },
    /// A call.
    Call(Call<'a>),
}

/// The text is longer than its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text is longer than {limit} bytes")]
pub struct TooLong {
    /// The limit.
    pub limit: usize,
}

impl TooLong {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        "raise the limit if the text is meant to be that long"
    }
}

/// Reads a whole text.
///
/// It is the streaming parser fed once, so the two cannot differ.
pub fn parse(grammar: &Grammar, text: &str) -> Result<Parser, GrammarError> {
    let mut parser = Parser::new(grammar, None)?;
    // What is behind the limit is refused, and a diagnostic says so.
    let _ = parser.push(text);
    parser.finish();
    Ok(parser)
}

impl Parser {
    /// Before the first piece; with `tools`, values are typed and unknown names marked.
    pub fn new(grammar: &Grammar, tools: Option<&Tools>) -> Result<Self, GrammarError> {
        Self::with_limits(grammar, tools, Limits::default())
    }

    /// The same with limits of your own; a compatibility profile has its own whatever they are.
    pub fn with_limits(
        grammar: &Grammar,
        tools: Option<&Tools>,
        limits: Limits,
    ) -> Result<Self, GrammarError> {
        let limits = match grammar.seed_limits {
            true => Limits {
                text_bytes: Limits::seed().text_bytes,
                param_bytes: Limits::seed().param_bytes,
                ..limits
            },
            false => limits,
        };
        let limits = Limits { text_bytes: limits.text_bytes.min(MOST), ..limits };
        let matcher = Matcher::new(grammar, tools, limits)?;
        let machine = Machine::Prose(Prose::at_start(&matcher));
        let sheet = Sheet::new(&grammar.prefix, grammar.text, limits.diagnostics);
        Ok(Self { matcher, sheet, machine, finished: false, refused: None, decoded: String::new() })
    }

    /// Takes the next piece of a text that comes as bytes, which may be cut inside a character.
    ///
    /// What is not UTF-8 is read as U+FFFD, with a diagnostic.
    pub fn push_bytes(&mut self, piece: &[u8]) -> Result<(), TooLong> {
        let mut text = std::mem::take(&mut self.decoded);
        text.clear();
        self.sheet.utf8.push(piece, &mut text);
        let result = self.push(&text);
        self.decoded = text;
        result
    }

    /// Takes the next piece.
    ///
    /// Past [`Limits::text_bytes`] the rest is refused: what was read stays, and every further piece gets the
    /// same error.
    pub fn push(&mut self, piece: &str) -> Result<(), TooLong> {
        self.sheet.changes.clear();
        if self.finished {
            return self.refused.map_or(Ok(()), Err);
        }
        let limit = self.matcher.limits.text_bytes;
        let room = limit.saturating_sub(self.sheet.text.len() - self.sheet.prefix);
        let taken = if piece.len() <= room { piece } else { &piece[..piece.floor_char_boundary(room)] };
        let skimmed = match &mut self.machine {
            Machine::Prose(prose) => prose.skim(&self.matcher, &mut self.sheet, taken),
            _ => false,
        };
        if !skimmed {
            self.sheet.text.push_str(taken);
            self.run();
        }
        if taken.len() == piece.len() {
            return Ok(());
        }
        // Nothing more is taken, however little it is: a limit is reached at a byte.
        self.end();
        let at = self.sheet.text.len();
        self.sheet.note(Kind::LimitReached, at, format!("the text is longer than {limit} bytes"));
        self.refused = Some(TooLong { limit });
        Err(TooLong { limit })
    }

    /// Ends the text: what is open is cut, and never looks whole.
    pub fn finish(&mut self) {
        if self.finished {
            self.sheet.changes.clear();
            return;
        }
        let mut last = String::new();
        self.sheet.utf8.finish(&mut last);
        // Past the limit it is not taken, and the error is the caller's already.
        if self.push(&last).is_ok() {
            self.end();
        }
    }

    /// Nothing follows what was taken. The changes are added to those of the last piece.
    fn end(&mut self) {
        self.finished = true;
        self.sheet.over = true;
        self.run();
        self.machine.cut(&self.matcher, &mut self.sheet);
        let taken = self.sheet.text.len() - self.sheet.prefix;
        let count = self.sheet.utf8.replaced(taken);
        if let Some(first) = self.sheet.utf8.first_replaced().filter(|_| count > 0) {
            let at = first + self.sheet.prefix;
            self.sheet.note(
                Kind::InvalidUtf8,
                at,
                format!("{count} stretches of bytes that are not UTF-8 read as U+FFFD"),
            );
        }
    }

    /// Ends the text and calls everything whole that is there, as the seed's `finalizeContentBlocks` does.
    ///
    /// It is for a display that knows no other state. What was cut still says so in [`Call::end`]: a call
    /// that is cut is never to be run.
    pub fn finalize(&mut self) {
        self.finish();
        for block in &mut self.sheet.blocks {
            match block {
                BlockData::Text { closed, .. } | BlockData::Thinking { closed, .. } => *closed = true,
                BlockData::Call(_) => {}
            }
        }
        for call in &mut self.sheet.calls {
            call.finalized = true;
        }
    }

    /// What the last piece changed, in the order of the text.
    pub fn changes(&self) -> impl DoubleEndedIterator<Item = Change> + ExactSizeIterator {
        self.sheet.changes.iter()
    }

    /// The whole text so far, which the ranges of changes and spans are of.
    ///
    /// A grammar with a prefix has it at the start.
    pub fn text(&self) -> &str {
        &self.sheet.text
    }

    /// The blocks so far.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = Block<'_>> + ExactSizeIterator {
        (0..self.sheet.blocks.len()).map(|index| self.view(index))
    }

    /// The block with this index.
    pub fn block(&self, index: usize) -> Option<Block<'_>> {
        (index < self.sheet.blocks.len()).then(|| self.view(index))
    }

    /// The calls so far.
    pub fn calls(&self) -> impl Iterator<Item = Call<'_>> {
        self.blocks().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            Block::Text { .. } | Block::Thinking { .. } => None,
        })
    }

    /// What was odd in the text; `at` is a byte of the input.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.sheet.diagnostics
    }

    /// How many further diagnostics were only counted.
    pub fn diagnostics_omitted(&self) -> usize {
        self.sheet.diagnostics_omitted
    }

    /// What each stretch of the text is, end to end.
    pub fn spans(&self) -> impl Iterator<Item = (SpanKind, Range<usize>)> {
        self.sheet.spans()
    }

    /// Where a block starts in the text.
    fn block_start(&self, index: usize) -> usize {
        match &self.sheet.blocks[index] {
            BlockData::Text { range, .. } | BlockData::Thinking { range, .. } => range.start(),
            BlockData::Call(call) => self.sheet.calls[*call].range.start(),
        }
    }

    /// Whether the last that was read is of a call, be it only that the marker behind a whole one is missing.
    pub(crate) fn in_call(&self) -> bool {
        match self.machine {
            Machine::Markup(_) | Machine::Json(_) | Machine::Literal(_) | Machine::Skip(_) => true,
            Machine::Prose(_) | Machine::Channel(_) => false,
        }
    }

    fn run(&mut self) {
        while let Step::Go(machine) = self.machine.step(&self.matcher, &mut self.sheet) {
            self.machine = machine;
        }
    }

    fn view(&self, index: usize) -> Block<'_> {
        let text = self.sheet.text.as_str();
        match &self.sheet.blocks[index] {
            BlockData::Text { range, closed } => {
                Block::Text { text: &text[self.sheet.block_range(index, *range)], closed: *closed }
            }
            BlockData::Thinking { range, closed } => {
                Block::Thinking { text: &text[self.sheet.block_range(index, *range)], closed: *closed }
            }
            BlockData::Call(call) => {
                Block::Call(Call { data: &self.sheet.calls[*call], params: &self.sheet.params, text, index })
            }
        }
    }
}

impl Block<'_> {
    /// Whether it was not closed: the text ended before it did.
    pub fn is_partial(&self) -> bool {
        match self {
            Self::Text { closed, .. } | Self::Thinking { closed, .. } => !closed,
            Self::Call(call) => call.is_partial(),
        }
    }
}
