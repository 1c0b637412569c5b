//! Search and replace blocks in elements: `<args>` with a `<file>` for each path and a `<diff>` for each
//! place, or one `<path>` and one `<diff>`.
//!
//! An element of content is closed only where no block is open, so that a file may hold the same tags. The
//! blocks are read as in any other text; the `<start_line>` beside them is the hint of the first.

use std::mem;

use super::lines::Line;
use super::marker::Marker;
use super::search_replace;
use super::{Open, Parsed, Problem, ProblemKind};
use crate::edit::Edit;

/// What a section of character data begins and ends with.
const DATA: (&str, &str) = ("<![CDATA[", "]]>");

#[derive(Clone, Debug, Default)]
pub(super) struct Reader {
    state: State,
    path: Option<String>,
    /// The edits of the `<content>` that is open, whose hint may come after it.
    waiting: Parsed,
    start_line: Option<usize>,
    /// The outermost elements that are open.
    open: Vec<(Tag, Problem)>,
}

#[derive(Clone, Debug, Default)]
enum State {
    /// Between elements.
    #[default]
    Outside,
    /// In a `<path>` or `<start_line>`.
    Value { tag: Tag, text: String },
    /// In an element of content.
    Content { tag: Tag, blocks: Box<search_replace::Reader> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    Args,
    ApplyDiff,
    File,
    Path,
    Diff,
    Content,
    StartLine,
}

impl Tag {
    const ALL: [(Self, &str); 7] = [
        (Self::Args, "args"),
        (Self::ApplyDiff, "apply_diff"),
        (Self::File, "file"),
        (Self::Path, "path"),
        (Self::Diff, "diff"),
        (Self::Content, "content"),
        (Self::StartLine, "start_line"),
    ];

    /// The first tag in a text: whether it opens, and the text before and after it.
    fn find(text: &str) -> Option<(Self, Edge, &str, &str)> {
        text.match_indices('<').find_map(|(at, _)| {
            let inner = &text[at + 1..];
            let (edge, inner) = match inner.strip_prefix('/') {
                Some(inner) => (Edge::Close, inner),
                None => (Edge::Open, inner),
            };
            let found = Self::ALL
                .iter()
                .find_map(|(tag, name)| Some((*tag, inner.strip_prefix(name)?.strip_prefix('>')?)));
            found.map(|(tag, after)| (tag, edge, &text[..at], after))
        })
    }

    /// Its closing tag.
    fn close(self) -> String {
        let name = Self::ALL.iter().find(|(tag, _)| *tag == self).map_or("", |(_, name)| name);
        format!("</{name}>")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    Open,
    Close,
}

/// Whether a line begins an element of this format.
pub(super) fn is_telling(line: Line<'_>) -> bool {
    ["<args>", "<apply_diff>", "<diff>"].iter().any(|tag| line.trimmed().starts_with(tag))
}

impl Reader {
    pub(super) fn open(&self) -> Option<Open<'_>> {
        match (&*self.waiting.edits, &self.state) {
            // It is not over before its hint can come, and those after it come later.
            ([first, ..], _) => Some(Open::Replacement(first)),
            ([], State::Content { blocks, .. }) => blocks.open(),
            ([], State::Outside | State::Value { .. }) => None,
        }
    }

    pub(super) fn line(&mut self, line: Line<'_>, parsed: &mut Parsed) {
        let mut rest = line.text;
        while !rest.is_empty() {
            let here = Line { text: rest, number: line.number, at: line.end() - rest.len() };
            rest = match mem::take(&mut self.state) {
                State::Outside => self.outside(here, parsed),
                State::Value { tag, text } => self.value(tag, text, here),
                State::Content { tag, blocks } => self.content(tag, blocks, here, parsed),
            };
        }
    }

    pub(super) fn finish(&mut self, parsed: &mut Parsed) {
        if let State::Content { tag, mut blocks } = mem::take(&mut self.state) {
            self.read(tag, parsed, |parsed| blocks.finish(parsed));
        }
        self.end_diff(parsed);
        if parsed.problems.last().is_none_or(|problem| problem.kind != ProblemKind::Incomplete) {
            parsed.problems.extend(self.open.drain(..).next().map(|(_, problem)| problem));
        }
    }

    /// Takes a line up to the end of its first tag; returns the rest of it.
    fn outside<'a>(&mut self, line: Line<'a>, parsed: &mut Parsed) -> &'a str {
        let Some((tag, edge, before, after)) = Tag::find(line.text) else { return "" };
        match (tag, edge) {
            // A tag in the middle of a sentence is only spoken of.
            (_, Edge::Open) if !before.trim_ascii().is_empty() => {}
            (Tag::Path | Tag::StartLine, Edge::Open) => {
                self.state = State::Value { tag, text: String::new() };
            }
            (Tag::Content, Edge::Open) => return self.begin_content(tag, after),
            (Tag::Diff, Edge::Open) => {
                self.open.push((tag, Problem::at(ProblemKind::Incomplete, line)));
                // The older form has its blocks right here.
                let next = after.trim_ascii();
                if !next.starts_with('<') || next.starts_with(DATA.0) || Marker::read(next).is_some() {
                    return self.begin_content(tag, after);
                }
            }
            (Tag::Args | Tag::ApplyDiff | Tag::File, Edge::Open) => {
                self.open.push((tag, Problem::at(ProblemKind::Incomplete, line)));
            }
            (_, Edge::Close) => {
                if let Some(at) = self.open.iter().rposition(|(open, _)| *open == tag) {
                    self.open.truncate(at);
                }
                match tag {
                    Tag::Diff => self.end_diff(parsed),
                    Tag::File | Tag::ApplyDiff => self.path = None,
                    _ => {}
                }
            }
        }
        after
    }

    fn value<'a>(&mut self, tag: Tag, mut text: String, line: Line<'a>) -> &'a str {
        let close = tag.close();
        let Some((value, after)) = line.text.split_once(&*close) else {
            text.push_str(line.text);
            self.state = State::Value { tag, text };
            return "";
        };
        text.push_str(value);
        let value = text.trim_ascii();
        match tag {
            Tag::Path => self.path = Some(value.to_owned()).filter(|path| !path.is_empty()),
            _ => self.start_line = value.parse().ok().filter(|line| *line > 0),
        }
        after
    }

    fn begin_content<'a>(&mut self, tag: Tag, after: &'a str) -> &'a str {
        let blocks = Box::new(search_replace::Reader::within(self.path.clone()));
        self.state = State::Content { tag, blocks };
        let inner = after.trim_ascii_start();
        inner.strip_prefix(DATA.0).unwrap_or(inner)
    }

    fn content<'a>(
        &mut self,
        tag: Tag,
        mut blocks: Box<search_replace::Reader>,
        line: Line<'a>,
        parsed: &mut Parsed,
    ) -> &'a str {
        if blocks.open().is_none() {
            let inner = line.text.trim_ascii_start();
            // It was not the older form.
            if tag == Tag::Diff && (inner.starts_with("<content>") || inner.starts_with("<start_line>")) {
                return line.text;
            }
            if let Some(data) = inner.strip_prefix(DATA.0) {
                self.state = State::Content { tag, blocks };
                return data;
            }
        }
        if let Some((before, after)) = line.text.split_once(&*tag.close()) {
            let text = before.trim_ascii_end();
            let text = text.strip_suffix(DATA.1).unwrap_or(text);
            let ends_block = matches!(Marker::read(text), Some(Marker::Replace { .. }));
            if ends_block || blocks.open().is_none() {
                if !text.trim_ascii().is_empty() {
                    self.read(tag, parsed, |parsed| blocks.line(Line { text, ..line }, parsed));
                }
                self.read(tag, parsed, |parsed| blocks.finish(parsed));
                return if tag == Tag::Diff { &line.text[before.len()..] } else { after };
            }
        }
        let is_data_end = line.trimmed() == DATA.1 && blocks.open().is_none();
        if !is_data_end {
            self.read(tag, parsed, |parsed| blocks.line(line, parsed));
        }
        self.state = State::Content { tag, blocks };
        ""
    }

    /// Reads what the blocks of an element give: at once in the older form, where a hint can only come before.
    fn read(&mut self, tag: Tag, parsed: &mut Parsed, blocks: impl FnOnce(&mut Parsed)) {
        if tag != Tag::Diff {
            return blocks(&mut self.waiting);
        }
        let given = parsed.edits.len();
        blocks(parsed);
        if let Some(edit) = parsed.edits.get_mut(given) {
            hint(edit, self.start_line.take());
        }
    }

    fn end_diff(&mut self, parsed: &mut Parsed) {
        let start_line = self.start_line.take();
        let mut waiting = mem::take(&mut self.waiting);
        if let Some(edit) = waiting.edits.first_mut() {
            hint(edit, start_line);
        }
        parsed.edits.append(&mut waiting.edits);
        parsed.problems.append(&mut waiting.problems);
    }
}

/// Gives an edit a hint, unless it has its own.
fn hint(edit: &mut Edit, line: Option<usize>) {
    edit.readings_mut().iter_mut().for_each(|replace| replace.hint = replace.hint.or(line));
}
