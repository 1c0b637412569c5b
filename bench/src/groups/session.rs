//! Sessions that act: the cost of a turn when there were many before it, many sessions at once, and how long a
//! provider's text takes to whoever watches.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use reknit::Dialect;
use reknit::agent::{AgentEvent, Body, Entry};
use reknit::history;
use reknit::json::Object;
use reknit_runtime::provider::{Error, Pieces, Provider, Request};
use reknit_runtime::question::Class;
use reknit_runtime::session::Session;
use reknit_runtime::store::{Cursor, Memory, Sqlite, Store, Tail};
use reknit_runtime::testing::{Reply, Script};
use reknit_runtime::tool::{Context, Definition, Failure, Output, Tool, Tools, Work, Workspace};
use reknit_workspace::{Journal, Root};
use tokio::runtime::Runtime;

use super::{Bench, Group, Scale};
use crate::report::{self, Target};

/// How many sessions run at once.
const AT_ONCE: usize = 100;

/// How far apart the pieces of a reply are whose way is timed: about as fast as models write.
const APART: Duration = Duration::from_millis(7);

pub(crate) fn run(bench: &Bench) -> Result<Group> {
    let (turns, each, pieces) = match bench.scale {
        Scale::Full => (1_000, 10, 1_000),
        Scale::Quick => (300, 3, 200),
    };
    let folder = std::env::temp_dir().join(format!("reknit-bench-session-{}", std::process::id()));
    fs::create_dir_all(folder.join("root")).context("cannot create a folder")?;
    let runtime = Runtime::new().context("cannot start the runtime")?;
    let measured = runtime.block_on(async {
        let long = long(&folder, turns).await?;
        let many = many(&folder, each).await?;
        anyhow::Ok((long, many, latency(&folder, pieces).await?))
    });
    drop(runtime);
    fs::remove_dir_all(&folder).context("cannot remove the files")?;
    let (Long { first, last }, many, Latency { half, most }) = measured?;
    let ratio = last.rest().as_secs_f64() / first.rest().as_secs_f64();
    let table = format!(
        "session: turns of a call and an answer\n\
         one of {turns} turns, in memory: {} each in the first tenth, {} in the last; without building requests {} \
         and {}, {ratio:.2} times as long\n\
         {AT_ONCE} sessions at once, {each} turns each, in one SQLite database: {} in all, {} a turn\n\
         from a provider's text to a subscriber, by the same database: half within {}, 99% within {}; entries are \
         collected for 20 ms\n",
        report::duration(first.turn),
        report::duration(last.turn),
        report::duration(first.rest()),
        report::duration(last.rest()),
        report::duration(many),
        report::duration(many / u32::try_from(AT_ONCE * each)?),
        report::duration(half),
        report::duration(most),
    );
    let targets = vec![Target::at_most("session: a turn after many, of one of the first", 2.0, Some(ratio))];
    Ok(Group { table, targets, rows: Vec::new() })
}

/// What a turn takes at the beginning and at the end of a long session.
struct Long {
    first: Turn,
    last: Turn,
}

#[derive(Clone, Copy)]
struct Turn {
    turn: Duration,
    /// To build its two requests.
    requests: Duration,
}

impl Turn {
    fn rest(self) -> Duration {
        self.turn.saturating_sub(self.requests)
    }
}

async fn long(folder: &Path, turns: usize) -> Result<Long> {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let (session, mut tail) = open(folder, "long", store, Steady).await?;
    let mut entries = Vec::new();
    let mut times = Vec::new();
    let mut built = Vec::new();
    for _ in 0..turns {
        let start = Instant::now();
        turn(&session, &mut tail, &mut entries).await?;
        times.push(start.elapsed());
        let start = Instant::now();
        history::request(Dialect::Anthropic, &entries)?;
        built.push(start.elapsed());
    }
    let tenth = turns / 10;
    let part = |range: std::ops::Range<usize>| Turn {
        turn: median(times[range.clone()].to_vec()),
        requests: median(built[range].to_vec()) * 2,
    };
    Ok(Long { first: part(0..tenth), last: part(turns - tenth..turns) })
}

async fn many(folder: &Path, turns: usize) -> Result<Duration> {
    let store: Arc<dyn Store> = Arc::new(Sqlite::open(folder.join("many.db"))?);
    let mut sessions = Vec::new();
    for number in 0..AT_ONCE {
        sessions.push(open(folder, &format!("s{number}"), store.clone(), Steady).await?);
    }
    let start = Instant::now();
    let tasks: Vec<_> = sessions
        .into_iter()
        .map(|(session, mut tail)| {
            tokio::spawn(async move {
                let mut entries = Vec::new();
                for _ in 0..turns {
                    turn(&session, &mut tail, &mut entries).await?;
                }
                anyhow::Ok(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    Ok(start.elapsed())
}

/// How long a provider's text takes to a subscriber.
struct Latency {
    half: Duration,
    most: Duration,
}

async fn latency(folder: &Path, pieces: usize) -> Result<Latency> {
    let store: Arc<dyn Store> = Arc::new(Sqlite::open(folder.join("latency.db"))?);
    let sent = Arc::new(Mutex::new(Vec::new()));
    let (session, mut tail) = open(folder, "latency", store, Ticking { pieces, sent: sent.clone() }).await?;
    session.say("go").await;
    let mut seen = Vec::new();
    loop {
        let entries = tail.next().await?;
        let now = Instant::now();
        for stored in entries {
            match stored.entry.body {
                // Each piece is one full stop.
                Body::Agent(AgentEvent::TextDelta { delta }) => seen.extend(delta.chars().map(|_| now)),
                Body::End { .. } => {
                    let sent = sent.lock().map_err(|_| anyhow::anyhow!("the provider has panicked"))?;
                    anyhow::ensure!(
                        seen.len() == pieces && sent.len() == pieces,
                        "{} of {pieces} came",
                        seen.len()
                    );
                    let mut times: Vec<_> =
                        sent.iter().zip(&seen).map(|(sent, seen)| *seen - *sent).collect();
                    times.sort();
                    return Ok(Latency { half: times[pieces / 2], most: times[pieces * 99 / 100] });
                }
                _ => {}
            }
        }
    }
}

async fn open(
    folder: &Path,
    id: &str,
    store: Arc<dyn Store>,
    provider: impl Provider,
) -> Result<(Session, Tail)> {
    let (root, journal) = (Root::open(folder.join("root"))?, Journal::temporary()?);
    let workspace = Arc::new(Workspace::new(root, journal, folder.join("outputs")));
    let session =
        Session::builder(id, provider, workspace).store(store).tools(Tools::new().with(Look::new()));
    let session = session.open().await?;
    let (tail, _) = session.subscribe(Cursor::default()).await?;
    Ok((session, tail))
}

/// Says something and waits until the turn is over.
async fn turn(session: &Session, tail: &mut Tail, entries: &mut Vec<Entry>) -> Result<()> {
    session.say("What is in the file?").await;
    loop {
        let more = tail.next().await?;
        let is_over = more.iter().any(|stored| matches!(stored.entry.body, Body::End { .. }));
        entries.extend(more.into_iter().map(|stored| stored.entry));
        if is_over {
            return Ok(());
        }
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// A model that calls a tool, and answers once it has the result.
struct Steady;

impl Provider for Steady {
    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn model(&self) -> &str {
        "steady"
    }

    fn send<'a>(&'a self, request: &'a Request) -> Work<'a, Result<Box<dyn Pieces>, Error>> {
        let count = request.messages.len();
        let has_result = request.messages.last().is_some_and(|last| last.to_string().contains("tool_result"));
        let reply = if has_result {
            Reply::new().text("It is as long as it was.")
        } else {
            Reply::new().text("I look.").call(&format!("c{count}"), "look", "{}")
        };
        let script = Script::new([reply]);
        Box::pin(async move { script.send(request).await })
    }
}

/// A model that writes a full stop from time to time, and notes when.
struct Ticking {
    pieces: usize,
    sent: Arc<Mutex<Vec<Instant>>>,
}

impl Provider for Ticking {
    fn dialect(&self) -> Dialect {
        Dialect::OpenAiChat
    }

    fn model(&self) -> &str {
        "ticking"
    }

    fn send<'a>(&'a self, _: &'a Request) -> Work<'a, Result<Box<dyn Pieces>, Error>> {
        let ticks = Ticks { left: self.pieces, is_over: false, sent: self.sent.clone() };
        Box::pin(async { Ok(Box::new(ticks) as Box<dyn Pieces>) })
    }
}

struct Ticks {
    left: usize,
    is_over: bool,
    sent: Arc<Mutex<Vec<Instant>>>,
}

impl Pieces for Ticks {
    fn next(&mut self) -> Work<'_, Result<Option<Vec<u8>>, Error>> {
        Box::pin(async {
            if self.left == 0 {
                let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
                return Ok((!std::mem::replace(&mut self.is_over, true)).then(|| end.as_bytes().to_vec()));
            }
            self.left -= 1;
            tokio::time::sleep(APART).await;
            if let Ok(mut sent) = self.sent.lock() {
                sent.push(Instant::now());
            }
            let delta = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\".\"}}],\"id\":\"c\",\"model\":\"m\"}\n\n";
            Ok(Some(delta.as_bytes().to_vec()))
        })
    }
}

struct Look {
    definition: Definition,
}

impl Look {
    fn new() -> Self {
        Self { definition: Definition::new("look", Class::Read, "Looks at a file.") }
    }
}

impl Tool for Look {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn execute<'a>(&'a self, _: &'a Object, _: &'a Context) -> Work<'a, Result<Output, Failure>> {
        Box::pin(async { Ok(Output::text("a line of the file\n".repeat(20))) })
    }
}
