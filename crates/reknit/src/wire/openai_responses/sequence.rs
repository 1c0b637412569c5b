//! [`Sequence`]: which events of a response have already come.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::members::Members;

/// The numbers and fingerprints of the events so far.
///
/// A client that lost its connection asks for the rest and may get more than that, so an event can come twice.
/// The number alone does not show it: some compatible servers give all events the same one. The fingerprint
/// excludes ids, because some gateways create new ones every time.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequence {
    /// Fingerprints of events with consecutive numbers, by the first number.
    runs: BTreeMap<u64, Vec<u32>>,
    /// Whether two events had the same number, so that numbers mean nothing.
    is_ignored: bool,
}

/// What the number of an event says about it.
#[derive(Debug, PartialEq)]
pub(super) enum Order {
    /// Nothing: it is new, or has no number.
    New,
    /// It is new, and events with these numbers are missing.
    Gap { from: u64, to: u64 },
    /// The same event came before.
    Again,
    /// Another event had this number, so numbers are ignored from now on.
    Reused,
}

impl Sequence {
    pub(super) fn take(&mut self, kind: &str, members: &Members<'_>) -> Order {
        let Some(number) = members.sequence.filter(|_| !self.is_ignored) else { return Order::New };
        let fingerprint = fingerprint(kind, members);
        if let Some(before) = self.get(number) {
            if before == fingerprint {
                return Order::Again;
            }
            self.is_ignored = true;
            return Order::Reused;
        }
        let last = self.runs.last_key_value().map(|(first, run)| first + (run.len() as u64 - 1));
        match self.runs.range_mut(..number).next_back() {
            Some((first, run)) if first + run.len() as u64 == number => run.push(fingerprint),
            _ => drop(self.runs.insert(number, vec![fingerprint])),
        }
        match last {
            Some(last) if number > last && number - last > 1 => Order::Gap { from: last + 1, to: number - 1 },
            _ => Order::New,
        }
    }

    fn get(&self, number: u64) -> Option<u32> {
        let (first, run) = self.runs.range(..=number).next_back()?;
        run.get(usize::try_from(number - first).ok()?).copied()
    }
}

#[allow(clippy::cast_possible_truncation)]
fn fingerprint(kind: &str, members: &Members<'_>) -> u32 {
    let mut hasher = DefaultHasher::new();
    (kind, members.output_index, members.part_index).hash(&mut hasher);
    members.delta.map(super::Raw::text).hash(&mut hasher);
    hasher.finish() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(events: &[(u64, &str)], expected: &[Order]) {
        let mut sequence = Sequence::default();
        let orders: Vec<_> = events
            .iter()
            .map(|(number, delta)| {
                let data = format!(r#"{{"sequence_number":{number},"delta":"{delta}"}}"#);
                sequence.take("response.output_text.delta", &Members::read(&data).unwrap())
            })
            .collect();
        assert_eq!(orders, expected);
    }

    #[test]
    fn a_stream_may_begin_anywhere() {
        check(&[(7, "a"), (8, "b")], &[Order::New, Order::New]);
    }

    #[test]
    fn repeated_events_are_recognised_and_a_gap_can_be_filled() {
        check(
            &[(0, "a"), (3, "d"), (0, "a"), (2, "c"), (1, "b"), (2, "c"), (4, "e")],
            &[
                Order::New,
                Order::Gap { from: 1, to: 2 },
                Order::Again,
                Order::New,
                Order::New,
                Order::Again,
                Order::New,
            ],
        );
    }

    #[test]
    fn numbers_that_are_all_the_same_are_ignored() {
        check(&[(0, "a"), (0, "b"), (0, "b")], &[Order::New, Order::Reused, Order::New]);
    }

    #[test]
    fn the_largest_number_is_valid() {
        check(&[(u64::MAX, "a"), (u64::MAX, "a")], &[Order::New, Order::Again]);
    }
}
