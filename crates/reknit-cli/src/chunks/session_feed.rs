//! The changes of chunks as what a person is shown of a session.

use std::borrow::Cow;

use reknit::agent::Decision;
use reknit::event::{Notation, Runner};
use reknit::json::Number;
use reknit::transcript::{self, Change, Chunk, Chunks, Input};

use crate::present::{Call, CallKey, Ended, Flaw, Presenter, Shown};

/// Shows a change; the chunks are as they are right after it.
pub(super) fn show(change: &Change<'_>, chunks: &Chunks, presenter: &mut Presenter) {
    let list = &chunks[..];
    match change {
        Change::Opened { chunk, value } => opened(*chunk, value, presenter),
        Change::Grew { chunk, text, .. } => presenter.show(match &list[*chunk] {
            Chunk::Thinking { .. } => Shown::Thinking(text),
            _ => Shown::Text(text),
        }),
        Change::Sealed { chunk, .. } => match &list[*chunk] {
            Chunk::Thinking { text, .. } if text.is_empty() => presenter.show(Shown::ThinkingHidden),
            _ => {}
        },
        Change::Called { chunk, call, value } => asked(CallKey::in_chunk(*chunk, *call), value, presenter),
        Change::InputGrew { chunk, call, at, text } => {
            let call = called(list, *chunk, *call);
            presenter.show(Shown::CallGrew { call, notation: Notation::Json, at: *at, text });
        }
        Change::InputWhole { chunk, call, .. } | Change::InputBroken { chunk, call, .. } => {
            asked(CallKey::in_chunk(*chunk, *call), find(list, *chunk, *call), presenter);
        }
        Change::Wrote { chunk, call, stream, text, .. } => {
            presenter.show(Shown::Wrote { call: called(list, *chunk, *call), stream: *stream, text });
        }
        Change::Answered { chunk, call, result, is_error } => {
            let (call, failed) = (called(list, *chunk, *call), *is_error == Some(true));
            presenter.show(Shown::Answered { call, result, failed });
        }
        Change::Approval { chunk, call, approval } => {
            let how = match approval.decision {
                None => "waits for approval",
                Some(Decision::Allow) => "allowed",
                Some(Decision::Deny) => "denied",
            };
            let name = &find(list, *chunk, *call).name;
            presenter.show(Shown::Note(&format!("[{name}: {how}]")));
        }
        _ => {}
    }
}

fn opened(number: usize, chunk: &Chunk, presenter: &mut Presenter) {
    match chunk {
        Chunk::Text { text } => presenter.show(Shown::Text(&text.to_str())),
        Chunk::Thinking { text, .. } => {
            presenter.show(Shown::ThinkingOpened);
            text.segments().for_each(|text| presenter.show(Shown::Thinking(text)));
        }
        Chunk::ToolBatch { calls } => {
            for (call, value) in calls.iter().enumerate() {
                asked(CallKey::in_chunk(number, call), value, presenter);
            }
        }
        Chunk::Error { message, status_code } => {
            let code = status_code.as_ref().map(Number::as_str);
            presenter.show(Shown::Failure { code, message });
        }
        Chunk::System { text, .. } => presenter.show(Shown::Note(&format!("[{text}]"))),
        _ => {}
    }
}

/// A call was asked for. One that is still being written is shown as it grows.
fn asked(key: CallKey, call: &transcript::Call, presenter: &mut Presenter) {
    let ended = match &call.input {
        Input::Streaming { .. } => return,
        Input::Whole { arguments } => Ended::Whole(Cow::Borrowed(arguments)),
        Input::Broken { input_text, input_error } => {
            Ended::Broken { flaw: Flaw::Other(input_error.clone()), raw: input_text.clone(), so_far: None }
        }
    };
    let call = Call { key, name: &call.name, runner: Runner::Client };
    presenter.show(Shown::CallEnded { call, ended });
}

fn called(list: &[Chunk], chunk: usize, call: usize) -> Call<'_> {
    let name = &find(list, chunk, call).name;
    Call { key: CallKey::in_chunk(chunk, call), name, runner: Runner::Client }
}

/// The call that a change names.
fn find(list: &[Chunk], chunk: usize, call: usize) -> &transcript::Call {
    match &list[chunk] {
        Chunk::ToolBatch { calls } => &calls[call],
        other => unreachable!("a change names a call in {other:?}"),
    }
}
