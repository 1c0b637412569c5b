//! [`Approver`]: decides whether a call may run, or who has to be asked.

use crate::question::{Class, Question};

/// Decides whether a call may run.
pub trait Approver: Send + Sync + 'static {
    /// The decision about a call that passed its checks.
    fn decide(&self, question: &Question) -> Verdict;
}

/// A decision about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// It may run.
    Allow,
    /// The user has to be asked.
    Ask,
    /// It may not run, for this reason.
    Deny(String),
}

/// Asks before anything that is more than reading: writing, commands, secrets, the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Careful {
    edits: bool,
}

impl Careful {
    /// Asks about all of these.
    pub fn new() -> Self {
        Self::default()
    }

    /// Does not ask about edits, which can be undone, unless they touch something protected.
    #[must_use]
    pub fn allowing_edits(mut self) -> Self {
        self.edits = true;
        self
    }
}

impl Approver for Careful {
    fn decide(&self, question: &Question) -> Verdict {
        match question.class {
            _ if question.protected => Verdict::Ask,
            Class::Talk | Class::Control | Class::Read => Verdict::Allow,
            Class::Write if self.edits => Verdict::Allow,
            Class::Write | Class::ReadSecret | Class::Execute | Class::Network => Verdict::Ask,
        }
    }
}
