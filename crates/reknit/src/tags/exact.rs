//! [`Exact`]: a text that is compared many times.

use super::template::Match;

/// The number of bytes that are compared at once.
const WORD_BYTES: usize = size_of::<u128>();

/// A marker, a part of one or a name, prepared for comparing it with the start of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Exact {
    text: Box<str>,
    /// Its first bytes as one number. Most markers have no more, and most other text differs in them.
    head: u128,
    /// Which bytes of that number are part of the text.
    mask: u128,
}

impl Exact {
    pub(super) fn new(text: impl Into<Box<str>>) -> Self {
        let text = text.into();
        let number = |byte: fn(u8) -> u8| {
            let mut bytes = [0; WORD_BYTES];
            for (to, from) in bytes.iter_mut().zip(text.bytes()) {
                *to = byte(from);
            }
            u128::from_le_bytes(bytes)
        };
        Self { head: number(|byte| byte), mask: number(|_| u8::MAX), text }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Matches it at `at`. Returns where it ends.
    #[inline]
    pub(super) fn find(&self, text: &str, at: usize) -> Match<usize> {
        match text.as_bytes()[at..].first_chunk() {
            Some(near) if u128::from_le_bytes(*near) & self.mask != self.head => Match::No,
            Some(_) if self.text.len() <= WORD_BYTES => Match::Full(at + self.text.len()),
            _ => find(text, at, &self.text),
        }
    }
}

/// Matches `expected` at `at`. Returns where it ends.
#[inline]
pub(super) fn find(text: &str, at: usize, expected: &str) -> Match<usize> {
    let rest = &text.as_bytes()[at..];
    let both = rest.len().min(expected.len());
    match rest[..both] == expected.as_bytes()[..both] {
        true if both == expected.len() => Match::Full(at + both),
        true => Match::Partial,
        false => Match::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lengths_are_compared_alike() {
        let all = "<a_name_that_is_long>";
        for length in 1..=all.len() {
            let exact = Exact::new(&all[..length]);
            for end in 0..=all.len() {
                let text = &all[..end];
                assert_eq!(exact.find(text, 0), find(text, 0, &all[..length]), "{length} in {end}");
            }
            for at in 0..length {
                let mut text = all.to_owned();
                text.replace_range(at..at + 1, "!");
                assert_eq!(exact.find(&text, 0), Match::No, "{length} with another byte at {at}");
            }
        }
    }
}
