//! The first line of a recording.

use super::error::Fault;
use super::{VERSION, secrets, with_extra};
use crate::json::{Object, Value};

/// The first line of a recording: what was recorded and when, and the request that it answers.
///
/// It never contains the secrets of the request, whether it was created or read from a file.
///
/// ```
/// use reknit::recording::Header;
///
/// let request = serde_json::json!({
///     "method": "POST",
///     "url": "https://api.example.org/v1/messages?key=abc",
///     "headers": [["x-api-key", "abc"], ["accept", "*/*"]],
///     "body": {"max_tokens": 9},
/// });
/// let header = Header::new(request.into());
/// let kept = header.request().unwrap();
/// assert_eq!(kept.get("url"), Some(&"https://api.example.org/v1/messages?key=[removed]".into()));
/// assert_eq!(kept.pointer("/headers/0/1"), Some(&"[removed]".into()));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Header {
    /// The name of the dialect, if it was known. It may be one that this version does not support.
    pub dialect: Option<String>,
    /// When the recording was started, in the format of RFC 3339.
    pub at: Option<String>,
    request: Option<Value>,
    response: Option<Value>,
    /// Unknown members, which are kept.
    extra: Object,
}

impl Header {
    /// Creates the header of a response to this request, whose secrets are removed.
    ///
    /// A request is an object with `method`, `url`, `headers` (pairs of a name and a value, in order) and, if it is
    /// JSON, the `body`.
    pub fn new(mut request: Value) -> Self {
        secrets::remove(&mut request);
        Self { request: Some(request), ..Self::default() }
    }

    /// The request without its secrets, as it is in the line.
    pub fn request(&self) -> Option<&Value> {
        self.request.as_ref()
    }

    /// The same with what is known about the response besides its content, whose secrets are removed.
    #[must_use]
    pub fn with_response(mut self, mut response: Value) -> Self {
        secrets::remove(&mut response);
        self.response = Some(response);
        self
    }

    /// What is known about the response besides its content, such as its status.
    pub fn response(&self) -> Option<&Value> {
        self.response.as_ref()
    }

    /// Its line in a recording, including the line end.
    pub fn to_line(&self) -> String {
        let mut line = Object::new();
        // This has to be first, because `detect` looks for it there.
        line.insert("reknit", "recording");
        line.insert("version", VERSION);
        if let Some(dialect) = &self.dialect {
            line.insert("dialect", dialect.as_str());
        }
        if let Some(at) = &self.at {
            line.insert("at", at.as_str());
        }
        if let Some(request) = &self.request {
            line.insert("request", request.clone());
        }
        if let Some(response) = &self.response {
            line.insert("response", response.clone());
        }
        with_extra(line, &self.extra)
    }

    pub(super) fn from_line(mut line: Object) -> Result<Self, Fault> {
        if line.remove("reknit") != Some("recording".into()) {
            return Err(Fault::NoHeader);
        }
        let version = line.remove("version").unwrap_or_default();
        if version.as_u64() != Some(VERSION) {
            return Err(Fault::UnknownVersion { found: version.to_string() });
        }
        let dialect = string(&mut line, "dialect")?;
        let at = string(&mut line, "at")?;
        // The recording may have been written by something that does not remove secrets.
        let mut rest = Value::from(line);
        secrets::remove(&mut rest);
        let mut extra = if let Value::Object(rest) = rest { rest } else { Object::new() };
        let (request, response) = (extra.remove("request"), extra.remove("response"));
        Ok(Self { dialect, at, request, response, extra })
    }
}

fn string(line: &mut Object, member: &'static str) -> Result<Option<String>, Fault> {
    match line.remove(member) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.to_str().into_owned())),
        Some(_) => Err(Fault::MalformedHeader { member }),
    }
}
