//! Messages that the tests write themselves.

use expect_test::expect;

use super::*;

/// A message with these headers, whose values are texts.
fn message(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let mut written = Vec::new();
    for (name, value) in headers {
        written.push(name.len() as u8);
        written.extend(name.as_bytes());
        written.push(7);
        written.extend((value.len() as u16).to_be_bytes());
        written.extend(value.as_bytes());
    }
    let total = (written.len() + payload.len() + 16) as u32;
    let mut message = [total.to_be_bytes(), (written.len() as u32).to_be_bytes()].concat();
    message.extend(crc32fast::hash(&message).to_be_bytes());
    message.extend(written);
    message.extend(payload);
    message.extend(crc32fast::hash(&message).to_be_bytes());
    message
}

fn event(name: &str, payload: &[u8]) -> Vec<u8> {
    message(&[(":message-type", "event"), (":event-type", name)], payload)
}

#[test]
fn the_whole_message_counts() {
    let input = [event("a", b"{}"), event("b", b"{\"n\":1}")].concat();
    let first = event("a", b"{}").len();
    check_limit(
        Framing::AwsEventStream,
        first,
        &input,
        expect![[r#"
            0 Data 0..56 "{}" event="a"
            error: byte 112: the frame is longer than 56 bytes
        "#]],
    );
    check_limit(
        Framing::AwsEventStream,
        first - 1,
        &input[..14],
        expect![[r#"
            error: byte 55: the frame is longer than 55 bytes
        "#]],
    );
}

#[test]
fn lengths_that_fit_are_needed_to_detect_it() {
    let input = event("a", b"{}");
    check_detect(
        &input,
        Some(Framing::AwsEventStream),
        expect![[r#"
            0 Data 0..56 "{}" event="a"
        "#]],
    );
    // No message is that short, so this is text of some kind.
    check_detect(
        [&[0, 0, 0, 15], &[0; 4][..], b"\ndata: 1\n\n"].concat(),
        Some(Framing::Sse),
        expect![[r#"
            IgnoredLine at 0, frame 0: 1 line ignored: unknown field or invalid value
            0 Data 0..16 "1"
        "#]],
    );
    let mut decoder = Decoder::detect(&Limits::default());
    decoder.push(&[b"\n", &input[..]].concat());
    assert_eq!(decoder.framing(), Some(Framing::Sse), "a message is at the very beginning or nowhere");
}

#[test]
fn no_allocation_per_message_once_warm() {
    let input = event("contentBlockDelta", b"{\"delta\":{\"text\":\"one\"}}");
    let mut decoder = Decoder::new(Framing::AwsEventStream, &Limits::default());
    let mut turn = || {
        for piece in input.chunks(20) {
            decoder.push(piece);
            while decoder.next_frame().unwrap().is_some() {}
        }
    };
    turn();
    let memory = allocation_counter::measure(|| (0..1000).for_each(|_| turn()));
    assert_eq!(memory.count_total, 0);
}

/// Messages with headers, payloads and damage of any kind.
fn messages() -> impl Strategy<Value = Vec<u8>> {
    let payload = prop::collection::vec(prop::sample::select(b"{}\"a\xC3\xA9\xFF".to_vec()), 0..12);
    let name = prop::sample::select(vec![":event-type", ":message-type", ":error-message", "x", ""]);
    let value = prop::sample::select(vec!["event", "exception", "error", "a", ""]);
    let one = (prop::collection::vec((name, value), 0..4), payload)
        .prop_map(|(headers, payload)| message(&headers, &payload));
    let damage = prop::option::weighted(0.3, (any::<prop::sample::Index>(), 1u8..));
    (prop::collection::vec(one, 1..4), damage).prop_map(|(messages, damage)| {
        let mut input = messages.concat();
        if let Some((at, change)) = damage {
            let at = at.index(input.len());
            input[at] ^= change;
        }
        input
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_cut_of_messages_tells_the_same(
        input in messages(), end: prop::sample::Index, cuts: [prop::sample::Index; 6],
        frame_bytes in 0usize..200, detects: bool,
    ) {
        let limits = Limits { frame_bytes, ..Limits::default() };
        let decoder = || match detects {
            true => Decoder::detect(&limits),
            false => Decoder::new(Framing::AwsEventStream, &limits),
        };
        let input = &input[..end.index(input.len() + 1)];
        let whole = log(decoder(), [input]);
        prop_assert_eq!(&log(decoder(), cut_at(input, &cuts)), &whole);
        prop_assert_eq!(&log(decoder(), input.chunks(1)), &whole);
    }

    /// No change of a byte goes unnoticed: every frame that is returned is one that was sent.
    #[test]
    fn a_damaged_message_is_never_returned(
        payload in prop::collection::vec(any::<u8>(), 0..40), at: prop::sample::Index, change in 1u8..,
    ) {
        let mut input = event("a", &payload);
        let at = at.index(input.len());
        input[at] ^= change;
        let mut decoder = Decoder::new(Framing::AwsEventStream, &Limits::default());
        decoder.push(&input);
        decoder.finish();
        prop_assert!(!matches!(decoder.next_frame(), Ok(Some(_))));
    }
}
