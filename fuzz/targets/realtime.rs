//! Any events in any order: no panic, and a processor that is written down between them goes on as if it had
//! not been. What is documented loses no text and mixes no sessions.
#![no_main]

use fuzz::{Input, mutate_stream};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use reknit::json::Value;
use reknit_compat::realtime::{Happening, MessageStatus, Processor, Profile, ServerEvent, Time};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_stream(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::new(data) else { return };
    let profile = Profile::ALL[usize::from(input.choice) % 2];
    let (happenings, processor) = input.same_for_its_cut(|pieces| run(profile, pieces));
    if profile == Profile::Documented {
        check(&happenings, &processor);
    }
});

/// What comes of the lines, with the processor written down and read back after each piece.
fn run(profile: Profile, pieces: &[&[u8]]) -> (Vec<Happening>, Processor) {
    let mut processor = Processor::new(profile);
    let (mut happenings, mut held) = (Vec::new(), Vec::new());
    for piece in pieces {
        held.extend_from_slice(piece);
        let whole = held.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines: Vec<u8> = held.drain(..whole).collect();
        for line in lines.split(|byte| *byte == b'\n') {
            happenings.extend(step(&mut processor, line));
        }
        if whole > 0 && pieces.len() > 1 {
            let json = serde_json::to_string(&processor).expect("a processor is JSON");
            processor = serde_json::from_str(&json).expect("and JSON is a processor");
        }
    }
    happenings.extend(step(&mut processor, &held));
    (happenings, processor)
}

fn step(processor: &mut Processor, line: &[u8]) -> Vec<Happening> {
    let Some(line) = std::str::from_utf8(line).ok().and_then(|line| line.parse::<Value>().ok()) else {
        return Vec::new();
    };
    let at = Time(line.get("at").and_then(Value::as_u64).unwrap_or_default());
    match line.get("event") {
        Some(event) => processor.process(&ServerEvent::from(event.clone()), at),
        None if line.get("flush").is_some() => processor.flush(at),
        // A line that is an event itself.
        None => processor.process(&ServerEvent::from(line), at),
    }
}

/// A message is reported as over once, and is not streaming then; the processor counts what it was given.
fn check(happenings: &[Happening], processor: &Processor) {
    let mut complete = std::collections::BTreeSet::new();
    for happening in happenings {
        if let Happening::MessageComplete { message, .. } = happening {
            assert_ne!(message.status, MessageStatus::Streaming);
            assert!(complete.insert(message.id.clone()), "{message:?} is over twice");
        }
    }
    let tally = processor.tally();
    assert!(tally.unknown + tally.malformed + tally.duplicate + tally.ignored <= tally.events, "{tally:?}");
}
