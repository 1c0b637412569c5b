//! [`Running`]: a file as the edits so far leave it.
//!
//! It is the original and a list of patches, so a match lies in untouched text or inside one patch, and the
//! original is never copied.

use std::ops::Range;

use super::index::{Index, Wanted};
use super::lines::{Line, count, is_open, line_at};
use super::needle::Needle;
use super::place::{self, Fit};
use super::{Lines, Splice};

/// A file and what was changed in it.
#[derive(Clone, Debug)]
pub(super) struct Running<'t> {
    pub(super) original: &'t [u8],
    /// What lines are looked up in the index.
    wanted: Wanted,
    /// Where they are. Only text that is UTF-8 is looked at line by line; of other the first bad byte is known.
    index: Option<Result<Index, usize>>,
    /// In the order of the file, without overlap.
    patches: Vec<Patch>,
}

/// A range of the original and what is there now.
#[derive(Clone, Debug)]
struct Patch {
    range: Range<usize>,
    text: Vec<u8>,
    /// Where the lines of searches are in it.
    index: Index,
    /// The edit that wrote it last.
    by: usize,
}

/// Where a fit lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ground {
    /// In text that no edit has touched.
    Untouched,
    /// In what this edit wrote; the patch and the edit.
    Patch { patch: usize, by: usize },
}

/// A place in the running text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Site {
    pub(super) ground: Ground,
    pub(super) fit: Fit,
}

/// A place in the original that an edit has touched since.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lost {
    pub(super) by: usize,
    pub(super) fit: Fit,
}

/// The places of a search, and those that no longer exist.
#[derive(Clone, Debug, Default)]
pub(super) struct Sites {
    pub(super) here: Vec<Site>,
    pub(super) lost: Vec<Lost>,
}

impl<'t> Running<'t> {
    pub(super) fn new(original: &'t [u8]) -> Self {
        Self { original, wanted: Wanted::default(), index: None, patches: Vec::new() }
    }

    /// Says what will be searched for, and what would come there. All that is said before the first search
    /// costs one pass over the file.
    pub(super) fn expect(&mut self, search: &Needle<'_>, replacement: &Needle<'_>) {
        if self.wanted.search(search) | self.wanted.add(replacement) {
            self.index = None;
            for patch in &mut self.patches {
                patch.index = Index::new(&patch.text, &self.wanted);
            }
        }
    }

    /// Looks up where the lines of all searches are, unless that was done. A text that is not UTF-8 is not
    /// looked at: the error is its first bad byte.
    pub(super) fn prepare(&mut self) -> Result<(), usize> {
        if self.index.is_none() {
            let utf8 = std::str::from_utf8(self.original).map_err(|error| error.valid_up_to());
            self.index = Some(utf8.map(|_| Index::with_words(self.original, &self.wanted)));
        }
        self.index.as_ref().map_or(Ok(()), |index| index.as_ref().map(|_| ()).map_err(|at| *at))
    }

    /// Where the lines of searches are in the original, if that was looked up.
    pub(super) fn index(&self) -> Option<&Index> {
        self.index.as_ref()?.as_ref().ok()
    }

    /// The places where a search occurs byte for byte.
    pub(super) fn exact(&self, needle: &Needle<'_>, hint: Option<usize>) -> Sites {
        let fits = place::exact(self.original, needle, hint);
        self.sites(fits, |patch| place::exact(&patch.text, needle, None))
    }

    /// The places where a search occurs in some form.
    pub(super) fn same(&self, needle: &Needle<'_>, hint: Option<usize>) -> Sites {
        let fits = self.index().map_or(Vec::new(), |index| place::same(self.original, index, needle, hint));
        self.sites(fits, |patch| place::same(&patch.text, &patch.index, needle, None))
    }

    /// The places that a function finds, in the original and in each patch.
    pub(super) fn find(&self, find: impl Fn(&[u8]) -> Vec<Fit>) -> Sites {
        self.sites(find(self.original), |patch| find(&patch.text))
    }

    /// Sorts fits of the original by whether they are still there, and adds those inside of patches.
    fn sites(&self, fits: Vec<Fit>, in_patch: impl Fn(&Patch) -> Vec<Fit>) -> Sites {
        let mut sites = Sites::default();
        for fit in fits {
            match self.touched(&fit.range) {
                None => sites.here.push(Site { ground: Ground::Untouched, fit }),
                Some(by) => sites.lost.push(Lost { by, fit }),
            }
        }
        for (number, patch) in self.patches.iter().enumerate() {
            let ground = Ground::Patch { patch: number, by: patch.by };
            sites.here.extend(in_patch(patch).into_iter().map(|fit| Site { ground, fit }));
        }
        sites
    }

    /// The edit that touched a range, if any did.
    pub(super) fn touched(&self, range: &Range<usize>) -> Option<usize> {
        let from = self.patches.partition_point(|patch| patch.range.end <= range.start);
        self.patches[from..].first().filter(|patch| patch.range.start < range.end).map(|patch| patch.by)
    }

    /// The edit that replaced the text on both sides of a byte, if one did.
    pub(super) fn covered(&self, at: usize) -> Option<usize> {
        let covers = |patch: &&Patch| patch.range.start < at && at < patch.range.end;
        self.patches.iter().find(covers).map(|patch| patch.by)
    }

    /// The text that a site lies in.
    pub(super) fn ground(&self, ground: Ground) -> &[u8] {
        match ground {
            Ground::Untouched => self.original,
            Ground::Patch { patch, .. } => &self.patches[patch].text,
        }
    }

    /// The lines of a site in the file as it was. Those of a patch are what it replaced.
    pub(super) fn lines(&self, site: &Site) -> Lines {
        match site.ground {
            Ground::Untouched => self.lines_of(&site.fit),
            Ground::Patch { patch, .. } => self.lines_at(&self.patches[patch].range),
        }
    }

    fn lines_at(&self, range: &Range<usize>) -> Lines {
        let first = count(self.original, 0..range.start) + 1;
        Lines { first, last: first + height(self.original, range) - 1 }
    }

    /// The first line of each site, from the top of the file down.
    pub(super) fn starts(&self, sites: &[Site]) -> Vec<usize> {
        let mut starts: Vec<_> = sites.iter().map(|site| self.lines(site).first).collect();
        starts.sort_unstable();
        starts
    }

    /// Where the text ends: inside of what an edit wrote, if that is in place of a last line without line end.
    pub(super) fn end(&self) -> (Ground, usize) {
        match self.patches.last() {
            Some(last) if last.range.end == self.original.len() && is_open(self.original) => {
                (Ground::Patch { patch: self.patches.len() - 1, by: last.by }, last.text.len())
            }
            _ => (Ground::Untouched, self.original.len()),
        }
    }

    /// The lines of a place of the original.
    pub(super) fn lines_of(&self, fit: &Fit) -> Lines {
        Lines { first: fit.line + 1, last: fit.line + height(self.original, &fit.range) }
    }

    /// All lines of the file as it was.
    pub(super) fn all_lines(&self) -> Lines {
        self.lines_at(&(0..self.original.len()))
    }

    /// Puts other bytes in the place of a site.
    pub(super) fn patch(&mut self, ground: Ground, range: Range<usize>, text: Vec<u8>, by: usize) {
        match ground {
            Ground::Untouched => {
                let at = self.patches.partition_point(|patch| patch.range.end <= range.start);
                let index = Index::new(&text, &self.wanted);
                self.patches.insert(at, Patch { range, text, index, by });
            }
            Ground::Patch { patch, .. } => {
                let patch = &mut self.patches[patch];
                patch.text.splice(range, text);
                patch.index = Index::new(&patch.text, &self.wanted);
                patch.by = by;
            }
        }
    }

    /// Puts one text in the place of everything.
    pub(super) fn overwrite(&mut self, text: Vec<u8>, by: usize) {
        let index = Index::new(&text, &self.wanted);
        self.patches = vec![Patch { range: 0..self.original.len(), text, index, by }];
    }

    pub(super) fn is_empty(&self) -> bool {
        let patched: usize = self.patches.iter().map(|patch| patch.range.len()).sum();
        patched == self.original.len() && self.patches.iter().all(|patch| patch.text.is_empty())
    }

    /// The running text around each patch, so far that a search of so many bytes that touches it lies within:
    /// the text, the place of the patch in it, and the edit that wrote it.
    pub(super) fn surroundings(&self, reach: usize) -> impl Iterator<Item = (Vec<u8>, Range<usize>, usize)> {
        self.patches.iter().enumerate().map(move |(number, patch)| {
            let before = self.before(number, reach);
            let place = before.len()..before.len() + patch.text.len();
            let mut text = before;
            text.extend_from_slice(&patch.text);
            text.extend_from_slice(&self.after(number, reach));
            (text, place, patch.by)
        })
    }

    fn before(&self, patch: usize, reach: usize) -> Vec<u8> {
        let end = self.patches[patch].range.start;
        let previous = patch.checked_sub(1).map(|previous| &self.patches[previous]);
        let start = previous.map_or(0, |previous| previous.range.end);
        if end - start <= reach {
            let mut text = previous.map_or(Vec::new(), |previous| previous.text.clone());
            text.extend_from_slice(&self.original[start..end]);
            return text;
        }
        let cut = &self.original[end - reach..end];
        let whole = line_at(cut, 0).map_or(0, Line::next);
        cut[whole..].to_vec()
    }

    fn after(&self, patch: usize, reach: usize) -> Vec<u8> {
        let start = self.patches[patch].range.end;
        let next = self.patches.get(patch + 1);
        let end = next.map_or(self.original.len(), |next| next.range.start);
        let mut text = self.original[start..end.min(start + reach)].to_vec();
        if text.len() < reach
            && let Some(next) = next
        {
            text.extend_from_slice(&next.text);
        }
        text
    }

    /// The patches that an edit wrote last.
    pub(super) fn patches_by(&self, edit: usize) -> impl Iterator<Item = (&Range<usize>, &[u8])> {
        self.patches.iter().filter(move |patch| patch.by == edit).map(|patch| (&patch.range, &*patch.text))
    }

    /// What the plan of the file is.
    pub(super) fn into_splices(self) -> Vec<Splice> {
        self.patches.into_iter().map(|patch| Splice { range: patch.range, replacement: patch.text }).collect()
    }
}

fn height(text: &[u8], range: &Range<usize>) -> usize {
    count(text, range.clone()) + usize::from(is_open(&text[range.clone()]))
}
