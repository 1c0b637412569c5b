//! [`Error`]: why a request was not answered, or a reply broke off.

use reknit::Hint;
use std::borrow::Cow;
use std::time::Duration;

use reknit::json::{Object, Value};

/// Why a request was not answered, or a reply broke off.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct Error {
    /// What kind of error it is.
    pub kind: ErrorKind,
    /// What happened, with the provider's own words if there are any.
    pub message: String,
    /// The HTTP status code, if there was one.
    pub status: Option<u16>,
    /// The provider's name for the exchange, if it gave one.
    pub request_id: Option<String>,
    /// How long the provider asks to wait before the next request.
    pub retry_after: Option<Duration>,
    /// Whether the same request may succeed later.
    pub can_retry: bool,
}

/// What kind of error it is. `docs/errors.md` lists them by name, under `provider`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no connection.
    Unreachable,
    /// Nothing came in time.
    TimedOut,
    /// The connection was lost in the middle of a reply.
    ConnectionLost,
    /// The key is missing, wrong, or not good for this.
    KeyRefused,
    /// There is no such model, or no such address.
    NotFound,
    /// The conversation is longer than the model can read.
    TooLong,
    /// The request is wrong in another way.
    RequestRefused,
    /// There were too many requests, or no credit is left.
    RateLimited,
    /// The provider has too much to do.
    Overloaded,
    /// The provider failed.
    ProviderFailed,
    /// What came back is not a reply of a model, such as the page of a proxy.
    NotAReply,
}

impl ErrorKind {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Unreachable,
        Self::TimedOut,
        Self::ConnectionLost,
        Self::KeyRefused,
        Self::NotFound,
        Self::TooLong,
        Self::RequestRefused,
        Self::RateLimited,
        Self::Overloaded,
        Self::ProviderFailed,
        Self::NotAReply,
    ];

    /// Its name in the log and in `docs/errors.md`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::TimedOut => "timed-out",
            Self::ConnectionLost => "connection-lost",
            Self::KeyRefused => "key-refused",
            Self::NotFound => "not-found",
            Self::TooLong => "too-long",
            Self::RequestRefused => "request-refused",
            Self::RateLimited => "rate-limited",
            Self::Overloaded => "overloaded",
            Self::ProviderFailed => "provider-failed",
            Self::NotAReply => "not-a-reply",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What an HTTP status code means.
    pub(crate) fn of_status(status: u16) -> Self {
        match status {
            401 | 403 => Self::KeyRefused,
            404 => Self::NotFound,
            408 => Self::TimedOut,
            413 => Self::TooLong,
            429 => Self::RateLimited,
            503 | 529 => Self::Overloaded,
            500.. => Self::ProviderFailed,
            _ => Self::RequestRefused,
        }
    }

    /// What the provider's own word for an error means, such as `overloaded_error`.
    pub(crate) fn of_word(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| word.contains(part));
        match () {
            () if has(&["overload", "unavailable"]) => Some(Self::Overloaded),
            () if has(&["rate_limit", "rate limit", "resource_exhausted", "quota"]) => {
                Some(Self::RateLimited)
            }
            () if has(&["authentication", "permission", "api_key", "api key", "unauthenticated"]) => {
                Some(Self::KeyRefused)
            }
            () if has(&["context_length", "too_large", "too long", "context window", "context length"]) => {
                Some(Self::TooLong)
            }
            () if has(&["not_found", "not found"]) => Some(Self::NotFound),
            () if has(&["invalid"]) => Some(Self::RequestRefused),
            () => None,
        }
    }

    /// Whether the same request may succeed later.
    fn can_retry(self) -> bool {
        match self {
            Self::Unreachable
            | Self::TimedOut
            | Self::ConnectionLost
            | Self::RateLimited
            | Self::Overloaded
            | Self::ProviderFailed => true,
            Self::KeyRefused | Self::NotFound | Self::TooLong | Self::RequestRefused | Self::NotAReply => {
                false
            }
        }
    }
}

impl Hint for ErrorKind {
    fn hint(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Unreachable => "check the network, the address and the proxy: `reknit doctor` does",
            Self::TimedOut => "try again; for a slow model raise `timeouts` in the configuration",
            Self::ConnectionLost => "try again",
            Self::KeyRefused => "check the key: `reknit models` shows which variable it comes from",
            Self::NotFound => "check the names of the model and the address",
            Self::TooLong => "start a new session, or use a model that reads more",
            Self::RequestRefused => "check `body` and `tags` of the model in the configuration",
            Self::RateLimited => "wait, or check the plan and the credit of the account",
            Self::Overloaded => "wait, or use another model",
            Self::ProviderFailed => "try again; the provider's status page may say more",
            Self::NotAReply => "check the address: a proxy or another server has answered",
        })
    }
}

impl Error {
    /// An error of a kind. Whether the same request may succeed later depends on the kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            status: None,
            request_id: None,
            retry_after: None,
            can_retry: kind.can_retry(),
        }
    }

    /// The connection failed. The same request may succeed later.
    pub fn connection(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::ConnectionLost, message)
    }

    /// The request cannot succeed.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::RequestRefused, message)
    }

    /// What the log has about it besides its message and its status.
    pub(crate) fn members(&self) -> Object {
        let mut members = Object::new();
        members.insert("kind", self.kind.name());
        if let Some(id) = &self.request_id {
            members.insert("requestId", &**id);
        }
        members
    }

    /// All of it, for a recording.
    #[cfg(any(feature = "http", test))]
    pub(crate) fn to_json(&self) -> Value {
        let mut members = self.members();
        members.insert("message", &*self.message);
        if let Some(status) = self.status {
            members.insert("status", u64::from(status));
        }
        if let Some(wait) = self.retry_after {
            members.insert("retryAfterMs", u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        }
        members.insert("canRetry", self.can_retry);
        members.into()
    }

    /// The opposite of [`to_json`](Self::to_json).
    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        let text = |member: &str| value.get(member)?.as_str().map(Cow::into_owned);
        let number = |member: &str| value.get(member)?.as_u64();
        Some(Self {
            kind: ErrorKind::named(&text("kind")?)?,
            message: text("message")?,
            status: number("status").and_then(|status| u16::try_from(status).ok()),
            request_id: text("requestId"),
            retry_after: number("retryAfterMs").map(Duration::from_millis),
            can_retry: value.get("canRetry")?.as_bool()?,
        })
    }
}

/// A time as people read it.
pub(crate) fn seconds(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        format!("{} ms", time.as_millis())
    } else {
        format!("{} s", time.as_secs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_survives_a_recording() {
        for kind in ErrorKind::ALL {
            assert_eq!(ErrorKind::named(kind.name()), Some(kind));
            let mut error = Error::new(kind, "no luck");
            assert_eq!(Error::from_json(&error.to_json()), Some(error.clone()));
            error.status = Some(529);
            error.request_id = Some("req_1".to_owned());
            error.retry_after = Some(Duration::from_millis(1500));
            error.can_retry = !error.can_retry;
            assert_eq!(Error::from_json(&error.to_json()), Some(error));
        }
    }

    #[test]
    fn words_of_providers_name_the_kind() {
        let check = |word: &str, kind| assert_eq!(ErrorKind::of_word(word), kind, "{word}");
        check("overloaded_error", Some(ErrorKind::Overloaded));
        check("UNAVAILABLE", Some(ErrorKind::Overloaded));
        check("rate_limit_exceeded", Some(ErrorKind::RateLimited));
        check("RESOURCE_EXHAUSTED", Some(ErrorKind::RateLimited));
        check("insufficient_quota", Some(ErrorKind::RateLimited));
        check("invalid_api_key", Some(ErrorKind::KeyRefused));
        check("authentication_error", Some(ErrorKind::KeyRefused));
        check("context_length_exceeded", Some(ErrorKind::TooLong));
        check("prompt is too long: 210000 tokens > 200000 maximum", Some(ErrorKind::TooLong));
        check("not_found_error", Some(ErrorKind::NotFound));
        check("invalid_request_error", Some(ErrorKind::RequestRefused));
        check("server_error", None);
    }
}
