//! Turns frames into an SVG that plays them.

use std::fmt::Write;
use std::time::Duration;

use super::Frame;
use super::screen::{Row, Run, Style};

const CELL: f64 = 8.4;
const LINE: f64 = 19.0;
const MARGIN: f64 = 20.0;
const BAR: f64 = 34.0;

/// How long the end is shown before it starts again.
const REST: Duration = Duration::from_secs(7);

/// What one row shows, and from when to when.
struct Version<'a> {
    row: usize,
    runs: &'a Row,
    from: Duration,
    /// `None` if it stays.
    to: Option<Duration>,
}

pub(super) fn draw(frames: &[Frame]) -> String {
    let versions = versions(frames);
    let rows = versions.iter().map(|version| version.row + 1).max().unwrap_or(1);
    let columns = versions.iter().flat_map(|version| version.runs).map(|run| run.column + run.width).max();
    let width = f64::from(columns.unwrap_or(1)) * CELL + 2.0 * MARGIN;
    #[expect(clippy::cast_precision_loss, reason = "a screen has few rows")]
    let height = BAR + rows as f64 * LINE + MARGIN;
    let end = frames.last().map_or(Duration::ZERO, |frame| frame.at) + REST;

    let mut body = String::new();
    let mut times: Vec<(Duration, Option<Duration>)> = Vec::new();
    for version in &versions {
        let time = (version.from, version.to);
        let number = times.iter().position(|&known| known == time).unwrap_or_else(|| {
            times.push(time);
            times.len() - 1
        });
        let gone = if version.to.is_some() { " gone" } else { "" };
        write!(body, "<g class=\"t{number}{gone}\">").expect(WRITES);
        version.runs.iter().for_each(|run| draw_run(&mut body, version.row, run));
        body.push_str("</g>\n");
    }
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}" role="img" xml:space="preserve">
<title>reknit on a terminal: a stream that is cut, an edit, and its undo</title>
<style>
text {{ font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #e6edf3; white-space: pre; }}
.bold {{ font-weight: 600; }} .italic {{ font-style: italic; }} .dim {{ fill: #8b949e; }}
.c1 {{ fill: #ff7b72; }} .c2 {{ fill: #7ee787; }} .c3 {{ fill: #f0c674; }} .c5 {{ fill: #d2a8ff; }} .c6 {{ fill: #76d9e6; }}
.gone {{ visibility: hidden; }}
@media (prefers-reduced-motion: no-preference) {{
{animations}}}
</style>
<rect x="0.5" y="0.5" width="{frame_width:.0}" height="{frame_height:.0}" rx="10" fill="#0d1117" stroke="#3d444d"/>
<circle cx="22" cy="19" r="5.5" fill="#ff5f57"/><circle cx="41" cy="19" r="5.5" fill="#febc2e"/><circle cx="60" cy="19" r="5.5" fill="#28c840"/>
{body}</svg>
"##,
        animations = animations(&times, end),
        frame_width = width - 1.0,
        frame_height = height - 1.0,
    )
}

const WRITES: &str = "writing to a string does not fail";

/// What each row showed, and from when to when. A row that never changes is included once.
fn versions(frames: &[Frame]) -> Vec<Version<'_>> {
    let mut versions = Vec::new();
    let rows = frames.iter().map(|frame| frame.screen.rows.len()).max().unwrap_or(0);
    for row in 0..rows {
        let mut open: Option<Version<'_>> = None;
        for frame in frames {
            let runs = &frame.screen.rows[row];
            if open.as_ref().is_some_and(|version| version.runs == runs) {
                continue;
            }
            versions.extend(open.take().map(|version| Version { to: Some(frame.at), ..version }));
            open = (!runs.is_empty()).then_some(Version { row, runs, from: frame.at, to: None });
        }
        versions.extend(open);
    }
    versions
}

fn draw_run(body: &mut String, row: usize, Run { column, width, is_wide, text, style }: &Run) {
    let x = MARGIN + f64::from(*column) * CELL;
    #[expect(clippy::cast_precision_loss, reason = "a screen has few rows")]
    let y = BAR + (row as f64 + 1.0) * LINE - 5.0;
    // Every run occupies its own columns, whatever the available font makes of it.
    let length = match width {
        1 => String::new(),
        _ if *is_wide => String::new(),
        _ => format!(" textLength=\"{:.1}\"", f64::from(*width) * CELL),
    };
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let class = class(*style);
    write!(body, "<text x=\"{x:.1}\" y=\"{y:.0}\"{length}{class}>{text}</text>").expect(WRITES);
}

fn class(style: Style) -> String {
    let mut classes = Vec::new();
    classes.extend(style.colour.map(|colour| format!("c{colour}")));
    classes.extend(
        [(style.is_bold, "bold"), (style.is_dim, "dim"), (style.is_italic, "italic")]
            .into_iter()
            .filter(|(is_set, _)| *is_set)
            .map(|(_, class)| class.to_owned()),
    );
    if classes.is_empty() { String::new() } else { format!(" class=\"{}\"", classes.join(" ")) }
}

/// The times at which something is visible, as animations of the same length.
fn animations(times: &[(Duration, Option<Duration>)], end: Duration) -> String {
    let percent = |at: Duration| 100.0 * at.as_secs_f64() / end.as_secs_f64();
    let mut css = String::new();
    for (number, &(from, to)) in times.iter().enumerate() {
        if (from, to) == (Duration::ZERO, None) {
            continue;
        }
        let hide = to.map_or(String::new(), |to| format!(" {:.2}% {{ visibility: hidden }}", percent(to)));
        writeln!(
            css,
            "@keyframes k{number} {{ 0% {{ visibility: hidden }} {:.2}% {{ visibility: visible }}{hide} }} \
             .t{number} {{ animation: k{number} {:.2}s step-end infinite }}",
            percent(from),
            end.as_secs_f64()
        )
        .expect(WRITES);
    }
    css
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::screen::Screen;

    fn frame(seconds: u64, rows: &[&str]) -> Frame {
        let style = Style { colour: None, is_bold: false, is_dim: false, is_italic: false };
        let run = |text: &str| Run { column: 0, width: 1, is_wide: false, text: text.to_owned(), style };
        let row = |text: &&str| if text.is_empty() { Row::new() } else { vec![run(text)] };
        Frame { at: Duration::from_secs(seconds), screen: Screen { rows: rows.iter().map(row).collect() } }
    }

    #[test]
    fn a_row_is_drawn_once_for_as_long_as_it_stays() {
        let frames =
            [frame(0, &["a", ""]), frame(1, &["a", "b"]), frame(2, &["a", "c"]), frame(3, &["a", "c"])];
        let shown: Vec<_> = versions(&frames)
            .iter()
            .map(|version| {
                (version.runs[0].text.clone(), version.from.as_secs(), version.to.map(|to| to.as_secs()))
            })
            .collect();
        let expected = [("a", 0, None), ("b", 1, Some(2)), ("c", 2, None)];
        assert_eq!(shown, expected.map(|(text, from, to)| (text.to_owned(), from, to)));
    }

    #[test]
    fn markup_characters_are_escaped() {
        let picture = draw(&[frame(0, &["<&>"])]);
        assert!(picture.contains("&lt;&amp;&gt;</text>"), "{picture}");
    }
}
