//! A diff on a terminal: coloured, with the changed words marked, and sanitized.

use std::io::{self, Write};
use std::ops::Range;

use super::unified::{NO_LINE_END, head};
use super::words::{self, Marks};
use super::{Diff, Hunk, Kind, Line, Sides};
use crate::view::{Style, Terminal, sanitized};

/// Writes a unified diff for a terminal.
pub(crate) fn show(
    out: &mut impl Write,
    terminal: Terminal,
    sides: Sides<'_>,
    diff: &Diff<'_>,
) -> io::Result<()> {
    let hunks = diff.hunks();
    for line in head(sides, &hunks) {
        writeln!(out, "{}", terminal.paint(Style::Strong, &sanitized(&line)))?;
    }
    for hunk in &hunks {
        writeln!(out, "{}", terminal.paint(Style::Code, &hunk.head()))?;
        show_lines(out, terminal, hunk)?;
    }
    Ok(())
}

fn show_lines(out: &mut impl Write, terminal: Terminal, hunk: &Hunk<'_>) -> io::Result<()> {
    for run in hunk.lines.chunk_by(|one, next| (one.kind == Kind::Kept) == (next.kind == Kind::Kept)) {
        // A carriage return is shown where some lines have it and others do not.
        let line_end = if run.iter().all(|line| line.text.ends_with(b"\r\n")) { "\r\n" } else { "\n" };
        let texts = |kind| -> Vec<_> {
            run.iter().filter(|line| line.kind == kind).map(|line| shown(line, line_end)).collect()
        };
        let (kept, removed, added) = (texts(Kind::Kept), texts(Kind::Removed), texts(Kind::Added));
        let [removed_marks, added_marks] = words::changed(&removed, &added);
        let mut kept = kept.into_iter().map(|text| (text, Marks::new()));
        let mut removed = removed.into_iter().zip(removed_marks);
        let mut added = added.into_iter().zip(added_marks);
        for line in run {
            let (next, style, marked) = match line.kind {
                Kind::Kept => (kept.next(), Style::Plain, Style::Plain),
                Kind::Removed => (removed.next(), Style::Removed, Style::RemovedWord),
                Kind::Added => (added.next(), Style::Added, Style::AddedWord),
            };
            let (text, marks) = next.unwrap_or_default();
            let mut painted = terminal.paint(style, char::from(line.kind.sign()).encode_utf8(&mut [0; 4]));
            for (part, is_marked) in parts(&text, &marks) {
                painted += &terminal.paint(if is_marked { marked } else { style }, part);
            }
            writeln!(out, "{painted}")?;
            if !line.text.ends_with(b"\n") {
                writeln!(out, "{}", terminal.paint(Style::Quiet, NO_LINE_END))?;
            }
        }
    }
    Ok(())
}

/// A line as it can be shown, without its line end.
fn shown(line: &Line<'_>, line_end: &str) -> String {
    let text = String::from_utf8_lossy(line.text);
    sanitized(text.strip_suffix(line_end).unwrap_or(&text)).into_owned()
}

/// The parts of a line, and whether they are marked.
fn parts<'a>(line: &'a str, marks: &[Range<usize>]) -> Vec<(&'a str, bool)> {
    let mut parts = Vec::new();
    let mut done = 0;
    for mark in marks {
        parts.extend([(&line[done..mark.start], false), (&line[mark.clone()], true)]);
        done = mark.end;
    }
    parts.push((&line[done..], false));
    parts.retain(|(text, _)| !text.is_empty());
    parts
}
