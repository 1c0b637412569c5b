//! A series as lines for people.

use std::fmt::Write as _;
use std::time::Duration;

use crate::series::{BOUND, Row, Series};

/// The series with its verdict.
pub(crate) fn render(series: &Series) -> String {
    let mut out = format!("{}\n", series.name);
    let _ = write!(
        out,
        "{:>9} {:>5} {:>10} {:>8} {:>10} {:>7}",
        "size", "runs", "time", "MB/s", "each", "growth"
    );
    for reference in [series.floor, series.peer].into_iter().filter(|name| !name.is_empty()) {
        let _ = write!(out, "  {reference}");
    }
    out.push('\n');
    series.rows.iter().for_each(|row| render_row(row, series, &mut out));
    let verdict = if series.is_linear() { "yes" } else { "no" };
    let _ = writeln!(out, "growth at most {BOUND}: {verdict} ({:.2})\n", series.growth());
    out
}

fn render_row(row: &Row, series: &Series, out: &mut String) {
    let time = row.times.median();
    let rate = row.size as f64 / time.as_secs_f64() / 1e6;
    let each = time / u32::try_from(row.deltas).unwrap_or(u32::MAX);
    let growth = row.growth.map_or("-".to_owned(), |growth| format!("{growth:.2}"));
    let _ = write!(
        out,
        "{:>9} {:>5} {:>10} {rate:>8.0} {:>10} {growth:>7}",
        size(row.size),
        row.times.runs(),
        duration(time),
        duration(each),
    );
    for (name, ratio, words) in [(series.floor, row.to_floor, "of it"), (series.peer, row.peer, "ours")] {
        if !name.is_empty() {
            let cell = ratio.map_or("-".to_owned(), |ratio| format!("{} {words}", times(ratio)));
            let _ = write!(out, "  {cell:>0$}", name.len());
        }
    }
    out.push('\n');
}

fn size(bytes: usize) -> String {
    match bytes >> 10 {
        kilobytes if kilobytes < 1_000 => format!("{kilobytes} KB"),
        kilobytes => format!("{:.1} MB", kilobytes as f64 / 1024.0),
    }
}

fn duration(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds >= 1.0 => format!("{seconds:.2} s"),
        seconds if seconds >= 1e-3 => format!("{:.2} ms", seconds * 1e3),
        seconds if seconds >= 1e-6 => format!("{:.2} us", seconds * 1e6),
        seconds => format!("{:.0} ns", seconds * 1e9),
    }
}

fn times(ratio: f64) -> String {
    if ratio < 100.0 { format!("{ratio:.2}x") } else { format!("{ratio:.0}x") }
}
