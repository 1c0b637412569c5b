//! `reknit undo` and `reknit log`: what was written is listed and taken back.

use std::fs;
use std::time::{Duration, SystemTime};

use expect_test::expect;
use reknit_workspace::{Batch, Journal, Root};

use crate::command::Run;
use crate::folder::{Folder, block_of};

/// A folder in which two answers were applied.
fn edited() -> Folder {
    let folder = Folder::new(&[("a.txt", "one\r\ntwo\r\n"), ("b.txt", "b\n")]);
    let first = block_of("a.txt", "one\n", "1\n") + &block_of("new/c.txt", "", "c\n");
    let second = block_of("a.txt", "two\n", "2\n");
    for answer in [first, second] {
        assert_eq!(folder.run(&["apply", "--yes"], answer).code, Some(0));
    }
    assert_eq!((folder.read("a.txt").as_str(), folder.read("new/c.txt").as_str()), ("1\r\n2\r\n", "c\n"));
    folder
}

/// What was printed, without the times.
fn timeless(run: &Run) -> String {
    let lines = run.stdout.lines().map(|line| match line.split_once("  20") {
        Some((id, rest)) => format!("{id}  …{}\n", &rest["26-01-01 00:00:00 UTC".len()..]),
        None => format!("{line}\n"),
    });
    lines.collect()
}

#[test]
fn undo_goes_back_step_by_step() {
    let folder = edited();
    let undone = folder.run(&["undo", "--yes"], "");
    assert_eq!((undone.code, undone.stdout.as_str()), (Some(0), ""));
    expect![[r#"
        updated `a.txt`
        run `reknit undo 3` to reverse this
    "#]]
    .assert_eq(&undone.stderr);
    assert_eq!(folder.read("a.txt"), "1\r\ntwo\r\n");

    let undone = folder.run(&["undo", "--yes"], "");
    expect![[r#"
        updated `a.txt`
        deleted `new/c.txt`
        run `reknit undo 4` to reverse this
    "#]]
    .assert_eq(&undone.stderr);
    assert_eq!(folder.bytes("a.txt"), b"one\r\ntwo\r\n");
    assert!(!folder.has("new"), "a directory that was made for a file goes with it");

    let nothing = folder.run(&["undo", "--yes"], "");
    assert_eq!(nothing.code, Some(1));
    expect![[r#"
        error: nothing to undo
        hint: `reknit log --all` lists changes in other directories
        see: `reknit explain undo`
    "#]]
    .assert_eq(&nothing.stderr);
}

#[test]
fn an_undo_is_undone_by_its_number() {
    let folder = edited();
    assert_eq!(folder.run(&["undo", "--yes", "1"], "").code, Some(1), "entry 2 changed the file since");
    assert_eq!(folder.run(&["undo", "--yes"], "").code, Some(0));
    assert_eq!(folder.run(&["undo", "--yes", "3"], "").code, Some(0));
    assert_eq!(folder.read("a.txt"), "1\r\n2\r\n");
    expect![[r#"
        4  …  undo of 3
            updated `a.txt`
        3  …  undo of 2, undone by 4
            updated `a.txt`
        2  …  apply
            updated `a.txt`
        1  …  apply
            updated `a.txt`
            created `new/c.txt`
    "#]]
    .assert_eq(&timeless(&folder.run(&["log"], "")));
    let again = folder.run(&["undo", "--yes", "3"], "");
    assert_eq!(again.code, Some(2));
    expect![[r#"
        error: entry 3 was already undone by entry 4
        hint: undo that entry to bring the changes back
        see: `reknit explain undo`
    "#]]
    .assert_eq(&again.stderr);
    assert_eq!(folder.run(&["undo", "--yes", "99"], "").code, Some(2));
}

#[test]
fn what_somebody_changed_since_is_not_lost() {
    let folder = edited();
    folder.write("a.txt", "mine\n");
    let refused = folder.run(&["undo", "--yes", "--json"], "");
    assert_eq!(refused.code, Some(1));
    expect![[r#"
        {"undoes":2,"files":[{"path":"a.txt","standing":"changed"}]}
    "#]]
    .assert_eq(&refused.stdout);
    expect![[r#"
        error: entry 2 cannot be undone: `a.txt`: changed since
        hint: `--force` overwrites files that have changed since, `--skip` leaves them as they are
        see: `reknit explain undo`
    "#]]
    .assert_eq(&refused.stderr);
    assert_eq!(folder.read("a.txt"), "mine\n");

    let forced = folder.run(&["undo", "--yes", "--force", "--json"], "");
    assert_eq!(forced.code, Some(0));
    expect![[r#"
        {"entry":3,"undoes":2,"files":[{"path":"a.txt","standing":"changed"}]}
    "#]]
    .assert_eq(&forced.stdout);
    assert_eq!(folder.read("a.txt"), "1\r\ntwo\r\n");
    assert_eq!(folder.run(&["undo", "--yes", "3"], "").code, Some(0));
    assert_eq!(folder.read("a.txt"), "mine\n");
}

#[test]
fn a_dry_run_shows_what_an_undo_changes() {
    let folder = edited();
    assert_eq!(folder.run(&["undo", "--yes"], "").code, Some(0));
    let dry = folder.run(&["undo", "--dry-run"], "");
    assert_eq!((dry.code, dry.stderr.as_str()), (Some(0), ""));
    expect![[r#"
        --- a/a.txt
        +++ b/a.txt
        @@ -1,2 +1,2 @@
        -1␍
        +one␍
         two␍
        diff --git a/new/c.txt b/new/c.txt
        deleted file mode 100644
        --- a/new/c.txt
        +++ /dev/null
        @@ -1 +0,0 @@
        -c
    "#]]
    .assert_eq(&dry.stdout.replace('\r', "␍"));
    assert_eq!(folder.read("a.txt"), "1\r\ntwo\r\n");
    let json = folder.run(&["undo", "--dry-run", "--json"], "");
    expect![[r#"
        {"undoes":1,"files":[{"path":"a.txt","standing":"ready"},{"path":"new/c.txt","standing":"ready"}]}
    "#]]
    .assert_eq(&json.stdout);
}

#[test]
fn nothing_is_undone_without_a_confirmation() {
    let folder = edited();
    let refused = folder.run(&["undo"], "");
    assert_eq!(refused.code, Some(2));
    assert!(
        refused
            .stderr
            .starts_with("error: cannot ask for confirmation: stdout is not a terminal\nhint: use `--yes`")
    );
    assert_eq!(folder.read("a.txt"), "1\r\n2\r\n");
}

#[test]
fn every_root_has_its_own_log() {
    let folder = edited();
    fs::create_dir(folder.root().join("other")).expect("it is new");
    let other = folder.run(&["log", "--root", "other"], "");
    assert_eq!((other.code, other.stdout.as_str()), (Some(0), ""));
    assert_eq!(other.stderr, "no changes; `--all` lists changes in other directories\n");
    assert_eq!(folder.run(&["undo", "--yes", "--root", "other"], "").code, Some(1));
    let named = folder.run(&["undo", "--yes", "2", "--root", "other"], "");
    assert_eq!(named.code, Some(2));
    assert!(named.stderr.starts_with("error: entry 2 belongs to another root: `"), "{}", named.stderr);
    // An entry that is named says itself where it belongs.
    let elsewhere = folder.command(env!("CARGO_BIN_EXE_reknit"), &["undo", "--yes", "2"]);
    let elsewhere = { elsewhere }.current_dir(folder.outside()).output().expect("it was built");
    assert_eq!(elsewhere.status.code(), Some(0));
    assert_eq!(folder.read("a.txt"), "1\r\ntwo\r\n");
    assert!(folder.run(&["log", "--all"], "").stdout.contains(", below `"));
}

#[test]
fn the_log_is_json_for_programs() {
    let folder = edited();
    assert_eq!(folder.run(&["undo", "--yes"], "").code, Some(0));
    let json: serde_json::Value =
        serde_json::from_str(&folder.run(&["log", "--json"], "").stdout).expect("it is JSON");
    let entries = json["entries"].as_array().expect("there is a list");
    let lines: Vec<serde_json::Value> = folder
        .run(&["log", "--ndjson"], "")
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("it is JSON"))
        .collect();
    assert_eq!(*entries, lines);
    let first = entries.last().expect("there are three");
    let root = folder.root().canonicalize().expect("it is there");
    assert_eq!(first["root"], root.to_str().expect("it is UTF-8"));
    assert_eq!(first["files"][1]["action"], "create");
    assert_eq!((&entries[0]["undoes"], &entries[1]["undone_by"]), (&2.into(), &3.into()));
    assert!(first["at"].as_str().is_some_and(|at| at.ends_with('Z')), "{first}");
}

#[test]
fn an_undo_that_changes_nothing_says_so_and_writes_nothing() {
    let folder = edited();
    let log = folder.run(&["log"], "").stdout;
    folder.write("a.txt", "1\r\ntwo\r\n");
    for arguments in [
        &["undo", "--yes"][..],
        // There is nothing to ask about.
        &["undo"],
        &["undo", "--yes", "--force"],
        &["undo", "--yes", "--skip"],
        &["undo", "--dry-run"],
    ] {
        let nothing = folder.run(arguments, "");
        assert_eq!((nothing.code, nothing.stdout.as_str()), (Some(1), ""), "{arguments:?}");
        expect![[r#"
            error: nothing to undo in entry 2: its files are as they were before it
            hint: `reknit log` lists other entries, and `reknit undo ID` undoes one of them
            see: `reknit explain undo`
        "#]]
        .assert_eq(&nothing.stderr);
    }
    // Nothing is left that could be undone and has not changed since.
    folder.write("a.txt", "another\n");
    let skipped = folder.run(&["undo", "--yes", "--skip"], "");
    assert_eq!(skipped.code, Some(1));
    assert!(
        skipped.stderr.starts_with("error: nothing to undo in entry 2: its files have changed"),
        "{}",
        skipped.stderr
    );
    assert_eq!(folder.run(&["log"], "").stdout, log);
    assert_eq!(folder.read("a.txt"), "another\n");
}

#[test]
fn each_file_of_an_undo_can_be_a_line() {
    let folder = edited();
    assert_eq!(folder.run(&["undo", "--yes"], "").code, Some(0));
    let shown = folder.run(&["undo", "--dry-run", "--ndjson"], "");
    let lines = "{\"undoes\":1,\"path\":\"a.txt\",\"standing\":\"ready\"}\n\
                 {\"undoes\":1,\"path\":\"new/c.txt\",\"standing\":\"ready\"}\n";
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), lines), "{}", shown.stderr);
    let undone = folder.run(&["undo", "--yes", "--ndjson"], "");
    assert_eq!(undone.stdout, lines.replace("{\"undoes\"", "{\"entry\":4,\"undoes\""));
}

#[test]
fn looking_at_a_journal_does_not_make_one() {
    let folder = Folder::new(&[("a.txt", "one\n")]);
    let log = folder.run(&["log"], "");
    assert_eq!((log.code, log.stdout.as_str()), (Some(0), ""));
    assert_eq!(log.stderr, "no changes; `--all` lists changes in other directories\n");
    assert_eq!(folder.run(&["log", "--all", "--json"], "").stdout, "{\"entries\":[]}\n");
    for arguments in [&["undo", "--yes"][..], &["undo"]] {
        let nothing = folder.run(arguments, "");
        assert_eq!(nothing.code, Some(1), "{arguments:?}");
        assert!(
            nothing.stderr.starts_with("error: nothing to undo\nhint: `reknit log --all`"),
            "{}",
            nothing.stderr
        );
    }
    assert!(!std::path::Path::new(&folder.state()).exists(), "the folder of the journal was made");
}

#[test]
fn a_directory_that_does_not_exist_is_an_error_at_once() {
    let folder = Folder::new(&[]);
    // Nothing is on standard input, and nobody could be asked.
    let missing = folder.run(&["apply", "--root", "nowhere"], "");
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("`nowhere`") && missing.stderr.contains("hint: "), "{}", missing.stderr);
    assert!(!missing.stderr.contains("confirmation"), "{}", missing.stderr);
}

/// A directory with two entries that are older than what the journal keeps.
fn with_old_entries() -> Folder {
    let folder = Folder::new(&[("a.txt", "0\n")]);
    let root = Root::open(folder.root()).expect("it is there");
    let journal = Journal::open(format!("{}/reknit/journal", folder.state())).expect("it can be made");
    let long_ago = SystemTime::now() - Duration::from_secs(40 * 24 * 60 * 60);
    for content in ["1\n", "2\n"] {
        let path = root.resolve("a.txt").expect("it is inside");
        let stamp = root.read(&path).expect("it is there").stamp;
        let mut batch = Batch::new("apply");
        batch.update(path, &stamp, [content.as_bytes()]);
        batch.commit(&root, &journal, long_ago).expect("it can be written");
    }
    folder
}

const PRUNED: &str = "note: the journal keeps 30 days and 1 GiB for each directory: this write removes 2 entries \
                      from it, up to entry 2, which cannot be undone then\n";

#[test]
fn what_the_journal_loses_is_said_before_a_write_or_an_undo() {
    let folder = with_old_entries();
    let applied = folder.run(&["apply", "--yes"], block_of("a.txt", "2\n", "3\n"));
    assert_eq!(applied.code, Some(0), "{}", applied.stderr);
    assert!(applied.stderr.starts_with(PRUNED), "{}", applied.stderr);
    // The entry that was just written is there.
    assert_eq!(folder.run(&["log", "--ndjson"], "").stdout.lines().count(), 1);
    let undone = folder.run(&["undo", "--yes"], "");
    assert_eq!((undone.code, folder.read("a.txt").as_str()), (Some(0), "2\n"), "{}", undone.stderr);
    assert!(!undone.stderr.contains("note"), "{}", undone.stderr);

    let folder = with_old_entries();
    let undone = folder.run(&["undo", "--yes"], "");
    assert_eq!((undone.code, folder.read("a.txt").as_str()), (Some(0), "1\n"), "{}", undone.stderr);
    assert!(undone.stderr.starts_with(PRUNED), "{}", undone.stderr);
    assert_eq!(folder.run(&["undo", "3", "--yes"], "").code, Some(0));
    assert_eq!(folder.read("a.txt"), "2\n");
}
