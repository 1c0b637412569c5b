//! What is shown of a diff that is still arriving.

use std::fmt::Write;

use expect_test::{Expect, expect};
use reknit_compat::cline::{End, Version};

use super::{block, outcome};

/// What each version shows of the same diff while it arrives.
#[track_caller]
fn watch_both(original: &str, diff: &str, v1: &Expect, v2: &Expect) {
    watch(Version::V1, original, diff, v1);
    watch(Version::V2, original, diff, v2);
}

/// Lists what is shown for each prefix of a diff, where it differs from the one before.
#[track_caller]
fn watch(version: Version, original: &str, diff: &str, expected: &Expect) {
    let mut table = String::new();
    let mut shown = String::new();
    for at in (0..=diff.len()).filter(|at| diff.is_char_boundary(*at)) {
        let now = outcome(version, &diff[..at], original, End::Open);
        if now != shown {
            let line = diff[..at].rsplit('\n').next().unwrap_or_default();
            writeln!(table, "{at:<3} {line:<16} {now}").expect("writing to a string cannot fail");
            shown = now;
        }
    }
    let whole = outcome(version, diff, original, End::Final);
    writeln!(table, "end                  {whole}").expect("writing to a string cannot fail");
    expected.assert_eq(&table);
}

#[test]
fn a_line_is_shown_before_it_is_whole_and_a_marker_is_not() {
    let diff = block("b\n", "B!\n- c\n");
    watch_both(
        "a\nb\nd\n",
        &diff,
        &expect![[r#"
            0                    "" at []
            20  ===              "a\n" at []
            25                   "a\n\n" at []
            26  B                "a\nB\n" at []
            27  B!               "a\nB!\n" at []
            28                   "a\nB!\n\n" at []
            29  -                "a\nB!\n" at []
            32                   "a\nB!\n- c\n\n" at []
            33  +                "a\nB!\n- c\n" at []
            47  +++++++ REPLACE  "a\nB!\n- c\n" at [2]
            end                  "a\nB!\n- c\nd\n" at [2]
        "#]],
        &expect![[r#"
            0                    ""
            24  =======          "a\n"
            25                   "a\n\n"
            26  B                "a\nB\n"
            27  B!               "a\nB!\n"
            28                   "a\nB!\n\n"
            29  -                "a\nB!\n"
            32                   "a\nB!\n- c\n\n"
            33  +                "a\nB!\n- c\n"
            end                  "a\nB!\n- c\nd\n"
        "#]],
    );
}

#[test]
fn older_markers_are_shown_as_nothing() {
    let diff = "<<< SEARCH\nb\n===\nB\n>>> REPLACE";
    watch_both(
        "a\nb\n",
        diff,
        &expect![[r#"
            0                    "" at []
            16  ===              "a\n" at []
            17                   "a\n\n" at []
            18  B                "a\nB\n" at []
            19                   "a\nB\n\n" at []
            20  >                "a\nB\n" at []
            30  >>> REPLACE      "a\nB\n" at [2]
            end                  "a\nB\n" at [2]
        "#]],
        &expect![[r#"
            0                    ""
            17                   "a\n\n"
            18  B                "a\nB\n"
            19                   "a\nB\n\n"
            20  >                "a\nB\n"
            end                  error: "File processing incomplete - SEARCH/REPLACE operations still active during finalization"
        "#]],
    );
}

#[test]
fn blocks_follow_each_other() {
    let diff = block("a\n", "A\n") + &block("c\n", "C\n");
    watch_both(
        "a\nb\nc\n",
        &diff,
        &expect![[r#"
            0                    "" at []
            25                   "\n" at []
            26  A                "A\n" at []
            27                   "A\n\n" at []
            28  +                "A\n" at []
            42  +++++++ REPLACE  "A\n" at [0]
            63  ===              "A\nb\n" at [0]
            68                   "A\nb\n\n" at [0]
            69  C                "A\nb\nC\n" at [0]
            70                   "A\nb\nC\n\n" at [0]
            71  +                "A\nb\nC\n" at [0]
            85  +++++++ REPLACE  "A\nb\nC\n" at [0, 4]
            end                  "A\nb\nC\n" at [0, 4]
        "#]],
        &expect![[r#"
            0                    ""
            25                   "\n"
            26  A                "A\n"
            27                   "A\n\n"
            28  +                "A\n"
            67  =======          "A\nb\n"
            68                   "A\nb\n\n"
            69  C                "A\nb\nC\n"
            70                   "A\nb\nC\n\n"
            71  +                "A\nb\nC\n"
            end                  "A\nb\nC\n"
        "#]],
    );
}

#[test]
fn a_block_out_of_order_is_shown_at_the_end_only() {
    let diff = block("c\n", "C\n") + &block("a\n", "A\n") + &block("d\n", "D\n");
    watch_both(
        "a\nb\nc\nd\n",
        &diff,
        &expect![[r#"
            0                    "" at []
            20  ===              "a\nb\n" at []
            25                   "a\nb\n\n" at []
            26  C                "a\nb\nC\n" at []
            27                   "a\nb\nC\n\n" at []
            28  +                "a\nb\nC\n" at []
            42  +++++++ REPLACE  "a\nb\nC\n" at [4]
            85  +++++++ REPLACE  "a\nb\nC\n" at [4, 0]
            111                  "a\nb\nC\n\n" at [4, 0]
            112 D                "a\nb\nC\nD\n" at [4, 0]
            113                  "a\nb\nC\nD\n\n" at [4, 0]
            114 +                "a\nb\nC\nD\n" at [4, 0]
            128 +++++++ REPLACE  "a\nb\nC\nD\n" at [4, 0, 6]
            end                  "A\nb\nC\nD\n" at [0, 4, 6]
        "#]],
        &expect![[r#"
            0                    ""
            24  =======          "a\nb\n"
            25                   "a\nb\n\n"
            26  C                "a\nb\nC\n"
            27                   "a\nb\nC\n\n"
            28  +                "a\nb\nC\n"
            67  =======          error: "The SEARCH block:\na\n...does not match anything in the file."
            end                  error: "The SEARCH block:\na\n...does not match anything in the file."
        "#]],
    );
}

#[test]
fn a_search_text_without_a_place_is_an_error_from_its_divider_on() {
    let diff = block("x\n", "X\n");
    watch_both(
        "a\n",
        &diff,
        &expect![[r#"
            0                    "" at []
            20  ===              error: "The SEARCH block:\nx\n...does not match anything in the file."
            end                  error: "The SEARCH block:\nx\n...does not match anything in the file."
        "#]],
        &expect![[r#"
            0                    ""
            24  =======          error: "The SEARCH block:\nx\n...does not match anything in the file."
            end                  error: "The SEARCH block:\nx\n...does not match anything in the file."
        "#]],
    );
}

#[test]
fn a_second_divider_shows_the_way_to_the_place_again() {
    watch(
        Version::V1,
        "a\nb\n",
        &block("b\n", "B\n===\nC\n"),
        &expect![[r#"
            0                    "" at []
            20  ===              "a\n" at []
            25                   "a\n\n" at []
            26  B                "a\nB\n" at []
            27                   "a\nB\n\n" at []
            28  =                "a\nB\n" at []
            30  ===              "a\nB\na\n" at []
            31                   "a\nB\na\n\n" at []
            32  C                "a\nB\na\nC\n" at []
            33                   "a\nB\na\nC\n\n" at []
            34  +                "a\nB\na\nC\n" at []
            48  +++++++ REPLACE  "a\nB\na\nC\n" at [2]
            end                  "a\nB\nC\n" at [2]
        "#]],
    );
}

#[test]
fn a_block_left_open_stays_in_the_preview() {
    let diff = format!("------- SEARCH\nb\n=======\nB\n{}", block("c\n", "C\n"));
    watch(
        Version::V1,
        "a\nb\nc\n",
        &diff,
        &expect![[r#"
            0                    "" at []
            20  ===              "a\n" at []
            25                   "a\n\n" at []
            26  B                "a\nB\n" at []
            27                   "a\nB\n\n" at []
            28  -                "a\nB\n" at []
            47  ===              "a\nB\na\nb\n" at []
            52                   "a\nB\na\nb\n\n" at []
            53  C                "a\nB\na\nb\nC\n" at []
            54                   "a\nB\na\nb\nC\n\n" at []
            55  +                "a\nB\na\nb\nC\n" at []
            69  +++++++ REPLACE  "a\nB\na\nb\nC\n" at [4]
            end                  "a\nb\nC\n" at [4]
        "#]],
    );
}

#[test]
fn a_block_left_open_above_hides_the_next_one() {
    let open = "------- SEARCH\na\n=======\nA\n";
    let diff = block("b\n", "B\n") + open + &block("c\n", "C\n") + &block("d\n", "D\n");
    watch(
        Version::V1,
        "a\nb\nc\nd\n",
        &diff,
        &expect![[r#"
            0                    "" at []
            20  ===              "a\n" at []
            25                   "a\n\n" at []
            26  B                "a\nB\n" at []
            27                   "a\nB\n\n" at []
            28  +                "a\nB\n" at []
            42  +++++++ REPLACE  "a\nB\n" at [2]
            112 +++++++ REPLACE  "a\nB\n" at [2, 4]
            133 ===              "a\nB\nc\n" at [2, 4]
            138                  "a\nB\nc\n\n" at [2, 4]
            139 D                "a\nB\nc\nD\n" at [2, 4]
            140                  "a\nB\nc\nD\n\n" at [2, 4]
            141 +                "a\nB\nc\nD\n" at [2, 4]
            155 +++++++ REPLACE  "a\nB\nc\nD\n" at [2, 4, 6]
            end                  "a\nB\nC\nD\n" at [2, 4, 6]
        "#]],
    );
}

#[test]
fn the_end_closes_an_open_replacement_in_v1_only() {
    let diff = "------- SEARCH\na\n=======\nA\n";
    watch_both(
        "a\nb\n",
        diff,
        &expect![[r#"
            0                    "" at []
            25                   "\n" at []
            26  A                "A\n" at []
            27                   "A\n\n" at []
            end                  "A\n\nb\n" at [0]
        "#]],
        &expect![[r#"
            0                    ""
            25                   "\n"
            26  A                "A\n"
            27                   "A\n\n"
            end                  error: "File processing incomplete - SEARCH/REPLACE operations still active during finalization"
        "#]],
    );
}
