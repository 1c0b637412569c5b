//! [`Terminal`]: what is at the other end of standard output.

use std::env;
use std::io::{self, IsTerminal};

use super::style::Style;

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
        let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = env::var_os("TERM").is_none_or(|name| name.is_empty() || name == "dumb");
        io::stdout().is_terminal().then_some(Self {
            paint: if is_dumb || is_set("NO_COLOR") { Paint::None } else { Paint::Colours },
            cursor: if is_dumb { Cursor::Stays } else { Cursor::Moves },
        })
    }

    /// A text in a style, with the style reset after it.
    pub(crate) fn paint(self, style: Style, text: &str) -> String {
        match self.paint {
            Paint::Colours if style != Style::Plain && !text.is_empty() => {
                format!("\x1b[{}m{text}\x1b[0m", style.parameters())
            }
            Paint::Colours | Paint::None => text.to_owned(),
        }
    }

    /// How wide it is now.
    pub(crate) fn columns(self) -> usize {
        // The traditional width, for a terminal that does not report one.
        terminal_size::terminal_size_of(io::stdout()).map_or(80, |(width, _)| usize::from(width.0))
    }
}
