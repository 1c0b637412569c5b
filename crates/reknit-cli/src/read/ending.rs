//! How a reply ended, for people and for the exit code.

use reknit::Hint;
use reknit::diagnostic::Kind;
use reknit::event::{End, Origin};
use reknit::message::Status;
use reknit::reply::Error;
use reknit::{Diagnostic, Message, Reply};

use super::look::{self, Beginning};
use super::{Arguments, Form};
use crate::explain;
use crate::outcome::CommandError;
use crate::report::Report;
use crate::tools;

/// Why no reply could be read from an input, if none could.
pub(super) fn unreadable(reply: &Reply, beginning: &Beginning) -> Option<CommandError> {
    let unread = match reply.error() {
        Some(error @ (Error::UnknownDialect { .. } | Error::WrongDialect { .. } | Error::NoFrame { .. })) => {
            Some(CommandError::of(error).explained_as(error.kind().name()))
        }
        _ => None,
    };
    if unread.is_some() || reply.messages().all(look::is_nothing) {
        return beginning.explain().or(unread);
    }
    None
}

/// Reports what keeps a reply from being whole.
pub(super) fn report_errors(reply: &Reply, report: &mut Report) {
    match reply.error() {
        // What came before the limit was read.
        Some(error) => report.add(format!("error: {error}\nhint: {}", error.hint()), error.kind().name()),
        None => reply.messages().for_each(|message| report_end(message, report)),
    }
}

/// Reports what was odd, unless the output has it.
pub(super) fn report_warnings(reply: &Reply, arguments: &Arguments, report: &mut Report) {
    if arguments.ndjson || (arguments.json && arguments.form == Form::Neutral) {
        return;
    }
    // The error is also a diagnostic, and was reported.
    let reported = reply.error().map(ToString::to_string);
    for message in reply.messages() {
        let diagnostics = message.diagnostics().iter();
        diagnostics
            .filter(|diagnostic| reported.as_ref() != Some(&diagnostic.message))
            .filter(|diagnostic| !is_cut_call(message, diagnostic))
            .for_each(|diagnostic| report_diagnostic("warning", diagnostic, report));
    }
}

/// Reports how a message ended, if it is not whole.
fn report_end(message: &Message, report: &mut Report) {
    match (message.status(), message.failure()) {
        (Status::Stopped, _) => {
            // For calls that the provider sent as blocks there is a diagnostic, with the place.
            let native = message.diagnostics().iter().filter(|diagnostic| is_cut_call(message, diagnostic));
            native.for_each(|diagnostic| report_diagnostic("error", diagnostic, report));
            let tagged = message.tool_calls().filter(|call| call.origin != Origin::Native);
            let cut = tagged.filter(|call| call.end() == Some(End::Cut));
            cut.for_each(|call| tools::report_call(&call.name, call.end(), report));
        }
        (_, Some(failure)) => {
            let kind = failure.kind.as_ref().map_or(String::new(), |kind| format!("{kind}: "));
            report.add(format!("error: the provider reported: {kind}{}", failure.message), explain::FAILED);
        }
        (_, None) => {
            let words =
                "error: the stream ended before the message did: it is cut\nhint: ask for the reply again";
            report.add(words.to_owned(), explain::CUT);
        }
    }
}

/// Whether this is about a call that was cut although the provider ended the message.
fn is_cut_call(message: &Message, diagnostic: &Diagnostic) -> bool {
    message.status() == Status::Stopped && diagnostic.kind == Kind::CutArguments
}

fn report_diagnostic(severity: &str, diagnostic: &Diagnostic, report: &mut Report) {
    let at = diagnostic.place().unwrap_or_default().at;
    let words = format!("{severity}: byte {at}: {}\nhint: {}", diagnostic.message, diagnostic.hint());
    report.add(words, diagnostic.kind.name());
}
