//! [`Session`]: a conversation with a model that acts.
//!
//! One task owns a session and is the only writer of its log. Bytes of the provider, output of tools, answers, what
//! the user says, cancels and timers go in; entries come out. After whatever goes in, the task asks its
//! [`Turn`](crate::turn::Turn) what to do until there is nothing left to do.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reknit::agent::{Body, Content, Entry};
use reknit::json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::approve::{Approver, Careful};
use crate::clock::{Clock, SystemClock};
use crate::provider::Provider;
use crate::question::Answer;
use crate::store::{Begin, Cursor, Error as StoreError, Memory, Store, Tail};
use crate::tool::{Tools, Workspace};
use crate::turn::Rules;

mod available;
mod call;
mod driver;
mod log;
mod previews;
mod reading;
mod retry;
mod spans;
mod spent;

pub use spent::{Spent, spent};

use available::Available;
use driver::{Command, Driver};

/// A conversation with a model that acts. Handles are cheap to clone; the session ends with the last of them.
#[derive(Clone)]
pub struct Session {
    id: String,
    store: Arc<dyn Store>,
    commands: mpsc::Sender<Command>,
    task: Arc<Task>,
    /// Why the task has ended by itself.
    failure: Arc<OnceLock<StoreError>>,
}

/// The session's task, which is stopped with the last handle.
struct Task(JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Who answers the questions of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Somebody who calls [`Session::answer`].
    Somebody,
    /// Nobody: what would have to be asked is denied.
    Nobody,
}

/// How long a session waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// Until the first byte of a reply, from when its request is sent.
    pub first_byte: Duration,
    /// Between two pieces of a reply.
    pub silence: Duration,
    /// For a tool.
    pub tool: Duration,
    /// For a tool that was cancelled, before it is abandoned.
    pub grace: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            first_byte: Duration::from_secs(120),
            silence: Duration::from_secs(90),
            tool: Duration::from_secs(600),
            grace: Duration::from_secs(3),
        }
    }
}

/// Everything that a session needs.
pub struct Builder {
    id: String,
    provider: Arc<dyn Provider>,
    workspace: Arc<Workspace>,
    store: Arc<dyn Store>,
    tools: Tools,
    mode: Option<Mode>,
    approver: Arc<dyn Approver>,
    audience: Audience,
    clock: Arc<dyn Clock>,
    rules: Rules,
    timeouts: Timeouts,
    system: String,
    max_requests: u32,
}

/// A way of working in which only some tools may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mode {
    name: String,
    tools: Vec<String>,
}

/// How many requests one message of the user may lead to.
const MAX_REQUESTS: u32 = 25;

impl Session {
    /// A session with this id, with a provider, on these files. A session of this id that the store has is resumed.
    pub fn builder(id: impl Into<String>, provider: impl Provider, workspace: Arc<Workspace>) -> Builder {
        Builder {
            id: id.into(),
            provider: Arc::new(provider),
            workspace,
            store: Arc::new(Memory::new()),
            tools: Tools::new(),
            mode: None,
            approver: Arc::new(Careful::new()),
            audience: Audience::Somebody,
            clock: Arc::new(SystemClock),
            rules: Rules::default(),
            timeouts: Timeouts::default(),
            system: String::new(),
            max_requests: MAX_REQUESTS,
        }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Says something to the model. While a turn is running it is kept, and said when the turn is over.
    pub async fn say(&self, text: impl Into<String>) {
        self.send(Command::Say(vec![Content::Text { text: text.into() }])).await;
    }

    /// Says something with images or other content.
    pub async fn say_content(&self, content: Vec<Content>) {
        self.send(Command::Say(content)).await;
    }

    /// Answers a question, which an `approval-request` entry has asked. A second answer changes nothing.
    pub async fn answer(&self, approval_id: impl Into<String>, answer: Answer) {
        self.send(Command::Answer { approval_id: approval_id.into(), answer }).await;
    }

    /// Stops the turn: the reply is dropped, tools are stopped, and each open call gets its result. The session
    /// goes on.
    pub async fn cancel(&self) {
        self.send(Command::Cancel).await;
    }

    /// Makes the task ask its turn what to do. It does so after everything that happens, so this is never needed.
    pub fn present(&self) {
        // A full queue means that it is about to.
        let _ = self.commands.try_send(Command::Present);
    }

    /// The entries of its log after a position, for as long as somebody asks for more.
    pub async fn subscribe(&self, after: Cursor) -> Result<(Tail, Begin), StoreError> {
        Tail::new(self.store.clone(), &self.id, after).await
    }

    /// Whether its task has ended: its store failed, or the session was opened elsewhere.
    pub fn is_over(&self) -> bool {
        self.task.0.is_finished()
    }

    /// Waits until its task ends by itself, and says why: its store failed, or the session was opened elsewhere.
    pub async fn failed(&self) -> StoreError {
        self.commands.closed().await;
        let gone = || StoreError::Failed { doing: "run the session", why: "its task has ended".to_owned() };
        self.failure.get().cloned().unwrap_or_else(gone)
    }

    async fn send(&self, command: Command) {
        // The task ends by itself only if its store fails, and the log says so.
        let _ = self.commands.send(command).await;
    }
}

impl Builder {
    /// Where the log is kept. Without this it ends with the program.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = store;
        self
    }

    /// What the model may call. Without this, nothing.
    #[must_use]
    pub fn tools(mut self, tools: Tools) -> Self {
        self.tools = tools;
        self
    }

    /// A mode in which only these tools may be used.
    #[must_use]
    pub fn mode(
        mut self,
        name: impl Into<String>,
        tools: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.mode = Some(Mode { name: name.into(), tools: tools.into_iter().map(Into::into).collect() });
        self
    }

    /// Who decides whether a call may run. Without this, [`Careful`].
    #[must_use]
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.approver = Arc::new(approver);
        self
    }

    /// Whether there is somebody to ask.
    #[must_use]
    pub fn audience(mut self, audience: Audience) -> Self {
        self.audience = audience;
        self
    }

    /// What time it is.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// The rules of its turns.
    #[must_use]
    pub fn rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// How long it waits.
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// The system prompt: what the model should know about its work.
    #[must_use]
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.system = system.into();
        self
    }

    /// How many requests one message of the user may lead to.
    #[must_use]
    pub fn max_requests(mut self, requests: u32) -> Self {
        self.max_requests = requests;
        self
    }

    /// Opens the session, in a task of the current tokio runtime.
    ///
    /// If its log ends in the middle of a turn, the turn goes on: calls that were running are answered as
    /// interrupted, questions that were open are asked again, and no finished call is run a second time.
    pub async fn open(self) -> Result<Session, StoreError> {
        let (commands, inbox) = mpsc::channel(INBOX);
        let (id, store) = (self.id.clone(), self.store.clone());
        let lease = store.lease(&id).await?;
        let mut entries: Vec<Entry> = Vec::new();
        while (entries.len() as u64) < lease.last {
            let read = store.read(&id, entries.len() as u64, READ).await?;
            if read.is_empty() {
                let (session, last, expected) = (id, entries.len() as u64, lease.last);
                return Err(StoreError::Conflict { session, last, expected });
            }
            entries.extend(read.into_iter().map(|stored| stored.entry));
        }
        let driver = Driver::new(self, lease.epoch, entries, inbox);
        let failure = Arc::new(OnceLock::new());
        let task = Arc::new(Task(tokio::spawn(driver.run(failure.clone()))));
        Ok(Session { id, store, commands, task, failure })
    }
}

/// The directory that the user spoke about in an entry of a log: a session that is resumed works on it again.
pub fn root_of(entry: &Entry) -> Option<PathBuf> {
    let Body::UserMessage { .. } = &entry.body else { return None };
    let root = entry.extra.get("body")?.get(ROOT).and_then(Value::as_str);
    root.map(Cow::into_owned).map(PathBuf::from)
}

/// The member of a user message that [`root_of`] reads.
const ROOT: &str = "root";

/// How many commands wait at most.
const INBOX: usize = 64;

/// How many entries are read at once.
const READ: usize = 4096;
