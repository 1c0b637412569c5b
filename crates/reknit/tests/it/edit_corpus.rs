//! Answers to changed files: the cases of `corpus/edit`, each a rule of how edits are placed or refused.

use std::fmt::Write;

use reknit::Hint;
use reknit::edit::{
    Closest, Edit, FileAction, FilePlan, Format, How, Match, Outcome, Parsed, Parser, Plan, Preview,
    Rejection, parse, plan,
};

use crate::corpus::{self, Case, Files, Verdict};
use crate::cuts::{same_for_every_cut, whole_characters};
use crate::edit_follower::Follower;
use crate::edit_parse::read;

#[test]
fn edit_cases_give_what_they_must() {
    let mut verdict = Verdict::new();
    for case in corpus::cases("edit") {
        let format = format(&case);
        let parser = || format.map_or_else(Parser::detect, Parser::new);
        let parsed = same_for_every_cut(&case.input, |pieces| read(parser(), pieces));
        if let Some(format) = format {
            assert_eq!(parse(format, case.text()), parsed, "{}", case.name);
        }

        let before = case.files("before");
        let originals: Vec<_> = before.iter().map(|(path, content)| (&**path, &**content)).collect();
        let plan = plan(&parsed.edits, &originals, How::Context);
        let mut after = carry_out(&plan.files, &before);
        if after == before {
            after.clear();
        }
        verdict.expect(&case, "report.txt", &summary(&parsed, &plan.files, format));
        verdict.expect_files(&case, "after", &after);
    }
    verdict.give();
}

/// The format that a case names; without it, it is found.
fn format(case: &Case) -> Option<Format> {
    let named = |name: &str| Format::ALL.into_iter().find(|format| format.name() == name);
    case.note("format").map(|name| named(&name).expect("it is a format"))
}

/// What is reported and shown while an answer arrives does not depend on its cuts, and the plan at its end is the
/// same.
#[test]
fn edit_cases_end_alike_when_they_are_previewed() {
    for case in corpus::cases("edit") {
        let before = case.files("before");
        let Some((_, original)) = before.first_key_value().filter(|_| before.len() == 1) else { continue };
        let format = format(&case);
        let parser = || format.map_or_else(Parser::detect, Parser::new);
        let (_, previewed) = same_for_every_cut(&case.input, |pieces| preview(parser(), original, pieces));
        let mut edits = read(parser(), &[&case.input]).edits;
        edits.iter_mut().for_each(|edit| edit.path = None);
        let planned = plan(&edits, &[("", original)], How::Context);
        assert_eq!(previewed, planned, "{}", case.name);
    }
}

/// What somebody has who followed the changes up to the end of an answer, and what it comes to.
fn preview(parser: Parser, original: &[u8], pieces: &[&[u8]]) -> (Follower, Plan) {
    let mut preview = Preview::new(parser, original, How::Context);
    let mut follower = Follower::default();
    for piece in whole_characters(pieces) {
        follower.push(&mut preview, &piece);
    }
    (follower, preview.finish().1)
}

/// The files as a plan leaves them; edits without a place are left out.
fn carry_out(plans: &[FilePlan], before: &Files) -> Files {
    let mut files = before.clone();
    for plan in plans {
        let original = files.remove(&plan.path);
        let path = match &plan.action {
            FileAction::Move { to } => to,
            FileAction::Create | FileAction::Update => &plan.path,
            FileAction::Delete | FileAction::Missing => continue,
        };
        files.insert(path.clone(), plan.content(&original.unwrap_or_default()));
    }
    files
}

/// What became of an answer: each file, its edits, and what could not be read.
fn summary(parsed: &Parsed, plans: &[FilePlan], named: Option<Format>) -> String {
    let mut out = String::new();
    if named.is_none() {
        let format = parsed.format.map_or("not found", Format::name);
        writeln!(out, "format {format}").unwrap();
    }
    for plan in plans {
        let path = if plan.path.is_empty() { "without a name" } else { &plan.path };
        match &plan.action {
            FileAction::Move { to } => writeln!(out, "file {path}: move to {to}").unwrap(),
            FileAction::Update if plan.splices.is_empty() => writeln!(out, "file {path}: as it is").unwrap(),
            action => writeln!(out, "file {path}: {}", format!("{action:?}").to_lowercase()).unwrap(),
        }
        for report in &plan.reports {
            let edit = &parsed.edits[report.index];
            write!(out, "edit {}, line {}: ", report.index + 1, edit.line).unwrap();
            match &report.outcome {
                Outcome::Applied(found) => write_match(&mut out, found),
                Outcome::Rejected(rejection) => write_rejection(&mut out, rejection),
                outcome => writeln!(out, "{}", format!("{outcome:?}").to_lowercase()).unwrap(),
            }
            write_repairs(&mut out, edit);
        }
    }
    for problem in &parsed.problems {
        writeln!(out, "problem {}: {problem}", problem.kind.name()).unwrap();
        writeln!(out, "  hint: {}", problem.kind.hint()).unwrap();
    }
    if parsed.edits.is_empty() && parsed.problems.is_empty() {
        out.push_str("nothing\n");
    }
    out
}

fn write_match(out: &mut String, found: &Match) {
    let lines: Vec<_> = found.lines.iter().map(ToString::to_string).collect();
    writeln!(out, "applied, {}, {}", found.how, lines.join(" and ")).unwrap();
    for note in &found.notes {
        writeln!(out, "  note: {note}").unwrap();
    }
    if let Some(earlier) = found.inside {
        writeln!(out, "  inside what edit {} puts there", earlier + 1).unwrap();
    }
}

fn write_rejection(out: &mut String, Rejection { reason, closest, .. }: &Rejection) {
    writeln!(out, "rejected, {}: {reason}", reason.name()).unwrap();
    writeln!(out, "  hint: {}", reason.hint()).unwrap();
    if let Some(Closest { lines, score, diff, .. }) = closest {
        writeln!(out, "  closest: {lines}, score {score:.2}").unwrap();
        diff.lines().for_each(|line| writeln!(out, "    {line}").unwrap());
    }
}

fn write_repairs(out: &mut String, edit: &Edit) {
    for repair in &edit.repairs {
        writeln!(out, "  repaired, line {}: {}", repair.line, repair.kind).unwrap();
    }
}
