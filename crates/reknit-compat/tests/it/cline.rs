//! Cline's two ways to apply a diff, side by side.

mod bugs;
mod errors;
mod markers;
mod matching;
mod previews;

use std::fmt::Write;

use expect_test::Expect;
use proptest::prelude::*;
use reknit_compat::cline::{End, Version, construct};

/// Compares the outcome of a final diff in both versions.
#[track_caller]
fn check(original: &str, diff: &str, expected: &Expect) {
    let outcomes = Version::ALL
        .map(|version| format!("{}: {}\n", version.name(), outcome(version, diff, original, End::Final)));
    expected.assert_eq(&outcomes.concat());
}

/// Compares the outcome of one block in both versions.
#[track_caller]
fn check_block(original: &str, search: &str, replacement: &str, expected: &Expect) {
    check(original, &block(search, replacement), expected);
}

/// The outcome on one line.
fn outcome(version: Version, diff: &str, original: &str, end: End) -> String {
    match construct(version, diff, original, end) {
        Ok(constructed) => {
            let mut line = format!("{:?}", constructed.content);
            if let Some(indices) = constructed.match_indices {
                write!(line, " at {indices:?}").expect("writing to a string cannot fail");
            }
            line
        }
        Err(error) => format!("error: {:?}", error.to_string()),
    }
}

/// One block, as a model is asked to write it.
fn block(search: &str, replacement: &str) -> String {
    format!("------- SEARCH\n{search}=======\n{replacement}+++++++ REPLACE\n")
}

#[test]
fn the_versions_have_the_names_of_their_profiles() {
    assert_eq!(Version::ALL.map(Version::name), ["cline-v1", "cline-v2"]);
}

proptest! {
    #[test]
    fn any_diff_of_any_file_has_an_outcome(
        diff in text(),
        original in text(),
        version in prop::sample::select(Version::ALL.as_slice()),
    ) {
        let whole = construct(version, &diff, &original, End::Final);
        let preview = construct(version, &diff, &original, End::Open);
        // Only the end makes a difference between the two.
        if let (Err(whole), Err(preview)) = (&whole, &preview) {
            prop_assert_eq!(whole, preview);
        }
        if let (Version::V1, Ok(preview)) = (version, preview) {
            let placed = preview.match_indices.expect("v1 keeps them");
            let whole = whole.expect("v1 has no error that depends on the end");
            prop_assert!(whole.match_indices.is_some_and(|indices| indices.len() >= placed.len()));
        }
    }
}

/// Lines, many of which are markers or the same.
fn text() -> impl Strategy<Value = String> {
    const LINES: &[&str] = &[
        "------- SEARCH",
        "<<< SEARCH>",
        "=======",
        "===",
        "+++++++ REPLACE",
        ">>> REPLACE",
        "-",
        "a",
        " a",
        "a\r",
        "ba",
        "",
        "\u{feff}é",
    ];
    prop::collection::vec(prop::sample::select(LINES), 0..16).prop_map(|lines| lines.join("\n"))
}
