//! [`Look`]: what an input is that no reply could be read from.

use anyhow::anyhow;
use reknit::Message;
use reknit::message::Status;

use crate::outcome::CommandError;

/// The beginning of an input.
#[derive(Default)]
pub(super) struct Beginning {
    first: Vec<u8>,
}

/// How much of an input is looked at.
const ENOUGH: usize = 4096;

/// What an input looks like.
#[derive(Debug, PartialEq)]
enum Look {
    Empty,
    /// A page, with its title.
    Html(Option<String>),
    Compressed(&'static str),
    Utf16,
    /// Bytes that are not a text.
    Binary,
}

/// The first bytes of what is compressed and not decompressed here. Brotli has no such bytes.
const COMPRESSED: [(&str, &[u8]); 6] = [
    ("bzip2", b"BZh"),
    ("xz", b"\xfd7zXZ\0"),
    ("zip", b"PK\x03\x04"),
    ("lz4", b"\x04\x22\x4d\x18"),
    ("lzip", b"LZIP"),
    ("compress", b"\x1f\x9d"),
];

impl Beginning {
    /// Takes a piece of the input.
    pub(super) fn take(&mut self, piece: &[u8]) {
        let room = ENOUGH - self.first.len();
        self.first.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    /// Why there is no reply in an input that looks like something else.
    pub(super) fn explain(&self) -> Option<CommandError> {
        let (what, hint) = match look(&self.first)? {
            Look::Empty => (
                "the input is empty".to_owned(),
                "nothing arrived: `curl -i` shows the status of the response and its headers",
            ),
            Look::Html(title) => (
                title.map_or_else(
                    || "the input is an HTML page and not a stream".to_owned(),
                    |title| format!("the input is an HTML page and not a stream: `{title}`"),
                ),
                "a proxy or the wrong server has answered: check the URL, and the status with `curl -i`",
            ),
            Look::Compressed(name) => (
                format!("the input is compressed with {name}"),
                "let curl decompress it with `--compressed`; gzip, zlib and zstd are read as they are",
            ),
            Look::Utf16 => ("the input is UTF-16".to_owned(), "save it as UTF-8"),
            Look::Binary => (
                "the input is not text".to_owned(),
                "if it is the body of a response, it may be compressed: let curl decompress it with `--compressed`",
            ),
        };
        let kind = reknit::diagnostic::Kind::UnknownDialect.name();
        Some(CommandError::with_hint(anyhow!("{what}"), hint).explained_as(kind))
    }
}

/// Whether nothing was read of a message: it is not even known that there is one.
pub(super) fn is_nothing(message: &Message) -> bool {
    let is_cut = matches!(message.status(), Status::Waiting | Status::Cut);
    is_cut && message.blocks().len() == 0 && message.id().is_none() && message.model().is_none()
}

/// Whether this is the beginning of an AWS event stream, which is binary and read as it is: the length of the first
/// message and that of its headers fit each other.
fn is_event_stream(first: &[u8]) -> bool {
    const AROUND: u32 = 16;
    let number = |at: usize| Some(u32::from_be_bytes(first.get(at..at + 4)?.try_into().ok()?));
    match (number(0), number(4)) {
        (Some(message), Some(headers)) => {
            message < 1 << 24 && headers.checked_add(AROUND).is_some_and(|least| least <= message)
        }
        _ => false,
    }
}

fn look(first: &[u8]) -> Option<Look> {
    if first.is_empty() {
        return Some(Look::Empty);
    }
    if let Some((name, _)) = COMPRESSED.iter().find(|(_, mark)| first.starts_with(mark)) {
        return Some(Look::Compressed(name));
    }
    if first.starts_with(b"\xff\xfe") || first.starts_with(b"\xfe\xff") {
        return Some(Look::Utf16);
    }
    if is_event_stream(first) {
        return None;
    }
    let text = String::from_utf8_lossy(first);
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let begins_with =
        |word: &str| start.get(..word.len()).is_some_and(|first| first.eq_ignore_ascii_case(word));
    if ["<!doctype html", "<html", "<head"].into_iter().any(begins_with) {
        return Some(Look::Html(title(start)));
    }
    // Half a character at the end of what is looked at does not count much.
    let odd = text.chars().filter(|char| *char == char::REPLACEMENT_CHARACTER || is_control(*char)).count();
    (odd * 10 > text.chars().count()).then_some(Look::Binary)
}

fn is_control(char: char) -> bool {
    char.is_control() && !char.is_ascii_whitespace()
}

/// The title of a page, on one line.
fn title(page: &str) -> Option<String> {
    let lower = page.to_ascii_lowercase();
    let start = lower.find("<title>")? + "<title>".len();
    let length = lower[start..].find("</title>")?;
    let words: Vec<_> = page[start..start + length].split_whitespace().collect();
    Some(words.join(" ")).filter(|title| !title.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_recognised_by_its_beginning() {
        let check = |first: &[u8], expected| assert_eq!(look(first), expected, "{first:?}");
        check(b"", Some(Look::Empty));
        check(b"data: {}\n\n", None);
        check("data: {\"text\":\"日本語 👩‍💻\"}\n".as_bytes(), None);
        check("data: {\"text\":\"日本語\"}\n".as_bytes().split_last().expect("it is long").1, None);
        check(
            b"\n<!DOCTYPE html>\n<HTML><Title>\n 502 Bad\n Gateway </title>",
            Some(Look::Html(Some("502 Bad Gateway".to_owned()))),
        );
        check(b"<html><body>no title", Some(Look::Html(None)));
        check(b"BZh91AY&SY", Some(Look::Compressed("bzip2")));
        check(b"\xff\xfed\0a\0", Some(Look::Utf16));
        check(b"\x8b\x02\x80\x00\x03\xf1\xe2", Some(Look::Binary));
    }
}
