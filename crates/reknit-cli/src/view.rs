//! [`View`]: a model's reply on a terminal, while it arrives.
//!
//! What is shown is only ever added to, and does not depend on how the reply was cut into pieces. Only the
//! status line below it is drawn over. The view does no IO: [`drain`](View::drain) writes the bytes for the
//! terminal to whatever it is given. Whatever a model sends, those bytes contain no terminal commands but the
//! view's own.

use std::io::{self, Write};
use std::mem;

pub(crate) mod arguments;
mod facts;
mod fields;
mod markdown;
mod numbers;
mod page;
mod safe;
mod style;
mod terminal;
#[cfg(test)]
mod tests;

pub(crate) use facts::Facts;
pub(crate) use safe::{Sanitizer, is_unsafe, one_line, sanitized};
pub(crate) use style::Style;
pub(crate) use terminal::Terminal;

use fields::Fields;
use markdown::Markdown;
use page::{Page, Wrap};
use safe::name;
use terminal::Cursor;

/// A reply on a terminal.
pub(crate) struct View {
    page: Page,
    terminal: Terminal,
    stage: Stage,
    sanitizer: Sanitizer,
    /// What to draw after the cursor and below it, and what is drawn there now.
    due: Option<Drawing>,
    drawn: Option<Drawing>,
}

/// What is erased before anything is written.
#[derive(PartialEq)]
struct Drawing {
    /// What is held back, after the cursor.
    held: String,
    /// The status line, below it.
    status: String,
}

/// What is being shown.
enum Stage {
    Nothing,
    Text(Markdown),
    Thinking,
    Call { name: String, fields: Fields },
    Note,
}

/// How a call or a reply ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum End {
    Whole,
    /// As intended, but the model may have had more to say.
    Short,
    /// What is there must not be taken for the whole.
    Broken,
}

const THINKING_GUTTER: &str = "┊ ";

/// Makes sure that there is a row below the cursor, which stays where it is. Not a line feed: the terminal's
/// line discipline adds a carriage return to that, and leaves a vertical tab alone.
const ROW_BELOW: &str = "\x0b\x1b[A";
const ERASE_BELOW: &str = "\x1b[J";
const SAVE: &str = "\x1b7";
const GO_BELOW: &str = "\r\x1b[B";
const RESTORE: &str = "\x1b8";

impl View {
    pub(crate) fn new(terminal: Terminal) -> Self {
        Self {
            page: Page::new(terminal.paint, terminal.columns()),
            terminal,
            stage: Stage::Nothing,
            sanitizer: Sanitizer::default(),
            due: None,
            drawn: None,
        }
    }

    /// Measures the terminal; what comes next is laid out for its width.
    pub(crate) fn measure(&mut self) {
        self.page.resize(self.terminal.columns());
    }

    /// Text for the reader came.
    pub(crate) fn text(&mut self, piece: &str) {
        if !matches!(self.stage, Stage::Text(_)) {
            self.turn_to(Stage::Text(Markdown::new()), Wrap::Words, "");
        }
        let Stage::Text(markdown) = &mut self.stage else { return };
        let page = &mut self.page;
        for char in piece.chars() {
            self.sanitizer.push(char, |char| markdown.push(char, |style, char| page.put(style, char)));
        }
    }

    /// What comes next is separate from what came before.
    pub(crate) fn begin_paragraph(&mut self) {
        self.turn_to(Stage::Nothing, Wrap::Words, "");
    }

    /// Thinking came.
    pub(crate) fn thinking(&mut self, piece: &str) {
        if !matches!(self.stage, Stage::Thinking) {
            self.turn_to(Stage::Thinking, Wrap::Words, THINKING_GUTTER);
        }
        for char in piece.chars() {
            self.sanitizer.push(char, |char| self.page.put(Style::Thinking, char));
        }
    }

    /// A call begins.
    pub(crate) fn call_opened(&mut self, tool: &str) {
        self.open_fields(Style::Call, '▸', tool);
    }

    /// The output of a call begins; it is shown like arguments.
    pub(crate) fn result_opened(&mut self, tool: &str) {
        self.open_fields(Style::Label, '◂', tool);
    }

    /// The text of an argument grew; an empty piece begins it. Another path ends the one before.
    pub(crate) fn argument_grew(&mut self, path: &str, piece: &str) {
        if let Stage::Call { fields, .. } = &mut self.stage {
            fields.grew(&mut self.page, path, piece);
        }
    }

    /// The argument that grew is over.
    pub(crate) fn argument_closed(&mut self) {
        if let Stage::Call { fields, .. } = &mut self.stage {
            fields.close(&mut self.page);
        }
    }

    /// An argument came that does not grow: a number, `true`, `null`, or something empty.
    pub(crate) fn argument_set(&mut self, path: &str, value: &str) {
        if let Stage::Call { fields, .. } = &mut self.stage {
            fields.set(&mut self.page, path, value);
        }
    }

    /// The call is over. Nothing is added to one that is complete.
    pub(crate) fn call_closed(&mut self, end: End, words: &str) {
        let Stage::Call { fields, .. } = &mut self.stage else { return };
        fields.finish(&mut self.page);
        if end != End::Whole {
            self.page.put_str(Style::Plain, "  ");
            self.put_end(end, words);
            self.page.fresh_line();
        }
        self.stage = Stage::Nothing;
    }

    /// Words of this program, on a line of their own; inside a call they belong to it.
    pub(crate) fn note(&mut self, words: &str) {
        let indent = match &mut self.stage {
            Stage::Call { fields, .. } => {
                fields.close(&mut self.page);
                "  "
            }
            Stage::Note => "",
            Stage::Nothing | Stage::Text(_) | Stage::Thinking => {
                self.turn_to(Stage::Note, Wrap::Words, "");
                ""
            }
        };
        self.page.put_str(Style::Quiet, &format!("{indent}{}", sanitized(words)));
        self.page.fresh_line();
    }

    /// Something failed.
    pub(crate) fn failure(&mut self, words: &str) {
        self.turn_to(Stage::Nothing, Wrap::Words, "");
        self.put_end(End::Broken, words);
        self.page.fresh_line();
    }

    /// Sets the status line that the next [`drain`](View::drain) draws.
    pub(crate) fn status(&mut self, facts: &Facts) {
        self.measure();
        // The drawing begins and ends in the plain style, whatever a terminal saves along with its cursor.
        self.page.set_style(Style::Plain);
        // The last column stays free: a terminal may wrap when something is written there.
        let columns = self.page.columns().saturating_sub(1);
        let (doing, rest) = facts.status_line(&format!("● {}", self.doing()), columns);
        let status = self.page.aside(Style::Good, &doing) + &self.page.aside(Style::Quiet, &rest);
        let held = match &self.stage {
            Stage::Text(markdown) => self.page.preview(markdown.held()),
            Stage::Thinking => self.page.preview(""),
            Stage::Call { fields, .. } if fields.held().is_empty() => self.page.preview(""),
            Stage::Call { fields, .. } => self.page.preview(&format!(" {}", fields.held())),
            Stage::Nothing | Stage::Note => String::new(),
        };
        self.due = Some(Drawing { held, status });
    }

    /// The reply is over: adds a summary of what is known about it. Another one may follow.
    pub(crate) fn finish(&mut self, facts: &Facts, end: End, words: &str) {
        self.turn_to(Stage::Nothing, Wrap::Words, "");
        self.put_end(end, words);
        for words in facts.when_it_is_over() {
            self.page.put_str(Style::Quiet, " · ");
            self.page.put_phrase(Style::Quiet, &words);
        }
        self.page.fresh_line();
        self.due = None;
    }

    /// Writes what came since the last time, and the status line below it if there is one to draw.
    pub(crate) fn drain(&mut self, out: &mut impl Write) -> io::Result<()> {
        let due = self.due.take().filter(|_| self.terminal.cursor == Cursor::Moves && !self.page.is_full());
        let text = self.page.take();
        if text.is_empty() && (due.is_none() || due == self.drawn) {
            return Ok(());
        }
        if self.drawn.take().is_some() {
            out.write_all(ERASE_BELOW.as_bytes())?;
        }
        out.write_all(text.as_bytes())?;
        if let Some(Drawing { held, status }) = &due {
            // The cursor stays after what was written, so that everything from there on can be erased, even
            // if the window has another size by then.
            write!(out, "{ROW_BELOW}{SAVE}{held}{GO_BELOW}{status}{RESTORE}")?;
            self.drawn = due;
        }
        Ok(())
    }

    /// Removes the status line, and drops what was not written yet.
    pub(crate) fn clear(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.page.take();
        if self.drawn.take().is_some() { out.write_all(ERASE_BELOW.as_bytes()) } else { Ok(()) }
    }

    fn turn_to(&mut self, next: Stage, wrap: Wrap, gutter: &'static str) {
        let page = &mut self.page;
        match mem::replace(&mut self.stage, next) {
            Stage::Text(mut markdown) => {
                self.sanitizer.finish(|char| markdown.push(char, |style, char| page.put(style, char)));
                markdown.finish(|style, char| page.put(style, char));
            }
            Stage::Thinking => self.sanitizer.finish(|char| page.put(Style::Thinking, char)),
            Stage::Call { mut fields, .. } => fields.finish(page),
            Stage::Nothing | Stage::Note => {}
        }
        page.lay_out(wrap, gutter);
        page.begin_paragraph();
    }

    fn open_fields(&mut self, style: Style, sign: char, tool: &str) {
        let name = name(tool);
        self.turn_to(Stage::Nothing, Wrap::Letters, "");
        self.page.put_str(style, &format!("{sign} {name}"));
        self.page.fresh_line();
        self.stage = Stage::Call { name, fields: Fields::default() };
    }

    fn put_end(&mut self, end: End, words: &str) {
        let (style, sign) = match end {
            End::Whole => (Style::Good, '✓'),
            End::Short => (Style::Warning, '!'),
            End::Broken => (Style::Bad, '✗'),
        };
        self.page.put_str(style, &format!("{sign} {}", sanitized(words)));
    }

    fn doing(&self) -> String {
        match &self.stage {
            Stage::Nothing | Stage::Note => "waiting".to_owned(),
            Stage::Text(_) => "writing".to_owned(),
            Stage::Thinking => "thinking".to_owned(),
            Stage::Call { name, fields } => match fields.progress() {
                Some(progress) => format!("{name}: {progress}"),
                None => name.clone(),
            },
        }
    }
}
