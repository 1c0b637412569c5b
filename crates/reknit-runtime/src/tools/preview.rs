//! The new content of a file, while the model still writes the call that changes it.
//!
//! [`Opening`] follows the arguments of a call until it is known which file they are about. The caller then reads the
//! file, and [`Growing`] says with each piece of the arguments what is new in its content. There is no IO here, and a
//! preview promises nothing: only the review of the complete call says what will be written.
//!
//! ```
//! use reknit_runtime::tools::preview::Opening;
//!
//! let mut opening = Opening::of("edit").expect("it changes a file");
//! opening.push(r#"{"path": "a.tx"#);
//! assert_eq!(opening.path(), None);
//! opening.push(r#"t", "old_string": "two", "new_string": "2"#);
//! assert_eq!(opening.path(), Some("a.txt"));
//!
//! let (mut growing, growths) = opening.begin(b"one\ntwo\nthree\n");
//! assert_eq!(growths[0].delta, "one\n");
//! let growths = growing.push(r#""}"#);
//! assert_eq!(growths[0].delta, "2");
//! ```

use std::borrow::Cow;

use reknit::edit::{self, Format, How, Parser};
use reknit::json::{Change, PartialJson, State, Step, Value};

/// No more than this is previewed: what is shown of a file goes into the log of the session.
pub(crate) const LARGEST: usize = 256 << 10;

/// The arguments of a call that changes a file, before the file is known.
#[derive(Clone, Debug)]
pub struct Opening {
    source: Source,
    arguments: PartialJson,
    path: Option<String>,
}

/// The new content of a file while it arrives.
#[derive(Clone, Debug)]
pub struct Growing<'a> {
    source: Source,
    arguments: PartialJson,
    preview: edit::Preview<'a>,
    /// How much was shown so far.
    shown: usize,
    is_over: bool,
}

/// More of the new content of a file: an `edit-preview` event without the call and the path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Growth {
    /// The new text.
    pub delta: String,
    /// Whether what was shown before has to be discarded.
    pub restarted: bool,
}

/// Which argument the new content comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// `content`, the whole file.
    Content,
    /// `diff`, search and replace blocks.
    Diff,
    /// `old_string` and `new_string`.
    Strings,
}

impl Source {
    /// The argument that the preview is fed with; `None` if it is fed with all of them, as JSON.
    fn key(self) -> Option<&'static str> {
        match self {
            Self::Content => Some("content"),
            Self::Diff => Some("diff"),
            Self::Strings => None,
        }
    }

    fn parser(self) -> Parser {
        Parser::new(match self {
            Self::Diff => Format::SearchReplace,
            // A whole file is fed as the `file_text` of an editor, which is not searched for fences.
            Self::Content | Self::Strings => Format::StrReplace,
        })
    }
}

impl Opening {
    /// The beginning of a call of this tool; `None` if it does not change a file.
    pub fn of(tool: &str) -> Option<Self> {
        let source = match tool {
            "write_to_file" => Source::Content,
            "apply_diff" => Source::Diff,
            "edit" => Source::Strings,
            _ => return None,
        };
        Some(Self { source, arguments: PartialJson::new(), path: None })
    }

    /// Takes the next piece of the arguments.
    pub fn push(&mut self, piece: &str) {
        // Arguments that are not JSON are never previewed further; the call itself says what is wrong with them.
        let _ = self.arguments.push(piece);
        let is_closed = self.arguments.changes().any(|change| match change {
            Change::Closed { path } => path == "/path",
            _ => false,
        });
        if is_closed {
            let path = self.arguments.value().and_then(|value| value.get("path")).and_then(Value::as_str);
            self.path = path.map(Cow::into_owned);
        }
    }

    /// The file, once its path is complete. A call for several files has none.
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// Begins the preview with the content of the file, or nothing if it does not exist, and returns what can be
    /// shown already.
    pub fn begin(self, original: &[u8]) -> (Growing<'_>, Vec<Growth>) {
        let preview = edit::Preview::new(self.source.parser(), original, How::Context);
        let is_over = original.len() > LARGEST;
        let Self { source, arguments, .. } = self;
        let mut growing = Growing { source, arguments, preview, shown: 0, is_over };
        let text = match source.key() {
            None => growing.arguments.raw().to_string(),
            Some(key) => {
                let value =
                    growing.arguments.value().and_then(|value| value.get(key)).and_then(Value::as_str);
                let is_begun = value.is_some();
                let text = value.map(Cow::into_owned).unwrap_or_default();
                let pointer = format!("/{key}");
                let is_closed = growing.arguments.state(&pointer) == State::Complete;
                growing.fed(is_begun, &text, is_closed)
            }
        };
        let growths = growing.show(&text);
        (growing, growths)
    }
}

impl Growing<'_> {
    /// Takes the next piece of the arguments, and returns what is new.
    pub fn push(&mut self, piece: &str) -> Vec<Growth> {
        if self.is_over {
            return Vec::new();
        }
        self.is_over = self.arguments.push(piece).is_err();
        let Some(key) = self.source.key() else { return self.show(piece) };
        let (mut is_begun, mut text, mut is_closed) = (false, String::new(), false);
        for change in self.arguments.changes().filter(|change| is_member(change, key)) {
            match change {
                Change::Opened { .. } => is_begun = true,
                Change::StringGrew { text: more, .. } => text.push_str(more),
                Change::Closed { .. } => is_closed = true,
                Change::Scalar { .. } => {}
            }
        }
        let text = self.fed(is_begun, &text, is_closed);
        self.show(&text)
    }

    /// What the engine's preview is fed with for some text of the argument.
    fn fed(&self, is_begun: bool, text: &str, is_closed: bool) -> String {
        match self.source {
            Source::Content => {
                let mut json = if is_begun { r#"{"file_text":""#.to_owned() } else { String::new() };
                let quoted = Value::from(text).to_string();
                json.push_str(&quoted[1..quoted.len() - 1]);
                json.push_str(if is_closed { r#""}"# } else { "" });
                json
            }
            // The last marker may be without its line end.
            Source::Diff if is_closed => format!("{text}\n"),
            Source::Diff | Source::Strings => text.to_owned(),
        }
    }

    fn show(&mut self, text: &str) -> Vec<Growth> {
        if self.is_over || text.is_empty() {
            return Vec::new();
        }
        let changes = self.preview.push(text);
        let mut restarted = false;
        for change in changes {
            if let edit::Change::Restarted { length, .. } = change {
                restarted |= length < self.shown;
            }
        }
        let shown = self.preview.shown();
        if shown.len() > LARGEST {
            self.is_over = true;
            return Vec::new();
        }
        let from = if restarted { 0 } else { self.shown };
        let delta = String::from_utf8_lossy(&shown[from..]).into_owned();
        self.shown = shown.len();
        if delta.is_empty() && !restarted { Vec::new() } else { vec![Growth { delta, restarted }] }
    }
}

fn is_member(change: &Change<'_>, key: &str) -> bool {
    let path = change.path();
    path.steps().eq([Step::Key(key)])
}
