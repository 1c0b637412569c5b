//! No edit is wrong: what comes of one is the intended file or a refusal.
//!
//! The edits are generated over real files. `cargo xtask misplaced N` tries many more of them than the test.

use std::collections::BTreeMap;
use std::fmt::Write;

use reknit::edit::{How, Parser, plan};

use self::case::{Case, Class, Right, Sides};
use self::slip::Slip;
use crate::cuts::Random;

mod case;
mod slip;
mod source;

/// How many edits are tried unless `REKNIT_MISPLACED` says otherwise.
const EDITS: usize = 600;
const SEED: u64 = 14;

#[test]
fn every_edit_is_right_or_refused() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let edits = number("REKNIT_MISPLACED").map_or(EDITS, |edits| edits as usize);
    let tally = run(number("REKNIT_MISPLACED_SEED").unwrap_or(SEED), edits);
    println!("{}", tally.table());
    tally.check();
}

/// Every class, those with slips once for each slip.
fn classes() -> Vec<Class> {
    let mut classes =
        vec![Class::Literal, Class::OtherWord, Class::UnnamedLine, Class::Stanzas, Class::Dividers];
    // Of these a share must be applied, so there have to be many.
    classes.extend([Class::KeptLine; 6]);
    classes.extend([1, 2, 12].into_iter().flat_map(|count| [Class::Decoys(count), Class::DecoysOnly(count)]));
    classes.extend(
        Slip::ALL
            .iter()
            .flat_map(|slip| [Sides::Search, Sides::Both].map(|sides| Class::Slipped(*slip, sides))),
    );
    classes
}

pub(crate) fn run(seed: u64, edits: usize) -> Tally {
    let sources = source::all();
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    let classes = classes();
    for number in 0..edits {
        let class = classes[number % classes.len()];
        let found = (0..200).find_map(|_| {
            let source = &sources[random.below(sources.len())];
            Some((source, Case::new(source, class, &mut random)?))
        });
        let (source, case) = found.unwrap_or_else(|| panic!("no file has lines for {class:?}"));
        tally.count(class, &source.name, &case);
    }
    tally
}

/// How many edits of each class ended how.
#[derive(Default)]
pub(crate) struct Tally {
    rows: BTreeMap<Class, Row>,
    wrong: Vec<String>,
}

#[derive(Clone, Copy, Default)]
struct Row {
    right: usize,
    refused: usize,
    /// Refused, though it must be applied.
    missed: usize,
    wrong: usize,
}

impl Tally {
    fn count(&mut self, class: Class, source: &str, case: &Case) {
        let mut parser = Parser::detect();
        parser.push(&case.answer);
        let mut parsed = parser.finish();
        parsed.edits.iter_mut().for_each(|edit| edit.path = None);
        let plan = plan(&parsed.edits, &[("", case.file.as_bytes())], How::Context);
        let is_applied = !parsed.edits.is_empty() && plan.rejected().next().is_none();
        let content = is_applied.then(|| plan.files[0].content(case.file.as_bytes()));
        let row = self.rows.entry(class).or_default();
        let ending = match (&content, &case.right) {
            (Some(content), Right::Applied(right) | Right::Possible(right))
                if content == right.as_bytes() =>
            {
                return row.right += 1;
            }
            (None, Right::Possible(_) | Right::Refused) => return row.refused += 1,
            (None, Right::Applied(_)) => {
                row.missed += 1;
                format!(
                    "refused: {:?}",
                    plan.rejected().map(|(_, report)| &report.outcome).collect::<Vec<_>>()
                )
            }
            (Some(content), _) => {
                row.wrong += 1;
                difference(case, content)
            }
        };
        self.wrong.push(format!(
            "{class:?} in {source} as {:?}\n{}\n{ending}",
            case.form,
            shown(&case.answer)
        ));
    }

    pub(crate) fn table(&self) -> String {
        let mut table =
            format!("{:44}{:>8}{:>9}{:>8}{:>7}\n", "edits", "right", "refused", "missed", "wrong");
        let mut sum = Row::default();
        for (class, row) in &self.rows {
            let Row { right, refused, missed, wrong } = row;
            writeln!(table, "{:44}{right:>8}{refused:>9}{missed:>8}{wrong:>7}", format!("{class:?}"))
                .unwrap();
            sum.right += right;
            sum.refused += refused;
            sum.missed += missed;
            sum.wrong += wrong;
        }
        let Row { right, refused, missed, wrong } = sum;
        writeln!(table, "{:44}{right:>8}{refused:>9}{missed:>8}{wrong:>7}", "all").unwrap();
        table
    }

    /// No edit is wrong; refusing does not help.
    pub(crate) fn check(&self) {
        let count = self.wrong.len();
        assert!(count == 0, "{count} edits are wrong or missed:\n{}", self.wrong.join("\n\n"));
        let kept = self.rows[&Class::KeptLine];
        assert!(
            kept.right * 100 >= (kept.right + kept.refused) * 95,
            "{} of {} with a wrong kept line are applied",
            kept.right,
            kept.right + kept.refused
        );
    }
}

fn shown(answer: &str) -> String {
    let lines: Vec<_> = answer.lines().take(60).collect();
    lines.join("\n")
}

/// The first lines in which a content is not the one that it should be.
fn difference(case: &Case, content: &[u8]) -> String {
    let content = String::from_utf8_lossy(content);
    let right = match &case.right {
        Right::Applied(right) | Right::Possible(right) => right,
        Right::Refused => &case.file,
    };
    let same = content.lines().zip(right.lines()).take_while(|(a, b)| a == b).count();
    let part = |text: &str| -> Vec<String> {
        text.split_inclusive('\n').skip(same.saturating_sub(2)).take(9).map(str::to_owned).collect()
    };
    format!("is {:#?}\nbut should be {:#?}", part(&content), part(right))
}
