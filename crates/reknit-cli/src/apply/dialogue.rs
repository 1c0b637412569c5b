//! [`Dialogue`]: what would change, shown on a terminal, and the questions about it.

use std::io::{self, BufWriter, StdoutLock, Write};

use reknit::edit::{Action, FilePlan, Outcome, Plan, Rejection};
use reknit_workspace::Draft;

use super::report::places;
use super::work::{Work, applied};
use crate::ask::{Key, Keyboard};
use crate::diff;
use crate::outcome::CommandError;
use crate::view::{Style, Terminal, sanitized};

/// The terminal, and the user's answers.
pub(super) struct Dialogue {
    terminal: Terminal,
    keyboard: Keyboard,
    out: BufWriter<StdoutLock<'static>>,
}

/// What was decided.
pub(super) enum Decision<'e> {
    /// These edits are wanted.
    Apply(Draft<'e>),
    Nothing,
    Interrupted,
}

const ALL_OR_EACH: [Key; 3] = [
    Key { label: "[y]es", meaning: "write all of it" },
    Key { label: "[n]o", meaning: "write nothing" },
    Key { label: "[e]ach", meaning: "decide on each edit by itself" },
];

const ONE_BY_ONE: [Key; 4] = [
    Key { label: "[y]es", meaning: "apply this edit" },
    Key { label: "[n]o", meaning: "leave this edit out" },
    Key { label: "[a]ll the rest", meaning: "apply this edit and all that follow" },
    Key {
        label: "[q]uit",
        meaning: "leave out this edit and all that follow, and write those chosen before",
    },
];

impl Dialogue {
    pub(super) fn open(terminal: Terminal) -> Result<Self, CommandError> {
        let out = BufWriter::new(io::stdout().lock());
        Ok(Self { terminal, keyboard: Keyboard::open()?, out })
    }

    /// Shows a draft and asks about it.
    pub(super) fn decide<'e>(
        &mut self,
        work: &Work<'_>,
        draft: Draft<'e>,
    ) -> Result<Decision<'e>, CommandError> {
        let plan = draft.plan();
        for file in plan.files.iter().filter(|file| file.changes()) {
            for (index, words) in places(work, file) {
                self.note(&format!("edit {}: {words}", index + 1))?;
            }
            let (sides, diff) = work.diff(file);
            diff::show(&mut self.out, self.terminal, sides, &diff)?;
            writeln!(self.out)?;
        }
        let chosen = chosen(plan);
        let files = plan.files.iter().filter(|file| file.changes()).count();
        let subject = format!("{} to {}", counted(chosen.len(), "edit"), counted(files, "file"));
        let keys = if chosen.len() == 1 { &ALL_OR_EACH[..2] } else { &ALL_OR_EACH };
        match self.ask(&format!("Apply {subject}?"), keys)? {
            Some('y') => Ok(Decision::Apply(draft)),
            Some('e') => self.decide_each(work, draft, &chosen),
            _ => Ok(self.nothing()),
        }
    }

    /// Asks about one edit after another. Edits that are not wanted are treated as if the answer lacked them.
    fn decide_each<'e>(
        &mut self,
        work: &Work<'_>,
        mut draft: Draft<'e>,
        all: &[usize],
    ) -> Result<Decision<'e>, CommandError> {
        let mut wanted = all.to_vec();
        for (position, &index) in all.iter().enumerate() {
            if let Some(Rejection { reason, .. }) = rejected(draft.plan(), index) {
                self.note(&format!("edit {} depends on one that was left out: {reason}", index + 1))?;
                wanted.retain(|&other| other != index);
                continue;
            }
            self.show_edit(work, draft.plan(), index)?;
            match self.ask(&format!("Edit {} of {}?", position + 1, all.len()), &ONE_BY_ONE)? {
                Some('y') => {}
                Some('n') => {
                    wanted.retain(|&other| other != index);
                    draft = draft.only(|index| wanted.contains(&index));
                }
                Some('a') => break,
                Some(_) => {
                    wanted.retain(|&other| other < index);
                    break;
                }
                None => return Ok(self.nothing()),
            }
        }
        let draft = self.settle(draft, wanted)?;
        Ok(if chosen(draft.plan()).is_empty() { Decision::Nothing } else { Decision::Apply(draft) })
    }

    /// Shows what one edit changes.
    fn show_edit(&mut self, work: &Work<'_>, plan: &Plan, index: usize) -> Result<(), CommandError> {
        let Some(file) = plan.files.iter().find(|file| applied(file).any(|(other, _)| other == index)) else {
            return Ok(());
        };
        for (_, words) in places(work, file).iter().filter(|(other, _)| *other == index) {
            self.note(&format!("edit {}: {words}", index + 1))?;
        }
        let (sides, diff) = work.diff(file);
        let diff = match &work.target.answer().edits[index].action {
            Action::Replace(_) | Action::Undecided(_) => diff.within(&lines(file, index)),
            Action::Write { .. } | Action::Delete | Action::Move { .. } => diff,
        };
        diff::show(&mut self.out, self.terminal, sides, &diff)?;
        Ok(writeln!(self.out)?)
    }

    /// A draft of the edits that are wanted, without those that need another one.
    fn settle<'e>(
        &mut self,
        mut draft: Draft<'e>,
        mut wanted: Vec<usize>,
    ) -> Result<Draft<'e>, CommandError> {
        loop {
            draft = draft.only(|index| wanted.contains(&index));
            let lost: Vec<_> = draft.plan().rejected().map(|(_, report)| report.index).collect();
            if lost.is_empty() {
                return Ok(draft);
            }
            for index in &lost {
                self.note(&format!("edit {} depends on one that was left out", index + 1))?;
            }
            wanted.retain(|index| !lost.contains(index));
        }
    }

    fn ask(&mut self, subject: &str, keys: &[Key]) -> Result<Option<char>, CommandError> {
        self.keyboard.ask(&mut self.out, self.terminal, subject, keys)
    }

    fn note(&mut self, words: &str) -> Result<(), CommandError> {
        Ok(writeln!(self.out, "{}", self.terminal.paint(Style::Quiet, &sanitized(words)))?)
    }

    fn nothing(&self) -> Decision<'static> {
        if self.keyboard.is_interrupted() { Decision::Interrupted } else { Decision::Nothing }
    }
}

/// The indexes of the edits that can be applied, in order.
fn chosen(plan: &Plan) -> Vec<usize> {
    let mut indexes: Vec<_> = plan.files.iter().flat_map(applied).map(|(index, _)| index).collect();
    indexes.sort_unstable();
    indexes
}

/// Why an edit was rejected, if it was.
fn rejected(plan: &Plan, index: usize) -> Option<&Rejection> {
    plan.rejected().find(|(_, report)| report.index == index).and_then(|(_, report)| match &report.outcome {
        Outcome::Rejected(rejection) => Some(&**rejection),
        _ => None,
    })
}

/// The lines of the file that an edit changes.
fn lines(file: &FilePlan, index: usize) -> Vec<(usize, usize)> {
    let found = applied(file).filter(|(other, _)| *other == index);
    found.flat_map(|(_, found)| &found.lines).map(|lines| (lines.first, lines.last)).collect()
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
