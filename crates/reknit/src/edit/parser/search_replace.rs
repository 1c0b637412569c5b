//! Blocks of a search text and a replacement, between lines of `<`, `=` and `>` (or `-` and `+`).
//!
//! A line is read by its place and by what it is. Families of markers may be mixed; whitespace around a marker
//! and any number of three or more characters are fine.
//!
//! | In | Line | Then |
//! | --- | --- | --- |
//! | prose | SEARCH marker | a block begins; its file is named by the line above, or by the fence above and the line above that, or is that of the block before |
//! | prose | REPLACE marker, right below another one | doubled: reported, otherwise ignored |
//! | prose | REPLACE marker, in a fence with one divider | the search text begins at the fence: reported |
//! | prose | REPLACE marker, with a divider above | problem: search without start |
//! | prose | REPLACE marker | problem: invalid transition |
//! | search | SEARCH marker, right below the first | doubled: reported, otherwise ignored |
//! | search | SEARCH marker | problem: invalid transition; a new block begins |
//! | search | `=` as often as in the SEARCH marker | the search text is over |
//! | search | REPLACE marker, with `=` of another length above | that was the divider |
//! | search | REPLACE marker | problem: missing separator |
//! | replacement | `=` as often, right below the divider | doubled: reported, otherwise ignored |
//! | replacement | `=` as often | one reading more, in which this is the divider |
//! | replacement | REPLACE marker | the edit is whole |
//! | replacement | SEARCH marker, after the fence that closes the block's | the block ended at that fence: reported; a new one begins |
//! | replacement | SEARCH marker | problem: missing replace; a new block begins |
//! | search | end of the answer | problem: incomplete |
//! | replacement | end, after the fence that closes the block's and perhaps a blank line and prose | the block ended at that fence: reported |
//! | replacement | end | problem: incomplete |
//! | any | anything else | prose, or content byte for byte; markers of a merge conflict too |
//!
//! Lines right below the SEARCH marker may say where the place is: `:start_line:12`, `:end_line:14`, and then
//! `-------`. Line numbers before all lines of a search text (`12 | code`) are taken away, from the replacement
//! too if its lines have them: reported. A backslash before a line that would be a marker is taken away.
//!
//! Malformed markers that can be nothing else are read and reported: five or more characters with the word in
//! another case or without the blank, two characters with the word exactly (`<< SEARCH`), the labels of a
//! merge conflict at both ends, and `>>>>>>>` without a word if it is as long as the first marker.

mod block;
mod numbers;

use std::mem;

use self::block::Block;
use super::fence::{Fence, Mark};
use super::lines::Line;
use super::marker::{Marker, Opening, Written};
use super::name::Heading;
use super::{Open, Parsed, Problem, ProblemKind, RepairKind};

#[derive(Clone, Debug, Default)]
pub(super) struct Reader {
    /// The block that is open.
    block: Option<Box<Block>>,
    prose: Prose,
    /// The file of the last block that named one.
    path: Option<String>,
}

/// What is known of the text outside of blocks.
#[derive(Clone, Debug, Default)]
struct Prose {
    heading: Heading,
    /// The fence that is open.
    fence: Option<Mark>,
    /// What is in it.
    inside: Inside,
    /// Whether a divider came.
    divided: bool,
    /// Whether the line above ended a block that is an edit.
    after_edit: bool,
}

/// The inside of a fence, which may be a block that lacks its first marker.
#[derive(Clone, Debug, Default)]
enum Inside {
    /// There is no fence, or a block was in it.
    #[default]
    Other,
    /// Nothing yet.
    Nothing,
    /// Lines since its beginning.
    Unstarted(Box<Block>),
}

impl Reader {
    /// Reads blocks that are for a file unless they name another.
    pub(super) fn within(path: Option<String>) -> Self {
        Self { path, ..Self::default() }
    }

    pub(super) fn open(&self) -> Option<Open<'_>> {
        let block = self.block.as_ref()?;
        Some(if block.is_divided() { Open::Replacement(&block.edit) } else { Open::Search })
    }

    pub(super) fn line(&mut self, line: Line<'_>, parsed: &mut Parsed) {
        let marker = Marker::read(line.text);
        match self.block.take() {
            None => self.outside(line, marker, parsed),
            Some(block) => self.inside(block, line, marker, parsed),
        }
    }

    pub(super) fn finish(&mut self, parsed: &mut Parsed) {
        if let Some(block) = self.block.take() {
            parsed.add(block.finish());
        }
    }

    fn outside(&mut self, line: Line<'_>, marker: Option<Marker>, parsed: &mut Parsed) {
        match marker {
            Some(Marker::Search(opening) | Marker::Conflict(opening)) => {
                let heading = mem::take(&mut self.prose.heading);
                self.begin(line, opening, heading);
            }
            Some(Marker::Replace { written }) => {
                let is_edit = self.stray_end(line, written, parsed);
                self.end(is_edit);
            }
            _ => self.prose.push(line, marker),
        }
    }

    fn inside(&mut self, mut block: Box<Block>, line: Line<'_>, marker: Option<Marker>, parsed: &mut Parsed) {
        match marker {
            Some(Marker::Search(_)) if block.is_fresh() => {
                block.edit.repaired(RepairKind::DoubledMarker, line.number);
            }
            Some(Marker::Search(opening)) => {
                let (edit, heading) = block.interrupted(line);
                parsed.add(edit);
                return self.begin(line, opening, heading);
            }
            Some(Marker::Divider { count }) if block.divider(line, count) => {}
            Some(marker) if let Some(written) = block.closed_by(marker) => {
                let is_edit = parsed.add(block.close(line, written));
                return self.end(is_edit);
            }
            _ => block.content(line, marker),
        }
        self.block = Some(block);
    }

    /// Begins a block below `heading`.
    fn begin(&mut self, line: Line<'_>, opening: Opening, heading: Heading) {
        self.path = heading.name.or(self.path.take());
        self.prose.fence = heading.fence.or(self.prose.fence);
        self.block = Some(Box::new(Block::open(line, opening, self.path.clone(), heading.fence)));
    }

    fn end(&mut self, after_edit: bool) {
        self.prose = Prose { fence: self.prose.fence, after_edit, ..Prose::default() };
    }

    /// An end marker outside of a block; whether it ends an edit all the same.
    fn stray_end(&mut self, line: Line<'_>, written: Written, parsed: &mut Parsed) -> bool {
        if self.prose.after_edit
            && let Some(edit) = parsed.edits.last_mut()
        {
            edit.repaired(RepairKind::DoubledMarker, line.number);
            return true;
        }
        if let Inside::Unstarted(mut block) = mem::take(&mut self.prose.inside)
            && block.has_one_reading()
        {
            block.edit.repaired(RepairKind::MissingMarker, block.edit.line);
            self.path = block.edit.path.take().or(self.path.take());
            block.edit.path.clone_from(&self.path);
            return parsed.add(block.close(line, written));
        }
        let kind =
            if self.prose.divided { ProblemKind::SearchWithoutStart } else { ProblemKind::InvalidTransition };
        parsed.add(Err(Problem::at(kind, line)))
    }
}

impl Prose {
    fn push(&mut self, line: Line<'_>, marker: Option<Marker>) {
        self.after_edit = false;
        if let Some(fence) = Fence::read(line.text) {
            self.fence = fence.open_after(self.fence);
            self.inside = if self.fence.is_some() { Inside::Nothing } else { Inside::Other };
            return self.heading.push(line);
        }
        let above = self.heading.name.clone();
        self.heading.push(line);
        self.divided |= matches!(marker, Some(Marker::Divider { .. }));
        match &mut self.inside {
            Inside::Unstarted(block) => block.content(line, marker),
            // The file name may be inside the fence.
            Inside::Nothing if !line.is_blank() && self.heading.fence.is_none() => {
                let mut block = Block::unstarted(line, above);
                // The line may be the marker after all, beyond recognition.
                if !line.trimmed().starts_with("<<<") {
                    block.content(line, marker);
                }
                self.inside = Inside::Unstarted(Box::new(block));
            }
            Inside::Nothing | Inside::Other => {}
        }
    }
}
