//! [`Input`]: the lines of the input, and their diagnostics.

use reknit::Limits;
use reknit::json::Value;

use super::lines::{Lines, Place};
use super::noticed::{self, Noticed};
use crate::outcome::CommandError;

/// The lines of the input, and their diagnostics.
pub(super) struct Input {
    lines: Lines,
    pub(super) limits: Limits,
    pub(super) noticed: Vec<Noticed>,
    pub(super) omitted: u64,
    pub(super) bad_lines: u64,
    strict: bool,
    pub(super) state: State,
    /// The last line that was read.
    last: Place,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum State {
    Open,
    /// The input is over, or the rest of it is not wanted.
    Over,
}

impl Input {
    pub(super) fn new(strict: bool) -> Self {
        let limits = Limits::default();
        Self {
            lines: Lines::new(limits.frame_bytes),
            limits,
            noticed: Vec::new(),
            omitted: 0,
            bad_lines: 0,
            strict,
            state: State::Open,
            last: Place::default(),
        }
    }

    /// Takes the next piece, or the end of the input. An error ends it too and is returned: what came before
    /// is still shown.
    pub(super) fn take(&mut self, piece: Result<Option<&[u8]>, CommandError>) -> Option<CommandError> {
        let error = match piece {
            Ok(Some(piece)) => {
                self.lines.push(piece);
                return None;
            }
            Ok(None) => None,
            Err(error) => Some(error),
        };
        self.lines.finish();
        self.state = State::Over;
        error
    }

    /// Passes the JSON of each line that is there to `fold`, and keeps the diagnostics.
    pub(super) fn read(
        &mut self,
        mut fold: impl FnMut(Value, Place) -> Result<Vec<Noticed>, CommandError>,
    ) -> Result<(), CommandError> {
        while let Some(line) = self.lines.next() {
            let noticed = match noticed::read(&line, &self.limits) {
                Ok(None) => continue,
                Ok(Some(value)) => {
                    self.last = line.place;
                    fold(value, line.place)?
                }
                Err(bad) => vec![bad],
            };
            let is_bad = noticed.iter().any(Noticed::is_bad_line);
            noticed.into_iter().for_each(|noticed| self.notice(noticed));
            if is_bad && self.strict {
                self.state = State::Over;
                break;
            }
        }
        Ok(())
    }

    /// Tells `fold` that there are no more lines, and keeps its diagnostics.
    pub(super) fn finish(
        &mut self,
        fold: impl FnOnce(Place) -> Result<Vec<Noticed>, CommandError>,
    ) -> Result<(), CommandError> {
        fold(self.last)?.into_iter().for_each(|noticed| self.notice(noticed));
        Ok(())
    }

    fn notice(&mut self, noticed: Noticed) {
        self.bad_lines += u64::from(noticed.is_bad_line());
        if self.noticed.len() < self.limits.diagnostics {
            self.noticed.push(noticed);
        } else {
            self.omitted += 1;
        }
    }
}
