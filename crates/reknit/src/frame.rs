//! Bytes to [`Frame`]s: server-sent events, lines, elements of a JSON array, or all of it at once.
//!
//! A [`Decoder`] takes bytes as they arrive, cut anywhere, and gives back the same frames and the same
//! problems for every way to cut them. It looks at each byte a bounded number of times, copies decoded
//! text once, and allocates nothing per frame once its buffers have grown.
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
//! assert!(decoder.next_problem().is_none());
//! assert_eq!(seen, [r#"0 "ping" {}"#, r#"1 "" [DONE]"#]);
//! # Ok::<(), reknit::frame::Error>(())
//! ```

mod array;
mod detect;
mod lines;
mod queue;
mod sse;
mod utf8;
mod whole;

#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::{Diagnostic, Limits};
use array::Array;
use detect::Detector;
use lines::Lines;
use queue::Queue;
use sse::{Ending, Sse};
use whole::Whole;

/// One unit of a provider's stream: a server-sent event, a line, an element of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Which frame of the stream it is, counted from 0; comments are counted too.
    pub number: u64,
    /// Where it stands in the whole input: from its first line, or its first byte, to the end of its last
    /// line without the line end.
    pub bytes: Range<u64>,
    /// Whether it carries data.
    pub kind: Kind,
    /// The name of a server-sent event; empty if it has none, and in every other framing.
    pub event: &'a str,
    /// The data; the text of a comment.
    pub data: &'a str,
    /// The last event id of the stream up to this frame; empty if there was none.
    pub id: &'a str,
    /// The reconnection time in milliseconds, if the stream set one since the last frame with data.
    pub retry: Option<u64>,
}

/// The sorts of [`Frame`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Data for the reader of the stream.
    Data,
    /// A comment between server-sent events: it says that the connection lives, and no more.
    Comment,
}

/// How a stream is cut into frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Framing {
    /// Server-sent events, by the rules of WHATWG.
    Sse,
    /// A frame on each line that is not blank, as in NDJSON. Lines end in LF or CRLF.
    Lines,
    /// The elements of one JSON array, each a frame of its exact text.
    JsonArray,
    /// The whole input is one frame, which comes with its end.
    Whole,
}

/// Turns bytes into [`Frame`]s.
///
/// `push` never blocks and never fails. Frames not yet taken are kept, so take them all after each push.
#[derive(Debug)]
pub struct Decoder {
    stage: Stage,
    /// `None` until it is known; stays when the stage has ended.
    framing: Option<Framing>,
    ending: Ending,
    limit: usize,
    /// How many bytes were pushed.
    at: u64,
    queue: Queue,
}

impl Decoder {
    /// A decoder for a stream whose framing is known.
    pub fn new(framing: Framing, limits: &Limits) -> Self {
        Self { framing: Some(framing), ..Self::detect(limits) }
    }

    /// A decoder that finds the framing from the first bytes that are not blank.
    ///
    /// `[` opens an array. `{` is [`Framing::Lines`] if the value closes on its line, else
    /// [`Framing::Whole`]. All else is [`Framing::Sse`].
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

    /// Reads the end of server-sent events to the letter of WHATWG: an event without its blank line is
    /// dropped, with a diagnostic, even if its last line is whole.
    ///
    /// ```
    /// use reknit::Limits;
    /// use reknit::frame::{Decoder, Framing};
    ///
    /// let mut decoder = Decoder::new(Framing::Sse, &Limits::default()).strict();
    /// decoder.push(b"data: no blank line\n");
    /// decoder.finish();
    /// assert!(decoder.next_frame()?.is_none());
    /// assert_eq!(decoder.next_problem().unwrap().message, "the input ended inside the frame: 20 bytes dropped");
    /// # Ok::<(), reknit::frame::Error>(())
    /// ```
    #[must_use]
    pub fn strict(self) -> Self {
        Self { ending: Ending::Strict, ..self }
    }

    /// Takes the next piece of the stream. After an error or [`Decoder::finish`] it is not looked at.
    pub fn push(&mut self, piece: &[u8]) {
        self.queue.reclaim();
        let at = self.at;
        self.at += piece.len() as u64;
        if let Err(error) = self.route(piece, at) {
            self.refuse(error);
        }
    }

    /// The next frame, or `None` if more bytes are needed or the input is over.
    ///
    /// A frame that is too long is an error, reported once and behind the frames before it; the rest of
    /// the input is refused.
    #[inline]
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, Error> {
        self.queue.next_frame()
    }

    /// The next problem that stands before the frame returned last; at the end of input, before the end.
    ///
    /// Problems that nobody takes stay, so take them all after each frame.
    pub fn next_problem(&mut self) -> Option<Diagnostic> {
        self.queue.next_problem()
    }

    /// Says that the input is over; what was waiting for its end can then be taken.
    pub fn finish(&mut self) {
        match self.close() {
            Ok(()) => self.stage = Stage::Ended,
            Err(error) => self.refuse(error),
        }
    }

    /// How the stream is cut into frames, once that is known.
    pub fn framing(&self) -> Option<Framing> {
        self.framing
    }

    /// The last event id as of the frame returned last: where to resume a broken connection.
    ///
    /// When all frames are taken, that of an event without data behind the last frame counts too.
    pub fn last_event_id(&self) -> &str {
        self.queue.last_event_id()
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
            Stage::Whole(whole) => whole.push(piece, at, &mut self.queue),
            Stage::Ended => Ok(()),
        }
    }

    /// Drops a byte order mark of which `bom` bytes were seen; what only looked like one is passed on.
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

    /// Leaves [`Stage::Start`]; the text starts at `at`.
    fn begin(&mut self, at: u64) {
        self.stage = match self.framing {
            None => Stage::Detecting(Detector::new(self.limit, at)),
            Some(framing) => self.stage_of(framing),
        };
    }

    /// Replays what the detector held back, then goes on with `piece`.
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

/// Why a stream is read no further.
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
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TooLong { .. } => {
                "raise the limit on a frame (`Limits::frame_bytes` in the library) if frames of this length are expected"
            }
        }
    }
}

const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// What the next byte is read by.
#[derive(Debug)]
enum Stage {
    /// At the start of the input; so many bytes of a byte order mark were seen.
    Start {
        bom: usize,
    },
    Detecting(Detector),
    Sse(Sse),
    Lines(Lines),
    Array(Array),
    Whole(Whole),
    /// The input is over, or the rest of it refused.
    Ended,
}

/// Checks that `size` more bytes, the first of them at `at`, fit into `room`.
///
/// The limit is a place in the input: whoever asks with more bytes at once is told the same byte.
fn admit(size: usize, room: usize, at: u64, limit: usize) -> Result<(), Error> {
    if size <= room { Ok(()) } else { Err(Error::TooLong { at: at + room as u64, limit }) }
}

/// Blanks of JSON, which are also those that detection looks past.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
