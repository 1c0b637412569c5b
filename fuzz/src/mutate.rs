//! How an input becomes another one.

use std::ops::Range;

use libfuzzer_sys::fuzzer_mutate;

use crate::CONTROL;

/// Loses, repeats or moves a frame, or does so with a value inside the frames' JSON, two times of three; else
/// the fuzzer changes bytes as it likes.
///
/// Bytes that change at random break a frame far more often than they move it to where it means something else.
/// As the fuzzer wants it: `data` holds an input of `size` bytes and takes one of at most `max_size`, whose
/// size is given back.
pub fn stream(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let stream = data[..size].get(CONTROL..).unwrap_or_default();
    let parts = match seed % 3 {
        0 => frames(stream),
        1 => values(stream),
        _ => Vec::new(),
    };
    if parts.is_empty() {
        return fuzzer_mutate(data, size, max_size);
    }
    let number = |from: u32| usize::try_from((seed / 3) >> from).unwrap_or(0) % parts.len();
    let (one, other) = (parts[number(2)].clone(), parts[number(16)].clone());
    let moved = &stream[one.clone()];
    let stream = match (seed / 3) % 4 {
        0 => spliced(stream, one, b""),
        1 => spliced(stream, other.end..other.end, moved),
        2 => spliced(stream, other, moved),
        _ if other.end <= one.start => {
            spliced(&spliced(stream, one.clone(), b""), other.end..other.end, moved)
        }
        _ => spliced(&spliced(stream, other.end..other.end, moved), one, b""),
    };
    let size = stream.len().min(max_size - CONTROL);
    data[CONTROL..CONTROL + size].copy_from_slice(&stream[..size]);
    CONTROL + size
}

fn spliced(stream: &[u8], range: Range<usize>, new: &[u8]) -> Vec<u8> {
    [&stream[..range.start], new, &stream[range.end..]].concat()
}

/// Where the frames are: up to each blank line or, without one, up to each line end.
fn frames(stream: &[u8]) -> Vec<Range<usize>> {
    let blank = |at: usize| stream[..at].ends_with(b"\n\n") || stream[..at].ends_with(b"\n\r\n");
    let line = |at: usize| stream[..at].ends_with(b"\n");
    let has_blank = (1..=stream.len()).any(blank);
    let (mut frames, mut start) = (Vec::new(), 0);
    for at in 1..=stream.len() {
        let ends = if has_blank { blank(at) } else { line(at) };
        if ends || at == stream.len() {
            frames.push(start..at);
            start = at;
        }
    }
    frames
}

/// Where values of members are, and the members themselves.
fn values(stream: &[u8]) -> Vec<Range<usize>> {
    let mut values = Vec::new();
    for colon in (1..stream.len()).filter(|at| stream[at - 1..].starts_with(b"\":")) {
        let end = colon + 1 + value_length(&stream[colon + 1..]);
        values.push(colon + 1..end);
        // With the comma after it, a member can come before any other.
        let key = stream[..colon - 1].iter().rposition(|byte| *byte == b'"').unwrap_or(colon);
        let comma = usize::from(stream.get(end) == Some(&b','));
        values.push(key..end + comma);
    }
    values
}

/// How long the value is that a text begins with.
fn value_length(text: &[u8]) -> usize {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}
