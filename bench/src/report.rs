//! What was measured, as lines for people.

use std::fmt::Write as _;
use std::time::Duration;

use crate::measure::Measured;

/// A number that we want to reach.
pub(crate) struct Target {
    what: String,
    bound: Bound,
    /// `None` if it could not be measured.
    value: Option<f64>,
}

enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl Target {
    pub(crate) fn at_least(what: impl Into<String>, bound: f64, value: Option<f64>) -> Self {
        Self { what: what.into(), bound: Bound::AtLeast(bound), value }
    }

    pub(crate) fn at_most(what: impl Into<String>, bound: f64, value: Option<f64>) -> Self {
        Self { what: what.into(), bound: Bound::AtMost(bound), value }
    }

    pub(crate) fn is_missed(&self) -> bool {
        match (&self.bound, self.value) {
            (_, None) => false,
            (Bound::AtLeast(least), Some(value)) => value < *least,
            (Bound::AtMost(most), Some(value)) => value > *most,
        }
    }

    pub(crate) fn line(&self) -> String {
        let bound = match self.bound {
            Bound::AtLeast(least) => format!("at least {least}"),
            Bound::AtMost(most) => format!("at most {most}"),
        };
        let verdict = match self.value {
            None => "not measured".to_owned(),
            Some(value) => format!("{} {}", number(value), if self.is_missed() { "MISSED" } else { "ok" }),
        };
        format!("{:<58} {bound:<14} {verdict}\n", self.what)
    }
}

/// A table of rows with a column for each peer: how many times as long as ours it took.
pub(crate) fn table(title: &str, rows: &[Measured]) -> String {
    let mut peers: Vec<&str> = Vec::new();
    for entry in rows.iter().flat_map(Measured::peers) {
        if !peers.contains(&entry.name) {
            peers.push(entry.name);
        }
    }
    let line = |row: &Measured| {
        let time = row.ours().median();
        let each = time / u32::try_from(row.steps).unwrap_or(u32::MAX);
        let mut cells = vec![duration(time), duration(each), rate(row.size, time)];
        cells.extend(peers.iter().map(|peer| cell(row, peer)));
        (row.name.clone(), cells)
    };
    let columns: Vec<_> = ["reknit", "each", "MB/s"].into_iter().chain(peers.iter().copied()).collect();
    let mut out = lines(title, &columns, &rows.iter().map(line).collect::<Vec<_>>());
    notes(rows, &mut out);
    out
}

/// A table of lines, each with its name and a cell for each column.
pub(crate) fn lines(title: &str, columns: &[&str], lines: &[(String, Vec<String>)]) -> String {
    let first = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let width = |at: usize| {
        let cells = lines.iter().map(|(_, cells)| cells[at].len());
        cells.max().unwrap_or(0).max(columns[at].len())
    };
    let mut out = format!("{title}\n{:first$}", "");
    for (at, column) in columns.iter().enumerate() {
        let _ = write!(out, "  {column:>0$}", width(at));
    }
    out.push('\n');
    for (name, cells) in lines {
        let _ = write!(out, "{name:<first$}");
        for (at, cell) in cells.iter().enumerate() {
            let _ = write!(out, "  {cell:>0$}", width(at));
        }
        out.push('\n');
    }
    out
}

fn cell(row: &Measured, peer: &str) -> String {
    let Some(entry) = row.entry(peer) else { return "-".to_owned() };
    let mark = if entry.sample.is_some() { "~" } else { "" };
    format!("{mark}{}x", number(entry.times.ratio_to(row.ours())))
}

/// What the cells do not say: samples, and who had fewer runs.
fn notes(rows: &[Measured], out: &mut String) {
    let runs = rows.iter().flat_map(|row| &row.entries).map(|entry| entry.times.runs()).max().unwrap_or(0);
    for row in rows {
        let mut said: Vec<String> = Vec::new();
        for entry in &row.entries {
            if let Some(taken) = entry.sample {
                said.push(format!("{} {taken} of {} looks", entry.name, row.steps));
            }
            if entry.times.runs() < runs {
                said.push(format!("{} {} runs", entry.name, entry.times.runs()));
            }
        }
        if !said.is_empty() {
            let _ = writeln!(out, "~ {}: {}", row.name, said.join(", "));
        }
    }
}

pub(crate) fn size(bytes: usize) -> String {
    match bytes >> 10 {
        kilobytes if kilobytes < 1_000 => format!("{kilobytes} KB"),
        kilobytes => format!("{:.1} MB", kilobytes as f64 / 1024.0),
    }
}

pub(crate) fn rate(bytes: usize, time: Duration) -> String {
    format!("{:.0}", bytes as f64 / time.as_secs_f64() / 1e6)
}

pub(crate) fn duration(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds >= 1.0 => format!("{seconds:.2} s"),
        seconds if seconds >= 1e-3 => format!("{:.2} ms", seconds * 1e3),
        seconds if seconds >= 1e-6 => format!("{:.2} us", seconds * 1e6),
        seconds => format!("{:.0} ns", seconds * 1e9),
    }
}

fn number(value: f64) -> String {
    match value {
        small if small < 100.0 => format!("{small:.2}"),
        large => format!("{large:.0}"),
    }
}
