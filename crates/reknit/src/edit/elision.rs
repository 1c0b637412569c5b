//! Edits that leave lines out: a line of `...` in the search and in the replacement stands for what is there.

use std::borrow::Cow;

use super::indentation::depth;
use super::lines::{Line, body_at, lines};
use super::locate::{Part, every_line};
use super::needle::Needle;
use super::place::Row;
use super::placeholder::is_placeholder;
use super::running::{Ground, Running};
use super::{How, Reason, Rejection, Scope};

/// The places of the pieces between the dots, if the search has dots and the replacement has as many. Each piece must
/// have one place after the one before it, inside the block that the dots are in.
///
/// Both are whole lines, also the last piece: what it puts there must not run into the next line.
pub(super) fn locate(
    running: &mut Running<'_>,
    search: &str,
    replacement: &str,
    loosest: How,
) -> Result<Option<Vec<Part<'static>>>, Box<Rejection>> {
    let (searches, dots) = pieces(search);
    let (replacements, _) = pieces(replacement);
    if searches.len() < 2 || searches.len() != replacements.len() {
        return Ok(None);
    }
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut from = 0;
    let mut until = usize::MAX;
    let mut depths = Vec::new();
    for (nth, (search, replacement)) in searches.iter().copied().zip(replacements).enumerate() {
        if search.trim_ascii().is_empty() && replacement.trim_ascii().is_empty() {
            continue;
        }
        let needle = Needle::new(search);
        let mut sites = every_line(running, &needle, loosest, None, None)?.here;
        sites.retain(|site| {
            site.ground == Ground::Untouched
                && (from..=until).contains(&site.fit.range.start)
                && is_one_block(&depths, &depths_of(running.original, &needle, &site.fit.rows))
        });
        let Some(least) = sites.iter().map(|site| site.fit.how).min() else { return Ok(None) };
        sites.retain(|site| site.fit.how == least);
        if sites.len() > 1 {
            return Err(Rejection::because(Reason::Ambiguous { how: least, lines: running.starts(&sites) }));
        }
        let own_depths = depths_of(running.original, &needle, &sites[0].fit.rows);
        from = sites[0].fit.range.end;
        let next =
            searches.get(nth + 1).and_then(|next| lines(next.as_bytes()).find(|line| !line.is_blank()));
        let next = next.map(|line| depth(line.body));
        until = end_of_dots(running.original, from, &own_depths, dots.get(nth).copied(), next);
        depths.extend(own_depths);
        let (search, replacement) = (Cow::Owned(search.to_owned()), Cow::Owned(replacement.to_owned()));
        parts.push(Part { search, replacement, scope: Scope::Lines, sites });
    }
    Ok((!parts.is_empty()).then_some(parts))
}

/// How far the lines of a piece are indented in the search and in the file.
fn depths_of(text: &[u8], needle: &Needle<'_>, rows: &[Row]) -> Vec<(usize, usize)> {
    let there = |line: usize| depth(body_at(text, rows[line].own.start));
    needle.solid.iter().map(|solid| (depth(solid.body), there(solid.line))).collect()
}

/// Whether pieces are indented otherwise in the same way: all by so much more or less, or by so many times as much. A
/// brace that is not is the end of another block.
fn is_one_block(depths: &[(usize, usize)], next: &[(usize, usize)]) -> bool {
    let all = || depths.iter().chain(next);
    let Some(most) = all().max() else { return true };
    depths.is_empty()
        || all().all(|(own, there)| own + most.1 == most.0 + there)
        || all().all(|(own, there)| own * most.1 == most.0 * there)
}

/// Where lines that are left out end: at the first line that is at or left of the one that opens their block, which
/// is before the dots. That one is found by the indentation of the dots, or else of what follows them; without it they
/// end at the first line left of all before the dots.
fn end_of_dots(
    text: &[u8],
    from: usize,
    before: &[(usize, usize)],
    dots: Option<usize>,
    next: Option<usize>,
) -> usize {
    let opener_of = |depth: usize| before.iter().rev().find(|(own, _)| *own < depth);
    let opener = dots.and_then(opener_of).or_else(|| next.and_then(opener_of));
    let shallowest = before.iter().min_by_key(|(own, _)| *own).map_or(0, |(_, there)| *there);
    let ends = |line: &Line<'_>| match opener {
        Some((_, opener)) => depth(line.body) <= *opener,
        None => depth(line.body) < shallowest,
    };
    let mut rest = lines(&text[from..]).filter(|line| !line.is_blank());
    rest.find(ends).map_or(text.len(), |line| from + line.start)
}

/// A text cut at its lines of dots, and how far those are indented.
fn pieces(text: &str) -> (Vec<&str>, Vec<usize>) {
    let (mut pieces, mut dots) = (Vec::new(), Vec::new());
    let mut start = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim() == "..." || is_placeholder(line) {
            pieces.push(&text[start..at]);
            dots.push(depth(line.as_bytes()));
            start = at + line.len();
        }
        at += line.len();
    }
    pieces.push(&text[start..]);
    (pieces, dots)
}
