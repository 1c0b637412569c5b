//! [`Time`]: a point in time, by the caller's clock.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970 in UTC. `Display` gives the form that messages use.
///
/// ```
/// use reknit_compat::realtime::Time;
///
/// assert_eq!(Time(1_767_323_045_678).to_string(), "2026-01-02T03:04:05.678Z");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(pub u64);

impl Time {
    /// How many milliseconds have passed since `earlier`; 0 if it is later.
    pub(super) fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, millis) = (self.0 / 1000, self.0 % 1000);
        let (year, month, day) = date(seconds / 86_400);
        let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

/// Year, month and day of a day counted from 1970-01-01.
///
/// Years are counted from March, so that the leap day is the last of its year and every month but the last
/// has a fixed place; 400 of them always have 146,097 days.
fn date(day: u64) -> (u64, u64, u64) {
    let day = day + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month, next) = (day - (153 * month + 2) / 5 + 1, (month + 2) % 12 + 1, u64::from(month >= 10));
    (400 * era + year + next, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (days, expected) in [
            (0, (1970, 1, 1)),
            (58, (1970, 2, 28)),
            (59, (1970, 3, 1)),
            (789, (1972, 2, 29)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (11_322, (2000, 12, 31)),
            (47_541, (2100, 3, 1)),
            (47_540, (2100, 2, 28)),
        ] {
            assert_eq!(date(days), expected, "{days}");
        }
    }

    #[test]
    fn the_last_moment_is_a_text_too() {
        assert!(Time(u64::MAX).to_string().ends_with('Z'));
    }
}
