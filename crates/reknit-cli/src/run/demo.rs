//! The recorded session that `reknit run` plays: nothing of it needs a key or a network.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, anyhow};
use reknit_runtime::approve::{Approver, Careful, Verdict};
use reknit_runtime::provider::Recorded;
use reknit_runtime::provider::recorded::Pace;
use reknit_runtime::question::{Class, Question};

use crate::outcome::CommandError;

/// What the user asks for.
pub(super) const TASK: &str = "The total of the shopping list is wrong. Please fix it.";

/// The model of its requests, by which a session in the store is known as a demo.
pub(super) const MODEL: &str = "demo";

const SCENARIO: &str = include_str!("../../demo/scenario.json");

/// The files of the sample project.
const PROJECT: [(&str, &str); 3] = [
    ("README.md", include_str!("../../demo/project/README.md")),
    ("test.sh", include_str!("../../demo/project/test.sh")),
    ("total.sh", include_str!("../../demo/project/total.sh")),
];

/// The model's replies.
const RECORDINGS: [(&str, &str); 11] = [
    ("changed.rec", include_str!("../../demo/changed.rec")),
    ("denied.rec", include_str!("../../demo/denied.rec")),
    ("done.rec", include_str!("../../demo/done.rec")),
    ("edit.rec", include_str!("../../demo/edit.rec")),
    ("look.rec", include_str!("../../demo/look.rec")),
    ("reread.rec", include_str!("../../demo/reread.rec")),
    ("still.rec", include_str!("../../demo/still.rec")),
    ("test.rec", include_str!("../../demo/test.rec")),
    ("untested.rec", include_str!("../../demo/untested.rec")),
    ("unverified.rec", include_str!("../../demo/unverified.rec")),
    ("verify.rec", include_str!("../../demo/verify.rec")),
];

/// The provider that plays them.
pub(super) fn provider(pace: Pace) -> Result<Recorded, CommandError> {
    let recording = |name: &str| RECORDINGS.iter().find(|(file, _)| *file == name).map(|(_, text)| *text);
    Ok(Recorded::new(SCENARIO, recording, pace).map_err(|error| anyhow!("{error}"))?)
}

/// Makes a copy of the sample project, which stays after the program.
pub(super) fn project() -> Result<PathBuf, CommandError> {
    let folder = tempfile::Builder::new().prefix("reknit-demo-").tempdir();
    let folder = folder.context("cannot make a temporary folder")?.keep();
    for (name, content) in PROJECT {
        fs::write(folder.join(name), content).with_context(|| format!("cannot write `{name}`"))?;
    }
    Ok(folder)
}

/// Asks like a session with a model, but about each command only once: the demo runs its test twice, and is to show
/// what a question looks like, not to repeat it.
#[derive(Clone)]
pub(super) struct AskOnce {
    careful: Careful,
    allowed: Arc<Mutex<BTreeSet<String>>>,
}

impl AskOnce {
    pub(super) fn new(careful: Careful) -> Self {
        Self { careful, allowed: Arc::default() }
    }

    /// The user has allowed this.
    pub(super) fn allow(&self, question: &Question) {
        if question.class == Class::Execute {
            let mut allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
            allowed.insert(question.hash.clone());
        }
    }
}

impl Approver for AskOnce {
    fn decide(&self, question: &Question) -> Verdict {
        let allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        if allowed.contains(&question.hash) { Verdict::Allow } else { self.careful.decide(question) }
    }
}
