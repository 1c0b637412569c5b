//! How an input becomes another one.

use libfuzzer_sys::fuzzer_mutate;

use crate::CONTROL;

/// Loses, repeats or moves a frame, every other time; else the fuzzer changes bytes as it likes.
///
/// Bytes that change at random break a frame far more often than they move it to where it means something else.
/// As the fuzzer wants it: `data` holds an input of `size` bytes and takes one of at most `max_size`, whose
/// size is given back.
pub fn frames(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let Some(stream) = data[..size].get(CONTROL..).filter(|_| seed.is_multiple_of(2)) else {
        return fuzzer_mutate(data, size, max_size);
    };
    let mut frames = split(stream);
    if frames.len() < 2 {
        return fuzzer_mutate(data, size, max_size);
    }
    let number = |from: u32| usize::try_from(seed >> from).unwrap_or(0) % frames.len();
    let (one, other) = (number(3), number(17));
    match seed >> 1 & 0b11 {
        0 => drop(frames.remove(one)),
        1 => frames.insert(other, frames[one]),
        2 => frames.swap(one, other),
        _ => {
            let frame = frames.remove(one);
            frames.insert(other.min(frames.len()), frame);
        }
    }
    let stream = frames.concat();
    let size = stream.len().min(max_size - CONTROL);
    data[CONTROL..CONTROL + size].copy_from_slice(&stream[..size]);
    CONTROL + size
}

/// The stream behind each blank line or, without one, behind each line.
fn split(stream: &[u8]) -> Vec<&[u8]> {
    let blank = |at: usize| stream[..at].ends_with(b"\n\n") || stream[..at].ends_with(b"\n\r\n");
    let line = |at: usize| stream[..at].ends_with(b"\n");
    let has_blank = (1..=stream.len()).any(blank);
    let (mut frames, mut start) = (Vec::new(), 0);
    for at in 1..=stream.len() {
        let ends = if has_blank { blank(at) } else { line(at) };
        if ends || at == stream.len() {
            frames.push(&stream[start..at]);
            start = at;
        }
    }
    frames
}
