//! [`Progress`]: how far the reading of many files is, on a line that is drawn over.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::colour;
use crate::message::is_quiet;

/// A bar on standard error, if that is a terminal.
pub(super) struct Progress {
    total: usize,
    state: State,
}

enum State {
    Hidden,
    /// With the time at which the bar was drawn last, and whether it is there.
    Shown {
        drawn: Option<Instant>,
        is_there: bool,
    },
}

/// How often the bar is drawn at most.
const INTERVAL: Duration = Duration::from_millis(100);
const WIDTH: usize = 30;

impl Progress {
    pub(super) fn of(total: usize) -> Self {
        let is_shown = io::stderr().is_terminal() && !colour::is_dumb() && !is_quiet();
        let state = if is_shown { State::Shown { drawn: None, is_there: false } } else { State::Hidden };
        Self { total, state }
    }

    /// Makes room for something else.
    pub(super) fn clear(&mut self) {
        if let State::Shown { is_there, .. } = &mut self.state
            && std::mem::take(is_there)
        {
            let _ = io::stderr().write_all(b"\r\x1b[K");
        }
    }

    /// Draws it again, unless it was drawn just now.
    pub(super) fn draw(&mut self, done: usize) {
        let State::Shown { drawn, is_there } = &mut self.state else { return };
        let is_due = drawn.is_none_or(|drawn| drawn.elapsed() >= INTERVAL);
        if is_due || *is_there {
            if is_due {
                *drawn = Some(Instant::now());
            }
            *is_there = true;
            let _ = io::stderr().write_all(bar(done, self.total).as_bytes());
        }
    }
}

fn bar(done: usize, total: usize) -> String {
    let filled = (done * WIDTH).checked_div(total).unwrap_or(WIDTH);
    format!("\r[{}{}] {done} of {total} files\x1b[K", "=".repeat(filled), " ".repeat(WIDTH - filled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_is_as_long_as_what_is_done() {
        assert_eq!(bar(0, 3), format!("\r[{}] 0 of 3 files\x1b[K", " ".repeat(30)));
        assert_eq!(bar(2, 3), format!("\r[{}{}] 2 of 3 files\x1b[K", "=".repeat(20), " ".repeat(10)));
        assert_eq!(bar(3, 3), format!("\r[{}] 3 of 3 files\x1b[K", "=".repeat(30)));
    }
}
