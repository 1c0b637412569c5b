//! Calls in text beside the crate `tool-parser`: time in small pieces, and how many outcomes the same text has.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use openai_protocol::common::Tool;
use reknit::tags::{Parser, profile};
use tool_parser::{LlamaParser, MistralParser, QwenParser, ToolParser};

/// The pieces that a call arrives in, in bytes.
const PIECE: usize = 4;
/// The size of its argument.
const ARGUMENT: usize = 100 * 1024;
/// How often everything is measured; the runs alternate, and the median counts.
const RUNS: usize = 11;
/// Of how many pieces the peer is timed: it reads all that has come again with each, so pieces in the middle of
/// equal parts of the text represent the others.
const SAMPLE: usize = 16;
/// In how many ways the short text is cut.
const CUTS: u64 = 500;

/// One way of writing calls, read by both.
struct Format {
    name: &'static str,
    profile: &'static str,
    open: &'static str,
    close: &'static str,
    peer: fn() -> Box<dyn ToolParser>,
}

const FORMATS: [Format; 4] = [
    Format { name: "hermes", profile: "hermes", open: "<tool_call>\n", close: "\n</tool_call>", peer: qwen },
    Format { name: "qwen", profile: "qwen25", open: "<tool_call>\n", close: "\n</tool_call>", peer: qwen },
    Format { name: "mistral", profile: "mistral", open: "[TOOL_CALLS] [", close: "]", peer: mistral },
    Format { name: "llama", profile: "llama3-json", open: "<|python_tag|>", close: "", peer: llama },
];

fn main() -> Result<()> {
    let tools: Vec<Tool> = serde_json::from_str(
        r#"[{"type":"function","function":{"name":"write","description":"","parameters":{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}}}}}]"#,
    )?;
    println!(
        "calls in text, an argument of 100 KB in pieces of {PIECE} bytes; tool-parser 1.10 on {SAMPLE} pieces"
    );
    println!("{:<10}{:>12}{:>16}{:>10}{:>28}", "", "reknit", "tool-parser", "ratio", "outcomes of 500 cuts");
    let mut least = f64::INFINITY;
    for format in &FORMATS {
        let text = format.text(ARGUMENT);
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            ours.push(time_ours(format, &text)?);
            theirs.push(time_peer(format, &text, &tools)?);
        }
        let ratio = median(&mut theirs).as_secs_f64() / median(&mut ours).as_secs_f64();
        least = least.min(ratio);
        let short = format.text(60);
        let (ours_seen, theirs_seen) = outcomes(format, &short, &tools)?;
        println!(
            "{:<10}{:>12.2?}{:>16.2?}{:>9.0}x{:>14} and {}",
            format.name,
            median(&mut ours),
            median(&mut theirs),
            ratio,
            ours_seen,
            theirs_seen
        );
        ensure!(ours_seen == 1, "{}: the outcome depends on the cut", format.name);
    }
    println!("\ntags: beside tool-parser at 100 KB, at least 1,000: {least:.0}");
    ensure!(least >= 1_000.0, "the target is missed");
    Ok(())
}

impl Format {
    fn text(&self, argument: usize) -> String {
        let content: String = "let line = 1; ".chars().cycle().take(argument).collect();
        let call = serde_json::json!({"name": "write", "arguments": {"path": "a.rs", "content": content}});
        format!("Sure. {}{call}{}", self.open, self.close)
    }
}

fn time_ours(format: &Format, text: &str) -> Result<Duration> {
    let start = Instant::now();
    let mut parser = Parser::new(profile(format.profile).context("there is no such profile")?, None)?;
    for piece in pieces(text, || PIECE) {
        parser.push(piece)?;
        black_box(parser.blocks().next_back());
    }
    parser.finish();
    let time = start.elapsed();
    ensure!(parser.calls().count() == 1, "{}: not one call", format.name);
    Ok(time)
}

/// The time of all pieces, as the mean of a sample of them.
fn time_peer(format: &Format, text: &str, tools: &[Tool]) -> Result<Duration> {
    let mut sum = Duration::ZERO;
    for number in 0..SAMPLE {
        let at = text.floor_char_boundary((2 * number + 1) * text.len() / (2 * SAMPLE));
        let end = text.floor_char_boundary((at + PIECE).min(text.len()));
        let mut parser = (format.peer)();
        // The start of the call comes in pieces of its own: it gives name and arguments one after the other.
        let head = text.len().min(format.open.len() + 40);
        for piece in [&text[..head.min(at)], &text[head.min(at)..at]] {
            now(parser.parse_incremental(piece, tools))?;
        }
        let start = Instant::now();
        black_box(now(parser.parse_incremental(&text[at..end], tools))?);
        sum += start.elapsed();
    }
    let count = u32::try_from(text.len().div_ceil(PIECE))?;
    Ok(sum / u32::try_from(SAMPLE)? * count)
}

/// How many outcomes a text has over many cuts, ours and theirs.
fn outcomes(format: &Format, text: &str, tools: &[Tool]) -> Result<(usize, usize)> {
    let (mut ours, mut theirs) = (BTreeSet::new(), BTreeSet::new());
    for seed in 0..CUTS {
        let mut state = seed;
        let mut length = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            1 + usize::try_from(state >> 59).unwrap_or(1)
        };
        let cut: Vec<_> = pieces(text, &mut length).collect();
        let mut parser = Parser::new(profile(format.profile).context("there is no such profile")?, None)?;
        for piece in &cut {
            parser.push(piece)?;
        }
        parser.finish();
        ours.insert(serde_json::to_string(&parser)?);
        theirs.insert(peer_outcome(format, &cut, tools));
    }
    Ok((ours.len(), theirs.len()))
}

/// What the peer has shown when all pieces have come: its text, and names and arguments joined.
fn peer_outcome(format: &Format, cut: &[&str], tools: &[Tool]) -> String {
    let mut parser = (format.peer)();
    let (mut text, mut calls) = (String::new(), String::new());
    for piece in cut {
        match now(parser.parse_incremental(piece, tools)) {
            Ok(result) => {
                text.push_str(&result.normal_text);
                for call in result.calls {
                    calls.push_str(call.name.as_deref().unwrap_or_default());
                    calls.push_str(&call.parameters);
                }
            }
            Err(error) => return format!("error: {error}"),
        }
    }
    for call in parser.get_unstreamed_tool_args().unwrap_or_default() {
        calls.push_str(&call.parameters);
    }
    format!("{text}{}\n{calls}", parser.take_unstreamed_normal_text())
}

fn pieces<'a>(text: &'a str, mut length: impl FnMut() -> usize) -> impl Iterator<Item = &'a str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.ceil_char_boundary(length().min(rest.len()));
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        (!piece.is_empty()).then_some(piece)
    })
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// What a future gives that never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("the peer waits for nothing"),
    }
}

fn qwen() -> Box<dyn ToolParser> {
    Box::new(QwenParser::new())
}

fn mistral() -> Box<dyn ToolParser> {
    Box::new(MistralParser::new())
}

fn llama() -> Box<dyn ToolParser> {
    Box::new(LlamaParser::new())
}
