//! [`Fields`]: the arguments of a call, field by field, each as an excerpt that grows.

use unicode_width::UnicodeWidthStr;

use super::numbers::bytes;
use super::page::{Page, Wrap};
use super::safe::{Sanitizer, name};
use super::style::Style;

/// The fields of one call.
#[derive(Default)]
pub(super) struct Fields {
    field: Field,
    count: usize,
}

/// The field that grows.
#[derive(Default)]
enum Field {
    #[default]
    None,
    /// Short so far: it is written next to its name if it stays so, and below it otherwise.
    Short { field: Named, value: String },
    /// Below its name.
    Long { field: Named, lines: usize, room: usize, tail: Tail },
    /// Beyond the number of fields that are shown.
    Omitted { path: String },
}

struct Named {
    path: String,
    sanitizer: Sanitizer,
    /// The size of the value so far.
    bytes: usize,
    line_ends: usize,
    ends_with_line: bool,
}

/// How a value below its name goes on.
#[derive(PartialEq)]
enum Tail {
    Inside,
    /// A line ended; another row is begun when something follows.
    LineEnd,
    /// Enough was shown.
    Elided,
}

/// How many lines of a value are shown, and how many rows all of them may fill at most.
const MAX_LINES: usize = 8;

/// How many fields of a call are shown.
const MAX_FIELDS: usize = 32;

const INDENT: &str = "  ";
const GUTTER: &str = "  │ ";

impl Fields {
    /// A text grew, or begins if it did not yet.
    pub(super) fn grew(&mut self, page: &mut Page, path: &str, piece: &str) {
        if self.field.path() != Some(path) {
            self.open(page, path);
        }
        if let Field::Short { field, .. } | Field::Long { field, .. } = &mut self.field {
            field.bytes += piece.len();
            field.line_ends += piece.matches('\n').count();
            field.ends_with_line =
                piece.chars().next_back().map_or(field.ends_with_line, |last| last == '\n');
            let mut shown = Vec::new();
            piece.chars().for_each(|char| field.sanitizer.push(char, |char| shown.push(char)));
            shown.into_iter().for_each(|char| self.push(page, char));
        }
    }

    /// A field that is there at once.
    pub(super) fn set(&mut self, page: &mut Page, path: &str, value: &str) {
        self.open(page, path);
        if !matches!(self.field, Field::Omitted { .. }) {
            page.put_str(Style::Code, &format!(" {}", name(value)));
            page.fresh_line();
        }
        self.field = Field::None;
    }

    /// The field that grows is over.
    pub(super) fn close(&mut self, page: &mut Page) {
        if let Field::Short { field, .. } | Field::Long { field, .. } = &mut self.field {
            let mut last = None;
            field.sanitizer.finish(|char| last = Some(char));
            last.into_iter().for_each(|char| self.push(page, char));
        }
        match std::mem::take(&mut self.field) {
            Field::None | Field::Omitted { .. } => {}
            Field::Short { value, .. } => {
                if value.is_empty() {
                    page.put_str(Style::Quiet, " \"\"");
                } else {
                    page.put_str(Style::Plain, &format!(" {value}"));
                }
                page.fresh_line();
            }
            Field::Long { field, tail, .. } => {
                page.fresh_line();
                if tail == Tail::Elided {
                    page.put_str(Style::Quiet, &format!("… {}", field.size()));
                    page.fresh_line();
                }
                page.lay_out(Wrap::Letters, "");
            }
        }
    }

    /// The call is over.
    pub(super) fn finish(&mut self, page: &mut Page) {
        self.close(page);
        if self.count > MAX_FIELDS {
            let omitted = self.count - MAX_FIELDS;
            page.put_str(Style::Quiet, &format!("{INDENT}… {omitted} more"));
            page.fresh_line();
        }
        self.count = 0;
    }

    /// Which field grows, and how large it is.
    pub(super) fn progress(&self) -> Option<String> {
        match &self.field {
            Field::Short { field, .. } | Field::Long { field, .. } => {
                Some(format!("{} {}", name(&field.path), bytes(field.bytes)))
            }
            Field::None | Field::Omitted { .. } => None,
        }
    }

    /// The value that is not written yet.
    pub(super) fn held(&self) -> &str {
        if let Field::Short { value, .. } = &self.field { value } else { "" }
    }

    fn open(&mut self, page: &mut Page, path: &str) {
        self.close(page);
        self.count += 1;
        let path = path.to_owned();
        if self.count > MAX_FIELDS {
            self.field = Field::Omitted { path };
            return;
        }
        page.lay_out(Wrap::Letters, "");
        page.put_str(Style::Label, &format!("{INDENT}{}:", name(&path)));
        let field =
            Named { path, sanitizer: Sanitizer::default(), bytes: 0, line_ends: 0, ends_with_line: false };
        self.field = Field::Short { field, value: String::new() };
    }

    /// Takes one sanitized character of the value.
    fn push(&mut self, page: &mut Page, char: char) {
        match &mut self.field {
            Field::None | Field::Omitted { .. } => {}
            Field::Short { field, value } => {
                let before = INDENT.len() + name(&field.path).width() + ": ".len();
                if char != '\n' && before + value.width() < page.columns() {
                    value.push(char);
                } else {
                    self.move_below(page);
                    self.push(page, char);
                }
            }
            Field::Long { lines, room, tail, .. } => match (&tail, char) {
                (Tail::Elided, _) => {}
                (Tail::Inside, '\n') => {
                    page.settle();
                    *tail = Tail::LineEnd;
                }
                (Tail::LineEnd, _) if *lines == MAX_LINES => *tail = Tail::Elided,
                (Tail::LineEnd, _) => {
                    page.put(Style::Plain, '\n');
                    (*lines, *tail) = (*lines + 1, Tail::Inside);
                    self.push(page, char);
                }
                (Tail::Inside, _) if *room == 0 => *tail = Tail::Elided,
                (Tail::Inside, _) => {
                    page.put(Style::Plain, char);
                    *room -= 1;
                }
            },
        }
    }

    fn move_below(&mut self, page: &mut Page) {
        let Field::Short { field, value } = std::mem::take(&mut self.field) else { return };
        page.fresh_line();
        page.lay_out(Wrap::Letters, GUTTER);
        let room = MAX_LINES * page.columns().saturating_sub(GUTTER.width()).max(1);
        self.field = Field::Long { field, lines: 1, room, tail: Tail::Inside };
        value.chars().for_each(|char| self.push(page, char));
    }
}

impl Field {
    fn path(&self) -> Option<&str> {
        match self {
            Self::None => None,
            Self::Short { field, .. } | Self::Long { field, .. } => Some(&field.path),
            Self::Omitted { path } => Some(path),
        }
    }
}

impl Named {
    fn size(&self) -> String {
        let lines = self.line_ends + usize::from(!self.ends_with_line);
        if lines > 1 { format!("{}, {lines} lines", bytes(self.bytes)) } else { bytes(self.bytes) }
    }
}
