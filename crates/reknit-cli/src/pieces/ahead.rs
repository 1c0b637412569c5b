//! [`Ahead`]: reads on a thread of its own, so that whoever waits for them can be interrupted.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use reknit::Diagnostic;
use reknit::recording::Read;

use super::reads::{Reads, Time};
use crate::interrupt::Interrupt;
use crate::outcome::Trouble;

/// The input as it comes in.
pub(super) struct Ahead {
    incoming: Receiver<Incoming>,
    interrupt: Interrupt,
    start: Instant,
    /// Of the last read.
    time: Time,
}

/// One step of the input.
pub(super) enum Incoming {
    Read {
        bytes: Vec<u8>,
        time: Time,
    },
    /// All was read; what was wrong with a recording that is cut.
    End(Option<Diagnostic>),
    Broken(Trouble),
}

/// How many reads may wait: enough not to stop the sender, few enough not to matter in memory.
const MOST_WAITING: usize = 4;

/// How long an interrupt is unnoticed at most.
const LOOK: Duration = Duration::from_millis(50);

impl Ahead {
    pub(super) fn open(reads: Reads) -> Result<Self, Trouble> {
        let interrupt = Interrupt::watch()?;
        let start = Instant::now();
        let time = reads.time(&Read::new(0, []), Duration::ZERO);
        let (sender, incoming) = mpsc::sync_channel(MOST_WAITING);
        let stop = interrupt.clone();
        // It ends with the program: a read that waits for ever cannot be ended otherwise.
        thread::spawn(move || read_all(reads, &sender, start, &stop));
        Ok(Self { incoming, interrupt, start, time })
    }

    /// The next step, if it comes in time. Behind an interrupt, what was read already and then the end.
    pub(super) fn next(&mut self, within: Duration) -> Option<Incoming> {
        let start = Instant::now();
        loop {
            let wait = if self.interrupt.came() { Duration::ZERO } else { within.min(LOOK) };
            match self.incoming.recv_timeout(wait) {
                Ok(step) => {
                    if let Incoming::Read { time, .. } = &step {
                        self.time = *time;
                    }
                    return Some(step);
                }
                Err(RecvTimeoutError::Disconnected) => return Some(Incoming::End(None)),
                Err(RecvTimeoutError::Timeout) if self.interrupt.came() => return Some(Incoming::End(None)),
                Err(RecvTimeoutError::Timeout) if start.elapsed() >= within => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Whether the input ended because of an interrupt.
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupt.came()
    }

    /// When the last read came.
    pub(super) fn at(&self) -> Option<Duration> {
        match self.time {
            Time::Live(at) | Time::Recorded(at) => Some(at),
            Time::Stored => None,
        }
    }

    /// How long it takes already, in the time of a recording if it is one.
    pub(super) fn elapsed(&self) -> Option<Duration> {
        match self.time {
            Time::Live(_) => Some(self.start.elapsed()),
            Time::Recorded(at) => Some(at),
            Time::Stored => None,
        }
    }
}

fn read_all(mut reads: Reads, sender: &SyncSender<Incoming>, start: Instant, stop: &Interrupt) {
    while !stop.came() {
        let step = match reads.next() {
            Ok(Some(read)) => {
                let time = reads.time(&read, start.elapsed());
                Incoming::Read { bytes: read.bytes, time }
            }
            Ok(None) => Incoming::End(reads.problem().cloned()),
            Err(trouble) => Incoming::Broken(trouble),
        };
        let goes_on = matches!(step, Incoming::Read { .. });
        if sender.send(step).is_err() || !goes_on {
            return;
        }
    }
}
