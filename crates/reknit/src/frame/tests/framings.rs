//! The other framings, and which of them is detected.

use expect_test::expect;

use super::*;

#[test]
fn lines() {
    check_framing(
        Framing::Lines,
        "{\"a\":1}\r\n\n \t\r\n {\"b\": 2}\rx\n{\"c\":3}\n",
        expect![[r#"
            0 Data 0..7 "{\"a\":1}"
            1 Data 14..25 " {\"b\": 2}\rx"
            2 Data 26..33 "{\"c\":3}"
        "#]],
    );
    check_framing(
        Framing::Lines,
        b"\xEF\xBB\xBF{}\n\xFF\r\n{\"cut",
        expect![[r#"
            0 Data 3..5 "{}"
            InvalidUtf8 at 6, frame 1: 1 invalid byte sequence read as U+FFFD
            1 Data 6..7 "�"
            UnterminatedFrame at 14, frame 2: the input ended without the last line end
            2 Data 9..14 "{\"cut"
        "#]],
    );
    check_framing(
        Framing::Lines,
        "a\r",
        expect![[r#"
            UnterminatedFrame at 2, frame 0: the input ended without the last line end
            0 Data 0..1 "a"
        "#]],
    );
    check_framing(
        Framing::Lines,
        "a\n \r",
        expect![[r#"
            0 Data 0..1 "a"
        "#]],
    );
}

#[test]
fn array() {
    check_framing(
        Framing::JsonArray,
        " [ {\"a\": [1, \"]}\\\"\\\\\"]} ,\r\n[],\"x,y\",12, null,true] \n",
        expect![[r#"
            0 Data 3..23 "{\"a\": [1, \"]}\\\"\\\\\"]}"
            1 Data 27..29 "[]"
            2 Data 30..35 "\"x,y\""
            3 Data 36..38 "12"
            4 Data 40..44 "null"
            5 Data 45..49 "true"
        "#]],
    );
    check_framing(
        Framing::JsonArray,
        b"\xEF\xBB\xBF[{\"a\":\"\xE2\x82\"},{}]",
        expect![[r#"
            InvalidUtf8 at 10, frame 0: 1 invalid byte sequence read as U+FFFD
            0 Data 4..14 "{\"a\":\"�\"}"
            1 Data 15..17 "{}"
        "#]],
    );
}

#[test]
fn array_that_is_not_one() {
    check_framing(
        Framing::JsonArray,
        "[1,{\"a\":\"b",
        expect![[r#"
            0 Data 1..2 "1"
            DroppedFrame at 3, frame 1: the input ended inside the frame: 7 bytes dropped
        "#]],
    );
    check_framing(
        Framing::JsonArray,
        "[1,23",
        expect![[r#"
            0 Data 1..2 "1"
            DroppedFrame at 3, frame 1: the input ended inside the frame: 2 bytes dropped
        "#]],
    );
    check_framing(
        Framing::JsonArray,
        "[{},\n",
        expect![[r#"
            0 Data 1..3 "{}"
            UnterminatedFrame at 5, frame 1: the input ended without the last closing bracket
        "#]],
    );
    check_framing(
        Framing::JsonArray,
        "[{}]\n[{}]",
        expect![[r#"
            0 Data 1..3 "{}"
            TrailingBytes at 5, frame 1: 4 bytes after the end of the array dropped
        "#]],
    );
    check_framing(
        Framing::JsonArray,
        "{\"error\":1}",
        expect![[r#"
            0 Data 0..11 "{\"error\":1}"
            UnterminatedFrame at 11, frame 1: the input ended without the last closing bracket
        "#]],
    );
    check_framing(
        Framing::JsonArray,
        "[{}{},,}]",
        expect![[r#"
            0 Data 1..3 "{}"
            1 Data 3..5 "{}"
            2 Data 7..8 "}"
        "#]],
    );
    check_framing(Framing::JsonArray, " ", expect![[""]]);
}

#[test]
fn an_array_element_does_not_wait_for_its_comma() {
    let mut decoder = Decoder::detect(&Limits::default());
    decoder.push(b"[{\"a\":1}");
    assert_eq!(decoder.next_frame().unwrap().unwrap().data, "{\"a\":1}");
}

#[test]
fn whole() {
    check_framing(
        Framing::Whole,
        "\u{FEFF}{\n \"a\": 1\n}\n",
        expect![[r#"
            0 Data 3..14 "{\n \"a\": 1\n}"
        "#]],
    );
    check_framing(
        Framing::Whole,
        b"\xFF\xC3",
        expect![[r#"
            InvalidUtf8 at 0, frame 0: 2 invalid byte sequences read as U+FFFD
            0 Data 0..2 "��"
        "#]],
    );
    check_framing(Framing::Whole, " \n", expect![[""]]);
}

#[test]
fn detection() {
    check_detect(
        "data: {}\n\n",
        Some(Framing::Sse),
        expect![[r#"
            0 Data 0..8 "{}"
        "#]],
    );
    check_detect(
        "\u{FEFF}\r\n\n: hi\n",
        Some(Framing::Sse),
        expect![[r#"
            0 Comment 6..10 "hi"
        "#]],
    );
    check_detect(
        "\n \t[{}]",
        Some(Framing::JsonArray),
        expect![[r#"
            0 Data 4..6 "{}"
        "#]],
    );
    check_detect(
        "\u{FEFF} {\"a\":\"}{\\\"\"}\n{}\n",
        Some(Framing::Lines),
        expect![[r#"
            0 Data 3..16 " {\"a\":\"}{\\\"\"}"
            1 Data 17..19 "{}"
        "#]],
    );
    check_detect(
        "{\n\"a\":1}\n",
        Some(Framing::Whole),
        expect![[r#"
            0 Data 0..8 "{\n\"a\":1}"
        "#]],
    );
    check_detect(
        "{\"a\":\"{\n",
        Some(Framing::Whole),
        expect![[r#"
            0 Data 0..7 "{\"a\":\"{"
        "#]],
    );
    check_detect(
        "{\"a\":1}",
        Some(Framing::Whole),
        expect![[r#"
            0 Data 0..7 "{\"a\":1}"
        "#]],
    );
    check_detect(
        "<html>\n",
        Some(Framing::Sse),
        expect![[r#"
            IgnoredLine at 0, frame 0: 1 line ignored: unknown field or invalid value
        "#]],
    );
    check_detect(
        b"\xEF\xBB",
        Some(Framing::Sse),
        expect![[r#"
            IgnoredLine at 0, frame 0: 1 line ignored: unknown field or invalid value
        "#]],
    );
    check_detect(" \n\n", None, expect![[""]]);
    check_detect("", None, expect![[""]]);
}
