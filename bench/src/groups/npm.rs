//! The npm package beside its peers, all in one process of Node: what crosses the border to WebAssembly is included.

use anyhow::Result;
use serde_json::json;

use super::growth::{Series, doublings};
use super::look::Sample;
use super::{Bench, Group, Scale, growth};
use crate::input::{DELTA, KB, MB, Shape, Stream, text_block, words};
use crate::measure::{Measured, Row, Runner, alternating};
use crate::node::Node;
use crate::report::{self, Target};

const PARTIAL_JSON: &str = "partial-json";
const AI: &str = "ai";
const SDK: &str = "@anthropic-ai/sdk";
const LOOK: &str = "reknit, look";
const MESSAGE: &str = "reknit, message";

/// How many bytes a peer that reads everything again may read in a run; the other looks are estimated.
const PATIENCE: usize = 4 * MB;
const TEXT_DELTAS: usize = 20_000;
const IN_READS: &str = "20,000 text deltas, reads of 1,400 bytes";
const BY_EVENT: &str = "20,000 text deltas, one event a read";

pub(crate) fn run(bench: &Bench) -> Result<Group> {
    let Some(node) = bench.node.as_ref().filter(|node| node.has("reknit")) else {
        let table =
            "the npm package is not measured: it was not built, or Node is not installed\n".to_owned();
        return Ok(Group { table, targets: targets(&[], &[]), rows: Vec::new() });
    };
    let mut rows = Vec::new();
    for shape in Shape::ALL {
        rows.push(alternating(look(node, shape, 100 * KB)?, bench.effort)?);
    }
    for (name, options) in [(IN_READS, json!({"read": 1_400})), (BY_EVENT, json!({"event": true}))] {
        rows.push(alternating(message(node, name, options)?, bench.effort)?);
    }
    let series = [look_growth(bench, node)?, message_growth(bench, node)?];
    let mut table = report::table("the npm package in Node, border included", &rows);
    table.push_str(&growth::table("growth: time of the npm package when its input doubles", &series));
    Ok(Group { table, targets: targets(&rows, &series), rows })
}

fn look(node: &Node, shape: Shape, size: usize) -> Result<Row<'_>> {
    let argument = shape.argument(size);
    let input = node.input(&argument)?;
    let all = Sample::new(&argument, usize::MAX);
    let mut runners = vec![all.runner("reknit", node.work(LOOK, input, &json!({"ends": all.ends})))];
    let sample = Sample::new(&argument, PATIENCE);
    for name in [PARTIAL_JSON, AI] {
        runners.push(sample.runner(name, node.work(name, input, &json!({"ends": sample.ends}))));
    }
    let (name, steps) =
        (format!("look, {}, {}", shape.name(), report::size(size)), argument.len().div_ceil(DELTA));
    Ok(Row { name, size: argument.len(), steps, runners })
}

fn message<'a>(node: &'a Node, name: &str, mut options: serde_json::Value) -> Result<Row<'a>> {
    let bytes = text_stream(TEXT_DELTAS * DELTA);
    let input = node.input(str::from_utf8(&bytes)?)?;
    options["listen"] = json!("text");
    // The package joins the deltas of a read, so what a listener got is compared by its length.
    options["units"] = json!(true);
    let runners = vec![
        Runner::new("reknit", node.work(MESSAGE, input, &options)),
        Runner::new(SDK, node.work(SDK, input, &options)),
    ];
    Ok(Row { name: name.to_owned(), size: bytes.len(), steps: TEXT_DELTAS, runners })
}

/// A message whose text has this length, in deltas.
fn text_stream(length: usize) -> Vec<u8> {
    let parts = [
        Stream::start(&text_block()),
        Stream::deltas("text_delta", "text", &words(length), DELTA),
        Stream::end("end_turn"),
    ];
    parts.iter().flat_map(Stream::bytes).copied().collect()
}

fn look_growth(bench: &Bench, node: &Node) -> Result<Series> {
    let inputs = doublings(largest(bench)).map(|size| {
        let argument = Shape::File.argument(size);
        let ends = Sample::new(&argument, usize::MAX).ends;
        Ok((argument.len(), node.work(LOOK, node.input(&argument)?, &json!({"ends": ends}))))
    });
    Series::measure(
        bench.effort,
        "npm, look, an escaped source file".to_owned(),
        inputs.collect::<Result<Vec<_>>>()?.into_iter(),
    )
}

fn message_growth(bench: &Bench, node: &Node) -> Result<Series> {
    let inputs = doublings(largest(bench)).map(|size| {
        let bytes = text_stream(size);
        let input = node.input(str::from_utf8(&bytes)?)?;
        Ok((bytes.len(), node.work(MESSAGE, input, &json!({"read": 1_400}))))
    });
    Series::measure(
        bench.effort,
        "npm, text in reads of 1,400 bytes".to_owned(),
        inputs.collect::<Result<Vec<_>>>()?.into_iter(),
    )
}

fn largest(bench: &Bench) -> usize {
    if bench.scale == Scale::Full { 2 * MB } else { MB / 2 }
}

fn targets(rows: &[Measured], series: &[Series]) -> Vec<Target> {
    let least = |name: &str| {
        let looks = rows.iter().filter(|row| row.name.starts_with("look, "));
        looks.filter_map(|row| row.ratio(name)).min_by(f64::total_cmp)
    };
    let of_sdk = |name: &str| rows.iter().find(|row| row.name == name).and_then(|row| row.ratio(SDK));
    let mut targets = vec![
        Target::at_least("npm, look at 100 KB: times as fast as partial-json", 100.0, least(PARTIAL_JSON)),
        Target::at_least("npm, look at 100 KB: times as fast as ai", 100.0, least(AI)),
        Target::at_least(format!("npm, {IN_READS}: of {SDK}"), 2.5, of_sdk(IN_READS)),
        Target::at_least(format!("npm, {BY_EVENT}: of {SDK}"), 1.2, of_sdk(BY_EVENT)),
    ];
    targets.extend(series.iter().map(Series::target));
    targets
}
