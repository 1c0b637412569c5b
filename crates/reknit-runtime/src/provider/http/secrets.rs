//! [`Secrets`]: what must not be shown.

use reqwest::Url;

use super::super::models::{Key, Model};

/// Texts that must not be shown, written or recorded.
#[derive(Clone)]
pub(super) struct Secrets(Vec<String>);

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
        let password = url.password().map(str::to_owned);
        let all = key.into_iter().chain(headers).chain(password);
        Self(all.filter(|secret| secret.len() >= SHORTEST).collect())
    }

    /// A text without them.
    pub(super) fn remove(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(&**secret, REMOVED))
    }

    /// Bytes without them.
    pub(super) fn remove_bytes<'a>(&self, bytes: &'a [u8]) -> std::borrow::Cow<'a, [u8]> {
        match std::str::from_utf8(bytes) {
            Ok(text) if self.0.iter().any(|secret| text.contains(&**secret)) => {
                self.remove(text).into_bytes().into()
            }
            _ => bytes.into(),
        }
    }
}
