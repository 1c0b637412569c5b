//! [`Draft`]: what is new in a file, while a model still writes it.
//!
//! The new content of the file grows from its beginning. Lines that the file already has in the same order are not
//! shown; the others are, letter by letter.

use std::mem;
use std::sync::Arc;
use std::vec;

use reknit_runtime::tool::Workspace;

/// Follows the new content of one file after the other.
pub(crate) struct Draft {
    /// Where the files are.
    workspace: Arc<Workspace>,
    state: State,
}

enum State {
    Nothing,
    Growing(Growing),
}

struct Growing {
    /// The lines of the file as it was, from the one that comes next.
    old: vec::IntoIter<String>,
    /// The line that grows, as far as it is known.
    line: String,
    is_shown: bool,
}

/// How many lines of the file are compared with one of its new content.
const AHEAD: usize = 1000;

/// What to show.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    Begins,
    Grows(String),
    Ends,
}

impl Draft {
    pub(crate) fn new(workspace: Arc<Workspace>) -> Self {
        Self { workspace, state: State::Nothing }
    }

    /// Whether nothing of a file was shown yet.
    pub(super) fn is_new(&self) -> bool {
        matches!(self.state, State::Nothing)
    }

    /// Takes more of the new content of a file.
    pub(super) fn push(&mut self, path: &str, text: &str, restarted: bool) -> Vec<Line> {
        let mut shown = Vec::new();
        if restarted && let State::Growing(growing) = mem::replace(&mut self.state, State::Nothing) {
            shown.extend(growing.is_shown.then_some(Line::Ends));
        }
        if self.is_new() {
            let old = self.lines(path).into_iter();
            self.state = State::Growing(Growing { old, line: String::new(), is_shown: false });
        }
        let State::Growing(growing) = &mut self.state else { return shown };
        for piece in text.split_inclusive('\n') {
            growing.push(piece, &mut shown);
        }
        shown
    }

    /// The lines of a file as it is.
    fn lines(&self, path: &str) -> Vec<String> {
        let root = &self.workspace.root;
        // One that does not exist has none.
        let file = root.resolve(path).and_then(|path| root.read(&path));
        let text = file.map(|file| String::from_utf8_lossy(&file.bytes).into_owned()).unwrap_or_default();
        text.split_inclusive('\n').map(str::to_owned).collect()
    }

    /// The file is complete, or given up. Returns whether one was growing.
    pub(super) fn end(&mut self) -> bool {
        !matches!(mem::replace(&mut self.state, State::Nothing), State::Nothing)
    }
}

impl Growing {
    /// Takes more of a line.
    fn push(&mut self, piece: &str, shown: &mut Vec<Line>) {
        self.line.push_str(piece);
        let is_whole = self.line.ends_with('\n');
        let is_old = |old: &String| if is_whole { *old == self.line } else { old.starts_with(&self.line) };
        // Lines may have been removed before it, so it is looked for in those that follow.
        let mut next = self.old.as_slice().iter().take(AHEAD);
        let at = if self.is_shown { None } else { next.position(is_old) };
        if at.is_none() {
            let text = if mem::replace(&mut self.is_shown, true) {
                piece
            } else {
                shown.push(Line::Begins);
                &self.line
            };
            let text = text.trim_end_matches(['\r', '\n']);
            if !text.is_empty() {
                shown.push(Line::Grows(text.to_owned()));
            }
        }
        if is_whole {
            if mem::take(&mut self.is_shown) {
                shown.push(Line::Ends);
            } else if let Some(at) = at {
                self.old.nth(at);
            }
            self.line.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use reknit_workspace::{Journal, Root};

    use super::*;

    fn draft(old: &str) -> (Draft, tempfile::TempDir) {
        let folder = tempfile::tempdir().expect("there is a temporary folder");
        std::fs::write(folder.path().join("a"), old).expect("it can be written");
        let root = Root::open(folder.path()).expect("it is there");
        let journal = Journal::temporary().expect("there is a temporary folder");
        (Draft::new(Arc::new(Workspace::new(root, journal, folder.path()))), folder)
    }

    /// What is shown of a file while its new content arrives in pieces.
    fn shown(old: &str, pieces: &[&str]) -> String {
        let (mut draft, _folder) = draft(old);
        let lines = pieces.iter().flat_map(|piece| draft.push("a", piece, false)).collect::<Vec<_>>();
        let words = lines.into_iter().map(|line| match line {
            Line::Begins => "+".to_owned(),
            Line::Grows(text) => text,
            Line::Ends => "\n".to_owned(),
        });
        words.collect()
    }

    #[test]
    fn only_lines_that_the_file_does_not_have_are_shown_however_they_are_cut() {
        let (old, new) = ("one\ntwo\nthree\n", "one\n2\n2.5\nthree\nfour\n");
        let expected = "+2\n+2.5\n+four\n";
        assert_eq!(shown(old, &[new]), expected);
        let letters: Vec<String> = new.chars().map(String::from).collect();
        assert_eq!(shown(old, &letters.iter().map(String::as_str).collect::<Vec<_>>()), expected);
    }

    #[test]
    fn a_line_that_begins_like_an_old_one_is_shown_once_it_differs() {
        assert_eq!(shown("total + price\n", &["total + pri", "ce"]), "");
        assert_eq!(shown("total + price\n", &["total + pri", "ce * count"]), "+total + price * count");
    }

    #[test]
    fn a_preview_that_starts_over_is_shown_again() {
        let (mut draft, _folder) = draft("");
        assert_eq!(draft.push("a", "x", false), [Line::Begins, Line::Grows("x".into())]);
        assert_eq!(draft.push("a", "y", true), [Line::Ends, Line::Begins, Line::Grows("y".into())]);
        assert!(draft.end() && draft.is_new());
    }
}
