//! [`Caller`]: calls tools without a session.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reknit::json::{Object, Value};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::question::{Answer, Question};
use crate::tool::{Context, Failure, Output, Progress, Report, Review, Tool, Workspace};

/// Calls tools without a session, answers their questions, and keeps what they report.
///
/// ```
/// use reknit_runtime::testing::Caller;
/// use reknit_runtime::tool::Workspace;
/// use reknit_workspace::{Journal, Root};
///
/// # let folder = tempfile::tempdir()?;
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// std::fs::write(folder.path().join("a.txt"), "one\n")?;
/// let workspace = Workspace::new(Root::open(folder.path())?, Journal::temporary()?, folder.path().join("out"));
/// let caller = Caller::new(workspace, []);
/// let tools = reknit_runtime::tools::standard();
/// let tool = tools.get("read_file").expect("it is one of them");
/// let output = caller.call(tool.as_ref(), r#"{"path": "a.txt"}"#).await?;
/// assert_eq!(output.plain_text(), "File: a.txt\nLines 1-1 of 1:\n   1 | one\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Caller {
    context: Context,
    /// Locked by the call that runs.
    reports: tokio::sync::Mutex<mpsc::Receiver<Report>>,
    seen: Mutex<Seen>,
    /// Changes with every report.
    count: watch::Sender<usize>,
}

#[derive(Debug)]
struct Seen {
    progress: Vec<Progress>,
    questions: Vec<Question>,
    answers: VecDeque<Answer>,
}

impl Caller {
    /// Calls tools with these files. Questions get these answers, one after the other, and then no.
    pub fn new(workspace: Workspace, answers: impl IntoIterator<Item = Answer>) -> Self {
        let (sender, reports) = mpsc::channel(1);
        let answers = answers.into_iter().collect();
        let seen = Seen { progress: Vec::new(), questions: Vec::new(), answers };
        Self {
            context: Context::new("call-1", Arc::new(workspace), sender, CancellationToken::new()),
            reports: tokio::sync::Mutex::new(reports),
            seen: Mutex::new(seen),
            count: watch::Sender::new(0),
        }
    }

    /// What a call is given.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Checks, reviews and runs a call. Nobody is asked whether it may run.
    ///
    /// Calls run one after the other.
    pub async fn call(&self, tool: &dyn Tool, args: &str) -> Result<Output, Failure> {
        let mut reports = self.reports.lock().await;
        let args = arguments(args);
        tool.definition().check(&args)?;
        tool.review(&args, &self.context).await?;
        let mut work = tool.execute(&args, &self.context);
        let done = loop {
            tokio::select! {
                done = &mut work => break done,
                Some(report) = reports.recv() => self.take(report),
            }
        };
        while let Ok(report) = reports.try_recv() {
            self.take(report);
        }
        done
    }

    /// Checks and reviews a call.
    pub async fn review(&self, tool: &dyn Tool, args: &str) -> Result<Review, Failure> {
        let args = arguments(args);
        tool.definition().check(&args)?;
        tool.review(&args, &self.context).await
    }

    /// Tells the call that it should stop.
    pub fn cancel(&self) {
        self.context.cancelled().cancel();
    }

    /// Everything that was reported so far.
    pub fn progress(&self) -> Vec<Progress> {
        self.seen().progress.clone()
    }

    /// All questions that were asked so far.
    pub fn questions(&self) -> Vec<Question> {
        self.seen().questions.clone()
    }

    /// Waits until what was reported fulfils a condition.
    pub async fn until(&self, is_enough: impl Fn(&[Progress]) -> bool) {
        let mut count = self.count.subscribe();
        while !is_enough(&self.seen().progress) {
            // The sender is in `self`.
            let _ = count.changed().await;
        }
    }

    fn take(&self, report: Report) {
        let mut seen = self.seen();
        match report {
            Report::Progress { progress, noted, .. } => {
                seen.progress.push(progress);
                let _ = noted.send(());
            }
            Report::Ask { question, answer } => {
                seen.questions.push(question);
                // The call may have been dropped while it waited.
                let _ = answer.send(seen.answers.pop_front().unwrap_or_default());
            }
            // Only a session sends these.
            Report::Decided { .. } | Report::Start { .. } => {}
        }
        drop(seen);
        self.count.send_modify(|count| *count += 1);
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the arguments of a call.
///
/// # Panics
///
/// If they are not a JSON object.
pub fn arguments(json: &str) -> Object {
    let value = Value::parse(json, 32).unwrap_or_else(|error| panic!("the arguments are not JSON: {error}"));
    match value {
        Value::Object(object) => object,
        other => panic!("the arguments are not an object: {other}"),
    }
}
