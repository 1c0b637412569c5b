//! `Stamp` and `Hash`: the state of a file in a few bytes.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::system;

/// The state of a file: its content as hash and size, and its permissions.
///
/// [`Root::read`](crate::Root::read) returns one along with the bytes. A write that was planned for those bytes
/// takes the stamp, and is refused if the file contains something else by then. Hashes are compared, not
/// timestamps: a file that was touched, or saved again unchanged, has not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// The hash of the content.
    pub hash: Hash,
    /// The length of the content in bytes.
    pub size: u64,
    /// The permissions: the last twelve bits of the file's mode.
    pub mode: u32,
}

impl Stamp {
    /// Whether both have the same content, whatever their permissions.
    pub fn same_content(&self, other: &Self) -> bool {
        self.hash == other.hash && self.size == other.size
    }

    /// The stamp of an open file, read in small pieces from its current position to its end.
    pub(crate) fn of_file(file: &mut fs::File) -> io::Result<Self> {
        let mode = mode_of(&system::metadata(file)?);
        let mut hasher = Hasher::default();
        read_pieces(file, |piece| {
            hasher.update(piece);
            Ok(())
        })?;
        Ok(hasher.finish(mode))
    }
}

/// The permissions in a file's metadata.
pub(crate) fn mode_of(metadata: &fs::Metadata) -> u32 {
    metadata.mode() & 0o7777
}

/// Reads to the end through one small buffer.
pub(crate) fn read_pieces(
    file: &mut fs::File,
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffer = vec![0; 128 * 1024];
    loop {
        match system::read(file, &mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => take(&buffer[..count])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The hash of some content: SHA-256, shown as 64 hexadecimal digits.
///
/// ```
/// use reknit_workspace::Hash;
///
/// let hash = Hash::of(b"abc");
/// assert_eq!(hash.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
/// assert_eq!(hash.to_string().parse(), Ok(hash));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hash([u8; 32]);

impl Hash {
    /// The hash of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}

/// A text that is not a hash: it is not 64 lowercase hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a hash of 64 hexadecimal digits")]
pub struct NotAHash;

impl FromStr for Hash {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Self, NotAHash> {
        let digit = |digit: u8| match digit {
            b'0'..=b'9' => Ok(digit - b'0'),
            b'a'..=b'f' => Ok(digit - b'a' + 10),
            _ => Err(NotAHash),
        };
        let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return Err(NotAHash) };
        let pairs: &[[u8; 2]; 32] = pairs.try_into().map_err(|_| NotAHash)?;
        let mut bytes = [0; 32];
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for Hash {
    type Error = NotAHash;

    fn try_from(text: String) -> Result<Self, NotAHash> {
        text.parse()
    }
}

impl From<Hash> for String {
    fn from(hash: Hash) -> Self {
        hash.to_string()
    }
}

/// Computes a hash and a size piece by piece.
#[derive(Clone, Default)]
pub(crate) struct Hasher {
    sha: Sha256,
    size: u64,
}

impl Hasher {
    pub(crate) fn update(&mut self, piece: &[u8]) {
        self.sha.update(piece);
        self.size += piece.len() as u64;
    }

    /// The stamp of a file with this content and these permissions.
    pub(crate) fn finish(self, mode: u32) -> Stamp {
        Stamp { hash: Hash(self.sha.finalize().into()), size: self.size, mode }
    }
}
