//! Edits: search texts to their places in a file, or to the reason why there is none.

mod cases;
mod windows;

use anyhow::{Context, Result};
use memchr::{memchr_iter, memmem};
use reknit::edit::{How, Outcome, Plan};

use super::{Bench, Group, Scale};
use crate::input::{KB, MB};
use crate::measure::{Measured, Row, Runner, alternating, interleaved, timed};
use crate::report::{self, Target};
use cases::{Case, EDITS, Input};

/// The most that twice the file may cost.
const GROWTH: f64 = 2.2;
/// What one exact edit may cost, of one search with `memmem`.
const EXACT: f64 = 1.5;
/// What 20 edits that are nowhere may cost, of one count of the lines.
const MISS: f64 = 60.0;
/// How much slower it is to compare every window.
const WINDOWS: f64 = 100.0;

/// The yardstick: who counts the lines has looked at everything once.
const ONE_PASS: &str = "one pass";
const MEMMEM: &str = "memmem";
const STRSIM: &str = "strsim, windows";

pub(crate) fn run(bench: &Bench) -> Result<Group> {
    let sizes: &[_] = match bench.scale {
        Scale::Full => &[("100 KB", 100 * KB), ("1 MB", MB), ("10 MB", 10 * MB)],
        Scale::Quick => &[("100 KB", 100 * KB), ("1 MB", MB)],
    };
    let mut doubled = Vec::new();
    for case in Case::all() {
        for (words, size) in sizes {
            doubled.push(Doubled::measure(bench, case, words, *size)?);
        }
    }
    let mut rows = Vec::new();
    for (words, size) in sizes {
        rows.push(exact(bench, words, *size)?);
    }
    rows.push(miss(bench)?);

    let title = format!("edits: {EDITS} in a source file, or one in a file of braces");
    let columns = ["reknit", "MB/s", "of one pass", "twice the file"];
    let lines: Vec<_> = doubled.iter().map(Doubled::line).collect();
    let table = report::lines(&title, &columns, &lines) + "\n" + &report::table("edits: one", &rows);
    let mut targets = growth(&doubled);
    for each in doubled.iter().filter(|each| each.case.is_miss() && each.is_large()) {
        targets.push(Target::at_most(format!("edit: {}, of one pass", each.name()), MISS, Some(each.cost())));
    }
    for row in &rows {
        let cost = row.ratio(MEMMEM).map(f64::recip);
        if cost.is_some() {
            targets.push(Target::at_most(format!("edit: {}, of one search", row.name), EXACT, cost));
        }
    }
    let windows = rows.iter().find_map(|row| row.ratio(STRSIM));
    targets.push(Target::at_least("edit: times as fast as windows with strsim", WINDOWS, windows));
    Ok(Group { table, targets, rows })
}

/// Edits of a file, and of one that is twice as long.
struct Doubled {
    case: Case,
    words: &'static str,
    once: Measured,
    twice: Measured,
}

impl Doubled {
    fn measure(bench: &Bench, case: Case, words: &'static str, size: usize) -> Result<Self> {
        let inputs = [case.input(size), case.input(2 * size)];
        let mut rows = Vec::new();
        for input in &inputs {
            input.check()?;
            // One pass edits nothing: it shows what it costs to look at the file.
            let edits = input.edits.len();
            let one_pass = timed(move || memchr_iter(b'\n', input.text.as_bytes()).count(), move |_| edits);
            let ours = timed(move || input.plan(), |plan| plan.files[0].reports.len());
            rows.push(Row {
                name: case.name().to_owned(),
                size: input.text.len(),
                steps: edits,
                runners: vec![Runner::new("reknit", ours), Runner::new(ONE_PASS, one_pass)],
            });
        }
        let mut measured = interleaved(rows, bench.effort)?.into_iter();
        let mut next = || measured.next().context("both rows are measured");
        Ok(Self { case, words, once: next()?, twice: next()? })
    }

    fn name(&self) -> String {
        format!("{}, {}", self.once.name, self.words)
    }

    /// Whether what an edit costs whatever the file does not count.
    fn is_large(&self) -> bool {
        self.once.size > 500 * KB
    }

    /// How many times as long as one pass it took.
    fn cost(&self) -> f64 {
        self.once.ratio(ONE_PASS).map_or(f64::NAN, f64::recip)
    }

    /// How many times as long the edits of the longer file took.
    fn growth(&self) -> f64 {
        self.twice.ours().ratio_to(self.once.ours())
    }

    fn line(&self) -> (String, Vec<String>) {
        let time = self.once.ours().median();
        let cells = vec![
            report::duration(time),
            report::rate(self.once.size, time),
            format!("{:.1}x", self.cost()),
            format!("{:.2}x", self.growth()),
        ];
        (self.name(), cells)
    }
}

/// The growth of each case for each doubling.
fn growth(doubled: &[Doubled]) -> Vec<Target> {
    let large = doubled.iter().filter(|each| each.is_large());
    large
        .map(|each| Target::at_most(format!("edit: {}, growth", each.name()), GROWTH, Some(each.growth())))
        .collect()
}

/// One exact edit beside a search for its text.
fn exact(bench: &Bench, words: &str, size: usize) -> Result<Measured> {
    let input = Input::single(Case::Found(How::Exact), size);
    input.check()?;
    let (text, search) = (input.text.as_bytes(), input.search().as_bytes());
    let ours = timed(|| input.plan(), |plan| plan.files[0].splices[0].range.start);
    let memmem =
        timed(move || memmem::find_iter(text, search).collect::<Vec<_>>(), |places| places.iter().sum());
    let runners = vec![Runner::new("reknit", ours), Runner::new(MEMMEM, memmem)];
    let row = Row { name: format!("exact, {words}"), size: text.len(), steps: 1, runners };
    alternating(row, bench.effort)
}

/// One edit that is nowhere beside the edit distance to every window of as many lines.
fn miss(bench: &Bench) -> Result<Measured> {
    let input = Input::single(Case::Stale, MB);
    input.check()?;
    let search = input.search();
    let ours = timed(|| input.plan(), |plan| closest(&plan));
    let strsim = timed(|| windows::closest(&input.text, search), |line| line);
    let runners = vec![Runner::new("reknit", ours), Runner::new(STRSIM, strsim)];
    let row = Row { name: "a miss, 1 MB".to_owned(), size: input.text.len(), steps: 1, runners };
    alternating(row, bench.effort)
}

/// The line at which the place begins that is closest to an edit that is nowhere, counted from 1.
fn closest(plan: &Plan) -> usize {
    let closest = match &plan.files[0].reports[0].outcome {
        Outcome::Rejected(rejection) => rejection.closest.as_ref(),
        _ => None,
    };
    closest.map_or(0, |closest| closest.lines.first)
}
