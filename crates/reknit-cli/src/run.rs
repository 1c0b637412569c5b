//! `reknit run`: a task, at the terminal, with tools, approval and undo.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, anyhow};
use clap::Args;
use reknit::agent::{Body, EndReason, Entry};
use reknit_runtime::approve::Careful;
use reknit_runtime::provider::recorded::Pace;
use reknit_runtime::session::{Session, root_of};
use reknit_runtime::store::{Cursor, Error, Memory, Sqlite, Store, Stored};
use reknit_runtime::tool::Workspace;
use reknit_runtime::tools;
use reknit_workspace::Journal;
use tokio::runtime::Runtime;

use crate::explain;
use crate::files::{open_journal, open_root, recover};
use crate::outcome::{CommandError, Outcome};
use crate::print_message;

mod demo;
mod draft;
mod follow;
mod keyboard;
mod screen;

use draft::Draft;
use follow::{Display, follow};
pub(crate) use screen::Screen;

/// Work on a task with a model that edits files and runs commands, after asking
#[derive(Args)]
#[command(after_help = "\
Examples:
  reknit run                    play a recorded session on a sample project: no key, no network
  reknit run --demo --yes       the same, without asking about edits
  reknit run --demo --ndjson    print the entries of its log instead
  reknit run --resume ID        go on with a session that was interrupted

At a question, `y` allows the call and `n` does not; anything else is said to the model, and the call does
not run. Answers are read from standard input. If it ends, what would have to be asked is denied.
Ctrl-C stops the turn; a second one ends the program at once.

Exit code: 0 done, 1 failed or stopped, 2 usage or other error, 130 Ctrl-C, 143 SIGTERM")]
pub(crate) struct Arguments {
    /// What to do; if omitted, the demo is played
    #[arg(value_name = "TASK", conflicts_with = "demo")]
    task: Option<String>,

    /// Play a recorded session on a temporary copy of a sample project
    #[arg(long)]
    demo: bool,

    /// Go on with a session that `reknit sessions` lists
    #[arg(long, value_name = "ID", conflicts_with = "demo")]
    resume: Option<String>,

    /// Do not ask about edits, which can be undone; commands are still asked about
    #[arg(long)]
    yes: bool,

    /// Stop after this many requests to the model
    #[arg(long, value_name = "COUNT", default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..))]
    max_turns: u32,

    /// Print the entries of the session's log, one JSON object per line
    #[arg(long)]
    ndjson: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, CommandError> {
    if arguments.task.is_some() && arguments.resume.is_none() {
        return Err(no_model());
    }
    let runtime = Runtime::new().context("cannot start the runtime")?;
    let outcome = runtime.block_on(play(arguments));
    // Whatever still runs is ended here, and not left to itself.
    runtime.shutdown_timeout(Duration::from_secs(1));
    outcome
}

fn no_model() -> CommandError {
    let what = anyhow!("there is no model to work on this task");
    let hint = "try `reknit run --demo`, which needs none; models with ANTHROPIC_API_KEY, OPENAI_API_KEY, \
                GEMINI_API_KEY or a local Ollama (OLLAMA_HOST) are not supported yet";
    CommandError::with_hint(what, hint).explained_as(explain::NO_MODEL)
}

/// Opens the store with the logs of sessions, or creates it.
pub(crate) fn open_store() -> Result<Arc<dyn Store>, CommandError> {
    Ok(Arc::new(Sqlite::open(store_file()?)?))
}

/// The same for a command that only looks at it: an empty one if there was no session yet.
pub(crate) fn existing_store() -> Result<Arc<dyn Store>, CommandError> {
    let file = store_file()?;
    let exists = file.try_exists().with_context(|| format!("cannot open `{}`", file.display()))?;
    if exists { open_store() } else { Ok(Arc::new(Memory::new())) }
}

fn store_file() -> Result<PathBuf, CommandError> {
    Ok(Journal::default_folder()?.with_file_name("sessions.db"))
}

/// Where the output of a session's commands is kept.
pub(crate) fn outputs(id: &str) -> Result<PathBuf, CommandError> {
    Ok(Journal::default_folder()?.with_file_name("outputs").join(id))
}

/// All entries of a session.
pub(crate) async fn read_log(store: &dyn Store, id: &str) -> Result<Vec<Stored>, CommandError> {
    const BATCH: usize = 4096;
    let mut entries: Vec<Stored> = Vec::new();
    loop {
        let more = store.read(id, entries.len() as u64, BATCH).await?;
        if more.is_empty() {
            return Ok(entries);
        }
        entries.extend(more);
    }
}

impl From<Error> for CommandError {
    fn from(error: Error) -> Self {
        Self::with_hint(anyhow!("{error}"), error.hint()).explained_as(explain::SESSION)
    }
}

/// What is said in a session that was stopped, if the user says nothing else.
const GO_ON: &str = "Please go on.";

/// What is played: a session from its start, or from where its log ends.
struct Play {
    id: String,
    root: PathBuf,
    /// What is said to the model, if the turn does not go on by itself.
    task: Option<String>,
    /// What is in its log.
    entries: Vec<Stored>,
}

impl Play {
    fn demo() -> Result<Self, CommandError> {
        let (root, task) = (demo::project()?, Some(demo::TASK.to_owned()));
        Ok(Self { id: new_id(), root, task, entries: Vec::new() })
    }

    async fn resumed(store: &dyn Store, id: &str, task: Option<String>) -> Result<Self, CommandError> {
        let entries = read_log(store, id).await?;
        let log = || entries.iter().map(|stored| &stored.entry);
        let is_demo = |entry: &Entry| match &entry.body {
            Body::Request { model, .. } => Some(model == demo::MODEL),
            _ => None,
        };
        if log().find_map(is_demo) == Some(false) {
            return Err(no_model());
        }
        let no_root = || anyhow!("the log of session `{id}` does not say which directory it worked in");
        let root = log().filter_map(root_of).next_back().ok_or_else(no_root)?;
        let task = match (task, entries.last().map(|stored| &stored.entry.body)) {
            (None, Some(Body::End { reason: EndReason::Done })) => {
                let what = anyhow!("session `{id}` is done");
                let hint = format!("say what else to do: `reknit run --resume {id} TASK`");
                return Err(CommandError::with_hint(what, hint).explained_as(explain::WRONG_USE));
            }
            // A turn that was stopped does not go on by itself.
            (None, Some(Body::End { .. })) => Some(GO_ON.to_owned()),
            (task, _) => task,
        };
        Ok(Self { id: id.to_owned(), root, task, entries })
    }
}

async fn play(arguments: &Arguments) -> Result<Outcome, CommandError> {
    let store = open_store()?;
    let play = match &arguments.resume {
        None => Play::demo()?,
        Some(id) => Play::resumed(&*store, id, arguments.task.clone()).await?,
    };
    let root = open_root(&play.root)?;
    let journal = open_journal(None)?;
    recover(&journal, &root)?;
    let workspace = Arc::new(Workspace::new(root, journal, outputs(&play.id)?));

    let mut display = if arguments.ndjson {
        Display::Entries { asked: Vec::new() }
    } else {
        let mut screen = Screen::new(Some(Draft::new(workspace.clone())));
        // What was shown before is not shown again, but what comes next depends on it.
        for stored in &play.entries {
            screen.push(&stored.entry, &mut io::sink())?;
        }
        screen.forget_questions();
        Display::Plain(Box::new(screen))
    };
    let careful = if arguments.yes { Careful::new().allowing_edits() } else { Careful::new() };
    let approver = demo::AskOnce::new(careful);
    // Somebody who watches sees it as it would arrive; a program does not have to wait.
    let pace = if io::stdout().is_terminal() { Pace::Recorded } else { Pace::AtOnce };
    let session = Session::builder(&play.id, demo::provider(pace)?, workspace.clone())
        .store(store)
        .tools(tools::standard())
        .approver(approver.clone())
        .max_requests(arguments.max_turns)
        .open()
        .await?;
    let after = play.entries.last().map_or_else(Cursor::default, Stored::cursor);
    let (tail, _) = session.subscribe(after).await?;
    if !arguments.ndjson {
        greet(&play);
    }
    if let Some(task) = &play.task {
        session.say(task).await;
    }
    let outcome = follow(&session, tail, &mut display, |question| approver.allow(question)).await;
    if !arguments.ndjson {
        say_goodbye(&play.id, &workspace, &outcome);
    }
    outcome
}

fn greet(play: &Play) {
    let begin = match (&play.task, play.entries.is_empty()) {
        (Some(task), true) => format!("task: {task}"),
        (Some(task), false) => format!("session {} goes on: {task}", play.id),
        (None, _) => format!("session {} goes on", play.id),
    };
    print_message(format_args!("{begin}\nin {}\n", play.root.display()));
}

/// Says where the files are, and what can be done now.
fn say_goodbye(id: &str, workspace: &Workspace, outcome: &Result<Outcome, CommandError>) {
    let root = workspace.root.path().display();
    let mut words = format!("\nthe files are in   {root}");
    if let Ok(Some(_)) = workspace.journal.newest(&workspace.root) {
        words += &format!("\nundo the edit:     reknit undo --root {root}");
    }
    words += &format!("\nsee it again:      reknit sessions show {id}");
    if !matches!(outcome, Ok(Outcome::Done)) {
        words += &format!("\ngo on with it:     reknit run --resume {id}");
    }
    print_message(format_args!("{words}"));
}

/// Ids sort by time, and two sessions that start in the same millisecond differ.
fn new_id() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", now.as_millis(), std::process::id())
}
