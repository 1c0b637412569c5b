//! Input that is not a stream, or is compressed.

use std::io::Write;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::command::run;
use crate::corpus;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("nothing can fail")
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("nothing can fail")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

#[test]
fn a_compressed_stream_is_read_as_it_is() {
    let stream = corpus::bytes("anthropic/text");
    let plain = run(&["read", "--json"], &stream);
    assert_eq!(plain.code, Some(0));
    for compressed in [gzip(&stream), zlib(&stream), zstd(&stream)] {
        assert_eq!(run(&["read", "--json"], &compressed), plain);
        assert_eq!(run(&["read", "--json", "--recut", "bytes"], &compressed), plain);
    }
}

#[test]
fn compressed_data_that_ends_early_is_a_message_that_is_cut() {
    let stream = corpus::bytes("anthropic/text");
    let compressed = gzip(&stream);
    let cut = run(&["read", "--json"], &compressed[..compressed.len() - 40]);
    assert_eq!(cut.code, Some(1), "{}", cut.stderr);
    assert!(cut.stdout.contains("\"status\":\"cut\""), "{}", cut.stdout);
}

#[test]
fn damaged_data_is_an_error_after_what_came() {
    let mut compressed = gzip(&corpus::bytes("anthropic/text").repeat(50));
    let middle = compressed.len() / 2;
    compressed[middle..middle + 8].fill(0xff);
    let damaged = run(&["read", "--json"], &compressed);
    assert_eq!(damaged.code, Some(2));
    assert!(damaged.stderr.contains("the gzip data is damaged: "), "{}", damaged.stderr);
    assert!(damaged.stdout.contains("\"blocks\":[{"), "{}", damaged.stdout);
}

#[test]
fn a_bomb_is_stopped_by_the_limit_at_a_byte() {
    // A frame without end, of 100 MB, in 100 KB: data may be compressed in parts.
    let part = gzip(&vec![b'x'; 1_000_000]);
    let bomb = [gzip(b"data: "), part.repeat(100)].concat();
    assert!(bomb.len() < 200_000, "{}", bomb.len());
    let stopped = run(&["read", "--json"], &bomb);
    assert_eq!(stopped.code, Some(1), "{}", stopped.stderr);
    let limit = reknit::Limits::default().frame_bytes;
    assert!(stopped.stderr.starts_with(&format!("error: byte {limit}: ")), "{}", stopped.stderr);
}

#[test]
fn the_error_says_what_the_input_looks_like() {
    let check = |input: &[u8], expected: &str| {
        let read = run(&["read", "--json"], input);
        assert_eq!((read.code, read.stdout.as_str()), (Some(2), ""), "{}", read.stderr);
        assert_eq!(read.stderr.lines().next(), Some(expected));
        assert!(read.stderr.contains("\nhint: "), "{}", read.stderr);
    };
    check(b"", "error: the input is empty");
    check(
        b"<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head>",
        "error: the input is an HTML page and not a stream: `502 Bad Gateway`",
    );
    check(b"BZh91AY&SY\x01\x02", "error: the input is compressed with bzip2");
    check(b"\xff\xfed\0a\0t\0a\0", "error: the input is UTF-16");
    // SplitMix64, so that every run tries the same bytes.
    for seed in 0..60_u64 {
        let mut state = seed;
        let bytes: Vec<u8> = std::iter::from_fn(|| {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            Some((mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB).to_le_bytes())
        })
        .take(100_000 / 8)
        .flatten()
        .collect();
        check(&bytes, "error: the input is not text");
    }
}
