//! [`Reconstructor`]: a chat message from parsed server-sent events, for programs that manage the connection
//! themselves.
//!
//! The protocol is `message_start`, `content_block_start`, `content_block_delta`, `content_block_stop`,
//! `message_delta`, `message_stop` and `ping`; events and messages keep its field names, so a
//! server that sends them and a page that shows them need not change. For a provider's raw stream, use
//! [`Reply`](reknit::Reply).
//!
//! ```
//! use std::sync::mpsc;
//! use reknit_compat::reconstruct::{Callbacks, Reconstructor};
//!
//! let (page, shown) = mpsc::channel();
//! let mut reconstructor = Reconstructor::new(Callbacks {
//!     on_complete: Some(Box::new(move |message| page.send(message.to_string()).unwrap())),
//!     ..Callbacks::default()
//! });
//! reconstructor.open();
//! for event in [
//!     r#"{"type":"message_start","message":{"id":"m1","role":"assistant"}}"#,
//!     r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
//!     r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}"#,
//!     r#"{"type":"content_block_stop","index":0,"stop_timestamp":"t1"}"#,
//!     r#"{"type":"message_stop"}"#,
//! ] {
//!     reconstructor.process_json(event, 0);
//! }
//! assert_eq!(
//!     shown.recv().unwrap(),
//!     r#"{"id":"m1","role":"assistant","content":[{"type":"text","text":"Hi","stop_timestamp":"t1"}],"status":"completed"}"#
//! );
//! ```

mod event;
mod message;
mod state;
mod written;

use std::fmt;

use reknit::Limits;
use reknit::json::{Object, Value};

pub use event::{Delta, Error, ServerEvent};
pub use message::ChatMessage;
pub use state::{State, next_state};

/// The functions to call; all of them are optional.
#[derive(Default)]
pub struct Callbacks {
    /// The state changed: by an event other than a ping, by [`Reconstructor::reset`], or because
    /// [`Reconstructor::close`] cut the message.
    pub on_update: Option<OnUpdate>,
    /// A message is complete.
    pub on_complete: Option<OnComplete>,
    /// An event could not be processed, or the connection failed.
    pub on_error: Option<OnError>,
}

/// Called with the state after each change.
pub type OnUpdate = Box<dyn FnMut(&State) + Send + Sync>;
/// Called with each message that is complete.
pub type OnComplete = Box<dyn FnMut(&ChatMessage) + Send + Sync>;
/// Called with each error.
pub type OnError = Box<dyn FnMut(&Error) + Send + Sync>;

impl fmt::Debug for Callbacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Callbacks")
            .field("on_update", &self.on_update.is_some())
            .field("on_complete", &self.on_complete.is_some())
            .field("on_error", &self.on_error.is_some())
            .finish()
    }
}

/// Builds one chat message at a time and reports its progress to callbacks.
#[derive(Debug, Default)]
pub struct Reconstructor {
    state: State,
    processing: bool,
    ignored: u64,
    limits: Limits,
    /// How many bytes and how many blocks the message has taken.
    taken: u64,
    blocks: usize,
    /// A limit was reached: the rest of the message is ignored.
    refused: bool,
    callbacks: Callbacks,
}

/// How a connection was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Close {
    /// Between messages.
    Whole,
    /// Before `message_stop`: the message is cut, and its status says so.
    Early,
}

impl Reconstructor {
    /// A reconstructor with a state of its own.
    pub fn new(callbacks: Callbacks) -> Self {
        Self { callbacks, ..Self::default() }
    }

    /// Sets the limits; call it before the first event.
    ///
    /// [`Limits::reply_bytes`] and [`Limits::blocks`] apply to one message. When one is reached, it is reported as
    /// an error and the rest of the message is ignored.
    #[must_use]
    pub fn with_limits(self, limits: &Limits) -> Self {
        Self { limits: *limits, state: State::limited(limits), ..self }
    }

    /// Processes an event. `at` is the time, in the caller's unit, for events that have none.
    pub fn process(&mut self, event: &ServerEvent, at: u64) {
        match event {
            ServerEvent::Ping => return,
            ServerEvent::MessageStart { .. } => {
                self.processing = true;
                (self.taken, self.blocks, self.refused) = (0, 0, false);
            }
            _ if self.refused || self.state.message().is_none() || self.state.is_complete() => {
                self.ignored += 1;
                return;
            }
            _ => {}
        }
        if let Err(error) = self.admit(event) {
            self.refused = true;
            return self.fail(&error);
        }
        self.ignored += self.state.apply(event, at);
        self.report_update();
        if *event == ServerEvent::MessageStop {
            self.processing = false;
            if let (Some(call), Some(message)) = (&mut self.callbacks.on_complete, self.state.message()) {
                call(message);
            }
        }
    }

    /// Processes an event given as JSON. Text that is not an event is reported as an error.
    pub fn process_json(&mut self, event: &str, at: u64) {
        let limit = self.limits.frame_bytes;
        if event.len() > limit {
            return self.fail(&Error::Limit { what: "bytes in an event", limit: limit as u64 });
        }
        let value = Value::parse(event, self.limits.json_depth).map_err(Error::from);
        match value.and_then(ServerEvent::read) {
            Ok((event, unknown)) => {
                self.ignored += unknown;
                self.process(&event, at);
            }
            Err(error) => self.fail(&error),
        }
    }

    /// The connection was opened: forgets the message, without calling back.
    pub fn open(&mut self) {
        self.state = self.state.emptied();
        self.processing = false;
    }

    /// The connection failed.
    pub fn fail(&mut self, error: &Error) {
        self.processing = false;
        if let Some(call) = &mut self.callbacks.on_error {
            call(error);
        }
    }

    /// The connection was closed. A message that is not complete is cut, which is reported as an update.
    pub fn close(&mut self) -> Close {
        self.processing = false;
        if self.state.message().is_none() || self.state.is_complete() {
            return Close::Whole;
        }
        if !self.state.is_cut() {
            self.state.cut();
            self.report_update();
        }
        Close::Early
    }

    /// Forgets the message, which is reported as an update.
    pub fn reset(&mut self) {
        self.open();
        self.report_update();
    }

    /// Replaces the callbacks that `newer` has; the others stay.
    pub fn update_callbacks(&mut self, newer: Callbacks) {
        self.callbacks.on_update = newer.on_update.or(self.callbacks.on_update.take());
        self.callbacks.on_complete = newer.on_complete.or(self.callbacks.on_complete.take());
        self.callbacks.on_error = newer.on_error.or(self.callbacks.on_error.take());
    }

    /// The current state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Whether a message is being received.
    pub fn is_processing(&self) -> bool {
        self.processing
    }

    /// How many events and single fields were ignored.
    ///
    /// Events are ignored before a `message_start` and after a `message_stop`, if they are unknown, and if there
    /// is no block that takes them. Fields are ignored if they are unknown, other than in a `message_delta`,
    /// whose fields become those of the message. Unknown fields are counted in events that come as JSON.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }

    /// Counts what an event adds to the message, if that fits.
    fn admit(&mut self, event: &ServerEvent) -> Result<(), Error> {
        let limit = self.limits.reply_bytes;
        let taken = self.taken.saturating_add(weight(event));
        if taken > limit {
            return Err(Error::Limit { what: "bytes in a message", limit });
        }
        let limit = self.limits.blocks;
        let blocks = self.blocks + usize::from(matches!(event, ServerEvent::ContentBlockStart { .. }));
        if blocks > limit {
            return Err(Error::Limit { what: "blocks in a message", limit: limit as u64 });
        }
        (self.taken, self.blocks) = (taken, blocks);
        Ok(())
    }

    fn report_update(&mut self) {
        if let Some(call) = &mut self.callbacks.on_update {
            call(&self.state);
        }
    }
}

/// How many bytes an event adds to the message.
fn weight(event: &ServerEvent) -> u64 {
    let length = match event {
        ServerEvent::MessageStart { message: object }
        | ServerEvent::ContentBlockStart { content_block: object, .. } => written(object),
        ServerEvent::MessageDelta { delta, others } => written(delta) + written(others),
        ServerEvent::ContentBlockDelta { delta, .. } => match delta {
            Delta::Text(text) | Delta::InputJson(text) | Delta::Thinking(text) | Delta::Signature(text) => {
                text.len()
            }
            Delta::Citation(citation) => citation.to_string().len(),
            Delta::Other(_) => 0,
        },
        ServerEvent::ContentBlockStop { .. }
        | ServerEvent::MessageStop
        | ServerEvent::Ping
        | ServerEvent::Other(_) => 0,
    };
    length as u64
}

fn written(object: &Object) -> usize {
    Value::from(object.clone()).to_string().len()
}

#[cfg(test)]
mod tests;
