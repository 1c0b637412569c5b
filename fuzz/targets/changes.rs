//! A change is a patch: whoever follows the changes, also through JSON, has the message after each of them.
#![no_main]

use fuzz::{Input, mutate_stream};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use reknit::message::{Change, Status};
use reknit::reply::Changes;
use reknit::{Message, Reply};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_stream(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::new(data) else { return };
    let mut reply = if input.choice & 0x80 == 0 { Reply::new(input.dialect()) } else { Reply::detect() };
    let mut follower = vec![Message::default()];
    let mut look = |mut changes: Changes<'_>| {
        while let Some((change, message)) = changes.next() {
            let json = serde_json::to_string(&change).expect("a change is JSON");
            let read: Change<'static> =
                serde_json::from_str(&json).unwrap_or_else(|error| panic!("{json}: {error}"));
            assert_eq!(read, change, "{json}");
            follow(&mut follower, &read);
            assert_eq!(follower.last(), Some(message), "after {json}");
        }
    };
    input.pieces().into_iter().for_each(|piece| look(reply.push(piece)));
    look(reply.finish());
    assert!(follower.iter().eq(reply.messages()));
});

/// Takes a change; a start after something that was there already begins the next message.
fn follow(messages: &mut Vec<Message>, change: &Change<'_>) {
    let last = messages.last().expect("there is always one");
    if matches!(change, Change::Started(_)) && last.status() != Status::Waiting {
        messages.push(Message::default());
    }
    let last = messages.last_mut().expect("there is always one");
    last.follow(change).unwrap_or_else(|misfit| panic!("{change:?}: {misfit}"));
}
