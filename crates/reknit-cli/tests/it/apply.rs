//! `reknit apply`: edits to contents, files, diffs and reports.

use std::fs;
use std::io::Read;

use expect_test::expect;

use crate::command::Run;
use crate::folder::{Folder, block, block_of};

const MAIN: &str = "fn main() {\n    let limit = 10;\n    run(limit);\n}\n";

fn changed() -> String {
    block("    let limit = 10;\n", "    let limit = 20;\n")
}

#[test]
fn the_new_content_is_printed_byte_for_byte() {
    let folder = Folder::new(&[]);
    let original = b"\xEF\xBB\xBFone\r\ncaf\xC3\xA9  \r\nthree\nfour";
    folder.write("a.txt", original);
    let printed = folder.output(&["apply", "--original", "a.txt"], block("café  \n", "tea\n"));
    assert_eq!(printed.stdout, b"\xEF\xBB\xBFone\r\ntea\r\nthree\nfour");
    assert_eq!((printed.status.code(), printed.stderr), (Some(0), Vec::new()));
    assert_eq!(folder.bytes("a.txt"), original);

    folder.write("latin.txt", b"caf\xE9\nmenu\n");
    let printed = folder.output(&["apply", "--original", "latin.txt"], block("menu\n", "list\n"));
    assert_eq!(printed.stdout, b"caf\xE9\nlist\n");
    let json = folder.run(&["apply", "--original", "latin.txt", "--json"], block("menu\n", "list\n"));
    assert!(json.stdout.contains(r#""action":"update","bytes":"Y2Fm6QpsaXN0Cg==","#), "{}", json.stdout);
}

#[test]
fn an_original_is_edited_whatever_the_answer_calls_it() {
    let folder = Folder::new(&[("main.rs", MAIN)]);
    let answer = block_of("src/other.rs", "    run(limit);\n", "    stop(limit);\n");
    let printed = folder.run(&["apply", "--original", "main.rs"], &answer);
    assert_eq!(printed.stdout, MAIN.replace("run", "stop"));

    let answer = answer + &block_of("src/third.rs", "}\n", "\n");
    let several = folder.run(&["apply", "--original", "main.rs"], answer);
    assert_eq!((several.code, several.stdout.as_str()), (Some(2), ""));
    expect![[r#"
        error: the answer edits 2 files: `src/other.rs`, `src/third.rs`
        hint: `--original` is for one file; use `--root DIR` for files below a directory
        see: `reknit explain wrong-use`
    "#]]
    .assert_eq(&several.stderr);
}

#[test]
fn a_rejection_prints_nothing_and_says_why() {
    let folder = Folder::new(&[("a.txt", "start()\nwait()\nstart()\n")]);
    let answer = block("wait()\n", "rest()\n") + &block("start()\n", "begin()\n");
    let rejected = folder.run(&["apply", "--original", "a.txt"], &answer);
    assert_eq!((rejected.code, rejected.stdout.as_str()), (Some(1), ""));
    expect![[r#"
        error: edit 2 of `a.txt`: search text matches at lines 1 and 3
        hint: add lines around the search text until it occurs once
        see: `reknit explain ambiguous`
    "#]]
    .assert_eq(&rejected.stderr);

    let kept = folder.run(&["apply", "--original", "a.txt", "--keep-going"], &answer);
    assert_eq!((kept.code, kept.stdout.as_str()), (Some(1), "start()\nrest()\nstart()\n"));
    assert_eq!(kept.stderr, rejected.stderr);
}

#[test]
fn an_answer_without_edits_is_never_taken_for_unchanged() {
    let folder = Folder::new(&[("a.txt", "one\n")]);
    for answer in ["", "I have fixed the bug.\n"] {
        let none = folder.run(&["apply", "--original", "a.txt", "--keep-going"], answer);
        assert_eq!((none.code, none.stdout.as_str()), (Some(1), ""));
        expect![[r#"
            error: no edits found in the answer
            hint: if there are any, name their format with `--format`
            see: `reknit explain no-edits`
        "#]]
        .assert_eq(&none.stderr);
        let json = folder.run(&["apply", "--yes", "--format", "search-replace", "--json"], answer);
        assert_eq!(json.code, Some(1));
        expect![[r#"
            {"format":"search-replace","files":[],"problems":[{"kind":"no-edits","message":"no edits found in the answer","hint":"if there are any, name their format with `--format`"}]}
        "#]]
        .assert_eq(&json.stdout);
    }
}

#[test]
fn a_cut_answer_changes_nothing() {
    let folder = Folder::new(&[("a.txt", "one\ntwo\n")]);
    let answer = block_of("a.txt", "one\n", "1\n") + "<<<<<<< SEARCH\ntwo\n=======\n2";
    let cut = folder.run(&["apply", "--yes"], answer);
    assert_eq!((cut.code, cut.stdout.as_str()), (Some(1), ""));
    assert!(cut.stderr.contains("the answer ends inside an edit"), "{}", cut.stderr);
    assert_eq!(folder.read("a.txt"), "one\ntwo\n");
}

#[test]
fn files_are_written_all_or_none() {
    let folder = Folder::new(&[("src/main.rs", MAIN), ("b.txt", "b\n")]);
    let edits = block_of("src/main.rs", "    run(limit);\n", "    stop(limit);\n")
        + &block_of("src/main.rs", "fn main() {\n", "fn start() {\n")
        + &block_of("docs/new.md", "", "# New\n");
    let broken = edits.clone() + &block_of("b.txt", "nowhere\n", "c\n");
    let refused = folder.run(&["apply", "--yes"], broken);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""));
    expect![[r#"
        error: edit 4 of `b.txt`: search text not found
        hint: copy the lines to search for from the file
        see: `reknit explain no-match`
    "#]]
    .assert_eq(&refused.stderr);
    assert_eq!(folder.read("src/main.rs"), MAIN);
    assert!(!folder.has("docs"));
    assert_eq!(folder.run(&["log"], "").stdout, "");

    let written = folder.run(&["apply", "--yes"], edits);
    assert_eq!((written.code, written.stdout.as_str()), (Some(0), ""));
    expect![[r#"
        updated `src/main.rs`, 2 edits
        created `docs/new.md`
        run `reknit undo 1` to undo this
    "#]]
    .assert_eq(&written.stderr);
    assert_eq!(folder.read("src/main.rs"), MAIN.replace("run", "stop").replace("main", "start"));
    assert_eq!(folder.read("docs/new.md"), "# New\n");
}

#[test]
fn what_has_a_place_is_written_if_that_is_wanted() {
    let folder = Folder::new(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    let answer = block_of("a.txt", "one\n", "1\n") + &block_of("b.txt", "three\n", "3\n");
    let kept = folder.run(&["apply", "--yes", "--keep-going"], answer);
    assert_eq!(kept.code, Some(1));
    expect![[r#"
        error: edit 2 of `b.txt`: search text not found
        hint: copy the lines to search for from the file
        see: `reknit explain no-match`
        updated `a.txt`, 1 edit
        run `reknit undo 1` to undo this
    "#]]
    .assert_eq(&kept.stderr);
    assert_eq!((folder.read("a.txt"), folder.read("b.txt")), ("1\n".to_owned(), "two\n".to_owned()));
}

#[test]
fn nothing_is_written_without_a_confirmation() {
    let folder = Folder::new(&[("a.txt", "one\n")]);
    for arguments in [&["apply"][..], &["apply", "--root", "."], &["apply", "--json"]] {
        let refused = folder.run(arguments, block_of("a.txt", "one\n", "1\n"));
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
        expect![[r#"
            error: cannot ask for confirmation: stdout is not a terminal
            hint: use `--yes` to write without confirmation, or `--dry-run` to see what would change
            see: `reknit explain wrong-use`
        "#]]
        .assert_eq(&refused.stderr);
    }
    assert_eq!(folder.read("a.txt"), "one\n");
}

#[test]
fn a_dry_run_is_a_patch_that_git_applies() {
    let folder = Folder::new(&[("src/main.rs", MAIN), ("no-end.txt", "one\ntwo")]);
    let answer = block_of("src/main.rs", "    run(limit);\n", "    stop(limit);\n")
        + &block_of("docs/new.md", "", "# New\n\nText\n")
        + &block_of("no-end.txt", "two\n", "2\n");
    let dry = folder.run(&["apply", "--dry-run"], &answer);
    assert_eq!((dry.code, dry.stderr.as_str()), (Some(0), ""));
    expect![[r#"
        --- a/src/main.rs
        +++ b/src/main.rs
        @@ -1,4 +1,4 @@
         fn main() {
             let limit = 10;
        -    run(limit);
        +    stop(limit);
         }
        diff --git a/docs/new.md b/docs/new.md
        new file mode 100644
        --- /dev/null
        +++ b/docs/new.md
        @@ -0,0 +1,3 @@
        +# New
        +
        +Text
        --- a/no-end.txt
        +++ b/no-end.txt
        @@ -1,2 +1,2 @@
         one
        -two
        \ No newline at end of file
        +2
        \ No newline at end of file
    "#]]
    .assert_eq(&dry.stdout);
    assert_eq!(folder.read("src/main.rs"), MAIN);

    let other = Folder::new(&[("src/main.rs", MAIN), ("no-end.txt", "one\ntwo")]);
    other.write("change.patch", &dry.stdout);
    let git = other.command("git", &["apply", "change.patch"]).output().expect("there is git");
    assert!(git.status.success(), "{}", String::from_utf8_lossy(&git.stderr));
    assert_eq!(folder.run(&["apply", "--yes"], &answer).code, Some(0));
    for path in ["src/main.rs", "docs/new.md", "no-end.txt"] {
        assert_eq!(other.read(path), folder.read(path), "{path}");
    }
}

#[test]
fn a_patch_moves_deletes_and_creates() {
    let files = [("a.txt", "one\ntwo\n"), ("b.txt", "b\n"), ("c.txt", "c\n")];
    let answer = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: sub/a.txt\n@@\n-one\n+1\n\
                  *** Delete File: b.txt\n*** Add File: new.txt\n+new\n\
                  *** Update File: c.txt\n*** Move to: d.txt\n@@\n-c\n+C\n*** End Patch\n";
    let folder = Folder::new(&files);
    let dry = folder.run(&["apply", "--dry-run"], answer);
    let other = Folder::new(&files);
    other.write("change.patch", &dry.stdout);
    let git = other.command("git", &["apply", "change.patch"]).output().expect("there is git");
    assert!(git.status.success(), "{}{}", dry.stdout, String::from_utf8_lossy(&git.stderr));

    folder.write("d.txt", "in the way\n");
    let written = folder.run(&["apply", "--yes", "--explain"], answer);
    assert_eq!(written.code, Some(0));
    expect![[r#"
        edit 1 of `a.txt`: line 1, exact
        edit 2 of `a.txt`: the file is moved to `sub/a.txt`
        edit 3 of `b.txt`: the file is deleted
        edit 4 of `new.txt`: the file is new
        edit 5 of `c.txt`: line 1, exact
        edit 6 of `c.txt`: the file is moved to `d.txt`, replacing the existing file
        moved `a.txt` to `sub/a.txt`, 1 edit
        deleted `b.txt`
        created `new.txt`
        moved `c.txt` to `d.txt`, 1 edit
        run `reknit undo 1` to undo this
    "#]]
    .assert_eq(&written.stderr);
    for path in ["sub/a.txt", "new.txt", "d.txt"] {
        assert_eq!(folder.read(path), other.read(path), "{path}");
    }
    for path in ["a.txt", "b.txt", "c.txt"] {
        assert!(!folder.has(path) && !other.has(path), "{path}");
    }
    assert_eq!(folder.run(&["undo", "--yes"], "").code, Some(0));
    for (path, content) in files.into_iter().chain([("d.txt", "in the way\n")]) {
        assert_eq!(folder.read(path), content, "{path}");
    }
    assert!(!folder.has("sub") && !folder.has("new.txt"));
}

#[test]
fn every_format_is_read_by_name_and_by_look() {
    let folder = Folder::new(&[("a.txt", "one\ntwo\n")]);
    let answers = [
        ("search-replace", block_of("a.txt", "one\n", "1\n")),
        ("udiff", "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n".to_owned()),
        ("apply-patch", "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** End Patch\n".to_owned()),
        ("whole", "a.txt\n```\n1\ntwo\n```\n".to_owned()),
        ("str-replace", r#"{"path": "a.txt", "old_string": "one", "new_string": "1"}"#.to_owned()),
        (
            "roo-args",
            format!(
                "<args><file><path>a.txt</path><diff><content>\n{}</content></diff></file></args>\n",
                block("one\n", "1\n")
            ),
        ),
    ];
    for (format, answer) in answers {
        for named in [format, "auto"] {
            let arguments = ["apply", "--original", "a.txt", "--format", named];
            let printed = folder.run(&arguments, &answer);
            assert_eq!(printed.stdout, "1\ntwo\n", "{format} as {named}: {}", printed.stderr);
            let json = folder.run(&[&arguments[..], &["--json"]].concat(), &answer);
            assert!(json.stdout.starts_with(&format!(r#"{{"format":"{format}","files":[{{"path":"a.txt""#)));
            assert_eq!(
                json,
                folder.run(&[&arguments[..], &["--json", "--recut", "bytes"]].concat(), &answer)
            );
        }
    }
}

#[test]
fn every_edit_is_reported_as_json() {
    let folder = Folder::new(&[("main.rs", MAIN), ("b.txt", "start()\nwait()\nstart()\n")]);
    let answer = block_of("main.rs", "  run(limit);\n", "  stop(limit);\n");
    let applied = folder.run(&["apply", "--dry-run", "--json"], &answer);
    assert_eq!((applied.code, applied.stderr.as_str()), (Some(0), ""));
    expect![[r#"
        {"format":"search-replace","files":[{"path":"main.rs","action":"update","content":"fn main() {\n    let limit = 10;\n    stop(limit);\n}\n","edits":[{"index":0,"line":2,"outcome":"applied","how":"indentation","lines":[3,3]}]}],"problems":[]}
    "#]]
    .assert_eq(&applied.stdout);

    let answer = answer + &block_of("b.txt", "start()\n", "begin()\n") + &block_of("../c.txt", "c\n", "d\n");
    let rejected = folder.run(&["apply", "--dry-run", "--json"], &answer);
    assert_eq!(rejected.code, Some(1));
    expect![[r#"
        {"format":"search-replace","files":[{"path":"main.rs","action":"update","edits":[{"index":0,"line":2,"outcome":"applied","how":"indentation","lines":[3,3]}]},{"path":"b.txt","action":"update","edits":[{"index":1,"line":9,"outcome":"rejected","reason":"ambiguous","message":"search text matches at lines 1 and 3","hint":"add lines around the search text until it occurs once","how":"exact","at":[1,3]}]},{"path":"../c.txt","edits":[{"index":2,"line":16,"outcome":"rejected","reason":"path","message":"`../c.txt`: contains `..`","hint":"use a path relative to the root, without `..`"}]}],"problems":[]}
    "#]]
    .assert_eq(&rejected.stdout);

    let nowhere = block_of("nowhere.txt", "one\n", "two\n");
    let missing = folder.run(&["apply", "--dry-run", "--keep-going", "--json"], nowhere);
    assert!(
        missing.stdout.contains(r#"{"path":"nowhere.txt","action":"missing","edits":[{"#),
        "{}",
        missing.stdout
    );

    let lines = folder.run(&["apply", "--yes", "--keep-going", "--ndjson"], &answer);
    assert_eq!(lines.code, Some(1));
    let start = r#"{"file":{"path":"main.rs","action":"update","content":"fn main()"#;
    assert!(lines.stdout.starts_with(start), "{}", lines.stdout);
    assert_eq!(lines.stdout.lines().count(), 4, "{}", lines.stdout);
    assert_eq!(lines.stdout.lines().last(), Some(r#"{"entry":1}"#));
}

#[test]
fn the_report_does_not_depend_on_how_the_answer_is_cut() {
    let folder = Folder::new(&[("main.rs", MAIN), ("b.txt", "start()\nwait()\nstart()\nté\n")]);
    let answer = String::from("Was für eine Änderung:\n\n")
        + &block_of("main.rs", "    run(limit);\n", "    stop(\"ü\");\n")
        + &block_of("b.txt", "start()\n", "begin()\n")
        + &block_of("b.txt", "té\n", "thé\n")
        + "<<<<<<< SEARCH\nunfinished\n";
    let run = |more: &[&str]| folder.run(&[&["apply", "--dry-run", "--json"], more].concat(), &answer);
    let whole = run(&[]);
    assert_eq!(whole.code, Some(1));
    for recut in ["bytes", "1", "2", "3", "4"] {
        assert_eq!(run(&["--recut", recut]), whole, "{recut}");
    }
}

#[test]
fn paths_are_confined_to_the_root() {
    let folder = Folder::new(&[("a.txt", "one\n"), (".git/config", "[core]\n"), ("sub.d/b.txt", "b\n")]);
    fs::write(folder.outside().join("secret"), "one\n").expect("it can be written");
    let outside = folder.outside().join("secret");
    let outside = outside.to_str().expect("it is UTF-8");
    #[cfg(unix)]
    std::os::unix::fs::symlink("../secret", folder.root().join("link.txt")).expect("it can be made");
    let paths =
        ["../secret", outside, "sub.d/../../secret", "link.txt", "sub.d", ".git/config", ".GIT/hooks/x"];
    for path in paths {
        let answer = block_of("a.txt", "one\n", "1\n") + &block_of(path, "one\n", "two\n");
        let refused = folder.run(&["apply", "--yes"], answer);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{path}: {}", refused.stderr);
        assert!(refused.stderr.starts_with("error: edit 2: `"), "{path}: {}", refused.stderr);
        assert!(refused.stderr.ends_with("see: `reknit explain path`\n"), "{path}: {}", refused.stderr);
    }
    assert_eq!(folder.read("a.txt"), "one\n");
    assert_eq!(fs::read_to_string(outside).expect("it is there"), "one\n");
    assert_eq!(folder.read(".git/config"), "[core]\n");
}

#[cfg(unix)]
#[test]
fn a_link_inside_the_root_stays_and_its_file_changes() {
    let folder = Folder::new(&[("sub/real.txt", "one\n")]);
    std::os::unix::fs::symlink("sub/real.txt", folder.root().join("link.txt")).expect("it can be made");
    let written = folder.run(&["apply", "--yes"], block_of("link.txt", "one\n", "two\n"));
    assert_eq!(written.stderr, "updated `sub/real.txt`, 1 edit\nrun `reknit undo 1` to undo this\n");
    assert_eq!(folder.read("sub/real.txt"), "two\n");
    let link = fs::symlink_metadata(folder.root().join("link.txt")).expect("it is there");
    assert!(link.is_symlink());
}

#[cfg(unix)]
#[test]
fn a_file_that_is_read_only_is_left_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    let only_read = fs::Permissions::from_mode(0o444);
    fs::set_permissions(folder.root().join("b.txt"), only_read).expect("it is ours");
    let answer = block_of("a.txt", "one\n", "1\n") + &block_of("b.txt", "two\n", "2\n");
    let refused = folder.run(&["apply", "--yes"], answer);
    assert_eq!(refused.code, Some(2));
    expect![[r#"
        error: `b.txt`: read-only
        hint: make the file writable, for example with `chmod u+w`
        see: `reknit explain write`
    "#]]
    .assert_eq(&refused.stderr);
    assert_eq!(folder.read("a.txt"), "one\n");
}

#[test]
fn the_ladder_can_be_cut_short() {
    let folder = Folder::new(&[("a.txt", "one  \ntwo\n")]);
    let run = |loosest| {
        let answer = block("one\n", "1\n");
        folder.run(&["apply", "--original", "a.txt", "--loosest", loosest, "--explain"], answer)
    };
    let found = run("trailing-whitespace");
    assert_eq!(
        (found.code, found.stderr.as_str()),
        (Some(0), "edit 1 of `a.txt`: line 1, trailing-whitespace\n")
    );
    assert_eq!(run("line-ends").code, Some(1));
    let unknown = run("anything");
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("[possible values: exact, line-ends, "), "{}", unknown.stderr);
}

#[test]
fn every_edit_explains_itself() {
    let before =
        "def total(items):\n    price = sum(items)\n    return price\n\n\ndef count(items):\n    pass\n";
    let folder = Folder::new(&[("a.py", before)]);
    let answer = block("    pass\n", "    return len(items)\n")
        + &block("def total(items):\n    count = 2 * rate\n    print(count)\n    return price\n", "pass\n");
    let explained = folder.run(&["apply", "--original", "a.py", "--explain"], answer);
    assert_eq!((explained.code, explained.stdout.as_str()), (Some(1), ""));
    expect![[r#"
        edit 1 of `a.py`: line 7, exact
        error: edit 2 of `a.py`: the lines of the search text have changed in the file
        hint: read the file again and copy the lines from it
        closest: lines 1-3, score 0.46
           def total(items):
          -    count = 2 * rate
          -    print(count)
          +    price = sum(items)
               return price
        see: `reknit explain stale`
    "#]]
    .assert_eq(&explained.stderr);
}

#[test]
fn cline_is_followed_where_that_is_asked_for() {
    let folder = Folder::new(&[("a.txt", "subtotal = 1\ntotal = 1\n")]);
    let answer = "------- SEARCH\ntotal = 1\n=======\ntotal = 2\n+++++++ REPLACE\n";
    let run = |more: &[&str]| folder.run(&[&["apply", "--original", "a.txt"], more].concat(), answer);
    let v1 = run(&["--profile", "cline-v1"]);
    assert_eq!((v1.code, v1.stdout.as_str()), (Some(0), "subtotal = 2\ntotal = 1\n"));
    assert_eq!(run(&[]).stdout, "subtotal = 1\ntotal = 2\n");
    let partly = run(&["--profile", "cline-v2", "--streaming", "--recut", "bytes"]);
    assert_eq!((partly.code, partly.stdout.as_str()), (Some(0), "subtotal = 2\n"));
    assert_eq!(run(&["--profile", "cline-v3"]).code, Some(2));
}

#[test]
fn bytes_that_are_not_text_never_reach_a_file() {
    let folder = Folder::new(&[("a.txt", "one\n")]);
    let mut answer = block_of("a.txt", "one\n", "tw").into_bytes();
    answer.push(0xFF);
    let refused = folder.run(&["apply", "--yes"], answer);
    assert_eq!(refused.code, Some(2));
    expect![[r#"
        error: byte 52: the answer is not UTF-8
        hint: give the answer as the model wrote it
        see: `reknit explain not-text`
    "#]]
    .assert_eq(&refused.stderr);
    assert_eq!(folder.read("a.txt"), "one\n");
}

/// Ctrl-C while the answer comes in: what came is not an answer.
#[cfg(unix)]
#[test]
fn an_interrupt_writes_nothing() {
    use std::io::Write;
    let folder = Folder::new(&[("a.txt", "one\n")]);
    let mut child = folder.command(env!("CARGO_BIN_EXE_reknit"), &["apply", "--yes"]);
    let mut child = child.spawn().expect("it was built");
    let mut stdin = child.stdin.take().expect("it is on a pipe");
    // More than a pipe and the pieces that are read ahead hold: once it is written, the program reads.
    let answer = block_of("a.txt", "one\n", "1\n") + &"prose\n".repeat(100_000);
    stdin.write_all(answer.as_bytes()).expect("it reads");
    let id = child.id().to_string();
    let killed = std::process::Command::new("kill").args(["-INT", &id]).status();
    assert!(killed.expect("there is a `kill`").success());
    let mut stderr = String::new();
    child.stderr.take().expect("it is on a pipe").read_to_string(&mut stderr).expect("it is UTF-8");
    assert_eq!((child.wait().expect("it ends").code(), stderr.as_str()), (Some(130), ""));
    drop(stdin);
    assert_eq!(folder.read("a.txt"), "one\n");
}

#[test]
fn wrong_usage_is_reported() {
    let folder = Folder::new(&[("a.txt", "one\n")]);
    let code = |arguments: &[&str]| folder.run(arguments, changed()).code;
    assert_eq!(code(&["apply", "--original", "a.txt", "--root", "."]), Some(2));
    assert_eq!(code(&["apply", "--original", "no-such-file"]), Some(2));
    assert_eq!(code(&["apply", "--streaming"]), Some(2));
    assert_eq!(code(&["apply", "--yes", "--dry-run"]), Some(2));
    assert_eq!(code(&["apply", "--format", "prose"]), Some(2));
    assert_eq!(code(&["apply", "--root", "no-such-directory", "--yes"]), Some(2));
    let Run { stderr, .. } = folder.run(&["apply", "--yes", "no-such-answer"], "");
    assert!(stderr.starts_with("error: cannot open `no-such-answer`"), "{stderr}");
}
