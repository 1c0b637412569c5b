//! [`Recorded`]: a provider that answers from recordings, so that a session needs no key and no network.
//!
//! A scenario is a set of named replies. Which one answers depends on the request alone: the conversation in it is
//! followed from the first reply on, and after each reply the first branch whose words occur in what came back
//! decides. So a denial, a failed edit or a changed file leads to another reply than success, and a session that is
//! resumed continues where it was. As with a real provider, a request in which a call has no result, or a result no
//! call, is refused.
//!
//! ```json
//! {
//!   "dialect": "anthropic",
//!   "model": "recorded",
//!   "first": "look",
//!   "replies": {
//!     "look": {"recording": "look.rec", "then": [{"go": "edit"}]},
//!     "edit": {"recording": "edit.rec", "then": [{"if": "denied", "go": "sorry"}, {"go": "done"}]}
//!   }
//! }
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use reknit::agent::{AgentEvent, Body};
use reknit::history;
use reknit::json::Value;
use reknit::recording::{Read, Reader};
use reknit::{Dialect, Limits};
use serde::Deserialize;

use super::{Error, Pieces, Provider, Request};
use crate::tool::Work;

/// A provider that answers from recordings.
#[derive(Debug)]
pub struct Recorded {
    dialect: Dialect,
    model: String,
    first: String,
    replies: BTreeMap<String, Reply>,
    pace: Pace,
}

#[derive(Debug)]
struct Reply {
    reads: Vec<Read>,
    then: Vec<Branch>,
}

/// How fast a recording is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As it was recorded.
    Recorded,
    /// At once.
    AtOnce,
}

/// Why a scenario or a recording cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the recording cannot be used: {0}")]
pub struct Unusable(pub(super) String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    dialect: String,
    model: String,
    first: String,
    replies: BTreeMap<String, Named>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    recording: String,
    #[serde(default)]
    then: Vec<Branch>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Branch {
    #[serde(default, rename = "if")]
    words: Option<String>,
    go: String,
}

impl Recorded {
    /// A scenario, and its recordings by name.
    pub fn new<'a>(
        scenario: &str,
        recording: impl Fn(&str) -> Option<&'a str>,
        pace: Pace,
    ) -> Result<Self, Unusable> {
        let scenario: Scenario =
            serde_json::from_str(scenario).map_err(|error| Unusable(error.to_string()))?;
        let dialect = scenario.dialect.parse();
        let dialect = dialect.map_err(|error: reknit::wire::UnknownName| Unusable(error.to_string()))?;
        let mut replies = BTreeMap::new();
        for (name, Named { recording: file, then }) in scenario.replies {
            let text = recording(&file).ok_or_else(|| Unusable(format!("there is no recording `{file}`")))?;
            let reads = reads(text).map_err(|error| Unusable(format!("`{file}`: {error}")))?;
            replies.insert(name, Reply { reads, then });
        }
        let targets = replies.values().flat_map(|reply| reply.then.iter().map(|branch| &branch.go));
        if let Some(missing) = targets.chain([&scenario.first]).find(|name| !replies.contains_key(*name)) {
            return Err(Unusable(format!("there is no reply `{missing}`")));
        }
        Ok(Self { dialect, model: scenario.model, first: scenario.first, replies, pace })
    }

    /// The reply that this conversation leads to.
    fn choose(&self, messages: &[Value]) -> Result<&Reply, Error> {
        let mut reply = &self.replies[&self.first];
        let mut messages = messages.iter().skip_while(|message| !is_reply(message)).peekable();
        while messages.next_if(|message| is_reply(message)).is_some() {
            let mut said = String::new();
            while let Some(message) = messages.next_if(|message| !is_reply(message)) {
                said += &message.to_string();
            }
            let branch = reply.then.iter().find(|branch| match &branch.words {
                Some(words) => said.contains(&**words),
                None => true,
            });
            let branch = branch.ok_or_else(|| {
                Error::refused("the recorded conversation ends here: there is nothing to answer with")
            })?;
            reply = &self.replies[&branch.go];
        }
        Ok(reply)
    }
}

impl Provider for Recorded {
    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn send<'a>(&'a self, request: &'a Request) -> Work<'a, Result<Box<dyn Pieces>, Error>> {
        let chosen =
            check_pairs(self.dialect, &request.messages).and_then(|()| self.choose(&request.messages));
        let reply =
            chosen.map(|reply| Box::new(Playing::new(reply.reads.clone(), self.pace)) as Box<dyn Pieces>);
        Box::pin(async { reply })
    }
}

/// Reads that are played.
pub(super) struct Playing {
    reads: std::vec::IntoIter<Read>,
    at_ms: u64,
    pace: Pace,
}

impl Playing {
    pub(super) fn new(reads: Vec<Read>, pace: Pace) -> Self {
        Self { reads: reads.into_iter(), at_ms: 0, pace }
    }
}

impl Pieces for Playing {
    fn next(&mut self) -> Work<'_, Result<Option<Vec<u8>>, Error>> {
        Box::pin(async {
            let Some(read) = self.reads.next() else { return Ok(None) };
            if self.pace == Pace::Recorded {
                let wait = read.at_ms.saturating_sub(self.at_ms);
                tokio::time::sleep(Duration::from_millis(wait)).await;
            }
            self.at_ms = read.at_ms;
            match read.error().map(Error::from_json) {
                None => Ok(Some(read.bytes)),
                Some(error) => Err(error.unwrap_or_else(|| Error::connection("the connection was closed"))),
            }
        })
    }
}

fn reads(recording: &str) -> Result<Vec<Read>, reknit::recording::Error> {
    let mut reader = Reader::new(&Limits::default());
    reader.push(recording.as_bytes());
    reader.finish();
    let mut reads = Vec::new();
    while let Some(read) = reader.next_read()? {
        reads.push(read);
    }
    Ok(reads)
}

/// Checks that every call has exactly one result, before anything else is said.
fn check_pairs(dialect: Dialect, messages: &[Value]) -> Result<(), Error> {
    let bodies = history::bodies(dialect, "", messages).map_err(|error| Error::refused(error.to_string()))?;
    let mut open = BTreeSet::new();
    for body in bodies {
        match body {
            Body::Agent(AgentEvent::ToolCall { tool_call }) if !tool_call.provider_executed => {
                open.insert(tool_call.id);
            }
            Body::Agent(AgentEvent::ToolResult { tool_result }) => {
                let id = tool_result.tool_call_id;
                if !open.remove(&id) {
                    return Err(Error::refused(format!("the result for `{id}` has no call before it")));
                }
            }
            Body::UserMessage { .. } | Body::Request { .. } => all_answered(&open)?,
            _ => {}
        }
    }
    all_answered(&open)
}

fn all_answered(open: &BTreeSet<String>) -> Result<(), Error> {
    match open.first() {
        Some(id) => Err(Error::refused(format!("the call `{id}` has no result"))),
        None => Ok(()),
    }
}

fn is_reply(message: &Value) -> bool {
    let role = message.get("role").and_then(Value::as_str);
    matches!(role.as_deref(), Some("assistant" | "model"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(messages: &[&str]) -> Result<(), String> {
        let messages: Vec<Value> =
            messages.iter().map(|message| message.parse().expect("it is JSON")).collect();
        check_pairs(Dialect::Anthropic, &messages).map_err(|error| error.message)
    }

    #[test]
    fn every_call_needs_one_result() {
        let user = r#"{"role": "user", "content": "Hello."}"#;
        let call = r#"{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "t", "input": {}}]}"#;
        let result =
            r#"{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]}"#;
        assert_eq!(checked(&[user, call, result]), Ok(()));
        assert_eq!(checked(&[user, call]), Err("the call `a` has no result".to_owned()));
        assert_eq!(checked(&[user, call, user]), Err("the call `a` has no result".to_owned()));
        assert_eq!(checked(&[user, result]), Err("the result for `a` has no call before it".to_owned()));
        let twice = Err("the result for `a` has no call before it".to_owned());
        assert_eq!(checked(&[user, call, result, result]), twice);
    }
}
