//! How a search text is matched, step by step.

use expect_test::expect;

use super::{block, check, check_block};

#[test]
fn an_empty_search_text_fills_an_empty_file() {
    check_block(
        "",
        "",
        "one\n",
        &expect![[r#"
            cline-v1: "one\n" at [0]
            cline-v2: "one\n"
        "#]],
    );
}

#[test]
fn the_first_exact_place_is_taken() {
    check_block(
        "go()\nstop()\ngo()\n",
        "go()\n",
        "run()\n",
        &expect![[r#"
            cline-v1: "run()\nstop()\ngo()\n" at [0]
            cline-v2: "run()\nstop()\ngo()\n"
        "#]],
    );
}

#[test]
fn the_next_block_looks_below_the_last() {
    let diff = block("go()\n", "run()\n") + &block("go()\n", "walk()\n");
    check(
        "go()\nstop()\ngo()\n",
        &diff,
        &expect![[r#"
            cline-v1: "run()\nstop()\nwalk()\n" at [0, 12]
            cline-v2: "run()\nstop()\nwalk()\n"
        "#]],
    );
}

#[test]
fn an_exact_place_below_is_taken_before_a_trimmed_one_above() {
    check_block(
        "  go( )\nstop()\n\tgo( )\n",
        "\tgo( )\n",
        "run()\n",
        &expect![[r#"
            cline-v1: "  go( )\nstop()\nrun()\n" at [15]
            cline-v2: "  go( )\nstop()\nrun()\n"
        "#]],
    );
}

#[test]
fn lines_are_compared_without_the_whitespace_around_them() {
    check_block(
        "if ok {\n    go();  \n}\nend\n",
        "if ok {\n\tgo();\n}\n",
        "go();\n",
        &expect![[r#"
            cline-v1: "go();\nend\n" at [0]
            cline-v2: "go();\nend\n"
        "#]],
    );
}

#[test]
fn whitespace_is_that_of_javascript() {
    // A byte order mark and a no-break space are whitespace, a next-line character is not.
    check_block(
        "\u{feff}one\ntwo\n",
        " one\n",
        "uno\n",
        &expect![[r#"
            cline-v1: "uno\ntwo\n" at [0]
            cline-v2: "uno\ntwo\n"
        "#]],
    );
    check_block(
        "\u{a0}one\n",
        " one\n",
        "uno\n",
        &expect![[r#"
            cline-v1: "uno\n" at [0]
            cline-v2: "uno\n"
        "#]],
    );
    check_block(
        "\u{85}one\n",
        " one\n",
        "uno\n",
        &expect![[r#"
            cline-v1: error: "The SEARCH block:\n one\n...does not match anything in the file."
            cline-v2: error: "The SEARCH block:\n one\n...does not match anything in the file."
        "#]],
    );
}

#[test]
fn first_and_last_line_are_enough_for_three_lines() {
    let original = "def area(r):\n    return 3 * r\nend\n";
    check_block(
        original,
        "def area(r):\n    return PI * r\nend\n",
        "gone\n",
        &expect![[r#"
            cline-v1: "gone\n" at [0]
            cline-v2: "gone\n"
        "#]],
    );
}

#[test]
fn two_lines_are_taken_for_three() {
    // Both lines are anchors then, so this finds no more than the step before; one line is not enough.
    check_block(
        "one\n",
        "one!\n",
        "uno\n",
        &expect![[r#"
            cline-v1: error: "The SEARCH block:\none!\n...does not match anything in the file."
            cline-v2: error: "The SEARCH block:\none!\n...does not match anything in the file."
        "#]],
    );
    check_block(
        "one\ntwo\n",
        " one\n two\n",
        "both\n",
        &expect![[r#"
            cline-v1: "both\n" at [0]
            cline-v2: "both\n"
        "#]],
    );
}

#[test]
fn anchors_have_the_same_distance() {
    let original = "open\na\nb\nclose\nopen\nc\nclose\n";
    check_block(
        original,
        "open\nx\nclose\n",
        "gone\n",
        &expect![[r#"
            cline-v1: "open\na\nb\nclose\ngone\n" at [15]
            cline-v2: "open\na\nb\nclose\ngone\n"
        "#]],
    );
    check_block(
        original,
        "open\nx\ny\nz\nclose\n",
        "gone\n",
        &expect![[r#"
            cline-v1: error: "The SEARCH block:\nopen\nx\ny\nz\nclose\n...does not match anything in the file."
            cline-v2: error: "The SEARCH block:\nopen\nx\ny\nz\nclose\n...does not match anything in the file."
        "#]],
    );
}

#[test]
fn the_first_anchors_are_taken() {
    let original = "open\na\nclose\nopen\nb\nclose\n";
    check_block(
        original,
        "open\nb!\nclose\n",
        "gone\n",
        &expect![[r#"
            cline-v1: "gone\nopen\nb\nclose\n" at [0]
            cline-v2: "gone\nopen\nb\nclose\n"
        "#]],
    );
}

#[test]
fn the_looser_steps_look_below_the_last_place_too() {
    let trimmed = block("middle\n", "MIDDLE\n") + &block("    two\n", "dos\n");
    check(
        "  two\nmiddle\n\ttwo\n",
        &trimmed,
        &expect![[r#"
            cline-v1: "  two\nMIDDLE\ndos\n" at [6, 13]
            cline-v2: "  two\nMIDDLE\ndos\n"
        "#]],
    );
    let anchors = block("middle\n", "MIDDLE\n") + &block("open\nx\nclose\n", "gone\n");
    check(
        "open\na\nclose\nmiddle\nopen\nb\nclose\n",
        &anchors,
        &expect![[r#"
            cline-v1: "open\na\nclose\nMIDDLE\ngone\n" at [13, 20]
            cline-v2: "open\na\nclose\nMIDDLE\ngone\n"
        "#]],
    );
}

#[test]
fn v1_looks_above_for_the_exact_text_at_last() {
    let diff = block("three\n", "tres\n") + &block("one\n", "uno\n") + &block("four\n", "cuatro\n");
    check(
        "one\ntwo\nthree\nfour\n",
        &diff,
        &expect![[r#"
            cline-v1: "uno\ntwo\ntres\ncuatro\n" at [0, 8, 14]
            cline-v2: error: "The SEARCH block:\none\n...does not match anything in the file."
        "#]],
    );
}

#[test]
fn a_place_may_reach_past_the_end() {
    // The empty line after the last line ending is a line like others, once.
    let blank = block("two\n\n", "dos\n");
    check(
        "one\ntwo\n",
        &blank,
        &expect![[r#"
            cline-v1: "one\ndos\n" at [4]
            cline-v2: "one\ndos\n"
        "#]],
    );
    check(
        "one\ntwo\n",
        &(blank + &block(" \n", "more\n")),
        &expect![[r#"
            cline-v1: error: "The SEARCH block:\n\n...does not match anything in the file."
            cline-v2: error: "The SEARCH block:\n\n...does not match anything in the file."
        "#]],
    );
}

#[test]
fn places_are_counted_in_bytes() {
    check_block(
        "é 𝕏\none\n",
        "one\n",
        "uno\n",
        &expect![[r#"
            cline-v1: "é 𝕏\nuno\n" at [8]
            cline-v2: "é 𝕏\nuno\n"
        "#]],
    );
}
