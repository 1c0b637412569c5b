//! Changes are patches: applying all of them gives the messages.

use reknit::Hint;
use reknit::message::{Change, Misfit, Status};
use reknit::reply::Changes;
use reknit::{Limits, Message, Reply};

use crate::corpus;

/// Copies of messages, made only from the changes.
pub(crate) struct Follower {
    pub(crate) messages: Vec<Message>,
    limits: Limits,
}

impl Follower {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self { messages: vec![Message::new(limits)], limits: *limits }
    }

    /// Applies a change. A start after something else begins the next message.
    pub(crate) fn follow(&mut self, change: &Change<'_>) -> Result<(), Misfit> {
        if matches!(change, Change::Started(_)) && self.message().status() != Status::Waiting {
            self.messages.push(Message::new(&self.limits));
        }
        self.messages.last_mut().expect("there is always one").follow(change)
    }

    pub(crate) fn message(&self) -> &Message {
        self.messages.last().expect("there is always one")
    }
}

/// How a change gets from the reply to the follower.
type Way = fn(&Change<'_>) -> Change<'static>;

const WAYS: [Way; 2] = [as_it_is, through_json];

fn as_it_is(change: &Change<'_>) -> Change<'static> {
    change.clone().into_owned()
}

pub(crate) fn through_json(change: &Change<'_>) -> Change<'static> {
    let json = serde_json::to_string(change).expect("a change is JSON");
    serde_json::from_str(&json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

#[test]
fn after_each_change_the_follower_has_the_message() {
    for wire in corpus::wire_cases() {
        for way in WAYS {
            let mut follower = Follower::new(&Limits::default());
            let mut reply = Reply::new(wire.dialect);
            let mut look = |mut changes: Changes<'_>| {
                while let Some((change, message)) = changes.next() {
                    let change = way(&change);
                    let name = &wire.case.name;
                    follower
                        .follow(&change)
                        .unwrap_or_else(|misfit| panic!("corpus/{name}: {change:?}: {misfit}"));
                    assert_eq!(follower.message(), message, "corpus/{name}: after {change:?}");
                }
            };
            wire.case.input.chunks(100).for_each(|piece| look(reply.push(piece)));
            look(reply.finish());
            assert!(follower.messages.iter().eq(reply.messages()), "corpus/{}", wire.case.name);
        }
    }
}

#[test]
fn a_change_that_is_lost_or_repeated_is_detected() {
    let wire = corpus::wire_cases().into_iter().find(|wire| wire.case.name.ends_with("anthropic/text"));
    let wire = wire.expect("there is a case of plain text");
    let mut changes = Vec::new();
    let mut reply = Reply::new(wire.dialect);
    let mut given = reply.push(&wire.case.input);
    while let Some((change, _)) = given.next() {
        changes.push(change.into_owned());
    }
    let grown: Vec<_> = (0..changes.len()).filter(|at| matches!(changes[*at], Change::Grew { .. })).collect();
    assert!(grown.len() > 1);
    let mut lost = changes.clone();
    lost.remove(grown[0]);
    let mut repeated = changes.clone();
    repeated.insert(grown[0], changes[grown[0]].clone());
    for changes in [lost, repeated] {
        let mut follower = Follower::new(&Limits::default());
        let misfit =
            changes.iter().find_map(|change| follower.follow(change).err()).expect("one does not fit");
        assert!(misfit.to_string().contains("bytes, but the change continues at"), "{misfit}");
        assert!(!misfit.hint().is_empty());
    }
}
