//! [`ReplyEvents`]: from the bytes of a reply to agent events.

use super::{AgentEvent, Bridge};
use crate::reply::{Changes, Reply};

/// Turns the bytes of a reply into agent events.
///
/// ```
/// use reknit::Reply;
/// use reknit::agent::ReplyEvents;
/// use reknit::transcript::{Chunks, append};
///
/// # let network: Vec<&[u8]> = vec![
/// #     b"data: {\"choices\":[{\"delta\":{\"content\":\"Let me lo\"}}]}\n\ndata: {\"choices\":[{\"delta\":",
/// #     b"{\"content\":\"ok.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
/// # ];
/// let (mut events, mut chunks) = (ReplyEvents::new(Reply::detect()), Chunks::default());
/// for piece in network {
///     events.push(piece).for_each(|event| drop(append(&mut chunks, &event)));
/// }
/// events.finish().for_each(|event| drop(append(&mut chunks, &event)));
/// assert_eq!(serde_json::to_string(&chunks[..])?, r#"[{"type":"text","text":"Let me look."}]"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug)]
pub struct ReplyEvents {
    reply: Reply,
    bridge: Bridge,
}

impl ReplyEvents {
    /// The events of a reply that has not read anything yet.
    pub fn new(reply: Reply) -> Self {
        Self { reply, bridge: Bridge::default() }
    }

    /// Reads the next piece of the stream, which may be cut anywhere.
    ///
    /// Events that are not taken from the iterator come first the next time.
    pub fn push(&mut self, piece: &[u8]) -> impl Iterator<Item = AgentEvent> {
        follow(self.reply.push(piece), &mut self.bridge);
        self.bridge.events()
    }

    /// Ends the stream. A message that is not over is cut.
    pub fn finish(&mut self) -> impl Iterator<Item = AgentEvent> {
        follow(self.reply.finish(), &mut self.bridge);
        self.bridge.finish()
    }

    /// The reply, as far as it was read.
    pub fn reply(&self) -> &Reply {
        &self.reply
    }
}

fn follow(mut changes: Changes<'_>, bridge: &mut Bridge) {
    while let Some((change, message)) = changes.next() {
        bridge.take(&change, message);
    }
}
