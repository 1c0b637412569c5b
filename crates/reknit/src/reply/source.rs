//! [`Source`]: from bytes to the events of a reply, including the detection of its dialect.

use std::collections::VecDeque;
use std::ops::Range;

use super::Error;
use crate::diagnostic::{self, Place};
use crate::event::Event;
use crate::frame::{Decoder, Frame, Kind};
use crate::json::{ErrorKind, Value};
use crate::limits::Limits;
use crate::wire::{Dialect, Native, Translator, is_heartbeat};

/// How many frames may come before one that shows the dialect: streams may begin with some that show none.
const UNDECIDED: usize = 8;

/// How many bytes of such frames are kept.
const UNDECIDED_BYTES: usize = 1 << 20;

/// How much of a frame an error quotes.
const QUOTED: usize = 60;

#[derive(Debug)]
pub(super) struct Source {
    decoder: Decoder,
    wire: Wire,
    native: Building,
    /// Where the last frame begins.
    place: Place,
    frames: u64,
    /// Where the last frame begins, if the input ended inside it.
    dropped: Option<u64>,
}

/// The translator.
#[derive(Debug)]
enum Wire {
    /// None yet: these frames could be of any dialect.
    Unknown(Vec<Held>),
    /// That of the dialect that was named. No frame has confirmed it yet.
    Named(Dialect, Translator),
    Known(Dialect, Translator),
    /// None any more: the rest is refused.
    Stopped(Option<Dialect>),
}

/// Whether the provider's own form is built as well.
#[derive(Debug)]
enum Building {
    No,
    /// By this, as soon as the dialect is known. It is not named there, so that a program that never wants it is
    /// linked without it.
    Wanted(fn(Dialect) -> Option<Native>),
    Native(Native),
}

/// A frame that is kept until the dialect is known.
#[derive(Debug)]
struct Held {
    number: u64,
    bytes: Range<u64>,
    kind: Kind,
    event: String,
    data: String,
}

/// The result of reading on.
pub(super) enum Step {
    Frame,
    Nothing,
}

impl Source {
    pub(super) fn named(dialect: Dialect) -> Self {
        Self { wire: Wire::Named(dialect, Translator::new(dialect)), ..Self::unknown() }
    }

    pub(super) fn unknown() -> Self {
        Self {
            decoder: Decoder::detect(&Limits::default()),
            wire: Wire::Unknown(Vec::new()),
            native: Building::No,
            place: Place::default(),
            frames: 0,
            dropped: None,
        }
    }

    /// The source of a reply that does not come from a provider.
    pub(super) fn none() -> Self {
        Self { wire: Wire::Stopped(None), ..Self::unknown() }
    }

    pub(super) fn limit(&mut self, limits: &Limits) {
        self.decoder = Decoder::detect(limits);
    }

    pub(super) fn build_native(&mut self) {
        self.native = Building::Wanted(Native::new);
    }

    pub(super) fn push(&mut self, piece: &[u8]) {
        self.decoder.push(piece);
    }

    pub(super) fn finish(&mut self) {
        self.decoder.finish();
    }

    pub(super) fn place(&self) -> Place {
        self.place
    }

    pub(super) fn dialect(&self) -> Option<Dialect> {
        match &self.wire {
            Wire::Named(dialect, _) | Wire::Known(dialect, _) => Some(*dialect),
            Wire::Stopped(dialect) => *dialect,
            Wire::Unknown(_) => None,
        }
    }

    pub(super) fn translator(&mut self) -> Option<&mut Translator> {
        match &mut self.wire {
            Wire::Named(_, translator) | Wire::Known(_, translator) => Some(translator),
            Wire::Unknown(_) | Wire::Stopped(_) => None,
        }
    }

    /// Gives the next frame to its translator. Events that go before those of the frame are added to
    /// `pending`.
    pub(super) fn read(&mut self, pending: &mut VecDeque<Event<'static>>) -> Result<Step, Error> {
        let step = match self.decoder.next_frame()? {
            Some(frame) => {
                self.place = Place { at: frame.bytes.start, frame: frame.number };
                self.frames += 1;
                let is_pause = || frame.kind == Kind::Comment || is_heartbeat(&frame);
                if matches!(self.wire, Wire::Unknown(_)) && is_pause() {
                    pending.push_back(Event::Ping);
                } else {
                    self.wire.take(&frame, &mut self.native)?;
                }
                Step::Frame
            }
            None => Step::Nothing,
        };
        // Diagnostics go before the frame that they are about.
        let mut position = 0;
        while let Some(found) = self.decoder.next_diagnostic() {
            if found.kind == diagnostic::Kind::DroppedFrame {
                self.dropped = found.place().map(|place| place.at);
            }
            pending.insert(position, Event::Noticed(found));
            position += 1;
        }
        Ok(step)
    }

    /// Handles the end of the input.
    pub(super) fn end(&mut self, taken: u64) -> Result<(), Error> {
        match &mut self.wire {
            Wire::Stopped(_) => Ok(()),
            // A stream that stops inside its first frame is cut, like any other.
            _ if self.frames == 0 && taken > 0 && self.dropped.is_none() => {
                Err(Error::NoFrame { bytes: taken })
            }
            Wire::Unknown(held) if held.iter().all(Held::is_cut) => Ok(()),
            Wire::Unknown(held) => held.first().map_or(Ok(()), |first| Err(first.unknown_dialect())),
            Wire::Named(_, translator) | Wire::Known(_, translator) => {
                translator.finish(self.dropped.map_or(0, |from| taken - from));
                Ok(())
            }
        }
    }

    /// Stops translating.
    pub(super) fn stop(&mut self) {
        self.wire = Wire::Stopped(self.dialect());
    }

    pub(super) fn into_native(self) -> Vec<Value> {
        match self.native {
            Building::Native(native) => native.into_messages(),
            Building::No | Building::Wanted(_) => Vec::new(),
        }
    }
}

impl Wire {
    fn take(&mut self, frame: &Frame<'_>, native: &mut Building) -> Result<(), Error> {
        match self {
            Self::Unknown(held) => match Dialect::detect(frame) {
                Some(dialect) => {
                    let held = std::mem::take(held);
                    *self = Self::Known(dialect, Translator::new(dialect));
                    held.iter().try_for_each(|held| self.take(&held.frame(), native))?;
                    self.take(frame, native)
                }
                None if held.len() < UNDECIDED && held_bytes(held) + frame.data.len() <= UNDECIDED_BYTES => {
                    held.push(Held::new(frame));
                    Ok(())
                }
                None => Err(held
                    .first()
                    .map_or_else(|| Held::new(frame).unknown_dialect(), Held::unknown_dialect)),
            },
            Self::Named(named, _) => {
                let named = *named;
                match Dialect::detect(frame) {
                    Some(found) if found == named => self.confirm(),
                    // An error is passed on in whatever form it comes.
                    Some(found) if !reports_error(frame) => {
                        return Err(Error::WrongDialect { at: frame.bytes.start, named, found });
                    }
                    Some(_) | None => {}
                }
                self.translate(frame, native);
                Ok(())
            }
            Self::Known(..) | Self::Stopped(_) => {
                self.translate(frame, native);
                Ok(())
            }
        }
    }

    fn confirm(&mut self) {
        *self = match std::mem::replace(self, Self::Stopped(None)) {
            Self::Named(dialect, translator) => Self::Known(dialect, translator),
            other => other,
        };
    }

    fn translate(&mut self, frame: &Frame<'_>, native: &mut Building) {
        let (Self::Named(dialect, translator) | Self::Known(dialect, translator)) = self else { return };
        translator.push(frame);
        if let Building::Wanted(new) = native {
            *native = new(*dialect).map_or(Building::No, Building::Native);
        }
        if let Building::Native(native) = native {
            native.push(frame);
        }
    }
}

impl Held {
    fn new(frame: &Frame<'_>) -> Self {
        Self {
            number: frame.number,
            bytes: frame.bytes.clone(),
            kind: frame.kind,
            event: frame.event.to_owned(),
            data: frame.data.to_owned(),
        }
    }

    fn frame(&self) -> Frame<'_> {
        Frame {
            number: self.number,
            bytes: self.bytes.clone(),
            kind: self.kind,
            event: &self.event,
            data: &self.data,
            id: "",
            retry: None,
        }
    }

    /// Whether the input ended inside this frame.
    fn is_cut(&self) -> bool {
        let error = self.data.parse::<Value>().err();
        error.is_some_and(|error| error.kind() == ErrorKind::Truncated)
    }

    fn unknown_dialect(&self) -> Error {
        let beginning = self.data.chars().take(QUOTED).collect();
        Error::UnknownDialect { at: self.bytes.start, frame: self.number, beginning }
    }
}

fn held_bytes(held: &[Held]) -> usize {
    held.iter().map(|held| held.data.len()).sum()
}

fn reports_error(frame: &Frame<'_>) -> bool {
    let data = frame.data.parse::<Value>();
    data.is_ok_and(|data| data.get("error").is_some_and(|error| !error.is_null()))
}
