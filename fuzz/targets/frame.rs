//! Bytes to frames: the same for every cut, and server-sent events as a plain reading of the standard has them.
#![no_main]

use fuzz::{Input, small_limits};
use libfuzzer_sys::fuzz_target;
use reknit::Limits;
use reknit::frame::{Decoder, Framing, Kind};

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::new(data) else { return };
    let limits = if input.choice & 0x80 == 0 { Limits::default() } else { small_limits() };
    let decoder = || match input.choice % 7 {
        0 => Decoder::detect(&limits),
        1 => Decoder::new(Framing::Sse, &limits),
        2 => Decoder::new(Framing::Sse, &limits).strict(),
        3 => Decoder::new(Framing::Lines, &limits),
        4 => Decoder::new(Framing::JsonArray, &limits),
        5 => Decoder::new(Framing::AwsEventStream, &limits),
        _ => Decoder::new(Framing::Whole, &limits),
    };
    let outcome = input.same_for_every_cut(|pieces| run(decoder(), pieces));
    let mut end = 0;
    // A comment may come between the lines of an event.
    for frame in outcome.frames.iter().flatten().filter(|frame| frame.kind == Kind::Data) {
        assert!(end <= frame.bytes.0 && frame.bytes.0 <= frame.bytes.1, "{frame:?} begins before {end}");
        end = frame.bytes.1;
    }
    assert!(end <= input.bytes.len() as u64, "a frame ends after the input");
    if limits != small_limits() && input.choice % 7 == 2 {
        let ours = outcome.frames.into_iter().flatten().filter(|frame| frame.kind == Kind::Data);
        let ours: Vec<_> = ours.map(|frame| (frame.event, frame.data, frame.id)).collect();
        assert_eq!(ours, by_the_letter(&String::from_utf8_lossy(input.bytes)));
    }
});

#[derive(Debug, PartialEq)]
struct Outcome {
    frames: Vec<Result<Frame, String>>,
    problems: Vec<String>,
    framing: Option<Framing>,
}

#[derive(Debug, PartialEq)]
struct Frame {
    number: u64,
    bytes: (u64, u64),
    kind: Kind,
    event: String,
    data: String,
    id: String,
    retry: Option<u64>,
}

fn run(mut decoder: Decoder, pieces: &[&[u8]]) -> Outcome {
    let (mut frames, mut problems) = (Vec::new(), Vec::new());
    let mut drain = |decoder: &mut Decoder| {
        loop {
            let next = match decoder.next_frame() {
                Ok(frame) => frame.map(|frame| Ok(Frame::from(frame))),
                Err(error) => Some(Err(error.to_string())),
            };
            while let Some(problem) = decoder.next_diagnostic() {
                problems.push(format!("before {}: {problem:?}", frames.len()));
            }
            match next {
                Some(next) => frames.push(next),
                None => return,
            }
        }
    };
    for piece in pieces {
        decoder.push(piece);
        drain(&mut decoder);
    }
    decoder.finish();
    drain(&mut decoder);
    Outcome { frames, problems, framing: decoder.framing() }
}

impl From<reknit::Frame<'_>> for Frame {
    fn from(frame: reknit::Frame<'_>) -> Self {
        Self {
            number: frame.number,
            bytes: (frame.bytes.start, frame.bytes.end),
            kind: frame.kind,
            event: frame.event.to_owned(),
            data: frame.data.to_owned(),
            id: frame.id.to_owned(),
            retry: frame.retry,
        }
    }
}

/// Name, data and id of each event, read as the standard says, with all of the text at hand.
fn by_the_letter(text: &str) -> Vec<(String, String, String)> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
    // What follows the last line end is not a line.
    let Some((lines, _)) = text.rsplit_once('\n') else { return Vec::new() };
    let (mut events, mut id) = (Vec::new(), String::new());
    let (mut name, mut data) = (String::new(), String::new());
    for line in lines.split('\n') {
        if line.is_empty() {
            let (name, data) = (std::mem::take(&mut name), std::mem::take(&mut data));
            if let Some(data) = data.strip_suffix('\n') {
                events.push((name, data.to_owned(), id.clone()));
            }
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => name = value.to_owned(),
            "data" => data += &format!("{value}\n"),
            "id" if !value.contains('\0') => id = value.to_owned(),
            _ => {}
        }
    }
    events
}
