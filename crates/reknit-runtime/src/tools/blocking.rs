//! Work on files, away from the threads that wait for everything else.

use std::panic;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::tool::{Context, Failure, Workspace};

/// Does something with the files of a session on a thread that may block.
///
/// What takes long looks at the token now and then.
pub(super) async fn blocking<T: Send + 'static>(
    context: &Context,
    work: impl FnOnce(&Workspace, &CancellationToken) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let (workspace, cancel) = (Arc::clone(context.workspace()), context.cancelled().clone());
    match tokio::task::spawn_blocking(move || work(&workspace, &cancel)).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(payload) => panic::resume_unwind(payload),
            Err(_) => Err(stopped()),
        },
    }
}

/// The answer of a call that was cancelled.
pub(super) fn stopped() -> Failure {
    Failure::other("The call was stopped before it was done.")
}
