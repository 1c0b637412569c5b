//! [`Follower`]: what somebody has who knows of a preview by its changes only.

use std::collections::BTreeMap;

use reknit::edit::{Change, How, Lines, Preview, Rejection};

/// The new content so far, and what became of each edit.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Follower {
    pub(crate) shown: Vec<u8>,
    pub(crate) fates: BTreeMap<usize, Fate>,
}

/// What was reported of an edit last.
#[derive(Debug, PartialEq)]
pub(crate) enum Fate {
    Placed(How, Lines),
    Rejected(Box<Rejection>),
}

impl Follower {
    /// Feeds a piece to a preview, follows what changes, and checks that it shows the same. How often something
    /// was taken back.
    pub(crate) fn push(&mut self, preview: &mut Preview<'_>, piece: &str) -> usize {
        let mut restarts = 0;
        for change in preview.push(piece) {
            match change {
                Change::Placed { edit, how, lines } => {
                    self.fates.insert(edit, Fate::Placed(how, lines));
                }
                Change::Rejected { edit, rejection } => {
                    self.fates.insert(edit, Fate::Rejected(rejection));
                }
                Change::Grew(range) => {
                    assert_eq!(range.start, self.shown.len(), "it goes on where it ended");
                    self.shown.extend_from_slice(&preview.shown()[range]);
                }
                Change::Restarted { edit, length } => {
                    assert!(length <= self.shown.len(), "nothing new comes with what is taken back");
                    self.shown.truncate(length);
                    assert!(self.fates.remove(&edit).is_some(), "something was reported about it");
                    restarts += 1;
                }
            }
        }
        assert_eq!(self.shown, preview.shown(), "every change is reported");
        restarts
    }
}
