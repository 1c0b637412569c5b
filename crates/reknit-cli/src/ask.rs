//! Questions to whoever sits at the terminal.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use anyhow::anyhow;

use crate::explain;
use crate::outcome::Trouble;
use crate::pieces::Pieces;
use crate::view::Terminal;

/// The terminal on which somebody can be asked, if there is one.
pub(crate) fn terminal() -> Option<Terminal> {
    Terminal::on_stdout().filter(|_| File::open(TERMINAL).is_ok())
}

/// What to say if nobody can be.
pub(crate) fn nobody() -> Trouble {
    let what = anyhow!("nobody can be asked whether to write");
    let hint = "use `--yes` to write without being asked, or `--dry-run` to see what would change";
    Trouble::with_hint(what, hint).explained_as(explain::WRONG_USE)
}

/// The keyboard of the terminal, whatever standard input is.
pub(crate) struct Keyboard {
    pieces: Pieces,
    /// What was typed and is not a line yet.
    typed: Vec<u8>,
}

const TERMINAL: &str = "/dev/tty";

impl Keyboard {
    pub(crate) fn open() -> Result<Self, Trouble> {
        Ok(Self { pieces: Pieces::open_raw(Some(Path::new(TERMINAL)), None)?, typed: Vec::new() })
    }

    /// Asks until one of the letters is the answer; `None` if there is no answer to be had.
    pub(crate) fn ask(
        &mut self,
        out: &mut impl Write,
        question: &str,
        letters: &[char],
    ) -> Result<Option<char>, Trouble> {
        loop {
            write!(out, "{question} ")?;
            out.flush()?;
            let Some(line) = self.line()? else {
                writeln!(out)?;
                out.flush()?;
                return Ok(None);
            };
            let letter = line.trim_start().chars().next().map(|letter| letter.to_ascii_lowercase());
            if letter.is_some_and(|letter| letters.contains(&letter)) {
                return Ok(letter);
            }
        }
    }

    /// Whether there is no answer because somebody pressed Ctrl-C.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.pieces.is_interrupted()
    }

    fn line(&mut self) -> Result<Option<String>, Trouble> {
        loop {
            if let Some(end) = self.typed.iter().position(|&byte| byte == b'\n') {
                let line: Vec<_> = self.typed.drain(..=end).collect();
                return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
            }
            match self.pieces.next()? {
                Some(piece) => self.typed.extend_from_slice(piece),
                None => return Ok(None),
            }
        }
    }
}
