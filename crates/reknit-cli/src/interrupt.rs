//! Signals: whether one asked the program to end, and writes that none of them ends halfway.

use std::fs;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::Context;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::{SigId, flag, low_level};

use crate::outcome::CommandError;

/// The signals that end the input of a command, and not its output: Ctrl-C, and what `kill` sends.
const ENDING: [i32; 2] = [SIGINT, SIGTERM];

/// Set by the first signal that ends the input; the second ends the program at once.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

/// The handler of these signals, which is installed once.
static HANDLER: OnceLock<Handler> = OnceLock::new();

struct Handler {
    interrupted: Arc<AtomicBool>,
    /// Whether a signal ends the program, and what sets that at the first one.
    ends: Arc<AtomicBool>,
    arming: Vec<SigId>,
}

impl Interrupt {
    pub(crate) fn watch() -> Result<Self, CommandError> {
        if HANDLER.get().is_none() {
            let (interrupted, ends) = (Arc::default(), Arc::<AtomicBool>::default());
            let mut arming = Vec::new();
            for number in ENDING {
                // In this order: otherwise the first signal would end the program.
                let armed = flag::register_conditional_shutdown(number, code(number), Arc::clone(&ends))
                    .and_then(|_| note(number))
                    .and_then(|_| flag::register(number, Arc::clone(&interrupted)))
                    .and_then(|_| flag::register(number, Arc::clone(&ends)))
                    .context("cannot install a signal handler")?;
                arming.push(armed);
            }
            let _ = HANDLER.set(Handler { interrupted, ends, arming });
        }
        let handler = HANDLER.get().context("the interrupt handler was just installed")?;
        Ok(Self(Arc::clone(&handler.interrupted)))
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Makes these signals end the program at once, with the exit code that says so.
pub(crate) fn end_at_once() -> Result<(), CommandError> {
    for number in ENDING {
        let always = Arc::new(AtomicBool::new(true));
        flag::register_conditional_shutdown(number, code(number), always)
            .context("cannot install a signal handler")?;
    }
    Ok(())
}

/// The exit code of a command whose input a signal has ended.
pub(crate) fn exit_code() -> u8 {
    signal().map_or(130, |(_, number)| 128 + number)
}

/// While this exists, signals that end a program only set a flag: what is being written is finished or taken back.
pub(crate) struct Writing {
    stop: Arc<AtomicBool>,
    ends: Arc<AtomicBool>,
}

/// The last signal that came.
static SIGNAL: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// Makes a signal the last one when it comes.
fn note(number: i32) -> io::Result<SigId> {
    flag::register_usize(number, Arc::clone(SIGNAL.get_or_init(Arc::default)), number.unsigned_abs() as usize)
}

/// A signal came that a command watches for by itself.
pub(crate) fn came(number: i32) {
    SIGNAL.get_or_init(Arc::default).store(number.unsigned_abs() as usize, Ordering::SeqCst);
}

/// The exit code for a signal.
fn code(number: i32) -> i32 {
    128 + number
}

impl Writing {
    pub(crate) fn begin() -> Result<Self, CommandError> {
        if let Some(handler) = HANDLER.get() {
            for arming in &handler.arming {
                low_level::unregister(*arming);
            }
            handler.ends.store(false, Ordering::SeqCst);
        }
        let (stop, ends) = (Arc::default(), Arc::default());
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            if is_ignored(number) {
                continue;
            }
            flag::register_conditional_default(number, Arc::clone(&ends))
                .and_then(|_| flag::register(number, Arc::clone(&stop)))
                .and_then(|_| note(number))
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

/// The last signal that came: its name and its number.
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
