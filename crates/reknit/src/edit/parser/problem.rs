//! [`Problem`] and [`Repair`]: what of an answer cannot be read, and what was put right.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use super::lines::Line;
use crate::diagnostic::Hint;

/// How much of a line a problem shows.
pub(super) const SNIPPET: usize = 80;

/// A part of an answer that looks like an edit and cannot be read as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub kind: ProblemKind,
    /// The line of the answer, counted from 1.
    pub line: usize,
    /// The line itself, or its beginning.
    pub snippet: String,
}

impl Problem {
    pub(super) fn at(kind: ProblemKind, line: Line<'_>) -> Self {
        Self { kind, line: line.number, snippet: snippet(line.text) }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of the answer: {}: `{}`", self.line, self.kind, self.snippet)
    }
}

/// A line as a problem shows it.
pub(super) fn snippet(line: &str) -> String {
    line.trim_ascii().chars().take(SNIPPET).collect()
}

/// What can be wrong with how an edit is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ProblemKind {
    /// A marker is where another one is expected.
    InvalidTransition,
    /// A block has no start marker.
    SearchWithoutStart,
    /// A block has no divider.
    MissingSeparator,
    /// A block has no end marker and another one begins.
    MissingReplace,
    /// The answer ends inside an edit.
    Incomplete,
    /// More lines of a block could be its divider than are tried.
    TooManyDividers,
    /// Some lines of a replacement have line numbers before them and some have none.
    MixedLineNumbers,
    /// A patch has no section.
    EmptyPatch,
    /// A hunk, or the part of a patch for a file, has no lines.
    EmptyHunk,
    /// A line of a patch belongs to nothing.
    InvalidPatchLine,
    /// A diff changes the mode of a file, which is not an edit of its text.
    ModeChange,
    /// A diff is for a binary file, or for a link.
    NoTextFile,
    /// A diff copies a file.
    CopiedFile,
    /// Several files have no name.
    NoName,
    /// An answer has edits in a second format, which were not read.
    OtherFormat,
    /// The arguments of an edit tool are not JSON.
    InvalidJson,
    /// An argument of an edit tool is missing, given twice, or of the wrong type.
    InvalidArguments,
    /// The command of an editor is not one that replaces or creates.
    UnsupportedCommand,
}

/// What there is to say of a kind of problem.
struct Texts {
    name: &'static str,
    message: &'static str,
    form: &'static str,
    hint: &'static str,
}

impl ProblemKind {
    /// Every kind.
    pub const ALL: &[Self] = &[
        Self::InvalidTransition,
        Self::SearchWithoutStart,
        Self::MissingSeparator,
        Self::MissingReplace,
        Self::Incomplete,
        Self::TooManyDividers,
        Self::MixedLineNumbers,
        Self::EmptyPatch,
        Self::EmptyHunk,
        Self::InvalidPatchLine,
        Self::ModeChange,
        Self::NoTextFile,
        Self::CopiedFile,
        Self::NoName,
        Self::OtherFormat,
        Self::InvalidJson,
        Self::InvalidArguments,
        Self::UnsupportedCommand,
    ];

    /// Its name, as in JSON.
    pub fn name(self) -> &'static str {
        self.texts().name
    }

    /// How it is written: some lines to show to a model or a person.
    pub fn form(self) -> &'static str {
        self.texts().form
    }

    fn texts(self) -> Texts {
        match self {
            Self::InvalidTransition => Texts {
                name: "invalid-transition",
                message: "a marker is where another one is expected",
                form: BLOCK,
                hint: "write SEARCH marker, divider and REPLACE marker in this order; \
                       put a backslash before a line of the file that looks like one",
            },
            Self::SearchWithoutStart => Texts {
                name: "search-without-start",
                message: "a block has no `<<<<<<< SEARCH`",
                form: BLOCK,
                hint: "write `<<<<<<< SEARCH` on a line of its own before the lines that are searched",
            },
            Self::MissingSeparator => Texts {
                name: "missing-separator",
                message: "a block has no `=======` between its search text and its replacement",
                form: BLOCK,
                hint: "write `=======` on a line of its own between the two, also if the replacement is empty",
            },
            Self::MissingReplace => Texts {
                name: "missing-replace",
                message: "a block has no `>>>>>>> REPLACE` before the next one begins",
                form: BLOCK,
                hint: "write `>>>>>>> REPLACE` on a line of its own after the replacement",
            },
            Self::Incomplete => Texts {
                name: "incomplete",
                message: "the answer ends inside an edit",
                form: ENDS,
                hint: "the answer may be cut; ask for the edit again",
            },
            Self::TooManyDividers => Texts {
                name: "too-many-dividers",
                message: "too many lines of a block could be its divider",
                form: BLOCK,
                hint: "put a backslash before the lines of the file that look like the divider, \
                       or write smaller blocks",
            },
            Self::MixedLineNumbers => Texts {
                name: "mixed-line-numbers",
                message: "some lines of a replacement have line numbers before them and some have none",
                form: BLOCK,
                hint: "write the lines without numbers",
            },
            Self::EmptyPatch => Texts {
                name: "empty-patch",
                message: "a patch changes nothing",
                form: PATCH,
                hint: "name each file with `*** Add File: `, `*** Update File: ` or `*** Delete File: `",
            },
            Self::EmptyHunk => Texts {
                name: "empty-hunk",
                message: "a hunk has no lines",
                form: PATCH,
                hint: "write the lines that stay, go and come below `@@`",
            },
            Self::InvalidPatchLine => Texts {
                name: "invalid-patch-line",
                message: "a line of a patch belongs to nothing",
                form: PATCH,
                hint: "start every line of a hunk with a space, `-` or `+`, and every line of a new file with `+`",
            },
            Self::ModeChange => Texts {
                name: "mode-change",
                message: "a diff changes the mode of a file",
                form: DIFF,
                hint: "leave the line out, and set the mode with `chmod`",
            },
            Self::NoTextFile => Texts {
                name: "no-text-file",
                message: "a diff is for a binary file",
                form: DIFF,
                hint: "leave the file out, and add it in another way",
            },
            Self::CopiedFile => Texts {
                name: "copied-file",
                message: "a diff copies a file",
                form: DIFF,
                hint: "write the copy as a new file, with all its lines",
            },
            Self::NoName => Texts {
                name: "no-name",
                message: "there are several files without a name",
                form: FILE,
                hint: "write the name of each file on a line of its own above its fence",
            },
            Self::OtherFormat => Texts {
                name: "other-format",
                message: "edits in a second format were not read",
                form: FORMATS,
                hint: "give the edits of each format by themselves, or name the one that is meant",
            },
            Self::InvalidJson => Texts {
                name: "invalid-json",
                message: "the arguments of an edit tool are not JSON",
                form: ARGUMENTS,
                hint: "escape quotes, backslashes and line ends inside of strings",
            },
            Self::InvalidArguments => Texts {
                name: "invalid-arguments",
                message: "an argument of an edit tool is missing, given twice, or of the wrong type",
                form: ARGUMENTS,
                hint: "give both texts as strings, once each",
            },
            Self::UnsupportedCommand => Texts {
                name: "unsupported-command",
                message: "the command of the editor neither replaces nor creates",
                form: ARGUMENTS,
                hint: "use the command `str_replace` or `create`",
            },
        }
    }
}

/// What is wrong.
impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.texts().message)
    }
}

impl Hint for ProblemKind {
    fn hint(&self) -> Cow<'static, str> {
        self.texts().hint.into()
    }
}

/// How a block is written.
const BLOCK: &str = "\
<<<<<<< SEARCH
lines as they are in the file
=======
lines that replace them
>>>>>>> REPLACE
";

/// How a patch is written.
const PATCH: &str = "\
*** Begin Patch
*** Update File: path/of/the/file
@@ a line somewhere above
 a line to keep
-a line to remove
+a line to add
*** End Patch
";

/// How a diff is written.
const DIFF: &str = "\
--- a/path/of/the/file
+++ b/path/of/the/file
@@ -7,2 +7,2 @@
 a line to keep
-a line to remove
+a line to add
";

/// How a whole file is written.
const FILE: &str = "\
path/of/the/file
```
all lines of the file
```
";

/// How the arguments of an edit tool are written.
const ARGUMENTS: &str = "\
{\"path\": \"path/of/the/file\", \"old_string\": \"text as it is\", \"new_string\": \"text to replace it with\"}
";

/// How several edits are written.
const FORMATS: &str = "\
All edits of an answer are blocks, or hunks of one diff, or sections of one patch, or whole files.
";

/// How each format ends.
const ENDS: &str = "\
A block ends with its `>>>>>>> REPLACE`, a patch with `*** End Patch`, a whole file with the fence that closes
it, arguments with their last bracket.
";

/// Something that was put right in how an edit is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Repair {
    /// What was done.
    pub kind: RepairKind,
    /// The line of the answer, counted from 1.
    pub line: usize,
}

/// What can be put right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RepairKind {
    /// A marker was written in another way than the format's own.
    Marker,
    /// A marker was not there, and there is only one place for it.
    MissingMarker,
    /// A marker was there twice, one right below the other.
    DoubledMarker,
    /// Line numbers before the lines were removed.
    LineNumbers,
    /// The numbers between `@@` are missing, wrong, or of another format.
    HunkHeader,
    /// A line of a patch lacks the blank or the `+` before it.
    LostPrefix,
}

/// What was done.
impl fmt::Display for RepairKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Marker => "a malformed marker was read as the one it resembles",
            Self::MissingMarker => "a missing marker was added",
            Self::DoubledMarker => "a repeated marker was read once",
            Self::LineNumbers => "line numbers before the lines were removed",
            Self::HunkHeader => "the numbers between `@@` were not used, or only as a hint",
            Self::LostPrefix => "a line without the character before it was read as if it had one",
        })
    }
}
