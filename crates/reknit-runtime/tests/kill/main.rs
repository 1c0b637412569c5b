//! Sessions whose process is killed at random moments, and resumed: no decision is lost, nothing that was done is done
//! again, and files are old or new.
//!
//! `REKNIT_KILLS` says how often, `REKNIT_SEED` when. The process that is killed is this program itself, started with
//! a folder in `REKNIT_KILL_FOLDER`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use reknit::agent::{AgentEvent, Body, Entry};
use reknit_runtime::question::Question;
use reknit_runtime::store::{Sqlite, Store};

mod random;
mod session;

use random::Random;

/// The folder of a session: its files, its journal and its database.
const FOLDER: &str = "REKNIT_KILL_FOLDER";

/// How often processes are killed if nothing else is said; it takes less than a minute.
const KILLS: u64 = 200;

/// In how many microseconds a process is killed at the latest. Most sessions take longer.
const LONGEST_LIFE: u64 = 250_000;

/// A process that is still there after this long hangs.
const HANGS: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    if let Some(folder) = env::var_os(FOLDER) {
        return session::play(Path::new(&folder));
    }
    if !is_wanted() {
        return ExitCode::SUCCESS;
    }
    let number = |name: &str| env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let (kills, seed) = (number("REKNIT_KILLS").unwrap_or(KILLS), number("REKNIT_SEED").unwrap_or(1));
    let mut tally = Tally::default();
    let mut random = Random::new(seed);
    while tally.kills < kills {
        play(&mut random, kills, &mut tally);
    }
    println!("kill: ok, with REKNIT_SEED={seed}: {tally:?}");
    let is_meaningful = tally.interrupted > 0 && tally.asked_again > 0;
    assert!(is_meaningful || kills < 50, "the moments are badly chosen: {tally:?}");
    left_running();
    ExitCode::SUCCESS
}

/// Whether this test is one of those that the arguments name.
fn is_wanted() -> bool {
    let mut arguments = env::args().skip(1);
    let mut names = Vec::new();
    while let Some(argument) = arguments.next() {
        match &*argument {
            "--list" => return false,
            "--test-threads" => drop(arguments.next()),
            name if !name.starts_with('-') => names.push(argument),
            _ => {}
        }
    }
    names.is_empty() || names.iter().any(|name| "kill".contains(&**name))
}

/// What was seen, so that a test that tests nothing is noticed.
#[derive(Debug, Default)]
struct Tally {
    sessions: u64,
    kills: u64,
    /// Calls that were running when their process was killed.
    interrupted: usize,
    /// Questions that were open then.
    asked_again: usize,
    /// Calls that did something.
    done: usize,
}

/// Plays a session, with a process that is killed again and again, until it is over.
fn play(random: &mut Random, kills: u64, tally: &mut Tally) {
    let folder = tempfile::tempdir().unwrap();
    session::prepare(folder.path());
    tally.sessions += 1;
    let mut decided: Vec<Entry> = Vec::new();
    // Calls about which a question was open when their process was killed, and how many there had been.
    let mut open = BTreeMap::<String, usize>::new();
    loop {
        let mut child = start(folder.path());
        let moment = Duration::from_micros(random.below(LONGEST_LIFE));
        let was_killed = tally.kills < kills && kill_after(&mut child, moment);
        if was_killed {
            tally.kills += 1;
        } else {
            wait(&mut child);
        }
        let entries = read(folder.path());
        let now: Vec<Entry> = entries.iter().filter(|entry| is_decision(&entry.body)).cloned().collect();
        assert!(now.starts_with(&decided), "decisions were lost:\n{decided:#?}\nbecame\n{now:#?}");
        decided = now;
        for id in marks(folder.path()) {
            assert!(has_started(&entries, &id), "{id} ran, and the log does not know:\n{entries:#?}");
            let is_known = !is_command(&entries, &id) || has_group(&entries, &id);
            assert!(is_known, "{id} ran in a group that the log does not know:\n{entries:#?}");
        }
        session::check_files(folder.path());
        if !was_killed {
            for (id, times) in &open {
                assert!(questions(&entries, id) > *times, "{id} is not asked about again: {entries:#?}");
            }
            tally.asked_again += open.len();
            return check(folder.path(), &entries, tally);
        }
        open.extend(open_questions(&entries).into_iter().map(|id| (id.clone(), questions(&entries, &id))));
    }
}

/// What must hold when a session is over.
fn check(folder: &Path, entries: &[Entry], tally: &mut Tally) {
    let (mut calls, mut results) = (Vec::new(), BTreeMap::<String, Vec<String>>::new());
    for entry in entries {
        match &entry.body {
            Body::Agent(AgentEvent::ToolCall { tool_call }) => calls.push(tool_call.id.clone()),
            Body::Agent(AgentEvent::ToolResult { tool_result }) => {
                let text = tool_result.result.to_string();
                results.entry(tool_result.tool_call_id.clone()).or_default().push(text);
            }
            _ => {}
        }
    }
    for id in &calls {
        assert_eq!(results.get(id).map(Vec::len), Some(1), "{id}: {entries:#?}");
    }
    let mut ran = BTreeMap::<String, usize>::new();
    for id in marks(folder) {
        *ran.entry(id).or_default() += 1;
    }
    tally.done += ran.len();
    for (id, times) in ran {
        assert_eq!(times, 1, "{id} ran {times} times: {entries:#?}");
    }
    let is_interrupted =
        |texts: &&Vec<String>| texts.iter().any(|text| text.contains("was interrupted before"));
    tally.interrupted += results.values().filter(is_interrupted).count();
    // Nobody said no, so what was asked about has run, or was about to when the process was killed.
    for id in results.keys().filter(|id| questions(entries, id) > 0) {
        assert!(has_started(entries, id), "{id} was asked about and never ran: {entries:#?}");
    }
}

/// How often somebody was asked about a call.
fn questions(entries: &[Entry], call: &str) -> usize {
    entries.iter().filter_map(Question::of).filter(|(_, question)| question.call_id == call).count()
}

fn has_started(entries: &[Entry], call: &str) -> bool {
    let is_start =
        |entry: &Entry| matches!(&entry.body, Body::ToolStarted { tool_call_id } if tool_call_id == call);
    entries.iter().any(is_start)
}

fn is_command(entries: &[Entry], call: &str) -> bool {
    entries.iter().any(|entry| match &entry.body {
        Body::Agent(AgentEvent::ToolCall { tool_call }) => {
            tool_call.id == call && tool_call.name == "execute_command"
        }
        _ => false,
    })
}

fn has_group(entries: &[Entry], call: &str) -> bool {
    entries.iter().any(|entry| match &entry.body {
        Body::ToolStarted { tool_call_id } if tool_call_id == call => {
            entry.extra.get("body").is_some_and(|members| members.get("group").is_some())
        }
        _ => false,
    })
}

/// A command that a killed process left running is ended when its session is resumed.
fn left_running() {
    let folder = tempfile::tempdir().unwrap();
    session::prepare(folder.path());
    fs::write(folder.path().join("hold"), "").unwrap();
    let mut child = start(folder.path());
    let pid = folder.path().join("root/pid");
    let begun = Instant::now();
    let id = loop {
        match fs::read_to_string(&pid) {
            Ok(text) if text.ends_with('\n') => break text.trim().to_owned(),
            _ => assert!(begun.elapsed() < HANGS, "the command does not start"),
        }
        thread::yield_now();
    };
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(is_running(&id), "the command was ended with its session: there is nothing to test");
    fs::remove_file(folder.path().join("hold")).unwrap();
    let mut child = start(folder.path());
    wait(&mut child);
    assert!(!is_running(&id), "process {id} still runs");
    println!("kill: ok, a command that was left running is ended");
}

fn is_running(id: &str) -> bool {
    // One that has ended and was not waited for is a zombie.
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, fields)| !fields.starts_with(['Z', 'X']))
}

fn start(folder: &Path) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.env(FOLDER, folder).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
}

/// Kills a process after a while. Returns whether it was still there.
fn kill_after(child: &mut Child, time: Duration) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < time {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return false;
        }
        thread::sleep(Duration::from_micros(200));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    true
}

fn wait(child: &mut Child) {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return assert!(status.success(), "{status}");
        }
        if begun.elapsed() > HANGS {
            child.kill().unwrap();
            panic!("the session does not end");
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// The log of the session.
fn read(folder: &Path) -> Vec<Entry> {
    let path = session::database(folder);
    if !path.exists() {
        return Vec::new();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let store = Sqlite::open(path).unwrap();
    let entries = runtime.block_on(store.read(session::ID, 0, usize::MAX));
    entries.map(|entries| entries.into_iter().map(|stored| stored.entry).collect()).unwrap_or_default()
}

/// The calls that have done something outside the log, in order.
fn marks(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(marks_file(folder)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn marks_file(folder: &Path) -> PathBuf {
    folder.join("root/marks")
}

/// The calls about which the last question has no answer.
fn open_questions(entries: &[Entry]) -> Vec<String> {
    let mut open = BTreeMap::new();
    for entry in entries {
        if let Some((id, question)) = Question::of(entry) {
            open.insert(question.call_id, id.to_owned());
        }
        match &entry.body {
            Body::Decision { tool_call_id, .. } => drop(open.remove(tool_call_id)),
            Body::Agent(AgentEvent::ToolResult { tool_result }) => {
                drop(open.remove(&tool_result.tool_call_id));
            }
            _ => {}
        }
    }
    open.into_keys().collect()
}

/// What must survive.
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
