//! Sessions that act: the cost of a turn when there were many before it, many sessions at once, and how long a
//! provider's text takes to whoever watches.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
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

use super::{Bench, Group, Scale, memory};
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
    let (long, many, latency) = measured?;
    let ratio = long.last.rest.as_secs_f64() / long.first.rest.as_secs_f64();
    let (memory, grown) = memory(turns, long.request)?;
    let table = format!(
        "session: turns of a call and an answer\n\
         one of {turns} turns, in memory: {} each in the first tenth, {} in the last; without its requests {} \
         and {}, {ratio:.2} times as long\n\
         {memory}\
         {AT_ONCE} sessions at once, {each} turns each, in one SQLite database: {} in all, {} a turn\n\
         from a provider's text to the log, in the same database: half within {}, 99% within {}; to a subscriber {} \
         and {}; entries are collected for 20 ms\n",
        report::duration(long.first.whole),
        report::duration(long.last.whole),
        report::duration(long.first.rest),
        report::duration(long.last.rest),
        report::duration(many),
        report::duration(many / u32::try_from(AT_ONCE * each)?),
        report::duration(latency.log.half),
        report::duration(latency.log.most),
        report::duration(latency.subscriber.half),
        report::duration(latency.subscriber.most),
    );
    let targets = vec![
        Target::at_most("session: a turn after many, of one of the first", 2.0, Some(ratio)),
        Target::at_most("session: growth of memory at twice the turns", 2.2, grown),
    ];
    Ok(Group { table, targets, rows: Vec::new() })
}

/// What a long session takes in memory, beside its last request of so many bytes, and how that grows.
fn memory(turns: usize, request: usize) -> Result<(String, Option<f64>)> {
    let peak = |turns| memory::peak_of_child(memory::TURNS, &[turns]);
    let (Some(least), Some(half), Some(all)) = (peak(1)?, peak(turns / 2)?, peak(turns)?) else {
        return Ok(("its memory was not measured\n".to_owned(), None));
    };
    let (half, all) = (half.saturating_sub(least), all.saturating_sub(least));
    #[expect(clippy::cast_precision_loss, reason = "it is rounded anyway")]
    let (times, grown) = (all as f64 / request as f64, all as f64 / half as f64);
    let line = format!(
        "the same in SQLite: {} more memory than with one turn, {times:.1} times the last request ({}); {} with half \
         the turns\n",
        report::size(all),
        report::size(request),
        report::size(half)
    );
    Ok((line, Some(grown)))
}

/// Runs so many turns in a database, for a process whose memory is measured.
pub(super) fn in_database(turns: usize) -> Result<()> {
    let folder = std::env::temp_dir().join(format!("reknit-bench-turns-{}", std::process::id()));
    fs::create_dir_all(folder.join("root")).context("cannot create a folder")?;
    let done = Runtime::new().context("cannot start the runtime")?.block_on(async {
        let store: Arc<dyn Store> = Arc::new(Sqlite::open(folder.join("turns.db"))?);
        let (session, mut tail) = open_steady(&folder, "turns", store).await?;
        for _ in 0..turns {
            turn(&session, &mut tail, &mut Vec::new()).await?;
        }
        anyhow::Ok(())
    });
    fs::remove_dir_all(&folder).context("cannot remove the files")?;
    done
}

/// What a turn takes at the beginning and at the end of a long session.
struct Long {
    first: Turn,
    last: Turn,
    /// How many bytes its last request has.
    request: usize,
}

struct Turn {
    whole: Duration,
    /// From the beginning of its first reply to the start of its call, and from the beginning of its second reply to its
    /// end. What is left out is building the two requests and freeing them, which are as long as the session.
    rest: Duration,
}

/// When a reply went on after its beginning, or a call started.
type Marks = Arc<Mutex<Vec<Instant>>>;

async fn long(folder: &Path, turns: usize) -> Result<Long> {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let marks = Marks::default();
    let (session, mut tail) =
        open(folder, "long", store, Steady { marks: marks.clone() }, Look::new(marks.clone())).await?;
    let (mut wholes, mut rests) = (Vec::new(), Vec::new());
    let mut entries = Vec::new();
    for _ in 0..turns {
        let start = Instant::now();
        turn(&session, &mut tail, &mut entries).await?;
        let end = Instant::now();
        wholes.push(end - start);
        let marks = marks.lock().map(|mut marks| std::mem::take(&mut *marks));
        let Ok([first, call, second]) = marks.as_deref() else { bail!("a turn has two replies and a call") };
        rests.push((*call - *first) + (end - *second));
    }
    let tenth = turns / 10;
    let part = |range: std::ops::Range<usize>| Turn {
        whole: median(wholes[range.clone()].to_vec()),
        rest: median(rests[range].to_vec()),
    };
    let request = history::request(Dialect::Anthropic, &entries)?;
    let request = request.messages.iter().map(|message| message.to_string().len()).sum();
    Ok(Long { first: part(0..tenth), last: part(turns - tenth..turns), request })
}

async fn many(folder: &Path, turns: usize) -> Result<Duration> {
    let store: Arc<dyn Store> = Arc::new(Sqlite::open(folder.join("many.db"))?);
    let mut sessions = Vec::new();
    for number in 0..AT_ONCE {
        sessions.push(open_steady(folder, &format!("s{number}"), store.clone()).await?);
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

/// How long a provider's text takes until it is somewhere.
struct Latency {
    log: Times,
    subscriber: Times,
}

/// What half of all and 99% of all take at most.
struct Times {
    half: Duration,
    most: Duration,
}

impl Times {
    fn new(sent: &[Instant], seen: &[Instant]) -> Self {
        let mut times: Vec<_> = sent.iter().zip(seen).map(|(sent, seen)| *seen - *sent).collect();
        times.sort();
        Self { half: times[times.len() / 2], most: times[times.len() * 99 / 100] }
    }
}

async fn latency(folder: &Path, pieces: usize) -> Result<Latency> {
    let store: Arc<dyn Store> = Arc::new(Sqlite::open(folder.join("latency.db"))?);
    let sent = Arc::new(Mutex::new(Vec::new()));
    let provider = Ticking { pieces, sent: sent.clone() };
    let (session, mut tail) =
        open(folder, "latency", store.clone(), provider, Look::new(Marks::default())).await?;
    // Notes when the log has grown, and up to which entry.
    let mut changed = store.watch("latency").await?;
    let appended = Arc::new(Mutex::new(Vec::new()));
    let noted = appended.clone();
    let watching = tokio::spawn(async move {
        while changed.changed().await.is_ok() {
            if let Ok(mut noted) = noted.lock() {
                noted.push((*changed.borrow_and_update(), Instant::now()));
            }
        }
    });
    session.say("go").await;
    let (mut logged, mut seen) = (Vec::new(), Vec::new());
    loop {
        let entries = tail.next().await?;
        let now = Instant::now();
        for stored in entries {
            match stored.entry.body {
                // Each piece is one full stop.
                Body::Agent(AgentEvent::TextDelta { delta }) => {
                    seen.extend(delta.chars().map(|_| now));
                    logged.extend(delta.chars().map(|_| stored.entry.seq));
                }
                Body::End { .. } => {
                    watching.abort();
                    let (sent, appended) = (sent.lock(), appended.lock());
                    let (Ok(sent), Ok(appended)) = (sent, appended) else { bail!("a task has panicked") };
                    ensure!(seen.len() == pieces && sent.len() == pieces, "{} of {pieces} came", seen.len());
                    let logged = logged.iter().map(|seq| {
                        let at = appended.iter().find(|(last, _)| last >= seq);
                        at.map(|(_, at)| *at).context("an entry was read that was not announced")
                    });
                    let logged = logged.collect::<Result<Vec<_>>>()?;
                    return Ok(Latency {
                        log: Times::new(&sent, &logged),
                        subscriber: Times::new(&sent, &seen),
                    });
                }
                _ => {}
            }
        }
    }
}

async fn open_steady(folder: &Path, id: &str, store: Arc<dyn Store>) -> Result<(Session, Tail)> {
    let marks = Marks::default();
    open(folder, id, store, Steady { marks: marks.clone() }, Look::new(marks)).await
}

async fn open(
    folder: &Path,
    id: &str,
    store: Arc<dyn Store>,
    provider: impl Provider,
    tool: Look,
) -> Result<(Session, Tail)> {
    let (root, journal) = (Root::open(folder.join("root"))?, Journal::temporary()?);
    let workspace = Arc::new(Workspace::new(root, journal, folder.join("outputs")));
    let session = Session::builder(id, provider, workspace).store(store).tools(Tools::new().with(tool));
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

fn mark(marks: &Marks) {
    if let Ok(mut marks) = marks.lock() {
        marks.push(Instant::now());
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// A model that calls a tool, and answers once it has the result.
struct Steady {
    marks: Marks,
}

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
        // A script keeps what it is sent, which would be a copy of the session with every turn.
        let nothing = Request::new(String::new(), Vec::new(), Vec::new());
        let marks = self.marks.clone();
        Box::pin(async move {
            let pieces = Script::new([reply]).send(&nothing).await?;
            Ok(Box::new(Marking { pieces, stage: Stage::Before, marks }) as Box<dyn Pieces>)
        })
    }
}

struct Marking {
    pieces: Box<dyn Pieces>,
    stage: Stage,
    marks: Marks,
}

/// How far a reply is. It is a reply once the model says something; then its request is freed, and then the next
/// piece is asked for.
#[derive(PartialEq)]
enum Stage {
    Before,
    Begun,
    Marked,
}

impl Pieces for Marking {
    fn next(&mut self) -> Work<'_, Result<Option<Vec<u8>>, Error>> {
        Box::pin(async {
            if self.stage == Stage::Begun {
                self.stage = Stage::Marked;
                mark(&self.marks);
            }
            let piece = self.pieces.next().await?;
            let text = String::from_utf8_lossy(piece.as_deref().unwrap_or_default());
            if self.stage == Stage::Before && text.contains("content_block_start") {
                self.stage = Stage::Begun;
            }
            Ok(piece)
        })
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
    marks: Marks,
}

impl Look {
    fn new(marks: Marks) -> Self {
        Self { definition: Definition::new("look", Class::Read, "Looks at a file."), marks }
    }
}

impl Tool for Look {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn execute<'a>(&'a self, _: &'a Object, _: &'a Context) -> Work<'a, Result<Output, Failure>> {
        mark(&self.marks);
        Box::pin(async { Ok(Output::text("a line of the file\n".repeat(20))) })
    }
}
