//! Streams that end too early: none looks complete, and none has a call that the whole does not have.
//!
//! `cargo xtask prefixes N DIR` tries N of them, over the corpus and the recordings in `DIR/streams`.

use reknit::message::{Args, Body, Change, Message, Status};
use reknit::{Dialect, Reply};

use crate::corpus::{self, WireCase};
use crate::cuts::Random;

/// How many prefixes the suite tries, and what they are made from.
const PREFIXES: usize = 4_000;
const SEED: u64 = 17;

/// Content of a block: its slot and what it says so far.
type Content = Vec<(String, String)>;

/// What is known of a message of the whole stream.
struct Whole {
    content: Content,
    /// Its content whenever a stop reason came: where a stream ends there, the provider has ended the message.
    at_stops: Vec<Content>,
    calls: Content,
}

#[test]
fn a_prefix_is_complete_only_if_the_provider_ended_it() {
    let wanted = std::env::var("REKNIT_PREFIXES").ok().map(|count| count.parse().expect("a number"));
    let streams: Vec<_> = corpus::wire_cases().into_iter().chain(corpus::recordings()).collect();
    let mut random = Random::new(SEED);
    let (mut tried, mut stopped, mut at_stops) = (0, 0, 0);
    let wanted = wanted.unwrap_or(PREFIXES);
    // Every stream has the same share, and at least one prefix.
    let share = wanted.div_ceil(streams.len());
    for WireCase { case, dialect } in streams.iter().filter(|wire| !wire.case.input.is_empty()) {
        let whole = wholes(*dialect, &case.input);
        for _ in 0..share {
            let end = random.below(case.input.len());
            let mut reply = Reply::new(*dialect);
            reply.push(&case.input[..end]);
            reply.finish();
            tried += 1;
            for (message, whole) in reply.messages().zip(&whole) {
                let place = || format!("{} until byte {end}", case.name);
                for call in calls(message) {
                    assert!(whole.calls.contains(&call), "{}: the call {call:?} is not whole", place());
                }
                if message.status() == Status::Stopped {
                    let content = content(message);
                    stopped += 1;
                    let is_all = content == whole.content;
                    at_stops += usize::from(!is_all);
                    assert!(
                        is_all || whole.at_stops.contains(&content),
                        "{} is stopped with\n{content:#?}\nbut the whole has\n{:#?}",
                        place(),
                        whole.content
                    );
                }
            }
        }
    }
    println!(
        "{tried} prefixes of {} streams: {stopped} messages stopped, {at_stops} of them at a stop reason that more content follows",
        streams.len()
    );
    assert!(tried >= wanted && stopped > 0);
}

fn wholes(dialect: Dialect, input: &[u8]) -> Vec<Whole> {
    let mut reply = Reply::new(dialect);
    let mut stops: Vec<Vec<Content>> = Vec::new();
    let mut changes = reply.push(input);
    while let Some((change, message)) = changes.next() {
        match change {
            Change::Started(_) => stops.push(Vec::new()),
            Change::Stopped { .. } => {
                if let Some(of_message) = stops.last_mut() {
                    of_message.push(content(message));
                }
            }
            _ => {}
        }
    }
    drop(changes);
    reply.finish();
    let mut stops = stops.into_iter();
    let wholes = reply.messages().map(|message| Whole {
        content: content(message),
        at_stops: stops.next().unwrap_or_default(),
        calls: calls(message).collect(),
    });
    wholes.collect()
}

fn content(message: &Message) -> Content {
    let blocks = message.blocks().map(|block| {
        let says = match block.body() {
            Body::Text { text, .. } => text.to_string(),
            Body::Thinking { text, signature, redacted } => format!("{text} {signature} {redacted:?}"),
            Body::ToolCall(call) => match (&call.args, call.input()) {
                (Args::Malformed { raw, .. }, _) => format!("{} {raw}", call.name),
                (_, Some(input)) => format!("{} {input}", call.name),
                (_, None) => format!("{} {{}}", call.name),
            },
            // Their fields are extra.
            Body::ToolResult { kind, .. } | Body::Other { kind } => kind.clone(),
            _ => String::new(),
        };
        (block.slot().to_string(), says)
    });
    blocks.collect()
}

/// The complete calls by slot.
fn calls(message: &Message) -> impl Iterator<Item = (String, String)> {
    message.blocks().filter_map(|block| match block.body() {
        Body::ToolCall(call) => match &call.args {
            Args::Complete(input) => {
                Some((block.slot().to_string(), format!("{} {} {input}", &*call.id, call.name)))
            }
            _ => None,
        },
        _ => None,
    })
}
