//! [`View`]: a model's reply on a terminal, while it arrives.
//!
//! What is shown is only ever added to, and does not depend on how the reply was cut into pieces. The one
//! thing that is drawn over is the status line below it. The view does no IO: it is told what came, and
//! [`drain`](View::drain) gives out the bytes for the terminal. Whatever a model sends, those bytes hold no
//! commands but the view's own.

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
pub(crate) use safe::{harmless, is_unsafe};
pub(crate) use style::Style;
pub(crate) use terminal::Terminal;

use fields::Fields;
use markdown::Markdown;
use page::{Page, Wrap};
use safe::{Cleaner, name};
use terminal::Cursor;

/// A reply on a terminal.
pub(crate) struct View {
    page: Page,
    terminal: Terminal,
    stage: Stage,
    cleaner: Cleaner,
    /// What is to be drawn at the cursor and below it, and what is there.
    due: Option<Drawing>,
    drawn: Option<Drawing>,
}

/// What is erased again before anything is written.
#[derive(PartialEq)]
struct Drawing {
    /// What is held back, behind the cursor.
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
    /// In order, but the model may have had more to say.
    Short,
    /// Out of order: what there is must not be taken for the whole.
    Broken,
}

const THINKING_GUTTER: &str = "┊ ";

/// Makes sure of a row below the cursor, which stays where it is. A line feed would not do: the terminal's
/// line discipline adds a carriage return to it, and leaves a vertical tab alone.
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
            cleaner: Cleaner::default(),
            due: None,
            drawn: None,
        }
    }

    /// Looks how wide the terminal is: what comes next is laid out for that.
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
            self.cleaner.push(char, |char| markdown.push(char, |style, char| page.put(style, char)));
        }
    }

    /// What comes next is not of what came before.
    pub(crate) fn begin_paragraph(&mut self) {
        self.turn_to(Stage::Nothing, Wrap::Words, "");
    }

    /// Thinking came.
    pub(crate) fn thinking(&mut self, piece: &str) {
        if !matches!(self.stage, Stage::Thinking) {
            self.turn_to(Stage::Thinking, Wrap::Words, THINKING_GUTTER);
        }
        for char in piece.chars() {
            self.cleaner.push(char, |char| self.page.put(Style::Thinking, char));
        }
    }

    /// A call begins.
    pub(crate) fn call_opened(&mut self, tool: &str) {
        self.open_fields(Style::Call, '▸', tool);
    }

    /// What came of a call begins; it is told as if it were arguments.
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

    /// The call is over. Of one that is whole nothing is said.
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

    /// Words of this program, on a line of their own; those about a call belong to it.
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
        self.page.put_str(Style::Quiet, &format!("{indent}{}", harmless(words)));
        self.page.fresh_line();
    }

    /// Something failed.
    pub(crate) fn failure(&mut self, words: &str) {
        self.turn_to(Stage::Nothing, Wrap::Words, "");
        self.put_end(End::Broken, words);
        self.page.fresh_line();
    }

    /// What the status line is to say, the next time that the view is drained.
    pub(crate) fn status(&mut self, facts: &Facts) {
        self.measure();
        // What is drawn begins and ends in no style, whatever a terminal saves along with its cursor.
        self.page.set_style(Style::Plain);
        // The last column stays free: a terminal may wrap when it is written to.
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

    /// The reply is over: closes with what is known about it. Another one may follow.
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
            // The cursor rests behind what was written, wherever the terminal has it: so it can be erased
            // from there on, also if the window has another size by then.
            write!(out, "{ROW_BELOW}{SAVE}{held}{GO_BELOW}{status}{RESTORE}")?;
            self.drawn = due;
        }
        Ok(())
    }

    /// Takes away the status line, and all that was not written yet.
    pub(crate) fn clear(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.page.take();
        if self.drawn.take().is_some() { out.write_all(ERASE_BELOW.as_bytes()) } else { Ok(()) }
    }

    fn turn_to(&mut self, next: Stage, wrap: Wrap, gutter: &'static str) {
        let page = &mut self.page;
        match mem::replace(&mut self.stage, next) {
            Stage::Text(mut markdown) => {
                self.cleaner.finish(|char| markdown.push(char, |style, char| page.put(style, char)));
                markdown.finish(|style, char| page.put(style, char));
            }
            Stage::Thinking => self.cleaner.finish(|char| page.put(Style::Thinking, char)),
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
            End::Short => (Style::Odd, '!'),
            End::Broken => (Style::Bad, '✗'),
        };
        self.page.put_str(style, &format!("{sign} {}", harmless(words)));
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
