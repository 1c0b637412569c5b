//! [`Schedule`]: what is sent when, computed before anything is sent.

use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::str::FromStr;
use std::time::Duration;

use reknit::Hint;

use crate::pieces::Recut;

/// Where a read ends in the bytes of a recording, and when it arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mark {
    pub(super) at_ms: u64,
    pub(super) end: usize,
}

/// The speed relative to the recording.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Speed {
    Times(f64),
    Max,
}

impl FromStr for Speed {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match (word, word.parse::<f64>()) {
            ("max", _) => Ok(Self::Max),
            (_, Ok(times)) if times.is_finite() && times > 0.0 => Ok(Self::Times(times)),
            _ => Err(format!("`{word}` is neither a number above 0 nor `max`")),
        }
    }
}

/// A wait that was not recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stall {
    wait: Duration,
    /// After how many bytes.
    at: usize,
}

impl FromStr for Stall {
    type Err = String;

    fn from_str(words: &str) -> Result<Self, Self::Err> {
        let (wait, at) = words.split_once('@').unwrap_or_default();
        match (wait.parse(), at.parse()) {
            (Ok(wait), Ok(at)) => Ok(Self { wait: Duration::from_millis(wait), at }),
            _ => Err(format!("`{words}` is not MILLISECONDS@BYTE, such as `500@1200`")),
        }
    }
}

/// What should go wrong.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// After how many bytes it ends.
    pub(super) cut: Option<usize>,
    pub(super) stalls: Vec<Stall>,
}

/// What is sent when, and how it ends.
#[derive(Debug, PartialEq)]
pub(super) struct Schedule {
    steps: Vec<Step>,
    /// The time of the end, since the start.
    over: Duration,
    pub(super) end: End,
}

#[derive(Debug, PartialEq)]
struct Step {
    /// Since the start.
    due: Duration,
    bytes: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    /// As recorded.
    Whole,
    /// As a connection that breaks.
    Broken,
}

/// A fault that never comes.
#[derive(Debug, PartialEq)]
pub(super) struct Unreachable {
    fault: &'static str,
    at: usize,
    length: usize,
}

impl std::fmt::Display for Unreachable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { fault, at, length } = self;
        write!(f, "`{fault}` at byte {at} is never reached: {length} bytes are played")
    }
}

impl Hint for Unreachable {
    fn hint(&self) -> Cow<'static, str> {
        format!("give a byte from 0 to {}", self.length).into()
    }
}

impl Schedule {
    pub(super) fn new(
        marks: &[Mark],
        speed: Speed,
        recut: Option<Recut>,
        faults: &Faults,
    ) -> Result<Self, Unreachable> {
        let recorded = marks.last().map_or(0, |mark| mark.end);
        let length = faults.cut.unwrap_or(recorded);
        if length > recorded {
            return Err(Unreachable { fault: "--cut", at: length, length: recorded });
        }
        if let Some(stall) = faults.stalls.iter().find(|stall| stall.at > length) {
            return Err(Unreachable { fault: "--stall", at: stall.at, length });
        }
        let mut ends = match recut {
            None => marks.iter().map(|mark| mark.end).collect(),
            Some(recut) => ends(recut, length),
        };
        ends.extend(faults.stalls.iter().map(|stall| stall.at).chain([length]));
        ends.retain(|&end| 0 < end && end <= length);
        ends.sort_unstable();
        ends.dedup();

        // A stall delays everything after it, so that it takes effect at any speed.
        let stalled = |sent: usize| -> Duration {
            let passed = faults.stalls.iter().filter(|stall| stall.at <= sent);
            passed.fold(Duration::ZERO, |sum, stall| sum.saturating_add(stall.wait))
        };
        let mut steps: Vec<Step> = Vec::with_capacity(ends.len());
        let (mut start, mut mark, mut came) = (0, 0, Duration::ZERO);
        for end in ends {
            // A piece is due when its last byte arrived. Times never decrease, even if the clock did.
            while marks[mark].end < end {
                mark += 1;
            }
            came = came.max(speed.scale(marks[mark].at_ms));
            steps.push(Step { due: came.saturating_add(stalled(start)), bytes: start..end });
            start = end;
        }
        let end = if faults.cut.is_some() { End::Broken } else { End::Whole };
        Ok(Self { steps, over: came.saturating_add(stalled(length)), end })
    }

    /// Sends every piece when it is due. `wait_until` is given times since the start.
    pub(super) fn play(
        &self,
        bytes: &[u8],
        mut wait_until: impl FnMut(Duration),
        mut send: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        for step in &self.steps {
            wait_until(step.due);
            send(&bytes[step.bytes.clone()])?;
        }
        self.wait(wait_until);
        Ok(())
    }

    /// Waits until all of it would have been sent.
    pub(super) fn wait(&self, mut wait_until: impl FnMut(Duration)) {
        wait_until(self.over);
    }
}

impl Speed {
    fn scale(self, at_ms: u64) -> Duration {
        match self {
            Self::Times(times) => {
                let seconds = Duration::from_millis(at_ms).as_secs_f64() / times;
                Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
            }
            Self::Max => Duration::ZERO,
        }
    }
}

fn ends(recut: Recut, length: usize) -> Vec<usize> {
    let ends = recut.lengths().scan(0, |at: &mut usize, length| {
        *at += length;
        Some(*at)
    });
    ends.take_while(|&end| end < length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKS: [Mark; 4] = [
        Mark { at_ms: 100, end: 4 },
        Mark { at_ms: 150, end: 4 },
        Mark { at_ms: 300, end: 10 },
        Mark { at_ms: 200, end: 12 },
    ];

    fn faults(cut: Option<usize>, stalls: &[&str]) -> Faults {
        Faults { cut, stalls: stalls.iter().map(|words| words.parse().expect("it is a stall")).collect() }
    }

    /// The steps as `milliseconds:start-end`, and the end.
    fn check(speed: &str, recut: Option<Recut>, faults: &Faults, expected: &str) {
        let speed = speed.parse().expect("it is a speed");
        let schedule =
            Schedule::new(&MARKS, speed, recut, faults).expect("the faults are within the recording");
        let mut shown: Vec<_> = (schedule.steps.iter())
            .map(|step| format!("{}:{}-{}", step.due.as_millis(), step.bytes.start, step.bytes.end))
            .collect();
        shown.push(format!("{}:{:?}", schedule.over.as_millis(), schedule.end));
        assert_eq!(shown.join(" "), expected);
    }

    #[test]
    fn reads_are_sent_at_their_recorded_times() {
        check("1", None, &Faults::default(), "100:0-4 300:4-10 300:10-12 300:Whole");
        check("2", None, &Faults::default(), "50:0-4 150:4-10 150:10-12 150:Whole");
        check("max", None, &Faults::default(), "0:0-4 0:4-10 0:10-12 0:Whole");
    }

    #[test]
    fn a_piece_waits_for_its_last_byte() {
        let bytes = "100:0-1 100:1-2 100:2-3 100:3-4 300:4-5 300:5-6 300:6-7 300:7-8 300:8-9 300:9-10 \
                     300:10-11 300:11-12 300:Whole";
        check("1", Some(Recut::Bytes), &Faults::default(), bytes);
        // The first lengths for this seed do not depend on the reads.
        let first: Vec<_> = Recut::Seed(14).lengths().take(3).collect();
        assert_eq!(first, [7, 3, 20]);
        check("1", Some(Recut::Seed(14)), &Faults::default(), "300:0-7 300:7-10 300:10-12 300:Whole");
    }

    #[test]
    fn faults_occur_at_the_given_bytes() {
        check("1", None, &faults(Some(6), &[]), "100:0-4 300:4-6 300:Broken");
        check("1", None, &faults(Some(0), &[]), "0:Broken");
        check("1", None, &faults(Some(12), &[]), "100:0-4 300:4-10 300:10-12 300:Broken");
        check("max", None, &faults(None, &["50@0", "7@6"]), "50:0-4 50:4-6 57:6-10 57:10-12 57:Whole");
        check("max", None, &faults(Some(4), &["9@4"]), "0:0-4 9:Broken");
    }

    #[test]
    fn a_fault_after_the_end_is_refused() {
        let check = |faults: &Faults, expected: &str| {
            let error = Schedule::new(&MARKS, Speed::Max, None, faults).expect_err("it is after the end");
            assert_eq!(error.to_string(), expected);
        };
        check(&faults(Some(13), &[]), "`--cut` at byte 13 is never reached: 12 bytes are played");
        check(&faults(Some(5), &["1@6"]), "`--stall` at byte 6 is never reached: 5 bytes are played");
    }

    #[test]
    fn absurd_times_do_not_overflow() {
        let marks = [Mark { at_ms: u64::MAX, end: 1 }];
        let faults = faults(None, &["18446744073709551615@0", "18446744073709551615@1"]);
        let schedule = Schedule::new(&marks, Speed::Times(1e-300), None, &faults).expect("it is reached");
        assert_eq!(schedule.over, Duration::MAX);
    }

    #[test]
    fn playing_waits_and_sends_in_turn() {
        let schedule = Schedule::new(&MARKS, Speed::Max, None, &faults(None, &["5@4"])).expect("fine");
        let said = std::cell::RefCell::new(Vec::new());
        let wait = |due: Duration| said.borrow_mut().push(format!("wait {}", due.as_millis()));
        let send = |piece: &[u8]| {
            said.borrow_mut().push(String::from_utf8_lossy(piece).into_owned());
            Ok(())
        };
        schedule.play(b"abcdefghijkl", wait, send).expect("nothing can fail");
        assert_eq!(said.into_inner().join(" "), "wait 0 abcd wait 5 efghij wait 5 kl wait 5");
    }
}
