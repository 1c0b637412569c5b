//! The recorded streams of the corpus, sent by the strict provider with everything that can go wrong.
//!
//! The session without a fault says how each stream has to end. With a fault that is answered by sending the request
//! again, the log has to be the same; with one that breaks the reply off, it has what the provider had sent by then.

use std::collections::BTreeSet;
use std::path::Path;

use reknit::Reply;
use reknit::agent::ReplyEvents;
use reknit::message::Status;
use tokio::task::JoinSet;

use super::recording::stable;
use super::*;

/// How many sessions run at the same time.
const AT_ONCE: usize = 16;

/// A stream of the corpus.
#[derive(Clone)]
struct Stream {
    name: String,
    dialect: Dialect,
    bytes: Vec<u8>,
}

/// All streams of a dialect, by name.
fn streams(dialect: Dialect) -> Vec<Stream> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/wire").join(dialect.name());
    let mut streams: Vec<Stream> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|case| {
            let case = case.unwrap();
            let input = std::fs::read_dir(case.path()).unwrap().map(|file| file.unwrap());
            let input =
                input.into_iter().find(|file| file.file_name().to_string_lossy().starts_with("input"));
            let name = format!("{dialect}/{}", case.file_name().to_string_lossy());
            Stream { name, dialect, bytes: std::fs::read(input.unwrap().path()).unwrap() }
        })
        .collect();
    streams.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(streams.len() > 20, "{}", folder.display());
    streams
}

impl Stream {
    /// The tools that it calls. A name that no request may have is unknown to the session too.
    fn tools(&self) -> BTreeSet<String> {
        let mut reply = Reply::new(self.dialect);
        let mut changes = reply.push(&self.bytes);
        while changes.next().is_some() {}
        drop(changes);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let calls = reply.messages().flat_map(reknit::Message::tool_calls).map(|call| call.name.to_string());
        calls.filter(|name| !name.is_empty() && name.len() < 64 && name.chars().all(is_plain)).collect()
    }

    /// Where it breaks off: somewhere in the middle, or at the end of a frame. `None` if it has none before.
    fn middle(&self, fault: Fault) -> Option<usize> {
        let middle = self.bytes.len() / 2;
        if fault != Fault::Error {
            return Some(middle);
        }
        let ends: &[&[u8]] = match self.dialect {
            Dialect::Ollama => &[b"}\n"],
            _ => &[b"\n\n", b"\r\n\r\n", b"\r\r"],
        };
        let is_end = |at: &usize| ends.iter().any(|end| self.bytes[..*at].ends_with(end));
        (1..=middle).rev().find(is_end)
    }
}

/// What happened in a session with a stream.
struct Played {
    end: EndReason,
    /// The log up to the end of the turn.
    entries: Vec<Entry>,
    /// What tools did, also in the turn after it.
    did: Vec<String>,
    requests: usize,
}

async fn play(stream: Stream, fault: Option<Fault>) -> Played {
    let Stream { name, dialect, bytes } = &stream;
    let (dialect, good) = (*dialect, Answer::recorded(*dialect, bytes));
    let done = Answer::reply(dialect, &Say::text("Done."));
    let answers = match fault {
        None => vec![good],
        Some(fault) => {
            let kept = stream.middle(fault).unwrap();
            vec![good.clone().failing(dialect, fault, kept), good]
        }
    };
    let breaks = fault.is_some_and(breaks);
    let answers = answers.into_iter().take(if breaks { 1 } else { 2 });
    let server = Server::serve(dialect, answers, done, 0);
    let mut world = World::with_tools(stream.tools());
    let mut timeouts = Timeouts::default();
    match fault {
        Some(Fault::Slow) => timeouts.first_byte = Duration::from_secs(2),
        Some(Fault::Stall) => timeouts.silence = Duration::from_millis(300),
        _ => {}
    }
    let builder = world.builder_with(model(&server, dialect, "")).timeouts(timeouts);
    let (session, mut watch) = world.open_with(builder).await;
    session.say("Go.").await;
    let end = say_yes(&session, &mut watch).await;
    let (count, requests) = (watch.entries.len(), server.requests().len());
    // Whatever came, the next request is one that the provider accepts.
    session.say("Again.").await;
    let next = say_yes(&session, &mut watch).await;
    assert_eq!(server.refusals(), [""; 0], "{name} {fault:?}");
    assert_eq!(next, EndReason::Done, "{name} {fault:?}");
    watch.entries.truncate(count);
    let mut did = Vec::new();
    while let Ok(what) = world.did.try_recv() {
        did.push(what);
    }
    Played { end, entries: watch.entries, did, requests }
}

/// Whether the turn ends with this fault, because something of the reply may have come.
fn breaks(fault: Fault) -> bool {
    matches!(fault, Fault::Cut | Fault::Stall | Fault::Error | Fault::ContentType | Fault::Page)
}

/// What a log shows of replies: text and thinking.
fn shown<'a>(events: impl IntoIterator<Item = &'a AgentEvent>) -> String {
    let texts = events.into_iter().filter_map(|event| match event {
        AgentEvent::TextDelta { delta } | AgentEvent::ReasoningDelta { delta, .. } => Some(&**delta),
        _ => None,
    });
    texts.collect()
}

fn shown_in(entries: &[Entry]) -> String {
    shown(entries.iter().filter_map(|entry| match &entry.body {
        Body::Agent(event) => Some(event),
        _ => None,
    }))
}

/// A log without what is said about requests that were sent again.
fn without_notices(entries: &[Entry]) -> Vec<Entry> {
    let is_notice = |entry: &&Entry| matches!(entry.body, Body::Agent(AgentEvent::Notice { .. }));
    entries.iter().filter(|entry| !is_notice(entry)).cloned().collect()
}

/// What was read of a stream by the time it broke off.
struct Before {
    shown: String,
    state: State,
    /// How many calls it had begun.
    calls: usize,
    /// The calls that were whole, as tools report them.
    whole: Vec<String>,
}

/// How far a message had come.
#[derive(PartialEq)]
enum State {
    /// The model had said nothing.
    Silent,
    Streaming,
    /// The provider had said why it stopped.
    Stopped,
    /// It was over.
    Over,
}

fn before(stream: &Stream, fault: Fault) -> Before {
    let kept = stream.middle(fault).unwrap();
    let mut reader = ReplyEvents::new(Reply::new(stream.dialect));
    let mut events: Vec<AgentEvent> = reader.push(&stream.bytes[..kept]).collect();
    let message = reader.reply().message();
    let (is_over, blocks) = (message.is_over(), message.blocks().len());
    events.extend(reader.finish());
    let state = match () {
        () if is_over => State::Over,
        // The end of a stream also ends its last frame.
        () if reader.reply().message().status() == Status::Stopped => State::Stopped,
        () if blocks == 0 => State::Silent,
        () => State::Streaming,
    };
    let (mut calls, mut whole) = (BTreeSet::new(), Vec::new());
    for event in &events {
        match event {
            AgentEvent::ToolInputStart { tool_call_id, .. } => drop(calls.insert(&**tool_call_id)),
            AgentEvent::ToolCall { tool_call } if tool_call.provider_executed => {
                calls.remove(&*tool_call.id);
            }
            AgentEvent::ToolCall { tool_call } => {
                calls.insert(&tool_call.id);
                whole.push(format!("{} {}", tool_call.name, tool_call.id));
            }
            _ => {}
        }
    }
    Before { shown: shown(&events), state, calls: calls.len(), whole }
}

/// Removes what tools did from what they may have done.
fn ran(what: &str, may: &[String], did: &[String]) -> Vec<String> {
    let mut left = may.to_vec();
    for run in did {
        let at = left.iter().position(|call| call == run);
        left.remove(at.unwrap_or_else(|| panic!("{what}: `{run}` ran, of {may:?}")));
    }
    left
}

fn check(stream: &Stream, fault: Fault, whole: &Played, played: &Played) {
    let what = format!("{} {fault:?}: {:?}", stream.name, errors(&played.entries));
    let left = ran(&what, &whole.did, &played.did);
    match fault {
        Fault::ContentType | Fault::Page => {
            assert_eq!((played.end, played.requests), (EndReason::Failed, 1), "{what}");
            assert_eq!((&*shown_in(&played.entries), played.did.len()), ("", 0), "{what}");
            assert_eq!(errors(&played.entries)[0].0, "not-a-reply", "{what}");
        }
        fault if breaks(fault) => {
            let before = before(stream, fault);
            // Only calls that were whole may run.
            ran(&what, &before.whole, &played.did);
            let end = match (before.state, fault) {
                (State::Over, _) | (State::Stopped, Fault::Cut | Fault::Stall) => {
                    return assert_eq!(played.end, whole.end, "{what}");
                }
                // Nothing but an error came, so the request is sent again.
                (State::Silent, Fault::Error) => {
                    return assert_eq!((played.end, played.requests), (EndReason::Done, 2), "{what}");
                }
                // A call that was begun gets a result, and the model goes on with that.
                _ if before.calls > 0 => (EndReason::Done, 2, before.shown + "Done."),
                _ => (EndReason::Failed, 1, before.shown),
            };
            assert_eq!((played.end, played.requests, shown_in(&played.entries)), end, "{what}");
            let kind = match fault {
                Fault::Cut => ErrorKind::ConnectionLost,
                Fault::Stall => ErrorKind::TimedOut,
                _ => ErrorKind::Overloaded,
            };
            let kinds: Vec<_> = errors(&played.entries).into_iter().map(|(kind, ..)| kind).collect();
            assert_eq!(kinds, [kind.name()], "{what}");
        }
        _ => {
            assert_eq!(played.end, whole.end, "{what}");
            assert_eq!(played.requests, whole.requests + 1, "{what}");
            assert_eq!(left, [""; 0], "{what}");
            let [played, whole] = [played, whole].map(|of| stable(&without_notices(&of.entries)));
            assert_eq!(played, whole, "{what}");
        }
    }
}

/// The faults of which each stream has one in turn.
const IN_TURN: [Fault; 9] = [
    Fault::RateLimit,
    Fault::RateLimitWithTime,
    Fault::Overloaded,
    Fault::Failed,
    Fault::ErrorFirst,
    Fault::Slow,
    Fault::Stall,
    Fault::ContentType,
    Fault::Page,
];

/// Plays all streams of a dialect: each whole, cut, with an error in the middle, and with one of the other faults.
async fn play_all(dialect: Dialect) {
    let (mut tasks, mut failed) = (JoinSet::new(), 0);
    for (at, stream) in streams(dialect).into_iter().enumerate() {
        if tasks.len() == AT_ONCE {
            failed += usize::from(tasks.join_next().await.unwrap().is_err());
        }
        tasks.spawn(async move {
            let whole = play(stream.clone(), None).await;
            for fault in [Fault::Cut, Fault::Error, IN_TURN[at % IN_TURN.len()]] {
                if stream.middle(fault).is_some() {
                    check(&stream, fault, &whole, &play(stream.clone(), Some(fault)).await);
                }
            }
        });
    }
    while let Some(played) = tasks.join_next().await {
        failed += usize::from(played.is_err());
    }
    assert_eq!(failed, 0, "the output above says which streams, and why");
}

#[tokio::test]
async fn anthropic() {
    play_all(Dialect::Anthropic).await;
}

#[tokio::test]
async fn openai_chat() {
    play_all(Dialect::OpenAiChat).await;
}

#[tokio::test]
async fn openai_responses() {
    play_all(Dialect::OpenAiResponses).await;
}

#[tokio::test]
async fn gemini() {
    play_all(Dialect::Gemini).await;
}

#[tokio::test]
async fn ollama() {
    play_all(Dialect::Ollama).await;
}
