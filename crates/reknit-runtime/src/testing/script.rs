//! [`Script`]: a provider that says what a test wrote.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use reknit::Dialect;
use reknit::json::{Object, Value};
use tokio::sync::mpsc;

use crate::provider::{Error, Pieces, Provider, Request};
use crate::tool::Work;

/// A provider that gives the replies of a script, one for each request, and keeps the requests.
///
/// ```
/// use reknit_runtime::testing::{Reply, Script};
///
/// let script = Script::new([
///     Reply::new().text("I look.").call("c1", "read_file", r#"{"path": "a.rs"}"#),
///     Reply::new().text("It is empty."),
/// ]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Script {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    replies: VecDeque<Reply>,
    requests: Vec<Request>,
}

/// A reply of a [`Script`].
#[derive(Debug, Default)]
pub struct Reply {
    /// The events of its blocks.
    blocks: Vec<String>,
    /// How many blocks these are.
    count: usize,
    end: End,
    gate: Option<mpsc::Receiver<()>>,
}

#[derive(Debug, Default)]
enum End {
    #[default]
    Whole,
    /// It ends with this stop reason.
    Stop(&'static str),
    /// The connection breaks.
    Break,
    /// The request is refused.
    Refuse(Error),
}

impl Script {
    /// These replies, in order. A request that comes after them is refused.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let state = State { replies: replies.into_iter().collect(), requests: Vec::new() };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.state().requests.clone()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reply {
    /// A reply that says nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds text.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.text_in_pieces([text])
    }

    /// Adds text that arrives in these pieces.
    #[must_use]
    pub fn text_in_pieces<'a>(mut self, text: impl IntoIterator<Item = &'a str>) -> Self {
        let open = r#"{"type":"text","text":""}"#;
        self.block(open, text.into_iter().map(|piece| delta("text_delta", "text", piece)));
        self
    }

    /// Adds a call with these arguments, as the model writes them.
    #[must_use]
    pub fn call(self, id: &str, tool: &str, arguments: &str) -> Self {
        self.call_in_pieces(id, tool, [arguments])
    }

    /// Adds a call whose arguments arrive in these pieces.
    #[must_use]
    pub fn call_in_pieces<'a>(
        mut self,
        id: &str,
        tool: &str,
        arguments: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let mut open = Object::new();
        open.insert("type", "tool_use");
        open.insert("id", id);
        open.insert("name", tool);
        open.insert("input", Object::new());
        let deltas = arguments.into_iter().map(|piece| delta("input_json_delta", "partial_json", piece));
        self.block(&Value::from(open).to_string(), deltas);
        self
    }

    /// Adds a call whose arguments never end, and breaks the connection there.
    #[must_use]
    pub fn cut_call(mut self, id: &str, tool: &str, arguments: &str) -> Self {
        self = self.call(id, tool, arguments);
        // Without the event that closes the block.
        self.blocks.pop();
        self.end = End::Break;
        self
    }

    /// Ends with this stop reason.
    #[must_use]
    pub fn stop(mut self, reason: &'static str) -> Self {
        self.end = End::Stop(reason);
        self
    }

    /// Breaks the connection after what was added so far.
    #[must_use]
    pub fn breaks(mut self) -> Self {
        self.end = End::Break;
        self
    }

    /// Refuses the request instead of answering it.
    #[must_use]
    pub fn refused(mut self, error: Error) -> Self {
        self.end = End::Refuse(error);
        self
    }

    /// Waits before each event until the sender allows it, or is gone.
    #[must_use]
    pub fn step_by_step(mut self) -> (Self, mpsc::Sender<()>) {
        let (allow, gate) = mpsc::channel(1);
        self.gate = Some(gate);
        (self, allow)
    }

    fn block(&mut self, open: &str, deltas: impl IntoIterator<Item = String>) {
        let index = self.count;
        self.count += 1;
        let event = |kind, members: &str| event(kind, &format!(r#""index":{index}{members}"#));
        self.blocks.push(event("content_block_start", &format!(r#","content_block":{open}"#)));
        let deltas =
            deltas.into_iter().map(|delta| event("content_block_delta", &format!(r#","delta":{delta}"#)));
        self.blocks.extend(deltas);
        self.blocks.push(event("content_block_stop", ""));
    }

    fn events(self) -> VecDeque<Result<String, Error>> {
        let has_calls = self.blocks.iter().any(|block| block.contains("tool_use"));
        let start = r#""message":{"id":"m","type":"message","role":"assistant","model":"script","content":[],"usage":{"input_tokens":1,"output_tokens":1}}"#;
        let mut events: VecDeque<_> =
            [event("message_start", start)].into_iter().chain(self.blocks).map(Ok).collect();
        let stop = match self.end {
            End::Whole if has_calls => "tool_use",
            End::Whole => "end_turn",
            End::Stop(reason) => reason,
            End::Break => {
                events.push_back(Err(Error::connection("the connection was closed")));
                return events;
            }
            End::Refuse(error) => return [Err(error)].into(),
        };
        let delta = format!(
            r#""delta":{{"stop_reason":"{stop}","stop_sequence":null}},"usage":{{"output_tokens":7}}"#
        );
        events.extend([
            Ok(event("message_delta", &delta)),
            Ok("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n".into()),
        ]);
        events
    }
}

impl Provider for Script {
    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn model(&self) -> &str {
        "script"
    }

    fn send<'a>(&'a self, request: &'a Request) -> Work<'a, Result<Box<dyn Pieces>, Error>> {
        let mut state = self.state();
        state.requests.push(request.clone());
        let reply = state.replies.pop_front();
        Box::pin(async {
            let Some(mut reply) = reply else { return Err(Error::refused("the script has no more replies")) };
            if let End::Refuse(error) = reply.end {
                return Err(error);
            }
            let gate = reply.gate.take();
            Ok(Box::new(Playing { events: reply.events(), gate }) as Box<dyn Pieces>)
        })
    }
}

struct Playing {
    events: VecDeque<Result<String, Error>>,
    gate: Option<mpsc::Receiver<()>>,
}

impl Pieces for Playing {
    fn next(&mut self) -> Work<'_, Result<Option<Vec<u8>>, Error>> {
        Box::pin(async {
            if let Some(gate) = &mut self.gate {
                gate.recv().await;
            }
            self.events.pop_front().transpose().map(|event| event.map(String::into_bytes))
        })
    }
}

fn event(kind: &str, members: &str) -> String {
    format!("event: {kind}\ndata: {{\"type\":\"{kind}\",{members}}}\n\n")
}

fn delta(kind: &str, key: &str, text: &str) -> String {
    let mut delta = Object::new();
    delta.insert("type", kind);
    delta.insert(key, text);
    Value::from(delta).to_string()
}
