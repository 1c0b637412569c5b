//! Edits that are not for whole lines: any stretch of text, as the edit tools of agents take it.

use std::borrow::Cow;

use memchr::memmem;

use super::compose::line_end;
use super::ladder::{Fit, PLACES};
use super::lines::{begins, count, is_open};
use super::locate::{Found, Part};
use super::running::{Running, Site};
use super::{How, Policy, Reach, Reason, Rejection, Replace, Scope};

/// The places where the text stands as it is, or as it is but for the line ends.
pub(super) fn locate<'s>(
    running: &Running<'_>,
    replace: &'s Replace,
    policy: Policy,
) -> Result<Option<Found<'s>>, Box<Rejection>> {
    if replace.search.is_empty() {
        return Ok(None);
    }
    let spellings = [
        (How::Exact, Cow::Borrowed(&*replace.search)),
        (How::LineEnds, Cow::Owned(replace.search.replace("\r\n", "\n"))),
        (How::LineEnds, Cow::Owned(replace.search.replace("\r\n", "\n").replace('\n', "\r\n"))),
    ];
    for (how, search) in spellings.into_iter().filter(|(how, _)| *how <= policy.loosest) {
        let most = match replace.reach {
            Reach::One => PLACES,
            Reach::All => usize::MAX,
        };
        let find = |text: &[u8]| stretches(text, &search, how, most);
        let mut sites = running.find(find).here;
        if sites.is_empty() {
            continue;
        }
        if replace.reach == Reach::One && sites.len() > 1 {
            return Err(Rejection::because(Reason::Ambiguous { how, lines: running.starts(&sites) }));
        }
        if replace.replacement.is_empty() {
            for site in &mut sites {
                take_the_line_end(running, site);
            }
        }
        let part =
            Part { search, replacement: Cow::Borrowed(&replace.replacement), scope: Scope::Within, sites };
        return Ok(Some(Found { parts: vec![part], how, score: 1.0, runner_up: None }));
    }
    Ok(None)
}

fn stretches(text: &[u8], search: &str, how: How, most: usize) -> Vec<Fit> {
    let (mut line, mut counted) = (0, 0);
    memmem::find_iter(text, search)
        .take(most)
        .map(|start| {
            line += count(text, counted..start);
            counted = start;
            Fit { how, range: start..start + search.len(), line, aligned: Vec::new(), score: 1.0 }
        })
        .collect()
}

/// Text that is all of its lines goes with the last line's end, so that no blank line stays behind.
fn take_the_line_end(running: &Running<'_>, site: &mut Site) {
    let text = running.ground(site.ground);
    let range = &mut site.fit.range;
    let whole = begins(text, range.start) && is_open(&text[range.clone()]);
    let end = line_end(text, range.start);
    if whole && text[range.end..].starts_with(end) {
        range.end += end.len();
    }
}

/// The texts as whole lines, for the rungs that compare lines.
pub(super) fn as_lines(replace: &Replace) -> (Cow<'_, str>, Cow<'_, str>) {
    let closed = |text| Cow::Owned(format!("{text}\n"));
    let Replace { search, replacement, .. } = replace;
    match (search.ends_with('\n'), replacement.is_empty() || replacement.ends_with('\n')) {
        (true, _) => (Cow::Borrowed(search), Cow::Borrowed(replacement)),
        (false, true) if replacement.is_empty() => (closed(search), Cow::Borrowed(replacement)),
        (false, _) => (closed(search), closed(replacement)),
    }
}
