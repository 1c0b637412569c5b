//! `reknit apply` and `reknit undo` on a terminal: what is shown, what is asked, and what comes of it.

use std::io::Write;

use expect_test::expect;

use crate::folder::{Folder, block_of};
use crate::pty::{Left, Terminal};

const BEFORE: &str = "fn main() {\n    let limit = 10;\n    run(limit);\n}\n";

/// A folder with a file, and an answer with three edits beside it.
fn folder() -> Folder {
    let folder = Folder::new(&[("main.rs", BEFORE)]);
    let answer = block_of("main.rs", "    let limit = 10;\n", "    let limit = 20;\n")
        + &block_of("main.rs", "    run(limit);\n", "    run(limit + 1);\n    stop();\n")
        + &block_of("docs/new.md", "", "# New\n");
    folder.write("../answer.md", answer);
    folder
}

/// Starts a command there, and answers its questions.
fn talk(
    folder: &Folder,
    environment: &[(&str, &str)],
    arguments: &[&str],
    answers: &[(&str, &[u8])],
) -> Left {
    let state = folder.state();
    let environment = [environment, &[("XDG_STATE_HOME", state.as_str())]].concat();
    let root = folder.root();
    let root = root.to_str().expect("it is UTF-8");
    let mut terminal =
        Terminal::start(80, &environment, &[&arguments[..1], &["--root", root], &arguments[1..]].concat());
    for (question, keys) in answers {
        terminal.wait_for(question);
        terminal.press(keys);
    }
    terminal.end()
}

fn apply(folder: &Folder, answers: &[(&str, &[u8])]) -> Left {
    let answer = folder.root().join("../answer.md");
    talk(folder, &[], &["apply", answer.to_str().expect("it is UTF-8")], answers)
}

#[test]
fn a_diff_is_shown_and_written_if_wanted() {
    let folder = folder();
    let left = apply(&folder, &[("[e]ach:", b"y\n")]);
    expect![[r#"
        ⟨d⟩edit 1: line 2, exact
        edit 2: line 3, exact
        ⟨b⟩--- a/main.rs
        +++ b/main.rs
        ⟨6⟩@@ -1,4 +1,5 @@
        ⟨⟩ fn main() {
        ⟨1⟩-    let limit = ⟨v1⟩10⟨1⟩;
        ⟨2⟩+    let limit = ⟨v2⟩20⟨2⟩;
        ⟨1⟩-    run(limit);
        ⟨2⟩+    run(limit⟨v2⟩ + 1⟨2⟩);
        +    stop();
        ⟨⟩ }

        ⟨d⟩edit 3: the file is new
        ⟨b⟩diff --git a/docs/new.md b/docs/new.md
        new file mode 100644
        --- /dev/null
        +++ b/docs/new.md
        ⟨6⟩@@ -0,0 +1 @@
        ⟨2⟩+# New

        ⟨b⟩Apply 3 edits to 2 files? [y]es, [n]o, [e]ach:⟨⟩ y
        updated `main.rs`, 2 edits
        created `docs/new.md`
        run `reknit undo 1` to undo this
    "#]]
    .assert_eq(&left.styled());
    assert_eq!(left.code, Some(0));
    assert_eq!(
        folder.read("main.rs"),
        BEFORE.replace("10", "20").replace("(limit);", "(limit + 1);\n    stop();")
    );
    assert_eq!(folder.read("docs/new.md"), "# New\n");
}

#[test]
fn nothing_is_written_without_a_yes() {
    let folder = folder();
    // An invalid answer is asked for again; Ctrl-D means that there will be none.
    for (keys, code) in [(&b"n\n"[..], 1), (b"maybe\n\nNO\n", 1), (b"\x04", 1), (b"\x03", 130)] {
        let left = apply(&folder, &[("[e]ach:", keys)]);
        assert_eq!(left.code, Some(code), "{keys:?}: {}", left.screen());
        assert_eq!(left.screen().contains("nothing was written"), code == 1, "{}", left.screen());
    }
    assert_eq!(folder.read("main.rs"), BEFORE);
    assert!(!folder.has("docs"));
    assert_eq!(folder.run(&["log"], "").stdout, "");
}

#[test]
fn each_edit_can_be_left_out() {
    let folder = folder();
    let left = apply(
        &folder,
        &[("[e]ach:", b"e\n"), ("Edit 1 of 3?", b"n\n"), ("Edit 2 of 3?", b"y\n"), ("Edit 3 of 3?", b"n\n")],
    );
    let (_, each) =
        { left.screen() }.split_once("[e]ach: e\n").map(|(a, b)| (a.len(), b.to_owned())).unwrap();
    expect![[r#"
        edit 1: line 2, exact
        --- a/main.rs
        +++ b/main.rs
        @@ -1,4 +1,4 @@
         fn main() {
        -    let limit = 10;
        +    let limit = 20;
             run(limit);
         }

        Edit 1 of 3? [y]es, [n]o, [a]ll the rest, [q]uit: n
        edit 2: line 3, exact
        --- a/main.rs
        +++ b/main.rs
        @@ -1,4 +1,5 @@
         fn main() {
             let limit = 10;
        -    run(limit);
        +    run(limit + 1);
        +    stop();
         }

        Edit 2 of 3? [y]es, [n]o, [a]ll the rest, [q]uit: y
        edit 3: the file is new
        diff --git a/docs/new.md b/docs/new.md
        new file mode 100644
        --- /dev/null
        +++ b/docs/new.md
        @@ -0,0 +1 @@
        +# New

        Edit 3 of 3? [y]es, [n]o, [a]ll the rest, [q]uit: n
        updated `main.rs`, 1 edit
        run `reknit undo 1` to undo this
    "#]]
    .assert_eq(&each);
    assert_eq!(left.code, Some(0));
    assert_eq!(folder.read("main.rs"), BEFORE.replace("(limit);", "(limit + 1);\n    stop();"));
    assert!(!folder.has("docs"));

    let folder = self::folder();
    let left = apply(&folder, &[("[e]ach:", b"e\n"), ("Edit 1 of 3?", b"n\n"), ("Edit 2 of 3?", b"a\n")]);
    assert_eq!(left.code, Some(0));
    assert_eq!(folder.read("main.rs"), BEFORE.replace("(limit);", "(limit + 1);\n    stop();"));
    assert!(folder.has("docs/new.md"));

    let folder = self::folder();
    let left = apply(&folder, &[("[e]ach:", b"e\n"), ("Edit 1 of 3?", b"y\n"), ("Edit 2 of 3?", b"q\n")]);
    assert_eq!(left.code, Some(0));
    assert_eq!(folder.read("main.rs"), BEFORE.replace("10", "20"));

    let folder = self::folder();
    let left = apply(&folder, &[("[e]ach:", b"e\n"), ("Edit 1 of 3?", b"y\n"), ("Edit 2 of 3?", b"\x03")]);
    assert_eq!(left.code, Some(130));
    assert_eq!(folder.read("main.rs"), BEFORE);
}

#[test]
fn an_edit_goes_with_the_one_that_it_needs() {
    let folder = Folder::new(&[("a.txt", "one\ntwo\n")]);
    let answer = block_of("a.txt", "one\n", "1\n")
        + &block_of("a.txt", "1\n", "eins\n")
        + &block_of("a.txt", "two\n", "2\n");
    folder.write("../answer.md", answer);
    let left = apply(&folder, &[("[e]ach:", b"e\n"), ("Edit 1 of 3?", b"n\n"), ("Edit 3 of 3?", b"y\n")]);
    assert!(
        left.screen().contains("edit 2 depends on one that was left out: search text not found"),
        "{}",
        left.screen()
    );
    assert_eq!(folder.read("a.txt"), "one\n2\n");
}

/// Two edits for two places that are alike: both or none, whichever is asked about first.
#[test]
fn edits_that_share_their_places_stay_together() {
    let both = block_of("a.txt", "start()\n", "first()\n") + &block_of("a.txt", "start()\n", "second()\n");
    let check = |answers: [&[u8]; 2], code, after: &str| {
        let folder = Folder::new(&[("a.txt", "start()\nwait()\nstart()\n")]);
        folder.write("../answer.md", &both);
        let [one, two] = answers;
        let mut questions = vec![("[e]ach:", &b"e\n"[..]), ("Edit 1 of 2?", one)];
        questions.extend((one == b"y\n").then_some(("Edit 2 of 2?", two)));
        let left = apply(&folder, &questions);
        assert_eq!((left.code, folder.read("a.txt").as_str()), (Some(code), after), "{}", left.screen());
    };
    check([b"y\n", b"y\n"], 0, "first()\nwait()\nsecond()\n");
    check([b"y\n", b"n\n"], 1, "start()\nwait()\nstart()\n");
    check([b"n\n", b""], 1, "start()\nwait()\nstart()\n");
}

#[test]
fn a_file_that_changes_before_the_yes_is_left_alone() {
    let folder = folder();
    let (root, state, answer) = (folder.root(), folder.state(), folder.root().join("../answer.md"));
    let arguments = ["apply", "--root", root.to_str().unwrap(), answer.to_str().unwrap()];
    let mut terminal = Terminal::start(80, &[("XDG_STATE_HOME", &state)], &arguments);
    terminal.wait_for("[e]ach:");
    folder.write("main.rs", "mine\n");
    terminal.press(b"y\n");
    let left = terminal.end();
    assert_eq!(left.code, Some(2));
    assert!(left.screen().contains("error: `main.rs`: changed since it was read\n"), "{}", left.screen());
    assert_eq!(folder.read("main.rs"), "mine\n");
    assert!(!folder.has("docs"));
}

#[test]
fn the_answer_may_come_on_standard_input() {
    let folder = folder();
    let (root, state) = (folder.root(), folder.state());
    let (mut terminal, mut stdin) = Terminal::start_fed(
        80,
        &[("XDG_STATE_HOME", &state)],
        &["apply", "--root", root.to_str().expect("it is UTF-8")],
    );
    stdin.write_all(block_of("main.rs", "}\n", "} // end\n").as_bytes()).expect("it reads");
    drop(stdin);
    terminal.wait_for("[y]es, [n]o:");
    terminal.press(b"y\n");
    assert_eq!(terminal.end().code, Some(0));
    assert!(folder.read("main.rs").ends_with("} // end\n"));
}

#[test]
fn without_colours_there_are_none() {
    let folder = folder();
    let answer = folder.root().join("../answer.md");
    let arguments = ["apply", answer.to_str().expect("it is UTF-8")];
    for environment in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let left = talk(&folder, &[environment], &arguments, &[("[e]ach:", b"n\n")]);
        assert!(!left.bytes.contains('\x1b'), "{:?}", left.bytes);
        assert!(left.screen().contains("+    let limit = 20;\n"), "{}", left.screen());
    }
}

#[test]
fn nothing_in_a_diff_is_a_command() {
    let folder = Folder::new(&[("a.txt", "one \x1b[31mred\nover\rwritten\n")]);
    let answer = block_of("a.txt", "over\rwritten\n", "\x1b]0;title\x07 \u{202e}turned\n");
    folder.write("../answer.md", answer);
    let left = apply(&folder, &[("[y]es, [n]o:", b"y\n")]);
    expect![[r#"
        edit 1: line 2, exact
        --- a/a.txt
        +++ b/a.txt
        @@ -1,2 +1,2 @@
         one ␛[31mred
        -over␍written
        +␛]0;title␇ \u{202e}turned

        Apply 1 edit to 1 file? [y]es, [n]o: y
        updated `a.txt`, 1 edit
        run `reknit undo 1` to undo this
    "#]]
    .assert_eq(&left.screen());
    assert!(!left.bytes.contains("\x1b]0;") && !left.bytes.contains("\x1b[31mred"), "{:?}", left.bytes);
    assert_eq!(folder.read("a.txt"), "one \x1b[31mred\n\x1b]0;title\x07 \u{202e}turned\n");
}

#[test]
fn nothing_in_a_content_is_a_command() {
    let folder = Folder::new(&[("a.txt", "one\r\ntwo\n")]);
    folder.write("../answer.md", block_of("a.txt", "two\n", "\x1b]0;title\x07\n"));
    let (file, answer) = (folder.root().join("a.txt"), folder.root().join("../answer.md"));
    let arguments = ["apply", "--original", file.to_str().unwrap(), answer.to_str().unwrap()];
    let left = Terminal::start(80, &[], &arguments).end();
    assert_eq!((left.screen().as_str(), left.code), ("one\n␛]0;title␇\n", Some(0)));
}

#[test]
fn every_width_is_wide_enough() {
    let folder = folder();
    let (root, state) = (folder.root(), folder.state());
    let answer = folder.root().join("../answer.md");
    let arguments = ["apply", "--dry-run", "--root", root.to_str().unwrap(), answer.to_str().unwrap()];
    for columns in [1, 2, 7, 20, 200] {
        let left = Terminal::start(columns, &[("XDG_STATE_HOME", &state)], &arguments).end();
        assert_eq!(left.code, Some(0));
    }
}

#[test]
fn an_undo_is_shown_and_asked_about() {
    let folder = folder();
    assert_eq!(apply(&folder, &[("[e]ach:", b"y\n")]).code, Some(0));
    let left = talk(&folder, &[], &["undo"], &[("[y]es, [n]o:", b"n\n")]);
    assert_eq!(left.code, Some(1));
    assert!(folder.has("docs/new.md"));
    let left = talk(&folder, &[], &["undo"], &[("[y]es, [n]o:", b"y\n")]);
    expect![[r#"
        --- a/main.rs
        +++ b/main.rs
        @@ -1,5 +1,4 @@
         fn main() {
        -    let limit = 20;
        -    run(limit + 1);
        -    stop();
        +    let limit = 10;
        +    run(limit);
         }
        diff --git a/docs/new.md b/docs/new.md
        deleted file mode 100644
        --- a/docs/new.md
        +++ /dev/null
        @@ -1 +0,0 @@
        -# New

        Undo entry 1? [y]es, [n]o: y
        updated `main.rs`
        deleted `docs/new.md`
        run `reknit undo 2` to reverse this
    "#]]
    .assert_eq(&left.screen());
    assert_eq!(left.code, Some(0));
    assert_eq!(folder.read("main.rs"), BEFORE);
    assert!(!folder.has("docs"));
}

#[test]
fn what_was_changed_since_is_asked_about() {
    let folder = folder();
    assert_eq!(apply(&folder, &[("[e]ach:", b"y\n")]).code, Some(0));
    folder.write("main.rs", "mine\n");
    let question = "[o]verwrite the changed files, [s]kip them, [n]o:";
    let left = talk(&folder, &[], &["undo"], &[(question, b"s\n")]);
    assert_eq!(left.code, Some(0));
    assert!(left.screen().contains("`main.rs`: changed since\n"), "{}", left.screen());
    assert_eq!(folder.read("main.rs"), "mine\n");
    assert!(!folder.has("docs"));

    let folder = self::folder();
    assert_eq!(apply(&folder, &[("[e]ach:", b"y\n")]).code, Some(0));
    folder.write("main.rs", "mine\n");
    assert_eq!(talk(&folder, &[], &["undo"], &[(question, b"o\n")]).code, Some(0));
    assert_eq!(folder.read("main.rs"), BEFORE);
}

#[test]
fn any_other_key_explains_the_keys() {
    let folder = folder();
    let left = apply(
        &folder,
        &[("[e]ach:", b"?\n"), ("explain the keys", b"e\n"), ("[q]uit:", b"?\n"), ("before\n", b"q\n")],
    );
    let screen = left.screen();
    let explained = "  [y]es: write all of it\n  [n]o: write nothing\n  [e]ach: decide on each edit by itself\n  [?]: explain the keys\n";
    assert!(screen.contains(explained), "{screen}");
    assert!(screen.contains("  [q]uit: leave out this edit and all that follow"), "{screen}");
    assert_eq!(left.code, Some(1));
    assert_eq!(folder.read("main.rs"), BEFORE);
}
