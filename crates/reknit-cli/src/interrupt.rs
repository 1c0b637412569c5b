//! [`Interrupt`]: whether the user pressed Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use signal_hook::consts::SIGINT;
use signal_hook::flag;

use crate::outcome::CommandError;

/// Set by the first interrupt; the second ends the program at once.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    pub(crate) fn watch() -> Result<Self, CommandError> {
        let is_set = Arc::new(AtomicBool::new(false));
        // In this order: otherwise the first interrupt would find the flag already set.
        flag::register_conditional_shutdown(SIGINT, 130, Arc::clone(&is_set))
            .and_then(|_| flag::register(SIGINT, Arc::clone(&is_set)))
            .context("cannot install the interrupt handler")?;
        Ok(Self(is_set))
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
