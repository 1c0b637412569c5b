//! What is edited, how, and what must become of it.

use anyhow::{Result, ensure};
use reknit::edit::{Action, Edit, How, Outcome, Plan, Replace, plan};

use crate::input::source;

/// How many edits a source file gets at once.
pub(super) const EDITS: usize = 20;

/// Edits of one kind.
#[derive(Clone, Copy)]
pub(super) enum Case {
    /// Each is found, and differs in this.
    Found(How),
    /// Most lines of each are there, but what it changes is not.
    Stale,
    /// No line of any is there; only words are.
    Lineless,
    /// One edit of a file that has nothing but braces, for 20 of them that are indented otherwise.
    Braces,
    /// The same with a line that is nowhere.
    BracesAndMore,
}

impl Case {
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let others = [Self::Stale, Self::Lineless, Self::Braces, Self::BracesAndMore];
        // The functions have no statement on several lines.
        let found = How::ALL.into_iter().filter(|how| *how != How::LineBreaks);
        found.map(Self::Found).chain(others)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Found(how) => how.name(),
            Self::Stale => "a miss, most lines are there",
            Self::Lineless => "a miss, no line is there",
            Self::Braces => "braces, ambiguous",
            Self::BracesAndMore => "braces, a miss",
        }
    }

    /// Whether every edit is refused after all rungs, on a source file.
    pub(super) fn is_miss(self) -> bool {
        matches!(self, Self::Stale | Self::Lineless)
    }

    /// A file of about `size` bytes, and edits of it.
    pub(super) fn input(self, size: usize) -> Input {
        let text = match self {
            Self::Braces | Self::BracesAndMore => "    }\n".repeat(size / 6),
            _ => source(size),
        };
        let edits = match self {
            Self::Braces => vec![edit("  }\n".repeat(20), "neither\n".to_owned())],
            Self::BracesAndMore => vec![edit("  }\n".repeat(20) + "nowhere\n", "neither\n".to_owned())],
            _ => functions(&text).into_iter().map(|function| self.edit(function)).collect(),
        };
        Input { case: self, text, edits }
    }

    /// An edit of one function of a source file.
    fn edit(self, function: &str) -> Edit {
        let each_line = |change: fn(&str) -> String| function.split_inclusive('\n').map(change).collect();
        let search: String = match self {
            Self::Found(How::Exact) | Self::Braces | Self::BracesAndMore => function.to_owned(),
            Self::Found(How::LineEnds) => function.replace('\n', "\r\n"),
            Self::Found(How::TrailingWhitespace) => function.replace('\n', "  \n"),
            Self::Found(How::LookAlikes) => function.replace('"', "\u{201D}"),
            Self::Found(How::Indentation) => each_line(|line| format!("  {line}")),
            Self::Found(How::BlankLines) => function.replace("\t}\n", "\t}\n\n"),
            Self::Found(How::LineBreaks | How::Context) => {
                function.replace("return format!", "return print!")
            }
            Self::Stale => function
                .replace(r#"return format!("{name}\n");"#, "self.width = 80;")
                .replace("name.to_owned()", "self.pad()"),
            Self::Lineless => {
                let name = function.split([' ', '(']).find(|word| word.starts_with("number_"));
                let name = name.expect("a function has a name");
                format!(
                    "pub fn {name}(other: &str) {{\n\tlet padded = format!(\"{{other:>80}}\");\n\tself.write(padded);\n"
                )
            }
        };
        let replacement = search
            .replace("name.to_owned()", "name.into()")
            .replace("self.pad(", "self.fill(")
            .replace("self.write(", "self.print(");
        edit(search, replacement)
    }
}

/// As many functions of a source file as there are edits, from all of it.
fn functions(text: &str) -> Vec<&str> {
    let all: Vec<_> =
        text.split_inclusive("\n}\n").map(|function| function.trim_start_matches('\n')).collect();
    (0..EDITS).map(|nth| all[all.len() * (2 * nth + 1) / (2 * EDITS)]).collect()
}

fn edit(search: String, replacement: String) -> Edit {
    let mut replace = Replace::default();
    (replace.search, replace.replacement) = (search, replacement);
    Edit { path: None, action: Action::Replace(replace), line: 1, at: 0..0, repairs: Vec::new() }
}

/// A file and edits of it.
pub(super) struct Input {
    case: Case,
    pub(super) text: String,
    pub(super) edits: Vec<Edit>,
}

impl Input {
    /// A file and one edit of it, the last that is not in its last twentieth.
    pub(super) fn single(case: Case, size: usize) -> Self {
        let mut input = case.input(size);
        input.edits.pop();
        input.edits.drain(..EDITS - 2);
        input
    }

    /// What the first edit searches for.
    pub(super) fn search(&self) -> &str {
        match &self.edits[0].action {
            Action::Replace(replace) => &replace.search,
            action => panic!("{action:?} has no search text"),
        }
    }

    pub(super) fn plan(&self) -> Plan {
        let file = ("file", self.text.as_bytes());
        plan(&self.edits, &[file], How::Context)
    }

    /// Whether each edit ended as the case says, and one of which most is there with the place that is closest.
    pub(super) fn check(&self) -> Result<()> {
        let expected = match self.case {
            Case::Found(how) => how.name(),
            Case::Stale => "stale",
            Case::BracesAndMore => "whitespace",
            Case::Lineless => "no-match",
            Case::Braces => "ambiguous",
        };
        let plan = self.plan();
        for report in &plan.files[0].reports {
            let (end, is_explained) = match &report.outcome {
                Outcome::Applied(found) => (found.how.name(), true),
                Outcome::Rejected(rejection) => (rejection.reason.name(), rejection.closest.is_some()),
                _ => ("unchanged", true),
            };
            let name = self.case.name();
            ensure!(end == expected, "{name}: edit {} is `{end}` and not `{expected}`", report.index);
            ensure!(
                is_explained || !matches!(self.case, Case::Stale),
                "{name}: edit {} has no closest place",
                report.index
            );
        }
        Ok(())
    }
}
