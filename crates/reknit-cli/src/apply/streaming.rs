//! `--streaming`: prints what is known of the new content while the answer is unfinished.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use reknit::edit::{Change, Content, How, Lines, Preview, Problem, ProblemKind, Rejection};
use serde::Serialize;

use super::Arguments;
use super::answer::Answer;
use super::report::{SEE_JSON, problem_words, rejection_words};
use super::target::{check_paths, read_original};
use crate::outcome::{self, CommandError};
use crate::pieces::Pieces;
use crate::print::{print_bytes, print_json};
use crate::report::Report;

/// Feeds an answer to a preview of the file, and prints it.
pub(super) fn run(arguments: &Arguments, file: &Path) -> Result<outcome::Outcome, CommandError> {
    let original = read_original(file)?;
    let mut answer = Answer::new(Pieces::open_raw(arguments.answer.as_deref(), arguments.recut)?);
    let mut preview = Preview::new(arguments.parser(), &original, arguments.loosest);
    // A preview applies all edits to its file, whatever path they name: paths are checked separately.
    let mut parser = arguments.parser();
    let mut out = BufWriter::new(io::stdout().lock());
    let mut states = BTreeMap::new();
    while let Some(piece) = answer.next()? {
        parser.push(&piece);
        let changes = preview.push(&piece);
        if arguments.ndjson {
            for change in &changes {
                print_json(&mut out, &Line::new(change, preview.shown()))?;
            }
        }
        changes.into_iter().for_each(|change| EditState::follow(&mut states, change));
        out.flush()?;
    }
    let mut parsed = parser.finish();
    check_paths(&parsed.edits)?;
    // An unfinished answer is expected to end inside an edit.
    parsed.problems.retain(|problem| problem.kind != ProblemKind::Incomplete);
    let name = file.to_string_lossy();
    let mut errors = Report::default();
    for (&index, state) in &states {
        if let EditState::Rejected(rejection) = state {
            let words = rejection_words(index, &name, rejection, arguments.explain);
            errors.add(words, rejection.reason.name());
        }
    }
    let shown = (errors.is_empty() || arguments.keep_going).then(|| preview.shown());
    if arguments.json {
        print_json(&mut out, &json_report(&name, shown, &states, &parsed.problems))?;
        out.flush()?;
    } else if !arguments.ndjson {
        print_bytes(shown.into_iter())?;
    }
    for problem in &parsed.problems {
        errors.add(problem_words(problem, arguments.explain), problem.kind.name());
    }
    errors.print(SEE_JSON);
    Ok(match (answer.is_interrupted(), errors.is_empty()) {
        (true, _) => outcome::Outcome::Interrupted,
        (false, true) => outcome::Outcome::Done,
        (false, false) => outcome::Outcome::Partly,
    })
}

/// What is known of an edit.
enum EditState {
    Placed { how: How, lines: Lines },
    Rejected(Box<Rejection>),
}

impl EditState {
    /// Takes over what a change says about an edit.
    fn follow(states: &mut BTreeMap<usize, Self>, change: Change) {
        match change {
            Change::Placed { edit, how, lines } => drop(states.insert(edit, Self::Placed { how, lines })),
            Change::Rejected { edit, rejection } => {
                states.insert(edit, Self::Rejected(rejection));
            }
            Change::Restarted { edit, .. } => drop(states.remove(&edit)),
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
            Change::Rejected { edit, rejection } => Self::Rejected { edit: *edit, rejection },
            Change::Grew(range) => {
                let text = Content::new([&shown[range.clone()]]);
                Self::Grew { at: range.start, text }
            }
            &Change::Restarted { edit, length } => Self::Restarted { edit, at: length },
        }
    }
}

/// The report, in the form of a finished answer.
#[derive(Serialize)]
struct JsonReport<'a> {
    files: [FileReport<'a>; 1],
    problems: &'a [Problem],
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
    state: OutcomeReport<'a>,
}

#[derive(Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
enum OutcomeReport<'a> {
    Applied { how: How, lines: Lines },
    Rejected(&'a Rejection),
}

fn json_report<'a>(
    path: &'a str,
    content: Option<&'a [u8]>,
    states: &'a BTreeMap<usize, EditState>,
    problems: &'a [Problem],
) -> JsonReport<'a> {
    let edits = states.iter().map(|(&index, state)| {
        let state = match state {
            &EditState::Placed { how, lines } => OutcomeReport::Applied { how, lines },
            EditState::Rejected(rejection) => OutcomeReport::Rejected(rejection),
        };
        EditReport { index, state }
    });
    let content = content.map(|content| Content::new([content]));
    let file = FileReport { path, action: "update", content, edits: edits.collect() };
    JsonReport { files: [file], problems }
}
