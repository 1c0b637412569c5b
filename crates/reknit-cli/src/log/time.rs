//! [`Time`]: a time as it is read.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Serialize, Serializer};

/// A time in UTC: as in JSON, or with `#` as people read it.
pub(crate) struct Time(pub(crate) SystemTime);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since = self.0.duration_since(UNIX_EPOCH).unwrap_or_default();
        let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
        let (year, month, day) = date(days);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        if f.alternate() {
            write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
        } else {
            let millis = since.subsec_millis();
            write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
        }
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The date this many days after 1 January 1970.
fn date(days: u64) -> (u64, u64, u64) {
    // Years are counted from the first of March of the year 0, so that a leap day is the last of its year.
    const DAYS_BEFORE_1970: u64 = 719_468;
    const DAYS_IN_400_YEARS: u64 = 146_097;
    let days = days + DAYS_BEFORE_1970;
    let (era, day) = (days / DAYS_IN_400_YEARS, days % DAYS_IN_400_YEARS);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // Months of 31 and 30 days take turns, five in 153 days.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let shown =
            |seconds, millis: u32| Time(UNIX_EPOCH + Duration::new(seconds, millis * 1_000_000)).to_string();
        assert_eq!(shown(0, 0), "1970-01-01T00:00:00.000Z");
        assert_eq!(shown(951_782_399, 999), "2000-02-28T23:59:59.999Z");
        assert_eq!(shown(951_782_400, 0), "2000-02-29T00:00:00.000Z");
        assert_eq!(shown(1_709_251_200, 5), "2024-03-01T00:00:00.005Z");
        assert_eq!(shown(4_107_542_400, 0), "2100-03-01T00:00:00.000Z");
        assert_eq!(format!("{:#}", Time(UNIX_EPOCH)), "1970-01-01 00:00:00 UTC");
    }
}
