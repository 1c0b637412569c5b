//! Bytes to frames, over every input of the corpus.

use std::fmt::Write;

use reknit::diagnostic::Place;
use reknit::frame::{Decoder, Frame, Framing, Kind};
use reknit::{Diagnostic, Limits};

use crate::corpus::{self, Verdict};
use crate::cuts::same_for_every_cut;

#[test]
fn frame_cases_give_what_they_must() {
    let mut verdict = Verdict::new();
    for case in corpus::cases("frame") {
        let frames =
            same_for_every_cut(&case.input, |pieces| outcome(Decoder::detect(&Limits::default()), pieces));
        verdict.expect(&case, "frames.txt", &frames);
    }
    verdict.give();
}

#[test]
fn every_other_input_gives_the_same_frames_for_every_cut() {
    let wire = corpus::wire_cases().into_iter().map(|wire| wire.case);
    for case in corpus::cases("json").into_iter().chain(wire) {
        same_for_every_cut(&case.input, |pieces| outcome(Decoder::detect(&Limits::default()), pieces));
    }
}

#[test]
fn a_framing_that_is_forced_on_an_input_is_the_same_for_every_cut() {
    for case in corpus::cases("frame") {
        for framing in
            [Framing::Sse, Framing::Lines, Framing::JsonArray, Framing::AwsEventStream, Framing::Whole]
        {
            same_for_every_cut(&case.input, |pieces| {
                outcome(Decoder::new(framing, &Limits::default()), pieces)
            });
        }
        let strict = || Decoder::new(Framing::Sse, &Limits::default()).strict();
        same_for_every_cut(&case.input, |pieces| outcome(strict(), pieces));
    }
}

/// Frames and problems as they are met, one a line, and the framing.
fn outcome(mut decoder: Decoder, pieces: &[&[u8]]) -> String {
    let mut lines = String::new();
    for piece in pieces {
        decoder.push(piece);
        drain(&mut decoder, &mut lines);
    }
    decoder.finish();
    drain(&mut decoder, &mut lines);
    let framing = match decoder.framing() {
        Some(Framing::Sse) => "sse",
        Some(Framing::Lines) => "lines",
        Some(Framing::JsonArray) => "json-array",
        Some(Framing::AwsEventStream) => "aws-event-stream",
        Some(Framing::Whole) => "whole",
        Some(other) => panic!("{other:?} has no name in the corpus"),
        None => "unknown",
    };
    lines + "framing " + framing + "\n"
}

fn drain(decoder: &mut Decoder, lines: &mut String) {
    loop {
        let next = match decoder.next_frame() {
            Ok(frame) => frame.map(|frame| line_of(&frame)),
            Err(error) => Some(format!("error {error}")),
        };
        while let Some(diagnostic) = decoder.next_diagnostic() {
            let Diagnostic { kind, message, .. } = &diagnostic;
            let Place { at, frame } = diagnostic.place().unwrap();
            let kind = serde_json::to_string(&kind).expect("a word is JSON");
            let kind = kind.trim_matches('"');
            writeln!(lines, "problem {kind} at {at} in frame {frame}: {message}")
                .expect("a string takes all");
        }
        match next {
            Some(line) => lines.push_str(&(line + "\n")),
            None => return,
        }
    }
}

fn line_of(frame: &Frame<'_>) -> String {
    let Frame { number, bytes, kind, event, data, id, retry } = frame;
    let kind = match kind {
        Kind::Data => "data",
        Kind::Comment => "comment",
        Kind::Error => "error",
    };
    let quoted = |text: &str| serde_json::to_string(text).expect("a text is JSON");
    let mut line = format!("frame {number} {kind} {}..{} {}", bytes.start, bytes.end, quoted(data));
    for (name, value) in [("event", event), ("id", id)] {
        if !value.is_empty() {
            write!(line, " {name}={}", quoted(value)).expect("a string takes all");
        }
    }
    if let Some(retry) = retry {
        write!(line, " retry={retry}").expect("a string takes all");
    }
    line
}
