//! Finding the one place that an edit means, or the reason why there is none.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::elision;
use super::ladder::{Fit, PLACES};
use super::lines::{Line, folded, lines};
use super::missing::missing;
use super::needle::Needle;
use super::running::{Ground, Running, Site, Sites};
use super::within;
use super::{FileEnd, How, Place, Policy, Reach, Reason, Rejection, Replace, Scope};

/// The places of one edit.
#[derive(Clone, Debug)]
pub(super) struct Found<'s> {
    pub(super) parts: Vec<Part<'s>>,
    pub(super) how: How,
    pub(super) score: f64,
    pub(super) runner_up: Option<Place>,
}

/// A search text with its places, and what comes there. An edit has several if it leaves lines out.
#[derive(Clone, Debug)]
pub(super) struct Part<'s> {
    pub(super) search: Cow<'s, str>,
    pub(super) replacement: Cow<'s, str>,
    pub(super) scope: Scope,
    pub(super) sites: Vec<Site>,
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
    policy: Policy,
    claim: &mut Claim,
) -> Result<Found<'s>, Box<Rejection>> {
    // Lines that all have line ends may be meant for a file whose last one has none.
    let same = replace.search == replace.replacement && replace.end == FileEnd::Kept;
    if same && !replace.search.is_empty() {
        return Err(Rejection::because(Reason::Identical));
    }
    if replace.search.is_empty() {
        return insertion(running, replace);
    }
    if replace.scope == Scope::Within
        && let Some(found) = within::locate(running, replace, policy)?
    {
        return Ok(found);
    }
    let (search, replacement) = match replace.scope {
        Scope::Lines => (Cow::Borrowed(&*replace.search), Cow::Borrowed(&*replace.replacement)),
        Scope::Within => within::as_lines(replace),
    };
    let needle = Needle::new(&search);
    if let Claim::Given(sites) = claim
        && let Some(site) = sites.pop_front()
        && running.touched(&site.fit.range).is_none()
    {
        let (how, score) = (site.fit.how, site.fit.score);
        let part = Part { search, replacement, scope: Scope::Lines, sites: vec![site] };
        return Ok(Found { parts: vec![part], how, score, runner_up: None });
    }

    let heading = heading(running, replace)?;
    let at_end = || lines(running.original).count().saturating_sub(needle.lines.len());
    let hint = match (replace.hint, replace.end) {
        (Some(line), _) => Some(line.saturating_sub(1)),
        (None, FileEnd::Here) => Some(at_end()),
        (None, FileEnd::Kept | FileEnd::Closed) => match heading {
            Some(Heading::Only(line)) => Some(line + 1),
            Some(Heading::FirstOf(_)) | None => None,
        },
    };
    let heading = heading.map(|(Heading::Only(line) | Heading::FirstOf(line))| line);
    let sites = every_line(running, &needle, policy, hint, heading)?;
    if let Some(how) = sites.here.iter().map(|site| site.fit.how).min() {
        let (best, others): (Vec<_>, Vec<_>) = sites.here.into_iter().partition(|site| site.fit.how == how);
        let sites = decide(running, &needle, best, replace.reach, hint, claim)?;
        let runner_up =
            others.first().map(|site| Place { lines: running.lines(site), score: site.fit.score });
        let part = Part { search, replacement, scope: Scope::Lines, sites };
        return Ok(Found { parts: vec![part], how, score: 1.0, runner_up });
    }
    if let Some(found) = elision::locate(running, replace, policy)? {
        return Ok(found);
    }
    let (site, runner_up) = missing(running, &needle, &replacement, heading, sites.lost, policy)?;
    let (how, score) = (site.fit.how, site.fit.score);
    let part = Part { search, replacement, scope: Scope::Lines, sites: vec![site] };
    Ok(Found { parts: vec![part], how, score, runner_up })
}

/// Where an edit without search text goes: into an empty file, and in a patch behind its heading or to the end.
fn insertion<'s>(running: &Running<'_>, replace: &'s Replace) -> Result<Found<'s>, Box<Rejection>> {
    let text = running.original;
    let (ground, start, line) = match (replace.end, heading(running, replace)?) {
        (FileEnd::Kept, _) if running.is_empty() => (Ground::Untouched, text.len(), 0),
        (FileEnd::Kept, _) => return Err(Rejection::because(Reason::EmptySearch)),
        (FileEnd::Closed, Some(Heading::Only(line))) => {
            let next = lines(text).nth(line).map_or(text.len(), Line::next);
            (Ground::Untouched, next, line + 1)
        }
        (FileEnd::Closed, Some(Heading::FirstOf(_))) => {
            let heading = replace.below.first().cloned().unwrap_or_default();
            return Err(Rejection::because(Reason::HeadingNotFound { heading }));
        }
        (FileEnd::Closed | FileEnd::Here, _) => {
            let (ground, end) = running.end();
            (ground, end, lines(text).count())
        }
    };
    if ground == Ground::Untouched
        && let Some(with) = running.covered(start)
    {
        return Err(Rejection::because(Reason::Overlaps { with }));
    }
    let fit = Fit { how: How::Exact, range: start..start, line, aligned: Vec::new(), score: 1.0 };
    let part = Part {
        search: Cow::Borrowed(""),
        replacement: Cow::Borrowed(&replace.replacement),
        scope: Scope::Lines,
        sites: vec![Site { ground, fit }],
    };
    Ok(Found { parts: vec![part], how: How::Exact, score: 1.0, runner_up: None })
}

/// The places below a heading where every line of a search stands, on any rung.
pub(super) fn every_line(
    running: &mut Running<'_>,
    needle: &Needle<'_>,
    policy: Policy,
    hint: Option<usize>,
    heading: Option<usize>,
) -> Result<Sites, Box<Rejection>> {
    let is_below = |site: &Site| site.ground != Ground::Untouched || Some(site.fit.line) > heading;
    let mut sites = Sites::default();
    if running.index().is_none() || needle.solid.is_empty() {
        sites = running.exact(needle, hint);
        sites.here.retain(is_below);
        if !sites.here.is_empty() || policy.loosest == How::Exact {
            return Ok(sites);
        }
    }
    running.prepare().map_err(|at| Rejection::because(Reason::NotUtf8 { at }))?;
    let loose = running.loose(needle, hint);
    sites.here = loose.here;
    sites.here.retain(|site| site.fit.how <= policy.loosest && is_below(site));
    sites.lost.extend(loose.lost);
    Ok(sites)
}

/// Which of several places on one rung is meant: the only one, the one by the hint, the one whose turn it is,
/// or all of them.
fn decide(
    running: &Running<'_>,
    needle: &Needle<'_>,
    mut sites: Vec<Site>,
    reach: Reach,
    hint: Option<usize>,
    claim: &mut Claim,
) -> Result<Vec<Site>, Box<Rejection>> {
    if reach == Reach::All {
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
    if let Some(hint) = hint {
        let mut by_distance: Vec<_> =
            sites.iter().map(|site| site.fit.line.abs_diff(hint)).enumerate().collect();
        by_distance.sort_by_key(|(_, distance)| *distance);
        if by_distance[0].1 + needle.lines.len() < by_distance[1].1 {
            return Ok(vec![sites.swap_remove(by_distance[0].0)]);
        }
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

/// The line, counted from 0, that a place stands below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heading {
    /// There is no other like it, so the place is near.
    Only(usize),
    /// There are others like it farther down.
    FirstOf(usize),
}

/// Where the innermost of the headings stands that an edit names: each is the first below the one before it.
fn heading(running: &Running<'_>, replace: &Replace) -> Result<Option<Heading>, Box<Rejection>> {
    let mut found: Option<Heading> = None;
    for heading in &replace.below {
        let wanted = folded(heading.as_bytes());
        let from = match found {
            Some(Heading::Only(line) | Heading::FirstOf(line)) => line + 1,
            None => 0,
        };
        let mut like = lines(running.original)
            .enumerate()
            .skip(from)
            .filter(|(_, line)| folded(line.body) == wanted)
            .map(|(line, _)| line);
        let Some(line) = like.next() else {
            return Err(Rejection::because(Reason::HeadingNotFound { heading: heading.clone() }));
        };
        found = match found {
            // The outermost says which of the inner ones is meant, if there is no doubt about itself.
            Some(Heading::Only(_)) => Some(Heading::Only(line)),
            None if like.next().is_none() => Some(Heading::Only(line)),
            None | Some(Heading::FirstOf(_)) => Some(Heading::FirstOf(line)),
        };
    }
    Ok(found)
}
