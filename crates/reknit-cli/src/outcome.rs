//! How a command ends, and with which exit code.

use std::io;
use std::process::ExitCode;

use crate::{explain, tell};

/// A command that could do its work.
pub(crate) enum Outcome {
    /// All of it.
    Done,
    /// Some of it could not be done: a stream was cut or failed.
    Partly,
    /// Somebody pressed Ctrl-C before the end.
    Interrupted,
}

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// It was used wrongly, or something is wrong with its surroundings.
    Wrong { what: anyhow::Error, hint: Option<String>, kind: Option<&'static str> },
    /// Whoever read the output has gone away, which is how pipes end.
    BrokenPipe,
}

impl Trouble {
    /// Trouble with a way out.
    pub(crate) fn with_hint(what: impl Into<anyhow::Error>, hint: impl Into<String>) -> Self {
        Self::Wrong { what: what.into(), hint: Some(hint.into()), kind: None }
    }

    /// The same trouble, which `reknit explain` has an entry about.
    pub(crate) fn explained_as(self, kind: &'static str) -> Self {
        match self {
            Self::Wrong { what, hint, .. } => Self::Wrong { what, hint, kind: Some(kind) },
            Self::BrokenPipe => self,
        }
    }

    /// Says what is wrong and how to mend it.
    pub(crate) fn tell(&self) -> ExitCode {
        let Self::Wrong { what, hint, kind } = self else { return ExitCode::SUCCESS };
        tell(format_args!("error: {what:#}"));
        if let Some(hint) = hint {
            tell(format_args!("hint: {hint}"));
        }
        // Files and pipes fail in many places, always in the system's own words.
        let mut causes = what.chain();
        let io = causes.find_map(|cause| cause.downcast_ref::<io::Error>()).map(|_| explain::INPUT_OUTPUT);
        explain::point_to(kind.or(io));
        ExitCode::from(2)
    }
}

impl From<anyhow::Error> for Trouble {
    fn from(what: anyhow::Error) -> Self {
        Self::Wrong { what, hint: None, kind: None }
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::BrokenPipe
        } else {
            Self::from(anyhow::Error::from(error).context("cannot write the output"))
        }
    }
}

impl From<serde_json::Error> for Trouble {
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}
