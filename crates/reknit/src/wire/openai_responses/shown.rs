//! [`Shown`]: what has been shown of a block, compared with what the provider says at its end.

use super::super::events::{Events, Kept};
use super::super::fields::{Half, Raw, flush, unescape};
use crate::diagnostic::Kind;
use crate::event::{Keep, Opening, Owner, Slot};
use crate::json::{Object, Value};

/// One block, as far as its events were emitted.
///
/// The text is kept although the message has it too: the same value comes again in up to four events, and only
/// the text shows whether the last one differs.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) slot: Slot,
    /// Whether it has a text at all.
    grows: bool,
    is_open: bool,
    text: String,
    half: Half,
    /// The value in the event that began the block. It is the start of the text or, with some servers, all of
    /// it; only the next event shows which.
    start: Option<String>,
    /// The latest value that is not exactly the text that is shown.
    other: Other,
    kept: Object,
}

/// A value that the provider sent and that is written differently.
#[derive(Clone, Debug)]
enum Other {
    Nothing,
    /// A value that means the same.
    Same(String),
    /// A different value, which was reported.
    Different(String),
}

impl Shown {
    pub(super) fn new(slot: Slot, opening: &Opening) -> Self {
        let grows = match opening {
            Opening::Text { .. } | Opening::Thinking { .. } | Opening::ToolCall { .. } => true,
            Opening::ToolResult { .. } | Opening::Other { .. } => false,
        };
        Self {
            slot,
            grows,
            is_open: true,
            text: String::new(),
            half: None,
            start: None,
            other: Other::Nothing,
            kept: Object::new(),
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    pub(super) fn grows(&self) -> bool {
        self.grows
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn is_different(&self) -> bool {
        matches!(self.other, Other::Different(_))
    }

    /// Takes the text of the event that began the block.
    pub(super) fn begin(&mut self, text: String) {
        if self.text.is_empty() && !text.is_empty() {
            self.start = Some(text);
        }
    }

    /// The text that came at the start, if nothing has come since.
    pub(super) fn take_start(&mut self) -> Option<String> {
        self.start.take()
    }

    /// Emits the text that came at the start, because nothing more will come.
    pub(super) fn show_start(&mut self, events: &mut Events) {
        if let Some(text) = self.take_start() {
            self.grow_plain(&text, events);
        }
    }

    pub(super) fn grow(&mut self, delta: Raw<'_>, events: &mut Events) {
        let Some(piece) = self.decode(delta, events) else { return };
        if let Some(start) = self.take_start().filter(|start| !start.starts_with(&piece)) {
            self.grow_plain(&start, events);
        }
        self.grow_plain(&piece, events);
    }

    /// Grows by a delta inside a JSON string that is being written.
    pub(super) fn grow_escaped(&mut self, delta: Raw<'_>, events: &mut Events) {
        if let Some(piece) = self.decode(delta, events) {
            self.grow_plain(&escape(&piece), events);
        }
    }

    pub(super) fn grow_plain(&mut self, piece: &str, events: &mut Events) {
        self.text.push_str(piece);
        if let Other::Same(known) = &mut self.other {
            known.push_str(piece);
        }
        events.grew_plain(self.slot, piece);
    }

    /// Takes the final value of what follows the first `from` bytes; an empty value says nothing.
    ///
    /// What was shown is never taken back: if the value continues it, the block grows by the rest.
    pub(super) fn settle(
        &mut self,
        from: usize,
        whole: &str,
        same: impl FnOnce(&str, &str) -> bool,
        events: &mut Events,
    ) {
        if whole.is_empty() {
            return;
        }
        self.start = None;
        let shown = self.text.get(from..).unwrap_or_default();
        match whole.strip_prefix(shown) {
            Some("") => {}
            Some(rest) if self.is_open => {
                let rest = rest.to_owned();
                self.half = None;
                self.grow_plain(&rest, events);
            }
            _ if matches!(&self.other, Other::Same(known) | Other::Different(known) if known == whole) => {}
            _ if self.other.means(shown, whole, same) => self.other = Other::Same(whole.to_owned()),
            _ => {
                let at = shown.bytes().zip(whole.bytes()).take_while(|(a, b)| a == b).count();
                let message = format!(
                    "block {}: {} bytes arrived, but its final value has {}; they differ from byte {}",
                    self.slot,
                    shown.len(),
                    whole.len(),
                    at
                );
                events.notice(Kind::DifferentEnd, message);
                events.keep(Owner::Block(self.slot), "final", Value::from(whole));
                self.other = Other::Different(whole.to_owned());
            }
        }
    }

    pub(super) fn keep(&mut self, key: &str, value: impl Kept, events: &mut Events) {
        let value = value.into_value(key, events);
        let empty = matches!(&value, Value::Array(list) if list.is_empty());
        let known = self.kept.get(key);
        if value.is_null() || known == Some(&value) || (known.is_none() && empty) {
            return;
        }
        self.kept.insert(key, value.clone());
        events.keep(Owner::Block(self.slot), key, value);
    }

    pub(super) fn push(&mut self, key: &str, value: impl Kept, events: &mut Events) {
        let keep = Keep::Push(value.into_value(key, events));
        keep.store(&mut self.kept, key);
        events.kept(Owner::Block(self.slot), key, keep);
    }

    pub(super) fn close(&mut self, events: &mut Events) {
        if !self.is_open {
            return;
        }
        let length = self.text.len();
        if flush(&mut self.half, &mut self.text) > 0 {
            events.grew_plain(self.slot, &self.text[length..]);
            events.notice(Kind::LoneSurrogate, "a block ended with a lone surrogate");
        }
        self.is_open = false;
        events.closed(self.slot);
    }

    fn decode(&mut self, delta: Raw<'_>, events: &mut Events) -> Option<String> {
        let body = delta.string_body()?;
        let mut piece = String::with_capacity(body.len());
        events.report(unescape(body, &mut self.half, &mut piece));
        Some(piece).filter(|piece| !piece.is_empty())
    }
}

impl Other {
    /// Whether a value means the same as what is shown.
    ///
    /// It is compared with the latest value that did, so that a long text is not parsed again and again.
    fn means(&self, shown: &str, whole: &str, same: impl FnOnce(&str, &str) -> bool) -> bool {
        match self {
            Self::Nothing => same(shown, whole),
            Self::Same(known) => same(known, whole),
            Self::Different(_) => false,
        }
    }
}

/// The text as the body of a JSON string.
pub(super) fn escape(text: &str) -> String {
    let mut quoted = Value::from(text).to_string();
    quoted.pop();
    quoted.remove(0);
    quoted
}
