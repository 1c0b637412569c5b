//! The file of an entry.
//!
//! It begins with a line that says what the entry is about to do, so that what was prepared can be removed after a
//! crash. The earlier contents of the files follow, each compressed, then the description of the entry, and its
//! footer. A change of the footer is appended: the last one counts.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::path::PathBuf;

use lz4_flex::frame::{FrameDecoder, FrameEncoder};
use serde::{Deserialize, Serialize};

use super::entry::{Description, Range};
use super::{Entry, EntryId, Error, State, io_error};
use crate::root::RelPath;
use crate::stamp::{Hasher, Stamp, mode_of, read_pieces};
use crate::{sealed, system};

/// What an entry is about to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) id: EntryId,
    /// What the names of its temporary files have in common.
    pub(crate) token: String,
    /// The paths of each of its steps.
    pub(crate) paths: Vec<Vec<RelPath>>,
    /// The directories that it creates, outer ones first.
    pub(crate) made: Vec<RelPath>,
}

/// The end of the file: where its description is, and what became of it since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Footer {
    pub(super) description: Range,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) undoes: Option<EntryId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) undone_by: Option<EntryId>,
    /// The entry before this one that was not undone at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) previous: Option<EntryId>,
}

/// The file of an entry that is being written.
pub(crate) struct Unsealed {
    path: PathBuf,
    file: File,
    length: u64,
}

impl Unsealed {
    pub(super) fn create(path: PathBuf, plan: &Plan) -> Result<Self, Error> {
        let failed = io_error(&path, "writing an entry");
        let mut file = system::create_private(&path).map_err(failed)?;
        let line = sealed::line(plan);
        system::write(&mut file, line.as_bytes()).map_err(io_error(&path, "writing an entry"))?;
        Ok(Self { path, file, length: line.len() as u64 })
    }

    /// Copies a file from its current position into the journal; the stamp is of what was copied.
    pub(crate) fn save(
        &mut self,
        file: &mut File,
        is_stopped: impl Fn() -> bool,
    ) -> Result<(Stamp, Range), Error> {
        let mode = mode_of(&system::metadata(file).map_err(io_error(&self.path, "saving a file"))?);
        let start = self.length;
        let mut hasher = Hasher::default();
        let mut encoder = FrameEncoder::new(Counted(self));
        let mut copied = read_pieces(file, |piece| {
            if is_stopped() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            hasher.update(piece);
            encoder.write_all(piece)
        });
        if is_stopped() {
            return Err(Error::Stopped);
        }
        copied = copied.and_then(|()| encoder.finish().map(drop).map_err(io::Error::from));
        copied.map_err(io_error(&self.path, "saving a file"))?;
        Ok((hasher.finish(mode), Range { start, length: self.length - start }))
    }

    /// Writes the description of the entry. Returns the size of the file.
    pub(super) fn seal(mut self, entry: &Entry, previous: Option<EntryId>) -> Result<u64, Error> {
        let line = sealed::line(&entry.describe());
        let description = Range { start: self.length, length: line.len() as u64 };
        let footer = Footer { description, undoes: entry.undoes, undone_by: None, previous };
        let text = line + &sealed::line(&footer);
        let written = system::write(&mut self.file, text.as_bytes()).and_then(|()| system::sync(&self.file));
        written.map_err(io_error(&self.path, "writing an entry"))?;
        Ok(self.length + text.len() as u64)
    }
}

/// Counts what is written to an entry.
struct Counted<'u>(&'u mut Unsealed);

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        system::write(&mut self.0.file, bytes)?;
        self.0.length += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The earlier content of a file, in the file of an entry.
#[derive(Clone, Debug)]
pub(crate) struct Contents {
    path: PathBuf,
    range: Range,
}

impl Contents {
    pub(crate) fn new(path: PathBuf, range: Range) -> Self {
        Self { path, range }
    }

    /// Reads the content piece by piece; an error if it is not that of the stamp.
    pub(crate) fn read(
        &self,
        stamp: &Stamp,
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<Hasher, Error> {
        let lost = || Error::Lost { hash: stamp.hash, path: self.path.clone() };
        // What is missing or damaged is lost. What the system cannot read now may be there the next time.
        let failed = |error: io::Error| match error.raw_os_error() {
            Some(_) if error.kind() != io::ErrorKind::NotFound => {
                io_error(&self.path, "reading a saved file")(error)
            }
            _ => lost(),
        };
        let mut file = system::open(&self.path).map_err(failed)?;
        file.seek(SeekFrom::Start(self.range.start)).map_err(failed)?;
        let mut decoder = FrameDecoder::new(Checked(file).take(self.range.length));
        let mut hasher = Hasher::default();
        let mut buffer = vec![0; 128 * 1024];
        loop {
            let count = decoder.read(&mut buffer).map_err(failed)?;
            if count == 0 {
                break;
            }
            hasher.update(&buffer[..count]);
            take(&buffer[..count]).map_err(io_error(&self.path, "copying a saved file"))?;
        }
        if hasher.clone().finish(stamp.mode).same_content(stamp) { Ok(hasher) } else { Err(lost()) }
    }

    /// Whether the content is there and undamaged.
    pub(crate) fn is_intact(&self, stamp: &Stamp) -> Result<bool, Error> {
        match self.read(stamp, |_| Ok(())) {
            Ok(_) => Ok(true),
            Err(Error::Lost { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// A file that is read by the calls of this crate, which tests make fail.
struct Checked(File);

impl io::Read for Checked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        system::read(&mut self.0, buffer)
    }
}

/// The file of an entry that was written.
pub(super) struct Sealed {
    id: EntryId,
    path: PathBuf,
    file: File,
    length: u64,
}

impl Sealed {
    pub(super) fn open(id: EntryId, path: PathBuf) -> Result<Self, Error> {
        let file = match system::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Error::NoEntry { id }),
            Err(source) => return Err(Error::Io { path, doing: "reading an entry", source }),
        };
        let length = system::metadata(&file).map_err(io_error(&path, "reading an entry"))?.len();
        Ok(Self { id, path, file, length })
    }

    /// What the entry was about to do.
    pub(super) fn plan(&self) -> Result<Plan, Error> {
        let mut line = Vec::new();
        let mut block = vec![0; 64 * 1024];
        while !line.contains(&b'\n') && (line.len() as u64) < self.length {
            let rest = usize::try_from(self.length - line.len() as u64).unwrap_or(usize::MAX);
            let count = rest.min(block.len());
            self.read(&mut block[..count], line.len() as u64)?;
            line.extend_from_slice(&block[..count]);
        }
        let end = line.iter().position(|&byte| byte == b'\n').map_or(line.len(), |end| end + 1);
        sealed::parse(&line[..end]).map_err(|what| self.damaged(what))
    }

    pub(super) fn footer(&self) -> Result<Footer, Error> {
        /// No footer is as long.
        const MAX: u64 = 1024;
        let start = self.length.saturating_sub(MAX);
        let mut end = vec![0; usize::try_from(self.length - start).expect("it is at most 1024")];
        self.read(&mut end, start)?;
        // The last one may be torn, and then its step never happened.
        let mut first_error = None;
        for line in end.split_inclusive(|&byte| byte == b'\n').rev() {
            match sealed::parse(line) {
                Ok(footer) => return Ok(footer),
                Err(what) => first_error.get_or_insert(what),
            };
        }
        Err(self.damaged(first_error.unwrap_or_else(|| "truncated".into())))
    }

    pub(super) fn entry(&self) -> Result<Entry, Error> {
        let footer = self.footer()?;
        let Range { start, length } = footer.description;
        if start.checked_add(length).is_none_or(|end| end > self.length) {
            return Err(self.damaged("truncated".into()));
        }
        let mut line = vec![0; usize::try_from(length).map_err(|_| self.damaged("too long".into()))?];
        self.read(&mut line, start)?;
        let description: Description = sealed::parse(&line).map_err(|what| self.damaged(what))?;
        let state = footer.undone_by.map_or(State::Done, |by| State::Undone { by });
        Entry::described(self.id, description, state).map_err(|what| self.damaged(what))
    }

    fn read(&self, buffer: &mut [u8], at: u64) -> Result<(), Error> {
        system::read_exact_at(&self.file, buffer, at).map_err(io_error(&self.path, "reading an entry"))
    }

    fn damaged(&self, what: String) -> Error {
        Error::Damaged { id: self.id, path: self.path.clone(), what }
    }
}

/// Appends another footer, which survives a power failure.
pub(super) fn append_footer(path: &std::path::Path, footer: &Footer) -> Result<u64, Error> {
    // What is left of a torn one gets a line of its own.
    let line = format!("\n{}", sealed::line(footer));
    let failed = io_error(path, "writing an entry");
    let mut file = match system::open(path).and_then(|_| system::open_private(path)) {
        Ok(file) => file,
        Err(source) => return Err(failed(source)),
    };
    let written = system::write(&mut file, line.as_bytes()).and_then(|()| system::sync_data(&file));
    written.map_err(failed)?;
    Ok(line.len() as u64)
}
