//! The process that is killed: a session that is played to its end, from wherever its log ends.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use reknit::Dialect;
use reknit::agent::{Body, EndReason};
use reknit::json::{Object, Value};
use reknit_runtime::provider::{Error, Pieces, Provider, Request};
use reknit_runtime::question::{Answer, Class, Question};
use reknit_runtime::session::Session;
use reknit_runtime::store::{Cursor, Sqlite, Store};
use reknit_runtime::testing::{Reply, Script};
use reknit_runtime::tool::{Context, Definition, Failure, Output, Tool, Work, Workspace};
use reknit_runtime::tools;
use reknit_workspace::{Journal, Root};

pub(crate) const ID: &str = "s";

/// How many replies the model gives before it is done.
const REPLIES: usize = 6;

pub(crate) fn database(folder: &Path) -> PathBuf {
    folder.join("state/sessions.db")
}

/// Writes the files that a session begins with.
pub(crate) fn prepare(folder: &Path) {
    fs::create_dir(folder.join("root")).unwrap();
    for name in ["a", "b"] {
        fs::write(folder.join("root").join(name), content(0)).unwrap();
    }
}

/// A file as a reply writes it: long enough that half of it can be told from all of it.
fn content(version: usize) -> String {
    format!("version {version}\n").repeat(2000)
}

/// A file is as some reply has written it, whole.
pub(crate) fn check_files(folder: &Path) {
    for name in ["a", "b"] {
        let text = fs::read_to_string(folder.join("root").join(name)).unwrap();
        // Replies that were cut off count too, so there may be more than was planned.
        assert!((0..100).any(|version| content(version) == text), "{name} is neither old nor new");
    }
}

pub(crate) fn play(folder: &Path) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(drive(folder));
    ExitCode::SUCCESS
}

async fn drive(folder: &Path) {
    let root = Root::open(folder.join("root")).unwrap();
    let journal = Journal::open(folder.join("state/journal")).unwrap();
    journal.recover(&root).unwrap();
    let workspace = Arc::new(Workspace::new(root, journal, folder.join("state/outputs")));
    let provider = ByRequest { hold: folder.join("hold") };
    let store = Arc::new(Sqlite::open(database(folder)).unwrap());
    let has_begun = store.read(ID, 0, 1).await.is_ok_and(|entries| !entries.is_empty());
    let session = Session::builder(ID, provider, workspace)
        .store(store)
        .tools(tools::standard().with(Mark::new("mark", Class::Write)).with(Mark::new("peek", Class::Read)))
        .max_requests(100)
        .open()
        .await
        .unwrap();
    let (mut tail, _) = session.subscribe(Cursor::default()).await.unwrap();
    if !has_begun {
        session.say("go").await;
    }
    loop {
        for stored in tail.next().await.unwrap() {
            if let Some((id, _)) = Question::of(&stored.entry) {
                // A question of an earlier process has nobody who waits for its answer.
                session.answer(id, Answer::yes()).await;
            }
            match stored.entry.body {
                Body::End { reason: EndReason::Done } => return,
                Body::End { reason } => panic!("the turn has ended as {reason:?}"),
                _ => {}
            }
        }
    }
}

/// A model whose reply depends on how many it has given.
struct ByRequest {
    hold: PathBuf,
}

impl ByRequest {
    fn reply(&self, number: usize) -> Reply {
        let id = |at: usize| format!("c{number}-{at}");
        let reply = Reply::new().text("Some words before it.");
        if self.hold.exists() {
            return reply.call(&id(0), "execute_command", r#"{"command": "echo $$ >pid; exec sleep 600"}"#);
        }
        if number >= REPLIES {
            return reply;
        }
        match number % 3 {
            0 => reply.call(&id(0), "peek", "{}").call(&id(1), "mark", "{}").call(&id(2), "mark", "{}"),
            1 => {
                let mut args = Object::new();
                args.insert("path", if number == 1 { "a" } else { "b" });
                args.insert("content", content(number));
                let args = Value::from(args).to_string();
                let middle = args.len() / 2;
                let pieces = [&args[..middle], &args[middle..]];
                reply.call_in_pieces(&id(0), "write_to_file", pieces).call(&id(1), "mark", "{}")
            }
            _ => {
                let command = format!(r#"{{"command": "echo {} >>marks; sleep 0.02"}}"#, id(0));
                reply.call(&id(0), "execute_command", &command).call(&id(1), "mark", "{}")
            }
        }
    }
}

impl Provider for ByRequest {
    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn model(&self) -> &str {
        "script"
    }

    fn send<'a>(&'a self, request: &'a Request) -> Work<'a, Result<Box<dyn Pieces>, Error>> {
        let is_reply =
            |message: &&Value| message.get("role").and_then(Value::as_str).as_deref() == Some("assistant");
        let number = request.messages.iter().filter(is_reply).count();
        let script = Script::new([self.reply(number)]);
        Box::pin(async move {
            let pieces = script.send(request).await?;
            Ok(Box::new(Slowly(pieces)) as Box<dyn Pieces>)
        })
    }
}

/// A reply that takes its time, so that a process can be killed in the middle of it.
struct Slowly(Box<dyn Pieces>);

impl Pieces for Slowly {
    fn next(&mut self) -> Work<'_, Result<Option<Vec<u8>>, Error>> {
        Box::pin(async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            self.0.next().await
        })
    }
}

/// A tool that leaves a mark outside the log, if it does more than read.
struct Mark {
    definition: Definition,
}

impl Mark {
    fn new(name: &str, class: Class) -> Self {
        Self { definition: Definition::new(name, class, "Leaves a mark.") }
    }
}

impl Tool for Mark {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn execute<'a>(&'a self, _: &'a Object, context: &'a Context) -> Work<'a, Result<Output, Failure>> {
        Box::pin(async move {
            let path = context.workspace().root.path().join("marks");
            let mut file = fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
            // In one write: a process that is killed between two would leave half a line.
            file.write_all(format!("{}\n", context.call_id()).as_bytes()).unwrap();
            // The result is not there at once.
            tokio::time::sleep(Duration::from_millis(3)).await;
            Ok(Output::text("marked"))
        })
    }
}
