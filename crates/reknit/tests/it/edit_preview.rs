//! A file's new content while its edits are being written.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use reknit::edit::{Format, How, Parser, Plan, Preview, parse, plan};

use crate::edit_follower::{Fate, Follower};

/// Feeds an answer in pieces that end at these bytes to somebody who follows the changes.
fn feed(format: Format, original: &str, answer: &str, cuts: &[usize]) -> (Follower, usize, Plan) {
    let mut preview = Preview::new(Parser::new(format), original.as_bytes(), How::Context);
    let mut follower = Follower::default();
    let mut restarts = 0;
    let mut start = 0;
    for end in cuts.iter().copied().chain([answer.len()]) {
        restarts += follower.push(&mut preview, &answer[start..end]);
        start = end;
    }
    (follower, restarts, preview.finish().1)
}

fn one_shot(format: Format, original: &str, answer: &str) -> Plan {
    let mut parsed = parse(format, answer);
    parsed.edits.iter_mut().for_each(|edit| edit.path = None);
    plan(&parsed.edits, &[("", original.as_bytes())], How::Context)
}

fn text(follower: &Follower) -> &str {
    std::str::from_utf8(&follower.shown).unwrap()
}

fn byte_by_byte(answer: &str) -> Vec<usize> {
    answer.char_indices().map(|(at, _)| at).skip(1).collect()
}

fn check(original: &str, answer: &str, expected: &Expect) {
    check_as(Format::SearchReplace, original, answer, expected);
}

fn check_as(format: Format, original: &str, answer: &str, expected: &Expect) {
    let (whole, _, plan) = feed(format, original, answer, &[]);
    let (bytes, _, cut) = feed(format, original, answer, &byte_by_byte(answer));
    assert_eq!(whole, bytes, "the preview does not depend on the cuts");
    assert_eq!(plan, cut);
    assert_eq!(plan, one_shot(format, original, answer), "the plan is the one of the whole answer");
    expected.assert_eq(&text(&whole).replace('\r', "␍"));
}

const FILE: &str = "one\ntwo\nthree\nfour\nfive\n";

#[test]
fn the_original_up_to_the_place_and_the_lines_so_far() {
    check(FILE, "<<<<<<< SEARCH\ntwo\n", &expect![""]);
    check(FILE, "<<<<<<< SEARCH\ntwo\n=======\n", &expect!["one\n"]);
    check(
        FILE,
        "<<<<<<< SEARCH\ntwo\n=======\nTWO\nhal",
        &expect![[r#"
            one
            TWO"#]],
    );
    check(
        FILE,
        "<<<<<<< SEARCH\ntwo\n=======\nTWO\n>>>>>>> REPL",
        &expect![[r#"
            one
            TWO"#]],
    );
    check(
        FILE,
        "<<<<<<< SEARCH\ntwo\n=======\nTWO\n>>>>>>> REPLACE\n",
        &expect![[r#"
            one
            TWO
        "#]],
    );
}

#[test]
fn a_second_edit_shows_what_lies_between() {
    let answer = "<<<<<<< SEARCH\ntwo\n=======\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nfour\n=======\nFOUR\n";
    check(
        FILE,
        answer,
        &expect![[r#"
            one
            three
            FOUR"#]],
    );
}

#[test]
fn an_edit_that_lies_before_shows_only_in_the_plan() {
    let answer = "<<<<<<< SEARCH\nfour\n=======\n4\n>>>>>>> REPLACE\n<<<<<<< SEARCH\none\n=======\n1\n>>>>>>> REPLACE\n";
    check(
        FILE,
        answer,
        &expect![[r#"
            one
            two
            three
            4
        "#]],
    );
    let plan = one_shot(Format::SearchReplace, FILE, answer);
    assert_eq!(plan.files[0].content(FILE.as_bytes()), b"1\ntwo\nthree\n4\nfive\n");
}

#[test]
fn a_search_that_fits_nowhere_or_twice_shows_nothing() {
    check(FILE, "<<<<<<< SEARCH\nsix\n=======\nSIX\n>>>>>>> REPLACE\n", &expect![""]);
    check("a\nb\na\n", "<<<<<<< SEARCH\na\n=======\nA\n", &expect![""]);
}

/// What is reported of the only edit at this point of the answer.
fn fate(original: &str, answer: &str) -> Option<Fate> {
    let (mut whole, ..) = feed(Format::SearchReplace, original, answer, &[]);
    let (bytes, ..) = feed(Format::SearchReplace, original, answer, &byte_by_byte(answer));
    assert_eq!(whole, bytes, "the reports do not depend on the cuts");
    whole.fates.remove(&0)
}

#[test]
fn a_search_that_has_no_place_is_reported_when_the_edit_is_whole() {
    let reason = |fate: Option<Fate>| match fate {
        Some(Fate::Rejected(rejection)) => ("rejected", rejection.reason.name()),
        Some(Fate::Placed(how, _)) => ("placed", how.name()),
        None => ("nothing", ""),
    };
    let divided = "<<<<<<< SEARCH\nsix\n=======\n";
    assert_eq!(reason(fate(FILE, divided)), ("nothing", ""));
    assert_eq!(reason(fate(FILE, &format!("{divided}SIX\n"))), ("nothing", ""));
    let whole = |replacement: &str| format!("{divided}{replacement}>>>>>>> REPLACE\n");
    assert_eq!(reason(fate(FILE, &whole("SIX\n"))), ("rejected", "no-match"));
    // One line of the replacement that is somewhere in the file does not mean that the edit is done.
    assert_eq!(reason(fate(FILE, &whole("five\n"))), ("rejected", "no-match"));

    // Whether the edit may be applied depends on the replacement.
    let original = "fn light() {\n    let lamp = find_the_lamp();\n    lamp.switch_on_slowly(seconds);\n    wait();\n}\n";
    let search =
        "fn light() {\n    let lamp = find_the_lamp();\n    lamp.switch_on(seconds);\n    wait();\n}\n";
    let block = format!("<<<<<<< SEARCH\n{search}=======\n{search}fn dark() {{}}\n>>>>>>> REPLACE\n");
    assert_eq!(reason(fate(original, &block)), ("placed", "context"));
}

#[test]
fn a_search_that_fits_twice_may_be_one_of_two() {
    let block = "<<<<<<< SEARCH\na\n=======\nA\n>>>>>>> REPLACE\n";
    assert_eq!(fate("a\nb\na\n", block), None);
    assert_eq!(fate("a\nb\na\n", &block.repeat(2)), None);
    // No other edit can say which of these is meant.
    let answer = r#"{"old_string": "a", "new_string": "b"}"#;
    let (follower, ..) = feed(Format::StrReplace, "a, a\n", answer, &byte_by_byte(answer));
    assert!(matches!(follower.fates[&0], Fate::Rejected(_)));
}

#[test]
fn lines_are_shown_as_the_file_writes_them() {
    check(
        "fn f() {\r\n\tlet a = 1;\r\n}",
        "<<<<<<< SEARCH\n\tlet a = 1;\n=======\n\tlet a = 2;\n\tlet b = 3;\n>>>>>>> REPLACE\n",
        &expect![[r#"
            fn f() {␍
            	let a = 2;␍
            	let b = 3;␍
        "#]],
    );
    check(
        "a\nb",
        "<<<<<<< SEARCH\nb\n=======\nB\nc\n>>>>>>> REPLACE\n",
        &expect![[r#"
        a
        B
        c"#]],
    );
}

#[test]
fn another_reading_restarts_once() {
    let original = "Title\n=======\ntext\n";
    let answer = "<<<<<<< SEARCH\nTitle\n=======\ntext\n=======\nnew\n>>>>>>> REPLACE\n";
    // Both readings fit, and the second does not add a divider.
    let (follower, restarts, plan) = feed(Format::SearchReplace, original, answer, &byte_by_byte(answer));
    assert_eq!((text(&follower), restarts), ("new\n", 1));
    assert_eq!(plan.rejected().count(), 0);

    let original = "Title\n=======\n\ntext\n";
    let answer = "<<<<<<< SEARCH\n=======\n\ntext\n=======\n=======\n\nnew\n>>>>>>> REPLACE\n";
    let (_, _, cut) = feed(Format::SearchReplace, original, answer, &byte_by_byte(answer));
    assert_eq!(cut, one_shot(Format::SearchReplace, original, answer));
}

#[test]
fn other_formats_grow_too() {
    check_as(
        Format::Whole,
        "old\r\n",
        "a.txt\n```\nnew\nlines\n",
        &expect![[r#"
            new␍
            lines"#]],
    );
    check_as(
        Format::StrReplace,
        "let a = 1;\n",
        r#"{"old_string": "a = 1", "new_string": "a = 2"}"#,
        &expect!["let a = 2"],
    );
    check_as(
        Format::ApplyPatch,
        FILE,
        "*** Begin Patch\n*** Update File: f\n@@\n two\n-three\n+3\n four\n*** End Patch\n",
        &expect![[r#"
            one
            two
            3
            four
        "#]],
    );
}

#[test]
fn blocks_of_one_element_show_one_after_the_other() {
    let blocks = "<<<<<<< SEARCH\none\n=======\n1\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nthree\n=======\n3\n";
    let answer = format!("<apply_diff>\n<path>f</path>\n<diff>\n{blocks}");
    check_as(
        Format::RooArgs,
        FILE,
        &answer,
        &expect![[r#"
            1
            two
            3"#]],
    );
    // Here the hint of the first one comes last, and the other waits for it.
    let answer = format!("<args>\n<file>\n<path>f</path>\n<diff>\n<content>\n{blocks}");
    check_as(Format::RooArgs, FILE, &answer, &expect!["1"]);
    let answer = answer + ">>>>>>> REPLACE\n</content>\n<start_line>1</start_line>\n</diff>\n";
    assert_eq!(feed(Format::RooArgs, FILE, &answer, &byte_by_byte(&answer)).1, 0, "nothing is taken back");
    check_as(
        Format::RooArgs,
        FILE,
        &answer,
        &expect![[r#"
            1
            two
            3
        "#]],
    );
}

proptest! {
    #[test]
    fn any_cut_shows_the_same(
        original in proptest::collection::vec("(a|b|c|  a|=======|)\n", 0..8),
        blocks in proptest::collection::vec(
            (proptest::collection::vec("(a|b|c| a|=======|)\n", 0..3), proptest::collection::vec("(a|x|=======|  y|)\n", 0..3)),
            1..4,
        ),
        seeds in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let original = original.concat();
        let answer: String = blocks
            .iter()
            .map(|(search, replacement)| format!("<<<<<<< SEARCH\n{}=======\n{}>>>>>>> REPLACE\n", search.concat(), replacement.concat()))
            .collect();
        let mut cuts: Vec<usize> = seeds.iter().map(|seed| seed.index(answer.len())).collect();
        cuts.sort_unstable();
        let whole = feed(Format::SearchReplace, &original, &answer, &[]);
        let cut = feed(Format::SearchReplace, &original, &answer, &cuts);
        prop_assert_eq!(&whole.0, &cut.0);
        prop_assert_eq!(&whole.2, &cut.2);
        prop_assert_eq!(&whole.2, &one_shot(Format::SearchReplace, &original, &answer));
    }
}
