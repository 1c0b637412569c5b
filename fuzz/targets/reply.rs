//! The whole path, from bytes to messages: changes, messages, the provider's own form and errors, for every cut.
#![no_main]

use fuzz::{Input, mutate_stream};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use reknit::json::Value;
use reknit::message::{Args, Change, Status};
use reknit::reply::{Changes, Error};
use reknit::{Limits, Message, Reply};

/// So small that inputs of a fuzzer reach them.
fn small() -> Limits {
    let mut limits = Limits::default();
    limits.frame_bytes = 400;
    limits.reply_bytes = 1500;
    limits.json_depth = 4;
    limits.blocks = 3;
    limits.diagnostics = 2;
    limits.text_bytes = 400;
    limits.param_bytes = 100;
    limits
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_stream(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::new(data) else { return };
    let outcome = input.same_for_its_cut(|pieces| {
        let reply = if input.choice & 0x80 == 0 { Reply::new(input.dialect()) } else { Reply::detect() };
        let limits = if input.choice & 0x40 == 0 { Limits::default() } else { small() };
        read(reply.with_limits(&limits).with_native(), pieces)
    });
    for message in &outcome.messages {
        assert!(message.is_over(), "the input is over, the message is {:?}", message.status());
        if message.status() != Status::Stopped {
            continue;
        }
        // Whatever is offered to be run is JSON to anyone else too.
        for call in message.tool_calls() {
            if let Args::Complete(input) = &call.args {
                let json = input.to_string();
                serde_json::from_str::<serde_json::Value>(&json)
                    .unwrap_or_else(|error| panic!("{json}: {error}"));
            }
        }
    }
});

#[derive(Debug, PartialEq)]
struct Outcome {
    messages: Vec<Message>,
    native: Vec<Value>,
    changes: Vec<Change<'static>>,
    error: Option<Error>,
}

fn read(mut reply: Reply, pieces: &[&[u8]]) -> Outcome {
    let mut changes = Vec::new();
    let mut look = |mut given: Changes<'_>| {
        while let Some((change, _)) = given.next() {
            changes.push(change.into_owned());
        }
    };
    pieces.iter().for_each(|piece| look(reply.push(piece)));
    look(reply.finish());
    let messages = reply.messages().cloned().collect();
    Outcome { messages, error: reply.error().cloned(), native: reply.into_native(), changes }
}
