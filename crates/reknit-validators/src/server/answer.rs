//! [`Answer`]: what the server sends.

use reknit::Dialect;

use super::Say;

/// An answer to a request.
#[derive(Clone, Debug)]
pub struct Answer {
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) steps: Vec<Step>,
    /// Whether not even its head is sent.
    pub(super) is_slow: bool,
}

/// How long the pieces of a recorded stream are: shorter than a frame, so that they end within one.
const RECORDED_PIECE: usize = 61;

/// A step of an answer.
#[derive(Clone, Debug)]
pub enum Step {
    /// Sends a piece.
    Bytes(Vec<u8>),
    /// Closes the connection in the middle of the answer.
    Cut,
    /// Sends nothing more, until the client goes away.
    Stall,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Too many requests, without a word about when to come back.
    RateLimit,
    /// Too many requests; the client is to come back at once.
    RateLimitWithTime,
    /// Too much to do, as Anthropic says it.
    Overloaded,
    /// The server failed.
    Failed,
    /// The connection is cut in the middle of the text.
    Cut,
    /// Nothing more comes, in the middle of the text.
    Stall,
    /// An error in the middle of the text.
    Error,
    /// An error in the place of the reply, after an answer that looked well.
    ErrorFirst,
    /// Nothing comes at all.
    Slow,
    /// A reply that calls itself something else.
    ContentType,
    /// The page of a proxy.
    Page,
}

impl Fault {
    /// All of them, by name.
    pub const ALL: [(&str, Self); 11] = [
        ("429", Self::RateLimit),
        ("429-with-time", Self::RateLimitWithTime),
        ("529", Self::Overloaded),
        ("500", Self::Failed),
        ("cut", Self::Cut),
        ("stall", Self::Stall),
        ("error", Self::Error),
        ("error-first", Self::ErrorFirst),
        ("slow", Self::Slow),
        ("content-type", Self::ContentType),
        ("page", Self::Page),
    ];
}

impl Answer {
    /// A reply of a model, as a stream.
    pub fn reply(dialect: Dialect, say: &Say) -> Self {
        let pieces = say.frames(dialect).into_iter().map(|frame| Step::Bytes(frame.into_bytes()));
        Self::stream(dialect, pieces.collect())
    }

    /// A stream that was recorded, in short pieces that end anywhere.
    pub fn recorded(dialect: Dialect, stream: &[u8]) -> Self {
        let pieces = stream.chunks(RECORDED_PIECE).map(|piece| Step::Bytes(piece.to_vec()));
        Self::stream(dialect, pieces.collect())
    }

    /// A reply that goes wrong; what breaks off does so in the middle.
    pub fn faulty(dialect: Dialect, say: &Say, fault: Fault) -> Self {
        let frames = say.frames(dialect);
        let half = frames[..frames.len() / 2].iter().map(String::len).sum();
        Self::reply(dialect, say).failing(dialect, fault, half)
    }

    /// The same answer if it goes wrong; what breaks off does so after so many bytes.
    #[must_use]
    pub fn failing(self, dialect: Dialect, fault: Fault, kept: usize) -> Self {
        match fault {
            Fault::RateLimit => Self::error(429, "rate_limit_error", "Too many requests"),
            Fault::RateLimitWithTime => {
                let mut answer = Self::error(429, "rate_limit_error", "Too many requests");
                answer.headers.push(("retry-after".to_owned(), "0".to_owned()));
                answer
            }
            Fault::Overloaded => Self::error(529, "overloaded_error", "Overloaded"),
            Fault::Failed => Self::error(500, "api_error", "Internal server error"),
            Fault::Cut => self.broken(kept, Step::Cut),
            Fault::Stall => self.broken(kept, Step::Stall),
            Fault::Error => self.broken(kept, Step::Bytes(mid_stream_error(dialect).as_bytes().to_vec())),
            Fault::ErrorFirst => self.broken(0, Step::Bytes(mid_stream_error(dialect).as_bytes().to_vec())),
            Fault::Slow => Self { is_slow: true, ..self },
            Fault::ContentType => Self { content_type: "image/png".to_owned(), ..self },
            Fault::Page => Self::page(200, "<html><head><title>Sign in</title></head><body>…</body></html>"),
        }
    }

    /// So many bytes of it, and then this.
    fn broken(mut self, kept: usize, end: Step) -> Self {
        let mut left = kept;
        self.steps.retain_mut(|step| {
            if let Step::Bytes(bytes) = step {
                bytes.truncate(left);
                left -= bytes.len();
            }
            !matches!(step, Step::Bytes(bytes) if bytes.is_empty())
        });
        self.steps.push(end);
        self
    }

    /// A page in HTML.
    pub fn page(status: u16, html: &str) -> Self {
        let steps = vec![Step::Bytes(html.as_bytes().to_vec())];
        let content_type = "text/html; charset=utf-8".to_owned();
        Self { status, content_type, headers: Vec::new(), steps, is_slow: false }
    }

    /// An error, in a form that the SDKs of all providers understand.
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        let message = reknit::json::Value::from(message);
        let body = format!(r#"{{"type":"error","error":{{"type":"{kind}","message":{message}}}}}"#);
        Self {
            status,
            content_type: "application/json".to_owned(),
            headers: ids(),
            steps: vec![Step::Bytes(body.into_bytes())],
            is_slow: false,
        }
    }

    /// A stream of these steps.
    pub fn stream(dialect: Dialect, steps: Vec<Step>) -> Self {
        let content_type = match dialect {
            Dialect::Ollama => "application/x-ndjson",
            _ => "text/event-stream; charset=utf-8",
        };
        Self { status: 200, content_type: content_type.to_owned(), headers: ids(), steps, is_slow: false }
    }

    /// The same with another header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// The names of an exchange, in the headers of both kinds of providers.
fn ids() -> Vec<(String, String)> {
    ["request-id", "x-request-id"].map(|name| (name.to_owned(), "req_strict_1".to_owned())).to_vec()
}

fn mid_stream_error(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::OpenAiChat => {
            "data: {\"error\":{\"message\":\"The engine is overloaded\",\"type\":\"overloaded_error\",\"param\":null,\"code\":null}}\n\n"
        }
        Dialect::OpenAiResponses => {
            "event: error\ndata: {\"type\":\"error\",\"sequence_number\":99,\"code\":\"overloaded_error\",\"message\":\"The engine is overloaded\",\"param\":null}\n\n"
        }
        Dialect::Gemini => {
            "data: {\"error\":{\"code\":503,\"message\":\"The model is overloaded.\",\"status\":\"UNAVAILABLE\"}}\r\n\r\n"
        }
        Dialect::Ollama => "{\"error\":\"the model is overloaded\"}\n",
        _ => {
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"},\"request_id\":\"req_strict_1\"}\n\n"
        }
    }
}
