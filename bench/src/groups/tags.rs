//! Calls in a model's text: pieces of text to blocks.

use std::hint::black_box;

use anyhow::Result;
use memchr::memchr;
use reknit::tags::{Parser, profile};

mod profiles;

use super::{Bench, Group, Scale};
use crate::input::{MB, pieces, words};
use crate::measure::{Measured, Row, Runner, alternating, timed};
use crate::report::{self, Target};

/// What plain text and what a message full of calls may cost, of one pass over the same pieces.
const PLAIN: f64 = 2.0;
const CALLS: f64 = 8.0;

/// A call of two parameters, and some prose before it: 200 bytes.
const CALL: &str = "I will look at this file now, and then decide what to do with it.\n<write_to_file>\n\
    <path>src/some/file.rs</path>\n<content>\nfn main() { println!(\"x\"); }\n</content>\n</write_to_file>\n";

/// The yardstick: who counts `<` and keeps the text has looked at everything once.
const ONE_PASS: &str = "one pass";

pub(crate) fn run(bench: &Bench) -> Result<Group> {
    let size = if bench.scale == Scale::Full { 4 * MB } else { MB };
    let (plain, calls) = (words(size), calls(size));
    let mut rows = Vec::new();
    for (name, text, piece) in [
        ("plain text, whole", &plain, size),
        ("plain text, pieces of 20", &plain, 20),
        ("a call every 200 bytes, whole", &calls, size),
        ("a call every 200 bytes, pieces of 20", &calls, 20),
    ] {
        let runners = vec![
            Runner::new("reknit", timed(move || read(text, piece), |parser| parser.text().len())),
            Runner::new(ONE_PASS, timed(move || one_pass(text, piece), |text| text.len())),
        ];
        let row = Row { name: name.to_owned(), size: text.len(), steps: text.len().div_ceil(piece), runners };
        rows.push(alternating(row, bench.effort)?);
    }
    // The table says how many times as long as ours a peer took; the yardstick is the other way round.
    let cost = |row: &Measured| row.ratio(ONE_PASS).map(f64::recip);
    let targets = rows.iter().map(|row| {
        let bound = if row.name.starts_with("plain") { PLAIN } else { CALLS };
        Target::at_most(format!("tags: {}, of one pass", row.name), bound, cost(row))
    });
    let title = "calls in text: pieces to blocks, as `cline` writes them";
    let (table, of_profiles) = profiles::run(bench)?;
    let table = format!("{}\n{table}", report::table(title, &rows));
    Ok(Group { table, targets: targets.chain(of_profiles).collect(), rows })
}

/// Text with a call every 200 bytes.
pub(crate) fn calls(size: usize) -> String {
    CALL.repeat(size / CALL.len())
}

/// Reads a text and asks after each piece how many blocks there are.
pub(crate) fn read(text: &str, piece: usize) -> Parser {
    let cline = profile("cline").expect("it is a profile");
    let mut parser = Parser::new(cline, None).expect("it can be used");
    for piece in pieces(text, piece) {
        parser.push(piece).expect("the text is not too long");
        black_box(parser.blocks().len());
    }
    parser.finish();
    parser
}

fn one_pass(text: &str, piece: usize) -> String {
    let mut kept = String::new();
    let mut found = 0;
    for piece in pieces(text, piece) {
        let mut rest = piece.as_bytes();
        while let Some(at) = memchr(b'<', rest) {
            found += 1;
            rest = &rest[at + 1..];
        }
        kept.push_str(piece);
    }
    black_box(found);
    kept
}
