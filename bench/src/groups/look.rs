//! A tool argument in deltas, with a look after each.

use anyhow::Result;
use jiter::{JsonValue, JsonValueScratch, PartialMode};
use serde_json::{Value, json};

use super::{Bench, Group, Scale};
use crate::input::{DELTA, KB, MB, Shape};
use crate::measure::{Measured, Row, Runner, Work, alternating, timed};
use crate::ours::partial_json;
use crate::report::{self, Target};

/// How many bytes a peer that reads everything again may read in a run; the other looks are estimated.
const PATIENCE: usize = 32 * MB;
const NODE_PATIENCE: usize = 4 * MB;

/// How many looks a sample has at least.
const LEAST: usize = 4;

const JITER: &str = "jiter";
const SERDE_JSON: &str = "serde_json once";
const PARTIAL_JSON: &str = "partial-json";
const AI: &str = "ai";

pub(crate) fn run(bench: &Bench) -> Result<Group> {
    let sizes: &[_] = match bench.scale {
        Scale::Full => &[("10 KB", 10 * KB), ("100 KB", 100 * KB), ("1 MB", MB), ("4 MB", 4 * MB)],
        Scale::Quick => &[("10 KB", 10 * KB), ("100 KB", 100 * KB), ("1 MB", MB)],
    };
    let mut rows = Vec::new();
    for shape in Shape::ALL {
        for (words, size) in sizes {
            let argument = shape.argument(*size);
            let row = row(bench, format!("{}, {words}", shape.name()), &argument)?;
            rows.push(alternating(row, bench.effort)?);
        }
    }
    let title = "tool arguments in 16-byte deltas, a look after each";
    Ok(Group { table: report::table(title, &rows), targets: targets(&rows), rows })
}

fn row<'a>(bench: &'a Bench, name: String, argument: &'a str) -> Result<Row<'a>> {
    let steps = argument.len().div_ceil(DELTA);
    let ours = timed(
        move || partial_json(argument, DELTA),
        |json| fingerprint(&json.finish().expect("the argument is whole").into()),
    );
    let once = timed(move || serde_json::from_str(argument).expect("JSON"), |value| fingerprint(&value));
    let sample = Sample::new(argument, PATIENCE);
    let mut runners = vec![Runner::new("reknit", ours), Runner::new(SERDE_JSON, once), {
        let ends = sample.ends.clone();
        let work = timed(
            move || jiter_looks(argument, &ends),
            move |()| jiter_fingerprint(&JsonValue::parse(argument.as_bytes(), false).expect("JSON")),
        );
        sample.runner(JITER, work)
    }];
    if let Some(node) = &bench.node {
        let input = node.input(argument)?;
        let sample = Sample::new(argument, NODE_PATIENCE);
        for name in [PARTIAL_JSON, AI] {
            runners.push(sample.runner(name, node.work(name, input, &json!({"ends": sample.ends}))));
        }
    }
    Ok(Row { name, size: argument.len(), steps, runners })
}

fn targets(rows: &[Measured]) -> Vec<Target> {
    let least = |name: &str| {
        let rows = rows.iter().filter(|row| row.name.ends_with(", 100 KB"));
        rows.filter_map(|row| row.ratio(name)).min_by(f64::total_cmp)
    };
    let mut targets: Vec<_> = [JITER, PARTIAL_JSON, AI]
        .map(|name| Target::at_least(format!("look at 100 KB: times as fast as {name}"), 100.0, least(name)))
        .into();
    for (shape, most) in Shape::ALL.into_iter().zip([12.0, 4.0, 4.0]) {
        let name = format!("{}, 1 MB", shape.name());
        let row = rows.iter().find(|row| row.name == name);
        let times = row.and_then(|row| row.ratio(SERDE_JSON)).map(|ratio| 1.0 / ratio);
        targets.push(Target::at_most(format!("look at {name}: of one serde_json parse"), most, times));
    }
    targets
}

/// Where the looks of a peer end: after each delta, or in the middle of equal parts of them.
///
/// The work of a look grows with what has come, so the looks in the middle represent their parts.
pub(super) struct Sample {
    pub(super) ends: Vec<usize>,
    steps: usize,
}

impl Sample {
    pub(super) fn new(argument: &str, patience: usize) -> Self {
        let steps = argument.len().div_ceil(DELTA);
        let affordable = (patience / (argument.len() / 2)).max(LEAST);
        let ends: Vec<_> = if affordable >= steps {
            (1..=steps).map(|step| (step * DELTA).min(argument.len())).collect()
        } else {
            (0..affordable).map(|part| (steps * (2 * part + 1) / (2 * affordable)) * DELTA).collect()
        };
        Self { ends, steps }
    }

    /// The time of the sample, reckoned up to all looks.
    pub(super) fn runner<'a>(&self, name: &'static str, mut work: Work<'a>) -> Runner<'a> {
        let (taken, steps) = (self.ends.len(), self.steps);
        if taken == steps {
            return Runner::new(name, work);
        }
        let all: Work<'a> = Box::new(move || {
            let mut outcome = work()?;
            outcome.time = outcome.time.mul_f64(steps as f64 / taken as f64);
            Ok(outcome)
        });
        Runner { name, work: all, sample: Some(taken) }
    }
}

fn jiter_looks(argument: &str, ends: &[usize]) {
    let mut scratch = JsonValueScratch::new();
    for end in ends {
        let so_far = &argument.as_bytes()[..*end];
        let value = scratch.parse(so_far, false, PartialMode::TrailingStrings);
        assert!(matches!(value, Ok(JsonValue::Object(_))), "a look shows the object");
    }
}

/// How many values there are in a value, and how long its strings and keys are.
pub(crate) fn fingerprint(value: &Value) -> usize {
    1 + match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(elements) => elements.iter().map(fingerprint).sum(),
        Value::Object(members) => members.iter().map(|(key, value)| key.len() + fingerprint(value)).sum(),
    }
}

fn jiter_fingerprint(value: &JsonValue<'_>) -> usize {
    1 + match value {
        JsonValue::Str(text) => text.len(),
        JsonValue::Array(elements) => elements.iter().map(jiter_fingerprint).sum(),
        JsonValue::Object(members) => {
            members.iter().map(|(key, value)| key.len() + jiter_fingerprint(value)).sum()
        }
        _ => 0,
    }
}
