//! [`Target`]: one file, to which edits are done one after another.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use memchr::memmem;

use super::closest::Compared;
use super::compose::{compose, line_end, write_lines};
use super::lines::lines;
use super::locate::{Claim, Part, locate};
use super::near::Near;
use super::needle::Needle;
use super::placeholder;
use super::running::{Ground, Running};
use super::{
    Action, Edit, FileAction, FilePlan, How, Lines, Match, Note, Reason, Rejection, Replace, Report, Scope,
};

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// A file, whether it is there, and what the edits so far make of it.
#[derive(Clone, Debug)]
pub(super) struct Target<'t> {
    /// Without the mark at the beginning that says that it is UTF-8.
    pub(super) running: Running<'t>,
    /// How long that mark is.
    pub(super) bom: usize,
    /// What is done to it so far.
    action: FileAction,
    /// The edit that moved it, if it was moved.
    moved_by: usize,
    loosest: How,
    /// A hash of the texts of each edit that was done, to recognise one that is repeated.
    texts: BTreeMap<usize, u64>,
}

impl<'t> Target<'t> {
    /// A file with this content, or one that does not exist.
    pub(super) fn new(content: Option<&'t [u8]>, loosest: How) -> Self {
        let action = if content.is_some() { FileAction::Update } else { FileAction::Missing };
        let content = content.unwrap_or_default();
        let text = content.strip_prefix(BOM).unwrap_or(content);
        Self {
            running: Running::new(text),
            bom: content.len() - text.len(),
            action,
            moved_by: 0,
            loosest,
            texts: BTreeMap::new(),
        }
    }

    /// Says what will be searched for. It costs least if that is said of all edits before the first one is done.
    pub(super) fn expect(&mut self, edit: &Edit) {
        for replace in edit.readings() {
            self.running.expect(&Needle::new(&replace.search), &Needle::new(&replace.replacement));
        }
    }

    /// Which of the ways to read an edit fits, and what it does, without doing it; more than one must not.
    ///
    /// One that puts a line like a divider into the file gives way to one that does not, and one with a repaired
    /// marker to one without.
    fn only_fit(
        &mut self,
        readings: &[Replace],
        claim: &mut Claim,
    ) -> Result<(usize, Prepared), Box<Rejection>> {
        if let [only] = readings {
            let prepared = self.prepare(only, claim)?;
            return if only.stray {
                Err(Rejection::because(Reason::Unclear { fitting: 1 }))
            } else {
                Ok((0, prepared))
            };
        }
        let mut fitting = Vec::new();
        let mut rejected = Vec::new();
        for (reading, replace) in readings.iter().enumerate() {
            match self.prepare(replace, &mut Claim::Open { edits: 1 }) {
                Ok(prepared) => fitting.push((reading, prepared)),
                Err(rejection) => rejected.push(rejection),
            }
        }
        for is_worse in [Replace::adds_divider, Replace::is_repaired] {
            if fitting.iter().any(|(reading, _)| !is_worse(&readings[*reading])) {
                fitting.retain(|(reading, _)| !is_worse(&readings[*reading]));
            }
        }
        let reason = Reason::Unclear { fitting: fitting.len() };
        match fitting.pop() {
            Some((reading, prepared)) if fitting.is_empty() && !readings[reading].stray => {
                Ok((reading, prepared))
            }
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
        locate(&mut self.running, replace, self.loosest, &mut claim).is_ok()
    }

    /// Does what an edit asks. Edits that have the same search text share a claim.
    pub(super) fn act(
        &mut self,
        index: usize,
        edit: &Edit,
        claim: &mut Claim,
    ) -> Result<Match, Box<Rejection>> {
        if let FileAction::Move { to } = &self.action {
            return Err(Rejection::because(Reason::MovedAway { by: self.moved_by, to: to.clone() }));
        }
        let is_there = !matches!(self.action, FileAction::Missing | FileAction::Delete);
        match &edit.action {
            Action::Write { content } => {
                if is_there {
                    self.check_placeholder(content)?;
                }
                let mut written = Vec::with_capacity(content.len());
                write_lines(&mut written, content, self.uniform_line_end());
                self.running.overwrite(written, index);
                if !is_there {
                    self.action = FileAction::Create;
                }
                Ok(self.everything())
            }
            Action::Replace(replace) if self.action == FileAction::Missing && replace.search.is_empty() => {
                self.running.overwrite(replace.replacement.clone().into_bytes(), index);
                self.action = FileAction::Create;
                Ok(self.everything())
            }
            _ if !is_there => Err(Rejection::because(Reason::NoFile)),
            Action::Delete => {
                self.action = FileAction::Delete;
                Ok(self.everything())
            }
            Action::Move { to } => {
                self.action = FileAction::Move { to: to.clone() };
                self.moved_by = index;
                Ok(self.everything())
            }
            Action::Replace(_) | Action::Undecided(_) => {
                let readings = edit.readings();
                let (reading, prepared) = self.only_fit(readings, claim)?;
                self.check_repeated(&readings[reading], &prepared)?;
                let found = self.write(index, &readings[reading], prepared);
                self.texts.insert(index, hash_of(&readings[reading]));
                Ok(found)
            }
        }
    }

    /// Refuses a content that has a comment in place of lines which the file has.
    fn check_placeholder(&self, content: &str) -> Result<(), Box<Rejection>> {
        let text = self.running.original;
        let comes: Vec<_> = lines(content.as_bytes()).collect();
        match placeholder::find(&comes, &Needle::new(""), text) {
            Some(line) if !text.trim_ascii().is_empty() => {
                Err(Rejection::because(Reason::Placeholder { line }))
            }
            _ => Ok(()),
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
        FilePlan { path: path.to_owned(), action: self.action, splices, reports }
    }

    /// Refuses an edit that would be done to what the very same edit wrote before.
    fn check_repeated(&self, replace: &Replace, prepared: &Prepared) -> Result<(), Box<Rejection>> {
        for patch in &prepared.patches {
            if let Ground::Patch { by, .. } = patch.ground
                && self.texts.get(&by) == Some(&hash_of(replace))
            {
                return Err(Rejection::because(Reason::AlreadyApplied { lines: patch.lines }));
            }
        }
        Ok(())
    }

    /// Finds the place of an edit, and what is written there.
    fn prepare(&mut self, replace: &Replace, claim: &mut Claim) -> Result<Prepared, Box<Rejection>> {
        let parts = locate(&mut self.running, replace, self.loosest, claim)?;
        let sites = parts.iter().flat_map(|part| &part.sites);
        let how = sites.map(|site| site.fit.how).max().unwrap_or(How::Exact);
        let running = &self.running;
        let mut prepared = Prepared { how, patches: Vec::new(), notes: Vec::new() };
        prepared.notes.extend(replace.doubled.map(|line| Note::DoubledDivider { line }));
        for Part { search, replacement, scope, sites } in parts {
            let needle = Needle::new(&search);
            for site in sites {
                let text = running.ground(site.ground);
                let lines = running.lines(&site);
                let bytes = match scope {
                    Scope::Within | Scope::Everywhere => {
                        let mut bytes = Vec::with_capacity(replacement.len());
                        write_lines(&mut bytes, &replacement, Some(line_end(text, site.fit.range.start)));
                        bytes
                    }
                    Scope::Lines => {
                        let composed = compose(text, &needle, &site.fit, &replacement, replace.end);
                        let composed = composed.map_err(|refusal| {
                            let near = Near::whole(&needle, site.fit.clone());
                            Compared { text, needle: &needle, near: &near, lines }.refused(refusal)
                        })?;
                        prepared.notes.extend(composed.notes);
                        composed.bytes
                    }
                };
                prepared.patches.push(Patch { ground: site.ground, range: site.fit.range, bytes, lines });
            }
        }
        let is_there = |patch: &Patch| {
            let text = running.ground(patch.ground);
            text[patch.range.clone()] == *patch.bytes || is_around(text, &patch.range, &patch.bytes)
        };
        if let (true, Some(first)) = (prepared.patches.iter().all(is_there), prepared.patches.first()) {
            let identical = replace.search == replace.replacement;
            let already = Reason::AlreadyApplied { lines: first.lines };
            return Err(Rejection::because(if identical { Reason::Identical } else { already }));
        }
        Ok(prepared)
    }

    /// Puts what was prepared into the running text.
    fn write(&mut self, index: usize, replace: &Replace, prepared: Prepared) -> Match {
        let Prepared { how, patches, notes } = prepared;
        let mut lines: Vec<_> = patches.iter().map(|patch| patch.lines).collect();
        let inside = patches.iter().rev().find_map(|patch| match patch.ground {
            Ground::Patch { by, .. } => Some(by),
            Ground::Untouched => None,
        });
        // From the last to the first, so that the places in one patch stay where they are.
        for patch in patches.into_iter().rev() {
            self.running.patch(patch.ground, patch.range, patch.bytes, index);
        }
        lines.sort_unstable();
        if replace.scope != Scope::Everywhere
            && let (Some(first), Some(last)) = (lines.first(), lines.last())
        {
            lines = vec![Lines { first: first.first, last: last.last }];
        }
        Match { how, lines, inside, notes }
    }

    fn everything(&self) -> Match {
        let lines = vec![self.running.all_lines()];
        Match { how: How::Exact, lines, inside: None, notes: Vec::new() }
    }
}

fn hash_of(replace: &Replace) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&replace.search, &replace.replacement).hash(&mut hasher);
    hasher.finish()
}

/// What an edit does.
struct Prepared {
    how: How,
    patches: Vec<Patch>,
    notes: Vec<Note>,
}

/// Bytes for one place.
struct Patch {
    ground: Ground,
    range: Range<usize>,
    bytes: Vec<u8>,
    lines: Lines,
}

/// Whether a replacement that keeps all that it replaces, and adds to it, is around the place already.
fn is_around(text: &[u8], range: &Range<usize>, replacement: &[u8]) -> bool {
    let kept = &text[range.clone()];
    let adds = replacement.len() > kept.len() && !kept.is_empty();
    adds && memmem::find_iter(replacement, kept).any(|offset| {
        let rest = [&replacement[..offset], &replacement[offset + kept.len()..]];
        let start = range.start.checked_sub(offset);
        let there = start.and_then(|start| text.get(start..start + replacement.len()));
        rest.iter().any(|added| !added.trim_ascii().is_empty()) && there == Some(replacement)
    })
}
