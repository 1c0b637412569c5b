//! As much of HTTP/1.1 as a recording needs: one request at a time, with every size limited.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use super::asked::Asked;

// Limits that no SDK comes near; a client that exceeds one is refused.
const HEAD_BYTES: usize = 32 * 1024;
const HEADERS: usize = 128;
/// Requests may contain images. Bodies are skipped, not stored.
const BODY_BYTES: u64 = 256 << 20;
const CHUNK_HEAD_BYTES: usize = 1024;
/// How long a client may take to send or receive something.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long to wait for a client to close the connection after the last response.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// A request, whose body has been skipped.
///
/// Only one thing is known of the body: whether it asks for a stream.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) next: Next,
    pub(super) stream: Option<bool>,
}

/// What happens after a response.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Next {
    /// The connection stays open for another request.
    Request,
    /// The connection is closed.
    Close,
}

/// Why there is no valid request.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The connection was closed or broken, so there is nobody to answer.
    Gone,
    Answer(Status, String),
}

impl From<io::Error> for Refusal {
    /// This includes timeouts, which is how unused connections are closed.
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

/// A status code and its reason phrase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Status(pub(super) u16, &'static str);

impl Status {
    pub(super) const OK: Self = Self(200, "OK");
    pub(super) const BAD_REQUEST: Self = Self(400, "Bad Request");
    pub(super) const NOT_FOUND: Self = Self(404, "Not Found");
    pub(super) const NOT_ALLOWED: Self = Self(405, "Method Not Allowed");
    pub(super) const CONFLICT: Self = Self(409, "Conflict");
    pub(super) const TOO_LARGE: Self = Self(413, "Content Too Large");
    pub(super) const HEAD_TOO_LARGE: Self = Self(431, "Request Header Fields Too Large");
    pub(super) const FAILED: Self = Self(500, "Internal Server Error");
    pub(super) const BUSY: Self = Self(503, "Service Unavailable");
    pub(super) const VERSION: Self = Self(505, "HTTP Version Not Supported");
}

/// The length of a body.
enum Length {
    Known(u64),
    Chunked,
}

/// A connection from a client.
pub(super) struct Connection {
    stream: TcpStream,
    /// Bytes that were received but not processed yet.
    unread: Vec<u8>,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        // Otherwise a piece could be held until the next one, and would not arrive as it was cut.
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        Ok(Self { stream, unread: Vec::new() })
    }

    /// Reads one request, including its body.
    pub(super) fn read_request(&mut self) -> Result<Request, Refusal> {
        loop {
            if let Some((mut request, length, expects)) = self.parse_head()? {
                if expects {
                    self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
                }
                let mut asked = Asked::default();
                match length {
                    Length::Known(length) if length > BODY_BYTES => return Err(too_large()),
                    Length::Known(length) => self.skip(length, |piece| asked.push(piece))?,
                    Length::Chunked => self.skip_chunks(&mut asked)?,
                }
                request.stream = asked.stream();
                return Ok(request);
            }
            if self.unread.len() >= HEAD_BYTES {
                let what = format!("the request head is longer than {HEAD_BYTES} bytes");
                return Err(Refusal::Answer(Status::HEAD_TOO_LARGE, what));
            }
            self.read_more()?;
        }
    }

    /// Sends a complete response, the last one of the connection.
    pub(super) fn answer(&mut self, status: Status, content_type: &str, body: &str) -> io::Result<()> {
        let allow = if status == Status::NOT_ALLOWED { "Allow: POST\r\n" } else { "" };
        let Status(code, words) = status;
        let length = body.len();
        write!(
            self.stream,
            "HTTP/1.1 {code} {words}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\
             {allow}Connection: close\r\n\r\n{body}"
        )
    }

    /// Starts a response of unknown length.
    ///
    /// It announces that the connection will be closed only if the client has announced it. If the server did,
    /// Node's `fetch` would take a broken connection for the end of the body.
    pub(super) fn begin_chunks(&mut self, content_type: &str, next: Next) -> io::Result<()> {
        let close = if next == Next::Close { "Connection: close\r\n" } else { "" };
        write!(
            self.stream,
            "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nCache-Control: no-cache\r\n\
             {close}Transfer-Encoding: chunked\r\n\r\n"
        )
    }

    /// Sends a chunk in one write. It must not be empty, because that would end the response.
    pub(super) fn chunk(&mut self, piece: &[u8]) -> io::Result<()> {
        let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
        chunk.extend_from_slice(piece);
        chunk.extend_from_slice(b"\r\n");
        self.stream.write_all(&chunk)
    }

    pub(super) fn end_chunks(&mut self) -> io::Result<()> {
        self.stream.write_all(b"0\r\n\r\n")
    }

    /// Closes the connection so that what was sent still arrives. Closing it with unread bytes would reset it.
    pub(super) fn close(mut self) {
        let ended = self.stream.shutdown(Shutdown::Write);
        if ended.and_then(|()| self.stream.set_read_timeout(Some(CLOSE_TIMEOUT))).is_ok() {
            let mut left = BODY_BYTES;
            let mut buffer = [0; 8 * 1024];
            while let Ok(length @ 1..) = self.stream.read(&mut buffer) {
                left = left.saturating_sub(length as u64);
                if left == 0 {
                    break;
                }
            }
        }
    }

    /// Takes the head from the unread bytes, if it is complete: the request, the length of its body, and whether
    /// the client waits to be told to send it.
    fn parse_head(&mut self) -> Result<Option<(Request, Length, bool)>, Refusal> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut head = httparse::Request::new(&mut headers);
        let end = match head.parse(&self.unread) {
            Ok(httparse::Status::Complete(end)) => end,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(error) => return Err(bad(format!("not an HTTP request: {error}"))),
        };
        if head.version != Some(1) {
            return Err(Refusal::Answer(Status::VERSION, "only HTTP/1.1 is supported".to_owned()));
        }
        let length = body_length(head.headers)?;
        let expects = value_of(head.headers, "expect").is_some_and(|value| value == "100-continue");
        let closes = value_of(head.headers, "connection")
            .is_some_and(|value| value.split(',').any(|word| word.trim().eq_ignore_ascii_case("close")));
        let request = Request {
            next: if closes { Next::Close } else { Next::Request },
            method: head.method.unwrap_or_default().to_owned(),
            target: head.path.unwrap_or_default().to_owned(),
            stream: None,
        };
        self.unread.drain(..end);
        Ok(Some((request, length, expects)))
    }

    fn read_more(&mut self) -> Result<(), Refusal> {
        let mut buffer = [0; 8 * 1024];
        match self.stream.read(&mut buffer)? {
            0 => Err(Refusal::Gone),
            length => {
                self.unread.extend_from_slice(&buffer[..length]);
                Ok(())
            }
        }
    }

    fn skip(&mut self, length: u64, mut look: impl FnMut(&[u8])) -> Result<(), Refusal> {
        let mut left = length;
        loop {
            let here = self.unread.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            look(&self.unread[..here]);
            self.unread.drain(..here);
            left -= here as u64;
            if left == 0 {
                return Ok(());
            }
            self.read_more()?;
        }
    }

    fn skip_chunks(&mut self, asked: &mut Asked) -> Result<(), Refusal> {
        let mut skipped = 0_u64;
        loop {
            let (head, size) = match httparse::parse_chunk_size(&self.unread) {
                Ok(httparse::Status::Complete(found)) => found,
                Ok(httparse::Status::Partial) if self.unread.len() < CHUNK_HEAD_BYTES => {
                    self.read_more()?;
                    continue;
                }
                Ok(httparse::Status::Partial) | Err(_) => {
                    return Err(bad("the body is not chunked".to_owned()));
                }
            };
            skipped = skipped.saturating_add(size);
            if skipped > BODY_BYTES {
                return Err(too_large());
            }
            self.unread.drain(..head);
            if size == 0 {
                return self.skip_trailers();
            }
            self.skip(size, |piece| asked.push(piece))?;
            // The line end after it.
            self.skip(2, |_| {})?;
        }
    }

    /// Skips the lines after the last chunk, up to and including the empty one.
    fn skip_trailers(&mut self) -> Result<(), Refusal> {
        let mut skipped = 0;
        while skipped < HEAD_BYTES {
            match self.unread.windows(2).position(|two| two == b"\r\n") {
                Some(length) => {
                    self.unread.drain(..length + 2);
                    skipped += length + 2;
                    if length == 0 {
                        return Ok(());
                    }
                }
                None if self.unread.len() < HEAD_BYTES => self.read_more()?,
                None => break,
            }
        }
        Err(bad("the trailers of the body are too long".to_owned()))
    }
}

fn body_length(headers: &[httparse::Header<'_>]) -> Result<Length, Refusal> {
    let coded = value_of(headers, "transfer-encoding");
    match (coded, value_of(headers, "content-length")) {
        (None, None) => Ok(Length::Known(0)),
        (Some(coding), None) if coding.eq_ignore_ascii_case("chunked") => Ok(Length::Chunked),
        (Some(coding), _) => Err(bad(format!("a body encoded as `{coding}` cannot be read"))),
        (None, Some(length)) => {
            let length = length.parse().map_err(|_| bad(format!("invalid content length `{length}`")))?;
            Ok(Length::Known(length))
        }
    }
}

fn value_of<'a>(headers: &[httparse::Header<'a>], name: &str) -> Option<std::borrow::Cow<'a, str>> {
    let found = headers.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
    Some(String::from_utf8_lossy(found.value.trim_ascii()))
}

fn bad(what: String) -> Refusal {
    Refusal::Answer(Status::BAD_REQUEST, what)
}

fn too_large() -> Refusal {
    Refusal::Answer(Status::TOO_LARGE, format!("the body is longer than {BODY_BYTES} bytes"))
}
