//! Recordings: any bytes are read the same for every cut, and what was read can be written and read again.
#![no_main]

use fuzz::{Input, small_limits};
use libfuzzer_sys::fuzz_target;
use reknit::recording::{Detected, Header, Read, Reader, detect};
use reknit::{Diagnostic, Limits};

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::new(data) else { return };
    let limits = if input.choice & 0x80 == 0 { Limits::default() } else { small_limits() };
    let outcome = input.same_for_every_cut(|pieces| read(pieces, &limits));
    if let Some(header) = &outcome.header {
        check_written(header, &outcome.reads);
    }
    let reads: Vec<_> = (0u64..).zip(input.pieces()).map(|(at, piece)| Read::new(at, piece)).collect();
    check_written(&Header::default(), &reads);
    let (found, mut end) = (detect(input.bytes), 0);
    for piece in input.pieces() {
        let early = detect(&input.bytes[..end]);
        assert!(
            early == found || early == Detected::Undecided,
            "{early:?} after {end} bytes, then {found:?}"
        );
        end += piece.len();
    }
});

/// What is written is read back as it was.
fn check_written(header: &Header, reads: &[Read]) {
    let lines = header.to_line() + &reads.iter().map(Read::to_line).collect::<String>();
    let again = read(&[lines.as_bytes()], &Limits::default());
    assert_eq!(again.header.as_ref(), Some(header), "{lines}");
    assert_eq!((again.reads.as_slice(), again.error, again.problem), (reads, None, None), "{lines}");
}

#[derive(Debug, PartialEq)]
struct Outcome {
    header: Option<Header>,
    reads: Vec<Read>,
    error: Option<String>,
    problem: Option<Diagnostic>,
}

fn read(pieces: &[&[u8]], limits: &Limits) -> Outcome {
    let mut reader = Reader::new(limits);
    let (mut reads, mut error) = (Vec::new(), None);
    let mut drain = |reader: &mut Reader| loop {
        match reader.next_read() {
            Ok(Some(read)) => reads.push(read),
            Ok(None) => return,
            Err(found) => error = Some(found.to_string()),
        }
    };
    for piece in pieces {
        reader.push(piece);
        drain(&mut reader);
    }
    reader.finish();
    drain(&mut reader);
    Outcome { header: reader.header().cloned(), reads, error, problem: reader.next_diagnostic() }
}
