//! Sessions whose program dies: what was decided is kept, and what was done is not done again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use reknit::agent::{AgentEvent, Body, EndReason, Entry};
use reknit_runtime::question::{Answer, Question};
use reknit_runtime::store::{Error, Lease, Memory, Store, Stored, Summary};
use reknit_runtime::testing::Reply;
use reknit_runtime::tool::Work;
use tokio::sync::watch;

use crate::world::World;

/// A store on a disk that loses what was not synced when the machine crashes.
pub(crate) struct Forgetful {
    memory: Memory,
    state: Mutex<State>,
    /// Whether the disk answers.
    answers: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    /// The last entry that is on the disk.
    synced: u64,
    epoch: u64,
    /// Whatever still runs has nothing to do with the machine any more.
    has_crashed: bool,
}

impl Forgetful {
    pub(crate) fn new() -> Self {
        let (memory, state) = (Memory::new(), Mutex::default());
        Self { memory, state, answers: watch::Sender::new(true) }
    }

    fn memory(&self) -> Result<&Memory, Error> {
        let gone = Error::Failed { doing: "reach the disk", why: "the machine has crashed".into() };
        if self.state.lock().unwrap().has_crashed { Err(gone) } else { Ok(&self.memory) }
    }

    /// The machine crashes. What is on the disk is there when it starts again.
    pub(crate) async fn crash(&self) -> Self {
        let (synced, epoch) = {
            let mut state = self.state.lock().unwrap();
            state.has_crashed = true;
            (state.synced, state.epoch)
        };
        let kept = self.memory.read("s", 0, synced as usize).await.unwrap();
        let new = Self::new();
        // Epochs are synced, so that no two writers ever have the same one.
        while new.lease("s").await.unwrap().epoch < epoch {}
        let kept: Vec<Entry> = kept.into_iter().map(|stored| stored.entry).collect();
        new.append("s", epoch, 0, kept).await.unwrap();
        new.sync("s").await.unwrap();
        new
    }
}

impl Store for Forgetful {
    fn append<'a>(
        &'a self,
        session: &'a str,
        epoch: u64,
        after: u64,
        entries: Vec<Entry>,
    ) -> Work<'a, Result<u64, Error>> {
        Box::pin(async move { self.memory()?.append(session, epoch, after, entries).await })
    }

    fn sync<'a>(&'a self, session: &'a str) -> Work<'a, Result<(), Error>> {
        Box::pin(async move {
            let last = self.memory()?.read(session, 0, usize::MAX).await?.len() as u64;
            // A disk takes its time, and others have theirs.
            tokio::task::yield_now().await;
            let _ = self.answers.subscribe().wait_for(|answers| *answers).await;
            self.memory()?;
            let mut state = self.state.lock().unwrap();
            state.synced = state.synced.max(last);
            Ok(())
        })
    }

    fn read<'a>(
        &'a self,
        session: &'a str,
        after: u64,
        limit: usize,
    ) -> Work<'a, Result<Vec<Stored>, Error>> {
        Box::pin(async move { self.memory()?.read(session, after, limit).await })
    }

    fn watch<'a>(&'a self, session: &'a str) -> Work<'a, Result<watch::Receiver<u64>, Error>> {
        Box::pin(async move { self.memory()?.watch(session).await })
    }

    fn lease<'a>(&'a self, session: &'a str) -> Work<'a, Result<Lease, Error>> {
        Box::pin(async move {
            let lease = self.memory()?.lease(session).await?;
            self.state.lock().unwrap().epoch = lease.epoch;
            Ok(lease)
        })
    }

    fn sessions(&self) -> Work<'_, Result<Vec<Summary>, Error>> {
        Box::pin(async move { self.memory()?.sessions().await })
    }

    fn delete<'a>(&'a self, session: &'a str) -> Work<'a, Result<(), Error>> {
        Box::pin(async move { self.memory()?.delete(session).await })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn nothing_decided_is_lost_and_nothing_done_is_done_again(
        tools in prop::collection::vec(prop::sample::select(vec!["read", "write", "fail"]), 1..7),
        crashes in prop::collection::vec(1usize..40, 0..6),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        // In a task of its own: only tasks take turns, so that a crash can come between any two steps.
        runtime.block_on(async { tokio::spawn(async move { play(&tools, &crashes).await }).await.unwrap() });
    }
}

async fn play(tools: &[&str], crashes: &[usize]) {
    let replies = tools.chunks(2).enumerate().map(|(number, tools)| {
        let calls = tools.iter().enumerate();
        calls.fold(Reply::new().text("Next."), |reply, (at, tool)| {
            reply.call(&format!("c{number}-{at}"), tool, r#"{"what": "it"}"#)
        })
    });
    // A request that was answered before a crash may be sent once more.
    let rest = (0..crashes.len() + 1).map(|_| Reply::new().text("Done."));
    let mut world = World::new(replies.chain(rest));
    let mut store = Arc::new(Forgetful::new());
    world.store = store.clone();

    let mut crashes = crashes.iter();
    // What was on the disk when the machine crashed.
    let mut decided: Vec<Body> = Vec::new();
    // How often each call ran.
    let mut runs = BTreeMap::<String, usize>::new();
    let entries = loop {
        let (session, mut watch) = world.open().await;
        if store.state.lock().unwrap().synced == 0 {
            session.say("go").await;
        }
        let (mut count, limit) = (0, crashes.next().copied());
        let ended = loop {
            let until = watch.until(|entry| match (&entry.body, Question::of(entry)) {
                (Body::End { .. }, _) => Some(Step::End),
                (_, Some((id, _))) => Some(Step::Ask(id.to_owned())),
                _ => Some(Step::Other),
            });
            let step = tokio::select! {
                biased;
                Some(did) = world.did.recv() => {
                    *runs.entry(did).or_default() += 1;
                    Step::Other
                }
                step = until => step,
            };
            count += 1;
            match step {
                Step::End => break true,
                _ if Some(count) == limit => break false,
                Step::Ask(id) => session.answer(id, Answer::yes()).await,
                Step::Other => {}
            }
        };
        drop(session);
        if ended {
            break watch.entries;
        }
        store = Arc::new(store.crash().await);
        world.store = store.clone();
        let kept = store.read("s", 0, usize::MAX).await.unwrap();
        let now: Vec<Body> = kept.into_iter().map(|stored| stored.entry.body).filter(is_decision).collect();
        assert!(now.starts_with(&decided), "{decided:#?}\nbecame\n{now:#?}");
        decided = now;
    };
    // That a call starts is on the disk before it does anything, so none runs twice.
    while let Ok(did) = world.did.try_recv() {
        *runs.entry(did).or_default() += 1;
    }
    assert!(runs.values().all(|count| *count == 1), "{runs:?}");
    let (mut calls, mut answered) = (Vec::new(), Vec::new());
    for entry in &entries {
        match &entry.body {
            Body::Agent(AgentEvent::ToolCall { tool_call }) => calls.push(tool_call.id.clone()),
            Body::Agent(AgentEvent::ToolResult { tool_result }) => {
                answered.push(tool_result.tool_call_id.clone());
            }
            _ => {}
        }
    }
    for id in calls {
        assert_eq!(answered.iter().filter(|answered| **answered == id).count(), 1, "{id}: {entries:#?}");
    }
}

#[tokio::test]
async fn text_is_seen_and_nothing_runs_while_the_disk_does_not_answer() {
    let (reply, gate) = Reply::new().call("a", "read", "{}").text("still here").step_by_step();
    let mut world = World::new([reply, Reply::new().text("Done.")]);
    let store = Arc::new(Forgetful::new());
    world.store = store.clone();
    let (session, mut watch) = world.open().await;
    session.say("go").await;
    // The first event of the reply: the request was on the disk before it was sent.
    gate.send(()).await.unwrap();
    gate.send(()).await.unwrap();
    store.answers.send_replace(false);
    drop(gate);
    let text = watch.until(|entry| match &entry.body {
        Body::Agent(AgentEvent::TextDelta { delta }) => Some(delta.clone()),
        _ => None,
    });
    assert_eq!(text.await, "still here");
    watch.started("a").await;
    assert!(world.did.try_recv().is_err(), "that it starts is not on the disk yet");
    store.answers.send_replace(true);
    assert_eq!(world.did.recv().await.unwrap(), "read a");
    assert_eq!(watch.end().await, EndReason::Done);
}

enum Step {
    Ask(String),
    End,
    Other,
}

/// What must survive a crash.
fn is_decision(body: &Body) -> bool {
    matches!(
        body,
        Body::UserMessage { .. }
            | Body::Decision { .. }
            | Body::ToolStarted { .. }
            | Body::End { .. }
            | Body::Agent(AgentEvent::ToolResult { .. })
    )
}
