//! [`Thoughts`]: the thinking of a choice.
//!
//! Most servers send it as one text. Routers send `reasoning_details`: texts that are signed one by one,
//! summaries, and encrypted thinking. Each of them becomes a block, because each is sent back as it came.

use super::super::blocks::{Blocks, THINKING};
use super::super::fields::Raw;
use super::super::seen::Seen;
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
#[derive(Default)]
struct Detail<'a> {
    index: Option<u64>,
    text: Option<(Content, Raw<'a>)>,
    signature: Option<Raw<'a>>,
    encrypted: Option<String>,
    others: Vec<(String, Raw<'a>)>,
}

impl Thoughts {
    /// The block that is open.
    pub(super) fn slot(&self) -> Option<Slot> {
        self.open.as_ref().map(|open| open.slot)
    }

    /// Takes more text that is not one of `reasoning_details`.
    pub(super) fn grow(&mut self, text: Raw<'_>, blocks: &mut Blocks<'_>) {
        if is_filled(text) {
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
            for (key, value) in others {
                blocks.events.keep(Owner::Block(slot), &key, value);
            }
            return blocks.events.closed(slot);
        }
        if text.is_none() && signature.is_none() && others.is_empty() {
            return;
        }
        let open = self.block(index, text.map(|(content, _)| content), blocks);
        if let Some((_, text)) = text {
            blocks.events.grew(open.slot, text);
        }
        if let Some(signature) = signature {
            blocks.events.signed(open.slot, signature);
            open.is_signed = true;
        }
        // Each piece of a detail repeats these.
        for (key, value) in others {
            if open.seen.is_new(&key, value) {
                blocks.events.keep(Owner::Block(open.slot), &key, value);
            }
        }
    }

    /// Takes thinking in a part of the content, as Mistral sends it: a text, or a list of texts and references.
    pub(super) fn part(&mut self, thinking: Raw<'_>, others: &[(String, Raw<'_>)], blocks: &mut Blocks<'_>) {
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
        let mut is_closed = false;
        for (key, value) in others {
            let open = self.block(None, Some(Content::Text), blocks);
            if open.seen.is_new(key, *value) {
                blocks.events.keep(Owner::Block(open.slot), key, *value);
            }
            is_closed |= key == "closed" && value.text() == "true";
        }
        if is_closed {
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
        let mut detail = Self::default();
        let _ = raw.members(|key, value| match key {
            _ if value.is_null() => {}
            "type" => {}
            "index" => detail.index = value.number(),
            "text" if is_filled(value) => detail.text = Some((Content::Text, value)),
            "summary" if is_filled(value) => detail.text = Some((Content::Summary, value)),
            "text" | "summary" => {}
            "signature" => detail.signature = Some(value).filter(|value| is_filled(*value)),
            "data" => detail.encrypted = value.owned_string(),
            _ => detail.others.push((key.to_owned(), value)),
        });
        detail
    }
}

/// Whether some of `reasoning_details` have text, which is that of the other fields again.
pub(super) fn have_text(details: Raw<'_>) -> bool {
    let mut have = false;
    let _ = details.elements(|detail| have |= Detail::read(detail).text.is_some());
    have
}

fn is_filled(value: Raw<'_>) -> bool {
    value.string_body().is_some_and(|body| !body.is_empty())
}
