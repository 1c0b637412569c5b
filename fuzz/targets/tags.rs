//! Calls and thinking in a text: any bytes, any profile, any cut. The outcome is the same, no byte is lost,
//! and what was shown is what is there.
#![no_main]

use std::collections::BTreeMap;

use fuzz::Input;
use libfuzzer_sys::fuzz_target;
use reknit::tags::{Block, Change, Grammar, Parser, profiles};

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::new(data) else { return };
    let grammar = &profiles()[usize::from(input.choice) % profiles().len()];
    input.same_for_every_cut(|pieces| read(grammar, pieces));
});

/// What comes of a text: its blocks as JSON, and its spans.
fn read(grammar: &Grammar, pieces: &[&[u8]]) -> (String, String) {
    let mut parser = Parser::new(grammar, None).expect("a profile can be used");
    let mut shown = BTreeMap::new();
    for piece in pieces {
        if parser.push_bytes(piece).is_err() {
            break;
        }
        follow(&mut shown, &parser);
    }
    parser.finish();
    follow(&mut shown, &parser);
    for (index, block) in parser.blocks().enumerate() {
        if let Block::Text { text, .. } | Block::Thinking { text, .. } = block {
            assert_eq!(shown.get(&index).map_or("", String::as_str), text, "block {index}");
        }
    }
    let mut end = 0;
    for (kind, range) in parser.spans() {
        assert!(range.start == end && !range.is_empty(), "{kind:?} at {range:?} behind {end}");
        end = range.end;
    }
    assert_eq!(end, parser.text().len(), "the spans cover the text");
    let spans: Vec<_> = parser.spans().collect();
    (serde_json::to_string(&parser).expect("blocks are JSON"), format!("{spans:?}"))
}

/// Joins what the last piece showed of each block.
fn follow(shown: &mut BTreeMap<usize, String>, parser: &Parser) {
    for change in parser.changes() {
        if let Change::Grew { block, from, to } = change {
            shown.entry(block).or_default().push_str(&parser.text()[from..to]);
        }
    }
}
