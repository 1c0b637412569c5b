//! Why a path is refused.

use std::fmt;
use std::io;

/// Why a path is refused, or nothing can be done with what is there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The path is empty.
    #[error("the path is empty")]
    Empty,
    /// The path has a NUL in it.
    #[error("`{path}`: there is a NUL at byte {at}")]
    Nul {
        /// The path, with U+FFFD in place of NUL.
        path: String,
        /// The byte at which it stands.
        at: usize,
    },
    /// The path has `..` in it.
    #[error("`{path}`: there is a `..` in it")]
    Parent {
        /// The path as given.
        path: String,
    },
    /// The path is absolute and not inside the root.
    #[error("`{path}`: outside of the root")]
    Outside {
        /// The path as given.
        path: String,
    },
    /// A link on the path leads out of the root.
    #[error("`{path}`: a link leads outside of the root, to `{to}`")]
    LeadsOutside {
        /// The path as given.
        path: String,
        /// Where it leads.
        to: String,
    },
    /// A link on the path leads nowhere.
    #[error("`{path}`: the link `{link}` leads nowhere")]
    Dangling {
        /// The path as given.
        path: String,
        /// The link.
        link: String,
    },
    /// The path, or what it leads to, is not UTF-8.
    #[error("`{path}`: not UTF-8")]
    NotUtf8 {
        /// The path, with U+FFFD in place of what is not UTF-8.
        path: String,
    },
    /// A name of the path is a link by now, or was not resolved.
    #[error("`{path}`: `{link}` is a link")]
    Link {
        /// The path.
        path: String,
        /// The part of it that is a link.
        link: String,
    },
    /// A name of the path has names behind it and is no directory.
    #[error("`{path}`: `{file}` is not a directory")]
    NotADirectory {
        /// The path.
        path: String,
        /// The part of it that is no directory.
        file: String,
    },
    /// What is there is not a file with bytes in it.
    #[error("`{path}`: not a file but {found}")]
    NotAFile {
        /// The path.
        path: String,
        /// What it is.
        found: Found,
    },
    /// There is nothing.
    #[error("`{path}`: there is no such file")]
    NotFound {
        /// The path.
        path: String,
    },
    /// The system refused.
    #[error("`{path}`: {doing}: {source}")]
    Io {
        /// The path.
        path: String,
        /// What was being done.
        doing: &'static str,
        /// What the system says.
        source: io::Error,
    },
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Empty | Self::Nul { .. } | Self::NotUtf8 { .. } => "give the path of a file below the root",
            Self::Parent { .. } => "give the path from the root on, without `..`",
            Self::Outside { .. } => "give a path below the root, or choose a root that holds it",
            Self::LeadsOutside { .. } => "choose a root that holds what the link leads to",
            Self::Dangling { .. } => "remove the link, or create what it leads to",
            Self::Link { .. } => "give the path of what is behind the link",
            Self::NotADirectory { .. } => "give a path whose directories are directories",
            Self::NotAFile { .. } => "give the path of a regular file",
            Self::NotFound { .. } => "look at what is there; the path counts from the root",
            Self::Io { .. } => "see what the system says; permissions and free space are the usual reasons",
        }
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
    /// A link.
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
            Self::Link => "a link",
            Self::Fifo => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
            Self::Other => "something else",
        })
    }
}
