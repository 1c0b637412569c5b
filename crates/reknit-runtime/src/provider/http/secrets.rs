//! [`Secrets`]: what must not be shown, and [`Remover`], which removes it from a stream.

use std::collections::VecDeque;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use reqwest::Url;

use super::super::models::{Key, Model};

/// Texts that must not be shown, written or recorded.
#[derive(Clone)]
pub(super) struct Secrets(Arc<[Pattern]>);

/// A text to look for.
struct Pattern {
    bytes: Vec<u8>,
    /// For each number of bytes that match, how many still do if the next byte does not: the longest end of them that
    /// is also a beginning (Knuth, Morris and Pratt).
    shorter: Vec<usize>,
}

/// What a secret is replaced with.
const REMOVED: &str = "[removed]";

/// A shorter text occurs by chance, and is not a key.
const SHORTEST: usize = 8;

impl Secrets {
    pub(super) fn of(model: &Model, url: &Url) -> Self {
        let key = match &model.key {
            Key::Found { secret, .. } => Some(secret.reveal().to_owned()),
            Key::NotNeeded | Key::Missing { .. } => None,
        };
        let headers = model.headers.iter().map(|(_, value)| value.reveal().to_owned());
        // It is sent in this form.
        let sent = url.password().map(|password| BASE64.encode(format!("{}:{password}", url.username())));
        let password = url.password().map(str::to_owned);
        Self::new(key.into_iter().chain(headers).chain(password).chain(sent))
    }

    fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let secrets = secrets.into_iter().filter(|secret| secret.len() >= SHORTEST);
        Self(secrets.map(|secret| Pattern::new(secret.into_bytes())).collect())
    }

    /// A text without them.
    pub(super) fn remove(&self, text: &str) -> String {
        let mut remover = self.remover();
        let mut bytes = remover.push(text.as_bytes());
        bytes.extend(remover.finish());
        // Secrets are whole characters, and what replaces them is one too.
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Removes them from a stream.
    pub(super) fn remover(&self) -> Remover {
        Remover {
            states: vec![0; self.0.len()],
            secrets: self.clone(),
            held: VecDeque::new(),
            units: VecDeque::new(),
            escape: Vec::new(),
            in_secret: false,
        }
    }
}

impl Pattern {
    fn new(bytes: Vec<u8>) -> Self {
        let mut shorter = vec![0; bytes.len() + 1];
        let mut matched = 0;
        for at in 1..bytes.len() {
            while matched > 0 && bytes[at] != bytes[matched] {
                matched = shorter[matched];
            }
            matched += usize::from(bytes[at] == bytes[matched]);
            shorter[at + 1] = matched;
        }
        Self { bytes, shorter }
    }

    /// How many bytes match after another one, if so many did before it.
    fn step(&self, mut matched: usize, byte: u8) -> usize {
        loop {
            if self.bytes.get(matched) == Some(&byte) {
                return matched + 1;
            }
            if matched == 0 {
                return 0;
            }
            matched = self.shorter[matched];
        }
    }
}

/// Removes secrets from a stream of bytes that is cut anywhere, as they are or escaped as in JSON.
///
/// Only what may still become a secret is held back, which has fewer characters than the longest one, and no byte is
/// looked at more often than that, however the stream is cut.
pub(super) struct Remover {
    secrets: Secrets,
    /// How much of each secret matches the end of what has come.
    states: Vec<usize>,
    /// What is held back.
    held: VecDeque<u8>,
    /// The same as characters.
    units: VecDeque<Unit>,
    /// An escape of which the end has not come.
    escape: Vec<u8>,
    /// Whether the last unit that was let go is part of a secret.
    in_secret: bool,
}

/// A byte, or the escape for one.
struct Unit {
    length: usize,
    is_secret: bool,
}

/// What an escape may be so far.
enum Escape {
    /// More has to come.
    Open,
    /// It means this byte; `None` if the character that it means has more than one.
    Whole(Option<u8>),
    /// It is not an escape.
    Wrong,
}

impl Remover {
    /// Takes the next piece, and returns what can be let go.
    pub(super) fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(piece.len());
        let mut rest = piece;
        while let Some((&byte, after)) = rest.split_first() {
            if self.units.is_empty() && self.escape.is_empty() {
                let starts =
                    |byte: &u8| *byte == b'\\' || self.secrets.0.iter().any(|of| of.bytes[0] == *byte);
                let plain = rest.iter().position(starts).unwrap_or(rest.len());
                if plain > 0 {
                    out.extend_from_slice(&rest[..plain]);
                    rest = &rest[plain..];
                    self.in_secret = false;
                    continue;
                }
            }
            self.take(byte, &mut out);
            rest = after;
        }
        out
    }

    /// The stream is over: returns what was held back.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        for byte in std::mem::take(&mut self.escape) {
            self.unit(&[byte], Some(byte), &mut out);
        }
        self.let_go(0, &mut out);
        out
    }

    fn take(&mut self, byte: u8, out: &mut Vec<u8>) {
        if self.escape.is_empty() && byte != b'\\' {
            return self.unit(&[byte], Some(byte), out);
        }
        self.escape.push(byte);
        match escape(&self.escape) {
            Escape::Open => {}
            Escape::Whole(meant) => {
                let escape = std::mem::take(&mut self.escape);
                self.unit(&escape, meant, out);
            }
            Escape::Wrong => {
                // Its backslash is one, and what follows may be anything.
                let wrong = std::mem::take(&mut self.escape);
                self.unit(&wrong[..1], Some(wrong[0]), out);
                wrong[1..].iter().for_each(|&byte| self.take(byte, out));
            }
        }
    }

    /// Takes a character, written like this.
    fn unit(&mut self, written: &[u8], meant: Option<u8>, out: &mut Vec<u8>) {
        self.held.extend(written);
        self.units.push_back(Unit { length: written.len(), is_secret: false });
        let mut needed = 0;
        for (state, pattern) in self.states.iter_mut().zip(&*self.secrets.0) {
            *state = meant.map_or(0, |byte| pattern.step(*state, byte));
            if *state == pattern.bytes.len() {
                let from = self.units.len() - *state;
                self.units.range_mut(from..).for_each(|unit| unit.is_secret = true);
                // Secrets that overlap are removed together.
                *state = pattern.shorter[*state];
            }
            needed = needed.max(*state);
        }
        self.let_go(needed, out);
    }

    /// Lets go of all characters but so many.
    fn let_go(&mut self, needed: usize, out: &mut Vec<u8>) {
        while self.units.len() > needed {
            let Some(unit) = self.units.pop_front() else { return };
            let written = self.held.drain(..unit.length);
            match (unit.is_secret, self.in_secret) {
                (false, _) => out.extend(written),
                (true, true) => drop(written),
                (true, false) => {
                    drop(written);
                    out.extend_from_slice(REMOVED.as_bytes());
                }
            }
            self.in_secret = unit.is_secret;
        }
    }
}

/// What these bytes are, of which the first is a backslash.
fn escape(bytes: &[u8]) -> Escape {
    match bytes[1..] {
        [] => Escape::Open,
        [byte @ (b'"' | b'\\' | b'/')] => Escape::Whole(Some(byte)),
        [b'b' | b'f' | b'n' | b'r' | b't'] => Escape::Whole(None),
        [b'u', ref digits @ ..] => match digits.last() {
            Some(last) if !last.is_ascii_hexdigit() => Escape::Wrong,
            _ if digits.len() < 4 => Escape::Open,
            _ => {
                let code = std::str::from_utf8(digits).ok();
                let code = code.and_then(|digits| u32::from_str_radix(digits, 16).ok());
                Escape::Whole(code.and_then(|code| u8::try_from(code).ok()).filter(u8::is_ascii))
            }
        },
        _ => Escape::Wrong,
    }
}

#[cfg(test)]
mod tests;
