//! Time, taken so that it can be compared on a machine that others use too.

use std::hint::black_box;
use std::time::Duration;

/// How much is measured.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// How often each piece of work runs, unless that takes longer than `each` in all.
    pub(crate) runs: usize,
    pub(crate) each: Duration,
}

/// Something that is timed; it returns a number that depends on all it did.
pub(crate) type Work<'a> = Box<dyn FnMut() -> usize + 'a>;

/// The times of one piece of work, run by run.
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn median(&self) -> Duration {
        let mut times = self.0.clone();
        times.sort_unstable();
        times[times.len() / 2]
    }

    pub(crate) fn runs(&self) -> usize {
        self.0.len()
    }

    /// How many times as long as `other` it took: the median over the runs that both had.
    ///
    /// The two of a run stand close together, so what disturbs one disturbs the other, and the ratio is
    /// steadier than that of the two medians.
    pub(crate) fn ratio_to(&self, other: &Self) -> f64 {
        let pairs = self.0.iter().zip(&other.0);
        let mut ratios: Vec<_> = pairs.map(|(a, b)| a.as_secs_f64() / b.as_secs_f64()).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        ratios[ratios.len() / 2]
    }
}

/// Runs all work once in its order, then all of it again, and so on, so that a slow spell of the machine
/// hits a run of everything and not every run of one.
pub(crate) fn interleaved(work: &mut [Work<'_>], effort: Effort) -> Vec<Times> {
    // The first run only warms up, and tells how many can be afforded.
    let runs = |first: Duration| {
        let affordable = (effort.each.as_secs_f64() / first.as_secs_f64().max(1e-9)) as usize;
        (affordable.clamp(3, effort.runs) - 1) | 1
    };
    let planned: Vec<_> = work.iter_mut().map(|work| runs(time(work))).collect();
    let mut times: Vec<_> = planned.iter().map(|_| Times(Vec::new())).collect();
    for run in 0..effort.runs {
        for (at, work) in work.iter_mut().enumerate() {
            if run < planned[at] {
                times[at].0.push(time(work));
            }
        }
    }
    times
}

pub(crate) fn time(work: &mut Work<'_>) -> Duration {
    let start = now();
    black_box(work());
    now() - start
}

/// The processor time of this thread.
#[cfg(unix)]
fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The time on the wall, where the standard library has nothing better.
#[cfg(not(unix))]
fn now() -> Duration {
    use std::sync::LazyLock;
    use std::time::Instant;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}
