//! Time, taken so that it can be compared on a machine that others use too.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

/// How much is measured.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// How often each piece of work runs, unless that takes longer than `each` in all.
    pub(crate) runs: usize,
    pub(crate) each: Duration,
}

/// Something that is timed, here or in another process.
pub(crate) type Work<'a> = Box<dyn FnMut() -> Result<Outcome> + 'a>;

/// What one run of some work came to.
pub(crate) struct Outcome {
    pub(crate) time: Duration,
    /// A number for what was read: whoever reads the same must come to the same.
    pub(crate) result: usize,
}

/// Times `work`; `result` looks at what it made, and is not timed.
pub(crate) fn timed<'a, T>(
    mut work: impl FnMut() -> T + 'a,
    mut result: impl FnMut(T) -> usize + 'a,
) -> Work<'a> {
    Box::new(move || {
        let start = now();
        let made = black_box(work());
        let time = now() - start;
        Ok(Outcome { time, result: result(made) })
    })
}

/// One input, and all who read it; the first is ours.
pub(crate) struct Row<'a> {
    pub(crate) name: String,
    /// What is read, in bytes, and in how many steps.
    pub(crate) size: usize,
    pub(crate) steps: usize,
    pub(crate) runners: Vec<Runner<'a>>,
}

pub(crate) struct Runner<'a> {
    pub(crate) name: &'static str,
    pub(crate) work: Work<'a>,
    /// How many of the steps were taken, if not all; the time is that of all.
    pub(crate) sample: Option<usize>,
}

impl<'a> Runner<'a> {
    pub(crate) fn new(name: &'static str, work: Work<'a>) -> Self {
        Self { name, work, sample: None }
    }
}

/// A row with the times that were taken.
pub(crate) struct Measured {
    pub(crate) name: String,
    pub(crate) size: usize,
    pub(crate) steps: usize,
    pub(crate) entries: Vec<Entry>,
}

pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) times: Times,
    pub(crate) sample: Option<usize>,
}

impl Measured {
    pub(crate) fn ours(&self) -> &Times {
        &self.entries[0].times
    }

    pub(crate) fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// How many times as long as ours it took.
    pub(crate) fn ratio(&self, name: &str) -> Option<f64> {
        self.entry(name).map(|entry| entry.times.ratio_to(self.ours()))
    }

    pub(crate) fn peers(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().skip(1)
    }
}

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
    /// The two of a run are close together, so what disturbs one disturbs the other, and the ratio is
    /// steadier than that of the two medians.
    pub(crate) fn ratio_to(&self, other: &Self) -> f64 {
        let pairs = self.0.iter().zip(&other.0);
        let mut ratios: Vec<_> = pairs.map(|(a, b)| a.as_secs_f64() / b.as_secs_f64()).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        ratios[ratios.len() / 2]
    }
}

/// How long a reader runs before it is timed; what takes longer itself is not warmed up.
const WARM_UP: Duration = Duration::from_millis(10);

/// Measures one row by itself, so that its readers meet no memory of other rows.
pub(crate) fn alternating(row: Row<'_>, effort: Effort) -> Result<Measured> {
    Ok(interleaved(vec![row], effort)?.remove(0))
}

/// Runs all work once in its order, then all of it again, and so on, so that a slow spell of the machine
/// hits a run of everything and not every run of one.
pub(crate) fn interleaved(rows: Vec<Row<'_>>, effort: Effort) -> Result<Vec<Measured>> {
    let mut planned = Vec::new();
    let mut rows: Vec<_> = rows.into_iter().map(|row| (row, Vec::new())).collect();
    for (row, times) in &mut rows {
        // The first run only warms up, shows how many can be afforded, and shows that all read the same.
        let mut results = Vec::new();
        for runner in &mut row.runners {
            let start = Instant::now();
            let first = (runner.work)()?;
            let affordable = (effort.each.as_secs_f64() / start.elapsed().as_secs_f64().max(1e-9)) as usize;
            planned.push((affordable.clamp(3, effort.runs) - 1) | 1);
            results.push((runner.name, first.result));
            times.push(Vec::new());
        }
        let is_same = results.iter().all(|(_, result)| *result == results[0].1);
        ensure!(is_same, "{}: not everyone read the same: {results:?}", row.name);
    }
    for run in 0..effort.runs {
        let mut plan = planned.iter();
        for (row, times) in &mut rows {
            for (runner, times) in row.runners.iter_mut().zip(times) {
                if plan.next().is_some_and(|planned| run < *planned) {
                    times.push(warm(&mut runner.work)?);
                }
            }
        }
    }
    Ok(rows.into_iter().map(|(row, times)| measured(row, times)).collect())
}

/// The time of the last of as many runs as take [`WARM_UP`] before it.
///
/// One that runs after another process or another input would otherwise be timed with cold caches and on a
/// processor that was asleep, which doubles the time of a short run.
fn warm(work: &mut Work<'_>) -> Result<Duration> {
    let mut spent = Duration::ZERO;
    loop {
        let time = work()?.time;
        if spent >= WARM_UP || time >= WARM_UP {
            return Ok(time);
        }
        spent += time;
    }
}

fn measured(row: Row<'_>, times: Vec<Vec<Duration>>) -> Measured {
    let Row { name, size, steps, runners } = row;
    let entry = |(runner, times): (Runner<'_>, _)| Entry {
        name: runner.name,
        times: Times(times),
        sample: runner.sample,
    };
    Measured { name, size, steps, entries: runners.into_iter().zip(times).map(entry).collect() }
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
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}
