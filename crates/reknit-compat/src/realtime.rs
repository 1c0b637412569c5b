//! Sessions over a WebSocket: Agent C's server events to messages, notifications and sessions.
//!
//! [`Processor`] takes the events one by one and returns what each caused, under the names that Agent C's own
//! client uses; [`MessageBuilder`], [`ToolCallBook`] and [`Sessions`] are its parts and can be used alone.
//! There is no clock: every call takes the time as an argument. All of it can be saved as JSON and resumed.
//!
//! ```
//! use reknit_compat::realtime::{Happening, Processor, Profile, ServerEvent, Time};
//!
//! let mut processor = Processor::new(Profile::Documented);
//! let mut shown = Vec::new();
//! for (at, event) in [
//!     (0, r#"{"type":"thought_delta","session_id":"s1","content":"They greet me."}"#),
//!     (5, r#"{"type":"text_delta","session_id":"s1","content":"Hello"}"#),
//!     (9, r#"{"type":"text_delta","session_id":"s1","content":" there!"}"#),
//!     (12, r#"{"type":"completion","session_id":"s1","running":false,"stop_reason":"end_turn"}"#),
//! ] {
//!     let event: ServerEvent = event.parse()?;
//!     for happening in processor.process(&event, Time(at)) {
//!         if let Happening::MessageComplete { message, .. } = happening {
//!             shown.push((message.kind.name(), message.content.to_string()));
//!         }
//!     }
//! }
//! assert_eq!(shown, [
//!     ("thought", r#""They greet me.""#.to_owned()),
//!     ("message", r#""Hello there!""#.to_owned()),
//! ]);
//! assert_eq!(processor.sessions().get("s1").unwrap().messages().len(), 2);
//! # Ok::<(), reknit::json::Error>(())
//! ```

use reknit::Hint;
use std::borrow::Cow;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

mod book;
mod builder;
mod call;
mod diagnostic;
mod event;
mod happening;
mod list;
mod message;
mod processor;
mod sessions;
mod time;

pub use book::{NoToolCalls, Statistics, ToolCallBook, ToolNotification, ToolStatus};
pub use builder::{MessageBuilder, MessageType, NoMessage, Stamp};
pub use call::{CompletedCall, ToolCall, ToolResult};
pub use diagnostic::{Diagnostic, DiagnosticKind};
pub use event::ServerEvent;
pub use happening::{Happening, Subsession};
pub use list::List;
pub use message::{EnhancedMessage, MessageKind, MessageMetadata, MessageStatus};
pub use processor::{Processor, Tally};
pub use sessions::{IndexEntry, Placing, Session, SessionIndex, Sessions};
pub use time::Time;

/// Which behaviour to follow where the documentation and Agent C's client differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Profile {
    /// The documentation: text after a thought is a message of its own, each session builds its own messages, a
    /// finished message is in its session, and an end is never taken for a duplicate.
    #[default]
    #[serde(rename = "documented")]
    Documented,
    /// The client, bugs included, to compare with and to migrate from.
    ///
    /// Text after a thought is added to the thought; a message that a thought ends is reported and lost; all
    /// sessions build one message, and it goes to the current one; an event whose id was seen within five
    /// seconds is dropped, even if it is the end of what the first one started; thinking tools hide the tools next
    /// to them; every delta is reported.
    #[serde(rename = "agent-c")]
    AgentC,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 2] = [Self::Documented, Self::AgentC];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Documented => "documented",
            Self::AgentC => "agent-c",
        }
    }
}

/// A name that is not a profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not a profile of realtime sessions")]
pub struct UnknownProfile {
    name: String,
}

impl Hint for UnknownProfile {
    fn hint(&self) -> Cow<'static, str> {
        format!("use one of: {}", Profile::ALL.map(Profile::name).join(", ")).into()
    }
}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, UnknownProfile> {
        let found = Self::ALL.into_iter().find(|profile| profile.name() == name);
        found.ok_or_else(|| UnknownProfile { name: name.to_owned() })
    }
}
