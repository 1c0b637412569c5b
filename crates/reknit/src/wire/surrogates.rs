//! Halves of surrogate pairs in a provider's own form.
//!
//! Servers that split text into tokens by UTF-16 units send the two halves of a pair in two deltas. A string
//! cannot contain a half, so it is replaced by a mark when the frame is read. The marks in the finished form
//! are resolved: two that meet become their character, one alone becomes U+FFFD.

use crate::json::Value;
use crate::text::Text;

/// Starts a mark. Unicode reserves noncharacters for such internal use.
const MARK: char = '\u{FDD0}';
/// The noncharacter for the digit 0; it and the next fifteen are the hexadecimal digits of a unit.
const ZERO: u32 = 0xFDD1;
const DIGITS: usize = 4;

/// The JSON text `json` with a mark for each lone half; `None` if there is no lone half.
pub(super) fn mark(json: &str) -> Option<String> {
    let mut marked = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', json.as_bytes().get(at..).unwrap_or_default()) {
        let start = at + found;
        at = start + 2;
        let Some(unit @ 0xD800..=0xDFFF) = escaped_unit(json, start) else { continue };
        at = start + 6;
        let is_pair = unit < 0xDC00 && matches!(escaped_unit(json, at), Some(0xDC00..=0xDFFF));
        if is_pair {
            at += 6;
            continue;
        }
        marked.push_str(&json[copied..start]);
        marked.push(MARK);
        let digits = (0..DIGITS).rev().map(|digit| u32::from(unit >> (4 * digit)) & 0xF);
        marked.extend(digits.filter_map(|digit| char::from_u32(ZERO + digit)));
        copied = at;
    }
    (copied > 0).then(|| marked + &json[copied..])
}

/// The value with every mark in its strings and keys resolved.
pub(super) fn resolve(value: Value) -> Value {
    match value {
        Value::String(text) if text.segments().any(|segment| segment.contains(MARK)) => {
            Value::String(Text::from(resolve_text(&text.to_str())))
        }
        Value::Array(list) => Value::Array(list.into_iter().map(resolve).collect()),
        Value::Object(object) => {
            let members = object.into_iter().map(|(key, value)| (resolve_text(&key), resolve(value)));
            Value::Object(members.collect())
        }
        other => other,
    }
}

fn resolve_text(text: &str) -> String {
    let mut resolved = String::with_capacity(text.len());
    let mut units = Vec::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        if let Some((unit, after)) = marked_unit(rest) {
            units.push(unit);
            rest = after;
            continue;
        }
        flush(&mut units, &mut resolved);
        resolved.push(character);
        rest = &rest[character.len_utf8()..];
    }
    flush(&mut units, &mut resolved);
    resolved
}

/// The unit of the mark that a text starts with, and what follows it.
fn marked_unit(text: &str) -> Option<(u16, &str)> {
    let mut characters = text.strip_prefix(MARK)?.chars();
    let unit = (0..DIGITS).try_fold(0, |unit: u16, _| {
        let digit = u32::from(characters.next()?).checked_sub(ZERO).filter(|digit| *digit < 16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })?;
    Some((unit, characters.as_str()))
}

fn flush(units: &mut Vec<u16>, out: &mut String) {
    let characters = char::decode_utf16(units.drain(..));
    out.extend(characters.map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER)));
}

/// The unit of the `\u` escape at a byte, if there is one.
fn escaped_unit(json: &str, at: usize) -> Option<u16> {
    let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pieces: &[&str], expected: &str) {
        let mut joined = Text::new();
        for piece in pieces {
            let marked = mark(piece).unwrap_or((*piece).to_owned());
            let value: Value = marked.parse().unwrap();
            joined.push_str(&value.as_str().unwrap());
        }
        assert_eq!(resolve(Value::String(joined)).as_str().unwrap(), expected);
    }

    #[test]
    fn halves_that_meet_become_their_character() {
        check(&[r#""wave \ud83d""#, r#""\udc4b!""#], "wave 👋!");
        check(&[r#""\ud83d""#, r#""""#, r#""\udc4b""#], "👋");
    }

    #[test]
    fn a_half_alone_is_replaced() {
        check(&[r#""\ud83dx\udc4b""#, r#""\ud83d""#], "\u{fffd}x\u{fffd}\u{fffd}");
        check(&[r#""\ud83d\ud83d\udc4b""#], "\u{fffd}👋");
    }

    #[test]
    fn anything_else_is_left_alone() {
        for json in [r#""\ud83d\udc4b \u00e9""#, r#""\\ud83d""#, r#""plain""#, r#""\\\\\\ud83d""#, "\"\\"] {
            assert_eq!(mark(json), None, "{json}");
        }
        assert_eq!(resolve_text("\u{FDD0}x"), "\u{FDD0}x");
    }
}
