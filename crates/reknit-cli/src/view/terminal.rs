//! [`Terminal`]: what is at the other end of standard output.

use std::io::{self, IsTerminal};

use super::style::Style;
use crate::colour;

/// What a terminal can do and should do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    pub(super) paint: Paint,
    pub(super) cursor: Cursor,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Paint {
    Colours,
    /// No colours and no weights.
    None,
}

/// Whether the cursor can be moved and what was written be erased.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cursor {
    Moves,
    Stays,
}

impl Terminal {
    /// The terminal on standard output, if it is one.
    pub(crate) fn on_stdout() -> Option<Self> {
        io::stdout().is_terminal().then(|| Self {
            paint: if colour::is_on(true) { Paint::Colours } else { Paint::None },
            cursor: if colour::is_dumb() { Cursor::Stays } else { Cursor::Moves },
        })
    }

    /// The same, or whatever else standard output is, if it gets colours anyway.
    pub(crate) fn on_stdout_or_coloured() -> Option<Self> {
        let coloured =
            || colour::is_on(false).then_some(Self { paint: Paint::Colours, cursor: Cursor::Stays });
        Self::on_stdout().or_else(coloured)
    }

    /// A text in a style, with the style reset after it.
    pub(crate) fn paint(self, style: Style, text: &str) -> String {
        match self.paint {
            Paint::Colours if style != Style::Plain && !text.is_empty() => style.paint(text),
            Paint::Colours | Paint::None => text.to_owned(),
        }
    }

    /// Whether its cursor can be moved.
    pub(crate) fn moves(self) -> bool {
        self.cursor == Cursor::Moves
    }

    /// How wide it is now.
    pub(crate) fn columns(self) -> usize {
        // The traditional width, for a terminal that does not report one.
        terminal_size::terminal_size_of(io::stdout()).map_or(80, |(width, _)| usize::from(width.0))
    }
}
