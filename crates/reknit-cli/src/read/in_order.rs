//! [`InOrder`]: what several threads print, in the order of what they work on.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Passes results on in their order, whoever is done first.
///
/// A result that came early is kept. When too many bytes are kept, those who bring more wait, except for the
/// one whose turn it is.
pub(super) struct InOrder<T, P> {
    state: Mutex<State<T, P>>,
    passed_on: Condvar,
    room: usize,
}

struct State<T, P> {
    /// Whose turn it is.
    next: usize,
    early: BTreeMap<usize, (T, usize)>,
    kept: usize,
    /// Where results are passed on to.
    pass_on: P,
}

impl<T, E, P: FnMut(T) -> Result<(), E>> InOrder<T, P> {
    /// Keeps at most `room` bytes of early results, and one more.
    pub(super) fn new(room: usize, pass_on: P) -> Self {
        let state = State { next: 0, early: BTreeMap::new(), kept: 0, pass_on };
        Self { state: Mutex::new(state), passed_on: Condvar::new(), room }
    }

    /// Brings the result with this number, of so many bytes. Fails if passing on a result failed.
    pub(super) fn bring(&self, number: usize, result: T, size: usize) -> Result<(), E> {
        let mut state = self.lock();
        while number != state.next && state.kept + size > self.room && state.kept > 0 {
            state = self.passed_on.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.early.insert(number, (result, size));
        state.kept += size;
        let mut outcome = Ok(());
        loop {
            let next = state.next;
            let Some((result, size)) = state.early.remove(&next) else { break };
            state.kept -= size;
            state.next += 1;
            if outcome.is_ok() {
                outcome = (state.pass_on)(result);
            }
        }
        self.passed_on.notify_all();
        outcome
    }

    fn lock(&self) -> MutexGuard<'_, State<T, P>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn results_are_in_order_whoever_brings_them() {
        for room in [0, 3, 1000] {
            let passed = Mutex::new(Vec::new());
            let in_order = InOrder::new(room, |result: usize| {
                passed.lock().expect("nobody panics").push(result);
                Ok::<_, ()>(())
            });
            let next = AtomicUsize::new(0);
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        loop {
                            let number = next.fetch_add(1, Ordering::Relaxed);
                            if number >= 500 {
                                break;
                            }
                            if number.is_multiple_of(7) {
                                thread::yield_now();
                            }
                            in_order.bring(number, number, 1).expect("nothing can fail");
                        }
                    });
                }
            });
            drop(in_order);
            let passed = passed.into_inner().expect("nobody panics");
            assert_eq!(passed, (0..500).collect::<Vec<_>>(), "{room}");
        }
    }

    #[test]
    fn an_early_result_waits_for_its_turn() {
        let mut passed = Vec::new();
        let in_order = InOrder::new(10, |number: usize| {
            passed.push(number);
            Ok::<_, ()>(())
        });
        for number in [2, 1, 0, 3] {
            in_order.bring(number, number, 1).expect("nothing can fail");
        }
        drop(in_order);
        assert_eq!(passed, [0, 1, 2, 3]);
    }
}
