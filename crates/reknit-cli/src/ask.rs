//! Questions to the user at the terminal.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use anyhow::anyhow;

use crate::explain;
use crate::outcome::CommandError;
use crate::pieces::Pieces;
use crate::view::{Style, Terminal};

/// The terminal on which the user can be asked, if there is one.
pub(crate) fn terminal() -> Option<Terminal> {
    Terminal::on_stdout().filter(|_| File::open(TERMINAL).is_ok())
}

/// The error of a command that has to ask and cannot.
pub(crate) fn cannot_ask() -> CommandError {
    let why = match Terminal::on_stdout() {
        None => "stdout is not a terminal",
        Some(_) if terminal().is_none() => "there is no terminal to read from",
        Some(_) => "stdout is for JSON",
    };
    let what = anyhow!("cannot ask for confirmation: {why}");
    let hint = "use `--yes` to write without confirmation, or `--dry-run` to see what would change";
    CommandError::with_hint(what, hint).explained_as(explain::WRONG_USE)
}

/// An answer to a question.
pub(crate) struct Key {
    /// A word with the letter to press in brackets.
    pub(crate) label: &'static str,
    pub(crate) meaning: &'static str,
}

impl Key {
    fn letter(&self) -> Option<char> {
        self.label.strip_prefix('[').and_then(|rest| rest.chars().next())
    }
}

const HELP: Key = Key { label: "[?]", meaning: "explain the keys" };

/// The keyboard of the terminal, whatever standard input is.
pub(crate) struct Keyboard {
    pieces: Pieces,
    /// What was typed since the last complete line.
    typed: Vec<u8>,
}

const TERMINAL: &str = "/dev/tty";

impl Keyboard {
    pub(crate) fn open() -> Result<Self, CommandError> {
        Ok(Self { pieces: Pieces::open_raw(Some(Path::new(TERMINAL)), None)?, typed: Vec::new() })
    }

    /// Asks until the answer is one of the keys, and explains them after any other; `None` if the keyboard is
    /// closed.
    pub(crate) fn ask(
        &mut self,
        out: &mut impl Write,
        terminal: Terminal,
        subject: &str,
        keys: &[Key],
    ) -> Result<Option<char>, CommandError> {
        let labels: Vec<_> = keys.iter().map(|key| key.label).collect();
        let question = terminal.paint(Style::Strong, &format!("{subject} {}:", labels.join(", ")));
        loop {
            write!(out, "{question} ")?;
            out.flush()?;
            let Some(line) = self.line()? else {
                writeln!(out)?;
                out.flush()?;
                return Ok(None);
            };
            let letter = line.trim_start().chars().next().map(|letter| letter.to_ascii_lowercase());
            if letter.is_some_and(|letter| keys.iter().any(|key| key.letter() == Some(letter))) {
                return Ok(letter);
            }
            for Key { label, meaning } in keys.iter().chain([&HELP]) {
                writeln!(out, "{}", terminal.paint(Style::Quiet, &format!("  {label}: {meaning}")))?;
            }
        }
    }

    /// Whether there is no answer because the user pressed Ctrl-C.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.pieces.is_interrupted()
    }

    fn line(&mut self) -> Result<Option<String>, CommandError> {
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
