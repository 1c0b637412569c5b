//! The messages of an AWS event stream, which are binary.
//!
//! ```text
//! total length    4 bytes, as all numbers with the highest byte first
//! headers length  4 bytes
//! checksum        4 bytes: CRC-32 of the 8 bytes before it
//! headers         each with its name, the type of its value, and the value
//! payload         the rest
//! checksum        4 bytes: CRC-32 of everything before it
//! ```

use crc32fast::Hasher;

use super::queue::{Problem, Queue};
use super::utf8::{Lossy, Tally};
use super::{Damage, Error, Kind, admit};
use headers::Headers;

mod headers;

/// The length of both lengths and their checksum.
pub(super) const PRELUDE: usize = 12;
const CHECKSUM: usize = 4;

/// The framer of [`Framing::AwsEventStream`](super::Framing::AwsEventStream).
///
/// The length of the whole message counts towards the limit, so one that is too long is refused at its
/// beginning.
#[derive(Debug)]
pub(super) struct Messages {
    limit: usize,
    /// Where the message starts.
    start: u64,
    part: Part,
    /// How many bytes of the part are missing.
    missing: usize,
    /// The bytes of the part, unless it is the payload.
    held: Vec<u8>,
    /// Of all bytes of the message so far, except for the last checksum.
    hasher: Hasher,
    headers: Headers,
    lossy: Lossy,
    bad: Tally,
}

/// A part of a message.
#[derive(Clone, Copy, Debug)]
enum Part {
    Prelude,
    Headers { payload: usize },
    Payload,
    Checksum,
}

impl Messages {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            start: 0,
            part: Part::Prelude,
            missing: PRELUDE,
            held: Vec::new(),
            hasher: Hasher::new(),
            headers: Headers::default(),
            lossy: Lossy::default(),
            bad: Tally::default(),
        }
    }

    pub(super) fn push(&mut self, mut piece: &[u8], mut at: u64, queue: &mut Queue) -> Result<(), Error> {
        loop {
            let (here, rest) = piece.split_at(piece.len().min(self.missing));
            self.take(here, at, queue);
            (piece, at) = (rest, at + here.len() as u64);
            if self.missing > 0 {
                return Ok(());
            }
            self.end_part(at, queue)?;
        }
    }

    pub(super) fn finish(&mut self, at: u64, queue: &mut Queue) {
        if !self.is_between() {
            queue.discard();
            queue.problem(Problem::Dropped { at: self.start, bytes: at - self.start });
        }
    }

    fn is_between(&self) -> bool {
        matches!(self.part, Part::Prelude) && self.held.is_empty()
    }

    /// Takes some more bytes of the part.
    fn take(&mut self, bytes: &[u8], at: u64, queue: &mut Queue) {
        if self.is_between() {
            self.start = at;
        }
        self.missing -= bytes.len();
        match self.part {
            Part::Prelude | Part::Checksum => self.held.extend_from_slice(bytes),
            Part::Headers { .. } => {
                self.hasher.update(bytes);
                self.held.extend_from_slice(bytes);
            }
            Part::Payload => {
                self.hasher.update(bytes);
                self.lossy.push(bytes, at, queue.open(), &mut self.bad);
            }
        }
    }

    /// Reads the part, which ended at `at`, and begins the next one.
    fn end_part(&mut self, at: u64, queue: &mut Queue) -> Result<(), Error> {
        (self.part, self.missing) = match self.part {
            Part::Prelude => self.prelude()?,
            Part::Headers { payload } => {
                self.headers.read(&self.held, self.start + PRELUDE as u64)?;
                (Part::Payload, payload)
            }
            Part::Payload => (Part::Checksum, CHECKSUM),
            Part::Checksum => {
                self.check(number(&self.held))?;
                self.close(at, queue);
                (Part::Prelude, PRELUDE)
            }
        };
        self.held.clear();
        Ok(())
    }

    fn prelude(&mut self) -> Result<(Part, usize), Error> {
        let [total, headers, checksum] = [0, 4, 8].map(|at| number(&self.held[at..at + 4]));
        self.hasher.reset();
        self.hasher.update(&self.held[..8]);
        self.check(checksum)?;
        self.hasher.update(&self.held[8..]);
        let Some(payload) = payload_length(total, headers) else {
            return Err(Error::Damaged { at: self.start, damage: Damage::Lengths { total, headers } });
        };
        admit(total as usize, self.limit, self.start, self.limit)?;
        Ok((Part::Headers { payload }, headers as usize))
    }

    fn check(&self, stated: u32) -> Result<(), Error> {
        let computed = self.hasher.clone().finalize();
        if stated == computed {
            return Ok(());
        }
        Err(Error::Damaged { at: self.start, damage: Damage::Checksum { stated, computed } })
    }

    fn close(&mut self, end: u64, queue: &mut Queue) {
        self.lossy.end(end - CHECKSUM as u64, queue.open(), &mut self.bad);
        queue.tallied(&mut self.bad, Problem::InvalidUtf8);
        let Headers { kind, event, message } = &self.headers;
        if *kind == Kind::Error && queue.open_text().is_empty() {
            queue.open().push_str(message);
        }
        queue.close_as(self.start..end, *kind, event, None);
    }
}

/// Whether these bytes can be the beginning of a message: its lengths fit each other.
pub(super) fn has_lengths(prelude: &[u8; PRELUDE]) -> bool {
    payload_length(number(&prelude[..4]), number(&prelude[4..8])).is_some()
}

/// The length of the payload, if both lengths can be right.
fn payload_length(total: u32, headers: u32) -> Option<usize> {
    (total as usize).checked_sub(headers as usize)?.checked_sub(PRELUDE + CHECKSUM)
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}
