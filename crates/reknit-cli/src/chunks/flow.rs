//! [`Flow`]: chunks for people, as they arrive, where there is no terminal.

use std::io::{self, Write};

use reknit::agent::Decision;
use reknit::transcript::{Call, Change, Chunk, Chunks, Input};

/// Text as it arrives, and a paragraph for all else.
#[derive(Default)]
pub(super) struct Flow {
    last: Option<Shown>,
    line_ended: bool,
}

/// What was shown last.
#[derive(Clone, Copy, PartialEq)]
enum Shown {
    Text,
    /// What a call's command wrote.
    Output {
        chunk: usize,
        call: usize,
    },
    Paragraph,
}

impl Flow {
    pub(super) fn show(
        &mut self,
        change: &Change<'_>,
        chunks: &Chunks,
        out: &mut impl Write,
    ) -> io::Result<()> {
        match change {
            Change::Opened { value, .. } => match value {
                Chunk::Text { text } => self.put(Shown::Text, &text.to_str(), out),
                Chunk::Thinking { .. } => self.put(Shown::Paragraph, "[thinking, not shown]", out),
                Chunk::ToolBatch { calls } => calls.iter().try_for_each(|call| self.call(call, out)),
                Chunk::Error { message, status_code } => {
                    let code =
                        status_code.as_ref().map_or(String::new(), |code| format!(" {}", code.as_str()));
                    self.put(Shown::Paragraph, &format!("[error{code}] {message}"), out)
                }
                Chunk::System { text, .. } => self.put(Shown::Paragraph, &format!("[{text}]"), out),
            },
            Change::Grew { chunk, text, .. } => match &chunks.list()[*chunk] {
                Chunk::Text { .. } => self.put(Shown::Text, text, out),
                _ => Ok(()),
            },
            Change::Called { value, .. } => self.call(value, out),
            Change::InputWhole { chunk, call, .. } | Change::InputBroken { chunk, call, .. } => {
                called(chunks, *chunk, *call).map_or(Ok(()), |call| self.call(call, out))
            }
            Change::Wrote { chunk, call, text, .. } => {
                self.put(Shown::Output { chunk: *chunk, call: *call }, text, out)
            }
            Change::Answered { chunk, call, result, is_error } => {
                let Some(call) = called(chunks, *chunk, *call) else { return Ok(()) };
                let word = if *is_error == Some(true) { "error" } else { "result" };
                let result = result.as_str().map_or_else(|| result.to_string(), Into::into);
                self.put(Shown::Paragraph, &format!("[{word} of {}] {result}", call.name), out)
            }
            Change::Approval { chunk, call, approval } => {
                let Some(call) = called(chunks, *chunk, *call) else { return Ok(()) };
                let how = match approval.decision {
                    None => "waits for approval",
                    Some(Decision::Allow) => "allowed",
                    Some(Decision::Deny) => "denied",
                };
                self.put(Shown::Paragraph, &format!("[{}: {how}]", call.name), out)
            }
            Change::Sealed { .. }
            | Change::InputGrew { .. }
            | Change::Previewed { .. }
            | Change::Dropped(_)
            | Change::Nothing {} => Ok(()),
        }
    }

    /// Ends the last line, if anything was shown.
    pub(super) fn end(&self, out: &mut impl Write) -> io::Result<()> {
        if self.last.is_some() && !self.line_ended { out.write_all(b"\n") } else { Ok(()) }
    }

    /// A call, when its arguments are all there.
    fn call(&mut self, call: &Call, out: &mut impl Write) -> io::Result<()> {
        let told = match &call.input {
            Input::Streaming { .. } => return Ok(()),
            Input::Whole { arguments } => format!("[call {}] {arguments}", call.name),
            Input::Broken { input_text, input_error } => {
                format!("[call {}] {input_text} [{input_error}]", call.name)
            }
        };
        self.put(Shown::Paragraph, &told, out)
    }

    /// Goes on with text and output, and begins a paragraph for all else.
    fn put(&mut self, next: Shown, text: &str, out: &mut impl Write) -> io::Result<()> {
        let goes_on = self.last == Some(next) && next != Shown::Paragraph;
        if self.last.is_some() && !goes_on {
            out.write_all(if self.line_ended { b"\n" } else { b"\n\n" })?;
            self.line_ended = false;
        }
        self.last = Some(next);
        if let Some(last) = text.chars().next_back() {
            self.line_ended = last == '\n';
        }
        out.write_all(text.as_bytes())
    }
}

/// A call by its place.
pub(super) fn called(chunks: &Chunks, chunk: usize, call: usize) -> Option<&Call> {
    match chunks.list().get(chunk)? {
        Chunk::ToolBatch { calls } => calls.get(call),
        _ => None,
    }
}
