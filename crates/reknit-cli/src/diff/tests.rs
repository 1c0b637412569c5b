use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

fn text(diff: &Diff<'_>) -> String {
    let mut out = Vec::new();
    write(&mut out, Sides { before: Some("a.txt"), after: Some("a.txt") }, diff).expect("it is in memory");
    String::from_utf8(out).expect("the tests are")
}

#[expect(clippy::needless_pass_by_value, reason = "so that callers can write `expect![..]`")]
fn check(before: &str, after: &str, expected: Expect) {
    expected.assert_eq(&text(&Diff::between(before.as_bytes(), after.as_bytes())));
}

#[test]
fn changes_stand_between_the_lines_around_them() {
    let before: String = (1..=30).map(|line| format!("line {line}\n")).collect();
    let after =
        before.replace("line 5\n", "LINE 5\n").replace("line 12\n", "").replace("line 29\n", "29\nmore\n");
    check(
        &before,
        &after,
        expect![[r#"
            --- a/a.txt
            +++ b/a.txt
            @@ -2,14 +2,13 @@
             line 2
             line 3
             line 4
            -line 5
            +LINE 5
             line 6
             line 7
             line 8
             line 9
             line 10
             line 11
            -line 12
             line 13
             line 14
             line 15
            @@ -26,5 +25,6 @@
             line 26
             line 27
             line 28
            -line 29
            +29
            +more
             line 30
        "#]],
    );
    check(&before, &before, expect![""]);
}

#[test]
fn a_last_line_without_line_end_says_so() {
    check(
        "a\nb",
        "a\nc",
        expect![[r#"
            --- a/a.txt
            +++ b/a.txt
            @@ -1,2 +1,2 @@
             a
            -b
            \ No newline at end of file
            +c
            \ No newline at end of file
        "#]],
    );
    check(
        "a\nb",
        "a\nb\n",
        expect![[r#"
            --- a/a.txt
            +++ b/a.txt
            @@ -1,2 +1,2 @@
             a
            -b
            \ No newline at end of file
            +b
        "#]],
    );
}

#[test]
fn files_come_go_and_move() {
    let shown = |before, after, diff: Diff<'_>| {
        let mut out = Vec::new();
        write(&mut out, Sides { before, after }, &diff).expect("it is in memory");
        String::from_utf8(out).expect("the tests are")
    };
    expect![[r#"
        diff --git a/new b/new
        new file mode 100644
        --- /dev/null
        +++ b/new
        @@ -0,0 +1 @@
        +one
    "#]]
    .assert_eq(&shown(None, Some("new"), Diff::between(b"", b"one\n")));
    expect![[r#"
        diff --git a/old b/old
        deleted file mode 100644
        --- a/old
        +++ /dev/null
        @@ -1 +0,0 @@
        -one
    "#]]
    .assert_eq(&shown(Some("old"), None, Diff::between(b"one\n", b"")));
    expect![[r#"
        diff --git "a/a \"b\"\012c" b/b
        rename from "a \"b\"\012c"
        rename to b
    "#]]
    .assert_eq(&shown(Some("a \"b\"\nc"), Some("b"), Diff::between(b"one\n", b"one\n")));
}

#[test]
fn only_the_changes_of_some_lines() {
    let before: String = (1..=30).map(|line| format!("line {line}\n")).collect();
    let at = |line: &str| before.find(line).expect("it is there");
    let splices = [(at("line 5")..at("line 6"), &b"five\n"[..]), (at("line 20")..at("line 20"), b"new\n")];
    let of = |lines| text(&Diff::new(before.as_bytes(), splices.clone()).within(&[lines]));
    assert!(of((5, 5)).contains("+five") && !of((5, 5)).contains("+new"));
    assert!(of((20, 19)).contains("+new") && !of((20, 19)).contains("+five"));
    assert_eq!(of((6, 19)), "");
}

#[test]
fn changed_words_are_found() {
    let marked = |before: &[&str], after: &[&str]| {
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        let [old, new] = words::changed(&owned(before), &owned(after));
        let show = |(line, marks): (&&str, Vec<Range<usize>>)| {
            let mut shown = (*line).to_owned();
            for range in marks.iter().rev() {
                shown.insert(range.end, ']');
                shown.insert(range.start, '[');
            }
            shown
        };
        let sides = [before.iter().zip(old).map(show), after.iter().zip(new).map(show)];
        sides.map(|lines| lines.collect::<Vec<_>>().join(" | ")).join(" -> ")
    };
    assert_eq!(marked(&["let a = 1;"], &["let a = 2;"]), "let a = [1]; -> let a = [2];");
    assert_eq!(marked(&["f(a, b)"], &["f(a, b, c)"]), "f(a, b) -> f(a, b[, c])");
    assert_eq!(marked(&["one thing"], &["entirely different"]), "one thing -> entirely different");
    assert_eq!(
        marked(&["run(limit);", "end(limit);"], &["// new", "run(limit + 1);", "stop();", "end(max);"]),
        "run(limit); | end([limit]); -> // new | run(limit[ + 1]); | stop(); | end([max]);"
    );
}

/// The original and the new content, as the hunks have them.
fn replayed(original: &[u8], hunks: &[Hunk<'_>]) -> (Vec<u8>, Vec<u8>) {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut rest = sources::byte_lines(original);
    let mut line = 0;
    for hunk in hunks {
        let kept: Vec<_> = rest.by_ref().take(hunk.before.skipped - line).flatten().copied().collect();
        before.extend_from_slice(&kept);
        after.extend_from_slice(&kept);
        assert_eq!(count_lines(&after), hunk.after.skipped);
        for Line { kind, text } in &hunk.lines {
            if *kind != Kind::Added {
                before.extend_from_slice(text);
                rest.next();
            }
            if *kind != Kind::Removed {
                after.extend_from_slice(text);
            }
        }
        line = hunk.before.skipped + hunk.before.count;
    }
    let kept: Vec<_> = rest.flatten().copied().collect();
    before.extend_from_slice(&kept);
    after.extend_from_slice(&kept);
    (before, after)
}

proptest! {
    /// Whatever ranges change, also within lines and next to each other, the diff has exactly that.
    #[test]
    fn a_diff_is_what_changes(
        original in "[ab\n]{0,60}",
        mut cuts in prop::collection::vec(0usize..61, 0..8),
        texts in prop::collection::vec("[ab\n]{0,5}", 4),
    ) {
        cuts.iter_mut().for_each(|cut| *cut = (*cut).min(original.len()));
        cuts.sort_unstable();
        let ranges = cuts.chunks_exact(2).map(|pair| pair[0]..pair[1]);
        let splices: Vec<_> = ranges.zip(texts.iter().map(String::as_bytes)).collect();
        let mut expected = original.clone();
        for (range, text) in splices.iter().rev() {
            expected.replace_range(range.clone(), std::str::from_utf8(text).expect("it was a text"));
        }
        let diff = Diff::new(original.as_bytes(), splices);
        let (before, after) = replayed(original.as_bytes(), &diff.hunks());
        prop_assert_eq!(String::from_utf8_lossy(&before), original.as_str());
        prop_assert_eq!(String::from_utf8_lossy(&after), expected.as_str());
        let between = Diff::between(original.as_bytes(), expected.as_bytes());
        let (_, after) = replayed(original.as_bytes(), &between.hunks());
        prop_assert_eq!(String::from_utf8_lossy(&after), expected.as_str());
    }
}
