//! How a command ends, and with which exit code.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use anyhow::anyhow;
use reknit::Hint;

use crate::{explain, interrupt, print_message};

/// How a command that could do its work ended.
pub(crate) enum Outcome {
    /// All of it.
    Done,
    /// Some of it could not be done, such as a stream that was cut.
    Partly,
    /// Some of the input could not be read at all.
    Unreadable,
    /// A signal ended the input, such as that of Ctrl-C.
    Interrupted,
}

impl Outcome {
    /// How a command ends that has written files and then printed its report, or could not.
    pub(crate) fn of_written(printed: Result<(), CommandError>) -> Self {
        match printed {
            Ok(()) | Err(CommandError::BrokenPipe) => Self::Done,
            Err(error) => {
                error.report();
                print_message(format_args!("the files are written; only the report could not be printed"));
                Self::Partly
            }
        }
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// Wrong usage, or something that went wrong outside the program.
    Wrong { what: anyhow::Error, hint: Option<String>, kind: Option<&'static str> },
    /// The reader of the output has gone away, which is how pipes end.
    BrokenPipe,
    /// A signal came before anything was written.
    Stopped,
}

impl CommandError {
    /// An error with a hint.
    pub(crate) fn with_hint(what: impl Into<anyhow::Error>, hint: impl Into<String>) -> Self {
        Self::Wrong { what: what.into(), hint: Some(hint.into()), kind: None }
    }

    /// An error of the engine or of what is built on it.
    pub(crate) fn of(error: &(impl Display + Hint)) -> Self {
        Self::with_hint(anyhow!("{error}"), error.hint())
    }

    /// The same error, with the kind that `reknit explain` has an entry for.
    pub(crate) fn explained_as(self, kind: &'static str) -> Self {
        match self {
            Self::Wrong { what, hint, .. } => Self::Wrong { what, hint, kind: Some(kind) },
            Self::BrokenPipe | Self::Stopped => self,
        }
    }

    /// What is wrong, what to do about it, and the kind that `reknit explain` has an entry for.
    pub(crate) fn parts(&self) -> (String, Option<String>, Option<&'static str>) {
        match self {
            Self::Wrong { what, hint, kind } => {
                // Files and pipes fail in many places, always with the system's message.
                let mut causes = what.chain();
                let io =
                    causes.find_map(|cause| cause.downcast_ref::<io::Error>()).map(|_| explain::INPUT_OUTPUT);
                (format!("{what:#}"), hint.clone(), kind.or(io))
            }
            Self::BrokenPipe => ("the reader of the output has gone away".to_owned(), None, None),
            Self::Stopped => ("stopped by a signal".to_owned(), None, None),
        }
    }

    /// The message that is printed about it, and its kind.
    pub(crate) fn words(&self) -> (String, Option<&'static str>) {
        let (what, hint, kind) = self.parts();
        let hint = hint.map_or_else(String::new, |hint| format!("\nhint: {hint}"));
        (format!("error: {what}{hint}"), kind)
    }

    /// Prints what is wrong and what to do about it.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            Self::Wrong { .. } => {}
            Self::BrokenPipe => return ExitCode::SUCCESS,
            Self::Stopped => {
                let (name, number) = interrupt::signal().unwrap_or(("a signal", 2));
                print_message(format_args!("stopped by {name}: nothing was written"));
                return ExitCode::from(128 + number);
            }
        }
        let (words, kind) = self.words();
        print_message(format_args!("{words}"));
        explain::point_to(kind);
        ExitCode::from(2)
    }
}

impl From<anyhow::Error> for CommandError {
    fn from(what: anyhow::Error) -> Self {
        Self::Wrong { what, hint: None, kind: None }
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::BrokenPipe
        } else {
            Self::from(anyhow::Error::from(error).context("cannot write the output"))
        }
    }
}

impl From<serde_json::Error> for CommandError {
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}
