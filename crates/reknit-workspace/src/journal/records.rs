//! The log of a root: records are appended, and read from the end.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::record::Record;
use super::{Error, io_error};
use crate::{sealed, system};

/// The log of a root.
pub(super) struct Records {
    path: PathBuf,
    file: File,
}

/// A record, or what is wrong with it.
pub(super) type Parsed = Result<Record, String>;

/// The end of a log.
#[derive(Default)]
pub(super) struct Tail {
    /// The last record that can be read.
    pub(super) record: Option<Record>,
    /// Where the first of the damaged records after it begins. A torn one does not count: its step never happened.
    pub(super) damaged: Option<u64>,
    /// The length of the log without a torn record, and whether there is one.
    length: u64,
    is_torn: bool,
}

impl Records {
    /// Opens the log, which is created if it does not exist.
    pub(super) fn open(path: PathBuf) -> Result<Self, Error> {
        let file = system::open_private(&path).map_err(io_error(&path, "opening the log"))?;
        Ok(Self { path, file })
    }

    /// Opens the log for reading; `None` if there is no log.
    pub(super) fn read(path: PathBuf) -> Result<Option<Self>, Error> {
        match system::open(&path) {
            Ok(file) => Ok(Some(Self { path, file })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::Io { path, doing: "opening the log", source }),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn tail(&self) -> Result<Tail, Error> {
        let mut lines = self.backwards()?;
        let mut tail = Tail { length: lines.end(), ..Tail::default() };
        while let Some((at, line)) = lines.next()? {
            match sealed::parse(&line) {
                Ok(record) => {
                    tail.record = Some(record);
                    break;
                }
                Err(_) if !line.ends_with(b"\n") => {
                    tail.is_torn = true;
                    tail.length = at;
                }
                Err(_) => tail.damaged = Some(at),
            }
        }
        Ok(tail)
    }

    /// Appends a record; returns where it begins. `tail` is the end of the log before and after.
    pub(super) fn append(&mut self, tail: &mut Tail, record: Record) -> Result<u64, Error> {
        let failed = io_error(&self.path, "writing the log");
        let line = sealed::line(&record);
        let mut appended = if tail.is_torn { system::truncate(&self.file, tail.length) } else { Ok(()) };
        appended = appended.and_then(|()| system::write(&mut self.file, line.as_bytes()));
        if let Err(source) = appended {
            // A part of it may be there.
            *tail = self.tail()?;
            return Err(failed(source));
        }
        let at = tail.length;
        *tail = Tail { record: Some(record), damaged: None, length: at + line.len() as u64, is_torn: false };
        Ok(at)
    }

    /// Makes the records survive a power failure.
    pub(super) fn sync(&self) -> Result<(), Error> {
        system::sync_data(&self.file).map_err(io_error(&self.path, "syncing the log"))
    }

    /// Its lines, the last one first.
    pub(super) fn backwards(&self) -> Result<Backwards<'_>, Error> {
        let length = system::metadata(&self.file).map_err(io_error(&self.path, "reading the log"))?.len();
        Ok(Backwards { records: self, start: length, buffer: Vec::new() })
    }

    /// The record that begins here, and where it ends.
    pub(super) fn at(&self, at: u64) -> Result<Option<(Parsed, u64)>, Error> {
        let length = system::metadata(&self.file).map_err(io_error(&self.path, "reading the log"))?.len();
        let mut line =
            vec![0; usize::try_from(length.saturating_sub(at)).map_or(BLOCK, |rest| rest.min(BLOCK))];
        if line.is_empty() {
            return Ok(None);
        }
        system::read_exact_at(&self.file, &mut line, at).map_err(io_error(&self.path, "reading the log"))?;
        let end = line.iter().position(|&byte| byte == b'\n').map_or(line.len(), |end| end + 1);
        Ok(Some((sealed::parse(&line[..end]), at + end as u64)))
    }
}

impl Tail {
    /// Where the next record begins.
    pub(super) fn end(&self) -> u64 {
        self.length
    }
}

/// How much of a log is read at once; no record is as long.
const BLOCK: usize = 4096;

/// The lines of a log, the last one first, and where they begin.
pub(super) struct Backwards<'r> {
    records: &'r Records,
    /// What was read, and where it begins in the log.
    buffer: Vec<u8>,
    start: u64,
}

impl Backwards<'_> {
    pub(super) fn next(&mut self) -> Result<Option<(u64, Vec<u8>)>, Error> {
        loop {
            // The line feed at the end belongs to the last line.
            let before = self.buffer.len().saturating_sub(1);
            if let Some(at) = self.buffer[..before].iter().rposition(|&byte| byte == b'\n') {
                return Ok(Some((self.start + at as u64 + 1, self.buffer.split_off(at + 1))));
            }
            if self.start == 0 {
                let line = std::mem::take(&mut self.buffer);
                return Ok((!line.is_empty()).then_some((0, line)));
            }
            let count = usize::try_from(self.start).map_or(BLOCK, |start| start.min(BLOCK));
            let mut block = vec![0; count];
            self.start -= count as u64;
            system::read_exact_at(&self.records.file, &mut block, self.start)
                .map_err(io_error(&self.records.path, "reading the log"))?;
            block.append(&mut self.buffer);
            self.buffer = block;
        }
    }

    /// Where the last line that was not returned ends.
    fn end(&self) -> u64 {
        self.start + self.buffer.len() as u64
    }
}
