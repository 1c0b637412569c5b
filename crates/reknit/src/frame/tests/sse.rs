//! Server-sent events, rule by rule.

use expect_test::expect;

use super::*;

#[test]
fn all_kinds_of_line_ends() {
    check(
        "data: a\n\ndata: b\r\n\r\ndata: c\n\r\ndata: d\r\n\n",
        expect![[r#"
            0 Data 0..7 "a"
            1 Data 9..16 "b"
            2 Data 20..27 "c"
            3 Data 30..37 "d"
        "#]],
    );
    check(
        "data: a\r\rdata: b\r\r\ndata: c\r\n\r",
        expect![[r#"
            0 Data 0..7 "a"
            1 Data 9..16 "b"
            2 Data 19..26 "c"
        "#]],
    );
}

#[test]
fn with_cr_only_the_last_event_is_returned_at_once() {
    let mut decoder = Decoder::new(Framing::Sse, &Limits::default());
    decoder.push(b"data: a\r\r");
    assert_eq!(decoder.next_frame().unwrap().unwrap().data, "a");
    decoder.push(b"\ndata: b\r\n\r");
    assert_eq!(decoder.next_frame().unwrap().unwrap().data, "b");
    decoder.push(b"\n");
    assert_eq!(decoder.next_frame(), Ok(None));
}

#[test]
fn bom_is_stripped_once() {
    check(
        "\u{FEFF}data: a\n\n",
        expect![[r#"
            0 Data 3..10 "a"
        "#]],
    );
    check(
        "\u{FEFF}\u{FEFF}data: a\n\n",
        expect![[r#"
            IgnoredLine at 3, frame 0: 1 line ignored: unknown field or invalid value
        "#]],
    );
    check(
        "data: a\n\n\u{FEFF}data: b\ndata: \u{FEFF}c\n\n",
        expect![[r#"
            0 Data 0..7 "a"
            IgnoredLine at 9, frame 1: 1 line ignored: unknown field or invalid value
            1 Data 9..30 "\u{feff}c"
        "#]],
    );
    check(
        b"\xEF\xBBdata: a\n\n",
        expect![[r#"
            IgnoredLine at 0, frame 0: 1 line ignored: unknown field or invalid value
        "#]],
    );
    check(
        b"\xEF\xBB",
        expect![[r#"
            IgnoredLine at 0, frame 0: 1 line ignored: unknown field or invalid value
        "#]],
    );
}

#[test]
fn data_lines_are_joined() {
    check(
        "data: a\ndata:b\ndata:  c\ndata\ndata:\n\n",
        expect![[r#"
            0 Data 0..34 "a\nb\n c\n\n"
        "#]],
    );
}

#[test]
fn data_alone_is_an_event() {
    check(
        "data\n\ndata:\n\ndata: \n\n",
        expect![[r#"
            0 Data 0..4 ""
            1 Data 6..11 ""
            2 Data 13..19 ""
        "#]],
    );
}

#[test]
fn a_name_without_data_is_not_an_event() {
    check(
        "event: a\n\ndata: b\n\nevent: c\ndata: d\nevent: e\n\n",
        expect![[r#"
            0 Data 10..17 "b"
            1 Data 19..44 "d" event="e"
        "#]],
    );
}

#[test]
fn id_persists() {
    check(
        "id: 1\ndata: a\n\ndata: b\n\nid: 2\n\n: c\nid: 3\n: d\ndata: e\n\nid\ndata: f\n\n",
        expect![[r#"
            0 Data 0..13 "a" id="1"
            1 Data 15..22 "b" id="1"
            2 Comment 31..34 "c" id="2"
            3 Comment 41..44 "d" id="2"
            4 Data 35..52 "e" id="3"
            5 Data 54..64 "f"
        "#]],
    );
}

#[test]
fn id_with_nul_is_ignored() {
    check(
        "id: 1\ndata: a\n\nid: 2\x003\ndata: b\n\n",
        expect![[r#"
            0 Data 0..13 "a" id="1"
            IgnoredLine at 15, frame 1: 1 line ignored: unknown field or invalid value
            1 Data 15..30 "b" id="1"
        "#]],
    );
}

#[test]
fn retry_is_digits_and_survives_an_event_without_data() {
    check(
        "retry: 3000\n\ndata: a\n\nretry: -1\nretry: 1 \nretry:\nretry: 7\ndata: b\n\n",
        expect![[r#"
            0 Data 13..20 "a" retry=3000
            IgnoredLine at 22, frame 1: 3 lines ignored: unknown field or invalid value
            1 Data 22..65 "b" retry=7
        "#]],
    );
}

#[test]
fn comments_are_frames_and_leave_the_event_open() {
    check(
        ": hi\n\n:\ndata: a\n:OPENROUTER\r\ndata: b\n\n",
        expect![[r#"
            0 Comment 0..4 "hi"
            1 Comment 6..7 ""
            2 Comment 16..27 "OPENROUTER"
            3 Data 8..36 "a\nb"
        "#]],
    );
    check(
        b":\xFF\ndata: a\xFE\n: b\n\n",
        expect![[r#"
            InvalidUtf8 at 1, frame 0: 1 invalid byte sequence read as U+FFFD
            0 Comment 0..2 "�"
            1 Comment 12..15 "b"
            InvalidUtf8 at 10, frame 2: 1 invalid byte sequence read as U+FFFD
            2 Data 3..11 "a�"
        "#]],
    );
}

#[test]
fn other_fields_are_counted() {
    check(
        "<html>\n<p>\n\n</html>\ndata: a\n\n data: b\nData: c\ndatab\n",
        expect![[r#"
            IgnoredLine at 0, frame 0: 3 lines ignored: unknown field or invalid value
            0 Data 12..27 "a"
            IgnoredLine at 29, frame 1: 3 lines ignored: unknown field or invalid value
        "#]],
    );
}

#[test]
fn no_blank_line_at_the_end() {
    check(
        "data: a\n\ndata: b\n",
        expect![[r#"
            0 Data 0..7 "a"
            UnterminatedFrame at 17, frame 1: the input ended without the last blank line
            1 Data 9..16 "b"
        "#]],
    );
    check(
        "event: x\ndata: b\r",
        expect![[r#"
            UnterminatedFrame at 17, frame 0: the input ended without the last blank line
            0 Data 0..16 "b" event="x"
        "#]],
    );
    check(
        "data: b\n: a comm",
        expect![[r#"
            UnterminatedFrame at 16, frame 0: the input ended without the last blank line
            0 Data 0..7 "b"
        "#]],
    );
    check_strict(
        "data: a\n\nevent: x\ndata: b\n",
        expect![[r#"
            0 Data 0..7 "a"
            DroppedFrame at 9, frame 1: the input ended inside the frame: 17 bytes dropped
        "#]],
    );
}

#[test]
fn end_inside_a_line() {
    check(
        "data: a\n\ndata: b",
        expect![[r#"
            0 Data 0..7 "a"
            DroppedFrame at 9, frame 1: the input ended inside the frame: 7 bytes dropped
        "#]],
    );
    check(
        "event: x\ndata: b\nda",
        expect![[r#"
            DroppedFrame at 0, frame 0: the input ended inside the frame: 19 bytes dropped
        "#]],
    );
    check_strict(
        "event: x\ndata: b\nda",
        expect![[r#"
            DroppedFrame at 0, frame 0: the input ended inside the frame: 19 bytes dropped
        "#]],
    );
    check(
        "event: x\n",
        expect![[r#"
            DroppedFrame at 0, frame 0: the input ended inside the frame: 9 bytes dropped
        "#]],
    );
    check("id: 1\n", expect![[""]]);
    check(": no more", expect![[""]]);
}

#[test]
fn end_inside_a_character() {
    check(
        b"data: a\n\ndata: \xF0\x9F",
        expect![[r#"
            0 Data 0..7 "a"
            DroppedFrame at 9, frame 1: the input ended inside the frame: 8 bytes dropped
        "#]],
    );
}

#[test]
fn invalid_utf8_is_replaced_and_counted() {
    check(
        b"data: a\xFFb\xE2\x82\ndata: \xC0\x80\xE2\n\nevent: \xFF\ndata: c\n\n",
        expect![[r#"
            InvalidUtf8 at 7, frame 0: 5 invalid byte sequences read as U+FFFD
            0 Data 0..21 "a�b�\n���"
            InvalidUtf8 at 30, frame 1: 1 invalid byte sequence read as U+FFFD
            1 Data 23..39 "c" event="�"
        "#]],
    );
    // Invalid bytes in a line that is dropped with its event are not counted, wherever it was cut.
    check(
        b"data: a\n\ndata: \xFF",
        expect![[r#"
            0 Data 0..7 "a"
            DroppedFrame at 9, frame 1: the input ended inside the frame: 7 bytes dropped
        "#]],
    );
}

#[test]
fn characters_may_be_cut() {
    check(
        "event: größe\ndata: €😀\n\n",
        expect![[r#"
            0 Data 0..28 "€😀" event="größe"
        "#]],
    );
}

#[test]
fn line_separator_is_not_a_line_end() {
    check(
        "data: a\u{2028}b\u{85}c\x0Bd\n\n",
        expect![[r#"
            0 Data 0..16 "a\u{2028}b\u{85}c\u{b}d"
        "#]],
    );
}
