//! [`Ahead`]: reads on a thread of its own, so that whoever waits for them can be interrupted.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::Duration;

use reknit::Diagnostic;

use super::reads::Reads;
use crate::interrupt::Interrupt;
use crate::outcome::Trouble;

/// The input as it comes in.
pub(super) struct Ahead {
    incoming: Receiver<Incoming>,
    interrupt: Interrupt,
}

/// One step of the input.
pub(super) enum Incoming {
    Read(Vec<u8>),
    /// All was read; what was wrong with a recording that is cut.
    End(Option<Diagnostic>),
    Broken(Trouble),
}

/// How many reads may wait: enough not to stop the sender, few enough not to matter in memory.
const MOST_WAITING: usize = 4;

/// How long an interrupt is unnoticed at most.
const LOOK: Duration = Duration::from_millis(50);

impl Ahead {
    pub(super) fn open(file: Option<&Path>) -> Result<Self, Trouble> {
        let reads = Reads::open(file)?;
        let interrupt = Interrupt::watch()?;
        let (sender, incoming) = mpsc::sync_channel(MOST_WAITING);
        let stop = interrupt.clone();
        // It ends with the program: a read that waits for ever cannot be ended otherwise.
        thread::spawn(move || read_all(reads, &sender, &stop));
        Ok(Self { incoming, interrupt })
    }

    /// The next step. Behind an interrupt, what was read already and then the end.
    pub(super) fn next(&self) -> Incoming {
        loop {
            let wait = if self.interrupt.came() { Duration::ZERO } else { LOOK };
            match self.incoming.recv_timeout(wait) {
                Ok(step) => return step,
                Err(RecvTimeoutError::Disconnected) => return Incoming::End(None),
                Err(RecvTimeoutError::Timeout) if self.interrupt.came() => return Incoming::End(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Whether the input ended because of an interrupt.
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupt.came()
    }
}

fn read_all(mut reads: Reads, sender: &SyncSender<Incoming>, stop: &Interrupt) {
    while !stop.came() {
        let step = match reads.next() {
            Ok(Some(read)) => Incoming::Read(read.bytes),
            Ok(None) => Incoming::End(reads.problem().cloned()),
            Err(trouble) => Incoming::Broken(trouble),
        };
        let goes_on = matches!(step, Incoming::Read(_));
        if sender.send(step).is_err() || !goes_on {
            return;
        }
    }
}
