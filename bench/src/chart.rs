//! The chart for the README: what it costs to look at a growing argument, next to parsers that start over.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::measure::Measured;

const SIZE: (u32, u32) = (960, 420);

/// Grey that can be read on white and on black.
const INK: RGBColor = RGBColor(125, 133, 144);

/// Who is drawn, under which name, in which colour, and how thick; the colours too can be read on both.
const LINES: [(&str, &str, RGBColor, u32); 4] = [
    ("reknit", "reknit", RGBColor(45, 164, 78), 4),
    ("jiter", "jiter (Rust)", RGBColor(191, 135, 0), 2),
    ("partial-json", "partial-json (npm)", RGBColor(56, 139, 253), 2),
    ("ai", "Vercel AI SDK (npm)", RGBColor(229, 83, 75), 2),
];

/// How far apart the names at the ends of two lines are.
const APART: i32 = 20;

/// Draws the rows of one shape of argument.
pub(crate) fn draw(shape: &str, rows: &[Measured]) -> Result<PathBuf> {
    let prefix = format!("{shape}, ");
    let rows: Vec<_> = rows.iter().filter(|row| row.name.starts_with(&prefix)).collect();
    ensure!(rows.len() > 1, "there is nothing to draw");
    let mut svg = String::new();
    plot(shape, &rows, &mut svg).ok().context("the chart could not be drawn")?;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/img/bench.svg");
    fs::create_dir_all(path.parent().unwrap_or(&path))
        .and_then(|()| fs::write(&path, svg))
        .with_context(|| format!("`{}` could not be written", path.display()))?;
    Ok(path)
}

/// The seconds that one took for a whole argument.
struct Point {
    size: f64,
    time: f64,
    /// Estimated from a sample.
    sampled: bool,
}

/// The times of one, by the size of the argument.
fn points(rows: &[&Measured], name: &str) -> Vec<Point> {
    let point = |row: &&Measured| {
        let entry = row.entry(name)?;
        let time = entry.times.median().as_secs_f64();
        Some(Point { size: row.size as f64, time, sampled: entry.sample.is_some() })
    };
    rows.iter().filter_map(point).collect()
}

type Drawn = Result<(), Box<dyn std::error::Error>>;

fn plot(shape: &str, rows: &[&Measured], svg: &mut String) -> Drawn {
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    let words = |size: u32| ("sans-serif", size).into_font().color(&INK);
    let all: Vec<_> = LINES.iter().flat_map(|(name, ..)| points(rows, name)).collect();
    let most = |of: fn(&Point) -> f64| all.iter().map(of).fold(0.0, f64::max);
    let least = |of: fn(&Point) -> f64| all.iter().map(of).fold(f64::INFINITY, f64::min);
    let title = format!("Time to read a growing tool argument ({shape}), looking at it after every 16 bytes");
    let mut chart = ChartBuilder::on(&root)
        .caption(title, words(19))
        .margin(12)
        .margin_right(230)
        .x_label_area_size(46)
        .y_label_area_size(86)
        .build_cartesian_2d(
            // From one power of ten to another: only these have labels.
            (floor_to_power(least(|point| point.size))..ceil_to_power(most(|point| point.size))).log_scale(),
            (least(|point| point.time) / 2.0..most(|point| point.time) * 2.0).log_scale(),
        )?;
    chart
        .configure_mesh()
        .axis_style(INK)
        .bold_line_style(INK.mix(0.25))
        .light_line_style(TRANSPARENT)
        .label_style(words(15))
        .axis_desc_style(words(15))
        .x_desc("size of the argument (hollow points: estimated from a sample)")
        .y_desc("total time")
        .x_label_formatter(&|size| bytes(*size))
        .y_label_formatter(&|time| seconds(*time))
        .draw()?;
    let mut labels = Vec::new();
    for (name, full_name, color, width) in LINES {
        let points = points(rows, name);
        let line = points.iter().map(|point| (point.size, point.time));
        chart.draw_series(LineSeries::new(line, color.stroke_width(width)))?;
        // A hollow point was estimated from a sample.
        chart.draw_series(points.iter().map(|point| {
            let style = if point.sampled { color.stroke_width(width) } else { color.filled() };
            Circle::new((point.size, point.time), width + 1, style)
        }))?;
        if let Some(last) = points.last() {
            let (x, y) = chart.backend_coord(&(last.size, last.time));
            labels.push((y, x, format!("{full_name}, {}", seconds(last.time)), color));
        }
    }
    labels.sort_unstable_by_key(|(y, ..)| *y);
    let mut above = i32::MIN;
    for (y, x, label, color) in labels {
        let y = y.max(above.saturating_add(APART));
        above = y;
        let style = words(16).color(&color).pos(Pos::new(HPos::Left, VPos::Center));
        root.draw(&Text::new(label, (x + 12, y), style))?;
    }
    root.present()?;
    Ok(())
}

fn floor_to_power(value: f64) -> f64 {
    10_f64.powf(value.log10().floor())
}

fn ceil_to_power(value: f64) -> f64 {
    10_f64.powf(value.log10().ceil())
}

fn bytes(size: f64) -> String {
    if size < 1e6 { format!("{:.0} KB", size / 1e3) } else { format!("{:.0} MB", size / 1e6) }
}

fn seconds(time: f64) -> String {
    match time {
        time if time >= 5_400.0 => format!("{:.1} h", time / 3_600.0),
        time if time >= 120.0 => format!("{:.0} min", time / 60.0),
        time if time >= 1.0 => format!("{time:.0} s"),
        time if time >= 1e-3 => format!("{:.0} ms", time * 1e3),
        time => format!("{:.0} µs", time * 1e6),
    }
}
