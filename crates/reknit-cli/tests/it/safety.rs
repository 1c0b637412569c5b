//! Files survive whatever happens to the program: signals, kills, calls that fail, and odd names and places.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use expect_test::expect;

use crate::folder::{Folder, block_of};
use crate::injected::{has_strace, injected};

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_reknit");

/// What is at each path below the root: the content of a file, or a directory.
pub(crate) type Tree = BTreeMap<String, Option<Vec<u8>>>;

/// All files below the root, temporary ones and empty directories included.
pub(crate) fn tree(folder: &Folder) -> Tree {
    fn walk(folder: &Path, prefix: &str, tree: &mut Tree) {
        for found in fs::read_dir(folder).expect("it is there") {
            let found = found.expect("it can be listed");
            let path = format!("{prefix}{}", found.file_name().to_string_lossy());
            if found.path().is_dir() {
                walk(&found.path(), &format!("{path}/"), tree);
                tree.insert(path, None);
            } else {
                tree.insert(path, Some(fs::read(found.path()).expect("it can be read")));
            }
        }
    }
    let mut tree = BTreeMap::new();
    walk(&folder.root(), "", &mut tree);
    tree
}

/// A folder with files, and an answer outside of it that changes each and adds some in new directories.
fn many(count: usize) -> Folder {
    let folder = Folder::new(&[]);
    let mut answer = String::new();
    for number in 0..count {
        folder.write(&format!("d{}/f{number}", number % 7), format!("old {number}\n"));
        answer += &block_of(&format!("d{}/f{number}", number % 7), &format!("old {number}\n"), "new\n");
    }
    answer += &block_of("n/m/new", "", "new\n");
    fs::write(folder.outside().join("answer.md"), answer).expect("it can be written");
    folder
}

fn apply(folder: &Folder) -> Command {
    let mut command = folder.command(BINARY, &["apply", "--yes", "../answer.md"]);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status();
    assert!(sent.is_ok(), "there is no `kill`");
}

/// Waits until a moment, without giving up the processor.
fn spin(duration: Duration) {
    let start = Instant::now();
    while start.elapsed() < duration {
        std::hint::spin_loop();
    }
}

/// Numbers that look random and are the same in every run.
fn numbers() -> impl Iterator<Item = u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 16
    })
}

/// Whenever a signal comes, all files are written and the exit code is 0, or none is and it is that of the signal.
#[test]
fn a_signal_ends_a_write_at_a_whole_state() {
    let (mut finished, mut stopped) = (0, 0);
    let mut numbers = numbers();
    for (name, number) in [("TERM", 15), ("HUP", 1), ("QUIT", 3), ("INT", 2)] {
        for attempt in 0..6 {
            let folder = many(60);
            let old = tree(&folder);
            let child = apply(&folder).spawn().expect("it was built");
            // Until the first temporary file is there, because before that a signal ends the program as always; and
            // every other time until the first file is written.
            while attempt % 2 == 1 && folder.read("d0/f0") != "new\n" {}
            while !fs::read_dir(folder.root().join("d0")).expect("it is there").any(|found| {
                found.is_ok_and(|found| found.file_name().to_string_lossy().starts_with(".reknit-"))
            }) && tree(&folder) == old
            {}
            spin(Duration::from_micros(numbers.next().expect("they do not end") % 1000));
            send(name, &child);
            // Whoever is impatient sends it twice.
            send(name, &child);
            let output = child.wait_with_output().expect("it ends");
            let errors = String::from_utf8(output.stderr).expect("it is text");
            let now = tree(&folder);
            match output.status.code() {
                Some(0) => {
                    finished += 1;
                    assert_eq!(now.len(), old.len() + 3, "{errors}");
                    assert!(now.values().flatten().all(|content| content == b"new\n"), "{errors}");
                }
                Some(code) if code == 128 + number => {
                    stopped += 1;
                    assert_eq!(now, old, "{errors}");
                    assert!(
                        errors.contains(&format!("stopped by SIG{name}: nothing was written")),
                        "{errors}"
                    );
                }
                // It came when everything was done, and the program was only printing.
                None => assert!(now.values().flatten().all(|content| content == b"new\n"), "{errors}"),
                code => panic!("{code:?}: {errors}"),
            }
        }
    }
    println!("{finished} finished, {stopped} stopped");
    assert!(stopped > 0, "no signal came at the right time");
}

/// After a kill, the next command finishes or takes back, and nothing is left over.
fn check_after_kill(folder: &Folder, trees: [&Tree; 2], what: &str) -> bool {
    let next = folder.run(&["log"], "");
    assert_eq!(next.code, Some(0), "{what}: {}", next.stderr);
    let now = tree(folder);
    assert!(now == *trees[0] || now == *trees[1], "{what}: neither old nor new: {}", next.stderr);
    now == *trees[1]
}

#[test]
fn a_kill_at_any_moment_leaves_old_or_new_files() {
    let folder = many(60);
    let old = tree(&folder);
    let start = Instant::now();
    assert!(apply(&folder).status().expect("it was built").success());
    let duration = start.elapsed();
    let new = tree(&folder);
    let mut outcomes = [0; 2];
    for number in numbers().take(40) {
        let folder = many(60);
        let mut child = apply(&folder).stderr(Stdio::null()).spawn().expect("it was built");
        spin(duration * u32::try_from(number % 1000).expect("it is small") / 1000);
        child.kill().expect("it is ours");
        child.wait().expect("it ends");
        outcomes[usize::from(check_after_kill(&folder, [&old, &new], "a kill"))] += 1;
        // The same answer can be applied, or the undo taken, as if nothing had happened.
        if tree(&folder) == old {
            let again = apply(&folder).output().expect("it was built");
            assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
        }
        assert_eq!(folder.run(&["undo", "--yes"], "").code, Some(0));
        assert_eq!(tree(&folder), old);
    }
    println!("{outcomes:?} old and new");
}

/// A small project, and whether the answer is applied to it.
fn small(is_applied: bool) -> Folder {
    let folder = Folder::new(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    let answer = block_of("a.txt", "one\n", "1\n")
        + &block_of("b.txt", "two\n", "2\n")
        + &block_of("n/c.txt", "", "3\n");
    fs::write(folder.outside().join("answer.md"), answer).expect("it can be written");
    if is_applied {
        assert_eq!(folder.run(&["apply", "--yes", "../answer.md"], "").code, Some(0));
    }
    folder
}

const APPLY: [&str; 3] = ["apply", "--yes", "../answer.md"];
const UNDO: [&str; 2] = ["undo", "--yes"];

#[test]
fn an_interrupted_undo_is_undone_by_the_obvious_command() {
    if !has_strace() {
        return;
    }
    let folder = small(true);
    assert_eq!(folder.run(&["apply", "--yes"], block_of("a.txt", "1\n", "one more\n")).code, Some(0));
    let new = tree(&folder);
    let killed = injected(&folder, "renameat2", "signal=KILL:when=1", &UNDO);
    assert_eq!(killed.status.code(), None);
    let next = folder.run(&UNDO, "");
    assert_eq!(next.code, Some(0), "{}", next.stderr);
    assert!(
        next.stderr.starts_with("note: entry 3 was interrupted and is taken back: its files are as before\n"),
        "{}",
        next.stderr
    );
    assert_eq!(folder.read("a.txt"), "1\n");
    assert_ne!(tree(&folder), new);
}

#[test]
fn a_name_with_a_line_feed_is_one_line_of_the_log() {
    let folder = Folder::new(&[("x\n9  2026-01-01 00:00:00 UTC  apply\n    created `forged", "one\n")]);
    let call = serde_json::json!({"path": "x\n9  2026-01-01 00:00:00 UTC  apply\n    created `forged", "old_str": "one", "new_str": "two"});
    let run = folder.run(&["apply", "--yes", "--format", "str-replace"], call.to_string());
    assert_eq!((run.code, run.stderr.lines().count()), (Some(0), 2), "{}", run.stderr);
    let log = folder.run(&["log"], "");
    assert_eq!(log.stdout.lines().count(), 2, "{}", log.stdout);
    assert!(log.stdout.contains("updated `x␊9  2026"), "{}", log.stdout);
}

#[test]
fn a_report_that_cannot_be_printed_does_not_hide_that_files_are_written() {
    let folder = small(false);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("the system has it");
    let mut command = folder.command(BINARY, &["apply", "--yes", "--json", "../answer.md"]);
    let output = command.stdin(Stdio::null()).stdout(full).output().expect("it was built");
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).expect("it is text");
    assert!(errors.contains("run `reknit undo 1` to undo this\n"), "{errors}");
    assert!(errors.ends_with("the files are written; only the report could not be printed\n"), "{errors}");
    assert_eq!(folder.read("a.txt"), "1\n");

    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("the system has it");
    let mut command = folder.command(BINARY, &["undo", "--yes", "--ndjson"]);
    let output = command.stdin(Stdio::null()).stdout(full).output().expect("it was built");
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).expect("it is text");
    assert!(errors.ends_with("the files are written; only the report could not be printed\n"), "{errors}");
    assert_eq!(folder.read("a.txt"), "one\n");
}

#[test]
fn a_folder_that_cannot_be_written_is_no_end() {
    let folder = small(false);
    // A file is where the journal should be, which stops a superuser too.
    fs::write(folder.state(), "").expect("it can be written");
    let refused = folder.run(&APPLY, "");
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains(
            "hint: choose a folder with `--journal`, or use `apply --no-journal` to write without undo\n"
        ),
        "{}",
        refused.stderr
    );
    assert_eq!(folder.read("a.txt"), "one\n");

    let elsewhere = folder.run(&["apply", "--yes", "--journal", "../elsewhere", "../answer.md"], "");
    assert_eq!(elsewhere.code, Some(0), "{}", elsewhere.stderr);
    assert_eq!(folder.run(&["log", "--journal", "../elsewhere"], "").stdout.lines().count(), 4);
    assert_eq!(folder.run(&["undo", "--yes", "--journal", "../elsewhere"], "").code, Some(0));
    assert_eq!(folder.read("a.txt"), "one\n");

    let without = folder.run(&["apply", "--yes", "--no-journal", "--ndjson", "../answer.md"], "");
    assert_eq!(without.code, Some(0), "{}", without.stderr);
    assert!(
        without.stderr.ends_with("written without a journal: this cannot be undone\n"),
        "{}",
        without.stderr
    );
    assert!(!without.stdout.contains("\"entry\""), "{}", without.stdout);
    assert_eq!(folder.read("a.txt"), "1\n");
}

#[test]
fn a_moved_project_is_undone_where_it_is_now() {
    let folder = small(true);
    let new = folder.outside().join("renamed");
    fs::rename(folder.root(), &new).expect("it can be renamed");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(BINARY);
        command.args(arguments).current_dir(folder.outside()).env("XDG_STATE_HOME", folder.state());
        command.stdin(Stdio::null()).output().expect("it was built")
    };
    let undone = run(&["undo", "1", "--yes", "--root", "renamed"]);
    assert_eq!(undone.status.code(), Some(0), "{}", String::from_utf8_lossy(&undone.stderr));
    assert_eq!(fs::read(new.join("a.txt")).expect("it is there"), b"one\n");
    // By its number alone, from anywhere.
    assert_eq!(run(&["undo", "2", "--yes"]).status.code(), Some(0));
    assert_eq!(fs::read(new.join("a.txt")).expect("it is there"), b"1\n");
}

#[test]
fn odd_roots_and_paths_get_an_error_that_helps() {
    let folder = Folder::new(&[("a.txt", "one\n")]);
    let missing = folder.run(&["apply", "--yes", "--root", "nowhere"], block_of("a.txt", "one\n", "1\n"));
    assert_eq!(missing.code, Some(2));
    expect![[r#"
        error: `nowhere`: no such directory
        hint: check the path of the directory, which must exist
        see: `reknit explain path`
    "#]]
    .assert_eq(&missing.stderr);
    let home = folder.run(&["apply", "--yes"], block_of("~/x.txt", "", "1\n"));
    expect![[r#"
        error: edit 1: `~/x.txt`: `~` is not the home directory here
        hint: use a path relative to the root, or an absolute one inside it
        see: `reknit explain path`
    "#]]
    .assert_eq(&home.stderr);
    let long = vec!["d".repeat(200); 25].join("/");
    let long = folder.run(&["apply", "--yes"], block_of(&long, "", "1\n"));
    assert!(long.stderr.contains("and a path may have 4031\nhint: use a shorter path\n"), "{}", long.stderr);
    assert!(!folder.has("~") && fs::read_dir(folder.root()).expect("it is there").count() == 1);
}

#[test]
fn a_repository_in_any_form_is_refused_before_anything_is_asked() {
    let folder = Folder::new(&[("store/HEAD", "x"), ("store/objects/x", "x"), ("store/refs/x", "x")]);
    symlink("store", folder.root().join(".git")).expect("it is new");
    for path in ["store/config", ".git/config", "store/hooks/pre-commit"] {
        let run = folder.run(&["apply", "--dry-run"], block_of(path, "", "[core]\n"));
        assert_eq!(run.code, Some(1), "{path}: {}", run.stderr);
        assert!(run.stderr.contains("git"), "{path}: {}", run.stderr);
    }
}

#[test]
fn what_the_journal_has_lost_is_skipped() {
    let folder = small(true);
    let roots = folder.outside().join("state/reknit/journal/roots");
    let root = fs::read_dir(roots)
        .expect("it is there")
        .next()
        .expect("there is one")
        .expect("it can be listed")
        .path();
    let entry = root.join("entries/1");
    let mut bytes = fs::read(&entry).expect("it is there");
    let plan = bytes.iter().position(|&byte| byte == b'\n').expect("it has lines");
    bytes[plan + 13] ^= 1;
    fs::write(&entry, bytes).expect("it can be written");
    let refused = folder.run(&UNDO, "");
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains("hint: `--skip` undoes the other files of the entry; "),
        "{}",
        refused.stderr
    );
    assert_eq!(folder.run(&["undo", "--yes", "--skip"], "").code, Some(0));
    assert_eq!((folder.read("a.txt").as_str(), folder.read("b.txt").as_str()), ("1\n", "two\n"));
}

#[test]
fn the_log_has_twenty_entries_unless_asked_for_more() {
    let folder = Folder::new(&[("a.txt", "0\n")]);
    for number in 0..23 {
        let answer = block_of("a.txt", &format!("{number}\n"), &format!("{}\n", number + 1));
        assert_eq!(folder.run(&["apply", "--yes"], answer).code, Some(0));
    }
    let count = |arguments: &[&str]| folder.run(arguments, "").stdout.lines().count();
    assert_eq!(count(&["log", "--ndjson"]), 20);
    assert_eq!(count(&["log", "--ndjson", "-n", "3"]), 3);
    assert_eq!(count(&["log", "--ndjson", "-n", "100"]), 23);
    assert_eq!(count(&["log", "--ndjson", "--all", "--number", "22"]), 22);
}

/// A damaged newest entry is not passed over in silence.
#[test]
fn an_undo_does_not_pass_over_a_damaged_entry() {
    let folder = small(true);
    assert_eq!(folder.run(&["apply", "--yes"], block_of("b.txt", "2\n", "two more\n")).code, Some(0));
    let roots = folder.outside().join("state/reknit/journal/roots");
    let root = fs::read_dir(roots)
        .expect("it is there")
        .next()
        .expect("there is one")
        .expect("it can be listed")
        .path();
    fs::write(root.join("entries/2"), "damaged").expect("it can be written");
    let refused = folder.run(&UNDO, "");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.starts_with("error: entry 2 of the journal is damaged: "), "{}", refused.stderr);
    assert_eq!(folder.read("a.txt"), "1\n");
    assert_eq!(folder.run(&["log"], "").code, Some(1));
}

/// A file that a container mounts by itself cannot be replaced.
#[test]
fn a_file_that_is_a_mount_point_gets_an_error_that_says_so() {
    let moved = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: b.txt\n*** End Patch\n";
    let deleted = "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n";
    for answer in [block_of("a.txt", "one\n", "1\n").as_str(), moved, deleted] {
        let folder = Folder::new(&[("a.txt", "one\n"), ("source.txt", "one\n")]);
        let script = format!("mount --bind source.txt a.txt && exec {BINARY} apply --yes");
        let mut command = folder.command("unshare", &["--mount", "sh", "-c", &script]);
        let Ok(mut child) = command.spawn() else {
            println!("left out: there is no `unshare`");
            return;
        };
        let mut stdin = child.stdin.take().expect("it is on a pipe");
        drop(stdin.write_all(answer.as_bytes()));
        drop(stdin);
        let errors = child.wait_with_output().expect("it ends").stderr;
        let errors = String::from_utf8(errors).expect("it is text");
        if errors.contains("unshare") || errors.contains("mount:") {
            println!("left out: this user cannot mount: {errors}");
            return;
        }
        expect![[r#"
            error: `a.txt`: a mount point of its own, which cannot be replaced
            hint: write the file where it is mounted from, or mount its directory instead
            see: `reknit explain write`
        "#]]
        .assert_eq(&errors);
        assert_eq!((folder.read("a.txt").as_str(), tree(&folder).len()), ("one\n", 2));
    }
}

#[test]
fn a_hard_link_gets_a_note_and_a_hole_stays_a_hole() {
    use std::os::unix::fs::MetadataExt as _;
    let folder = Folder::new(&[("a.txt", "one\n")]);
    fs::hard_link(folder.root().join("a.txt"), folder.root().join("b.txt")).expect("it can be linked");
    let run = folder.run(&["apply", "--yes"], block_of("a.txt", "one\n", "1\n"));
    assert!(
        run.stderr.contains("warning: `a.txt`: other hard links keep the old content: 1\n"),
        "{}",
        run.stderr
    );

    let path = folder.root().join("sparse.txt");
    fs::write(&path, "start\n").expect("it can be written");
    fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .and_then(|file| file.set_len(64 << 20))
        .expect("it can grow");
    let run = folder.run(&["apply", "--yes"], block_of("sparse.txt", "start\n", "begin\n"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let metadata = fs::metadata(&path).expect("it is there");
    assert_eq!(metadata.len(), 64 << 20);
    assert!(metadata.blocks() * 512 < 1 << 20, "{} blocks", metadata.blocks());
    assert_eq!(metadata.permissions().mode() & 0o777, 0o644);
}
