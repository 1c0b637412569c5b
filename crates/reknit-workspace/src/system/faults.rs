//! Faults for tests: which calls of this thread fail.

use std::cell::Cell;

use rustix::io::Errno;

/// Which calls fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Faults {
    /// None.
    None,
    /// The one with this number, counted from 0.
    One(usize),
    /// That one and all after it, as if the process had been killed before it.
    From(usize),
}

thread_local! {
    static FAULTS: Cell<Faults> = const { Cell::new(Faults::None) };
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// Runs something with these faults; returns its result and the number of calls.
pub(crate) fn with<T>(faults: Faults, run: impl FnOnce() -> T) -> (T, usize) {
    FAULTS.set(faults);
    COUNT.set(0);
    let result = run();
    FAULTS.set(Faults::None);
    (result, COUNT.get())
}

pub(super) fn point() -> Result<(), Errno> {
    let number = COUNT.get();
    COUNT.set(number + 1);
    let fails = match FAULTS.get() {
        Faults::None => false,
        Faults::One(at) => number == at,
        Faults::From(at) => number >= at,
    };
    if fails { Err(Errno::IO) } else { Ok(()) }
}
