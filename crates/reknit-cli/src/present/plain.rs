//! [`Plain`]: what is shown where there is no terminal.

use std::io::{self, Write};

use reknit::event::Runner;

use super::shown::{Call, CallKey, Ended, Shown};

/// Text as it arrives, and a paragraph for everything else.
#[derive(Default)]
pub(super) struct Plain {
    /// What was not written yet.
    due: String,
    last: Option<Last>,
    /// Whether what was shown last ended its line.
    line_ended: bool,
}

/// What was shown last.
#[derive(Clone, Copy, PartialEq)]
enum Last {
    Text,
    /// What the command of a call wrote.
    Output(CallKey),
    /// Something that nothing is added to.
    Paragraph,
}

impl Plain {
    pub(super) fn show(&mut self, shown: &Shown<'_>) {
        match shown {
            Shown::Text(text) => self.put(Last::Text, text),
            Shown::Wrote { call, text, .. } => self.put(Last::Output(call.key), text),
            Shown::Break => self.last = self.last.map(|_| Last::Paragraph),
            Shown::Said { who, text } => {
                self.paragraph(&format!("[{who}] {text}"));
                self.last = Some(Last::Text);
            }
            Shown::ThinkingOpened => self.paragraph("[thinking, not shown]"),
            Shown::CallEnded { call, ended } => self.paragraph(&call_line(call, ended)),
            Shown::Answered { call, result, failed } => {
                let word = if *failed { "error" } else { "result" };
                let result = result.as_str().map_or_else(|| result.to_string(), Into::into);
                self.paragraph(&format!("[{word} of {}] {result}", call.name));
            }
            Shown::Note(words) => self.paragraph(words),
            Shown::Failure { code: None, message } => self.paragraph(&format!("[error] {message}")),
            Shown::Failure { code: Some(code), message } => {
                self.paragraph(&format!("[error {code}] {message}"));
            }
            Shown::Over { .. } => self.end_line(),
            Shown::About { .. }
            | Shown::Thinking(_)
            | Shown::ThinkingHidden
            | Shown::CallGrew { .. }
            | Shown::Remark(_) => {}
        }
    }

    pub(super) fn drain(&mut self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(self.due.as_bytes())?;
        self.due.clear();
        Ok(())
    }

    fn paragraph(&mut self, text: &str) {
        self.put(Last::Paragraph, text);
    }

    /// Adds to what was shown last if that was the same thing, and begins a paragraph otherwise.
    fn put(&mut self, next: Last, text: &str) {
        let goes_on = self.last == Some(next) && next != Last::Paragraph;
        if self.last.is_some() && !goes_on {
            self.due.push_str(if self.line_ended { "\n" } else { "\n\n" });
            self.line_ended = false;
        }
        self.last = Some(next);
        self.due.push_str(text);
        self.line_ended = if text.is_empty() { self.line_ended } else { text.ends_with('\n') };
    }

    fn end_line(&mut self) {
        if self.last.is_some() && !self.line_ended {
            self.due.push('\n');
            self.line_ended = true;
        }
        self.last = self.last.map(|_| Last::Paragraph);
    }
}

fn call_line(call: &Call<'_>, ended: &Ended<'_>) -> String {
    let runner = if call.runner == Runner::Provider { ", run by the provider" } else { "" };
    let head = format!("[call {}{runner}]", call.name);
    match ended {
        Ended::Whole(arguments) => format!("{head} {arguments}"),
        Ended::Broken { flaw, raw, .. } => format!("{head} {raw} [{}]", flaw.words()),
    }
}
