//! [`Dialogue`]: what would change, shown on a terminal, and the questions about it.

use std::io::{self, BufWriter, StdoutLock, Write};

use reknit::edit::{Action, FilePlan, Outcome, Plan, Rejection};

use super::report::places;
use super::work::{Work, applied, changes};
use crate::ask::Keyboard;
use crate::diff;
use crate::outcome::Trouble;
use crate::view::{Style, Terminal, harmless};

/// A terminal with somebody in front of it.
pub(super) struct Dialogue {
    terminal: Terminal,
    keyboard: Keyboard,
    out: BufWriter<StdoutLock<'static>>,
}

/// What was decided.
pub(super) enum Decision {
    /// These edits are wanted.
    Apply(Plan),
    Nothing,
    Interrupted,
}

impl Dialogue {
    pub(super) fn open(terminal: Terminal) -> Result<Self, Trouble> {
        let out = BufWriter::new(io::stdout().lock());
        Ok(Self { terminal, keyboard: Keyboard::open()?, out })
    }

    /// Shows a plan and asks about it.
    pub(super) fn decide(&mut self, work: &Work, plan: Plan) -> Result<Decision, Trouble> {
        for file in plan.files.iter().filter(|file| changes(file)) {
            for (index, words) in places(work, file) {
                self.note(&format!("edit {}: {words}", index + 1))?;
            }
            let (sides, diff) = work.diff(file);
            diff::show(&mut self.out, self.terminal, sides, &diff)?;
            writeln!(self.out)?;
        }
        let chosen = chosen(&plan);
        let files = plan.files.iter().filter(|file| changes(file)).count();
        let subject = format!("{} to {}", counted(chosen.len(), "edit"), counted(files, "file"));
        let (choices, letters) = match chosen.len() {
            1 => ("[y]es, [n]o", &['y', 'n'][..]),
            _ => ("[y]es, [n]o, [e]ach", &['y', 'n', 'e'][..]),
        };
        match self.ask(&format!("Apply {subject}? {choices}:"), letters)? {
            Some('y') => Ok(Decision::Apply(plan)),
            Some('e') => self.decide_each(work, plan, &chosen),
            _ => Ok(self.nothing()),
        }
    }

    /// Asks about one edit after the other. Those that are not wanted are as if the answer did not have them.
    fn decide_each(&mut self, work: &Work, mut plan: Plan, all: &[usize]) -> Result<Decision, Trouble> {
        let mut wanted = all.to_vec();
        for (position, &index) in all.iter().enumerate() {
            if let Some(Rejection { reason, .. }) = rejected(&plan, index) {
                self.note(&format!("edit {} is left out with another: {reason}", index + 1))?;
                wanted.retain(|&other| other != index);
                continue;
            }
            self.show_edit(work, &plan, index)?;
            let question =
                format!("Edit {} of {}? [y]es, [n]o, [a]ll the rest, [q]uit:", position + 1, all.len());
            match self.ask(&question, &['y', 'n', 'a', 'q'])? {
                Some('y') => {}
                Some('n') => {
                    wanted.retain(|&other| other != index);
                    plan = work.plan(&wanted);
                }
                Some('a') => break,
                Some(_) => {
                    wanted.retain(|&other| other < index);
                    break;
                }
                None => return Ok(self.nothing()),
            }
        }
        let plan = self.settle(work, wanted)?;
        Ok(if chosen(&plan).is_empty() { Decision::Nothing } else { Decision::Apply(plan) })
    }

    /// Shows what one edit changes.
    fn show_edit(&mut self, work: &Work, plan: &Plan, index: usize) -> Result<(), Trouble> {
        let Some(file) = plan.files.iter().find(|file| applied(file).any(|(other, _)| other == index)) else {
            return Ok(());
        };
        for (_, words) in places(work, file).iter().filter(|(other, _)| *other == index) {
            self.note(&format!("edit {}: {words}", index + 1))?;
        }
        let (sides, diff) = work.diff(file);
        let diff = match &work.parsed.edits[index].action {
            Action::Replace(_) | Action::Undecided(_) => diff.within(&lines(file, index)),
            Action::Write { .. } | Action::Delete | Action::Move { .. } => diff,
        };
        diff::show(&mut self.out, self.terminal, sides, &diff)?;
        Ok(writeln!(self.out)?)
    }

    /// A plan of the edits that are wanted, without those that need another one.
    fn settle(&mut self, work: &Work, mut wanted: Vec<usize>) -> Result<Plan, Trouble> {
        loop {
            let plan = work.plan(&wanted);
            let lost: Vec<_> = plan.rejected().map(|(_, report)| report.index).collect();
            if lost.is_empty() {
                return Ok(plan);
            }
            for index in &lost {
                self.note(&format!("edit {} is left out with another", index + 1))?;
            }
            wanted.retain(|index| !lost.contains(index));
        }
    }

    fn ask(&mut self, question: &str, letters: &[char]) -> Result<Option<char>, Trouble> {
        let question = self.terminal.paint(Style::Strong, question);
        self.keyboard.ask(&mut self.out, &question, letters)
    }

    fn note(&mut self, words: &str) -> Result<(), Trouble> {
        Ok(writeln!(self.out, "{}", self.terminal.paint(Style::Quiet, &harmless(words)))?)
    }

    fn nothing(&self) -> Decision {
        if self.keyboard.is_interrupted() { Decision::Interrupted } else { Decision::Nothing }
    }
}

/// The indexes of the edits that have a place, in their order.
fn chosen(plan: &Plan) -> Vec<usize> {
    let mut indexes: Vec<_> = plan.files.iter().flat_map(applied).map(|(index, _)| index).collect();
    indexes.sort_unstable();
    indexes
}

/// Why an edit has no place, if it has none.
fn rejected(plan: &Plan, index: usize) -> Option<&Rejection> {
    plan.rejected().find(|(_, report)| report.index == index).and_then(|(_, report)| match &report.outcome {
        Outcome::Applied(_) => None,
        Outcome::Rejected(rejection) => Some(&**rejection),
    })
}

/// The lines of the file that an edit is about.
fn lines(file: &FilePlan, index: usize) -> Vec<(usize, usize)> {
    let found = applied(file).filter(|(other, _)| *other == index);
    found.flat_map(|(_, found)| &found.lines).map(|lines| (lines.first, lines.last)).collect()
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
