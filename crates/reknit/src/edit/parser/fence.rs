//! [`Fence`]: the lines of backticks or tildes around code.

use super::lines::Line;

/// A line that opens or closes a stretch of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fence<'a> {
    pub(super) mark: Mark,
    /// What follows the marks: a language, a file name.
    pub(super) info: &'a str,
}

/// The marks of a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    byte: u8,
    count: usize,
}

impl<'a> Fence<'a> {
    /// The fence that a line is.
    pub(super) fn read(line: &'a str) -> Option<Self> {
        let line = line.trim_ascii();
        let byte = *line.as_bytes().first().filter(|byte| matches!(byte, b'`' | b'~'))?;
        let count = line.bytes().take_while(|&other| other == byte).count();
        let info = line[count..].trim_ascii();
        // A line such as ```` ```x``` ```` is code within a sentence.
        (count >= 3 && !info.contains('`')).then_some(Self { mark: Mark { byte, count }, info })
    }

    /// Whether it can only open, because something follows its marks.
    pub(super) fn is_labelled(self) -> bool {
        !self.info.is_empty()
    }

    /// Whether it closes what `open` opened.
    pub(super) fn closes(self, open: Mark) -> bool {
        !self.is_labelled() && self.could_close(open)
    }

    /// Whether a line is a fence that closes what is open.
    pub(super) fn ends(line: Line<'_>, open: Option<Mark>) -> bool {
        open.is_some_and(|open| Fence::read(line.text).is_some_and(|fence| fence.closes(open)))
    }

    /// The fence that is open after it, if this one was before.
    pub(super) fn open_after(self, open: Option<Mark>) -> Option<Mark> {
        let closes = open.is_some_and(|open| self.closes(open));
        (!closes).then_some(self.mark)
    }

    /// Whether it has the marks to close what `open` opened.
    pub(super) fn could_close(self, open: Mark) -> bool {
        self.mark.byte == open.byte && self.mark.count >= open.count
    }
}
