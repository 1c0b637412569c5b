//! Calls and thinking in a text: any bytes, any profile, any cut. The outcome is the same, no byte is lost,
//! and a message that was shown as it arrived has what is there.
#![no_main]

use fuzz::Input;
use libfuzzer_sys::fuzz_target;
use reknit::message::Body;
use reknit::reply::Changes;
use reknit::tags::{Block, Grammar, Parser, Tagger, profiles};
use reknit::{Message, Reply};

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::new(data) else { return };
    let grammar = &profiles()[usize::from(input.choice) % profiles().len()];
    let parser = input.same_for_every_cut(|pieces| read(grammar, pieces));
    let message = input.same_for_every_cut(|pieces| follow(grammar, pieces));
    assert_eq!(message.blocks().len(), parser.blocks.len());
    for (block, shown) in message.blocks().zip(&parser.blocks) {
        if let (Body::Text { text, .. } | Body::Thinking { text, .. }, Some(shown)) = (block.body(), shown) {
            assert_eq!(*text, **shown);
        }
    }
});

/// What comes of a text.
#[derive(Debug, PartialEq)]
struct Read {
    json: String,
    spans: String,
    /// The text of each block that is not a call.
    blocks: Vec<Option<String>>,
}

fn read(grammar: &Grammar, pieces: &[&[u8]]) -> Read {
    let mut parser = Parser::new(grammar, None).expect("a profile can be used");
    for piece in pieces {
        if parser.push_bytes(piece).is_err() {
            break;
        }
    }
    parser.finish();
    let mut end = 0;
    for (kind, range) in parser.spans() {
        assert!(range.start == end && !range.is_empty(), "{kind:?} at {range:?} after {end}");
        end = range.end;
    }
    assert_eq!(end, parser.text().len(), "the spans cover the text");
    let spans: Vec<_> = parser.spans().collect();
    let blocks = parser.blocks().map(|block| match block {
        Block::Text { text, .. } | Block::Thinking { text, .. } => Some(text.to_owned()),
        _ => None,
    });
    Read {
        json: serde_json::to_string(&parser).expect("blocks are JSON"),
        spans: format!("{spans:?}"),
        blocks: blocks.collect(),
    }
}

/// The message of a text, which its changes lead to.
fn follow(grammar: &Grammar, pieces: &[&[u8]]) -> Message {
    let tagger = Tagger::new(grammar, None, "t").expect("a profile can be used");
    let mut reply = Reply::of_text(tagger);
    let mut copy = Message::default();
    let mut look = |mut changes: Changes<'_>| {
        while let Some((change, _)) = changes.next() {
            copy.follow(&change).expect("a change fits the message before it");
        }
    };
    pieces.iter().for_each(|piece| look(reply.push(piece)));
    look(reply.finish());
    assert_eq!(copy, *reply.message());
    copy
}
