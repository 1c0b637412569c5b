//! [`Utf8`]: text out of bytes that are cut anywhere.

/// Turns bytes into text, and remembers where the two differ.
#[derive(Clone, Debug, Default)]
pub(super) struct Utf8 {
    /// The start of a character whose rest has not come.
    held: Vec<u8>,
    /// How much text was made.
    made: usize,
    /// Where text and input differ: behind each U+FFFD that stands for bytes that are no text.
    shifts: Vec<Shift>,
}

#[derive(Clone, Copy, Debug)]
struct Shift {
    text: usize,
    input: usize,
}

impl Utf8 {
    /// Adds `bytes` to `text`; each stretch that is not UTF-8 becomes U+FFFD.
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
            if at == bytes.len() && may_go_on(invalid) {
                self.held.extend_from_slice(invalid);
            } else {
                self.replace(invalid.len(), text);
            }
        }
    }

    /// The input is over: what was held back is no character.
    pub(super) fn finish(&mut self, text: &mut String) {
        if !self.held.is_empty() {
            let length = self.held.len();
            self.held.clear();
            self.replace(length, text);
        }
    }

    /// The byte of the input that stands at this byte of the text.
    pub(super) fn input_byte(&self, at: usize) -> usize {
        let before = self.shifts.partition_point(|shift| shift.text <= at);
        match before.checked_sub(1).map(|last| self.shifts[last]) {
            Some(shift) => shift.input + (at - shift.text),
            None => at,
        }
    }

    /// How many stretches of the first `taken` bytes of the text were no UTF-8.
    pub(super) fn replaced(&self, taken: usize) -> usize {
        self.shifts.partition_point(|shift| shift.text <= taken)
    }

    /// Where in the text the first of them stands.
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
fn may_go_on(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}
