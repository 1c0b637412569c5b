//! What goes wrong in one version or both, and must go wrong here in the same way.

use expect_test::expect;
use reknit_compat::cline::{End, Version};

use super::{block, check, check_block, outcome};

#[test]
fn an_exact_match_may_begin_inside_a_line() {
    check_block(
        "subtotal = 1\ntotal = 1\n",
        "total = 1\n",
        "total = 2\n",
        &expect![[r#"
            cline-v1: "subtotal = 2\ntotal = 1\n" at [3]
            cline-v2: "subtotal = 2\ntotal = 1\n"
        "#]],
    );
}

#[test]
fn a_deleted_line_leaves_its_indentation() {
    check_block(
        "if ready:\n    wait()\n    go()\n",
        "wait()\n",
        "",
        &expect![[r#"
            cline-v1: "if ready:\n        go()\n" at [14]
            cline-v2: "if ready:\n        go()\n"
        "#]],
    );
}

#[test]
fn a_blank_search_line_is_the_end_of_the_first_line() {
    check_block(
        "one\ntwo\n\nthree\n",
        "\n",
        "# gap\n",
        &expect![[r#"
            cline-v1: "one# gap\ntwo\n\nthree\n" at [3]
            cline-v2: "one# gap\ntwo\n\nthree\n"
        "#]],
    );
}

#[test]
fn the_same_block_twice_is_written_twice() {
    let twice = block("one\n", "uno\n").repeat(2);
    check(
        "one\ntwo\n",
        &twice,
        &expect![[r#"
            cline-v1: "uno\nuno\ntwo\n" at [0, 0]
            cline-v2: error: "The SEARCH block:\none\n...does not match anything in the file."
        "#]],
    );
}

#[test]
fn overlapping_places_are_joined() {
    let diff = block("one\ntwo\n", "uno\n") + &block("two\nthree\n", "tres\n");
    check(
        "one\ntwo\nthree\n",
        &diff,
        &expect![[r#"
            cline-v1: "uno\ntres\n" at [0, 4]
            cline-v2: error: "The SEARCH block:\ntwo\nthree\n...does not match anything in the file."
        "#]],
    );
}

#[test]
fn a_place_within_an_earlier_one_brings_replaced_text_back() {
    let diff = block("one\ntwo\nthree\n", "all\n") + &block("two\n", "dos\n");
    check(
        "one\ntwo\nthree\n",
        &diff,
        &expect![[r#"
            cline-v1: "all\ndos\nthree\n" at [0, 4]
            cline-v2: error: "The SEARCH block:\ntwo\n...does not match anything in the file."
        "#]],
    );
}

#[test]
fn a_block_out_of_order_lands_where_something_below_resembles_it() {
    let diff = block("middle\n", "MIDDLE\n") + &block("    run()\n", "    go()\n");
    check(
        "    run()\nmiddle\nrun()\n",
        &diff,
        &expect![[r#"
            cline-v1: "    run()\nMIDDLE\n    go()\n" at [10, 17]
            cline-v2: "    run()\nMIDDLE\n    go()\n"
        "#]],
    );
}

#[test]
fn a_block_out_of_order_must_match_exactly() {
    let diff = block("middle\n", "MIDDLE\n") + &block("\trun()\n", "\tgo()\n");
    check(
        "    run()\nmiddle\n",
        &diff,
        &expect![[r#"
            cline-v1: error: "The SEARCH block:\n\trun()\n...does not match anything in the file."
            cline-v2: error: "The SEARCH block:\n\trun()\n...does not match anything in the file."
        "#]],
    );
}

#[test]
fn a_last_line_that_looks_like_a_marker_is_lost() {
    for last in ["- milk", "<p>", "= 3", "+1", "> quote"] {
        let diff = format!("------- SEARCH\neggs\n=======\nbread\n{last}");
        let outcome = outcome(Version::V1, &diff, "eggs\nrice\n", End::Final);
        assert_eq!(outcome, r#""bread\nrice\n" at [0]"#, "{last}");
    }
    check(
        "eggs\n",
        "------- SEARCH\neggs\n=======\nbread\n- milk",
        &expect![[r#"
            cline-v1: "bread\n" at [0]
            cline-v2: error: "File processing incomplete - SEARCH/REPLACE operations still active during finalization"
        "#]],
    );
}

#[test]
fn an_unfinished_block_is_lost_when_another_begins() {
    let diff = format!("------- SEARCH\none\n=======\nuno\n{}", block("two\n", "dos\n"));
    check(
        "one\ntwo\n",
        &diff,
        &expect![[r#"
            cline-v1: "one\ndos\n" at [4]
            cline-v2: error: "Invalid state transition.\nValid transitions are:\n- Idle → StateSearch\n- StateSearch → StateReplace"
        "#]],
    );
}

#[test]
fn an_unfinished_block_deletes_its_text_if_the_next_has_no_divider() {
    let open = "------- SEARCH\none\n=======\nuno\n------- SEARCH\ntwo\n";
    check(
        "one\ntwo\n",
        open,
        &expect![[r#"
            cline-v1: "two\n" at [0]
            cline-v2: error: "Invalid state transition.\nValid transitions are:\n- Idle → StateSearch\n- StateSearch → StateReplace"
        "#]],
    );
    check(
        "one\ntwo\n",
        &format!("{open}+++++++ REPLACE\n"),
        &expect![[r#"
            cline-v1: "two\n" at [0]
            cline-v2: error: "Invalid state transition.\nValid transitions are:\n- Idle → StateSearch\n- StateSearch → StateReplace"
        "#]],
    );
}

#[test]
fn a_second_divider_is_dropped() {
    check_block(
        "one\n",
        "one\n",
        "uno\n=======\nun\n",
        &expect![[r#"
            cline-v1: "uno\nun\n" at [0]
            cline-v2: error: "Invalid state transition.\nValid transitions are:\n- Idle → StateSearch\n- StateSearch → StateReplace"
        "#]],
    );
}

#[test]
fn conflict_markers_in_a_search_text_corrupt_the_file() {
    let conflict = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> topic\n";
    check(
        conflict,
        &block(conflict, "both\n"),
        &expect![[r#"
            cline-v1: "theirs\n>>>>>>> topic\nboth\n=======\ntheirs\n>>>>>>> topic\n" at [0]
            cline-v2: error: "Invalid state transition.\nValid transitions are:\n- Idle → StateSearch\n- StateSearch → StateReplace"
        "#]],
    );
}

#[test]
fn an_underline_in_a_replacement_is_eaten() {
    check_block(
        "Title\n",
        "Title\n",
        "Heading\n===\n",
        &expect![[r#"
            cline-v1: "Heading\n" at [0]
            cline-v2: error: "Invalid state transition.\nValid transitions are:\n- Idle → StateSearch\n- StateSearch → StateReplace"
        "#]],
    );
}

#[test]
fn a_diff_without_markers_succeeds() {
    check(
        "one\n",
        "please change one to uno\n",
        &expect![[r#"
            cline-v1: "one\n" at []
            cline-v2: "one\n"
        "#]],
    );
    check(
        "one\n",
        "",
        &expect![[r#"
            cline-v1: "one\n" at []
            cline-v2: "one\n"
        "#]],
    );
}

#[test]
fn a_diff_that_ends_in_a_search_text_succeeds_in_v1() {
    check(
        "one\n",
        "------- SEARCH\none\n",
        &expect![[r#"
            cline-v1: "one\n" at []
            cline-v2: error: "File processing incomplete - SEARCH/REPLACE operations still active during finalization"
        "#]],
    );
}

#[test]
fn a_diff_with_other_line_endings_has_no_markers() {
    let diff = block("one\n", "uno\n").replace('\n', "\r\n");
    check(
        "one\n",
        &diff,
        &expect![[r#"
            cline-v1: "one\n" at []
            cline-v2: "one\n"
        "#]],
    );
    // Without a line ending, its last line is a marker, the only one.
    check(
        "one\n",
        diff.trim_end(),
        &expect![[r#"
            cline-v1: error: "The SEARCH block:\n\n...is malformatted."
            cline-v2: error: "Malformed REPLACE block - missing valid separator after line 0"
        "#]],
    );
}

#[test]
fn a_replacement_brings_its_own_line_endings() {
    check_block(
        "one\r\ntwo\r\n",
        "one\n",
        "uno\n",
        &expect![[r#"
            cline-v1: "uno\ntwo\r\n" at [0]
            cline-v2: "uno\ntwo\r\n"
        "#]],
    );
}

#[test]
fn a_last_line_gets_a_line_ending() {
    check_block(
        "one\ntwo",
        "two\n",
        "dos\n",
        &expect![[r#"
            cline-v1: "one\ndos\n" at [4]
            cline-v2: "one\ndos\n"
        "#]],
    );
}

#[test]
fn an_empty_search_text_is_the_whole_file_in_v2() {
    check_block(
        "one\ntwo\n",
        "",
        "uno\n",
        &expect![[r#"
            cline-v1: error: "Empty SEARCH block detected with non-empty file. This usually indicates a malformed SEARCH marker.\nPlease ensure your SEARCH marker follows the correct format:\n- Use '------- SEARCH' (7+ dashes + space + SEARCH)\n"
            cline-v2: "uno\n"
        "#]],
    );
}

#[test]
fn an_older_end_on_the_last_line_is_not_seen_by_v2() {
    let diff = "<<<<<<< SEARCH\none\n=======\nuno\n>>>>>>> REPLACE";
    check(
        "one\n",
        diff,
        &expect![[r#"
            cline-v1: "uno\n" at [0]
            cline-v2: error: "File processing incomplete - SEARCH/REPLACE operations still active during finalization"
        "#]],
    );
    check(
        "one\n",
        &format!("{diff}\n"),
        &expect![[r#"
            cline-v1: "uno\n" at [0]
            cline-v2: "uno\n"
        "#]],
    );
}

#[test]
fn text_before_a_block_is_an_error_in_v2() {
    let fenced = format!("Here it is:\n```\n{}```\n", block("one\n", "uno\n"));
    check(
        "one\n",
        &fenced,
        &expect![[r#"
            cline-v1: "uno\n" at [0]
            cline-v2: error: "Malformed SEARCH/REPLACE block structure: Missing valid closing REPLACE marker"
        "#]],
    );
    let between = format!("{}And then:\n{}", block("one\n", "uno\n"), block("two\n", "dos\n"));
    check(
        "one\ntwo\n",
        &between,
        &expect![[r#"
            cline-v1: "uno\ndos\n" at [0, 4]
            cline-v2: error: "Malformed SEARCH/REPLACE block structure: Missing valid closing REPLACE marker"
        "#]],
    );
    let after = format!("{}That is all.\n", block("one\n", "uno\n"));
    check(
        "one\n",
        &after,
        &expect![[r#"
            cline-v1: "uno\n" at [0]
            cline-v2: "uno\n"
        "#]],
    );
}
