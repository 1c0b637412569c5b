//! Why a path is refused.

use reknit::Hint;
use std::borrow::Cow;
use std::fmt;
use std::io;

use super::protected::Protected;

/// Why a path is refused, or why the file there cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The path is empty.
    #[error("the path is empty")]
    Empty,
    /// The path contains a NUL.
    #[error("`{path}`: contains a NUL at byte {at}")]
    Nul {
        /// The path, with U+FFFD in place of NUL.
        path: String,
        /// The position of the NUL in bytes.
        at: usize,
    },
    /// The path contains `..`.
    #[error("`{path}`: contains `..`")]
    Parent {
        /// The path as given.
        path: String,
    },
    /// The path is absolute and not inside the root.
    #[error("`{path}`: outside the root")]
    Outside {
        /// The path as given.
        path: String,
    },
    /// A symlink in the path points outside the root.
    #[error("`{path}`: a symlink points outside the root, to `{to}`")]
    LeadsOutside {
        /// The path as given.
        path: String,
        /// Where it points.
        to: String,
    },
    /// A symlink in the path points to nothing.
    #[error("`{path}`: the symlink `{link}` is broken")]
    Dangling {
        /// The path as given.
        path: String,
        /// The symlink.
        link: String,
    },
    /// The path, or what it resolves to, is not UTF-8.
    #[error("`{path}`: not UTF-8")]
    NotUtf8 {
        /// The path, with U+FFFD in place of invalid bytes.
        path: String,
    },
    /// The path begins with `~`, which only a shell replaces by the home directory.
    #[error("`{path}`: `~` is not the home directory here")]
    Home {
        /// The path as given.
        path: String,
    },
    /// The path is longer than programs can use.
    #[error("`{}…`: {length} bytes long with the root, and a path may have {max}", start(path))]
    TooLong {
        /// The path as given.
        path: String,
        /// Its length in bytes, with the root.
        length: usize,
        /// The longest that is possible.
        max: usize,
    },
    /// The file is larger than files that are edited may be.
    #[error("`{path}`: {size} bytes, and at most {max} are read")]
    TooLarge {
        /// The path.
        path: String,
        /// Its size in bytes.
        size: u64,
        /// The limit.
        max: u64,
    },
    /// What is there is protected: nothing may write it.
    #[error("`{path}`: {what}")]
    Protected {
        /// The path.
        path: String,
        /// What it is part of.
        what: Protected,
    },
    /// The root is not a directory, or there is nothing.
    #[error("`{path}`: no such directory")]
    NoRoot {
        /// The path as given.
        path: String,
    },
    /// A name in the path is a symlink: it became one after the path was resolved, or the path was not resolved.
    #[error("`{path}`: `{link}` is a symlink")]
    Link {
        /// The path.
        path: String,
        /// The part of the path that is a symlink.
        link: String,
    },
    /// A name in the path is followed by others and is not a directory.
    #[error("`{path}`: `{file}` is not a directory")]
    NotADirectory {
        /// The path.
        path: String,
        /// The part of the path that is not a directory.
        file: String,
    },
    /// Something other than a regular file is there.
    #[error("`{path}`: not a file but {found}")]
    NotAFile {
        /// The path.
        path: String,
        /// What it is.
        found: Found,
    },
    /// Nothing is there.
    #[error("`{path}`: no such file")]
    NotFound {
        /// The path.
        path: String,
    },
    /// A system call failed.
    #[error("`{path}`: {doing}: {source}")]
    Io {
        /// The path.
        path: String,
        /// What it was for.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

impl Hint for Error {
    fn hint(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Empty | Self::Nul { .. } | Self::NotUtf8 { .. } => "use the path of a file inside the root",
            Self::Parent { .. } => "use a path relative to the root, without `..`",
            Self::Outside { .. } => "use a path inside the root, or choose a root that contains it",
            Self::LeadsOutside { .. } => "choose a root that contains the target of the symlink",
            Self::Dangling { .. } => "remove the symlink, or create its target",
            Self::Home { .. } => "use a path relative to the root, or an absolute one inside it",
            Self::TooLong { .. } => "use a shorter path",
            Self::TooLarge { .. } => {
                "edit a smaller file, or raise the limit (`Limits::file_bytes` in the library)"
            }
            Self::Protected { what, .. } => what.hint(),
            Self::NoRoot { .. } => "check the path of the directory, which must exist",
            Self::Link { .. } => "use the path of the symlink's target",
            Self::NotADirectory { .. } => "check the path: only a directory can contain files",
            Self::NotAFile { .. } => "use the path of a regular file",
            Self::NotFound { .. } => "check the path: it is relative to the root",
            Self::Io { .. } => "check the path, its permissions and the free disk space",
        })
    }
}

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Found {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symlink.
    Link,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A device.
    Device,
    /// Something else.
    Other,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "a file",
            Self::Directory => "a directory",
            Self::Link => "a symlink",
            Self::Fifo => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
            Self::Other => "something else",
        })
    }
}

/// The first part of a long path.
fn start(path: &str) -> &str {
    let end = path.char_indices().nth(40).map_or(path.len(), |(at, _)| at);
    &path[..end]
}
