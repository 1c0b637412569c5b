//! Every system call of a write, an undo and a recovery fails once, fails from there on, or is where the program is
//! killed. `strace` does that; without it the tests print `left out`.
//!
//! A test run takes some of the calls; with `REKNIT_INJECTED=100000` in the environment it takes all of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::folder::Folder;
use crate::safety::{BINARY, Tree, tree};

/// An answer with every kind of change.
const ANSWER: &str = "\
*** Begin Patch
*** Update File: a.txt
@@
-one
+1
*** Add File: n/m/g.txt
+6
*** Delete File: b.txt
*** Update File: c.txt
*** Move to: o/c.txt
*** Update File: d/e.txt
*** Move to: d/h.txt
@@
-four
+4
*** End Patch
";

const APPLY: &[&str] = &["apply", "--yes", "../answer.md"];
const UNDO: &[&str] = &["undo", "--yes"];
const LOG: &[&str] = &["log"];

/// A command, and how its folder comes to be.
#[derive(Clone, Copy, Debug)]
struct Scene {
    name: &'static str,
    /// Run one after the other, the last of them up to this rename if there is one, at which it is killed.
    before: &'static [&'static [&'static str]],
    killed_at: Option<usize>,
    command: &'static [&'static str],
    aim: Aim,
}

/// What a command is to do to the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aim {
    /// From old to new.
    Write,
    /// From new to old.
    Undo,
    /// From something between to one of them.
    Recover,
}

const SCENES: [Scene; 6] = [
    Scene { name: "apply", before: &[], killed_at: None, command: APPLY, aim: Aim::Write },
    Scene { name: "undo", before: &[APPLY], killed_at: None, command: UNDO, aim: Aim::Undo },
    Scene {
        name: "log after a killed apply",
        before: &[APPLY],
        killed_at: Some(4),
        command: LOG,
        aim: Aim::Recover,
    },
    Scene {
        name: "apply after a killed apply",
        before: &[APPLY],
        killed_at: Some(3),
        command: APPLY,
        aim: Aim::Write,
    },
    Scene {
        name: "undo after a killed undo",
        before: &[APPLY, UNDO],
        killed_at: Some(3),
        command: UNDO,
        aim: Aim::Undo,
    },
    Scene {
        name: "log after a killed undo",
        before: &[APPLY, UNDO],
        killed_at: Some(4),
        command: LOG,
        aim: Aim::Recover,
    },
];

impl Scene {
    fn set(&self) -> Folder {
        let folder = Folder::in_memory(&[
            ("a.txt", "one\n"),
            ("b.txt", "two\n"),
            ("c.txt", "three\n"),
            ("d/e.txt", "four\n"),
        ]);
        fs::write(folder.outside().join("answer.md"), ANSWER).expect("it can be written");
        for (index, command) in self.before.iter().enumerate() {
            match self.killed_at.filter(|_| index + 1 == self.before.len()) {
                Some(at) => {
                    let output = injected(&folder, "renameat2", &format!("signal=KILL:when={at}"), command);
                    assert_eq!(output.status.code(), None, "{}: it was killed", self.name);
                }
                None => assert_eq!(folder.run(command, "").code, Some(0)),
            }
        }
        folder
    }
}

pub(crate) fn has_strace() -> bool {
    let probe = Command::new("strace").args(["-o", "/dev/null", "true"]).stderr(Stdio::null()).status();
    let has = probe.is_ok_and(|status| status.success());
    if !has {
        println!("left out: `strace` is not there, or may not trace");
    }
    has
}

/// Runs the binary with something injected into a call.
pub(crate) fn injected(folder: &Folder, call: &str, what: &str, arguments: &[&str]) -> Output {
    let (trace, inject) = (format!("trace={call}"), format!("inject={call}:{what}"));
    traced(folder, Path::new("/dev/null"), &["-e", &trace, "-e", &inject], arguments)
}

fn traced(folder: &Folder, log: &Path, options: &[&str], arguments: &[&str]) -> Output {
    // One that waits for something that never comes is killed, and then has said nothing.
    let mut command = folder.command("timeout", &["--signal", "KILL", "60", "strace", "-f", "-o"]);
    command.arg(log).args(options).arg(BINARY).args(arguments).stdin(Stdio::null());
    command.output().expect("it is there")
}

/// A system call of a command: its name, and which one of that name.
type Point = (String, usize);

/// Every call that a command makes.
fn points(scene: &Scene) -> Vec<Point> {
    let folder = scene.set();
    let log = folder.outside().join("strace.log");
    traced(&folder, &log, &[], scene.command);
    let log = fs::read_to_string(log).expect("it was written");
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut points = Vec::new();
    for line in log.lines() {
        let Some((process, rest)) = line.split_once(' ') else { continue };
        let Some((call, _)) = rest.trim_start().split_once('(') else { continue };
        // What starts and ends a process cannot fail.
        if call.contains(|char: char| !char.is_ascii_alphanumeric() && char != '_')
            || matches!(call, "execve" | "exit" | "exit_group" | "rt_sigreturn")
        {
            continue;
        }
        let count = counts.entry((process, call)).or_default();
        *count += 1;
        points.push((call.to_owned(), *count));
    }
    points.sort();
    points.dedup();
    points
}

/// About as many of them as this run takes.
fn sample<T>(all: Vec<T>, wanted: usize) -> Vec<T> {
    let wanted = std::env::var("REKNIT_INJECTED").map_or(wanted, |count| count.parse().expect("a number"));
    // What is injected alternates, in twos and threes, and each gets its turn.
    let step = (all.len() / wanted.max(1)).max(1);
    let step = (step..).find(|step| step % 2 != 0 && step % 3 != 0).expect("there is one soon");
    all.into_iter().step_by(step).collect()
}

/// The files before and after the answer.
fn old_and_new() -> (Tree, Tree) {
    (tree(&SCENES[0].set()), tree(&SCENES[1].set()))
}

/// Whether a command has no means to say anything.
fn cannot_say(call: &str, what: &str, output: &Output) -> bool {
    match call {
        // That is what prints.
        "write" => what.ends_with('+') || output.stderr.is_empty(),
        // Without memory, or without its three streams, a program is ended, as if it were killed.
        "brk" | "mmap" | "munmap" | "mremap" | "mprotect" | "madvise" | "poll" => {
            output.status.code().is_none_or(|code| code > 128)
        }
        _ => false,
    }
}

/// What is wrong with the state in which a command left the files, and with what it says about it.
fn judge(
    scene: &Scene,
    output: &Output,
    (before, now): (&Tree, &Tree),
    (old, new): &(Tree, Tree),
) -> Result<(), String> {
    let said = String::from_utf8_lossy(&output.stderr);
    let says = |words: &str| said.contains(words);
    let (start, end) = if scene.aim == Aim::Undo { (new, old) } else { (old, new) };
    let is_whole = now == start || now == end;
    match (output.status.code(), scene.aim) {
        (Some(0), Aim::Recover) if is_whole => Ok(()),
        (Some(0), Aim::Write | Aim::Undo) if now == end => Ok(()),
        (Some(0), _) => Err("exit code 0, and the files are not as they should be"),
        _ if said.trim().is_empty() => Err("nothing is said"),
        (_, Aim::Recover) if is_whole => Ok(()),
        _ if (now == before || now == start) && !says("are written") => Ok(()),
        _ if now == end && (says("are written") || says("is unfinished")) => Ok(()),
        _ if now == end => Err("all files are written, and nothing says so"),
        _ if !is_whole && says("the next command") => Ok(()),
        _ => Err("files are left over, and nothing says so"),
    }
    .map_err(str::to_owned)
}

/// The next command makes everything whole, nothing is left over, and the work goes on from there.
fn check_next(folder: &Folder, (old, new): &(Tree, Tree)) -> Result<(), String> {
    let next = folder.run(LOG, "");
    let now = tree(folder);
    if next.code != Some(0) {
        return Err(format!("the next command: {}", next.stderr));
    }
    if now != *old && now != *new {
        return Err(format!("neither old nor new after the next command: {:?}\n{}", now.keys(), next.stderr));
    }
    if now == *old {
        let again = folder.run(APPLY, "");
        if again.code != Some(0) || tree(folder) != *new {
            return Err(format!("it cannot be applied again: {}", again.stderr));
        }
    }
    let undone = folder.run(UNDO, "");
    if undone.code != Some(0) || tree(folder) != *old {
        return Err(format!("it cannot be undone: {}", undone.stderr));
    }
    let strays = strays(&folder.outside().join("state/reknit/journal"));
    if strays.is_empty() { Ok(()) } else { Err(format!("left in the journal: {strays:?}")) }
}

/// What is in the journal and does not belong there.
fn strays(journal: &Path) -> Vec<String> {
    let mut strays = Vec::new();
    let mut folders = vec![journal.to_owned()];
    while let Some(folder) = folders.pop() {
        for found in fs::read_dir(&folder).expect("it is there") {
            let path = found.expect("it can be listed").path();
            let inside = path.strip_prefix(journal).expect("it is inside").to_str().expect("it is UTF-8");
            let is_known = match *inside.split('/').collect::<Vec<_>>() {
                ["counter" | "inodes" | "roots"] => true,
                ["inodes", name] => !name.contains('.'),
                ["roots", name] => name.len() == 16,
                ["roots", _, "root" | "lock" | "log" | "entries"] => true,
                ["roots", _, "entries", number] => number.parse::<u64>().is_ok(),
                _ => false,
            };
            if !is_known {
                strays.push(inside.to_owned());
            }
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    strays
}

/// Does something for each case, and fails with all that is wrong.
fn check_each<T: Sync>(
    cases: &[T],
    name: impl Fn(&T) -> String + Sync,
    check: impl Fn(&T) -> Result<(), String> + Sync,
) {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut wrong = Vec::new();
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(what) = check(case) {
                wrong.push(format!("{}: {what}", name(case)));
            }
        }
        wrong
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let threads = [scope.spawn(work), scope.spawn(work)];
        threads.into_iter().flat_map(|thread| thread.join().expect("it does not panic")).collect()
    });
    println!("{} cases, {} wrong", cases.len(), wrong.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// All cases of a kind: a scene, a call, and what is injected there.
fn cases(what: &[&str], wanted: usize) -> Vec<(Scene, Point, String)> {
    let of_scene = |scene: Scene| {
        let points = points(&scene);
        println!("{}: {} calls", scene.name, points.len());
        points.into_iter().flat_map(move |(call, at)| {
            what.iter().map(move |what| (scene, (call.clone(), at), what.replace('#', &at.to_string())))
        })
    };
    sample(SCENES.into_iter().flat_map(of_scene).collect(), wanted)
}

fn name((scene, (call, at), what): &(Scene, Point, String)) -> String {
    format!("{}, {call} {at}, {what}", scene.name)
}

#[test]
fn a_kill_at_a_system_call_leaves_old_or_new_files() {
    if !has_strace() {
        return;
    }
    let trees = old_and_new();
    check_each(&cases(&["signal=KILL:when=#"], 300), name, |(scene, (call, _), what)| {
        let folder = scene.set();
        injected(&folder, call, what, scene.command);
        check_next(&folder, &trees)
    });
}

#[test]
fn a_system_call_that_fails_is_reported_and_leaves_old_or_new_files() {
    if !has_strace() {
        return;
    }
    let trees = old_and_new();
    let what = [
        "error=EIO:when=#",
        "error=EIO:when=#+",
        "error=ENOSPC:when=#",
        "error=ENOSPC:when=#+",
        "error=EACCES:when=#",
        "error=EACCES:when=#+",
    ];
    check_each(&cases(&what, 400), name, |(scene, (call, _), what)| {
        let folder = scene.set();
        let before = tree(&folder);
        let output = injected(&folder, call, what, scene.command);
        let now = tree(&folder);
        let said = || format!("\n  {:?} {}", output.status.code(), String::from_utf8_lossy(&output.stderr));
        let judged = if cannot_say(call, what, &output) {
            Ok(())
        } else {
            judge(scene, &output, (&before, &now), &trees)
        };
        judged.and_then(|()| check_next(&folder, &trees)).map_err(|wrong| wrong + &said())
    });
}
