//! UTF-8 that is cut anywhere.

/// Decodes one text that arrives in pieces as [`String::from_utf8_lossy`] decodes it whole.
#[derive(Debug, Default)]
pub(super) struct Lossy {
    /// The bytes of a character whose end has not arrived.
    cut: [u8; 4],
    len: usize,
}

impl Lossy {
    /// Appends `bytes`, which stand at `at` of the input, to `out`.
    pub(super) fn push(&mut self, bytes: &[u8], at: u64, out: &mut String, bad: &mut Tally) {
        let used = if self.len == 0 { 0 } else { self.resume(bytes, at, out, bad) };
        let (whole, cut) = bytes[used..].split_at(bytes.len() - used - cut_character(&bytes[used..]));
        decode(whole, at + used as u64, out, bad);
        if !cut.is_empty() {
            self.cut[..cut.len()].copy_from_slice(cut);
            self.len = cut.len();
        }
    }

    /// Whether no character is cut where the text stands.
    pub(super) fn is_between(&self) -> bool {
        self.len == 0
    }

    /// Ends the text at `at`: a character that is cut there stays cut.
    pub(super) fn end(&mut self, at: u64, out: &mut String, bad: &mut Tally) {
        if self.len > 0 {
            self.replace_cut(at, out, bad);
        }
    }

    /// Goes on with the cut character; returns how many of `bytes` belong to it.
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
                // What was there could have become a character, so it is this byte that does not fit:
                // it is not part of the broken sequence and is read anew.
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

/// Decodes a text that is there as a whole.
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

/// How many bytes at the end may still become a character.
fn cut_character(bytes: &[u8]) -> usize {
    match bytes.iter().rev().take(3).position(|byte| *byte >= 0xC0) {
        Some(behind) if is_cut(&bytes[bytes.len() - 1 - behind..]) => behind + 1,
        _ => 0,
    }
}

fn is_cut(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}

/// How often something happened, and where first.
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

    /// U+FFFD may also be there from the start.
    fn valid_replacements(input: &[u8]) -> usize {
        input.utf8_chunks().map(|chunk| chunk.valid().matches('\u{FFFD}').count()).sum()
    }
}
