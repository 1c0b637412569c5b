//! A session in plain lines: text flows, calls and their results are lines.

use std::io::{self, Write};
use std::mem;

use reknit::agent::{Body, Content, Entry, Stream, ToolResult};
use reknit::json::{Object, Value};
use reknit_runtime::present::{Presenter, Shown};
use reknit_runtime::question::{Class, Question};
use reknit_runtime::tool::Tools;
use reknit_runtime::tools;
use unicode_width::UnicodeWidthStr;

use super::draft::{Draft, Line as DraftLine};
use super::rows::{Part, Rows};
use crate::view::{Sanitizer, Style, Terminal, sanitized};

/// What comes before each row of thinking.
const GUTTER: &str = "┊ ";

/// How many lines of a result are shown.
const RESULT_LINES: usize = 6;

/// What models need around parts of a result, and people do not.
const TAGS: [&str; 6] =
    ["<error>", "</error>", "<user_message>", "</user_message>", "<feedback>", "</feedback>"];

/// Shows the entries of a session, one after the other.
pub(crate) struct Screen {
    presenter: Presenter,
    tools: Tools,
    terminal: Option<Terminal>,
    line: Line,
    /// The rows of the text or thinking that flows.
    rows: Rows,
    is_first: bool,
    /// The text or thinking that goes on.
    flowing: Option<Style>,
    sanitizer: Sanitizer,
    /// What calls are about to write; `None` if that is not shown.
    draft: Option<Draft>,
    /// Questions that were shown and not answered.
    asked: Vec<Asked>,
    /// Whether the command that runs has written something: its result repeats it.
    has_output: bool,
}

/// A question, and what its answer has to name.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) approval_id: String,
    pub(crate) question: Question,
}

/// What the last line is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Line {
    /// Nothing is on it.
    Empty,
    /// It flows, in this style.
    Flows(Style),
    /// A question, and the answer is not there yet.
    Question,
}

impl Screen {
    pub(crate) fn new(draft: Option<Draft>) -> Self {
        Self {
            presenter: Presenter::new(),
            tools: tools::standard(),
            terminal: Terminal::on_stdout_or_coloured(),
            line: Line::Empty,
            rows: Rows::default(),
            is_first: true,
            flowing: None,
            sanitizer: Sanitizer::default(),
            draft,
            asked: Vec::new(),
            has_output: false,
        }
    }

    pub(crate) fn push(&mut self, entry: &Entry, out: &mut impl Write) -> io::Result<()> {
        self.presenter.push(entry);
        while let Some(shown) = self.presenter.next_shown() {
            self.show(shown, out)?;
        }
        Ok(())
    }

    /// Shows what the user said before the entries that follow from it.
    pub(crate) fn said(&mut self, entry: &Entry, out: &mut impl Write) -> io::Result<()> {
        let Body::UserMessage { content } = &entry.body else { return Ok(()) };
        let texts = content.iter().filter_map(|part| match part {
            Content::Text { text } => Some(text.as_str()),
            _ => None,
        });
        let text = texts.collect::<Vec<_>>().join("\n");
        self.gap(out)?;
        self.say(out, Style::Heading, &format!("task: {text}"))
    }

    /// The questions that wait for an answer, the first one first.
    pub(crate) fn asked(&self) -> &[Asked] {
        &self.asked
    }

    /// Those that were shown are not answered here: they are asked again, or nobody can answer them any more.
    pub(crate) fn forget_questions(&mut self) {
        self.asked.clear();
        self.line = Line::Empty;
    }

    /// The question was answered with this line, which a terminal shows by itself.
    pub(crate) fn answered(&mut self, line: Option<&str>, out: &mut impl Write) -> io::Result<()> {
        if !self.asked.is_empty() {
            self.asked.remove(0);
        }
        match line {
            Some(line) => writeln!(out, "{}", sanitized(line))?,
            None if self.line == Line::Question => {}
            None => return Ok(()),
        }
        self.line = Line::Empty;
        Ok(())
    }

    fn show(&mut self, shown: Shown, out: &mut impl Write) -> io::Result<()> {
        if !matches!(shown, Shown::Preview { .. }) {
            self.end_draft(out)?;
        }
        let flowing = match shown {
            Shown::Text(_) => Some(Style::Plain),
            Shown::Thinking(_) => Some(Style::Thinking),
            _ => None,
        };
        if flowing.is_some() && flowing != self.flowing {
            self.gap(out)?;
        }
        self.flowing = flowing;
        match shown {
            Shown::Text(text) => self.flow(out, Style::Plain, &text),
            Shown::Thinking(text) => self.flow(out, Style::Thinking, &text),
            Shown::Preview { path, text, restarted } => self.preview(out, &path, &text, restarted),
            Shown::Call { tool, arguments, .. } => self.call(out, &tool, &arguments),
            Shown::Output { stream, text } => {
                self.has_output = true;
                let style = if stream == Stream::Stderr { Style::Warning } else { Style::Quiet };
                self.flow(out, style, &text)
            }
            Shown::Question { approval_id, question } => {
                self.ask(&question, out)?;
                self.asked.push(Asked { approval_id, question });
                Ok(())
            }
            Shown::Result(result) => self.result(&result, out),
            Shown::Notice(message) => self.say(out, Style::Warning, &format!("note: {message}")),
            Shown::Error(message) => self.say(out, Style::Bad, &format!("error: {message}")),
            Shown::End(_) => {
                self.asked.clear();
                self.begin_line(out)
            }
            _ => Ok(()),
        }
    }

    fn call(&mut self, out: &mut impl Write, tool: &str, arguments: &Value) -> io::Result<()> {
        self.has_output = false;
        let none = Object::new();
        let args = arguments.as_object().unwrap_or(&none);
        let found = self.tools.get(tool);
        if found.is_some_and(|tool| tool.definition().completes)
            && let Some(result) = args.get("result").and_then(Value::as_str)
        {
            self.gap(out)?;
            return self.say(out, Style::Good, &result);
        }
        let described = found.map_or_else(|| format!("[{tool}]"), |tool| tool.describe(args));
        self.gap(out)?;
        self.say(out, Style::Call, &described)
    }

    fn ask(&mut self, question: &Question, out: &mut impl Write) -> io::Result<()> {
        match &question.detail {
            Some(detail) if question.class == Class::Write => self.diff(detail, out)?,
            Some(detail) if question.class == Class::Execute => {
                self.say(out, Style::Strong, &format!("$ {detail}"))?;
            }
            Some(detail) => self.say(out, Style::Plain, detail.trim_end())?,
            None => {}
        }
        let what = match question.class {
            Class::Write if question.progress.is_some() => "Write all of this?",
            Class::Write => "Write this?",
            Class::Execute => "Run this?",
            Class::ReadSecret => "This may contain a secret, which the model would see. Read it?",
            Class::Talk => &question.description,
            _ => "Allow this?",
        };
        let keys = match question.class {
            Class::Talk if !question.tool.is_empty() => "",
            _ => " [y/n, or what to say to the model]",
        };
        if let Some(progress) = &question.progress {
            self.say(out, Style::Plain, progress)?;
        }
        self.begin_line(out)?;
        write!(out, "{}{keys} ", self.paint(Style::Strong, &sanitized(what)))?;
        self.line = Line::Question;
        Ok(())
    }

    fn diff(&mut self, detail: &str, out: &mut impl Write) -> io::Result<()> {
        for line in detail.lines() {
            let style = match line.as_bytes().first() {
                _ if line.starts_with("+++ ") || line.starts_with("--- ") => Style::Strong,
                Some(b'+') => Style::Added,
                Some(b'-') => Style::Removed,
                Some(b'@') => Style::Code,
                _ => Style::Plain,
            };
            self.say(out, style, line)?;
        }
        Ok(())
    }

    fn result(&mut self, result: &ToolResult, out: &mut impl Write) -> io::Result<()> {
        self.asked.retain(|asked| asked.question.call_id != result.tool_call_id);
        let has_output = mem::take(&mut self.has_output);
        if result
            .tool_name
            .as_deref()
            .and_then(|tool| self.tools.get(tool))
            .is_some_and(|tool| tool.definition().completes)
            && result.is_error != Some(true)
        {
            return Ok(());
        }
        let text = text_of(&result.result);
        // The first line repeats the call.
        let text = text.split_once(" Result:\n").map_or(&*text, |(_, rest)| rest);
        // What a command wrote was shown when it did.
        let text =
            if has_output { text.split_once("\nOutput:\n").map_or(text, |(head, _)| head) } else { text };
        let text = text.strip_prefix("The tool execution failed with the following error:\n").unwrap_or(text);
        let lines: Vec<&str> =
            text.trim_end().lines().filter(|line| !line.trim().is_empty() && !TAGS.contains(line)).collect();
        let style = if result.is_error == Some(true) { Style::Bad } else { Style::Quiet };
        for line in lines.iter().take(RESULT_LINES) {
            self.say(out, style, &format!("  {line}"))?;
        }
        match lines.len().saturating_sub(RESULT_LINES) {
            0 => Ok(()),
            1 => self.say(out, style, "  … 1 more line"),
            more => self.say(out, style, &format!("  … {more} more lines")),
        }
    }

    /// Shows what a call is about to write, as far as it is known.
    fn preview(&mut self, out: &mut impl Write, path: &str, text: &str, restarted: bool) -> io::Result<()> {
        let Some(draft) = &mut self.draft else { return Ok(()) };
        let is_new = draft.is_new();
        let lines = draft.push(path, text, restarted);
        if is_new {
            self.gap(out)?;
            self.say(out, Style::Call, &format!("editing {path}"))?;
        }
        for line in lines {
            match line {
                DraftLine::Begins => {
                    self.begin_line(out)?;
                    self.flow(out, Style::Added, "+")?;
                }
                DraftLine::Grows(text) => self.flow(out, Style::Added, &text)?,
                DraftLine::Ends => self.begin_line(out)?,
            }
        }
        Ok(())
    }

    fn end_draft(&mut self, out: &mut impl Write) -> io::Result<()> {
        let has_ended = self.draft.as_mut().is_some_and(Draft::end);
        if has_ended { self.begin_line(out) } else { Ok(()) }
    }

    /// Adds to a text of a style, or begins one.
    fn flow(&mut self, out: &mut impl Write, style: Style, text: &str) -> io::Result<()> {
        if self.line != Line::Flows(style) {
            self.begin_line(out)?;
        }
        let mut shown = String::with_capacity(text.len());
        text.chars().for_each(|char| self.sanitizer.push(char, |char| shown.push(char)));
        // A style ends with its line: what comes next may be of another one.
        let gutter = if style == Style::Thinking { GUTTER } else { "" };
        for line in shown.split_inclusive('\n') {
            if self.line == Line::Empty {
                self.rows = Rows::begin(gutter.width());
                write!(out, "{}", self.paint(Style::Quiet, gutter))?;
            }
            let (text, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
            for part in self.parts(style, text) {
                match part {
                    Part::Text(text) => write!(out, "{}", self.paint(style, &text))?,
                    Part::BreakFrom(column) => {
                        // Columns are counted from one. At the end of a row there is nothing to erase, and the
                        // terminal would erase its last letter.
                        if self.terminal.is_some_and(|terminal| column < terminal.columns()) {
                            write!(out, "\x1b[{}G\x1b[K", column + 1)?;
                        }
                        write!(out, "\n{}", self.paint(Style::Quiet, gutter))?;
                    }
                }
            }
            out.write_all(end.as_bytes())?;
            self.line = if end.is_empty() { Line::Flows(style) } else { Line::Empty };
        }
        Ok(())
    }

    /// A text that flows, with the ends of its rows. Only prose has them: elsewhere spaces matter.
    fn parts(&mut self, style: Style, text: &str) -> Vec<Part> {
        match self.terminal.filter(|terminal| terminal.moves()) {
            Some(terminal) if matches!(style, Style::Plain | Style::Thinking) => {
                self.rows.push(text, terminal.columns())
            }
            _ => vec![Part::Text(text.to_owned())],
        }
    }

    fn say(&mut self, out: &mut impl Write, style: Style, words: &str) -> io::Result<()> {
        self.begin_line(out)?;
        for line in words.split('\n') {
            writeln!(out, "{}", self.paint(style, &sanitized(line)))?;
        }
        Ok(())
    }

    /// An empty line before what comes next, unless it is the first.
    fn gap(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.begin_line(out)?;
        if mem::replace(&mut self.is_first, false) { Ok(()) } else { writeln!(out) }
    }

    fn begin_line(&mut self, out: &mut impl Write) -> io::Result<()> {
        if mem::replace(&mut self.line, Line::Empty) != Line::Empty {
            writeln!(out)?;
        }
        Ok(())
    }

    fn paint(&self, style: Style, text: &str) -> String {
        self.terminal.map_or_else(|| text.to_owned(), |terminal| terminal.paint(style, text))
    }
}

fn text_of(result: &Value) -> String {
    if let Some(text) = result.as_str() {
        return text.into_owned();
    }
    let parts = result.as_array().into_iter().flatten();
    let texts = parts.filter_map(|part| part.get("text").and_then(Value::as_str));
    texts.collect::<Vec<_>>().join("\n")
}
