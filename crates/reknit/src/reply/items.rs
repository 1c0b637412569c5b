//! [`Items`]: the content of a reply as an iterator.

use std::collections::VecDeque;

use super::Reply;
use crate::message::{Body, Change, Message, ToolCall};

/// A part of a reply.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Item {
    /// More text.
    Text(String),
    /// More thinking.
    Thinking(String),
    /// A call that [may be run](Message::runnable_calls). It comes after the end of its message, because only
    /// then it is certain that the message was not cut.
    Call(ToolCall),
    /// The end of a message; its [status](Message::status) says how it ended.
    End(Box<Message>),
}

impl Item {
    /// What one change adds to the content of its message, for programs that push the pieces themselves.
    ///
    /// ```
    /// use reknit::{Item, Reply};
    ///
    /// let mut reply = Reply::detect();
    /// let mut changes = reply.push(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n");
    /// let mut items = Vec::new();
    /// while let Some((change, message)) = changes.next() {
    ///     items.extend(Item::of(&change, message));
    /// }
    /// assert_eq!(items, [Item::Text("Hi".to_owned())]);
    /// ```
    pub fn of(change: &Change<'_>, message: &Message) -> Vec<Self> {
        match change {
            Change::Grew { block, text, .. } => {
                let Some(block) = message.block(*block).filter(|block| block.choice() == 0) else {
                    return Vec::new();
                };
                match block.body() {
                    Body::Text { .. } => vec![Self::Text(text.to_string())],
                    Body::Thinking { .. } => vec![Self::Thinking(text.to_string())],
                    Body::ToolCall(_) | Body::ToolResult { .. } | Body::Other { .. } => Vec::new(),
                }
            }
            Change::Ended { .. } | Change::Cut {} | Change::Failed(_) => {
                let calls = message.runnable_calls().cloned().map(Self::Call);
                calls.chain([Self::End(Box::new(message.clone()))]).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The items of a reply; made by [`Reply::items`].
#[derive(Debug)]
pub struct Items<I> {
    reply: Reply,
    /// `None` after the end of the stream.
    pieces: Option<I>,
    ready: VecDeque<Item>,
}

impl Reply {
    /// Reads the pieces of the stream, and returns the content of the reply: text and thinking while they
    /// arrive, the calls that may be run, and the end.
    ///
    /// If a message has several choices, only the text and thinking of the first one are returned.
    ///
    /// ```
    /// use reknit::{Item, Reply, message::Status};
    ///
    /// let pieces = [&b"data: {\"choices\":[{\"delta\":{\"cont"[..], b"ent\":\"Hi\"}}]}\n", b"\n"];
    /// for item in Reply::detect().items(pieces) {
    ///     match item {
    ///         Item::Text(text) => print!("{text}"),
    ///         Item::Call(call) => println!("run {} with {:?}", call.name, call.input()),
    ///         Item::End(message) => assert_eq!(message.status(), Status::Cut, "nobody ended it"),
    ///         _ => {}
    ///     }
    /// }
    /// ```
    pub fn items<I: IntoIterator<Item: AsRef<[u8]>>>(self, pieces: I) -> Items<I::IntoIter> {
        Items { reply: self, pieces: Some(pieces.into_iter()), ready: VecDeque::new() }
    }
}

impl<I> Items<I> {
    /// The reply, as far as it was read.
    pub fn reply(&self) -> &Reply {
        &self.reply
    }
}

impl<I: Iterator<Item: AsRef<[u8]>>> Iterator for Items<I> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some(item);
            }
            if let Some((change, message)) = self.reply.next_change() {
                self.ready.extend(Item::of(&change, message));
                continue;
            }
            match self.pieces.as_mut()?.next() {
                Some(piece) => self.reply.take(piece.as_ref()),
                None => {
                    self.reply.take_end();
                    self.pieces = None;
                }
            }
        }
    }
}
