//! Decodes UTF-8 that is cut anywhere.

/// Decodes a text that arrives in pieces exactly as [`String::from_utf8_lossy`] decodes it as a whole.
#[derive(Debug, Default)]
pub(super) struct Lossy {
    /// The bytes of a character whose end has not arrived yet.
    cut: [u8; 4],
    len: usize,
}

impl Lossy {
    /// Appends `bytes`, which are at `at` in the input, to `out`.
    pub(super) fn push(&mut self, bytes: &[u8], at: u64, out: &mut String, bad: &mut Tally) {
        let used = if self.len == 0 { 0 } else { self.resume(bytes, at, out, bad) };
        let (whole, cut) = bytes[used..].split_at(bytes.len() - used - cut_character(&bytes[used..]));
        decode(whole, at + used as u64, out, bad);
        if !cut.is_empty() {
            self.cut[..cut.len()].copy_from_slice(cut);
            self.len = cut.len();
        }
    }

    /// Whether the text so far does not end inside a character.
    pub(super) fn is_between(&self) -> bool {
        self.len == 0
    }

    /// Ends the text at `at`. A character that is cut there becomes U+FFFD.
    pub(super) fn end(&mut self, at: u64, out: &mut String, bad: &mut Tally) {
        if self.len > 0 {
            self.replace_cut(at, out, bad);
        }
    }

    /// Continues the cut character. Returns how many of `bytes` belong to it.
    fn resume(&mut self, bytes: &[u8], at: u64, out: &mut String, bad: &mut Tally) -> usize {
        for (used, &byte) in bytes.iter().enumerate() {
            self.cut[self.len] = byte;
            match str::from_utf8(&self.cut[..=self.len]) {
                Ok(character) => {
                    out.push_str(character);
                    self.len = 0;
                    return used + 1;
                }
                Err(error) if error.error_len().is_none() => self.len += 1,
                // The bytes before could have become a character, so it is this byte that does not fit.
                // It is not part of the broken sequence and has to be read again.
                Err(_) => {
                    self.replace_cut(at + used as u64, out, bad);
                    return used;
                }
            }
        }
        bytes.len()
    }

    fn replace_cut(&mut self, end: u64, out: &mut String, bad: &mut Tally) {
        bad.add(end - self.len as u64);
        out.push(char::REPLACEMENT_CHARACTER);
        self.len = 0;
    }
}

/// Decodes a text that is not cut.
pub(super) fn decode(bytes: &[u8], at: u64, out: &mut String, bad: &mut Tally) {
    match str::from_utf8(bytes) {
        Ok(text) => out.push_str(text),
        Err(_) => decode_broken(bytes, at, out, bad),
    }
}

#[cold]
fn decode_broken(bytes: &[u8], mut at: u64, out: &mut String, bad: &mut Tally) {
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        at += chunk.valid().len() as u64;
        if !chunk.invalid().is_empty() {
            bad.add(at);
            out.push(char::REPLACEMENT_CHARACTER);
            at += chunk.invalid().len() as u64;
        }
    }
}

/// The number of bytes at the end that may still become a character.
fn cut_character(bytes: &[u8]) -> usize {
    match bytes.iter().rev().take(3).position(|byte| *byte >= 0xC0) {
        Some(after) if is_cut(&bytes[bytes.len() - 1 - after..]) => after + 1,
        _ => 0,
    }
}

fn is_cut(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}

/// How often something occurred, and where it occurred first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) first: u64,
    pub(super) count: u64,
}

impl Tally {
    pub(super) fn add(&mut self, at: u64) {
        if self.count == 0 {
            self.first = at;
        }
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (String, u64, u64) {
        let (mut lossy, mut out, mut bad, mut at) = (Lossy::default(), String::new(), Tally::default(), 0);
        for piece in pieces {
            lossy.push(piece, at, &mut out, &mut bad);
            at += piece.len() as u64;
        }
        lossy.end(at, &mut out, &mut bad);
        (out, bad.first, bad.count)
    }

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop::sample::select(
            b"a\x80\xA0\xBF\xC0\xC3\xE0\xE2\x82\xAC\xED\xEF\xBB\xF0\x9F\x98\x80\xF4\x90\xF8\xFF".to_vec(),
        );
        prop::collection::vec(byte, 0..24)
    }

    proptest! {
        #[test]
        fn pieces_decode_as_the_standard_library_decodes_the_whole(input in bytes(), size in 1usize..6) {
            let (text, first, count) = decode(input.chunks(size));
            prop_assert_eq!(&text, &String::from_utf8_lossy(&input));
            prop_assert_eq!(count as usize, text.matches('\u{FFFD}').count() - valid_replacements(&input));
            match str::from_utf8(&input) {
                Ok(_) => prop_assert_eq!(count, 0),
                Err(error) => prop_assert_eq!(first as usize, error.valid_up_to()),
            }
        }
    }

    /// The input may also contain a valid U+FFFD.
    fn valid_replacements(input: &[u8]) -> usize {
        input.utf8_chunks().map(|chunk| chunk.valid().matches('\u{FFFD}').count()).sum()
    }
}
