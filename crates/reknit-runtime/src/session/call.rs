//! One call, from its review to what became of it.

use std::sync::Arc;

use reknit::json::{Object, Value};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::Timeouts;
use crate::approve::{Approver, Verdict};
use crate::question::{Answer, Question};
use crate::tool::{Context, Failure, Report, Review, Tool};
use crate::turn::{Call, Outcome};

/// How often a call may change between its approval and its start before it is given up.
const CHANGES: usize = 3;

/// What a call needs to run.
pub(super) struct Job {
    pub(super) call: Call,
    pub(super) tool: Arc<dyn Tool>,
    pub(super) context: Context,
    pub(super) approver: Arc<dyn Approver>,
    pub(super) reports: mpsc::Sender<Report>,
    pub(super) cancel: CancellationToken,
    pub(super) timeouts: Timeouts,
    /// An approval from before the session was resumed, by what it covers.
    pub(super) approved: Option<(String, Answer)>,
}

impl Job {
    /// Runs the call, and says what became of it. It never panics, whatever the tool does.
    pub(super) async fn run(self) -> Outcome {
        let (cancel, grace) = (self.cancel.clone(), self.timeouts.grace);
        let task = tokio::spawn(self.act());
        let abort = task.abort_handle();
        let outcome = tokio::select! {
            outcome = task => outcome,
            // One that ignores a cancel is answered after a grace time, and what it does later is dropped.
            () = async { cancel.cancelled().await; tokio::time::sleep(grace).await } => {
                abort.abort();
                return Outcome::Cancelled;
            }
        };
        match outcome {
            Ok(outcome) => outcome,
            Err(error) if error.is_panic() => {
                Outcome::Failed(Failure::other("The tool crashed. This is a bug in it."))
            }
            Err(_) => Outcome::Cancelled,
        }
    }

    async fn act(self) -> Outcome {
        let Value::Object(args) = &self.call.arguments else {
            return Outcome::Failed(Failure::mistake("The arguments of the call are not an object."));
        };
        let answer = match self.approve(args).await {
            Ok(answer) => answer,
            Err(outcome) => return outcome,
        };
        if self.cancel.is_cancelled() {
            return Outcome::Cancelled;
        }
        let (started, may_run) = oneshot::channel();
        let call_id = self.call.id.clone();
        let sent = self.reports.send(Report::Start { call_id, started }).await;
        // That it starts is on the disk before it does anything.
        if sent.is_err() || may_run.await.is_err() || self.cancel.is_cancelled() {
            return Outcome::Cancelled;
        }
        let limit = self.timeouts.tool;
        let result = match tokio::time::timeout(limit, self.tool.execute(args, &self.context)).await {
            Ok(result) => result,
            Err(_) => Err(Failure::other(format!("The tool did not finish within {} s.", limit.as_secs()))),
        };
        match result {
            Ok(output) => Outcome::Done(output, Some(answer).filter(|answer| *answer != Answer::yes())),
            Err(_) if self.cancel.is_cancelled() => Outcome::Cancelled,
            Err(failure) => Outcome::Failed(failure),
        }
    }

    /// Finds out whether the call may run. What was approved is what will run: if that has changed, it is asked
    /// again.
    async fn approve(&self, args: &Object) -> Result<Answer, Outcome> {
        let mut approved = self.approved.clone();
        for _ in 0..CHANGES {
            let review = self.tool.review(args, &self.context).await.map_err(Outcome::Failed)?;
            let question = self.question(args, review);
            match approved.take() {
                Some((hash, answer)) if hash == question.hash => return Ok(answer),
                _ => {}
            }
            match self.approver.decide(&question) {
                Verdict::Allow => return Ok(Answer::yes()),
                Verdict::Deny(reason) => {
                    let answer = Answer::no().with_words(reason);
                    self.decided(question, answer.clone()).await;
                    return Err(Outcome::Denied(answer));
                }
                Verdict::Ask => {}
            }
            let hash = question.hash.clone();
            let answer = self.context.ask(question).await;
            if self.cancel.is_cancelled() {
                return Err(Outcome::Cancelled);
            }
            if !answer.yes {
                return Err(Outcome::Denied(answer));
            }
            approved = Some((hash, answer));
        }
        let message = "The files kept changing while the call waited for its approval. Read them again.";
        Err(Outcome::Failed(Failure::other(message)))
    }

    fn question(&self, args: &Object, review: Review) -> Question {
        let Call { id, name, arguments, .. } = &self.call;
        Question::new(id, name, self.tool.describe(args), review.class, arguments.clone())
            .with_detail(review.detail, review.protected)
            .with_progress(review.progress)
    }

    async fn decided(&self, question: Question, answer: Answer) {
        let (done, noted) = oneshot::channel();
        if self.reports.send(Report::Decided { question, answer, done }).await.is_ok() {
            let _ = noted.await;
        }
    }
}
