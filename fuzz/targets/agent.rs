//! Agent events from any bytes: what is read is written as the same, and folded into chunks it keeps every
//! promise that the tests state of them.
#![no_main]

use fuzz::{Input, mutate_stream};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use reknit::agent::{AgentEvent, Entry};
use reknit::json::Value;
use reknit::transcript::Chunk;

#[path = "../../crates/reknit/tests/it/chunks/naive.rs"]
mod naive;
#[path = "../../crates/reknit/tests/it/chunks/promises.rs"]
mod promises;

/// The promises look at the events after each of them, so many are too many.
const MOST: usize = 40;

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_stream(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::new(data) else { return };
    let mut events = Vec::new();
    for line in input.bytes.split(|byte| *byte == b'\n').take(MOST) {
        let Ok(line) = str::from_utf8(line) else { continue };
        let Ok(value) = line.parse::<Value>() else { continue };
        // Whatever it is, it is read or refused.
        let _ = serde_json::from_str::<Chunk>(line);
        if let Ok(entry) = Entry::try_from(value.clone()) {
            let written = serde_json::to_string(&entry).expect("an entry is JSON");
            assert_eq!(serde_json::from_str::<Entry>(&written).expect(&written), entry, "{written}");
        }
        events.extend(AgentEvent::read(value).map(|(event, _)| event));
    }
    promises::hold(&events);
});
