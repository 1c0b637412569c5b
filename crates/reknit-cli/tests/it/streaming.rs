//! `reknit apply --streaming`: as much of the new content as an unfinished answer contains.

use expect_test::expect;

use crate::edit_cases::{Case, cases, folder};
use crate::folder::{Folder, block, block_of};

const BEFORE: &str = "one\ntwo\nthree\nfour\n";

fn stream(folder: &Folder, more: &[&str], answer: &str) -> crate::command::Run {
    folder.run(&[&["apply", "--original", "a.txt", "--streaming"], more].concat(), answer)
}

#[test]
fn the_original_is_shown_up_to_the_last_place() {
    let folder = Folder::new(&[("a.txt", BEFORE)]);
    let answer = block("two\n", "2\n") + "<<<<<<< SEARCH\nfour\n=======\n4\nand more\nhal";
    // Nothing is known of where it goes, then its place is, then its replacement grows line by line; whether
    // the last line has an end shows with the next.
    for (length, shown) in [
        (10, ""),
        (20, ""),
        (answer.find("=======\n").unwrap() + 8, "one\n"),
        (answer.find(">>>>>>>").unwrap(), "one\n2"),
        (answer.find("<<<<<<< SEARCH\nfour").unwrap(), "one\n2\n"),
        (answer.len(), "one\n2\nthree\n4\nand more"),
    ] {
        let run = stream(&folder, &[], &answer[..length]);
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(0), shown, ""), "{length}");
    }
}

#[test]
fn a_search_text_that_is_nowhere_prints_nothing() {
    let folder = Folder::new(&[("a.txt", BEFORE)]);
    // Whether an edit may be applied is known when it is whole.
    let cut = block("two\n", "2\n") + "<<<<<<< SEARCH\nnowhere\n=======\nfi";
    let run = stream(&folder, &[], &cut);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "one\n2\n"));
    let answer = cut + "ve\n>>>>>>> REPLACE\n";
    let run = stream(&folder, &[], &answer);
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""));
    expect![[r#"
        error: edit 2 of `a.txt`: search text not found
        hint: copy the lines to search for from the file
        see: `reknit explain no-match`
    "#]]
    .assert_eq(&run.stderr);
    let kept = stream(&folder, &["--keep-going"], &answer);
    assert_eq!((kept.code, kept.stdout.as_str()), (Some(1), "one\n2\n"));
}

#[test]
fn the_preview_is_json_for_programs() {
    let folder = Folder::new(&[("a.txt", BEFORE)]);
    let answer = block("two\n", "2\n") + "<<<<<<< SEARCH\n  four\n=======\n  4\n  5\n";
    let json = stream(&folder, &["--json"], &answer);
    expect![[r#"
        {"files":[{"path":"a.txt","action":"update","content":"one\n2\n","edits":[{"index":0,"outcome":"applied","how":"exact","lines":[2,2]}]}],"problems":[]}
    "#]].assert_eq(&json.stdout);
    for recut in ["bytes", "1", "2", "3"] {
        assert_eq!(stream(&folder, &["--json", "--recut", recut], &answer), json);
    }
    let lines = stream(&folder, &["--ndjson"], &answer);
    expect![[r#"
        {"placed":{"edit":0,"how":"exact","lines":[2,2]}}
        {"grew":{"at":0,"content":"one\n"}}
        {"grew":{"at":4,"content":"2\n"}}
    "#]]
    .assert_eq(&lines.stdout);
}

/// What a program has that follows the lines.
fn followed(lines: &str) -> String {
    let mut shown = String::new();
    for line in lines.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
        for (name, change) in line.as_object().expect("it is named after what happened") {
            if name == "grew" || name == "restarted" {
                let at = change["at"].as_u64().expect("it says where");
                shown.truncate(usize::try_from(at).expect("it is short"));
                shown += change["content"].as_str().unwrap_or_default();
            }
        }
    }
    shown
}

#[test]
fn whoever_follows_the_lines_has_the_preview() {
    let folder = Folder::new(&[("a.txt", "one\n=======\ntwo\nthree\n")]);
    // The first divider of the second block turns out to be a line of the file.
    let blocks = [
        block("three\n", "3\n"),
        block("one\n=======\ntwo\n", "1\n2\n"),
        block("nowhere\n", "5\n") + &block("three\n", "4\n"),
    ];
    let mut restarts = 0;
    for answer in [blocks[0].clone(), blocks[1].clone(), blocks[2].clone(), blocks.concat()] {
        for length in (0..=answer.len()).rev().step_by(4) {
            let answer = &answer[..length];
            let shown = stream(&folder, &["--keep-going"], answer);
            for recut in ["bytes", "7"] {
                let lines = stream(&folder, &["--ndjson", "--recut", recut], answer);
                restarts += lines.stdout.matches("restarted").count();
                assert_eq!(
                    (followed(&lines.stdout), lines.code),
                    (shown.stdout.clone(), shown.code),
                    "{answer:?}"
                );
            }
        }
    }
    assert!(restarts > 0, "a reading that lost was shown");
}

#[test]
fn whoever_follows_the_lines_of_a_case_has_its_preview() {
    for case in cases().iter().map(|folder| Case::read(folder)) {
        let [(path, content)] = &*case.before.iter().collect::<Vec<_>>() else { continue };
        let folder = folder(&case.before);
        let preview = ["--original", path, "--streaming"];
        let shown = case.apply(&folder, &preview);
        let lines = case.apply(&folder, &[&preview[..], &["--ndjson", "--recut", "bytes"]].concat());
        assert_eq!(lines.status, shown.status, "{}", case.name);
        let is_refused = shown.status.code() == Some(2);
        if !is_refused && std::str::from_utf8(content).is_ok() {
            let lines = String::from_utf8(lines.stdout).expect("JSON is text");
            assert_eq!(followed(&lines).as_bytes(), shown.stdout, "{}", case.name);
        }
    }
}

#[test]
fn several_files_are_not_taken_for_one() {
    let folder = Folder::new(&[("a.txt", BEFORE)]);
    let answer = block_of("a.txt", "two\n", "2\n") + &block_of("b.txt", "four\n", "4\n");
    let run = stream(&folder, &[], &answer);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
}

#[test]
fn nothing_so_far_is_not_an_error() {
    let folder = Folder::new(&[("a.txt", BEFORE)]);
    let run = stream(&folder, &[], "");
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", ""));
}
