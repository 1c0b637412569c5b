//! [`Gate`]: where in a stream of responses an event is, and whether to read it.

use super::members::Members;
use super::sequence::{Order, Sequence};
use super::step::Step;
use crate::diagnostic::Kind;

#[derive(Clone, Debug, Default)]
pub(super) struct Gate {
    state: State,
    id: Option<String>,
    sequence: Sequence,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum State {
    #[default]
    Before,
    Within,
    /// An error was reported; the event that ends the response may still follow.
    Failed,
    After,
}

/// What an event does to the stream.
pub(super) struct Admission {
    pub(super) begins: Begins,
    pub(super) order: Order,
    /// Why not to read it.
    pub(super) refusal: Option<(Kind, String)>,
}

/// Which response begins with an event, if any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Begins {
    No,
    /// The response that it carries.
    Response,
    /// A response whose start is missing.
    Unseen,
}

impl Gate {
    /// The gate inside a response that is sent whole.
    pub(super) fn within(id: Option<String>) -> Self {
        Self { state: State::Within, id, sequence: Sequence::default() }
    }

    pub(super) fn is_within(&self) -> bool {
        self.state == State::Within
    }

    /// Takes the next event.
    ///
    /// In the middle of a response, only a `created` with another id begins another one, because some gateways
    /// send a new id with every event. After the end of a response, any announcement does.
    pub(super) fn admit(&mut self, step: &Step<'_>, kind: &str, members: &Members<'_>) -> Admission {
        let id = members.response_id();
        let begins = match (self.state, step) {
            (State::Before, Step::Response(_)) => Begins::Response,
            (State::Before, Step::Unknown) => Begins::No,
            (State::Before, _) => Begins::Unseen,
            (_, Step::Response("created")) if self.has_begun(id.as_deref()) => {
                self.pass(kind, members);
                let refusal = Some((Kind::DuplicateStart, "the response was created again".to_owned()));
                return Admission { begins: Begins::No, order: Order::New, refusal };
            }
            (_, Step::Response("created")) => Begins::Response,
            (State::After, Step::Response("queued" | "in_progress")) if id.is_some() && id != self.id => {
                Begins::Response
            }
            _ => Begins::No,
        };
        if begins != Begins::No {
            *self = Self { state: State::Within, id, sequence: Sequence::default() };
        }
        let order = self.sequence.take(kind, members);
        let refusal = match (self.state, step) {
            _ if order == Order::Again => {
                let number = members.sequence.unwrap_or_default();
                Some((Kind::DuplicateEvent, format!("event {number}, `{kind}`, came twice")))
            }
            (_, Step::Unknown) | (State::Before | State::Within, _) => None,
            (State::Failed, Step::Response("failed")) => None,
            (State::Failed | State::After, _) => {
                Some((Kind::AfterEnd, format!("`{kind}` came after the end of the response")))
            }
        };
        Admission { begins, order, refusal }
    }

    /// Takes an event that is not about the response, for its number.
    pub(super) fn pass(&mut self, kind: &str, members: &Members<'_>) {
        self.sequence.take(kind, members);
    }

    /// Takes an error and returns whether a response could still fail.
    pub(super) fn fail(&mut self, members: &Members<'_>) -> bool {
        let goes_on = self.state != State::After;
        if goes_on {
            self.pass("error", members);
            self.state = State::Failed;
        }
        goes_on
    }

    /// Ends the response and returns whether it was still going on.
    pub(super) fn end(&mut self) -> bool {
        let went_on = self.state != State::Failed;
        self.state = State::After;
        went_on
    }

    /// Whether a `created` is about the current response.
    fn has_begun(&self, id: Option<&str>) -> bool {
        match id {
            Some(_) => id == self.id.as_deref(),
            None => self.is_within(),
        }
    }
}
