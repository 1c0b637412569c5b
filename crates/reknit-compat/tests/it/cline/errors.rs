//! Every error, its text and its hint.

use expect_test::{Expect, expect};
use reknit::Hint;
use reknit_compat::cline::{End, Version, construct};

use super::block;

/// The error of a version, with its hint.
fn fails_as(version: Version, diff: &str, expected: &Expect) {
    let error = construct(version, diff, "one\ntwo\n", End::Final).expect_err("the diff is wrong");
    expected.assert_eq(&format!("{error}\nhint: {}\n", error.hint()));
}

#[test]
fn of_v1() {
    let fails = |diff: &str, expected: Expect| fails_as(Version::V1, diff, &expected);
    fails(
        &block("", "uno\n"),
        expect![[r#"
            Empty SEARCH block detected with non-empty file. This usually indicates a malformed SEARCH marker.
            Please ensure your SEARCH marker follows the correct format:
            - Use '------- SEARCH' (7+ dashes + space + SEARCH)

            hint: without the profile a misspelt marker is repaired if it can only be read in one way
        "#]],
    );
    fails(
        &block("three  \n\n\u{feff}\n", "tres\n"),
        expect![[r#"
            The SEARCH block:
            three
            ...does not match anything in the file.
            hint: without the profile more differences are tolerated, and the closest match is shown
        "#]],
    );
    fails(
        "------- SEARCH\none\n+++++++ REPLACE\n",
        expect![[r#"
            The SEARCH block:
            one
            ...is malformatted.
            hint: without the profile a block without a divider is reported with its line, and the others are applied
        "#]],
    );
    fails(
        "+++++++ REPLACE\n",
        expect![[r#"
            The SEARCH block:

            ...is malformatted.
            hint: without the profile a block without a divider is reported with its line, and the others are applied
        "#]],
    );
}

#[test]
fn of_v2() {
    let fails = |diff: &str, expected: Expect| fails_as(Version::V2, diff, &expected);
    fails(
        &block("three  \n\n", "tres\n"),
        expect![[r#"
            The SEARCH block:
            three
            ...does not match anything in the file.
            hint: without the profile more differences are tolerated, and the closest match is shown
        "#]],
    );
    fails(
        &(block("one\n", "uno\n") + &block("", "all\n")),
        expect![[r#"
                The SEARCH block:

                ...matched an incorrect content in the file.
                hint: without the profile a block without search text never replaces a file that has content
        "#]],
    );
    fails(
        "------- SEARCH\none\n------- SEARCH\n",
        expect![[r#"
            Invalid state transition.
            Valid transitions are:
            - Idle → StateSearch
            - StateSearch → StateReplace
            hint: without the profile a marker inside a block is content if the search text matches that way
        "#]],
    );
    fails(
        "------- SEARCH\none\n=======\n=======\n",
        expect![[r#"
            Invalid state transition.
            Valid transitions are:
            - Idle → StateSearch
            - StateSearch → StateReplace
            hint: without the profile a marker inside a block is content if the search text matches that way
        "#]],
    );
    fails(
        "prose\n\n------- SEARCH\n",
        expect![[r#"
            Malformed SEARCH/REPLACE block structure: Missing valid closing REPLACE marker
            hint: without the profile text around the blocks is skipped
        "#]],
    );
    fails(
        "\n=======\n",
        expect![[r#"
            Invalid REPLACE marker detected - could not find matching SEARCH block starting from line 0
            hint: without the profile a marker in the wrong place is reported with its line, and the blocks are applied
        "#]],
    );
    fails(
        "=======\n",
        expect![[r#"
            Invalid SEARCH/REPLACE block structure - no lines available to process
            hint: without the profile a marker in the wrong place is reported with its line, and the blocks are applied
        "#]],
    );
    fails(
        "\n+++++++ REPLACE\n",
        expect![[r#"
            Malformed REPLACE block - missing valid separator after line 0
            hint: without the profile a marker in the wrong place is reported with its line, and the blocks are applied
        "#]],
    );
    fails(
        "+++++++ REPLACE\n",
        expect![[r#"

            hint: without the profile a marker in the wrong place is reported with its line, and the blocks are applied
        "#]],
    );
    fails(
        "------- SEARCH\none\n+++++++ REPLACE\n",
        expect![[r#"

            hint: without the profile a marker in the wrong place is reported with its line, and the blocks are applied
        "#]],
    );
    fails(
        "------- SEARCH\none\n",
        expect![[r#"
            File processing incomplete - SEARCH/REPLACE operations still active during finalization
            hint: without the profile a block that is cut is reported with its line, and the others are applied
        "#]],
    );
    fails(
        "------- SEARCH\none\n=======\n",
        expect![[r#"
            File processing incomplete - SEARCH/REPLACE operations still active during finalization
            hint: without the profile a block that is cut is reported with its line, and the others are applied
        "#]],
    );
}

#[test]
fn blank_lines_before_a_block_are_ignored_in_v2() {
    let diff = format!("\n  \n{}\n\n{}", block("one\n", "uno\n"), block("two\n", "dos\n"));
    let constructed = construct(Version::V2, &diff, "one\ntwo\n", End::Final).expect("it is well formed");
    assert_eq!(constructed.content, "uno\ndos\n");
}
