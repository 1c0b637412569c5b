//! [`Utf8`]: decodes bytes that can be cut anywhere.

/// Decodes bytes, and remembers where the offsets of text and input differ.
#[derive(Clone, Debug, Default)]
pub(super) struct Utf8 {
    /// The start of a character whose rest has not come.
    held: Vec<u8>,
    /// How many bytes of text have been decoded.
    made: usize,
    /// Where the offsets of text and input start to differ: after each U+FFFD that replaces invalid bytes.
    shifts: Vec<Shift>,
}

#[derive(Clone, Copy, Debug)]
struct Shift {
    text: usize,
    input: usize,
}

impl Utf8 {
    /// Appends `bytes` to `text`. Each invalid sequence becomes U+FFFD.
    pub(super) fn push(&mut self, bytes: &[u8], text: &mut String) {
        let joined;
        let bytes = if self.held.is_empty() {
            bytes
        } else {
            self.held.extend_from_slice(bytes);
            joined = std::mem::take(&mut self.held);
            &joined
        };
        let mut at = 0;
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            self.made += chunk.valid().len();
            at += chunk.valid().len();
            let invalid = chunk.invalid();
            if invalid.is_empty() {
                continue;
            }
            at += invalid.len();
            if at == bytes.len() && is_incomplete(invalid) {
                self.held.extend_from_slice(invalid);
            } else {
                self.replace(invalid.len(), text);
            }
        }
    }

    /// The input has ended: what was held back is not a character.
    pub(super) fn finish(&mut self, text: &mut String) {
        if !self.held.is_empty() {
            let length = self.held.len();
            self.held.clear();
            self.replace(length, text);
        }
    }

    /// The byte of the input that corresponds to this byte of the text.
    pub(super) fn input_byte(&self, at: usize) -> usize {
        let before = self.shifts.partition_point(|shift| shift.text <= at);
        match before.checked_sub(1).map(|last| self.shifts[last]) {
            Some(shift) => shift.input + (at - shift.text),
            None => at,
        }
    }

    /// How many invalid sequences there were in the first `taken` bytes of the text.
    pub(super) fn replaced(&self, taken: usize) -> usize {
        self.shifts.partition_point(|shift| shift.text <= taken)
    }

    /// Where the first of them is in the text.
    pub(super) fn first_replaced(&self) -> Option<usize> {
        self.shifts.first().map(|shift| shift.text - char::REPLACEMENT_CHARACTER.len_utf8())
    }

    fn replace(&mut self, length: usize, text: &mut String) {
        let input = self.input_byte(self.made) + length;
        text.push(char::REPLACEMENT_CHARACTER);
        self.made += char::REPLACEMENT_CHARACTER.len_utf8();
        self.shifts.push(Shift { text: self.made, input });
    }
}

/// Whether these bytes are the start of a character.
fn is_incomplete(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}
