//! [`Recorder`]: records the input as it is read.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, anyhow};
use reknit::Dialect;
use reknit::recording::{Header, Read};

use crate::outcome::CommandError;

/// A recording that is being made.
pub(crate) struct Recorder {
    file: File,
    path: PathBuf,
    start: Instant,
}

impl Recorder {
    /// Creates the file; an existing one is left alone.
    pub(crate) fn create(path: &Path, dialect: Option<Dialect>) -> Result<Self, CommandError> {
        let file = match OpenOptions::new().write(true).create_new(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let what = anyhow!("`{}` already exists", path.display());
                return Err(CommandError::with_hint(what, "use another file name, or delete the file first"));
            }
            opened => opened.with_context(|| format!("cannot write `{}`", path.display()))?,
        };
        let mut header = Header::default();
        header.dialect = dialect.map(|dialect| dialect.name().to_owned());
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        header.at = now.ok().map(rfc3339);
        let mut recorder = Self { file, path: path.to_owned(), start: Instant::now() };
        recorder.write(&header.to_line())?;
        Ok(recorder)
    }

    /// Records a piece that has just arrived.
    pub(crate) fn take(&mut self, piece: &[u8]) -> Result<(), CommandError> {
        let at_ms = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.write(&Read::new(at_ms, piece).to_line())
    }

    /// One unbuffered write per line: what was read is in the file even if the program is killed.
    fn write(&mut self, line: &str) -> Result<(), CommandError> {
        let written = self.file.write_all(line.as_bytes());
        Ok(written.with_context(|| format!("cannot write `{}`", self.path.display()))?)
    }
}

/// A time since 1970 in the form of RFC 3339.
fn rfc3339(since_1970: Duration) -> String {
    let seconds = since_1970.as_secs();
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let (mut year, mut day) = (1970, seconds / 86_400);
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    loop {
        let days = if is_leap(year) { 366 } else { 365 };
        if day < days {
            break;
        }
        (year, day) = (year + 1, day - days);
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < days {
            break;
        }
        (month, day) = (month + 1, day - days);
    }
    format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_as_a_date() {
        let check = |seconds, expected: &str| assert_eq!(rfc3339(Duration::from_secs(seconds)), expected);
        check(0, "1970-01-01T00:00:00Z");
        check(951_782_399, "2000-02-28T23:59:59Z");
        check(951_782_400, "2000-02-29T00:00:00Z");
        check(1_709_251_199, "2024-02-29T23:59:59Z");
        check(1_767_225_599, "2025-12-31T23:59:59Z");
        check(1_767_225_600, "2026-01-01T00:00:00Z");
        check(4_107_542_400, "2100-03-01T00:00:00Z");
    }
}
