//! How the engine's work grows when its input doubles.

use std::iter;

use anyhow::Result;
use reknit::{Dialect, Reply};

mod many;
mod markers;

use super::{Bench, Group, Scale, tags};
use crate::input::{DELTA, KB, LONG_DELTA, MB, Shape, Stream, call_block, text_block, text_events, words};
use crate::measure::{Effort, Measured, Row, Runner, Work, interleaved, timed};
use crate::ours::{frames, partial_json, reply};
use crate::report::{self, Target};

/// The most that twice the input may cost.
const BOUND: f64 = 2.2;

/// How many long events a decoder reads.
const LONG_EVENTS: usize = 4;

/// How often the input doubles.
const DOUBLINGS: u32 = 3;

pub(crate) fn run(bench: &Bench) -> Result<Group> {
    let largest = if bench.scale == Scale::Full { 4 * MB } else { MB };
    let mut series = Vec::new();
    for shape in Shape::ALL {
        series.push(argument(bench, shape, largest)?);
        series.push(argument_in_reply(bench, shape, largest)?);
    }
    series.push(text_in_reply(bench, 2 * largest)?);
    for (read, words) in [(64, "64"), (1_400, "1,400"), (16_384, "16,384")] {
        series.push(events(bench, read, words, 4 * largest)?);
    }
    series.push(long_event(bench, largest)?);
    series.push(calls_in_text(bench, 4 * largest)?);
    let targets = series.iter().map(Series::target).collect();
    let table = table("growth: time of ours when its input doubles", &series);
    Ok(Group { table, targets, rows: Vec::new() })
}

/// The group of what there may be many of.
pub(crate) fn run_many(bench: &Bench) -> Result<Group> {
    Ok(judged_at_each("many: time of ours when there is twice as much of something", &many::run(bench)?))
}

/// The group of texts that consist of markers.
pub(crate) fn run_markers(bench: &Bench) -> Result<Group> {
    Ok(judged_at_each("markers: time of ours when they double, for each profile", &markers::run(bench)?))
}

fn judged_at_each(title: &str, series: &[Series]) -> Group {
    let targets = series.iter().map(Series::target_of_each).collect();
    Group { table: table(title, series), targets, rows: Vec::new() }
}

/// A line for each series.
pub(super) fn table(title: &str, series: &[Series]) -> String {
    let lines: Vec<_> = series.iter().map(Series::line).collect();
    report::lines(title, &["largest", "time", "MB/s", "each doubling", "mean"], &lines)
}

/// One kind of work on inputs that double in size.
pub(super) struct Series {
    name: String,
    rows: Vec<Measured>,
}

impl Series {
    pub(super) fn measure<'a>(
        effort: Effort,
        name: String,
        inputs: impl Iterator<Item = (usize, Work<'a>)>,
    ) -> Result<Self> {
        let row = |(size, work)| Row {
            name: name.clone(),
            size,
            steps: 1,
            runners: vec![Runner::new("reknit", work)],
        };
        let rows = interleaved(inputs.map(row).collect(), effort)?;
        Ok(Self { name, rows })
    }

    pub(super) fn target(&self) -> Target {
        Target::at_most(format!("growth: {}", self.name), BOUND, Some(self.mean()))
    }

    /// The largest growth, for work that must not depend on how much there is at all.
    fn target_of_each(&self) -> Target {
        let largest = self.growths().max_by(f64::total_cmp);
        Target::at_most(format!("growth at each doubling: {}", self.name), BOUND, largest)
    }

    fn growths(&self) -> impl Iterator<Item = f64> {
        self.rows.windows(2).map(|pair| pair[1].ours().ratio_to(pair[0].ours()))
    }

    /// The growth of one doubling, as the mean of all.
    ///
    /// One alone also shows the step from one cache to the next, and whoever else uses the machine.
    fn mean(&self) -> f64 {
        self.growths().product::<f64>().powf(1.0 / f64::from(DOUBLINGS))
    }

    fn line(&self) -> (String, Vec<String>) {
        let largest = &self.rows[self.rows.len() - 1];
        let time = largest.ours().median();
        let growths: Vec<_> = self.growths().map(|growth| format!("{growth:.2}")).collect();
        let cells = vec![
            report::size(largest.size),
            report::duration(time),
            report::rate(largest.size, time),
            growths.join(" "),
            format!("{:.2}", self.mean()),
        ];
        (self.name.clone(), cells)
    }
}

fn argument(bench: &Bench, shape: Shape, largest: usize) -> Result<Series> {
    let arguments: Vec<_> = doublings(largest).map(|size| shape.argument(size)).collect();
    let inputs = arguments.iter().map(|argument| {
        (argument.len(), timed(|| partial_json(argument, DELTA), |json| usize::from(json.check().is_ok())))
    });
    Series::measure(bench.effort, format!("PartialJson, {}", shape.name()), inputs)
}

fn argument_in_reply(bench: &Bench, shape: Shape, largest: usize) -> Result<Series> {
    let start = Stream::start(&call_block());
    let streams: Vec<_> = doublings(largest)
        .map(|size| shape.argument(size))
        .map(|text| (text.len(), Stream::deltas("input_json_delta", "partial_json", &text, DELTA)))
        .collect();
    let inputs = streams.iter().map(|(size, deltas)| {
        let reads = || start.events().chain(deltas.events());
        (*size, timed(move || reply(Reply::new(Dialect::Anthropic), reads()), |(_, grew)| grew))
    });
    Series::measure(bench.effort, format!("Reply, {}", shape.name()), inputs)
}

fn text_in_reply(bench: &Bench, largest: usize) -> Result<Series> {
    let start = Stream::start(&text_block());
    // The same events again and again, so that what is measured is the engine and not the reading of a
    // hundred megabytes from memory.
    let unit = LONG_DELTA * 4 * KB;
    let deltas = Stream::deltas("text_delta", "text", &words(unit), LONG_DELTA);
    let inputs = doublings(whole_units(largest, unit)).map(|times| {
        let (start, deltas) = (&start, &deltas);
        let reads = move || start.events().chain((0..times).flat_map(|_| deltas.events()));
        (times * unit, timed(move || reply(Reply::new(Dialect::Anthropic), reads()), |(_, grew)| grew))
    });
    Series::measure(bench.effort, "Reply, text in 40-byte deltas".to_owned(), inputs)
}

fn events(bench: &Bench, read: usize, words: &str, largest: usize) -> Result<Series> {
    let stream = text_events(64 * KB);
    let bytes = stream.bytes();
    let inputs = doublings(whole_units(largest, bytes.len())).map(|times| {
        let reads = move || (0..times).flat_map(move |_| bytes.chunks(read));
        (times * bytes.len(), timed(move || frames(reads()), |seen| seen))
    });
    Series::measure(bench.effort, format!("Decoder, reads of {words} bytes"), inputs)
}

fn long_event(bench: &Bench, largest: usize) -> Result<Series> {
    // The same bytes again and again, as for the text above.
    let unit = words(1_400);
    let inputs = doublings(whole_units(largest, unit.len())).map(|times| {
        let unit = unit.as_bytes();
        let line = move || iter::repeat_n(unit, times);
        let event = move || iter::once(&b"data: "[..]).chain(line()).chain([&b"\n\n"[..]]);
        // The first finds a small buffer, which doubles and may have to move; the others find a large one.
        let reads = move || (0..LONG_EVENTS).flat_map(move |_| event());
        (LONG_EVENTS * times * unit.len(), timed(move || frames(reads()), |seen| seen))
    });
    Series::measure(bench.effort, "Decoder, long events, reads of 1,400".to_owned(), inputs)
}

fn calls_in_text(bench: &Bench, largest: usize) -> Result<Series> {
    let texts: Vec<_> = doublings(largest).map(tags::calls).collect();
    let inputs = texts
        .iter()
        .map(|text| (text.len(), timed(move || tags::read(text, 20), |parser| parser.text().len())));
    Series::measure(bench.effort, "Parser, calls in text in pieces of 20".to_owned(), inputs)
}

/// Sizes that double up to `largest`.
pub(super) fn doublings(largest: usize) -> impl Iterator<Item = usize> {
    (0..=DOUBLINGS).rev().map(move |halvings| largest >> halvings)
}

/// How many units an input of about `size` has, such that it can be halved.
fn whole_units(size: usize, unit: usize) -> usize {
    ((size / unit) >> DOUBLINGS).max(1) << DOUBLINGS
}
