//! [`Thoughts`]: the thinking of a choice.
//!
//! Most servers send it as one text. Routers send `reasoning_details`: texts that are signed one by one,
//! summaries, and encrypted thinking. Each of them becomes a block, because each is sent back as it came.

use super::super::blocks::{Blocks, THINKING};
use super::super::fields::Raw;
use super::super::other_members::Others;
use super::super::seen_members::Seen;
use crate::event::{Opening, Owner, Slot};

#[derive(Clone, Debug, Default)]
pub(super) struct Thoughts {
    open: Option<Open>,
}

/// The block that more thinking may continue.
#[derive(Clone, Debug)]
struct Open {
    slot: Slot,
    index: Option<u64>,
    content: Option<Content>,
    is_signed: bool,
    seen: Seen,
}

/// The member of a detail that has its text.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Content {
    Text,
    Summary,
}

/// One of `reasoning_details`.
struct Detail<'a> {
    index: Option<u64>,
    text: Option<(Content, Raw<'a>)>,
    signature: Option<Raw<'a>>,
    encrypted: Option<String>,
    others: Others<'a>,
}

impl Thoughts {
    /// The block that is open.
    pub(super) fn slot(&self) -> Option<Slot> {
        self.open.as_ref().map(|open| open.slot)
    }

    /// Takes more text that is not one of `reasoning_details`.
    pub(super) fn grow(&mut self, text: Raw<'_>, blocks: &mut Blocks<'_>) {
        if text.has_text() {
            let slot = self.block(None, Some(Content::Text), blocks).slot;
            blocks.events.grew(slot, text);
        }
    }

    /// Takes one of `reasoning_details`.
    pub(super) fn detail(&mut self, raw: Raw<'_>, blocks: &mut Blocks<'_>) {
        let Detail { index, text, signature, encrypted, others } = Detail::read(raw);
        if let Some(data) = encrypted {
            // It comes whole, and ends what came before.
            self.close(blocks);
            let slot = blocks.new_block(Opening::Thinking { redacted: Some(data) });
            others.keep(Owner::Block(slot), blocks.events);
            return blocks.events.closed(slot);
        }
        if text.is_none() && signature.is_none() && others.is_empty() {
            return;
        }
        let open = self.block(index, text.map(|(content, _)| content), blocks);
        blocks.events.grew(open.slot, text.map(|(_, text)| text));
        blocks.events.signed(open.slot, signature);
        open.is_signed |= signature.is_some();
        // Each piece of a detail repeats these.
        others.keep_new(Owner::Block(open.slot), &mut open.seen, blocks.events);
    }

    /// Takes thinking in a part of the content, as Mistral sends it: a text, or a list of texts and references.
    pub(super) fn part(&mut self, thinking: Raw<'_>, others: &Others<'_>, blocks: &mut Blocks<'_>) {
        if thinking.text().starts_with('[') {
            let _ = thinking.elements(|part| match part.get("text") {
                Some(text) => self.grow(text, blocks),
                None => {
                    let slot = self.block(None, Some(Content::Text), blocks).slot;
                    blocks.events.keep_pushed(Owner::Block(slot), "parts", part);
                }
            });
        } else {
            self.grow(thinking, blocks);
        }
        if !others.is_empty() {
            let open = self.block(None, Some(Content::Text), blocks);
            others.keep_new(Owner::Block(open.slot), &mut open.seen, blocks.events);
        }
        if others.get("closed").is_some_and(Raw::is_true) {
            self.close(blocks);
        }
    }

    fn close(&mut self, blocks: &mut Blocks<'_>) {
        if let Some(open) = self.open.take() {
            blocks.events.closed(open.slot);
        }
    }

    /// The block for more thinking, opened if it does not continue the open one. A signature is the last piece
    /// of a text, so a text after it is another one.
    fn block(&mut self, index: Option<u64>, content: Option<Content>, blocks: &mut Blocks<'_>) -> &mut Open {
        let goes_on = self.open.as_ref().is_some_and(|open| {
            let fits = content.is_none() || agree(content, open.content) && !open.is_signed;
            fits && agree(index, open.index)
        });
        if !goes_on {
            self.close(blocks);
        }
        let open = self.open.get_or_insert_with(|| {
            let slot = blocks.new_block(THINKING);
            Open { slot, index, content, is_signed: false, seen: Seen::default() }
        });
        open.index = open.index.or(index);
        open.content = open.content.or(content);
        open
    }
}

/// Whether two values are the same, as far as they are known.
fn agree<T: Copy + PartialEq>(one: Option<T>, other: Option<T>) -> bool {
    one.is_none() || other.is_none() || one == other
}

impl<'a> Detail<'a> {
    fn read(raw: Raw<'a>) -> Self {
        let ([_, index, text, summary, signature, data], others, _) =
            raw.split_leniently(["type", "index", "text", "summary", "signature", "data"]);
        let [text, summary, signature] =
            [text, summary, signature].map(|value| value.filter(|value| value.has_text()));
        let text = text.map(|text| (Content::Text, text));
        Self {
            index: index.and_then(Raw::number),
            text: text.or_else(|| Some((Content::Summary, summary?))),
            signature,
            encrypted: data.and_then(Raw::owned_string),
            others,
        }
    }
}

/// Whether some of `reasoning_details` have text, which is that of the other fields again.
pub(super) fn have_text(details: Raw<'_>) -> bool {
    let mut have = false;
    let _ = details.elements(|detail| {
        let _ = detail.fields(|key, value| have |= matches!(key, "text" | "summary") && value.has_text());
    });
    have
}
