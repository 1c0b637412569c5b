//! A model's answer applied to real files: refusals, all or nothing, and undo.

use std::fs;
use std::os::unix::fs::symlink;

use reknit::Hint;
use reknit::Limits;
use reknit::edit::{How, Parser};
use reknit_workspace::edits::{Error, Refused};
use reknit_workspace::{Draft, Edits, Root, Undo, root, write};

use crate::fixture::{Fixture, Node, Tree, chmod, file, second, tree};

fn read<'r>(root: &'r Root, answer: &str) -> Edits<'r> {
    let mut parser = Parser::detect();
    parser.push(answer);
    Edits::read(root, parser.finish())
}

fn block(path: &str, search: &str, replacement: &str) -> String {
    format!("{path}\n```\n<<<<<<< SEARCH\n{search}=======\n{replacement}>>>>>>> REPLACE\n```\n\n")
}

fn patch(sections: &str) -> String {
    format!("*** Begin Patch\n{sections}*** End Patch\n")
}

fn failures(draft: &Draft<'_>) -> Vec<String> {
    draft
        .failures()
        .map(|failure| {
            assert!(!failure.hint().is_empty());
            failure.to_string()
        })
        .collect()
}

/// The project is as it was, and the journal is empty.
fn check_untouched(fixture: &Fixture, before: &Tree) {
    assert_eq!(fixture.tree(), *before);
    assert!(fixture.log().entries.is_empty());
    assert_eq!(fixture.entry_files(), 0);
}

#[test]
fn an_answer_is_one_entry_and_can_be_undone() {
    let fixture =
        Fixture::new(&[("a", "one\n"), ("b", "two\n"), ("c", "three\n"), ("d", "four\n"), ("e", "five\n")]);
    chmod(&fixture.at("e"), 0o755);
    let before = fixture.tree();
    let answer = patch(
        "*** Update File: a\n@@\n-one\n+1\n\
         *** Delete File: b\n\
         *** Update File: c\n*** Move to: new/c\n@@\n-three\n+3\n\
         *** Update File: d\n*** Move to: e\n\
         *** Add File: new/f\n+six\n",
    );
    let edits = read(&fixture.root, &answer);
    let draft = edits.plan(How::Context);
    assert_eq!(failures(&draft), [""; 0]);
    let committed = draft.commit(&fixture.journal, second(0)).unwrap();
    // A file that is moved over another one gets the permissions of that one.
    let mut after = tree(&[("a", "1\n"), ("new/c", "3\n"), ("new/f", "six\n")]);
    after.insert("e".into(), file("four\n", 0o755));
    assert_eq!(fixture.tree(), after);
    assert_eq!(committed.entry.label, "apply");
    assert_eq!(fixture.log().entries, std::slice::from_ref(&committed.entry));

    let undone = Undo::of(committed.entry.id).commit(&fixture.root, &fixture.journal, second(1)).unwrap();
    assert_eq!(fixture.tree(), before);
    Undo::of(undone.entry.id).commit(&fixture.root, &fixture.journal, second(2)).unwrap();
    assert_eq!(fixture.tree(), after);
}

#[test]
fn git_is_refused_in_any_case_and_through_symlinks() {
    let fixture =
        Fixture::new(&[(".git/config", "[core]\n"), ("sub/.Git/config", "[core]\n"), ("a.txt", "")]);
    symlink(".git", fixture.at("link")).unwrap();
    symlink("../.git/config", fixture.at("sub/file-link")).unwrap();
    fixture.put("moved/module/config", "[core]\n");
    symlink("module", fixture.at("moved/.git")).unwrap();
    let before = fixture.tree();

    let absolute = fixture.at(".git/config");
    let paths = [
        ".git/config",
        ".git/hooks/pre-commit",
        ".git",
        "./.git//config",
        ".GIT/config",
        ".giT/hooks/new",
        "sub/.Git/config",
        "new/.git/config",
        "link/config",
        "link/hooks/new",
        "sub/file-link",
        "moved/.git/config",
        "moved/.git/new",
        absolute.to_str().unwrap(),
    ];
    for path in paths {
        let answers = [
            block(path, "[core]\n", "[alias]\n"),
            format!("{path}\n```\nnew\n```\n"),
            patch(&format!("*** Delete File: {path}\n")),
            patch(&format!("*** Update File: a.txt\n*** Move to: {path}\n")),
        ];
        for answer in answers {
            let edits = read(&fixture.root, &answer);
            let [refusal] = edits.refusals() else { panic!("{path}: {edits:?}") };
            let protected =
                |error: &_| matches!(error, root::Error::Protected { what: root::Protected::Git, .. });
            let is_git = matches!(&refusal.why, Refused::Path { path: named, error } if named == path && protected(error));
            // Deleting a symlink does not mean its target, and symlinks are never changed.
            let is_link = matches!(&refusal.why, Refused::Path { error: root::Error::Link { .. }, .. });
            assert!(is_git || (is_link && path == "sub/file-link"), "{path}: {refusal}");
            let draft = edits.plan(How::Context);
            assert!(draft.is_empty() && !draft.is_whole());
            draft.commit_partial(&fixture.journal, second(0)).unwrap_err();
        }
    }
    check_untouched(&fixture, &before);
}

/// The name alone does not make a repository of what is above the root.
#[test]
fn a_root_may_be_inside_a_folder_that_is_only_called_git() {
    let fixture = Fixture::new(&[(".git/hooks/a", "one\n")]);
    let root = Root::open(fixture.at(".git/hooks")).unwrap();
    let absolute = fixture.at(".git/hooks/a");
    let edits = read(&root, &block(absolute.to_str().unwrap(), "one\n", "two\n"));
    edits.plan(How::Context).commit(&fixture.journal, second(0)).unwrap();
    assert_eq!(fixture.tree()[".git/hooks/a"], file("two\n", 0o644));
}

#[test]
fn paths_outside_the_root_or_not_of_files_are_refused() {
    let fixture = Fixture::new(&[("a.txt", "one\n"), ("folder.d/b.txt", "two\n")]);
    let outside = fixture.folder.path().join("secret.txt");
    fs::write(&outside, "one\n").unwrap();
    symlink("../secret.txt", fixture.at("link.txt")).unwrap();
    symlink("nowhere", fixture.at("dangling.txt")).unwrap();
    let before = fixture.tree();
    let outside = outside.to_str().unwrap();
    for path in [
        "../secret.txt",
        "folder.d/../../secret.txt",
        outside,
        "link.txt",
        "dangling.txt",
        "folder.d",
        "a.txt/b.txt",
    ] {
        let answers =
            [block(path, "one\n", "two\n"), patch(&format!("*** Update File: a.txt\n*** Move to: {path}\n"))];
        for answer in answers {
            let edits = read(&fixture.root, &answer);
            let [refusal] = edits.refusals() else { panic!("{path}: {edits:?}") };
            assert!(matches!(refusal.why, Refused::Path { .. }), "{path}: {refusal}");
            assert_eq!((refusal.index, refusal.why.path()), (0, path));
            assert!(!refusal.why.hint().is_empty());
            let error = edits.plan(How::Context).commit(&fixture.journal, second(0)).unwrap_err();
            assert!(matches!(error, Error::NotWhole { failures: 1 }), "{path}: {error}");
        }
    }
    check_untouched(&fixture, &before);
    assert_eq!(fs::read(outside).unwrap(), b"one\n");
}

#[test]
fn edits_follow_symlinks_and_deletions_do_not() {
    let fixture = Fixture::new(&[("real/a.txt", "one\ntwo\n")]);
    symlink("real/a.txt", fixture.at("link.txt")).unwrap();
    let both = block("link.txt", "one\n", "1\n") + &block("real/a.txt", "two\n", "2\n");
    let edits = read(&fixture.root, &both);
    assert!(edits.answer().edits.iter().all(|edit| edit.path.as_deref() == Some("real/a.txt")));
    assert_eq!(edits.content("real/a.txt"), Some(&b"one\ntwo\n"[..]));
    assert_eq!(edits.content("link.txt"), None);
    edits.plan(How::Context).commit(&fixture.journal, second(0)).unwrap();
    let mut after = tree(&[("real/a.txt", "1\n2\n")]);
    after.insert("link.txt".into(), Node::Link { to: "real/a.txt".into() });
    assert_eq!(fixture.tree(), after);

    let edits = read(&fixture.root, &patch("*** Delete File: link.txt\n"));
    let [refusal] = edits.refusals() else { panic!("{edits:?}") };
    assert_eq!(refusal.to_string(), "edit 1: `link.txt`: `link.txt` is a symlink");
    assert_eq!(fixture.tree(), after);
}

#[test]
fn a_move_to_the_path_of_another_edit_is_refused() {
    let check = |sections: &str, expected: &str| {
        let fixture = Fixture::new(&[("a", "one\n"), ("b", "two\n")]);
        let before = fixture.tree();
        let edits = read(&fixture.root, &patch(sections));
        let draft = edits.plan(How::Context);
        assert_eq!(failures(&draft), [expected], "{sections}");
        draft.commit(&fixture.journal, second(0)).unwrap_err();
        check_untouched(&fixture, &before);
    };
    let a_to = |to: &str| format!("*** Update File: a\n*** Move to: {to}\n");
    let update_b = "*** Update File: b\n@@\n-two\n+2\n";
    let b_to_c = "*** Update File: b\n*** Move to: c\n";
    check(&(update_b.to_owned() + &a_to("b")), "edit 2: `b`: edit 1 also uses this path");
    check(&(a_to("b") + "*** Delete File: b\n"), "edit 1: `b`: edit 2 also uses this path");
    check(&(a_to("./c") + b_to_c), "edit 2: `c`: edit 1 also uses this path");
    check(&("*** Add File: c\n+three\n".to_owned() + &a_to("c")), "edit 2: `c`: edit 1 also uses this path");
    check(&a_to("./a"), "edit 1: `a`: moved to its own path");
}

/// One failure of each kind, next to an edit that can be applied.
#[test]
fn nothing_is_written_while_anything_fails() {
    let good = block("a.txt", "one\n", "1\n");
    let fails = [
        (block("b.txt", "nowhere\n", "2\n"), "edit 2 of `b.txt`: search text not found"),
        (block("gone.txt", "one\n", "2\n"), "edit 2 of `gone.txt`: there is no such file"),
        (block("../b.txt", "two\n", "2\n"), "edit 2: `../b.txt`: contains `..`"),
        (
            block(".git/config", "[core]\n", "2\n"),
            "edit 2: `.git/config`: part of a git repository's own data",
        ),
        ("b.txt\n```\n<<<<<<< SEARCH\ntwo\n=======\n2\n".to_owned(), "line 12 of the answer: "),
    ];
    for (bad, expected) in fails {
        let fixture = Fixture::new(&[("a.txt", "one\n"), ("b.txt", "two\n"), (".git/config", "[core]\n")]);
        let before = fixture.tree();
        let edits = read(&fixture.root, &(good.clone() + &bad));
        let draft = edits.plan(How::Context);
        let reported = failures(&draft);
        assert!(reported.len() == 1 && reported[0].starts_with(expected), "{reported:?}, not `{expected}…`");
        assert!(!draft.is_whole() && !draft.is_empty());

        let error = draft.commit(&fixture.journal, second(0)).unwrap_err();
        assert!(matches!(error, Error::NotWhole { failures: 1 }), "{error:?}");
        assert_eq!(error.to_string(), "cannot apply the whole answer: 1 failure");
        check_untouched(&fixture, &before);

        // The rest is applied only on request.
        let committed = draft.commit_partial(&fixture.journal, second(0)).unwrap();
        assert_eq!(committed.entry.changes.len(), 1);
        assert_eq!(fixture.tree()["a.txt"], file("1\n", 0o644));
        Undo::of(committed.entry.id).commit(&fixture.root, &fixture.journal, second(1)).unwrap();
        assert_eq!(fixture.tree(), before);
    }
}

#[test]
fn nothing_is_written_if_a_file_changed_since_it_was_read() {
    type Change = fn(&Fixture);
    let theirs: [(&str, Change); 3] = [
        ("`b.txt`: changed since it was read", |fixture| fixture.put("b.txt", "owt\n")),
        ("`b.txt`: no such file", |fixture| fs::remove_file(fixture.at("b.txt")).unwrap()),
        ("`new/c.txt`: a file already exists", |fixture| fixture.put("new/c.txt", "theirs\n")),
    ];
    for (expected, change) in theirs {
        let fixture = Fixture::new(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
        let answer =
            block("a.txt", "one\n", "1\n") + &block("b.txt", "two\n", "2\n") + &block("new/c.txt", "", "3\n");
        let edits = read(&fixture.root, &answer);
        let draft = edits.plan(How::Context);
        change(&fixture);
        let before = fixture.tree();
        let error = draft.commit(&fixture.journal, second(0)).unwrap_err();
        assert_eq!(error.to_string(), expected);
        let Error::Write(cause) = &error else { panic!("{error:?}") };
        assert_eq!(error.hint(), write::Error::hint(cause));
        check_untouched(&fixture, &before);
    }
}

#[test]
fn edits_can_be_left_out() {
    let fixture = Fixture::new(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    let answer = block("../c.txt", "x\n", "y\n")
        + &block("a.txt", "one\n", "1\nuno\n")
        + &block("a.txt", "uno\n", "ein\n")
        + &block("b.txt", "two\n", "2\n");
    let edits = read(&fixture.root, &answer);
    let all = edits.plan(How::Context);
    assert_eq!(failures(&all), ["edit 1: `../c.txt`: contains `..`"]);

    // The third edit changes what the second one writes.
    let without = all.only(|index| index != 1);
    let reported = failures(&without);
    assert_eq!(reported.len(), 2, "{reported:?}");
    assert_eq!(reported[1], "edit 3 of `a.txt`: search text not found");
    // An edit that was left out stays left out.
    let rest = without.only(|index| index == 1 || index == 3);
    assert_eq!(failures(&rest), [""; 0]);
    rest.commit(&fixture.journal, second(0)).unwrap();
    assert_eq!(fixture.tree(), tree(&[("a.txt", "one\n"), ("b.txt", "2\n")]));
}

/// References to other edits use their numbers in the answer, although the first edit is not in the plan.
#[test]
fn edits_are_numbered_as_in_the_answer() {
    let fixture = Fixture::new(&[("a.txt", "one\n")]);
    let answer =
        block("../c.txt", "x\n", "y\n") + &block("a.txt", "one\n", "1\n") + &block("a.txt", "one\n", "uno\n");
    let edits = read(&fixture.root, &answer);
    let reported = failures(&edits.plan(How::Context));
    assert_eq!(reported[1], "edit 3 of `a.txt`: edit 2 replaced the text that is searched for, line 1");
}

#[test]
fn an_answer_without_changes_leaves_no_entry() {
    let fixture = Fixture::new(&[("a", "one\n")]);
    let before = fixture.tree();
    for answer in ["There is nothing to do.\n", &patch("*** Add File: b\n+two\n*** Delete File: b\n")] {
        let edits = read(&fixture.root, answer);
        let draft = edits.plan(How::Context);
        assert!(draft.is_empty() && draft.is_whole(), "{answer}");
        assert!(matches!(draft.commit(&fixture.journal, second(0)), Err(Error::Empty)), "{answer}");
        check_untouched(&fixture, &before);
    }
}

#[test]
fn a_file_beyond_the_limit_is_not_read() {
    let fixture = Fixture::new(&[("a.txt", "one\n"), ("b.txt", "one\ntwo\n")]);
    let mut parser = Parser::detect();
    parser.push(&(block("a.txt", "one\n", "1\n") + &block("b.txt", "one\n", "1\n")));
    let mut limits = Limits::default();
    limits.file_bytes = 4;
    let edits = Edits::read_with_limits(&fixture.root, parser.finish(), &limits);
    let refusals: Vec<_> = edits.refusals().iter().map(ToString::to_string).collect();
    assert_eq!(refusals, ["edit 2: `b.txt`: 8 bytes, and at most 4 are read"]);
    assert_eq!(edits.content("a.txt"), Some(&b"one\n"[..]));
}
