//! [`Unanswered`]: the result of a call that has none.

use crate::wire::request::RepairKind;

/// Why a call has no result.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unanswered<'a> {
    NotRun,
    Denied(Option<&'a str>),
    CancelledBefore,
    CancelledWhile,
    Interrupted,
}

impl Unanswered<'_> {
    /// The result that the model gets instead, and the kind of the repair.
    pub(super) fn result(self) -> (RepairKind, String) {
        match self {
            Self::NotRun => (RepairKind::CallNotRun, "This call was not run.".to_owned()),
            Self::Denied(None) => (RepairKind::CallDenied, "This call was denied.".to_owned()),
            Self::Denied(Some(reason)) => (RepairKind::CallDenied, format!("This call was denied: {reason}")),
            Self::CancelledBefore => {
                (RepairKind::CallCancelled, "The turn was cancelled before this call ran.".to_owned())
            }
            Self::CancelledWhile => (
                RepairKind::CallCancelled,
                "The turn was cancelled while this call ran; what it did is not known.".to_owned(),
            ),
            Self::Interrupted => (
                RepairKind::CallInterrupted,
                "This call was interrupted. It had begun to run; what it did is not known.".to_owned(),
            ),
        }
    }
}
