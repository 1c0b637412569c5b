//! [`Interrupt`]: whether somebody pressed Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use signal_hook::consts::SIGINT;
use signal_hook::flag;

use crate::outcome::Trouble;

/// Set by the first interrupt; the second ends the program at once.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    pub(crate) fn watch() -> Result<Self, Trouble> {
        let is_set = Arc::new(AtomicBool::new(false));
        // In this order, or the first one would find the flag set already.
        flag::register_conditional_shutdown(SIGINT, 130, Arc::clone(&is_set))
            .and_then(|_| flag::register(SIGINT, Arc::clone(&is_set)))
            .context("cannot prepare for an interrupt")?;
        Ok(Self(is_set))
    }

    pub(crate) fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
