//! Every case is decoded as a whole, byte by byte and cut in two at every byte, always with the same result.

mod aws_event_stream;
mod framings;
mod limits;
mod memory;
mod sse;

use std::fmt::Write;

use expect_test::Expect;
use proptest::prelude::*;

use super::*;
use crate::diagnostic::Place;

/// Frames and diagnostics in the order in which the caller sees them, one per line.
fn log<'a>(mut decoder: Decoder, pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut log = String::new();
    for piece in pieces {
        decoder.push(piece);
        drain(&mut decoder, &mut log);
    }
    decoder.finish();
    drain(&mut decoder, &mut log);
    log
}

fn drain(decoder: &mut Decoder, log: &mut String) {
    loop {
        let next = match decoder.next_frame() {
            Ok(frame) => frame.map(|frame| show(&frame)),
            Err(error) => Some(format!("error: {error}\n")),
        };
        while let Some(diagnostic) = decoder.next_diagnostic() {
            let Place { at, frame } = diagnostic.place().unwrap();
            let Diagnostic { kind, message, .. } = diagnostic;
            writeln!(log, "{kind:?} at {at}, frame {frame}: {message}").unwrap();
        }
        match next {
            Some(line) => log.push_str(&line),
            None => break,
        }
    }
}

fn show(frame: &Frame<'_>) -> String {
    let Frame { number, bytes, kind, event, data, id, retry } = frame;
    let mut line = format!("{number} {kind:?} {bytes:?} {data:?}");
    for (name, value) in [("event", event), ("id", id)] {
        if !value.is_empty() {
            write!(line, " {name}={value:?}").unwrap();
        }
    }
    if let Some(retry) = retry {
        write!(line, " retry={retry}").unwrap();
    }
    line + "\n"
}

#[expect(clippy::needless_pass_by_value, reason = "so that callers can write `expect![..]`")]
fn check_all_cuts(input: &[u8], decoder: impl Fn() -> Decoder, expected: Expect) {
    let whole = log(decoder(), [input]);
    expected.assert_eq(&whole);
    assert_eq!(log(decoder(), input.chunks(1)), whole, "byte by byte");
    for cut in 0..=input.len() {
        assert_eq!(log(decoder(), [&input[..cut], &input[cut..]]), whole, "cut at {cut}");
    }
}

fn check_framing(framing: Framing, input: impl AsRef<[u8]>, expected: Expect) {
    check_all_cuts(input.as_ref(), || Decoder::new(framing, &Limits::default()), expected);
}

fn check(input: impl AsRef<[u8]>, expected: Expect) {
    check_framing(Framing::Sse, input, expected);
}

fn check_strict(input: impl AsRef<[u8]>, expected: Expect) {
    let decoder = || Decoder::new(Framing::Sse, &Limits::default()).strict();
    check_all_cuts(input.as_ref(), decoder, expected);
}

fn check_limit(framing: Framing, frame_bytes: usize, input: impl AsRef<[u8]>, expected: Expect) {
    let limits = Limits { frame_bytes, ..Limits::default() };
    check_all_cuts(input.as_ref(), || Decoder::new(framing, &limits), expected);
}

fn check_detect(input: impl AsRef<[u8]>, framing: Option<Framing>, expected: Expect) {
    let input = input.as_ref();
    check_all_cuts(input, || Decoder::detect(&Limits::default()), expected);
    for size in [1, input.len().max(1)] {
        let mut decoder = Decoder::detect(&Limits::default());
        input.chunks(size).for_each(|piece| decoder.push(piece));
        decoder.finish();
        assert_eq!(decoder.framing(), framing);
    }
}

/// The rules of the WHATWG, applied line by line to the whole text: name, data and id of each event.
fn reference(input: &str) -> Vec<(String, String, String)> {
    let text = input.strip_prefix('\u{FEFF}').unwrap_or(input).replace("\r\n", "\n").replace('\r', "\n");
    let Some((lines, _)) = text.rsplit_once('\n') else { return Vec::new() };
    let (mut events, mut name, mut data, mut id) =
        (Vec::new(), String::new(), Vec::<String>::new(), String::new());
    for line in lines.split('\n') {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value).to_owned();
        match field {
            "" if line.is_empty() => {
                let name = std::mem::take(&mut name);
                if !data.is_empty() {
                    events.push((name, std::mem::take(&mut data).join("\n"), id.clone()));
                }
            }
            "event" => name = value,
            "data" => data.push(value),
            "id" if !value.contains('\0') => id = value,
            _ => {}
        }
    }
    events
}

fn tokens(words: &'static [&'static [u8]]) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(words), 0..40).prop_map(|words| words.concat())
}

#[rustfmt::skip]
fn sse_text() -> impl Strategy<Value = Vec<u8>> {
    tokens(&[
        b"\r", b"\n", b"\r\n", b"\n\n", b":", b": ", b" ", b"data", b"data:", b"data: ", b"event: ",
        b"id: ", b"id", b"retry: 5", b"x", b"\0", b"\xEF\xBB\xBF", b"\xE2\x82\xAC", b"\xE2\x80\xA8",
    ])
}

#[rustfmt::skip]
fn sse_bytes() -> impl Strategy<Value = Vec<u8>> {
    tokens(&[
        b"\r", b"\n", b"\r\n", b"\n\n", b":", b" ", b"data", b"data: ", b"event: ", b"id: ", b"x",
        b"\0", b"\xEF\xBB\xBF", b"\xEF\xBB", b"\xFF", b"\xE2\x82\xAC", b"\xE2\x82", b"\xF0\x9F",
    ])
}

#[rustfmt::skip]
fn json_bytes() -> impl Strategy<Value = Vec<u8>> {
    tokens(&[
        b"[", b"]", b"{", b"}", b"\"", b"\\", b",", b" ", b"\n", b"\r\n", b"1", b"true", b"\"a\":",
        b"{\"b\":2}", b"\xEF\xBB\xBF", b"\xFF", b"\xE2\x82",
    ])
}

fn cut_at<'a>(input: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(input.len() + 1)).collect();
    places.sort_unstable();
    let mut pieces = Vec::new();
    let mut start = 0;
    for place in places {
        pieces.push(&input[start..place]);
        start = place;
    }
    pieces.push(&input[start..]);
    pieces
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_cut_of_events_tells_the_same(
        input in sse_bytes(), cuts: [prop::sample::Index; 6], frame_bytes in 0usize..60, strict: bool,
    ) {
        let limits = Limits { frame_bytes, ..Limits::default() };
        let decoder = || {
            let decoder = Decoder::new(Framing::Sse, &limits);
            if strict { decoder.strict() } else { decoder }
        };
        let whole = log(decoder(), [&input[..]]);
        prop_assert_eq!(&log(decoder(), cut_at(&input, &cuts)), &whole);
        prop_assert_eq!(&log(decoder(), input.chunks(1)), &whole);
    }

    #[test]
    fn any_cut_of_json_tells_the_same(
        input in json_bytes(), cuts: [prop::sample::Index; 6], frame_bytes in 0usize..60, which in 0usize..4,
    ) {
        let limits = Limits { frame_bytes, ..Limits::default() };
        let decoder = || match which {
            0 => Decoder::detect(&limits),
            1 => Decoder::new(Framing::Lines, &limits),
            2 => Decoder::new(Framing::JsonArray, &limits),
            _ => Decoder::new(Framing::Whole, &limits),
        };
        let whole = log(decoder(), [&input[..]]);
        prop_assert_eq!(&log(decoder(), cut_at(&input, &cuts)), &whole);
        prop_assert_eq!(&log(decoder(), input.chunks(1)), &whole);
    }

    #[test]
    fn events_are_those_of_the_specification(input in sse_text()) {
        let text = String::from_utf8(input).unwrap();
        let mut decoder = Decoder::new(Framing::Sse, &Limits::default()).strict();
        decoder.push(text.as_bytes());
        decoder.finish();
        let mut events = Vec::new();
        while let Some(frame) = decoder.next_frame().unwrap() {
            if frame.kind == Kind::Data {
                events.push((frame.event.to_owned(), frame.data.to_owned(), frame.id.to_owned()));
            }
        }
        prop_assert_eq!(events, reference(&text));
    }

    #[test]
    fn array_elements_are_those_of_serde_json(values in prop::collection::vec(json_value(), 0..6), cut: prop::sample::Index) {
        let text = serde_json::to_string_pretty(&values).unwrap();
        let at = cut.index(text.len());
        let mut decoder = Decoder::detect(&Limits::default());
        decoder.push(&text.as_bytes()[..at]);
        decoder.push(&text.as_bytes()[at..]);
        let mut elements = Vec::new();
        while let Some(frame) = decoder.next_frame().unwrap() {
            elements.push(serde_json::from_str::<serde_json::Value>(frame.data).unwrap());
        }
        prop_assert_eq!(elements, values);
        decoder.finish();
        prop_assert_eq!(decoder.next_frame(), Ok(None));
        prop_assert_eq!(decoder.next_diagnostic(), None);
    }
}

fn json_value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<i32>().prop_map(Into::into),
        r#"["\\\[\]{},a é]{0,8}"#.prop_map(Into::into),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::btree_map(r#"["\\{a]{0,3}"#, inner, 0..4)
                .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}
