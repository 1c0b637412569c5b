//! [`Plain`]: what is shown where there is no terminal.

use std::io::{self, Write};

use reknit::event::Runner;

use super::shown::{Call, CallKey, Ended, Shown};
use crate::colour;
use crate::view::{Sanitizer, Style};

/// Text as it arrives, and a paragraph for everything else.
pub(super) struct Plain {
    parts: Parts,
    paint: Paint,
    /// What keeps the text from controlling a terminal, if it goes to one.
    sanitizer: Option<Sanitizer>,
    /// What was not written yet.
    due: String,
    last: Option<Last>,
    /// Whether what was shown last ended its line.
    line_ended: bool,
}

/// What is shown.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Parts {
    All,
    /// Text, and nothing else.
    Text,
}

#[derive(Clone, Copy, PartialEq)]
enum Paint {
    Colours,
    None,
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
    pub(super) fn new(parts: Parts) -> Self {
        let paint = if parts == Parts::All && colour::is_on(false) { Paint::Colours } else { Paint::None };
        Self { parts, paint, sanitizer: None, due: String::new(), last: None, line_ended: false }
    }

    /// The same for a terminal, which nothing that is shown must control.
    pub(super) fn sanitized(self) -> Self {
        Self { sanitizer: Some(Sanitizer::default()), ..self }
    }

    pub(super) fn show(&mut self, shown: &Shown<'_>) {
        match shown {
            Shown::Text(text) => self.put(Last::Text, text),
            Shown::Over { .. } => self.end_line(),
            // What is left out between two texts separates them.
            Shown::Break | Shown::ThinkingOpened | Shown::CallEnded { .. } | Shown::Note(_)
                if self.parts == Parts::Text =>
            {
                self.last = self.last.map(|_| Last::Paragraph);
            }
            _ if self.parts == Parts::Text => {}
            Shown::Wrote { call, text, .. } => self.put(Last::Output(call.key), text),
            Shown::Break => self.last = self.last.map(|_| Last::Paragraph),
            Shown::Said { who, text } => {
                self.paragraph(&format!("[{who}] {text}"));
                self.last = Some(Last::Text);
            }
            Shown::ThinkingOpened => self.paragraph(&self.painted(Style::Quiet, "[thinking, not shown]")),
            Shown::CallEnded { call, ended } => {
                let (head, rest) = call_line(call, ended);
                self.paragraph(&(self.painted(Style::Call, &head) + &rest));
            }
            Shown::Answered { call, result, failed } => {
                let word = if *failed { "error" } else { "result" };
                let result = result.as_str().map_or_else(|| result.to_string(), Into::into);
                let head = format!("[{word} of {}]", call.name);
                self.paragraph(&format!("{} {result}", self.painted(Style::Quiet, &head)));
            }
            Shown::Note(words) => self.paragraph(&self.painted(Style::Quiet, words)),
            Shown::Failure { code, message } => {
                let head = code.map_or_else(|| "[error]".to_owned(), |code| format!("[error {code}]"));
                self.paragraph(&format!("{} {message}", self.painted(Style::Bad, &head)));
            }
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

    fn painted(&self, style: Style, text: &str) -> String {
        if self.paint == Paint::Colours { style.paint(text) } else { text.to_owned() }
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
        match &mut self.sanitizer {
            None => self.due.push_str(text),
            Some(sanitizer) => text.chars().for_each(|char| sanitizer.push(char, |char| self.due.push(char))),
        }
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

/// What is shown of a call: its head, and its arguments.
///
/// Those of a call that is cut are what came, never JSON that was made whole: somebody might act on it.
fn call_line(call: &Call<'_>, ended: &Ended<'_>) -> (String, String) {
    let runner = if call.runner == Runner::Provider { ", run by the provider" } else { "" };
    let head = format!("[call {}{runner}]", call.name);
    match ended {
        Ended::Whole(arguments) => (head, format!(" {arguments}")),
        Ended::Broken { flaw, raw, .. } => (head, format!(" {raw} [{}]", flaw.words())),
    }
}
