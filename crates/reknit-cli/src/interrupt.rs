//! Signals: whether the user pressed Ctrl-C, and writes that no signal ends halfway.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::Context;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::{SigId, flag, low_level};

use crate::outcome::CommandError;

/// Set by the first interrupt; the second ends the program at once.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

/// The handler of interrupts, which is installed once.
static HANDLER: OnceLock<Handler> = OnceLock::new();

struct Handler {
    interrupted: Arc<AtomicBool>,
    /// Whether an interrupt ends the program, and what sets that at the first one.
    ends: Arc<AtomicBool>,
    arming: SigId,
}

impl Interrupt {
    pub(crate) fn watch() -> Result<Self, CommandError> {
        if HANDLER.get().is_none() {
            let (interrupted, ends) = (Arc::default(), Arc::<AtomicBool>::default());
            // In this order: otherwise the first interrupt would end the program.
            let arming = flag::register_conditional_shutdown(SIGINT, 130, Arc::clone(&ends))
                .and_then(|_| flag::register(SIGINT, Arc::clone(&interrupted)))
                .and_then(|_| flag::register(SIGINT, Arc::clone(&ends)))
                .context("cannot install the interrupt handler")?;
            let _ = HANDLER.set(Handler { interrupted, ends, arming });
        }
        let handler = HANDLER.get().context("the interrupt handler was just installed")?;
        Ok(Self(Arc::clone(&handler.interrupted)))
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// While this exists, signals that end a program only set a flag: what is being written is finished or taken back.
pub(crate) struct Writing {
    stop: Arc<AtomicBool>,
    ends: Arc<AtomicBool>,
}

/// The last signal that came during a write.
static SIGNAL: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

impl Writing {
    pub(crate) fn begin() -> Result<Self, CommandError> {
        if let Some(handler) = HANDLER.get() {
            low_level::unregister(handler.arming);
            handler.ends.store(false, Ordering::SeqCst);
        }
        let (stop, ends) = (Arc::default(), Arc::default());
        let signal = SIGNAL.get_or_init(Arc::default);
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            if is_ignored(number) {
                continue;
            }
            flag::register_conditional_default(number, Arc::clone(&ends))
                .and_then(|_| flag::register(number, Arc::clone(&stop)))
                .and_then(|_| {
                    flag::register_usize(number, Arc::clone(signal), number.unsigned_abs() as usize)
                })
                .context("cannot install a signal handler")?;
        }
        Ok(Self { stop, ends })
    }

    /// Set when a signal comes.
    pub(crate) fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        // After a signal the program ends anyway, and says how: another one must not prevent that.
        self.ends.store(signal().is_none(), Ordering::SeqCst);
    }
}

/// The last signal that came during a write: its name and its number.
pub(crate) fn signal() -> Option<(&'static str, u8)> {
    let number = SIGNAL.get()?.load(Ordering::SeqCst);
    let number = u8::try_from(number).ok().filter(|number| *number != 0)?;
    Some((low_level::signal_name(number.into()).unwrap_or("a signal"), number))
}

/// Whether the program was started to ignore a signal, as `nohup` does.
fn is_ignored(signal: i32) -> bool {
    let Ok(status) = fs::read_to_string("/proc/self/status") else { return false };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).map(str::trim);
    let mask = mask.and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or_default();
    mask & (1 << (signal - 1)) != 0
}
