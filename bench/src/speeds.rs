//! The table of speeds in the README, whose numbers are those of a record.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::measure::Measured;

/// A line of the table, which is found by its first cell.
struct Line {
    label: &'static str,
    group: &'static str,
    row: &'static str,
    ours: Ours,
    peers: &'static [&'static str],
}

/// What the second cell says.
enum Ours {
    Time,
    Rate,
}

const LINES: [Line; 4] = [
    Line {
        label: "100 KB source file as an argument, read after each delta",
        group: "look",
        row: "an escaped source file, 100 KB",
        ours: Ours::Time,
        peers: &["jiter", "partial-json", "ai"],
    },
    Line {
        label: "server-sent events, reads of 1,400 bytes",
        group: "sse",
        row: "reads of 1,400 bytes",
        ours: Ours::Rate,
        peers: &["sse-core", "sse-stream", "sseer", "eventsource-stream"],
    },
    Line {
        label: "100 finished calls, then 2,000 text deltas, events to chunks",
        group: "chunks",
        row: "100 finished calls, 2,000 text deltas",
        ours: Ours::Time,
        peers: &["ai"],
    },
    Line {
        label: "20,000 text deltas, bytes to message",
        group: "message",
        row: "20,000 text deltas",
        ours: Ours::Time,
        peers: &["@anthropic-ai/sdk"],
    },
];

/// Writes what was measured into the table; lines of groups that were not run stay as they are.
pub(crate) fn write(groups: &[(&str, Vec<Measured>)]) -> Result<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let mut readme =
        fs::read_to_string(&path).with_context(|| format!("`{}` could not be read", path.display()))?;
    for line in &LINES {
        let mut rows = groups.iter().filter(|(name, _)| *name == line.group).flat_map(|(_, rows)| rows);
        if let Some(row) = rows.find(|row| row.name == line.row) {
            readme = replaced(&readme, line.label, &line.cells(row))?;
        }
    }
    fs::write(&path, readme).with_context(|| format!("`{}` could not be written", path.display()))?;
    Ok(path)
}

impl Line {
    fn cells(&self, row: &Measured) -> String {
        let time = row.ours().median();
        let ours = match self.ours {
            Ours::Time => milliseconds(time),
            Ours::Rate => format!("{:.1} GB/s", row.size as f64 / time.as_secs_f64() / 1e9),
        };
        let peers =
            self.peers.iter().filter_map(|peer| Some(format!("`{peer}` {}x", ratio(row.ratio(peer)?))));
        format!("{ours} | {} as long", peers.collect::<Vec<_>>().join(", "))
    }
}

/// The text with other cells after the label in the line that begins with it.
fn replaced(text: &str, label: &str, cells: &str) -> Result<String> {
    let start = format!("| {label} | ");
    ensure!(
        text.lines().filter(|line| line.starts_with(&start)).count() == 1,
        "the table of speeds in the README needs one line `{label}`"
    );
    let line = |line: &str| {
        if line.starts_with(&start) { format!("{start}{cells} |\n") } else { format!("{line}\n") }
    };
    Ok(text.lines().map(line).collect())
}

fn milliseconds(time: Duration) -> String {
    match time.as_secs_f64() * 1e3 {
        short if short < 1.0 => format!("{short:.2} ms"),
        long => format!("{long:.1} ms"),
    }
}

/// Two digits that count, because more would not be the same in the next run.
fn ratio(value: f64) -> String {
    if value < 10.0 {
        return format!("{value:.1}");
    }
    let unit = 10_f64.powf(value.log10().floor() - 1.0);
    let digits = format!("{:.0}", (value / unit).round() * unit);
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_have_two_digits_that_count() {
        let texts = [0.99, 8.56, 12.4, 141.0, 1139.2, 10_019.0, 353_590.0].map(ratio);
        assert_eq!(texts, ["1.0", "8.6", "12", "140", "1,100", "10,000", "350,000"]);
    }

    #[test]
    fn only_the_line_with_the_label_changes() {
        let table = "a\n| one | 1 ms | 2x |\n| one more | 1 ms | 2x |\n";
        let new = replaced(table, "one", "3 ms | 4x").unwrap();
        assert_eq!(new, "a\n| one | 3 ms | 4x |\n| one more | 1 ms | 2x |\n");
        assert!(replaced(table, "two", "3 ms | 4x").is_err());
    }

    #[test]
    fn the_readme_has_every_line() {
        let readme = include_str!("../../README.md");
        for line in &LINES {
            assert!(replaced(readme, line.label, "").is_ok(), "{}", line.label);
        }
    }
}
