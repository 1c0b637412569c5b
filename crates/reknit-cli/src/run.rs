//! `reknit run`: a task, at the terminal, with tools, approval and undo.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, anyhow};
use clap::{Args, ValueHint};
use reknit::Hint;
use reknit::agent::{AgentEvent, Body, EndReason, Entry};
use reknit_runtime::approve::Careful;
use reknit_runtime::provider::ErrorKind;
use reknit_runtime::provider::recorded::Pace;
use reknit_runtime::question::Question;
use reknit_runtime::session::{Session, Timeouts, root_of, spent};
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
mod model;
mod prompt;
mod rows;
mod screen;

use draft::Draft;
use follow::{Display, follow};
use model::Chosen;
pub(crate) use screen::Screen;

/// Work on a task with a model that edits files and runs commands, after asking
#[derive(Args)]
#[command(after_help = "\
Examples:
  reknit run \"Fix the test\"    work on a task in the current directory; needs a model, see `reknit models`
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

    /// The model: its name in the configuration, or its provider and its own, such as `ollama/qwen3`
    #[arg(long, value_name = "NAME", conflicts_with_all = ["demo", "replay"])]
    model: Option<String>,

    /// The directory to work in; by default the current one
    #[arg(long, value_name = "DIR", conflicts_with_all = ["demo", "resume"], value_hint = ValueHint::DirPath)]
    root: Option<PathBuf>,

    /// Write every exchange with the model to a new file, with its request and without secrets
    #[arg(long, value_name = "FILE", conflicts_with_all = ["demo", "replay"], value_hint = ValueHint::FilePath)]
    record: Option<PathBuf>,

    /// Let a file that `--record` has written answer instead of a model
    #[arg(long, value_name = "FILE", conflicts_with = "demo", value_hint = ValueHint::FilePath)]
    replay: Option<PathBuf>,

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
    let Arguments { task, resume, model, root, record, replay, .. } = arguments;
    let is_about_a_model = model.is_some() || root.is_some() || record.is_some() || replay.is_some();
    if is_about_a_model && task.is_none() && resume.is_none() {
        let hint = "say what to do: `reknit run TASK`, or which session goes on: `--resume ID`";
        return Err(
            CommandError::with_hint(anyhow!("there is no task"), hint).explained_as(explain::WRONG_USE)
        );
    }
    let runtime = Runtime::new().context("cannot start the runtime")?;
    let outcome = runtime.block_on(play(arguments));
    // Whatever still runs is ended here, and not left to itself.
    runtime.shutdown_timeout(Duration::from_secs(1));
    outcome
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
        Self::of(&error).explained_as(explain::SESSION)
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
    is_demo: bool,
}

impl Play {
    fn demo() -> Result<Self, CommandError> {
        let (root, task) = (demo::project()?, Some(demo::TASK.to_owned()));
        Ok(Self { id: new_id(), root, task, entries: Vec::new(), is_demo: true })
    }

    fn new(task: &str, root: Option<&Path>) -> Self {
        let root = root.unwrap_or(Path::new(".")).to_owned();
        Self { id: new_id(), root, task: Some(task.to_owned()), entries: Vec::new(), is_demo: false }
    }

    async fn resumed(store: &dyn Store, id: &str, task: Option<String>) -> Result<Self, CommandError> {
        let entries = read_log(store, id).await?;
        let log = || entries.iter().map(|stored| &stored.entry);
        let is_demo = |entry: &Entry| match &entry.body {
            Body::Request { model, .. } => Some(model == demo::MODEL),
            _ => None,
        };
        let is_demo = log().find_map(is_demo) == Some(true);
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
        Ok(Self { id: id.to_owned(), root, task, entries, is_demo })
    }
}

async fn play(arguments: &Arguments) -> Result<Outcome, CommandError> {
    let store = open_store()?;
    let play = match (&arguments.resume, &arguments.task) {
        (Some(id), task) => Play::resumed(&*store, id, task.clone()).await?,
        (None, Some(task)) => Play::new(task, arguments.root.as_deref()),
        (None, None) => Play::demo()?,
    };
    let chosen = if play.is_demo {
        // Somebody who watches sees it as it would arrive; a program does not have to wait.
        let pace = if io::stdout().is_terminal() { Pace::Recorded } else { Pace::AtOnce };
        Chosen {
            provider: Arc::new(demo::provider(pace)?),
            timeouts: Timeouts::default(),
            hidden: Vec::new(),
        }
    } else {
        model::choose(arguments, &play.entries)?
    };
    let root = open_root(&play.root)?;
    let journal = open_journal(None)?;
    recover(&journal, &root)?;
    let workspace = Workspace::new(root, journal, outputs(&play.id)?).hiding(chosen.hidden);
    let workspace = Arc::new(workspace);

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
    let session = Session::builder(&play.id, chosen.provider, workspace.clone())
        .store(store.clone())
        .system(if play.is_demo { "" } else { prompt::SYSTEM })
        .timeouts(chosen.timeouts)
        .tools(tools::standard())
        .approver(approver.clone())
        .max_requests(arguments.max_turns)
        .open()
        .await?;
    let after = play.entries.last().map_or_else(Cursor::default, Stored::cursor);
    let (tail, _) = session.subscribe(after).await?;
    if !arguments.ndjson {
        greet(&play, workspace.root.path());
    }
    if let Some(task) = &play.task {
        session.say(task).await;
    }
    let allow = |question: &Question| {
        if play.is_demo {
            approver.allow(question);
        }
    };
    let outcome = follow(&session, tail, &mut display, allow).await;
    if !arguments.ndjson {
        say_goodbye(&play.id, &workspace, &outcome);
    }
    if !play.is_demo {
        let entries = read_log(&*store, &play.id).await?;
        if arguments.ndjson {
            say_what_failed(&entries);
        } else {
            say_what_it_took(&entries);
        }
    }
    outcome
}

fn greet(play: &Play, root: &Path) {
    let begin = match (&play.task, play.entries.is_empty()) {
        (Some(task), true) => format!("task: {task}"),
        (Some(task), false) => format!("session {} goes on: {task}", play.id),
        (None, _) => format!("session {} goes on", play.id),
    };
    print_message(format_args!("{begin}\nin {}\n", root.display()));
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

/// Says what a session has cost, and what to do about the error that ended it.
fn say_what_it_took(entries: &[Stored]) {
    let spent = spent(entries.iter().map(|stored| &stored.entry));
    if let (Some(input), Some(output)) = (spent.usage.input, spent.usage.output) {
        let cost = spent.cost.map_or_else(String::new, |cost| format!(", ${cost:.4}"));
        print_message(format_args!("tokens so far:     {input} in, {output} out{cost}"));
    }
    if let Some((_, kind)) = last_error(entries) {
        print_message(format_args!("hint: {}", kind.hint()));
        explain::point_to([explain::PROVIDER]);
    }
}

/// Says in words why a turn failed, for those who do not read its entries.
fn say_what_failed(entries: &[Stored]) {
    if let Some((error, kind)) = last_error(entries) {
        print_message(format_args!("error: {error}\nhint: {}", kind.hint()));
        explain::point_to([explain::PROVIDER]);
    }
}

/// The error of the provider that ended the last turn.
fn last_error(entries: &[Stored]) -> Option<(&str, ErrorKind)> {
    let log = entries.iter().rev().map(|stored| &stored.entry);
    let turn = log.take_while(|entry| !matches!(entry.body, Body::UserMessage { .. } | Body::Request { .. }));
    turn.filter_map(|entry| {
        let Body::Agent(AgentEvent::Error { error, .. }) = &entry.body else { return None };
        let kind = entry.extra.get("body")?.get("kind")?.as_str()?;
        Some((&**error, ErrorKind::named(&kind)?))
    })
    .next()
}

/// Ids sort by time, and two sessions that start in the same millisecond differ.
fn new_id() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", now.as_millis(), std::process::id())
}
