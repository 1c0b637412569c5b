//! `--streaming`: the answer is unfinished, and what is known of the new content is printed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use reknit::edit::{
    Change, How, Lines, Open, Original, Outcome, Parser, Policy, Preview, Problem, ProblemKind, Reason,
    Rejection, plan,
};
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
            for line in lines(&changes, preview.shown()) {
                print_json(&mut out, &line)?;
            }
        }
        fates.extend(changes.into_iter().filter_map(Fate::of));
        out.flush()?;
    }
    if let Some((edit, rejection)) = unplaced(&parser, &original, arguments.policy()) {
        let change = Change::Rejected { edit, rejection };
        if arguments.ndjson {
            for line in lines(std::slice::from_ref(&change), preview.shown()) {
                print_json(&mut out, &line)?;
            }
        }
        fates.extend(Fate::of(change));
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
    /// What a change says of an edit, with its index.
    fn of(change: Change) -> Option<(usize, Self)> {
        match change {
            Change::Placed { edit, how, lines } => Some((edit, Self::Placed { how, lines })),
            Change::Rejected { edit, rejection } => Some((edit, Self::Rejected(rejection))),
            Change::Grew(_) | Change::Restarted => None,
        }
    }
}

/// The edit that the answer ends in, if its search text is over and has no place whatever follows.
fn unplaced(parser: &Parser, original: &[u8], policy: Policy) -> Option<(usize, Box<Rejection>)> {
    let Some(Open::Replacement(open)) = parser.open() else { return None };
    let mut edits = [parser.edits(), std::slice::from_ref(open)].concat();
    edits.iter_mut().for_each(|edit| edit.path = None);
    let plan = plan(&edits, &[Original { path: "", content: original }], policy);
    let (_, report) = plan.rejected().find(|(_, report)| report.index + 1 == edits.len())?;
    match &report.outcome {
        Outcome::Rejected(rejection) => match rejection.reason {
            // More edits, or more of this one, can still decide these.
            Reason::Ambiguous { .. } | Reason::Identical | Reason::Unclear { .. } => None,
            _ => Some((report.index, rejection.clone())),
        },
        Outcome::Applied(_) => None,
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
        at: usize,
    },
}

/// The lines of what one piece changed in what is shown.
fn lines<'a>(changes: &'a [Change], shown: &'a [u8]) -> impl Iterator<Item = Line<'a>> {
    changes.iter().enumerate().map(move |(number, change)| match change {
        &Change::Placed { edit, how, lines } => Line::Placed { edit, how, lines },
        Change::Rejected { edit, rejection } => Line::Rejected { edit: *edit, rejection },
        Change::Grew(range) => {
            let text = shown.get(range.clone()).unwrap_or_default();
            Line::Grew { at: range.start, text: Content::new(std::iter::once(text)) }
        }
        Change::Restarted => {
            // It goes on from where the next one grows.
            let next = changes[number..].iter().find_map(|change| match change {
                Change::Grew(range) => Some(range.start),
                Change::Placed { .. } | Change::Rejected { .. } | Change::Restarted => None,
            });
            Line::Restarted { at: next.unwrap_or(shown.len()) }
        }
    })
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
