//! Which lines are markers.

use std::fmt::Write;

use expect_test::{Expect, expect};
use reknit_compat::cline::{End, Version};

use super::{check, outcome};

/// Lists for each line whether it is taken for a marker in that place of a block.
#[track_caller]
fn taken(lines: &[&str], diff: impl Fn(&str) -> String, expected: &Expect) {
    let mut table = String::new();
    for line in lines {
        let outcome = outcome(Version::V1, &diff(line), "one\n", End::Final);
        let taken = if outcome == r#""uno\n" at [0]"# { "marker" } else { "no" };
        writeln!(table, "{line:?}: {taken}").expect("writing to a string cannot fail");
    }
    expected.assert_eq(&table);
}

#[test]
fn starts_have_three_or_more_signs_and_a_line_of_their_own() {
    let lines = [
        "------- SEARCH",
        "<<<<<<< SEARCH",
        "--- SEARCH",
        "<<< SEARCH",
        "---------- SEARCH",
        "--- SEARCH>",
        "<<<<<<< SEARCH>",
        "-- SEARCH",
        "<< SEARCH",
        "-<- SEARCH",
        "------- SEARCH>>",
        "-------SEARCH",
        "-------  SEARCH",
        "------- search",
        "------- SEARCH ",
        "------- SEARCH\r",
        " ------- SEARCH",
        "+++++++ SEARCH",
        "------- REPLACE",
    ];
    taken(
        &lines,
        |line| format!("{line}\none\n=======\nuno\n+++++++ REPLACE\n"),
        &expect![[r#"
            "------- SEARCH": marker
            "<<<<<<< SEARCH": marker
            "--- SEARCH": marker
            "<<< SEARCH": marker
            "---------- SEARCH": marker
            "--- SEARCH>": marker
            "<<<<<<< SEARCH>": marker
            "-- SEARCH": no
            "<< SEARCH": no
            "-<- SEARCH": no
            "------- SEARCH>>": no
            "-------SEARCH": no
            "-------  SEARCH": no
            "------- search": no
            "------- SEARCH ": no
            "------- SEARCH\r": no
            " ------- SEARCH": no
            "+++++++ SEARCH": no
            "------- REPLACE": no
        "#]],
    );
}

#[test]
fn dividers_have_three_or_more_signs_and_a_line_of_their_own() {
    let lines = ["=======", "===", "==========", "==", "=======>", "======= ", "=======\r", " ======="];
    taken(
        &lines,
        |line| format!("------- SEARCH\none\n{line}\nuno\n+++++++ REPLACE\n"),
        &expect![[r#"
            "=======": marker
            "===": marker
            "==========": marker
            "==": no
            "=======>": no
            "======= ": no
            "=======\r": no
            " =======": no
        "#]],
    );
}

#[test]
fn ends_have_three_or_more_signs_and_a_line_of_their_own() {
    let lines = [
        "+++++++ REPLACE",
        ">>>>>>> REPLACE",
        "+++ REPLACE",
        ">>> REPLACE",
        "+++ REPLACE>",
        ">>>>>>> REPLACE>",
        "++ REPLACE",
        "+>+ REPLACE",
        "+++++++REPLACE",
        "+++++++ REPLACE ",
        "+++++++ REPLACE\r",
        " +++++++ REPLACE",
        "------- REPLACE",
        "+++++++ SEARCH",
    ];
    taken(
        &lines,
        |line| format!("------- SEARCH\none\n=======\nuno\n{line}\n"),
        &expect![[r#"
            "+++++++ REPLACE": marker
            ">>>>>>> REPLACE": marker
            "+++ REPLACE": marker
            ">>> REPLACE": marker
            "+++ REPLACE>": marker
            ">>>>>>> REPLACE>": marker
            "++ REPLACE": no
            "+>+ REPLACE": no
            "+++++++REPLACE": no
            "+++++++ REPLACE ": no
            "+++++++ REPLACE\r": no
            " +++++++ REPLACE": no
            "------- REPLACE": no
            "+++++++ SEARCH": no
        "#]],
    );
}

#[test]
fn the_two_kinds_may_be_mixed() {
    check(
        "one\n",
        "<<< SEARCH>\none\n===\nuno\n+++++++ REPLACE\n",
        &expect![[r#"
            cline-v1: "uno\n" at [0]
            cline-v2: "uno\n"
        "#]],
    );
    check(
        "one\n",
        "--- SEARCH\none\n===\nuno\n>>> REPLACE>\n",
        &expect![[r#"
            cline-v1: "uno\n" at [0]
            cline-v2: "uno\n"
        "#]],
    );
}

/// Lists the outcome in each version of a diff that ends with each of the lines.
#[track_caller]
fn last(lines: &[&str], diff: &str, end: End, expected: &Expect) {
    let mut table = String::new();
    for line in lines {
        for version in Version::ALL {
            let outcome = outcome(version, &format!("{diff}{line}"), "one\ntwo\n", end);
            writeln!(table, "{line} {}: {outcome}", version.name()).expect("writing to a string cannot fail");
        }
    }
    expected.assert_eq(&table);
}

#[test]
fn the_last_line_is_a_marker_in_fewer_spellings_for_v2() {
    let ends = ["+++++++ REPLACE", ">>>>>>> REPLACE", "+++ REPLACE", "+++++++ REPLACE>"];
    last(
        &ends,
        "------- SEARCH\ntwo\n=======\ndos\n",
        End::Final,
        &expect![[r#"
            +++++++ REPLACE cline-v1: "one\ndos\n" at [4]
            +++++++ REPLACE cline-v2: "one\ndos\n"
            >>>>>>> REPLACE cline-v1: "one\ndos\n" at [4]
            >>>>>>> REPLACE cline-v2: error: "File processing incomplete - SEARCH/REPLACE operations still active during finalization"
            +++ REPLACE cline-v1: "one\ndos\n" at [4]
            +++ REPLACE cline-v2: error: "File processing incomplete - SEARCH/REPLACE operations still active during finalization"
            +++++++ REPLACE> cline-v1: "one\ndos\n" at [4]
            +++++++ REPLACE> cline-v2: error: "File processing incomplete - SEARCH/REPLACE operations still active during finalization"
        "#]],
    );
    let dividers = ["=======", "===", "=========="];
    last(
        &dividers,
        "------- SEARCH\ntwo\n",
        End::Open,
        &expect![[r#"
            ======= cline-v1: "one\n" at []
            ======= cline-v2: "one\n"
            === cline-v1: "one\n" at []
            === cline-v2: ""
            ========== cline-v1: "one\n" at []
            ========== cline-v2: ""
        "#]],
    );
    // A start is seen by what it does to the block before it.
    let starts = ["------- SEARCH", "<<<<<<< SEARCH", "--- SEARCH", "------- SEARCH>"];
    last(
        &starts,
        "------- SEARCH\ntwo\n=======\ndos\n",
        End::Final,
        &expect![[r#"
            ------- SEARCH cline-v1: "one\n" at [4]
            ------- SEARCH cline-v2: error: "Invalid state transition.\nValid transitions are:\n- Idle → StateSearch\n- StateSearch → StateReplace"
            <<<<<<< SEARCH cline-v1: "one\n" at [4]
            <<<<<<< SEARCH cline-v2: error: "File processing incomplete - SEARCH/REPLACE operations still active during finalization"
            --- SEARCH cline-v1: "one\n" at [4]
            --- SEARCH cline-v2: error: "File processing incomplete - SEARCH/REPLACE operations still active during finalization"
            ------- SEARCH> cline-v1: "one\n" at [4]
            ------- SEARCH> cline-v2: error: "File processing incomplete - SEARCH/REPLACE operations still active during finalization"
        "#]],
    );
}
