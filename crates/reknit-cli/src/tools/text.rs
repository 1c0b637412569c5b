//! [`Text`]: a model's text, read for what is to be printed of it.

use std::borrow::Cow;

use reknit::event::End;
use reknit::tags::{Block, Grammar, GrammarError, Parser, Tagger, Tools, display_text};
use reknit::{Diagnostic, Reply};
use serde::Serialize;

use super::Arguments;
use crate::outcome::CommandError;
use crate::present::ReplyOutput;

/// What the ids of calls in a text start with.
pub(crate) const IDS: &str = "call_";

/// A text as it arrives.
pub(super) enum Text {
    /// As a message, of which every change is printed.
    Message(Box<Reply>),
    /// As blocks, which are printed at the end.
    Blocks(Box<Parser>),
}

impl Text {
    pub(super) fn new(
        arguments: &Arguments,
        grammar: &Grammar,
        tools: Option<&Tools>,
    ) -> Result<Self, GrammarError> {
        Ok(match arguments.json {
            true => Self::Blocks(Box::new(Parser::new(grammar, tools)?)),
            false => Self::Message(Box::new(Reply::of_text(Tagger::new(grammar, tools, IDS)?))),
        })
    }

    pub(super) fn push(&mut self, piece: &[u8], output: &mut ReplyOutput) -> Result<(), CommandError> {
        match self {
            Self::Message(reply) => output.take(reply.push(piece)),
            Self::Blocks(parser) => {
                // That the text is too long is a diagnostic.
                let _ = parser.push_bytes(piece);
                Ok(())
            }
        }
    }

    /// Whether nothing more is taken.
    pub(super) fn is_full(&mut self) -> bool {
        match self {
            Self::Message(reply) => reply.error().is_some(),
            Self::Blocks(parser) => parser.push("").is_err(),
        }
    }

    /// The text is over; `display` is the grammar that cleans it, if it is to be displayed.
    pub(super) fn finish(
        &mut self,
        display: Option<&Grammar>,
        output: &mut ReplyOutput,
    ) -> Result<(), CommandError> {
        match self {
            Self::Message(reply) => output.take(reply.finish()),
            Self::Blocks(parser) => {
                parser.finish();
                match display {
                    None => output.print(parser),
                    Some(grammar) => output.print(&Displayed::new(parser, grammar)),
                }
            }
        }
    }

    /// The name of each call, and how it ended.
    pub(super) fn calls(&self) -> Vec<(&str, Option<End>)> {
        match self {
            Self::Message(reply) => {
                reply.message().tool_calls().map(|call| (&*call.name, call.end())).collect()
            }
            Self::Blocks(parser) => parser.calls().map(|call| (call.name(), call.end())).collect(),
        }
    }

    pub(super) fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Self::Message(reply) => reply.message().diagnostics(),
            Self::Blocks(parser) => parser.diagnostics(),
        }
    }
}

/// The blocks as they are displayed.
#[derive(Serialize)]
struct Displayed<'a> {
    blocks: Vec<DisplayedBlock<'a>>,
    diagnostics: &'a [Diagnostic],
}

#[derive(Serialize)]
#[serde(untagged)]
enum DisplayedBlock<'a> {
    Text { r#type: &'static str, text: Cow<'a, str>, partial: bool },
    Other(Block<'a>),
}

impl<'a> Displayed<'a> {
    fn new(parser: &'a Parser, grammar: &Grammar) -> Self {
        let blocks = parser.blocks().map(|block| match block {
            Block::Text { text, closed } => DisplayedBlock::Text {
                r#type: "text",
                text: display_text(grammar, text, closed),
                partial: !closed,
            },
            other => DisplayedBlock::Other(other),
        });
        Self { blocks: blocks.collect(), diagnostics: parser.diagnostics() }
    }
}
