//! Finding the one place that an edit means, or the reason why there is none.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::elision;
use super::hint::{Block, Hint, blocks};
use super::lines::{count, is_open, lines};
use super::missing::Missing;
use super::needle::Needle;
use super::place::{Fit, PLACES};
use super::running::{Ground, Running, Site, Sites};
use super::within;
use super::{FileEnd, How, Reason, Rejection, Replace, Scope};

/// A search text with its places, and what comes there. An edit has several if it leaves lines out.
#[derive(Clone, Debug)]
pub(super) struct Part<'s> {
    pub(super) search: Cow<'s, str>,
    pub(super) replacement: Cow<'s, str>,
    pub(super) scope: Scope,
    pub(super) sites: Vec<Site>,
}

impl<'s> Part<'s> {
    /// The only part of an edit of whole lines.
    fn only(search: Cow<'s, str>, replacement: Cow<'s, str>, sites: Vec<Site>) -> Vec<Self> {
        vec![Self { search, replacement, scope: Scope::Lines, sites }]
    }
}

/// What edits that have the same search text share: as many places are given to them, the first to the first.
#[derive(Clone, Debug)]
pub(super) enum Claim {
    /// So many edits have this search text.
    Open { edits: usize },
    /// There are as many places. These are left.
    Given(VecDeque<Site>),
}

impl Claim {
    /// One more edit has this search text.
    pub(super) fn add_edit(&mut self) {
        if let Self::Open { edits } = self {
            *edits += 1;
        }
    }
}

/// Finds the place of an edit, or all of them if it is for all.
pub(super) fn locate<'s>(
    running: &mut Running<'_>,
    replace: &'s Replace,
    loosest: How,
    claim: &mut Claim,
) -> Result<Vec<Part<'s>>, Box<Rejection>> {
    // Lines that all have line ends may be meant for a file whose last one has none.
    let same = replace.search == replace.replacement && replace.end == FileEnd::Kept;
    if same && !replace.search.is_empty() {
        return Err(Rejection::because(Reason::Identical));
    }
    let below = match &*replace.below {
        [] => None,
        headings => Some(blocks(running.original, headings).map_err(Rejection::because)?),
    };
    if replace.search.is_empty() {
        return insertion(running, replace, below.as_deref());
    }
    if replace.scope != Scope::Lines
        && let Some(found) = within::locate(running, replace, loosest)?
    {
        return Ok(found);
    }
    let (search, replacement) = match replace.scope {
        Scope::Lines => (Cow::Borrowed(&*replace.search), Cow::Borrowed(&*replace.replacement)),
        Scope::Within | Scope::Everywhere => within::as_lines(replace),
    };
    let needle = Needle::new(&search);
    if let Claim::Given(sites) = claim
        && let Some(site) = sites.pop_front()
        && running.touched(&site.fit.range).is_none()
    {
        return Ok(Part::only(search, replacement, vec![site]));
    }

    let hint = match (replace.hint, replace.end) {
        (Some(line), _) => Some(Hint::Line(line.saturating_sub(1))),
        (None, FileEnd::Here) => Some(Hint::End),
        (None, _) => None,
    };
    let sites = every_line(running, &needle, loosest, hint, below.as_deref())?;
    if let Some(how) = sites.here.iter().map(|site| site.fit.how).min() {
        let best: Vec<_> = sites.here.into_iter().filter(|site| is_as_good(site.fit.how, how)).collect();
        let sites = decide(running, &needle, best, replace.scope, hint, claim)?;
        return Ok(Part::only(search, replacement, sites));
    }
    if let Some(found) = elision::locate(running, &search, &replacement, loosest)? {
        return Ok(found);
    }
    let edit =
        Missing { needle: &needle, replacement: &replacement, end: replace.end, below: below.as_deref() };
    let site = edit.find(running, sites.lost, loosest)?;
    Ok(Part::only(search, replacement, vec![site]))
}

/// Whether a place is as good as the best one. What is there as it is wins over what differs in whitespace or
/// look-alikes, and that over what differs in indentation or blank lines; among those nothing decides.
fn is_as_good(how: How, best: How) -> bool {
    let class = |how| match how {
        How::Exact => 0,
        How::LineEnds => 1,
        How::TrailingWhitespace | How::LookAlikes => 2,
        How::Indentation | How::BlankLines | How::LineBreaks | How::Context => 3,
    };
    class(how) == class(best)
}

/// Where an edit without search text goes: into an empty file, and in a patch after its heading or to the end.
fn insertion<'s>(
    running: &Running<'_>,
    replace: &'s Replace,
    below: Option<&[Block]>,
) -> Result<Vec<Part<'s>>, Box<Rejection>> {
    let text = running.original;
    let (ground, start) = match (replace.end, below) {
        (FileEnd::Kept | FileEnd::Open, _) if running.is_empty() => (Ground::Untouched, text.len()),
        (FileEnd::Kept | FileEnd::Open, _) => return Err(Rejection::because(Reason::EmptySearch)),
        (FileEnd::Closed, Some([only])) => (Ground::Untouched, only.first),
        (FileEnd::Closed, Some(_)) => {
            let heading = replace.below.first().cloned().unwrap_or_default();
            return Err(Rejection::because(Reason::HeadingNotFound { heading }));
        }
        (FileEnd::Closed | FileEnd::Here, _) => running.end(),
    };
    if ground == Ground::Untouched
        && let Some(with) = running.covered(start)
    {
        return Err(Rejection::because(Reason::Overlaps { with }));
    }
    let line = match ground {
        Ground::Untouched => count(text, 0..start) + usize::from(start == text.len() && is_open(text)),
        Ground::Patch { .. } => lines(text).count(),
    };
    let fit = Fit { how: How::Exact, range: start..start, line, rows: Vec::new() };
    let replacement = Cow::Borrowed(&*replace.replacement);
    Ok(Part::only(Cow::Borrowed(""), replacement, vec![Site { ground, fit }]))
}

/// The places that have every line of a search, inside the block of a heading.
pub(super) fn every_line(
    running: &mut Running<'_>,
    needle: &Needle<'_>,
    loosest: How,
    hint: Option<Hint>,
    below: Option<&[Block]>,
) -> Result<Sites, Box<Rejection>> {
    let is_below = |site: &Site| site.ground != Ground::Untouched || is_inside(below, &site.fit);
    let line = hint.map(|hint| match hint {
        Hint::Line(line) => line,
        Hint::End => usize::MAX,
    });
    let mut sites = Sites::default();
    if running.index().is_none() || needle.solid.is_empty() {
        sites = running.exact(needle, line);
        sites.here.retain(is_below);
        if !sites.here.is_empty() || loosest == How::Exact {
            return Ok(sites);
        }
    }
    running.prepare().map_err(|at| Rejection::because(Reason::NotUtf8 { at }))?;
    let same = running.same(needle, line);
    sites.here = same.here;
    sites.here.retain(|site| site.fit.how <= loosest && is_below(site));
    sites.lost.extend(same.lost);
    Ok(sites)
}

/// Whether a place is inside one of these blocks.
pub(super) fn is_inside(below: Option<&[Block]>, fit: &Fit) -> bool {
    below.is_none_or(|blocks| {
        blocks.iter().any(|block| block.range.start <= fit.range.start && fit.range.end <= block.range.end)
    })
}

/// Which of several places is meant: the only one, the one by the hint, the one whose turn it is, or all of them.
fn decide(
    running: &Running<'_>,
    needle: &Needle<'_>,
    mut sites: Vec<Site>,
    scope: Scope,
    hint: Option<Hint>,
    claim: &mut Claim,
) -> Result<Vec<Site>, Box<Rejection>> {
    if scope == Scope::Everywhere {
        let mut end = 0;
        sites.retain(|site| {
            let free = site.ground != Ground::Untouched || site.fit.range.start >= end;
            if free {
                end = site.fit.range.end;
            }
            free
        });
        return Ok(sites);
    }
    if sites.len() == 1 {
        return Ok(sites);
    }
    if let Some(meant) = hint.and_then(|hint| hint.decide(running.original, &sites, needle.lines.len())) {
        return Ok(vec![sites.swap_remove(meant)]);
    }
    if let Claim::Open { edits } = claim
        && *edits == sites.len()
        && sites.len() < PLACES
        && sites.iter().all(|site| site.ground == Ground::Untouched)
    {
        let mut sites = VecDeque::from(sites);
        let first = sites.pop_front();
        *claim = Claim::Given(sites);
        return Ok(first.into_iter().collect());
    }
    Err(Rejection::because(Reason::Ambiguous { how: sites[0].fit.how, lines: running.starts(&sites) }))
}

/// The one place of an edit whose search text is there as it is, whatever comes there.
pub(super) fn literal(running: &mut Running<'_>, replace: &Replace) -> Option<Site> {
    if replace.search.is_empty() || !replace.below.is_empty() || replace.hint.is_some() {
        return None;
    }
    let loosest = How::LineEnds;
    let sites = if replace.scope == Scope::Lines {
        every_line(running, &Needle::new(&replace.search), loosest, None, None).ok()?.here
    } else {
        within::locate(running, replace, loosest).ok()??.pop()?.sites
    };
    <[Site; 1]>::try_from(sites).ok().map(|[site]| site)
}
