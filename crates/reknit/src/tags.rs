//! Tool calls and thinking that a model writes into its text.
//!
//! A [`Parser`] takes a text in pieces, however they are cut, and after each piece has the blocks found so
//! far: text, thinking and calls, with values that grow as they arrive. A [`Grammar`] describes how calls are
//! written; there is a [`profile`] for each common notation. Text that may still become part of a marker is
//! held back, and nothing that has been shown is ever taken back.
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

mod whitespace;
mod span;
mod exact;
mod names;
mod template;
mod tag;
mod finder;
mod grammar;
mod profile;
mod tools;
mod rules;
mod mention;
mod matcher;
mod changes;
mod parsed;
mod machine;
mod prose;
mod markup;
mod param;
mod value;
mod tail;
mod body;
mod envelope;
mod reader;
mod series;
mod python;
mod transcode;
mod channel;
mod call;
mod params;
mod arguments;
mod tagged_text;
mod tagger;
mod json_form;
mod display;
mod detect;
mod utf8;

pub use call::Call;
pub use detect::{Detected, detect};
pub use display::display_text;
pub use grammar::{Grammar, GrammarError};
pub use profile::{profile, profile_source, profiles};
pub use span::SpanKind;
pub use tagger::Tagger;
pub use tools::Tools;

use std::borrow::Cow;
use std::ops::Range;

use changes::Change;
use machine::{Machine, Step};
use matcher::Matcher;
use parsed::{BlockData, Parsed};
use prose::Prose;

use crate::diagnostic::{Diagnostics, Hint, Kind, counted};
use crate::limits::Limits;

/// The longest text that is accepted, whatever the limit. Offsets are stored in 32 bits, also those into
/// arguments that were rewritten as JSON, where one byte can become six; block numbers are stored in 29 bits.
const MAX_TEXT_BYTES: usize = (1 << 29) - 1;

/// The limits of the streaming parser that the compatibility profiles reproduce: a profile with `seed_limits`
/// accepts exactly as much as that parser does, whatever limits the caller sets.
const COMPAT_TEXT_BYTES: usize = 1 << 20;
const COMPAT_PARAM_BYTES: usize = 100 << 10;

/// Finds the calls and the thinking in one text.
#[derive(Clone, Debug)]
pub struct Parser {
    matcher: Matcher,
    parsed: Parsed,
    machine: Machine,
    refused: Option<TooLong>,
    /// The last piece that came as bytes, decoded; kept to reuse its allocation.
    decoded: String,
}

/// A part of a text.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Block<'a> {
    /// Text for the reader.
    Text {
        /// The text.
        text: &'a str,
        /// Whether something that follows has ended it.
        closed: bool,
    },
    /// The model's thinking.
    Thinking {
        /// The text.
        text: &'a str,
        /// Whether its closing marker has come.
        closed: bool,
    },
    /// A call.
    Call(Call<'a>),
}

/// A text is longer than its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text is longer than {limit} bytes")]
#[non_exhaustive]
pub struct TooLong {
    /// The limit.
    pub limit: usize,
}

impl Hint for TooLong {
    fn hint(&self) -> Cow<'static, str> {
        "raise the limit if texts can be that long".into()
    }
}

impl Parser {
    /// Creates a parser. With `tools`, values get the types of the tools' schemas, and calls of unknown tools
    /// are marked.
    pub fn new(grammar: &Grammar, tools: Option<&Tools>) -> Result<Self, GrammarError> {
        let matcher = Matcher::new(grammar, tools)?;
        let machine = Machine::Prose(Prose::at_start(&matcher));
        let parsed = Parsed::new(&grammar.prefix, grammar.text, limits_for(grammar, Limits::default()));
        Ok(Self { matcher, parsed, machine, refused: None, decoded: String::new() })
    }

    /// Sets other limits. Call this before the first piece.
    ///
    /// A compatibility profile has its own limits and ignores these.
    #[must_use]
    pub fn with_limits(mut self, limits: &Limits) -> Self {
        self.limit(limits);
        self
    }

    fn limit(&mut self, limits: &Limits) {
        self.parsed.limits = limits_for(&self.matcher.grammar, *limits);
    }

    /// Takes the next piece of a text that arrives as bytes. It may be cut inside a character.
    ///
    /// Invalid UTF-8 is read as U+FFFD and reported in a diagnostic.
    pub fn push_bytes(&mut self, piece: &[u8]) -> Result<(), TooLong> {
        let mut text = std::mem::take(&mut self.decoded);
        text.clear();
        self.parsed.utf8.push(piece, &mut text);
        let result = self.push(&text);
        self.decoded = text;
        result
    }

    /// Takes the next piece.
    ///
    /// Input past [`Limits::text_bytes`] is refused: what was read remains, and every further piece gets the
    /// same error.
    pub fn push(&mut self, piece: &str) -> Result<(), TooLong> {
        self.parsed.changes.clear();
        if let Some(refused) = self.refused {
            return Err(refused);
        }
        if self.parsed.finished {
            return Ok(());
        }
        let limit = self.parsed.limits.text_bytes;
        let room = self.parsed.room();
        let taken = if piece.len() <= room { piece } else { &piece[..piece.floor_char_boundary(room)] };
        let skimmed = match &mut self.machine {
            Machine::Prose(prose) => prose.skim(&self.matcher, &mut self.parsed, taken),
            _ => false,
        };
        if !skimmed {
            self.parsed.text.push_str(taken);
            self.run();
        }
        if taken.len() == piece.len() {
            return Ok(());
        }
        // Nothing more is accepted, not even a piece that would fit: a limit is reached at a byte.
        let at = self.parsed.text.len();
        self.parsed.note(Kind::LimitReached, at, format!("the text is longer than {limit} bytes"));
        self.refused = Some(TooLong { limit });
        Err(TooLong { limit })
    }

    /// Takes a piece that only continues the open prose, as most pieces do. Returns the block that grew, and
    /// by which part of the text; `None` if the piece has to be [pushed](Self::push).
    fn skim(&mut self, piece: &str) -> Option<(usize, Range<usize>)> {
        let Machine::Prose(prose) = &mut self.machine else { return None };
        let is_open = !self.parsed.finished && self.refused.is_none();
        if !is_open || piece.len() > self.parsed.room() || !self.parsed.has_run() {
            return None;
        }
        self.parsed.changes.clear();
        prose.skim(&self.matcher, &mut self.parsed, piece).then(|| match self.parsed.changes.get(0) {
            Some(Change::Grew { block, from, to }) => (block, from..to),
            // Whitespace that may be the last of the text, or prose that is dropped.
            _ => (0, 0..0),
        })
    }

    /// Ends the text. A block that is still open is cut and never looks complete.
    pub fn finish(&mut self) {
        if self.parsed.finished {
            self.parsed.changes.clear();
            return;
        }
        let mut last = String::new();
        self.parsed.utf8.finish(&mut last);
        // What is past the limit is reported as any other piece is.
        let _ = self.push(&last);
        self.end();
    }

    /// Nothing follows what was read. The changes are added to those of the last piece.
    fn end(&mut self) {
        self.parsed.finished = true;
        self.run();
        self.machine.cut(&self.matcher, &mut self.parsed);
        let taken = self.parsed.text.len() - self.parsed.prefix;
        let count = self.parsed.utf8.replaced(taken);
        if let Some(first) = self.parsed.utf8.first_replaced().filter(|_| count > 0) {
            let at = first + self.parsed.prefix;
            self.parsed.note(
                Kind::InvalidUtf8,
                at,
                format!("{} read as U+FFFD", counted(count as u64, "invalid byte sequence")),
            );
        }
    }

    /// The whole text so far. The ranges of changes and spans refer to it.
    ///
    /// If the grammar has a prefix, the text starts with it.
    pub fn text(&self) -> &str {
        &self.parsed.text
    }

    /// The blocks so far.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = Block<'_>> + ExactSizeIterator {
        (0..self.parsed.blocks.len()).map(|index| self.view(index))
    }

    /// The block with this index.
    fn block(&self, index: usize) -> Option<Block<'_>> {
        (index < self.parsed.blocks.len()).then(|| self.view(index))
    }

    /// The calls so far.
    pub fn calls(&self) -> impl Iterator<Item = Call<'_>> {
        self.blocks().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            Block::Text { .. } | Block::Thinking { .. } => None,
        })
    }

    /// What was dropped, repaired or not understood; `at` is a byte of the input.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.parsed.diagnostics
    }

    /// What each part of the text is. The ranges are adjacent and cover everything that is decided.
    pub fn spans(&self) -> impl Iterator<Item = (SpanKind, Range<usize>)> {
        self.parsed.spans()
    }

    /// Whether the end of the text so far belongs to a call, even if only its closing marker is missing.
    fn in_call(&self) -> bool {
        match self.machine {
            Machine::Markup(_) | Machine::Json(_) | Machine::Python(_) => true,
            Machine::Prose(_) | Machine::Channel(_) => false,
        }
    }

    fn run(&mut self) {
        while let Step::Go(machine) = self.machine.step(&self.matcher, &mut self.parsed) {
            self.machine = machine;
        }
    }

    fn view(&self, index: usize) -> Block<'_> {
        let text = self.parsed.text.as_str();
        match &self.parsed.blocks[index] {
            &BlockData::Prose { thinking, range, closed } => {
                let text = &text[range.range()];
                match thinking {
                    true => Block::Thinking { text, closed },
                    false => Block::Text { text, closed },
                }
            }
            BlockData::Call(call) => {
                Block::Call(Call { data: &self.parsed.calls[*call], params: &self.parsed.params, text })
            }
        }
    }
}

/// The limits for a text in this grammar. A compatibility profile has those of the parser that it reproduces.
fn limits_for(grammar: &Grammar, limits: Limits) -> Limits {
    match grammar.seed_limits {
        true => Limits { text_bytes: COMPAT_TEXT_BYTES, param_bytes: COMPAT_PARAM_BYTES, ..limits },
        false => Limits { text_bytes: limits.text_bytes.min(MAX_TEXT_BYTES), ..limits },
    }
}
