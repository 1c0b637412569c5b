//! [`Driver`]: the task that owns a session.

use std::collections::BTreeMap;
use std::future;
use std::sync::{Arc, OnceLock};

use reknit::agent::{AgentEvent, Body, Content, Decision, EndReason, Entry, ReplyEvents, ToolResult};
use reknit::event::{StopReason, Usage};
use reknit::json::{Object, Value};
use reknit::message::Status;
use reknit::{Dialect, Reply, history};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::{Instrument as _, Span};

use super::call::Job;
use super::log::Log;
use super::previews::Previews;
use super::reading::{Piece, Reading};
use super::spans;
use super::spent::{Spending, cost_members};
use super::{Audience, Available, Builder, ROOT, Timeouts};
use crate::approve::Approver;
use crate::provider::{Error as ProviderError, ErrorKind, Provider, Request};
use crate::question::{Answer, Class, Question};
use crate::store::Error;
use crate::tool::{Context, Progress, Report, Workspace};
use crate::tools::group;
use crate::turn::{Action, Call, CallKey, End, Ending, Next, Outcome, Turn};

/// What a session is asked to do from outside.
#[derive(Debug)]
pub(super) enum Command {
    Say(Vec<Content>),
    Answer { approval_id: String, answer: Answer },
    Cancel,
    Present,
}

/// How many actions are performed before other tasks have their turn.
const ACTIONS: usize = 64;

/// At how many percent of a model's context window the user is warned.
const FULL: u64 = 85;

/// How many reports of tools wait at most.
const REPORTS: usize = 64;

/// Both ends of a channel. What is sent is bounded by what runs.
type Channel<T> = (mpsc::UnboundedSender<T>, mpsc::UnboundedReceiver<T>);

/// The task that owns a session.
pub(super) struct Driver {
    id: String,
    provider: Arc<dyn Provider>,
    workspace: Arc<Workspace>,
    approver: Arc<dyn Approver>,
    audience: Audience,
    available: Available,
    timeouts: Timeouts,
    system: String,
    max_requests: u32,
    log: Log,
    turn: Turn,
    inbox: mpsc::Receiver<Command>,
    reports: (mpsc::Sender<Report>, mpsc::Receiver<Report>),
    outcomes: Channel<(CallKey, Outcome)>,
    /// Failures of the store while somebody waited for it.
    failures: Channel<Error>,
    reply: Option<Streaming>,
    running: BTreeMap<CallKey, CancellationToken>,
    /// Stops whatever runs when the session ends, however it ends.
    stop: DropGuard,
    /// Questions that wait for an answer, by the id of the request for it.
    asks: BTreeMap<String, Ask>,
    /// Approvals of calls that had not started when the session was resumed, by the id of the call.
    approved: BTreeMap<String, (String, Answer)>,
    /// What the user said while a turn was running.
    queued: Vec<Vec<Content>>,
    /// Requests since the user said something; `None` between turns.
    requests: Option<u32>,
    /// How many questions were asked, which their ids count.
    asked: u64,
    spending: Spending,
    /// The span of the turn.
    span: Span,
}

struct Streaming {
    reading: Reading,
    events: ReplyEvents,
    previews: Previews,
    /// The provider's name for the exchange.
    request_id: Option<String>,
    span: Span,
}

struct Ask {
    question: Question,
    whose: Whose,
}

/// Who waits for an answer.
enum Whose {
    Tool(oneshot::Sender<Answer>),
    /// The session itself: the model has made too many mistakes.
    Session,
}

/// What happened.
enum Happening {
    Command(Option<Command>),
    Report(Report),
    Outcome(CallKey, Outcome),
    Piece(Option<Piece>),
    Due,
    Failure(Error),
}

impl Driver {
    pub(super) fn new(
        builder: Builder,
        epoch: u64,
        entries: Vec<Entry>,
        inbox: mpsc::Receiver<Command>,
    ) -> Self {
        let Builder { id, provider, workspace, store, tools, mode, approver, audience, .. } = builder;
        Self {
            id: id.clone(),
            provider,
            workspace,
            approver,
            audience,
            available: Available { tools, mode },
            timeouts: builder.timeouts,
            system: builder.system,
            max_requests: builder.max_requests,
            log: Log::new(id, epoch, entries, store, builder.clock),
            turn: Turn::new(builder.rules),
            inbox,
            reports: mpsc::channel(REPORTS),
            outcomes: mpsc::unbounded_channel(),
            failures: mpsc::unbounded_channel(),
            reply: None,
            running: BTreeMap::new(),
            stop: CancellationToken::new().drop_guard(),
            asks: BTreeMap::new(),
            approved: BTreeMap::new(),
            queued: Vec::new(),
            requests: None,
            asked: 0,
            spending: Spending::default(),
            span: Span::none(),
        }
    }

    /// Runs until the last handle is gone, or the store fails. What is in the log then is all there is to know.
    pub(super) async fn run(mut self, failure: Arc<OnceLock<Error>>) {
        // A store that has failed cannot be told about it, but those who wait for the session can.
        if let Err(error) = self.drive().await {
            let _ = failure.set(error);
        }
    }

    async fn drive(&mut self) -> Result<(), Error> {
        self.resume().await?;
        self.act().await?;
        loop {
            match self.wait().await {
                Happening::Command(None) => return self.log.flush().await,
                Happening::Command(Some(command)) => self.obey(command).await?,
                Happening::Report(report) => self.note(report).await?,
                Happening::Outcome(key, outcome) => {
                    self.running.remove(&key);
                    self.turn.finish(key, outcome, &self.available);
                }
                Happening::Piece(piece) => self.read(piece).await?,
                Happening::Due => self.log.flush().await?,
                Happening::Failure(error) => return Err(error),
            }
            self.act().await?;
        }
    }

    async fn wait(&mut self) -> Happening {
        let due = self.log.due();
        let reply = self.reply.as_mut();
        tokio::select! {
            // A cancel comes before whatever else is there.
            biased;
            command = self.inbox.recv() => Happening::Command(command),
            () = async { tokio::time::sleep_until(due.expect("it is due")).await }, if due.is_some() => Happening::Due,
            Some(error) = self.failures.1.recv() => Happening::Failure(error),
            // What a call has reported comes before its result.
            Some(report) = self.reports.1.recv() => Happening::Report(report),
            Some((key, outcome)) = self.outcomes.1.recv() => Happening::Outcome(key, outcome),
            piece = async {
                match reply {
                    Some(streaming) => streaming.reading.next().await,
                    None => future::pending().await,
                }
            } => Happening::Piece(piece),
        }
    }

    /// Continues where the log ends.
    async fn resume(&mut self) -> Result<(), Error> {
        let mut requests = None;
        for entry in self.log.entries() {
            self.turn.take(&entry.body);
            self.spending.take(entry);
            match &entry.body {
                Body::UserMessage { .. } => requests = Some(0),
                Body::Request { .. } => requests = requests.map(|count| count + 1),
                Body::End { .. } => requests = None,
                Body::Decision { tool_call_id, decision: Decision::Allow, hash, reason } => {
                    let answer = Answer { yes: true, words: reason.clone(), images: Vec::new() };
                    self.approved.insert(tool_call_id.clone(), (hash.clone(), answer));
                }
                Body::Agent(AgentEvent::ApprovalRequest { .. }) => self.asked += 1,
                _ => {}
            }
        }
        self.requests = requests;
        if requests.is_some() {
            self.span = spans::turn(&self.id, &*self.provider);
        }
        for (id, started) in left_running(self.log.entries()) {
            group::end(id, started);
        }
        // A reply that was interrupted is not a failed one: what is missing of it is asked for again.
        self.turn.end(End { status: Status::Cut, reason: Some(StopReason::Pause) });
        let interrupted: Vec<CallKey> = self.turn.running().collect();
        for key in interrupted {
            self.turn.finish(key, Outcome::Interrupted, &self.available);
        }
        self.enter_mode().await?;
        if requests == Some(0) {
            // The program ended between the user's message and the first request.
            self.request().await?;
        }
        Ok(())
    }

    /// Writes down which mode the session is in, if that is not the one that its log ends in.
    async fn enter_mode(&mut self) -> Result<(), Error> {
        let last = self.log.entries().iter().rev().find_map(|entry| match &entry.body {
            Body::Mode { mode } => Some(mode),
            _ => None,
        });
        match &self.available.mode {
            Some(mode) if Some(&mode.name) != last => {
                self.log.decide(Body::Mode { mode: mode.name.clone() }).await
            }
            _ => Ok(()),
        }
    }

    /// Does what the turn asks for, until it has nothing more.
    async fn act(&mut self) -> Result<(), Error> {
        let mut count = 0;
        while let Some(action) = self.turn.next(&self.available) {
            match action {
                Action::Start(call) => self.start(call),
                Action::Answer(result) => self.answer_call(result).await?,
                Action::Stop => self.drop_reply().await?,
                Action::AskUser { mistakes } => return self.ask_about_mistakes(mistakes).await,
                Action::Ready(next) => self.go_on(next).await?,
            }
            count += 1;
            if count % ACTIONS == 0 {
                tokio::task::yield_now().await;
                if let Ok(command) = self.inbox.try_recv() {
                    self.obey(command).await?;
                }
            }
        }
        Ok(())
    }

    async fn obey(&mut self, command: Command) -> Result<(), Error> {
        match command {
            Command::Say(content) if self.requests.is_some() => self.queued.push(content),
            Command::Say(content) => {
                self.hear(content).await?;
                self.requests = Some(0);
                self.request().await?;
            }
            Command::Answer { approval_id, answer } => self.settle(&approval_id, answer).await?,
            Command::Cancel if self.requests.is_some() => {
                self.turn.cancel();
                self.drop_reply().await?;
                for cancel in self.running.values() {
                    cancel.cancel();
                }
                // Questions are not answered with no: nobody has denied anything.
                self.asks.clear();
            }
            Command::Cancel | Command::Present => {}
        }
        Ok(())
    }

    /// Writes down what the user says, and about which files.
    async fn hear(&mut self, content: Vec<Content>) -> Result<(), Error> {
        if self.requests.is_none() {
            self.span = spans::turn(&self.id, &*self.provider);
        }
        let mut members = Object::new();
        members.insert(ROOT, &*self.workspace.root.path().to_string_lossy());
        self.log.decide_with(Body::UserMessage { content }, members).await
    }

    /// Sends the next request.
    async fn request(&mut self) -> Result<(), Error> {
        let count = self.requests.unwrap_or_default();
        if count >= self.max_requests {
            let requests = if count == 1 { "request" } else { "requests" };
            let message = format!("stopped after {count} {requests}; say something to go on");
            self.log.write(Body::Agent(AgentEvent::Notice { message })).await?;
            return self.over(EndReason::Interrupted).await;
        }
        let dialect = self.provider.dialect();
        let messages = match history::request(dialect, self.log.entries()) {
            Ok(request) => request.messages,
            Err(error) => {
                self.log.write(failed(error.to_string(), None)).await?;
                return self.over(EndReason::Failed).await;
            }
        };
        let body =
            Body::Request { dialect: dialect.name().to_owned(), model: self.provider.model().to_owned() };
        self.turn.take(&body);
        self.log.decide(body).await?;
        self.requests = Some(count + 1);
        let tools = self.available.definitions().cloned().collect();
        let request = Request::new(self.system.clone(), messages, tools);
        let mut reply = Reply::new(dialect).with_limits(&self.provider.limits());
        if let Some(tagger) = self.provider.tagger(&format!("call-{}-", self.log.entries().len())) {
            reply = reply.with_tags(tagger);
        }
        let span = spans::request(&self.span, &self.id, &*self.provider);
        let synced = self.log.synced();
        let reading = Reading::start(self.provider.clone(), request, self.timeouts, synced, &span);
        let (events, previews) = (ReplyEvents::new(reply), Previews::default());
        self.reply = Some(Streaming { reading, events, previews, request_id: None, span });
        Ok(())
    }

    async fn read(&mut self, piece: Option<Piece>) -> Result<(), Error> {
        let Some(streaming) = &mut self.reply else { return Ok(()) };
        match piece {
            Some(Piece::Bytes(bytes)) => {
                let events: Vec<AgentEvent> = streaming.events.push(&bytes).collect();
                self.take(events).await
            }
            Some(Piece::Begins(id)) => {
                streaming.request_id = id;
                Ok(())
            }
            Some(Piece::Retry(error, wait)) => {
                let message =
                    format!("the request is sent again in {}: {error}", crate::provider::seconds(wait));
                let notice = Body::Agent(AgentEvent::Notice { message });
                self.log.write_with(notice, error.members()).await
            }
            Some(Piece::Failed(error)) => {
                spans::note_error(&streaming.span, &error);
                self.span.record("error.type", error.kind.name());
                let members = error.members();
                self.log.write_with(failed(error.message, error.status), members).await?;
                self.drop_reply().await
            }
            Some(Piece::Lost(error)) => Err(error),
            None => self.end_reply().await,
        }
    }

    /// The stream of the reply has ended. If the reply has not, its last events say so.
    async fn end_reply(&mut self) -> Result<(), Error> {
        self.finish_reply(|_| true).await
    }

    /// The rest of the reply is not wanted, or an error has already said why there is none.
    async fn drop_reply(&mut self) -> Result<(), Error> {
        self.finish_reply(|event| !matches!(event, AgentEvent::Error { .. })).await
    }

    async fn finish_reply(&mut self, is_wanted: impl Fn(&AgentEvent) -> bool) -> Result<(), Error> {
        let Some(Streaming { reading, mut events, request_id, span, .. }) = self.reply.take() else {
            return Ok(());
        };
        drop(reading);
        let last: Vec<AgentEvent> = events.finish().filter(is_wanted).collect();
        self.take_of(last, request_id.as_deref()).await?;
        let message = events.reply().message();
        spans::note_reply(&span, message);
        self.warn_if_full(message.usage()).await?;
        self.turn.end(End { status: message.status(), reason: message.stop().map(|stop| stop.reason) });
        Ok(())
    }

    async fn take(&mut self, events: Vec<AgentEvent>) -> Result<(), Error> {
        let id = self.reply.as_ref().and_then(|streaming| streaming.request_id.clone());
        self.take_of(events, id.as_deref()).await
    }

    /// Takes events of the reply to a request, which has this name at the provider.
    async fn take_of(&mut self, events: Vec<AgentEvent>, request_id: Option<&str>) -> Result<(), Error> {
        for event in events {
            let previewed = match &mut self.reply {
                Some(streaming) => streaming.previews.take(&event, &self.workspace).await,
                None => Vec::new(),
            };
            let members = self.members_of(&event, request_id);
            let body = Body::Agent(event);
            self.turn.take(&body);
            self.log.write_with(body, members).await?;
            for event in previewed {
                self.log.write(Body::Agent(event)).await?;
            }
        }
        Ok(())
    }

    /// What the log has about an event of a reply besides the event.
    fn members_of(&mut self, event: &AgentEvent, request_id: Option<&str>) -> Object {
        match event {
            AgentEvent::Usage { usage } => {
                let cost = self.provider.price().map(|price| price.of(usage, self.provider.dialect()));
                self.spending.reply(*usage, cost);
                cost_members(cost)
            }
            AgentEvent::Error { error, status_code } => {
                let status = status_code.as_ref().and_then(|code| u16::try_from(code.as_u64()?).ok());
                let kind = ErrorKind::of_word(error).or(status.map(ErrorKind::of_status));
                let mut error = ProviderError::new(kind.unwrap_or(ErrorKind::ProviderFailed), "");
                error.request_id = request_id.map(str::to_owned);
                error.members()
            }
            _ => Object::new(),
        }
    }

    /// Says so if the conversation will soon be longer than the model can read.
    async fn warn_if_full(&mut self, usage: &Usage) -> Result<(), Error> {
        let Some(window) = self.provider.context_window() else { return Ok(()) };
        let cached = match self.provider.dialect() {
            Dialect::Anthropic => {
                usage.cache_read.unwrap_or_default() + usage.cache_write.unwrap_or_default()
            }
            _ => 0,
        };
        let used = usage.input.unwrap_or_default() + usage.output.unwrap_or_default() + cached;
        if used * 100 < window * FULL {
            return Ok(());
        }
        let message = format!("the conversation has {used} tokens, and the model reads at most {window}");
        self.log.write(Body::Agent(AgentEvent::Notice { message })).await
    }

    fn start(&mut self, call: Call) {
        let cancel = self.stop.token().child_token();
        self.running.insert(call.key, cancel.clone());
        let Some(tool) = self.available.tools.get(&call.name).cloned() else {
            unreachable!("the catalog has checked that there is such a tool")
        };
        let (workspace, reports) = (self.workspace.clone(), self.reports.0.clone());
        let context = Context::new(&call.id, workspace, reports.clone(), cancel.clone());
        let approved = self.approved.remove(&call.id);
        let (key, outcomes) = (call.key, self.outcomes.0.clone());
        let (approver, timeouts) = (self.approver.clone(), self.timeouts);
        let span = spans::call(&self.span, &call);
        let job = Job { call, tool, context, approver, reports, cancel, timeouts, approved };
        let run = async move {
            let outcome = job.run().await;
            // The session may be over.
            let _ = outcomes.send((key, outcome));
        };
        tokio::spawn(run.instrument(span));
    }

    async fn answer_call(&mut self, tool_result: ToolResult) -> Result<(), Error> {
        self.log.decide(Body::Agent(AgentEvent::ToolResult { tool_result })).await
    }

    /// Writes down what a tool reports.
    async fn note(&mut self, report: Report) -> Result<(), Error> {
        match report {
            Report::Progress { call_id, progress, noted } => {
                let is_group = matches!(progress, Progress::Group { .. });
                self.note_progress(&call_id, progress).await?;
                if is_group {
                    self.once_synced(noted, ());
                } else {
                    let _ = noted.send(());
                }
                Ok(())
            }
            Report::Ask { question, answer } => self.ask(question, Whose::Tool(answer)).await,
            Report::Decided { question, answer, done } => {
                self.decide(&question, &answer).await?;
                self.once_synced(done, ());
                Ok(())
            }
            Report::Start { call_id, started } => {
                self.log.decide(Body::ToolStarted { tool_call_id: call_id }).await?;
                self.once_synced(started, ());
                Ok(())
            }
        }
    }

    /// Tells somebody something once all that was decided is on the disk. Meanwhile the session goes on.
    fn once_synced<T: Send + 'static>(&self, waiting: oneshot::Sender<T>, news: T) {
        let (synced, failures) = (self.log.synced(), self.failures.0.clone());
        tokio::spawn(async move {
            match synced.wait().await {
                // The call may have been cancelled.
                Ok(()) => drop(waiting.send(news)),
                Err(error) => drop(failures.send(error)),
            }
        });
    }

    async fn note_progress(&mut self, call_id: &str, progress: Progress) -> Result<(), Error> {
        match progress {
            Progress::Output { stream, data } => {
                let tool_call_id = Some(call_id.to_owned());
                self.log.write(Body::Agent(AgentEvent::ShellOutput { data, stream, tool_call_id })).await
            }
            Progress::Group { id, started } => {
                let mut members = Object::new();
                members.insert("group", id);
                members.insert("groupStarted", started);
                self.log.decide_with(Body::ToolStarted { tool_call_id: call_id.to_owned() }, members).await
            }
        }
    }

    async fn ask(&mut self, question: Question, whose: Whose) -> Result<(), Error> {
        self.asked += 1;
        let approval_id = format!("ask-{}", self.asked);
        let tool_call_id = question.call_id.clone();
        let event =
            AgentEvent::ApprovalRequest { approval_id: approval_id.clone(), tool_call_id, reason: None };
        let mut members = Object::new();
        members.insert("question", question.to_json());
        self.log.decide_with(Body::Agent(event), members).await?;
        self.asks.insert(approval_id.clone(), Ask { question, whose });
        if self.audience == Audience::Nobody {
            return self.settle(&approval_id, Answer::nobody()).await;
        }
        Ok(())
    }

    /// Takes the answer to a question.
    async fn settle(&mut self, approval_id: &str, answer: Answer) -> Result<(), Error> {
        let Some(Ask { question, whose }) = self.asks.remove(approval_id) else { return Ok(()) };
        let decision = if answer.yes { Decision::Allow } else { Decision::Deny };
        let response = AgentEvent::ApprovalResponse {
            approval_id: approval_id.to_owned(),
            decision,
            reason: answer.words.clone(),
        };
        self.log.write(Body::Agent(response)).await?;
        match whose {
            Whose::Tool(waiting) => {
                self.decide(&question, &answer).await?;
                self.once_synced(waiting, answer);
                Ok(())
            }
            Whose::Session => {
                self.turn.advise();
                if !answer.yes {
                    return self.over(EndReason::Failed).await;
                }
                if let Some(words) = answer.words {
                    self.hear(vec![Content::Text { text: words }]).await?;
                }
                Ok(())
            }
        }
    }

    /// Writes down a decision about a call. What the user says in a conversation is not one.
    async fn decide(&mut self, question: &Question, answer: &Answer) -> Result<(), Error> {
        if question.class == Class::Talk {
            return self.log.flush().await;
        }
        let decision = if answer.yes { Decision::Allow } else { Decision::Deny };
        let body = Body::Decision {
            tool_call_id: question.call_id.clone(),
            decision,
            hash: question.hash.clone(),
            reason: answer.words.clone(),
        };
        self.turn.take(&body);
        let mut members = Object::new();
        if !answer.images.is_empty() {
            let images: Vec<Value> = answer.images.iter().cloned().map(Value::from).collect();
            members.insert("images", images);
        }
        self.log.decide_with(body, members).await
    }

    async fn ask_about_mistakes(&mut self, mistakes: u32) -> Result<(), Error> {
        if self.asks.values().any(|ask| matches!(ask.whose, Whose::Session)) {
            return Ok(());
        }
        let description = format!("the model has made {mistakes} mistakes in a row: go on?");
        let question = Question::new("", "", description, Class::Talk, Value::Null);
        self.ask(question, Whose::Session).await
    }

    async fn go_on(&mut self, next: Next) -> Result<(), Error> {
        match next {
            Next::Request | Next::Again => self.request().await,
            Next::Over(ending) => {
                if let Some(message) = notice(ending) {
                    self.log.write(Body::Agent(AgentEvent::Notice { message: message.to_owned() })).await?;
                }
                self.over(match ending {
                    Ending::Done | Ending::Completed | Ending::Length | Ending::Refused => EndReason::Done,
                    Ending::Empty | Ending::Failed => EndReason::Failed,
                    Ending::Cancelled => EndReason::Cancelled,
                })
                .await
            }
        }
    }

    /// The turn is over. What was said meanwhile starts the next one.
    async fn over(&mut self, reason: EndReason) -> Result<(), Error> {
        let body = Body::End { reason };
        self.turn.take(&body);
        self.log.decide_with(body, self.spending.members()).await?;
        self.spending.end();
        self.span = Span::none();
        self.requests = None;
        let queued: Vec<Content> = std::mem::take(&mut self.queued).into_iter().flatten().collect();
        if queued.is_empty() {
            return Ok(());
        }
        self.hear(queued).await?;
        self.requests = Some(0);
        Box::pin(self.request()).await
    }
}

/// What the user should know about the end of a turn.
fn notice(ending: Ending) -> Option<&'static str> {
    match ending {
        Ending::Length => Some("the reply reached its length limit; say something to go on"),
        Ending::Refused => Some("the model or its provider refused to answer"),
        Ending::Empty => Some("the model has said nothing, twice"),
        Ending::Failed => Some("the reply broke off; say something to try again"),
        Ending::Done | Ending::Completed | Ending::Cancelled => None,
    }
}

fn failed(error: String, status: Option<u16>) -> Body {
    Body::Agent(AgentEvent::Error { error, status_code: status.map(Into::into) })
}

/// The groups of processes of calls that have no result. What a finished command has left running was meant to stay.
fn left_running(entries: &[Entry]) -> Vec<(u32, u64)> {
    let mut groups = BTreeMap::new();
    for entry in entries {
        match &entry.body {
            Body::ToolStarted { tool_call_id } => {
                if let Some(group) = group_of(entry) {
                    groups.insert(tool_call_id, group);
                }
            }
            Body::Agent(AgentEvent::ToolResult { tool_result }) => {
                groups.remove(&tool_result.tool_call_id);
            }
            _ => {}
        }
    }
    groups.into_values().collect()
}

/// The group of processes that an entry says a call runs as.
fn group_of(entry: &Entry) -> Option<(u32, u64)> {
    let body = entry.extra.get("body")?;
    let id = body.get("group")?.as_u64()?;
    Some((u32::try_from(id).ok()?, body.get("groupStarted")?.as_u64()?))
}
