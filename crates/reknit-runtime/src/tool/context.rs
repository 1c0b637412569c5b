//! [`Context`]: what a running tool has.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use reknit::agent::Stream;
use reknit_workspace::{Journal, Root};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::question::{Answer, Question};

/// What a running tool has: the files, a way to ask and to report, and whether it should stop.
#[derive(Clone, Debug)]
pub struct Context {
    call_id: Arc<str>,
    workspace: Arc<Workspace>,
    reports: mpsc::Sender<Report>,
    cancel: CancellationToken,
}

/// The files of a session.
#[derive(Debug)]
#[non_exhaustive]
pub struct Workspace {
    /// The directory that contains the files. Nothing outside it is touched.
    pub root: Root,
    /// Where what is written is kept for undo.
    pub journal: Journal,
    /// Where the whole output of commands is kept, outside the root.
    outputs: PathBuf,
    /// Variables of the environment that commands do not get, besides the keys of known providers.
    hidden: Vec<String>,
}

/// What a running tool reports.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// A command has written something.
    Output {
        /// Where to.
        stream: Stream,
        /// What.
        data: String,
    },
    /// A command runs as this group of processes. If this program is killed, a later one ends the group.
    Group {
        /// The id of the group.
        id: u32,
        /// When its first process started, in the system's own count, so that a later group of the same id is
        /// not taken for it.
        started: u64,
    },
}

/// What a running tool sends to its session.
#[derive(Debug)]
pub(crate) enum Report {
    Progress {
        call_id: Arc<str>,
        progress: Progress,
        /// Answered once it is written down, and on the disk if it has to be.
        noted: oneshot::Sender<()>,
    },
    Ask {
        question: Question,
        answer: oneshot::Sender<Answer>,
    },
    /// It was decided without asking.
    Decided {
        question: Question,
        answer: Answer,
        done: oneshot::Sender<()>,
    },
    /// The call is about to start; it does once this is answered.
    Start {
        call_id: String,
        started: oneshot::Sender<()>,
    },
}

impl Context {
    pub(crate) fn new(
        call_id: &str,
        workspace: Arc<Workspace>,
        reports: mpsc::Sender<Report>,
        cancel: CancellationToken,
    ) -> Self {
        Self { call_id: call_id.into(), workspace, reports, cancel }
    }

    /// The id of the call.
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// The files.
    pub fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    /// Asks the user something, and waits for the answer. If the session is ending, or nobody can be asked, the
    /// answer is no.
    pub async fn ask(&self, question: Question) -> Answer {
        let (answer, answered) = oneshot::channel();
        if self.reports.send(Report::Ask { question, answer }).await.is_err() {
            return Answer::no();
        }
        tokio::select! {
            answer = answered => answer.unwrap_or_default(),
            () = self.cancel.cancelled() => Answer::no(),
        }
    }

    /// Reports progress, and waits until it is in the log. This slows a command down to what the log can take, and a
    /// group of processes that was reported is known after a crash.
    pub async fn progress(&self, progress: Progress) {
        let (noted, is_noted) = oneshot::channel();
        let report = Report::Progress { call_id: self.call_id.clone(), progress, noted };
        // If nobody listens any more, the result will not be wanted either.
        if self.reports.send(report).await.is_ok() {
            let _ = is_noted.await;
        }
    }

    /// Is triggered when the call should stop. One that does not is abandoned after a while.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.cancel
    }
}

impl Workspace {
    /// The files below a directory, with a journal, and a directory outside it for the output of commands.
    pub fn new(root: Root, journal: Journal, outputs: impl Into<PathBuf>) -> Self {
        Self { root, journal, outputs: outputs.into(), hidden: Vec::new() }
    }

    /// The same, with variables of the environment that commands do not get. The usual variables of providers' keys
    /// are never among what they get.
    #[must_use]
    pub fn hiding(mut self, variables: Vec<String>) -> Self {
        self.hidden = variables;
        self
    }

    /// The variables that commands do not get.
    pub(crate) fn hidden(&self) -> &[String] {
        &self.hidden
    }

    /// Where the whole output of commands is kept.
    pub fn outputs(&self) -> &Path {
        &self.outputs
    }
}
