//! Edits that leave lines out: a line of `...` in the search and in the replacement stands for what is there.

use std::borrow::Cow;

use super::locate::{Found, Part, every_line};
use super::needle::Needle;
use super::running::{Ground, Running};
use super::{How, Policy, Reason, Rejection, Replace, Scope};

/// The places of the pieces between the dots, if the search has dots and the replacement has as many. Each
/// piece must have one place behind the one before it.
pub(super) fn locate<'s>(
    running: &mut Running<'_>,
    replace: &'s Replace,
    policy: Policy,
) -> Result<Option<Found<'s>>, Box<Rejection>> {
    let searches = pieces(&replace.search);
    let replacements = pieces(&replace.replacement);
    if searches.len() < 2 || searches.len() != replacements.len() {
        return Ok(None);
    }
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut how = How::Exact;
    let mut from = 0;
    for (search, replacement) in searches.into_iter().zip(replacements) {
        if search.is_empty() && replacement.is_empty() {
            continue;
        }
        let needle = Needle::new(search);
        let mut sites = every_line(running, &needle, policy, None, None)?.here;
        sites.retain(|site| site.ground == Ground::Untouched && site.fit.range.start >= from);
        let Some(rung) = sites.iter().map(|site| site.fit.how).min() else { return Ok(None) };
        sites.retain(|site| site.fit.how == rung);
        if sites.len() > 1 {
            return Err(Rejection::because(Reason::Ambiguous { how: rung, lines: running.starts(&sites) }));
        }
        how = how.max(rung);
        from = sites[0].fit.range.end;
        let (search, replacement) = (Cow::Borrowed(search), Cow::Borrowed(replacement));
        parts.push(Part { search, replacement, scope: Scope::Lines, sites });
    }
    Ok((!parts.is_empty()).then_some(Found { parts, how, score: 1.0, runner_up: None }))
}

/// A text cut at its lines of dots.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim() == "..." {
            pieces.push(&text[start..at]);
            start = at + line.len();
        }
        at += line.len();
    }
    pieces.push(&text[start..]);
    pieces
}
