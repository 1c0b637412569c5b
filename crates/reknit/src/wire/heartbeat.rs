//! Frames that only show that the connection is alive.

use super::fields::Raw;
use crate::frame::{self, Frame};

/// The words for it, as the name of an event or as the `type` of its data.
const WORDS: [&str; 4] = ["ping", "keepalive", "keep_alive", "heartbeat"];

/// No provider's heartbeat is longer.
const LONGEST: usize = 256;

/// Whether a frame is a heartbeat. Gateways send their own in the streams of any provider.
pub(crate) fn is_heartbeat(frame: &Frame<'_>) -> bool {
    if frame.kind != frame::Kind::Data || frame.data.len() > LONGEST {
        return false;
    }
    match Raw::new(frame.data).get("type") {
        Some(kind) => kind.string().is_some_and(|kind| WORDS.contains(&&*kind)),
        None => matches!(frame.data.trim(), "" | "{}") && WORDS.contains(&frame.event),
    }
}
