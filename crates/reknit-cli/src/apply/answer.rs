//! The model's answer, as it comes in.

use anyhow::anyhow;
use reknit::Limits;

use crate::explain;
use crate::outcome::CommandError;
use crate::pieces::Pieces;

/// The answer as text, piece by piece.
pub(super) struct Answer {
    pieces: Pieces,
    /// The beginning of a character that is not complete yet.
    held: Vec<u8>,
    /// How many bytes came before that.
    at: usize,
}

impl Answer {
    pub(super) fn new(pieces: Pieces) -> Self {
        Self { pieces, held: Vec::new(), at: 0 }
    }

    /// The next piece; `None` at the end.
    ///
    /// Bytes that are not text are refused: replacement characters would end up in a file.
    pub(super) fn next(&mut self) -> Result<Option<String>, CommandError> {
        let Some(piece) = self.pieces.next()? else {
            return if self.held.is_empty() { Ok(None) } else { Err(self.not_text(0)) };
        };
        self.held.extend_from_slice(piece);
        let end = match std::str::from_utf8(&self.held) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(error) => return Err(self.not_text(error.valid_up_to())),
        };
        let rest = self.held.split_off(end);
        let text = String::from_utf8(std::mem::replace(&mut self.held, rest)).expect("it was validated");
        self.at += text.len();
        let max = Limits::default().reply_bytes;
        if self.at as u64 > max {
            let what = anyhow!("the answer is longer than {max} bytes");
            return Err(CommandError::with_hint(what, "apply it in parts").explained_as(explain::WRONG_USE));
        }
        Ok(Some(text))
    }

    /// Whether it ended because the user pressed Ctrl-C.
    pub(super) fn is_interrupted(&self) -> bool {
        self.pieces.is_interrupted()
    }

    fn not_text(&self, offset: usize) -> CommandError {
        let what = anyhow!("byte {}: the answer is not UTF-8", self.at + offset);
        CommandError::with_hint(what, "give the answer as the model wrote it").explained_as(explain::NOT_TEXT)
    }
}
