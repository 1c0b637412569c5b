//! Removes secrets from requests.
//!
//! Secrets are recognized by lists of names. These remove too much rather than too little: recordings are
//! shown to others, and nobody misses the value of a parameter called `key`.

use std::borrow::Cow;
use std::fmt::Write;

use crate::json::{ErrorKind, PartialJson, Value};

/// What a secret is replaced with.
pub(super) const REMOVED: &str = "[removed]";

/// The value of a header is secret if its name contains one of these.
const IN_HEADER_NAMES: [&str; 9] =
    ["auth", "cookie", "credential", "key", "passw", "secret", "session", "signature", "token"];

/// The value of a header is secret if it starts with one of these, whatever its name.
const HEADER_VALUES: [&str; 2] = ["basic ", "bearer "];

/// The value of a member or a parameter is secret if one of the words of its name is one of these.
///
/// Only whole words count, because `max_tokens` is not secret.
const IN_MEMBER_NAMES: [&str; 18] = [
    "accesstoken",
    "apikey",
    "auth",
    "authorization",
    "authtoken",
    "bearer",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "key",
    "passphrase",
    "passwd",
    "password",
    "pwd",
    "secret",
    "sig",
    "token",
];

/// The value of a parameter is also secret if one of the words of its name is this. A member with this name is
/// the signature of a thinking block.
const IN_PARAMETER_NAMES: &str = "signature";

/// How many times a URL may be percent-encoded. If it still contains escapes after that, it is removed
/// unread, so that the work is bounded and nothing can hide deeper.
const ENCODED: usize = 4;

/// Removes the secrets from a request, or from a value that contains one.
pub(super) fn remove(value: &mut Value) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => {
            if let Some(cleaned) = cleaned_text(&text.to_str()) {
                *value = cleaned.into();
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(remove),
        Value::Object(members) => {
            for (name, value) in members.iter_mut() {
                match (name, &mut *value) {
                    (_, Value::Null | Value::Bool(_)) => {}
                    (name, _) if is_secret_member(name) => *value = REMOVED.into(),
                    // Unlike other text this is a URL even if it contains whitespace.
                    ("url", Value::String(text)) => *value = without_secret_pairs(&text.to_str()).into(),
                    ("headers", Value::Array(pairs)) => pairs.iter_mut().for_each(remove_from_pair),
                    ("headers", Value::Object(headers)) => {
                        headers.iter_mut().for_each(|(name, value)| remove_from_header(name, value));
                    }
                    (_, _) => remove(value),
                }
            }
        }
    }
}

fn remove_from_pair(pair: &mut Value) {
    match pair.as_array_mut().map(|pair| pair.as_mut_slice()) {
        Some([Value::String(name), value]) => remove_from_header(&name.to_str(), value),
        _ => remove(pair),
    }
}

fn remove_from_header(name: &str, value: &mut Value) {
    let name = name.to_ascii_lowercase();
    let text = value.as_str().unwrap_or_default().trim_start().to_ascii_lowercase();
    let is_secret = IN_HEADER_NAMES.iter().any(|part| name.contains(part))
        || HEADER_VALUES.iter().any(|beginning| text.starts_with(beginning));
    if is_secret {
        *value = REMOVED.into();
    } else {
        remove(value);
    }
}

/// A text that is JSON, a URL or a form, without its secrets. `None` if it has none.
fn cleaned_text(text: &str) -> Option<String> {
    if text.trim_start().starts_with(['{', '[']) {
        // The depth does not depend on the caller's limits, because what counts as a secret must not.
        let mut json = PartialJson::new();
        let read = json.push(text).and_then(|()| json.check());
        let mut value = json.value().cloned().unwrap_or_default();
        remove(&mut value);
        let has_secrets = json.value().is_some_and(|before| *before != value);
        return match read {
            Ok(()) => has_secrets.then(|| value.to_string()),
            // What is below that depth is unknown.
            Err(error) if error.kind() == ErrorKind::TooDeep => Some(REMOVED.to_owned()),
            // It was cut, or has a mistake: it cannot be written again without the secret.
            Err(_) => has_secrets.then(|| REMOVED.to_owned()),
        };
    }
    // A text with whitespace is prose, and what it says about a key is not the key itself.
    if text.contains(char::is_whitespace) || !text.contains(['=', '@', '%']) {
        return None;
    }
    Some(without_secret_pairs(text)).filter(|cleaned| cleaned != text)
}

/// A URL or a form without the values of secret parameters and without user information.
fn without_secret_pairs(text: &str) -> String {
    without_secrets(text, ENCODED)
}

/// The same for one that may contain others, percent-encoded at most `encoded` times.
fn without_secrets(text: &str, encoded: usize) -> String {
    let text = without_users(text);
    let mut cleaned = String::with_capacity(text.len());
    for part in text.split_inclusive(['?', '#', '&', ';']) {
        let (pair, separator) = match part.char_indices().next_back() {
            Some((end, '?' | '#' | '&' | ';')) => part.split_at(end),
            _ => (part, ""),
        };
        match pair.split_once('=') {
            Some((name, _)) if is_secret_parameter(&decoded(after_path(name))) => {
                cleaned.extend([name, "=", REMOVED]);
            }
            Some((name, value)) => cleaned.extend([name, "=", &without_encoded_secrets(value, encoded)]),
            None => cleaned.push_str(&without_encoded_secrets(pair, encoded)),
        }
        cleaned.push_str(separator);
    }
    cleaned
}

/// A part of a URL without the secrets that it contains when it is decoded, or unchanged if it has none.
fn without_encoded_secrets(part: &str, encoded: usize) -> Cow<'_, str> {
    let decoded = decoded(part);
    if decoded == part {
        return part.into();
    }
    if encoded == 0 {
        return REMOVED.into();
    }
    match without_secrets(&decoded, encoded - 1) {
        cleaned if cleaned == decoded => part.into(),
        cleaned => reencoded(&cleaned).into(),
    }
}

/// Encodes a text again, with escapes for everything that would end the part of the URL that it is in.
fn reencoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'!'..=b'~' if !b"%?#&;=+".contains(&byte) => encoded.push(byte.into()),
            _ => write!(encoded, "%{byte:02X}").expect("writing to a string cannot fail"),
        }
    }
    encoded
}

/// A URL without user information before its host and before the hosts of URLs inside it.
fn without_users(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((scheme, after)) = rest.split_once("://") {
        let host_ends = after.find(['/', '?', '#']).unwrap_or(after.len());
        let (host, path) = after.split_at(host_ends);
        let (user, host) = host.rfind('@').map_or(("", host), |at| (REMOVED, &host[at..]));
        cleaned.extend([scheme, "://", user, host]);
        rest = path;
    }
    cleaned + rest
}

fn after_path(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// A name or a part of a URL as the server reads it.
fn decoded(name: &str) -> String {
    let hex = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match tail {
            [high, low, ..] if *first == b'%' => hex(*high).zip(hex(*low)),
            _ => None,
        };
        bytes.push(escaped.map_or(*first, |(high, low)| high << 4 | low));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn is_secret_parameter(name: &str) -> bool {
    is_secret_member(name) || words(name).iter().any(|word| word == IN_PARAMETER_NAMES)
}

fn is_secret_member(name: &str) -> bool {
    words(name).iter().any(|word| IN_MEMBER_NAMES.contains(&word.as_str()))
}

/// The words of a name in lower case: `x-api-key`, `api_key`, `apiKey` and `APIKey` all have `key`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    let mut rest = name.chars().peekable();
    while let Some(c) = rest.next() {
        let capital = c.is_uppercase()
            && (!before.is_uppercase() || rest.peek().is_some_and(|next| next.is_lowercase()));
        if capital || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words
}
