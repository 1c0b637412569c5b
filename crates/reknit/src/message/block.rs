//! [`Block`]: a part of a message.

use super::change::Change;
use super::extra::Extra;
use super::misfit::Misfit;
use super::tool_call::{Args, Input, ToolCall};
use crate::diagnostic::Place;
use crate::event::{CallId, End, Notation, Opening, Slot, StopReason};
use crate::json::{Object, PartialJson};
use crate::limits::Limits;
use crate::text::Text;

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    pub(super) slot: Slot,
    pub(super) choice: u32,
    pub(super) end: Option<End>,
    pub(super) body: Body,
    pub(super) extra: Extra,
}

/// The content of a block.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Body {
    /// Text for the reader.
    Text {
        /// The text.
        text: Text,
        /// Whether the model refuses the request with it.
        refusal: bool,
    },
    /// The model's thinking.
    Thinking {
        /// The text; empty if the provider does not show it.
        text: Text,
        /// The provider's signature, which has to be sent back unchanged.
        signature: Text,
        /// A placeholder for thinking that is not shown, which has to be sent back unchanged.
        redacted: Option<String>,
    },
    /// A tool call.
    ToolCall(ToolCall),
    /// The result of a call that the provider ran. Its fields are in [`Block::extra`].
    ToolResult {
        /// The provider's word for the block.
        kind: String,
        /// The id of the call.
        call_id: Option<String>,
    },
    /// Anything else. Its fields are in [`Block::extra`].
    Other {
        /// The provider's word for it.
        kind: String,
    },
}

impl Block {
    pub(super) fn new(slot: Slot, choice: u32, opening: &Opening, limits: &Limits) -> Self {
        let body = match opening.clone() {
            Opening::Text { refusal } => Body::Text { text: Text::new(), refusal },
            Opening::Thinking { redacted } => {
                Body::Thinking { text: Text::new(), signature: Text::new(), redacted }
            }
            Opening::ToolCall { id, name, runner, notation, origin } => {
                let input = match notation {
                    Notation::Json => Input::Json(Box::new(PartialJson::with_depth(limits.json_depth))),
                    Notation::Plain => Input::Plain(Text::new()),
                };
                Body::ToolCall(ToolCall { id, name, runner, args: Args::Streaming(input), origin, raw: None })
            }
            Opening::ToolResult { kind, call_id } => Body::ToolResult { kind, call_id },
            Opening::Other { kind } => Body::Other { kind },
        };
        Self { slot, choice, end: None, body, extra: Extra::default() }
    }

    /// Its address in the message.
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// The choice that it belongs to.
    pub fn choice(&self) -> u32 {
        self.choice
    }

    /// How it ended; `None` while it may still grow. Only the end of a call can be malformed.
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// Its content.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// Fields that are not part of the neutral form, under the provider's names.
    pub fn extra(&self) -> &Object {
        &self.extra
    }

    /// The length in bytes of the part that grows; `None` if nothing can.
    pub(super) fn length(&self) -> Option<usize> {
        match &self.body {
            _ if self.end.is_some() => None,
            Body::Text { text, .. } | Body::Thinking { text, .. } => Some(text.len()),
            Body::ToolCall(ToolCall { args: Args::Streaming(input), .. }) => Some(input.raw().len()),
            Body::ToolCall(_) | Body::ToolResult { .. } | Body::Other { .. } => None,
        }
    }

    pub(super) fn is_open_call(&self) -> bool {
        self.end.is_none() && matches!(self.body, Body::ToolCall(_))
    }

    pub(super) fn name(&mut self, id: &CallId, name: &str) -> Result<(), Misfit> {
        let Body::ToolCall(call) = &mut self.body else { return Err(self.misfit()) };
        call.id.clone_from(id);
        name.clone_into(&mut call.name);
        Ok(())
    }

    pub(super) fn signature_length(&self) -> Option<usize> {
        match &self.body {
            Body::Thinking { signature, .. } if self.end.is_none() => Some(signature.len()),
            _ => None,
        }
    }

    pub(super) fn grow(&mut self, at: usize, piece: &str) -> Result<(), Misfit> {
        let has = self.length().ok_or_else(|| self.misfit())?;
        if has != at {
            return Err(Misfit::gap(&format!("block {}", self.slot), has, at));
        }
        match &mut self.body {
            Body::Text { text, .. } | Body::Thinking { text, .. } => text.push_str(piece),
            Body::ToolCall(ToolCall { args: Args::Streaming(Input::Plain(text)), .. }) => {
                text.push_str(piece);
            }
            // Invalid arguments are reported when they are over: the error stays in `json`.
            Body::ToolCall(ToolCall { args: Args::Streaming(Input::Json(json)), .. }) => {
                let _ = json.push(piece);
            }
            Body::ToolCall(_) | Body::ToolResult { .. } | Body::Other { .. } => {}
        }
        Ok(())
    }

    pub(super) fn sign(&mut self, at: usize, piece: &str) -> Result<(), Misfit> {
        match &mut self.body {
            Body::Thinking { signature, .. } if signature.len() == at => {
                signature.push_str(piece);
                Ok(())
            }
            Body::Thinking { signature, .. } => {
                Err(Misfit::gap(&format!("the signature of block {}", self.slot), signature.len(), at))
            }
            Body::Text { .. } | Body::ToolCall(_) | Body::ToolResult { .. } | Body::Other { .. } => {
                Err(self.misfit())
            }
        }
    }

    /// The error for a change that this block cannot make.
    pub(super) fn misfit(&self) -> Misfit {
        Misfit::new(format!("block {} is over, or not of the kind that the change expects", self.slot))
    }

    /// The change that closes it now. `given` is the end that the event names, and `reason` is why its choice
    /// stopped, if it has.
    pub(super) fn closing<'a>(
        &self,
        given: Option<End>,
        raw: Option<&'a str>,
        reason: Option<StopReason>,
        place: Place,
    ) -> Change<'a> {
        let (end, notice) = match &self.body {
            Body::ToolCall(call) => match (given, &call.args) {
                (None, Args::Streaming(input)) => call.native_end(input, reason, place),
                (Some(End::Closed), Args::Streaming(input)) => (Some(input.tagged_end()), None),
                (given, _) => (given, None),
            },
            // Text and thinking cannot be malformed, whatever they say.
            Body::Text { .. } | Body::Thinking { .. } | Body::ToolResult { .. } | Body::Other { .. } => {
                (given.filter(|end| *end == End::Cut), None)
            }
        };
        Change::Closed { block: self.slot, end, notice, raw: raw.map(Into::into) }
    }

    /// Closes it with this end, or with a worse one if its arguments are not complete: a change must not make
    /// a follower run a call that the sender would not.
    pub(super) fn close(&mut self, end: Option<End>, raw: Option<&str>) {
        self.end = match &mut self.body {
            Body::ToolCall(call) => {
                call.raw = raw.map(Text::from);
                call.close(end.unwrap_or(End::Closed));
                call.end()
            }
            _ if end == Some(End::Cut) => end,
            _ => Some(End::Closed),
        };
    }

    pub(super) fn cut(&mut self) {
        if self.end.is_none() {
            self.end = Some(End::Cut);
            if let Body::ToolCall(call) = &mut self.body {
                call.close(End::Cut);
            }
        }
    }
}
