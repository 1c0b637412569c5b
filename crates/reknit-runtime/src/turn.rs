//! [`Turn`]: decides what to do about the calls of a reply, one after another. No IO.
//!
//! A turn is a fold over the log of its session and over what happens to its calls. It is asked what to do next
//! after each step, in a loop:
//!
//! ```text
//! log entries ─ take ─┐
//! reply over ── end ──┼─▶ Turn ─ next ─▶ Start(call) │ Answer(result) │ Stop │ AskUser │ Ready(next)
//! call over ─ finish ─┘
//! ```
//!
//! What arrives while a call runs or a question is open only changes the turn; nothing has to be locked, and
//! nothing can be forgotten, because whoever folds something in asks for the next action afterwards.
//!
//! - Calls start in the order in which the model wrote them. Only calls that read may run at the same time.
//! - A call starts when it is whole, even if the reply goes on. One that is cut or malformed never starts.
//! - Each call gets exactly one result, in the same order.

use std::collections::BTreeMap;
use std::mem;

use reknit::agent::{AgentEvent, Body, Content, Decision, ToolResult};
use reknit::event::StopReason;
use reknit::json::Value;
use reknit::message::Status;

use crate::question::Answer;
use crate::tool::{Failure, Fault, Output};
use crate::words;

#[cfg(test)]
mod tests;

/// What a turn has to know about tools.
pub trait Catalog {
    /// Checks a call before it runs, and says how it may run.
    fn check(&self, name: &str, arguments: &Value) -> Result<Manner, Failure>;

    /// The call in one line, as far as its arguments are known.
    fn describe(&self, name: &str, arguments: Option<&Value>) -> String;
}

/// How a call may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Manner {
    /// Alone.
    Alone,
    /// Next to others that only read.
    Together,
    /// Alone, and only if no other call of the reply has failed: it ends the task.
    Last,
}

/// The rules of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rules {
    /// Whether only the first call of a reply is run.
    pub one_call: bool,
    /// After how many mistakes in a row the user is asked.
    pub mistakes: u32,
    /// How many calls that only read run at the same time.
    pub together: usize,
}

impl Default for Rules {
    fn default() -> Self {
        Self { one_call: false, mistakes: 3, together: 8 }
    }
}

impl Rules {
    /// The same rules, but only the first call of a reply is run.
    #[must_use]
    pub fn one_call(mut self) -> Self {
        self.one_call = true;
        self
    }
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Run this call, after asking whether it may run, and report with [`Turn::finish`].
    Start(Call),
    /// Write this result of a call into the log.
    Answer(ToolResult),
    /// Stop reading the reply: the user rejected one of its calls. Then report with [`Turn::end`].
    Stop,
    /// Ask the user what to do: the model has made this many mistakes in a row. Report with [`Turn::advise`].
    AskUser {
        /// How many.
        mistakes: u32,
    },
    /// The reply is over and all its calls have results.
    Ready(Next),
}

/// A call that should run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Call {
    /// What [`Turn::finish`] needs.
    pub key: CallKey,
    /// Its id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments, which the catalog has checked.
    pub arguments: Value,
}

/// A call of a turn, among all calls of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallKey(u64);

/// What comes after a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next {
    /// A request with the results of the calls.
    Request,
    /// The same request again: the provider has paused, or has said nothing.
    Again,
    /// Nothing: the turn is over.
    Over(Ending),
}

/// Why a turn is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// The model has nothing more to do.
    Done,
    /// The model has completed the task with a call.
    Completed,
    /// The reply reached its length limit.
    Length,
    /// The model or its provider refused.
    Refused,
    /// The model has said nothing, twice.
    Empty,
    /// The reply failed or was cut, and none of its calls has run.
    Failed,
    /// The user stopped it.
    Cancelled,
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// It gave something. If it was approved with words, they come first.
    Done(Output, Option<Answer>),
    /// It failed.
    Failed(Failure),
    /// The user denied it.
    Denied(Answer),
    /// The user stopped it.
    Cancelled,
    /// The program ended while it ran.
    Interrupted,
}

/// How a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The status of its message.
    pub status: Status,
    /// Why the model stopped, if its provider said so.
    pub reason: Option<StopReason>,
}

/// Decides what to do about the calls of a reply, one after another.
#[derive(Debug)]
pub struct Turn {
    rules: Rules,
    reply: Reply,
    /// The calls without a result, in the order in which the model wrote them.
    calls: BTreeMap<CallKey, Open>,
    /// How many calls there have been.
    count: u64,
    /// The newest call with this id.
    by_id: BTreeMap<String, CallKey>,
    /// Mistakes of the model in a row, across replies.
    mistakes: u32,
    /// Whether the last reply was empty.
    was_empty: bool,
}

/// The state of the current reply.
#[derive(Debug, Default)]
struct Reply {
    phase: Phase,
    /// Whether it has said anything.
    spoke: bool,
    /// How many of its calls we answer.
    calls: usize,
    /// Whether one of them has started.
    used: bool,
    failed: bool,
    rejected: Rejected,
    completed: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Phase {
    /// No request was made, or what came of the last one is settled.
    #[default]
    Settled,
    Streaming,
    Over(End),
    Cancelled,
}

/// Whether the user rejected a call of the reply.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Rejected {
    #[default]
    No,
    /// And it must not be read any further.
    Stop,
    Yes,
}

#[derive(Debug)]
struct Open {
    id: String,
    name: String,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Its arguments arrive.
    Writing,
    /// Its arguments will never be complete, for this reason.
    Broken(String),
    Whole(Value),
    Running {
        arguments: Value,
        manner: Manner,
    },
    /// Its result waits for those before it.
    Finished(ToolResult),
}

/// What to do about one call.
enum Step {
    /// Nothing, and nothing about those after it.
    Wait,
    Act(Action),
    Runs(Manner),
    Finished,
}

impl Turn {
    /// The first turn of a session.
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            reply: Reply::default(),
            calls: BTreeMap::new(),
            count: 0,
            by_id: BTreeMap::new(),
            mistakes: 0,
            was_empty: false,
        }
    }

    /// Takes an entry of the log, except for a result that came from [`Action::Answer`].
    ///
    /// When a reply ends, take the last of its entries and report its [`end`](Turn::end) before asking for the
    /// next action: whether a call without an end was cut depends on it.
    pub fn take(&mut self, body: &Body) {
        match body {
            Body::Request { .. } => {
                self.reply = Reply { phase: Phase::Streaming, ..Reply::default() };
                self.calls.clear();
                self.by_id.clear();
            }
            Body::Decision { decision: Decision::Deny, .. } if self.reply.rejected == Rejected::No => {
                self.reply.rejected = Rejected::Stop;
            }
            // When a log is read again: such a call must not be started a second time.
            Body::ToolStarted { tool_call_id } => {
                if let Some(call) = self.newest(tool_call_id)
                    && let State::Whole(arguments) = &mut call.state
                {
                    let arguments = mem::replace(arguments, Value::Null);
                    call.state = State::Running { arguments, manner: Manner::Alone };
                }
            }
            Body::End { .. } => self.reply.phase = Phase::Settled,
            Body::Agent(event) => self.take_event(event),
            _ => {}
        }
    }

    fn take_event(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::TextDelta { delta } => self.reply.spoke |= !delta.trim().is_empty(),
            AgentEvent::ToolInputStart { tool_call_id, tool_name } => self.open(tool_call_id, tool_name),
            AgentEvent::ToolInputError { tool_call_id, error } => {
                if let Some(call) = self.writing(tool_call_id) {
                    call.state = State::Broken(error.clone());
                }
            }
            AgentEvent::ToolCall { tool_call } => {
                if self.writing(&tool_call.id).is_none() {
                    self.open(&tool_call.id, &tool_call.name);
                }
                if tool_call.provider_executed {
                    self.forget(&tool_call.id);
                } else if let Some(call) = self.writing(&tool_call.id) {
                    call.name.clone_from(&tool_call.name);
                    call.state = State::Whole(tool_call.arguments.clone());
                }
            }
            AgentEvent::ToolResult { tool_result } => {
                let first = self.calls.iter().find(|(_, call)| call.id == tool_result.tool_call_id);
                if let Some((&key, _)) = first {
                    self.calls.remove(&key);
                }
            }
            _ => {}
        }
    }

    /// The reply is over.
    pub fn end(&mut self, end: End) {
        if self.reply.phase == Phase::Streaming {
            self.reply.phase = Phase::Over(end);
        }
    }

    /// A call is over. A second report of the same call changes nothing.
    pub fn finish(&mut self, key: CallKey, outcome: Outcome, catalog: &impl Catalog) {
        let Some(call) = self.calls.get_mut(&key) else { return };
        let State::Running { arguments, .. } = &call.state else { return };
        let description = catalog.describe(&call.name, Some(arguments));
        match &outcome {
            Outcome::Done(output, _) => {
                self.mistakes = 0;
                self.reply.completed |= output.completes;
            }
            Outcome::Failed(failure) => {
                self.reply.failed = true;
                self.mistakes += u32::from(failure.fault == Fault::Model);
            }
            Outcome::Denied(_) if self.reply.rejected == Rejected::No => self.reply.rejected = Rejected::Stop,
            Outcome::Denied(_) | Outcome::Cancelled | Outcome::Interrupted => {}
        }
        let (content, is_error) = outcome.into_content(&description);
        call.finish(content, is_error);
    }

    /// The user stops the turn. Calls that run have to be stopped, and are reported as always.
    pub fn cancel(&mut self) {
        if self.reply.phase != Phase::Settled {
            self.reply.phase = Phase::Cancelled;
        }
    }

    /// The user was asked what to do about the model's mistakes.
    pub fn advise(&mut self) {
        self.mistakes = 0;
    }

    /// The calls that run.
    pub fn running(&self) -> impl Iterator<Item = CallKey> {
        let running = self.calls.iter().filter(|(_, call)| matches!(call.state, State::Running { .. }));
        running.map(|(&key, _)| key)
    }

    /// What to do next, or nothing until something else happens.
    pub fn next(&mut self, catalog: &impl Catalog) -> Option<Action> {
        if self.reply.rejected == Rejected::Stop {
            self.reply.rejected = Rejected::Yes;
            if self.reply.phase == Phase::Streaming {
                return Some(Action::Stop);
            }
        }
        // How the calls before this one run: the first to start always may.
        let (mut before, mut running) = (None, 0);
        let mut from = CallKey(0);
        while let Some((&key, _)) = self.calls.range(from..).next() {
            match self.step(key, before, catalog) {
                Step::Wait => return None,
                Step::Act(action) => return Some(action),
                Step::Runs(manner) => {
                    before = Some(manner);
                    running += 1;
                }
                Step::Finished if before.is_none() => {
                    let call = self.calls.remove(&key).expect("it was found");
                    let State::Finished(result) = call.state else { unreachable!("it is finished") };
                    return Some(Action::Answer(result));
                }
                Step::Finished => {}
            }
            // No other call starts next to one that runs alone, so there is nothing to look for after it.
            if before.is_some_and(|manner| manner != Manner::Together) || running >= self.rules.together {
                return None;
            }
            from = CallKey(key.0 + 1);
        }
        if self.calls.is_empty() { self.settle() } else { None }
    }

    /// What to do about a call. `before` is how those before it run, if any do.
    fn step(&mut self, key: CallKey, before: Option<Manner>, catalog: &impl Catalog) -> Step {
        let call = self.calls.get_mut(&key).expect("it was found");
        let arguments = match &mut call.state {
            State::Running { manner, .. } => return Step::Runs(*manner),
            State::Finished(_) => return Step::Finished,
            State::Whole(arguments) => Some(arguments),
            State::Writing | State::Broken(_) => None,
        };
        if let Some(refusal) = self.reply.refusal(&self.rules, arguments.is_some()) {
            let description = catalog.describe(&call.name, arguments.as_deref());
            call.fail(refusal.words(&description, &call.name));
            return Step::Finished;
        }
        let Some(arguments) = arguments else {
            let words = match &call.state {
                State::Broken(error) => {
                    words::error(&format!("The arguments of the call cannot be used: {error}"))
                }
                _ if self.reply.phase == Phase::Streaming => return Step::Wait,
                _ => words::cut(&catalog.describe(&call.name, None)),
            };
            // A connection that breaks is not the model's mistake.
            let was_cut = matches!(self.reply.phase, Phase::Over(end) if end.status != Status::Stopped);
            self.mistakes += u32::from(!was_cut);
            self.reply.failed = true;
            call.fail(words);
            return Step::Finished;
        };
        let manner = match catalog.check(&call.name, arguments) {
            Ok(manner) => manner,
            Err(failure) => {
                self.mistakes += u32::from(failure.fault == Fault::Model);
                self.reply.failed = true;
                call.fail(words::error(&failure.message));
                return Step::Finished;
            }
        };
        match (before, manner) {
            (Some(Manner::Together), Manner::Together) | (None, _) => {}
            _ => return Step::Wait,
        }
        if manner == Manner::Last && self.reply.failed {
            let description = catalog.describe(&call.name, Some(arguments));
            call.fail(words::completion_after_failure(&description));
            return Step::Finished;
        }
        let arguments = mem::replace(arguments, Value::Null);
        let (id, name) = (call.id.clone(), call.name.clone());
        call.state = State::Running { arguments: arguments.clone(), manner };
        self.reply.used = true;
        Step::Act(Action::Start(Call { key, id, name, arguments }))
    }

    /// All calls so far have their results.
    fn settle(&mut self) -> Option<Action> {
        let next = match self.reply.phase {
            Phase::Settled | Phase::Streaming => return None,
            Phase::Cancelled => Next::Over(Ending::Cancelled),
            Phase::Over(_) if self.reply.completed => Next::Over(Ending::Completed),
            Phase::Over(_) if self.reply.calls > 0 && self.mistakes >= self.rules.mistakes => {
                return Some(Action::AskUser { mistakes: self.mistakes });
            }
            Phase::Over(_) if self.reply.calls > 0 => Next::Request,
            Phase::Over(end) => self.after_words(end),
        };
        self.reply.phase = Phase::Settled;
        Some(Action::Ready(next))
    }

    /// What comes after a reply without calls.
    fn after_words(&mut self, end: End) -> Next {
        if end.reason == Some(StopReason::Pause) {
            return Next::Again;
        }
        if end.status != Status::Stopped {
            return Next::Over(Ending::Failed);
        }
        let was_empty = mem::take(&mut self.was_empty);
        match end.reason {
            Some(StopReason::Length) => Next::Over(Ending::Length),
            Some(StopReason::Refusal | StopReason::Filter) => Next::Over(Ending::Refused),
            _ if self.reply.spoke => Next::Over(Ending::Done),
            _ if was_empty => Next::Over(Ending::Empty),
            _ => {
                self.was_empty = true;
                Next::Again
            }
        }
    }

    fn open(&mut self, id: &str, name: &str) {
        let key = CallKey(self.count);
        self.count += 1;
        self.by_id.insert(id.to_owned(), key);
        self.calls.insert(key, Open { id: id.to_owned(), name: name.to_owned(), state: State::Writing });
        self.reply.calls += 1;
    }

    fn newest(&mut self, id: &str) -> Option<&mut Open> {
        self.calls.get_mut(self.by_id.get(id)?)
    }

    fn writing(&mut self, id: &str) -> Option<&mut Open> {
        self.newest(id).filter(|call| matches!(call.state, State::Writing))
    }

    /// Somebody else runs this call.
    fn forget(&mut self, id: &str) {
        if let Some(key) = self.by_id.remove(id) {
            self.calls.remove(&key);
            self.reply.calls -= 1;
        }
    }
}

/// Why a call must not start, whatever it is.
enum Refusal {
    Cancelled,
    Skipped,
    Interrupted,
    Completed,
    OnlyOne,
}

impl Reply {
    fn refusal(&self, rules: &Rules, is_whole: bool) -> Option<Refusal> {
        match () {
            () if self.phase == Phase::Cancelled => Some(Refusal::Cancelled),
            () if self.rejected != Rejected::No && is_whole => Some(Refusal::Skipped),
            () if self.rejected != Rejected::No => Some(Refusal::Interrupted),
            () if self.completed => Some(Refusal::Completed),
            () if rules.one_call && self.used && is_whole => Some(Refusal::OnlyOne),
            () => None,
        }
    }
}

impl Refusal {
    fn words(&self, description: &str, name: &str) -> String {
        match self {
            Self::Cancelled => words::cancelled(description),
            Self::Skipped => words::skipped(description),
            Self::Interrupted => words::interrupted_by_rejection(description),
            Self::Completed => words::after_completion(description),
            Self::OnlyOne => words::only_one(name),
        }
    }
}

impl Open {
    fn fail(&mut self, words: String) {
        self.finish(vec![Content::Text { text: words }], true);
    }

    fn finish(&mut self, content: Vec<Content>, is_error: bool) {
        let mut content = content.into_iter().map(Value::from);
        let result = match (content.next(), content.len()) {
            // A text alone is a string, as every reader of results expects.
            (Some(only), 0) => only.get("text").cloned().unwrap_or_else(|| vec![only].into()),
            (first, _) => first.into_iter().chain(content).collect::<Vec<_>>().into(),
        };
        self.state = State::Finished(ToolResult {
            tool_call_id: self.id.clone(),
            tool_name: Some(self.name.clone()),
            result,
            is_error: is_error.then_some(true),
        });
    }
}

impl Outcome {
    /// The content of the result, and whether it is an error.
    fn into_content(self, description: &str) -> (Vec<Content>, bool) {
        let text = |text: String| Content::Text { text };
        match self {
            Self::Done(output, answer) => {
                let answer = answer.unwrap_or_default();
                let before = answer.words.as_deref().map(words::approved).unwrap_or_default();
                let mut content = output.content.into_iter().peekable();
                let first = match content.next_if(|content| matches!(content, Content::Text { .. })) {
                    Some(Content::Text { text }) => text,
                    _ => String::new(),
                };
                // Images alone are something too.
                let is_nothing = first.is_empty() && content.peek().is_none();
                let first = if is_nothing { words::NOTHING } else { &first };
                let result = format!("{before}{description} Result:\n{first}");
                let content = [text(result)].into_iter().chain(content);
                (content.chain(answer.images).collect(), false)
            }
            Self::Failed(failure) => (vec![text(words::error(&failure.message))], true),
            Self::Denied(answer) => {
                let words = text(words::denied(answer.words.as_deref()));
                ([words].into_iter().chain(answer.images).collect(), true)
            }
            Self::Cancelled => (vec![text(words::cancelled(description))], true),
            Self::Interrupted => (vec![text(words::interrupted())], true),
        }
    }
}
