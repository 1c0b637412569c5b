//! [`ReadAhead`]: reads input that may take its time on a thread of its own, so that waiting for it can be
//! interrupted.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use reknit::Diagnostic;
use reknit::recording::Read;

use super::reads::{Reads, Time};
use crate::interrupt::Interrupt;
use crate::outcome::CommandError;

/// The input as it comes in.
pub(super) struct ReadAhead {
    side: Side,
    interrupt: Interrupt,
    start: Instant,
    /// Of the last read.
    time: Time,
}

/// Where the input is read.
enum Side {
    Thread(Receiver<Incoming>),
    /// Here: a file never keeps anybody waiting.
    Here(Box<Reads>),
}

/// One step of the input.
pub(super) enum Incoming {
    Read {
        bytes: Vec<u8>,
        time: Time,
    },
    /// All was read; what was wrong with a recording that is cut.
    End(Option<Diagnostic>),
    Broken(CommandError),
}

/// How many reads may wait: enough to keep the sender going, few enough to use little memory.
const MAX_WAITING: usize = 4;

/// How long it takes at most to notice an interrupt.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

impl ReadAhead {
    pub(super) fn open(reads: Reads) -> Result<Self, CommandError> {
        let interrupt = Interrupt::watch()?;
        let start = Instant::now();
        let time = reads.time(&Read::new(0, []), Duration::ZERO);
        let side = if reads.is_stored() {
            Side::Here(Box::new(reads))
        } else {
            let (sender, incoming) = mpsc::sync_channel(MAX_WAITING);
            let stop = interrupt.clone();
            // It ends with the program: a blocked read cannot be cancelled.
            thread::spawn(move || read_all(reads, &sender, start, &stop));
            Side::Thread(incoming)
        };
        Ok(Self { side, interrupt, start, time })
    }

    /// The next step, if it comes within a time. After an interrupt: what was read already, then the end.
    pub(super) fn next(&mut self, within: Duration) -> Option<Incoming> {
        let step = match &mut self.side {
            Side::Here(_) if self.interrupt.is_set() => Incoming::End(None),
            Side::Here(reads) => step(reads, self.start),
            Side::Thread(incoming) => wait(incoming, &self.interrupt, within)?,
        };
        if let Incoming::Read { time, .. } = &step {
            self.time = *time;
        }
        Some(step)
    }

    /// Whether the input ended because of an interrupt.
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupt.is_set()
    }

    /// When the last read came.
    pub(super) fn at(&self) -> Option<Duration> {
        match self.time {
            Time::Live(at) | Time::Recorded(at) => Some(at),
            Time::Stored => None,
        }
    }

    /// How long it has taken so far, in the time of the recording if it is one.
    pub(super) fn elapsed(&self) -> Option<Duration> {
        match self.time {
            Time::Live(_) => Some(self.start.elapsed()),
            Time::Recorded(at) => Some(at),
            Time::Stored => None,
        }
    }
}

/// The next step from the thread, if it comes within a time.
fn wait(incoming: &Receiver<Incoming>, interrupt: &Interrupt, within: Duration) -> Option<Incoming> {
    let start = Instant::now();
    loop {
        let wait = if interrupt.is_set() { Duration::ZERO } else { within.min(POLL_INTERVAL) };
        match incoming.recv_timeout(wait) {
            Ok(step) => return Some(step),
            Err(RecvTimeoutError::Disconnected) => return Some(Incoming::End(None)),
            Err(RecvTimeoutError::Timeout) if interrupt.is_set() => return Some(Incoming::End(None)),
            Err(RecvTimeoutError::Timeout) if start.elapsed() >= within => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn step(reads: &mut Reads, start: Instant) -> Incoming {
    match reads.next() {
        Ok(Some(read)) => {
            let time = reads.time(&read, start.elapsed());
            Incoming::Read { bytes: read.bytes, time }
        }
        Ok(None) => Incoming::End(reads.problem().cloned()),
        Err(error) => Incoming::Broken(error),
    }
}

fn read_all(mut reads: Reads, sender: &SyncSender<Incoming>, start: Instant, stop: &Interrupt) {
    while !stop.is_set() {
        let step = step(&mut reads, start);
        let goes_on = matches!(step, Incoming::Read { .. });
        if sender.send(step).is_err() || !goes_on {
            return;
        }
    }
}
