//! [`SessionIndex`]: the list of a user's sessions, which the server sends page by page.

use std::collections::BTreeSet;

use reknit::json::{self, Object, Value};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The sessions that the server has listed, or one page of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionIndex {
    /// The sessions so far.
    #[serde(rename = "chat_sessions")]
    pub entries: Vec<IndexEntry>,
    /// How many the server has.
    #[serde(rename = "total_sessions")]
    pub total: u64,
    /// Where the last page started.
    pub offset: u64,
}

/// What the server says about a session in its list.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexEntry(pub Object);

impl SessionIndex {
    /// Whether the server has more than it has sent.
    pub fn has_more(&self) -> bool {
        (self.entries.len() as u64) < self.total
    }

    /// Appends a page, without the sessions that are already listed.
    pub(super) fn append(&mut self, page: Self) {
        let known: BTreeSet<_> = self.entries.iter().map(|entry| entry.session_id().to_string()).collect();
        self.entries.extend(
            page.entries.into_iter().filter(|entry| !known.contains(&entry.session_id().to_string())),
        );
        (self.total, self.offset) = (page.total, page.offset);
    }
}

impl IndexEntry {
    fn session_id(&self) -> &Value {
        self.0.get("session_id").unwrap_or(&Value::Null)
    }
}

impl Serialize for IndexEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for IndexEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        json::exact(deserializer).map(Self)
    }
}
