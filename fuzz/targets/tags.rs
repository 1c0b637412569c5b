//! Calls and thinking in a text: any bytes, any profile, any cut. The outcome is the same, no byte is lost,
//! and what was shown is what is there.
#![no_main]

use fuzz::Input;
use libfuzzer_sys::fuzz_target;
use reknit::tags::{Block, Change, Grammar, Parser, profiles};

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::new(data) else { return };
    let grammar = &profiles()[usize::from(input.choice) % profiles().len()];
    input.same_for_every_cut(|pieces| read(grammar, pieces));
});

/// What comes of a text: its blocks as JSON, its spans, and the changes with growth that goes on joined.
fn read(grammar: &Grammar, pieces: &[&[u8]]) -> (String, String, Vec<Change>) {
    let mut parser = Parser::new(grammar, None).expect("a profile can be used");
    let mut changes = Vec::new();
    for piece in pieces {
        if parser.push_bytes(piece).is_err() {
            break;
        }
        parser.changes().for_each(|change| join(&mut changes, change));
    }
    parser.finish();
    parser.changes().for_each(|change| join(&mut changes, change));
    for (index, block) in parser.blocks().enumerate() {
        if let Block::Text { text, .. } | Block::Thinking { text, .. } = block {
            assert_eq!(shown(&changes, index, parser.text()), text, "block {index}");
        }
    }
    let mut end = 0;
    for (kind, range) in parser.spans() {
        assert!(range.start == end && !range.is_empty(), "{kind:?} at {range:?} after {end}");
        end = range.end;
    }
    assert_eq!(end, parser.text().len(), "the spans cover the text");
    let spans: Vec<_> = parser.spans().collect();
    (serde_json::to_string(&parser).expect("blocks are JSON"), format!("{spans:?}"), changes)
}

/// Adds a change; one that goes on where the last one ended makes that one longer.
fn join(changes: &mut Vec<Change>, change: Change) {
    match (changes.last_mut(), change) {
        (Some(Change::Grew { block, to, .. }), Change::Grew { block: same, from, to: end })
        | (Some(Change::ArgsGrew { block, to, .. }), Change::ArgsGrew { block: same, from, to: end })
            if (*block, *to) == (same, from) =>
        {
            *to = end;
        }
        (
            Some(Change::ParamGrew { block, param, to, .. }),
            Change::ParamGrew { block: same, param: number, from, to: end },
        ) if (*block, *param, *to) == (same, number, from) => *to = end,
        _ => changes.push(change),
    }
}

/// What the changes showed of a text or thinking block.
fn shown(changes: &[Change], index: usize, text: &str) -> String {
    let grown = changes.iter().filter_map(|change| match change {
        Change::Grew { block, from, to } if *block == index => Some(&text[*from..*to]),
        _ => None,
    });
    grown.collect()
}
