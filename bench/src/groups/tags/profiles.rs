//! Every profile on the two calls that the corpus has for it, again and again: how fast, and how long a block
//! and a short answer take.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use reknit::tags::{Grammar, Parser, profiles};

use crate::groups::{Bench, Scale};
use crate::input::{MB, pieces};
use crate::measure::{Measured, Row, Runner, alternating, timed};
use crate::report::{self, Target};

/// How fast a text is read at least, in MB/s, and how long a block and an answer may take at most, in ms.
const RATE: f64 = 100.0;
const BLOCK: f64 = 1.0;
const ANSWER: f64 = 1.0;

/// A short answer has as many lines.
const LINES: usize = 100;

/// How many bytes come at once.
const PIECE: usize = 20;

pub(super) fn run(bench: &Bench) -> Result<(String, Vec<Target>)> {
    let size = if bench.scale == Scale::Full { MB } else { MB / 4 };
    let mut lines = Vec::new();
    let (mut slowest, mut longest_block, mut longest_answer) = (f64::MAX, 0f64, 0f64);
    for grammar in profiles() {
        let Some(sample) = sample(grammar)? else { continue };
        let text = sample.repeat(size.div_ceil(sample.len()));
        let answer: String = sample.lines().cycle().take(LINES).flat_map(|line| [line, "\n"]).collect();
        let whole = measure(bench, grammar, &text)?;
        let short = measure(bench, grammar, &answer)?;
        let (time, answer_time) = (whole.ours().median(), short.ours().median());
        let block = time / u32::try_from(read(grammar, &text).blocks().len()).context("that many blocks")?;
        slowest = slowest.min(text.len() as f64 / 1e6 / time.as_secs_f64());
        longest_block = longest_block.max(ms(block));
        longest_answer = longest_answer.max(ms(answer_time));
        let cells =
            vec![report::rate(text.len(), time), report::duration(block), report::duration(answer_time)];
        lines.push((grammar.name.clone(), cells));
    }
    let title = format!("two calls of the corpus again and again, in pieces of {PIECE}, for each profile");
    let table = report::lines(&title, &["MB/s", "a block", "100 lines"], &lines);
    let targets = vec![
        Target::at_least("tags: the slowest profile, MB/s", RATE, Some(slowest)),
        Target::at_most("tags: a block, ms", BLOCK, Some(longest_block)),
        Target::at_most("tags: 100 lines, ms", ANSWER, Some(longest_answer)),
    ];
    Ok((table, targets))
}

/// The two calls that the corpus has for a profile.
fn sample(grammar: &Grammar) -> Result<Option<String>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/tags");
    let names = ["template-two-calls", "back-to-back-tools", "tool-call-stays-text", "markup-stays-text"];
    let files = names.map(|name| corpus.join(&grammar.name).join(name).join("input.txt"));
    let Some(file) = files.into_iter().find(|file| file.is_file()) else { return Ok(None) };
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read `{}`", file.display()))?;
    Ok(Some(text + "\n"))
}

fn measure(bench: &Bench, grammar: &'static Grammar, text: &str) -> Result<Measured> {
    let work = timed(move || read(grammar, text), |parser| parser.text().len());
    let runners = vec![Runner::new("reknit", work)];
    alternating(Row { name: grammar.name.clone(), size: text.len(), steps: 1, runners }, bench.effort)
}

fn read(grammar: &Grammar, text: &str) -> Parser {
    let mut parser = Parser::new(grammar, None).expect("it can be used");
    for piece in pieces(text, PIECE) {
        // The profiles that reproduce another parser accept only as much as that one does.
        let _ = parser.push(piece);
    }
    parser.finish();
    parser
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
