//! Places some of an answer's edits, as if it did not contain the others.

use std::borrow::Cow;

use reknit::edit::{self, Edit, How, Outcome, Plan, Reason};

/// Finds the places of the edits with these indexes. The plan uses the indexes in the answer.
pub(super) fn find(edits: &[Edit], chosen: &[usize], files: &[(&str, &[u8])], loosest: How) -> Plan {
    let edits: Cow<'_, [Edit]> = if chosen.len() == edits.len() {
        Cow::Borrowed(edits)
    } else {
        chosen.iter().map(|&index| edits[index].clone()).collect()
    };
    let mut plan = edit::plan(&edits, files, loosest);
    for report in plan.files.iter_mut().flat_map(|file| &mut file.reports) {
        report.index = chosen[report.index];
        if let Some(other) = other_edit(&mut report.outcome) {
            *other = chosen[*other];
        }
    }
    plan
}

/// The index of another edit that an outcome refers to.
fn other_edit(outcome: &mut Outcome) -> Option<&mut usize> {
    match outcome {
        Outcome::Applied(found) => found.inside.as_mut(),
        Outcome::Rejected(rejection) => match &mut rejection.reason {
            Reason::TakenAway { by, .. } | Reason::MovedAway { by, .. } | Reason::Overlaps { with: by } => {
                Some(by)
            }
            _ => None,
        },
        _ => None,
    }
}
