//! `reknit apply` with answers in which the file of an edit is in question: it was moved, refused, or not named.

use expect_test::{Expect, expect};

use crate::folder::{Folder, block_of};

/// Carries a patch out on `a.txt` and `b.txt`, which refuses it, and nothing is written.
fn refused(sections: &str, expected: &Expect) {
    let folder = Folder::new(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    let answer = format!("*** Begin Patch\n{sections}*** End Patch\n");
    let run = folder.run(&["apply", "--yes"], &answer);
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""));
    expected.assert_eq(&run.stderr);
    assert_eq!((folder.bytes("a.txt"), folder.bytes("b.txt")), (b"one\n".to_vec(), b"two\n".to_vec()));
    assert!(!folder.root().join("c.txt").exists());
}

const A_TO_B: &str = "*** Update File: a.txt\n*** Move to: b.txt\n";
const A_TO_C: &str = "*** Update File: a.txt\n*** Move to: c.txt\n";

#[test]
fn two_edits_for_one_path_are_refused_by_their_numbers() {
    refused(
        &format!("*** Update File: b.txt\n@@\n-two\n+2\n{A_TO_B}"),
        &expect![[r#"
            error: edit 2: `b.txt`: edit 1 also uses this path
            hint: move the file to another path, or remove the other edit
            see: `reknit explain path`
        "#]],
    );
    refused(
        &format!("{A_TO_B}*** Delete File: b.txt\n"),
        &expect![[r#"
            error: edit 1: `b.txt`: edit 2 also uses this path
            hint: move the file to another path, or remove the other edit
            see: `reknit explain path`
        "#]],
    );
    refused(
        &format!("{A_TO_C}*** Update File: b.txt\n*** Move to: c.txt\n"),
        &expect![[r#"
            error: edit 2: `c.txt`: edit 1 also uses this path
            hint: move the file to another path, or remove the other edit
            see: `reknit explain path`
        "#]],
    );
    refused(
        &format!("*** Add File: c.txt\n+three\n{A_TO_C}"),
        &expect![[r#"
            error: edit 2: `c.txt`: edit 1 also uses this path
            hint: move the file to another path, or remove the other edit
            see: `reknit explain path`
        "#]],
    );
    refused(
        "*** Update File: a.txt\n*** Move to: ./a.txt\n",
        &expect![[r#"
            error: edit 1: `a.txt`: moved to its own path
            hint: remove the move
            see: `reknit explain path`
        "#]],
    );
}

#[test]
fn a_file_that_was_moved_is_not_written_under_its_old_name() {
    refused(
        &format!("{A_TO_C}*** Add File: a.txt\n+new\n"),
        &expect![[r#"
            error: edit 2 of `a.txt`: edit 1 moved the file to `c.txt`
            hint: write the edits of a file before its move, and a new file of the same name in another answer
            see: `reknit explain moved-away`
        "#]],
    );
}

#[test]
fn edits_are_reported_by_their_numbers_in_the_answer() {
    let folder = Folder::new(&[("a.txt", "one\n")]);
    let answer = block_of("../b.txt", "one\n", "1\n")
        + &block_of("a.txt", "one\n", "1\n")
        + &block_of("a.txt", "one\n", "uno\n");
    let run = folder.run(&["apply", "--dry-run", "--json"], &answer);
    expect![[r#"
        error: edit 1: `../b.txt`: contains `..`
        hint: use a path relative to the root, without `..`
        error: edit 3 of `a.txt`: edit 2 replaced the text that is searched for, line 1
        hint: search for the text as the earlier edit leaves it, or join the two
        see: `reknit explain path taken-away`
    "#]]
    .assert_eq(&run.stderr);
    assert!(run.stdout.contains(r#""edit":1,"lines":[1,1]"#), "{}", run.stdout);
}

#[test]
fn what_is_for_a_whole_file_names_it_where_others_do() {
    let folder = Folder::new(&[("a.txt", "one\ntwo\n")]);
    let answer = r#"[
        {"path": "a.txt", "old_string": "one", "new_string": "1"},
        {"old_string": "two", "new_string": "2"},
        {"command": "create", "file_text": "three"}
    ]"#;
    let run = folder.run(&["apply", "--dry-run"], answer);
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""));
    // The second edit has its place by its search text.
    expect![[r#"
        error: edit 3: the answer does not name a file
        hint: name the file above the edit
        see: `reknit explain no-path`
    "#]]
    .assert_eq(&run.stderr);
}
