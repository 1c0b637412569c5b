//! [`Kept`]: the beginning and the end of an output for the model, and all of it in a file.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use tokio::fs::{self, File, OpenOptions};
use tokio::io::AsyncWriteExt as _;

use crate::tools::excerpt::{grouped, incomplete, leftover};

/// How many bytes of the beginning and of the end are kept in memory.
const PART: usize = 5_000;
/// How many bytes are kept in the file. A command that writes for ever must not fill the disk.
const FILE: u64 = 256 << 20;
/// What the names of the files begin and end with.
const NAME: (&str, &str) = ("cmd-", ".txt");

/// What a command has written.
pub(super) struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    spill: Spill,
}

/// Where the whole output is.
enum Spill {
    /// It is short and in memory.
    Short { directory: PathBuf, call_id: String },
    /// In a file.
    File { file: File, name: String, written: u64 },
    /// It is lost.
    Failed { error: io::Error },
}

/// Whether this is the name of a file that an output is kept in, and nothing else.
pub(in crate::tools) fn is_name(name: &str) -> bool {
    let id = name.strip_prefix(NAME.0).and_then(|rest| rest.strip_suffix(NAME.1));
    id.is_some_and(|id| !id.is_empty() && id.bytes().all(is_plain))
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

impl Kept {
    /// Nothing yet. The file is created in the directory when it is needed.
    pub(super) fn new(directory: &Path, call_id: &str) -> Self {
        let plain = call_id.bytes().map(|byte| if is_plain(byte) { char::from(byte) } else { '_' });
        let spill = Spill::Short { directory: directory.to_owned(), call_id: plain.take(60).collect() };
        Self { head: Vec::new(), tail: VecDeque::new(), total: 0, spill }
    }

    pub(super) async fn push(&mut self, bytes: &[u8]) {
        if self.total as usize + bytes.len() > 2 * PART {
            self.spill(bytes).await;
        }
        self.total += bytes.len() as u64;
        let (head, rest) = bytes.split_at(bytes.len().min(PART - self.head.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(PART)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(PART);
        self.tail.drain(..excess);
        self.tail.extend(rest);
    }

    /// The output for the model.
    pub(super) async fn finish(mut self) -> String {
        let tail = self.tail.make_contiguous();
        let left_out = self.total - (self.head.len() + tail.len()) as u64;
        if left_out == 0 {
            self.head.extend_from_slice(tail);
            return String::from_utf8_lossy(&self.head).into_owned();
        }
        let head = &self.head[..self.head.len() - incomplete(&self.head)];
        let tail = &tail[leftover(tail)..];
        // Cut at line ends where there are any.
        let head = head.iter().rposition(|&byte| byte == b'\n').map_or(head, |at| &head[..=at]);
        let tail = tail.iter().position(|&byte| byte == b'\n').map_or(tail, |at| &tail[at + 1..]);
        let left_out = grouped(self.total - (head.len() + tail.len()) as u64);
        let rest = self.spill.finish().await;
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        let line_end = if head.ends_with('\n') { "" } else { "\n" };
        format!("{head}{line_end}[… {left_out} bytes are left out. {rest} …]\n{tail}")
    }

    /// Writes to the file, which is created with what came before.
    async fn spill(&mut self, bytes: &[u8]) {
        if let Spill::Short { directory, call_id } = &self.spill {
            self.spill = match self.create(directory, call_id).await {
                Ok((file, name)) => Spill::File { file, name, written: self.total },
                Err(error) => Spill::Failed { error },
            };
        }
        if let Spill::File { file, written, .. } = &mut self.spill {
            let room = usize::try_from(FILE - *written).unwrap_or(usize::MAX);
            let bytes = &bytes[..bytes.len().min(room)];
            *written += bytes.len() as u64;
            if let Err(error) = file.write_all(bytes).await {
                self.spill = Spill::Failed { error };
            }
        }
    }

    async fn create(&self, directory: &Path, call_id: &str) -> io::Result<(File, String)> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).await?;
        // Ids are the provider's, and nothing keeps it from using one twice.
        for number in 1_u32.. {
            let (start, end) = NAME;
            let again = if number == 1 { String::new() } else { format!("-{number}") };
            let name = format!("{start}{call_id}{again}{end}");
            let opened =
                OpenOptions::new().write(true).create_new(true).mode(0o600).open(directory.join(&name)).await;
            match opened {
                Ok(mut file) => {
                    let (one, other) = self.tail.as_slices();
                    for part in [&self.head, one, other] {
                        file.write_all(part).await?;
                    }
                    return Ok((file, name));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

impl Spill {
    /// Where the rest of the output is, as a sentence.
    async fn finish(self) -> String {
        let (mut file, name, written) = match self {
            Self::Short { .. } => return String::new(),
            Self::File { file, name, written } => (file, name, written),
            Self::Failed { error } => return format!("They could not be kept: {error}."),
        };
        if let Err(error) = file.flush().await {
            return format!("They could not be kept: {error}.");
        }
        let part = if written == FILE {
            format!("The first {} bytes are", grouped(FILE))
        } else {
            "All of it is".to_owned()
        };
        format!("{part} in `{name}`: read_command_output reads it")
    }
}
