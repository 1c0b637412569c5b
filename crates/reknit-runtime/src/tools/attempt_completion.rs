//! `attempt_completion`: the model says that the task is done.

use reknit::json::Object;

use super::arguments;
use crate::question::Class;
use crate::tool::{Context, Definition, Failure, Kind, Output, Tool, Work};

pub(super) struct AttemptCompletion {
    definition: Definition,
}

impl AttemptCompletion {
    pub(super) fn new() -> Self {
        let about = "Ends the task and presents its result to the user. Use it only after the results of all earlier \
            calls are there and show that the task is done.";
        let definition = Definition::new("attempt_completion", Class::Talk, about).required(
            "result",
            Kind::Text,
            "What was done, for the user. It is final: do not end with a question.",
        );
        Self { definition: definition.completing() }
    }
}

impl Tool for AttemptCompletion {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn execute<'a>(&'a self, args: &'a Object, _: &'a Context) -> Work<'a, Result<Output, Failure>> {
        Box::pin(async move {
            if arguments::required(args, "result")?.trim().is_empty() {
                return Err(Failure::mistake("The result is empty. Say what was done, and retry."));
            }
            Ok(Output::text("The result was presented to the user.").completing())
        })
    }
}
