//! `--streaming`: the answer is unfinished, and what is known of the new content is printed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use reknit::edit::{Change, How, Lines, Preview, Problem, ProblemKind, Rejection};
use serde::Serialize;

use super::Arguments;
use super::answer::Answer;
use super::json::{Content, ProblemReport};
use super::report::{problem_words, rejection_words, tell_all};
use super::target::check_paths;
use crate::outcome::{self, Trouble};
use crate::pieces::Pieces;
use crate::print::{print_bytes, print_json};

/// Feeds an answer to a preview of the file, and prints it.
pub(super) fn run(arguments: &Arguments, file: &Path) -> Result<outcome::Outcome, Trouble> {
    let original = fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    let mut answer = Answer::new(Pieces::open_raw(arguments.answer.as_deref(), arguments.recut)?);
    let mut preview = Preview::new(arguments.parser(), &original, arguments.policy());
    // A preview takes all edits for its file; whether the answer means another one is not its concern.
    let mut parser = arguments.parser();
    let mut out = BufWriter::new(io::stdout().lock());
    let mut fates = BTreeMap::new();
    while let Some(piece) = answer.next()? {
        parser.push(&piece);
        let changes = preview.push(&piece);
        if arguments.ndjson {
            for change in &changes {
                print_json(&mut out, &Line::new(change, preview.shown()))?;
            }
        }
        changes.into_iter().for_each(|change| Fate::follow(&mut fates, change));
        out.flush()?;
    }
    let mut parsed = parser.finish();
    check_paths(&parsed.edits)?;
    // That the answer ends inside an edit is what is expected of it.
    parsed.problems.retain(|problem| problem.kind != ProblemKind::Incomplete);
    let name = file.to_string_lossy();
    let rejections = fates.iter().filter_map(|(&index, fate)| match fate {
        Fate::Placed { .. } => None,
        Fate::Rejected(rejection) => Some(rejection_words(index, &name, rejection, arguments.explain)),
    });
    let mut told: Vec<_> = rejections.collect();
    let shown = (told.is_empty() || arguments.keep_going).then(|| preview.shown());
    if arguments.json {
        print_json(&mut out, &report(&name, shown, &fates, &parsed.problems))?;
        out.flush()?;
    } else if !arguments.ndjson {
        print_bytes(shown.into_iter())?;
    }
    told.extend(parsed.problems.iter().map(|problem| problem_words(problem, arguments.explain)));
    tell_all(&told);
    Ok(match (answer.is_interrupted(), told.is_empty()) {
        (true, _) => outcome::Outcome::Interrupted,
        (false, true) => outcome::Outcome::Done,
        (false, false) => outcome::Outcome::Partly,
    })
}

/// What is known of an edit.
enum Fate {
    Placed { how: How, lines: Lines },
    Rejected(Box<Rejection>),
}

impl Fate {
    /// Takes what a change says of an edit.
    fn follow(fates: &mut BTreeMap<usize, Self>, change: Change) {
        match change {
            Change::Placed { edit, how, lines } => drop(fates.insert(edit, Self::Placed { how, lines })),
            Change::Unplaced { edit, rejection } | Change::Rejected { edit, rejection } => {
                fates.insert(edit, Self::Rejected(rejection));
            }
            Change::Restarted { edit, .. } => drop(fates.remove(&edit)),
            Change::Grew(_) => {}
        }
    }
}

/// A change, as a line of its own.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Line<'a> {
    Placed {
        edit: usize,
        how: How,
        lines: Lines,
    },
    Unplaced {
        edit: usize,
        #[serde(flatten)]
        rejection: &'a Rejection,
    },
    Rejected {
        edit: usize,
        #[serde(flatten)]
        rejection: &'a Rejection,
    },
    Grew {
        at: usize,
        #[serde(flatten)]
        text: Content<'a>,
    },
    Restarted {
        edit: usize,
        at: usize,
    },
}

impl<'a> Line<'a> {
    /// A change in what is shown now: nothing that one piece adds is taken back by the same.
    fn new(change: &'a Change, shown: &'a [u8]) -> Self {
        match change {
            &Change::Placed { edit, how, lines } => Self::Placed { edit, how, lines },
            Change::Unplaced { edit, rejection } => Self::Unplaced { edit: *edit, rejection },
            Change::Rejected { edit, rejection } => Self::Rejected { edit: *edit, rejection },
            Change::Grew(range) => {
                let text = Content::new(std::iter::once(&shown[range.clone()]));
                Self::Grew { at: range.start, text }
            }
            &Change::Restarted { edit, length } => Self::Restarted { edit, at: length },
        }
    }
}

/// The report, in the form of a finished answer.
#[derive(Serialize)]
struct Report<'a> {
    files: [FileReport<'a>; 1],
    problems: Vec<ProblemReport<'a>>,
}

#[derive(Serialize)]
struct FileReport<'a> {
    path: &'a str,
    action: &'static str,
    #[serde(flatten)]
    content: Option<Content<'a>>,
    edits: Vec<EditReport<'a>>,
}

#[derive(Serialize)]
struct EditReport<'a> {
    index: usize,
    #[serde(flatten)]
    fate: FateReport<'a>,
}

#[derive(Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
enum FateReport<'a> {
    Applied { how: How, lines: Lines },
    Rejected(&'a Rejection),
}

fn report<'a>(
    path: &'a str,
    content: Option<&'a [u8]>,
    fates: &'a BTreeMap<usize, Fate>,
    problems: &'a [Problem],
) -> Report<'a> {
    let edits = fates.iter().map(|(&index, fate)| {
        let fate = match fate {
            &Fate::Placed { how, lines } => FateReport::Applied { how, lines },
            Fate::Rejected(rejection) => FateReport::Rejected(rejection),
        };
        EditReport { index, fate }
    });
    let content = content.map(|content| Content::new(std::iter::once(content)));
    let file = FileReport { path, action: "update", content, edits: edits.collect() };
    Report { files: [file], problems: problems.iter().map(ProblemReport::new).collect() }
}
