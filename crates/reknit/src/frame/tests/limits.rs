//! A limit is reached at the same byte however the input is cut.

use expect_test::expect;

use super::*;

#[test]
fn the_lines_of_an_event_count() {
    check_limit(
        Framing::Sse,
        16,
        "data: a\ndata: b\n\n",
        expect![[r#"
            0 Data 0..15 "a\nb"
        "#]],
    );
    check_limit(
        Framing::Sse,
        16,
        "data: a\r\ndata: b\r\n\r\ndata: c\r\r",
        expect![[r#"
            0 Data 0..16 "a\nb"
            1 Data 20..27 "c"
        "#]],
    );
    check_limit(
        Framing::Sse,
        15,
        "data: 0\n\ndata: a\r\ndata: b\r\n\r\n",
        expect![[r#"
            0 Data 0..7 "0"
            error: byte 25: the frame is longer than 15 bytes
        "#]],
    );
    check_limit(
        Framing::Sse,
        15,
        "data: 0\n\nnone: a\n: c\ndata: b",
        expect![[r#"
            0 Data 0..7 "0"
            1 Comment 17..20 "c"
            DroppedFrame at 9, frame 2: the input ended inside the frame: 19 bytes dropped
            IgnoredLine at 9, frame 2: 1 line ignored: unknown field or invalid value
        "#]],
    );
    check_limit(
        Framing::Sse,
        8,
        "data: a\n\n\n\ndata: ab\n\ndata: c\n\n",
        expect![[r#"
            0 Data 0..7 "a"
            error: byte 19: the frame is longer than 8 bytes
        "#]],
    );
    check_limit(
        Framing::Sse,
        15,
        b"<p>\ndata:\xFF\ndata: \xFF\xFFabcd\n",
        expect![[r#"
            IgnoredLine at 0, frame 0: 1 line ignored: unknown field or invalid value
            InvalidUtf8 at 9, frame 0: 1 invalid byte sequence read as U+FFFD
            error: byte 15: the frame is longer than 15 bytes
        "#]],
    );
    check_limit(
        Framing::Sse,
        0,
        "\n\r\na",
        expect![[r#"
            error: byte 3: the frame is longer than 0 bytes
        "#]],
    );
}

#[test]
fn the_line_of_a_comment_counts() {
    check_limit(
        Framing::Sse,
        8,
        ": 45678\n: 45678\ndata: a\n: 45678\n\n",
        expect![[r#"
            0 Comment 0..7 "45678"
            1 Comment 8..15 "45678"
            2 Comment 24..31 "45678"
            3 Data 16..23 "a"
        "#]],
    );
    check_limit(
        Framing::Sse,
        8,
        "data: a\n: 456789\n",
        expect![[r#"
            error: byte 16: the frame is longer than 8 bytes
        "#]],
    );
    check_limit(
        Framing::Sse,
        8,
        "data: a\n: 4567890",
        expect![[r#"
            error: byte 16: the frame is longer than 8 bytes
        "#]],
    );
}

#[test]
fn other_framings() {
    check_limit(
        Framing::Lines,
        4,
        "123\n12\r\n1234\n",
        expect![[r#"
            0 Data 0..3 "123"
            1 Data 4..6 "12"
            error: byte 12: the frame is longer than 4 bytes
        "#]],
    );
    check_limit(
        Framing::JsonArray,
        4,
        "[      1234, \"ab\"   ,\"abc\"]",
        expect![[r#"
            0 Data 7..11 "1234"
            1 Data 13..17 "\"ab\""
            error: byte 25: the frame is longer than 4 bytes
        "#]],
    );
    check_limit(
        Framing::Whole,
        4,
        "1234",
        expect![[r#"
            0 Data 0..4 "1234"
        "#]],
    );
    check_limit(
        Framing::Whole,
        4,
        "\u{FEFF}12345",
        expect![[r#"
            error: byte 7: the frame is longer than 4 bytes
        "#]],
    );
}

#[test]
fn detection_holds_back_no_more() {
    let limits = Limits { frame_bytes: 8, ..Limits::default() };
    let check = |input: &str, expected: Expect| {
        check_all_cuts(input.as_bytes(), || Decoder::detect(&limits), expected);
    };
    check(
        "{\"a\":12}\n",
        expect![[r#"
            error: byte 8: the frame is longer than 8 bytes
        "#]],
    );
    check(
        "{\"a\":1}\n{}",
        expect![[r#"
            0 Data 0..7 "{\"a\":1}"
            UnterminatedFrame at 10, frame 1: the input ended without the last line end
            1 Data 8..10 "{}"
        "#]],
    );
    check(
        "\u{FEFF}        [1]",
        expect![[r#"
            0 Data 12..13 "1"
        "#]],
    );
    check(
        "         [1]",
        expect![[r#"
            error: byte 8: the frame is longer than 8 bytes
        "#]],
    );
    check(
        "{\"a\":123}",
        expect![[r#"
            error: byte 8: the frame is longer than 8 bytes
        "#]],
    );
}

#[test]
fn an_error_is_returned_once_and_has_a_hint() {
    let mut decoder = Decoder::new(Framing::Sse, &Limits { frame_bytes: 8, ..Limits::default() });
    decoder.push(b"data: 789");
    let error = decoder.next_frame().unwrap_err();
    assert_eq!(error, Error::TooLong { at: 8, limit: 8 });
    assert!(error.hint().contains("frame_bytes"));
    decoder.push(b"\n\ndata: a\n\n");
    assert_eq!(decoder.next_frame(), Ok(None));
    decoder.finish();
    assert_eq!(decoder.next_frame(), Ok(None));
    assert_eq!(decoder.next_diagnostic(), None);
}

#[test]
fn a_push_beyond_the_limit_is_not_kept() {
    let limits = Limits { frame_bytes: 1000, ..Limits::default() };
    for framing in [Framing::Sse, Framing::Lines, Framing::JsonArray, Framing::Whole] {
        let head: &[u8] = if framing == Framing::Sse { b"data: " } else { b"[\"" };
        let input = [head, &vec![b'x'; 8 << 20]].concat();
        for mut decoder in [Decoder::new(framing, &limits), Decoder::detect(&limits)] {
            let memory = allocation_counter::measure(|| {
                decoder.push(&input);
                assert!(decoder.next_frame().is_err());
            });
            assert!(memory.bytes_max < 10_000, "{framing:?}: {} bytes", memory.bytes_max);
        }
    }
}
