//! What is allocated, and that memory does not grow.

use super::*;

#[test]
fn no_allocation_per_frame_once_warm() {
    let piece = b": ping\nid: 7\nevent: delta\ndata: one\ndata: two\n\ndata: cut her";
    let rest = b"e and there\n\n";
    let mut decoder = Decoder::new(Framing::Sse, &Limits::default());
    let mut turn = || {
        for piece in [&piece[..], &rest[..]] {
            decoder.push(piece);
            while decoder.next_frame().unwrap().is_some() {}
        }
    };
    turn();
    let memory = allocation_counter::measure(|| (0..1000).for_each(|_| turn()));
    assert_eq!(memory.count_total, 0);
}

#[test]
fn a_reader_that_lags_behind_by_one_frame_does_not_make_it_grow() {
    let mut decoder = Decoder::new(Framing::Sse, &Limits::default());
    decoder.push(b"data: 0\n\n");
    let memory = allocation_counter::measure(|| {
        for _ in 0..100_000 {
            decoder.push(b"event: e\ndata: another one\n\n");
            assert!(decoder.next_frame().unwrap().is_some());
        }
    });
    assert!(memory.bytes_max < 10_000, "{} bytes", memory.bytes_max);
}

#[test]
fn comments_inside_an_event_do_not_make_it_grow() {
    let mut decoder = Decoder::new(Framing::Sse, &Limits::default());
    decoder.push(b"event: e\ndata: 0\n");
    let memory = allocation_counter::measure(|| {
        for _ in 0..100_000 {
            decoder.push(b": still there\nnonsense");
            assert!(decoder.next_frame().unwrap().is_some());
            decoder.push(b"\n");
        }
    });
    assert!(memory.bytes_max < 10_000, "{} bytes", memory.bytes_max);
    decoder.push(b"\n");
    assert_eq!(decoder.next_frame().unwrap().unwrap().event, "e");
    assert!(decoder.next_diagnostic().unwrap().message.starts_with("100000 lines"));
}

#[test]
fn a_long_line_in_small_pieces() {
    let text = "näher ".repeat(600_000);
    let input = format!("data: {text}\ndata: {text}\n\n");
    let mut decoder = Decoder::new(Framing::Sse, &Limits::default());
    let memory = allocation_counter::measure(|| {
        for piece in input.as_bytes().chunks(61) {
            assert_eq!(decoder.next_frame(), Ok(None));
            decoder.push(piece);
        }
    });
    // One buffer that doubles, and the previous one while it is copied.
    assert!(memory.count_total < 64, "{} allocations", memory.count_total);
    assert!(memory.bytes_max < 4 * input.len() as u64, "{} bytes", memory.bytes_max);
    let frame = decoder.next_frame().unwrap().unwrap();
    assert_eq!(frame.data, format!("{text}\n{text}"));
    assert_eq!(frame.bytes, 0..input.len() as u64 - 2);
}
