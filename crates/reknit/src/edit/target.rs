//! [`Target`]: one file, to which edits are done one after another.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use memchr::memmem;

use super::compose::{Composer, line_end, with_line_ends};
use super::explain;
use super::lines::lines;
use super::locate::{Claim, Found, Part, locate};
use super::needle::Needle;
use super::running::{Ground, Running};
use super::{
    Action, Edit, FileAction, FilePlan, How, Lines, Match, Place, Policy, Reach, Reason, Rejection, Replace,
    Report, Scope,
};

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// A file, whether it is there, and what the edits so far make of it.
#[derive(Clone, Debug)]
pub(super) struct Target<'t> {
    /// Without the mark at the beginning that says that it is UTF-8.
    pub(super) running: Running<'t>,
    /// How long that mark is.
    pub(super) bom: usize,
    presence: Presence,
    policy: Policy,
    /// A hash of the texts of each edit that was done, to tell one that is repeated.
    texts: BTreeMap<usize, u64>,
}

/// Whether a file is there, before and after the edits so far.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Presence {
    Absent,
    Created,
    There,
    Moved { to: String, by: usize },
    Deleted,
}

impl<'t> Target<'t> {
    /// A file with this content, or one that does not exist.
    pub(super) fn new(content: Option<&'t [u8]>, policy: Policy) -> Self {
        let presence = if content.is_some() { Presence::There } else { Presence::Absent };
        let content = content.unwrap_or_default();
        let text = content.strip_prefix(BOM).unwrap_or(content);
        Self {
            running: Running::new(text),
            bom: content.len() - text.len(),
            presence,
            policy,
            texts: BTreeMap::new(),
        }
    }

    /// Which of the ways to read an edit fits, and where, without doing it; more than one must not.
    pub(super) fn only_fit<'s>(
        &mut self,
        readings: &'s [Replace],
    ) -> Result<(usize, Found<'s>), Box<Rejection>> {
        let mut fitting = Vec::new();
        let mut rejected = Vec::new();
        for (reading, replace) in readings.iter().enumerate() {
            let mut alone = Claim::Open { edits: 1 };
            match locate(&mut self.running, replace, self.policy, &mut alone) {
                Ok(found) => fitting.push((reading, found)),
                Err(rejection) => rejected.push(rejection),
            }
        }
        let reason = Reason::Unclear { fitting: fitting.len() };
        match fitting.pop() {
            Some(fit) if fitting.is_empty() => Ok(fit),
            None if rejected.len() == 1 => Err(rejected.remove(0)),
            _ => {
                let closest = rejected.into_iter().find_map(|rejection| rejection.closest);
                Err(Box::new(Rejection { reason, closest }))
            }
        }
    }

    /// Whether an edit that fits several places gets one of them if as many edits have its search text.
    pub(super) fn may_share(&mut self, readings: &[Replace], rejection: &Rejection) -> bool {
        let ([replace], Reason::Ambiguous { lines, .. }) = (readings, &rejection.reason) else {
            return false;
        };
        let mut claim = Claim::Open { edits: lines.len() };
        locate(&mut self.running, replace, self.policy, &mut claim).is_ok()
    }

    /// Does what an edit asks. Edits that have the same search text share a claim.
    pub(super) fn act(
        &mut self,
        index: usize,
        edit: &Edit,
        claim: &mut Claim,
    ) -> Result<Match, Box<Rejection>> {
        if let Presence::Moved { to, by } = &self.presence {
            return Err(Rejection::because(Reason::MovedAway { by: *by, to: to.clone() }));
        }
        let is_there = !matches!(self.presence, Presence::Absent | Presence::Deleted);
        let starts_a_file =
            |replace: &Replace| replace.search.is_empty() && self.presence == Presence::Absent;
        match &edit.action {
            Action::Write { content } => {
                let content = match self.uniform_line_end() {
                    Some(end) => with_line_ends(content, end),
                    None => content.clone().into_bytes(),
                };
                self.running.overwrite(content, index);
                if !is_there {
                    self.presence = Presence::Created;
                }
                Ok(self.everything())
            }
            Action::Replace(replace) if starts_a_file(replace) => {
                self.running.overwrite(replace.replacement.clone().into_bytes(), index);
                self.presence = Presence::Created;
                Ok(self.everything())
            }
            _ if !is_there => Err(Rejection::because(Reason::NoFile)),
            Action::Delete => {
                self.presence = Presence::Deleted;
                Ok(self.everything())
            }
            Action::Move { to } => {
                self.presence = Presence::Moved { to: to.clone(), by: index };
                Ok(self.everything())
            }
            Action::Replace(replace) => {
                let found = locate(&mut self.running, replace, self.policy, claim)?;
                self.check_repeated(replace, &found)?;
                let found = write(&mut self.running, index, replace, found)?;
                self.texts.insert(index, hash_of(replace));
                Ok(found)
            }
            Action::Undecided(readings) => {
                let (reading, found) = self.only_fit(readings)?;
                write(&mut self.running, index, &readings[reading], found)
            }
        }
    }

    /// The line end of all lines of the file, if it has lines and they agree.
    pub(super) fn uniform_line_end(&self) -> Option<&'static [u8]> {
        let text = self.running.original;
        let end = line_end(text, 0);
        let agree = lines(text).all(|line| line.end == end || line.end.is_empty());
        (!text.is_empty() && agree).then_some(end)
    }

    /// What becomes of the file.
    pub(super) fn into_plan(self, path: &str, reports: Vec<Report>) -> FilePlan {
        let mut splices = self.running.into_splices();
        for splice in &mut splices {
            splice.range.start += self.bom;
            splice.range.end += self.bom;
        }
        let action = match self.presence {
            Presence::Created => FileAction::Create,
            Presence::Absent => FileAction::Missing,
            Presence::There => FileAction::Update,
            Presence::Moved { to, .. } => FileAction::Move { to },
            Presence::Deleted => FileAction::Delete,
        };
        FilePlan { path: path.to_owned(), action, splices, reports }
    }

    /// Refuses an edit that would be done to what the very same edit wrote before.
    fn check_repeated(&self, replace: &Replace, found: &Found<'_>) -> Result<(), Box<Rejection>> {
        for site in found.parts.iter().flat_map(|part| &part.sites) {
            if let Ground::Patch { by, .. } = site.ground
                && self.texts.get(&by) == Some(&hash_of(replace))
            {
                let lines = self.running.lines(site);
                return Err(Rejection::because(Reason::AlreadyApplied { lines }));
            }
        }
        Ok(())
    }

    fn everything(&self) -> Match {
        let lines = vec![self.running.all_lines()];
        Match { how: How::Exact, lines, score: 1.0, runner_up: None, inside: None }
    }
}

fn hash_of(replace: &Replace) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&replace.search, &replace.replacement).hash(&mut hasher);
    hasher.finish()
}

/// Whether a replacement that keeps all that it replaces, and adds to it, stands around the place already.
fn stands_around(text: &[u8], range: &Range<usize>, replacement: &[u8]) -> bool {
    let kept = &text[range.clone()];
    let adds = replacement.len() > kept.len() && !kept.is_empty();
    adds && memmem::find_iter(replacement, kept).any(|offset| {
        let rest = [&replacement[..offset], &replacement[offset + kept.len()..]];
        let start = range.start.checked_sub(offset);
        let there = start.and_then(|start| text.get(start..start + replacement.len()));
        rest.iter().any(|added| !added.trim_ascii().is_empty()) && there == Some(replacement)
    })
}

/// Puts what was found into the running text.
fn write(
    running: &mut Running<'_>,
    index: usize,
    replace: &Replace,
    found: Found<'_>,
) -> Result<Match, Box<Rejection>> {
    let Found { parts, how, score, runner_up } = found;
    let mut places = Vec::new();
    let mut inside = None;
    let mut patches = Vec::new();
    for Part { search, replacement, scope, sites } in parts {
        let needle = Needle::new(&search);
        for site in sites {
            let text = running.ground(site.ground);
            let bytes = match scope {
                Scope::Within => with_line_ends(&replacement, line_end(text, site.fit.range.start)),
                Scope::Lines => {
                    let mut composer = Composer::new(text, &needle, &site.fit, replace.end);
                    lines(replacement.as_bytes()).for_each(|line| composer.line(line));
                    composer.finish().ok_or_else(|| {
                        let place = Place { lines: running.lines(&site), score: site.fit.score };
                        let closest = Some(explain::closest(text, &needle, &site.fit, place));
                        Box::new(Rejection { reason: Reason::Stale, closest })
                    })?
                }
            };
            places.push(running.lines(&site));
            if let Ground::Patch { by, .. } = site.ground {
                inside = Some(by);
            }
            patches.push((site.ground, site.fit.range, bytes));
        }
    }
    let is_there = |(ground, range, bytes): &(Ground, Range<usize>, Vec<u8>)| {
        let text = running.ground(*ground);
        text[range.clone()] == **bytes || stands_around(text, range, bytes)
    };
    if let (true, [lines, ..]) = (patches.iter().all(is_there), &*places) {
        let identical = replace.search == replace.replacement;
        let already = Reason::AlreadyApplied { lines: *lines };
        return Err(Rejection::because(if identical { Reason::Identical } else { already }));
    }
    // From the last to the first, so that the places in one patch stay where they are.
    for (ground, range, bytes) in patches.into_iter().rev() {
        running.patch(ground, range, &bytes, index);
    }
    places.sort_unstable();
    if replace.reach == Reach::One
        && let (Some(first), Some(last)) = (places.first(), places.last())
    {
        places = vec![Lines { first: first.first, last: last.last }];
    }
    Ok(Match { how, lines: places, score, runner_up, inside })
}
