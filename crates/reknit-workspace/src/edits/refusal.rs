//! [`Refusal`]: an edit that is refused, whatever the files contain.

use reknit::Hint;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use reknit::edit::{Action, Edit};

use crate::root;

/// An edit that is refused, whatever the files contain.
#[derive(Debug)]
#[non_exhaustive]
pub struct Refusal {
    /// The index of the edit in the answer.
    pub index: usize,
    /// Why it is refused.
    pub why: Refused,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "edit {}: {}", self.index + 1, self.why)
    }
}

/// Why an edit is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The path leads outside the root, or to something that is protected or cannot be edited.
    #[error("{error}")]
    Path {
        /// The path as the answer has it.
        path: String,
        /// What is wrong with it.
        error: root::Error,
    },
    /// A file is moved to its own path.
    #[error("`{path}`: moved to its own path")]
    SamePath {
        /// The path.
        path: String,
    },
    /// A file is moved to the path of another edit.
    #[error("`{path}`: edit {} also uses this path", other + 1)]
    Taken {
        /// The path.
        path: String,
        /// The index of the other edit.
        other: usize,
    },
}

impl Refused {
    /// The path that is the reason.
    pub fn path(&self) -> &str {
        match self {
            Self::Path { path, .. } | Self::SamePath { path } | Self::Taken { path, .. } => path,
        }
    }
}

impl Hint for Refused {
    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Path { error, .. } => error.hint(),
            Self::SamePath { .. } => "remove the move".into(),
            Self::Taken { .. } => "move the file to another path, or remove the other edit".into(),
        }
    }
}

/// Refuses moves to the path of another edit: a batch writes a path only once.
pub(super) fn colliding_moves(edits: &[Edit], refusals: &[Refusal]) -> Vec<Refusal> {
    let refused: BTreeSet<_> = refusals.iter().map(|refusal| refusal.index).collect();
    let edits: Vec<_> = edits.iter().enumerate().filter(|(index, _)| !refused.contains(index)).collect();
    let mut first_edits = BTreeMap::new();
    let mut first_moves = BTreeMap::new();
    for (index, edit) in &edits {
        if let Some(path) = &edit.path {
            first_edits.entry(path).or_insert(*index);
        }
        if let Action::Move { to } = &edit.action {
            first_moves.entry(to).or_insert(*index);
        }
    }
    let mut colliding = Vec::new();
    for (index, edit) in edits {
        let Action::Move { to } = &edit.action else { continue };
        let path = to.clone();
        let earlier_move = first_moves.get(to).filter(|first| **first < index);
        if edit.path.as_ref() == Some(to) {
            colliding.push(Refusal { index, why: Refused::SamePath { path } });
        } else if let Some(&other) = first_edits.get(to).into_iter().chain(earlier_move).min() {
            colliding.push(Refusal { index, why: Refused::Taken { path, other } });
        }
    }
    colliding
}
