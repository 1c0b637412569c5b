//! Splits bytes into [`Frame`]s: server-sent events, lines, elements of a JSON array, messages of an AWS event
//! stream, or the whole input.
//!
//! A [`Decoder`] takes bytes as they arrive, cut anywhere, and returns the same frames and the same
//! diagnostics however they were cut. It looks at each byte a bounded number of times, copies decoded text
//! once, and does not allocate per frame once its buffers have grown.
//!
//! ```
//! use reknit::Limits;
//! use reknit::frame::Decoder;
//!
//! let mut decoder = Decoder::detect(&Limits::default());
//! let mut seen = Vec::new();
//! for piece in ["event: ping\nda", "ta: {}\n", "\ndata: [DO", "NE]\n\n"] {
//!     decoder.push(piece.as_bytes());
//!     while let Some(frame) = decoder.next_frame()? {
//!         seen.push(format!("{} {:?} {}", frame.number, frame.event, frame.data));
//!     }
//! }
//! decoder.finish();
//! assert!(decoder.next_frame()?.is_none());
//! assert!(decoder.next_diagnostic().is_none());
//! assert_eq!(seen, [r#"0 "ping" {}"#, r#"1 "" [DONE]"#]);
//! # Ok::<(), reknit::frame::Error>(())
//! ```

mod array;
mod aws_event_stream;
mod detect;
mod lines;
mod queue;
mod sse;
mod utf8;
mod whole;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use crate::diagnostic::Hint;
use crate::{Diagnostic, Limits};
use array::Array;
use aws_event_stream::Messages;
use detect::Detector;
use lines::Lines;
use queue::Queue;
use sse::{Ending, Sse};
use whole::Whole;

/// One unit of a provider's stream: a server-sent event, a line, an element of an array.
///
/// A [`Decoder`] returns frames that borrow from it. Frames that come from elsewhere, such as a browser's
/// `EventSource`, can be built by hand and given to a `wire::Translator`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The number of the frame in the stream, counted from 0. Comments are counted too.
    pub number: u64,
    /// The bytes of the whole input that it occupies, without the line end of its last line.
    pub bytes: Range<u64>,
    /// Whether it carries data, reports an error or is a comment.
    pub kind: Kind,
    /// The name of a server-sent event or of a message of an AWS event stream. Empty if it has none, and in
    /// every other framing.
    pub event: &'a str,
    /// The data, the text of a comment, or the description of an error that has no data.
    pub data: &'a str,
    /// The last event id of the stream up to this frame. Empty if there was none.
    pub id: &'a str,
    /// The reconnection time in milliseconds, if the stream has set one since the last frame with data.
    pub retry: Option<u64>,
}

/// The kinds of [`Frame`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Data.
    Data,
    /// A comment between server-sent events. Servers send them to keep the connection open.
    Comment,
    /// An exception or an error of an AWS event stream; [`Frame::event`] says which.
    Error,
}

/// How a stream is divided into frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Framing {
    /// Server-sent events, as specified by the WHATWG.
    Sse,
    /// One frame per non-blank line, as in NDJSON. Lines end in LF or CRLF.
    Lines,
    /// One frame per element of a JSON array, with the exact text of the element.
    JsonArray,
    /// One frame per message of an AWS event stream (`application/vnd.amazon.eventstream`), once its checksums
    /// were found to be right. Of its headers, those that say what it is are read.
    AwsEventStream,
    /// One frame for the whole input, returned when the input ends.
    Whole,
}

/// Turns bytes into [`Frame`]s.
///
/// `push` never blocks and never fails. Frames that have not been taken are kept, so take all of them after
/// each push.
#[derive(Debug)]
pub struct Decoder {
    stage: Stage,
    /// `None` until it is known. It is still known when the input has ended.
    framing: Option<Framing>,
    ending: Ending,
    limit: usize,
    /// The number of bytes pushed so far.
    at: u64,
    queue: Queue,
}

impl Decoder {
    /// Creates a decoder for a stream whose framing is known.
    pub fn new(framing: Framing, limits: &Limits) -> Self {
        Self { framing: Some(framing), ..Self::detect(limits) }
    }

    /// Creates a decoder that detects the framing from the first bytes that are not whitespace.
    ///
    /// `[` starts a [`Framing::JsonArray`]. `{` starts [`Framing::Lines`] if the object ends on the same line,
    /// and otherwise a [`Framing::Whole`]. Two lengths that fit each other, at the very beginning, start a
    /// [`Framing::AwsEventStream`]. Anything else is [`Framing::Sse`].
    pub fn detect(limits: &Limits) -> Self {
        Self {
            stage: Stage::Start { bom: 0 },
            framing: None,
            ending: Ending::Lenient,
            limit: limits.frame_bytes,
            at: 0,
            queue: Queue::default(),
        }
    }

    /// Follows the WHATWG to the letter at the end of server-sent events: an event that is not terminated by
    /// a blank line is dropped, with a diagnostic, even if its last line is complete.
    ///
    /// ```
    /// use reknit::Limits;
    /// use reknit::frame::{Decoder, Framing};
    ///
    /// let mut decoder = Decoder::new(Framing::Sse, &Limits::default()).strict();
    /// decoder.push(b"data: no blank line\n");
    /// decoder.finish();
    /// assert!(decoder.next_frame()?.is_none());
    /// assert_eq!(decoder.next_diagnostic().unwrap().message, "the input ended inside the frame: 20 bytes dropped");
    /// # Ok::<(), reknit::frame::Error>(())
    /// ```
    #[must_use]
    pub fn strict(self) -> Self {
        Self { ending: Ending::Strict, ..self }
    }

    /// Takes the next piece of the stream. After an error or [`Decoder::finish`] it is ignored.
    pub fn push(&mut self, piece: &[u8]) {
        self.queue.reclaim();
        let at = self.at;
        self.at += piece.len() as u64;
        if let Err(error) = self.route(piece, at) {
            self.refuse(error);
        }
    }

    /// Returns the next frame, or `None` if more bytes are needed or the input has ended.
    ///
    /// A frame that is too long or damaged is an error. It is returned once, after the frames before it, and the
    /// rest of the input is refused.
    #[inline]
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, Error> {
        self.queue.next_frame()
    }

    /// Returns the next diagnostic about the frame returned last or, at the end of the input, about its end.
    ///
    /// Diagnostics that have not been taken are kept, so take all of them after each frame.
    pub fn next_diagnostic(&mut self) -> Option<Diagnostic> {
        self.queue.next_diagnostic()
    }

    /// Signals the end of the input. Frames that were waiting for it can then be taken.
    pub fn finish(&mut self) {
        match self.close() {
            Ok(()) => self.stage = Stage::Ended,
            Err(error) => self.refuse(error),
        }
    }

    /// The framing of the stream, once it is known.
    pub fn framing(&self) -> Option<Framing> {
        self.framing
    }

    fn route(&mut self, piece: &[u8], at: u64) -> Result<(), Error> {
        match &mut self.stage {
            Stage::Start { bom } => {
                let bom = *bom;
                self.skip_bom(bom, piece, at)
            }
            Stage::Detecting(detector) => match detector.push(piece)? {
                Some(framing) => self.found(framing, piece, at),
                None => Ok(()),
            },
            Stage::Sse(sse) => sse.push(piece, at, &mut self.queue),
            Stage::Lines(lines) => lines.push(piece, at, &mut self.queue),
            Stage::Array(array) => array.push(piece, at, &mut self.queue),
            Stage::Messages(messages) => messages.push(piece, at, &mut self.queue),
            Stage::Whole(whole) => whole.push(piece, at, &mut self.queue),
            Stage::Ended => Ok(()),
        }
    }

    /// Drops a byte order mark, of which `bom` bytes have been seen. Bytes that turn out not to be one are
    /// passed on.
    fn skip_bom(&mut self, mut bom: usize, piece: &[u8], at: u64) -> Result<(), Error> {
        let mut used = 0;
        while bom < BOM.len() {
            match piece.get(used) {
                None => {
                    self.stage = Stage::Start { bom };
                    return Ok(());
                }
                Some(&byte) if byte == BOM[bom] => (bom, used) = (bom + 1, used + 1),
                Some(_) => {
                    self.begin(at + used as u64 - bom as u64);
                    self.route(&BOM[..bom], at + used as u64 - bom as u64)?;
                    return self.route(&piece[used..], at + used as u64);
                }
            }
        }
        self.begin(at + used as u64);
        self.route(&piece[used..], at + used as u64)
    }

    /// Leaves [`Stage::Start`]. The text starts at `at`.
    fn begin(&mut self, at: u64) {
        self.stage = match self.framing {
            None => Stage::Detecting(Detector::new(self.limit, at)),
            Some(framing) => self.stage_of(framing),
        };
    }

    /// Replays what the detector held back, then continues with `piece`.
    fn found(&mut self, framing: Framing, piece: &[u8], at: u64) -> Result<(), Error> {
        self.framing = Some(framing);
        let stage = self.stage_of(framing);
        if let Stage::Detecting(detector) = std::mem::replace(&mut self.stage, stage) {
            self.route(detector.held(), at - detector.held().len() as u64)?;
        }
        self.route(piece, at)
    }

    fn stage_of(&self, framing: Framing) -> Stage {
        match framing {
            Framing::Sse => Stage::Sse(Sse::new(self.limit, self.ending)),
            Framing::Lines => Stage::Lines(Lines::new(self.limit)),
            Framing::JsonArray => Stage::Array(Array::new(self.limit)),
            Framing::AwsEventStream => Stage::Messages(Messages::new(self.limit)),
            Framing::Whole => Stage::Whole(Whole::new(self.limit)),
        }
    }

    fn close(&mut self) -> Result<(), Error> {
        if let Stage::Start { bom } = self.stage {
            self.begin(self.at - bom as u64);
            self.route(&BOM[..bom], self.at - bom as u64)?;
        }
        if let Stage::Detecting(detector) = &self.stage
            && let Some(framing) = detector.finish()
        {
            self.found(framing, &[], self.at)?;
        }
        match &mut self.stage {
            Stage::Start { .. } | Stage::Detecting(_) | Stage::Ended => {}
            Stage::Sse(sse) => sse.finish(self.at, &mut self.queue),
            Stage::Lines(lines) => lines.finish(self.at, &mut self.queue),
            Stage::Array(array) => array.finish(self.at, &mut self.queue),
            Stage::Messages(messages) => messages.finish(self.at, &mut self.queue),
            Stage::Whole(whole) => whole.finish(self.at, &mut self.queue),
        }
        Ok(())
    }

    fn refuse(&mut self, error: Error) {
        if let Stage::Sse(sse) = &mut self.stage {
            sse.report(&mut self.queue);
        }
        self.stage = Stage::Ended;
        self.queue.refuse(error);
    }
}

/// Why a stream cannot be read any further.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A frame is longer than [`Limits::frame_bytes`].
    #[error("byte {at}: the frame is longer than {limit} bytes")]
    TooLong {
        /// The first byte of the whole input that was refused.
        at: u64,
        /// The limit.
        limit: usize,
    },
    /// A message of an AWS event stream is damaged.
    #[error("byte {at}: the frame is damaged: {damage}")]
    Damaged {
        /// Where the message begins, or one of its headers if that is what is damaged.
        at: u64,
        /// What is wrong.
        damage: Damage,
    },
}

/// What is wrong with a message of an AWS event stream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// The bytes do not have the checksum that the message states.
    #[error("its checksum is {stated:08x}, but that of its bytes is {computed:08x}")]
    Checksum {
        /// The checksum in the message.
        stated: u32,
        /// The checksum of its bytes.
        computed: u32,
    },
    /// The lengths do not fit each other.
    #[error("it cannot be {total} bytes long with {headers} bytes of headers")]
    Lengths {
        /// The length of the message.
        total: u32,
        /// The length of its headers.
        headers: u32,
    },
    /// A header is cut, or its value is of an unknown type.
    #[error("a header cannot be read")]
    Header,
}

impl Hint for Error {
    fn hint(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::TooLong { .. } => {
                "if frames of this length are expected, raise the limit (`Limits::frame_bytes` in the library)"
            }
            Self::Damaged { .. } => {
                "read the bytes exactly as the connection delivers them; if they are, request the reply again"
            }
        })
    }
}

const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// What reads the next byte.
#[derive(Debug)]
enum Stage {
    /// At the start of the input, after `bom` bytes of a byte order mark.
    Start {
        bom: usize,
    },
    Detecting(Detector),
    Sse(Sse),
    Lines(Lines),
    Array(Array),
    Messages(Messages),
    Whole(Whole),
    /// The input has ended, or the rest of it is refused.
    Ended,
}

/// Checks that `size` more bytes, the first of them at `at`, fit into `room`.
///
/// The error names the first byte past the limit, so it does not depend on how many bytes were asked for.
fn admit(size: usize, room: usize, at: u64, limit: usize) -> Result<(), Error> {
    if size <= room { Ok(()) } else { Err(Error::TooLong { at: at + room as u64, limit }) }
}

/// Whether a byte is whitespace in JSON. Detection skips the same bytes.
fn is_whitespace(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
