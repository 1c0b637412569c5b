//! [`Spent`]: what replies have cost, in tokens and in money.

use reknit::agent::{AgentEvent, Body, Entry};
use reknit::event::Usage;
use reknit::json::{Number, Object, Value};

/// What a turn or a session has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Spent {
    /// The tokens, as the provider counts them.
    pub usage: Usage,
    /// US dollars, if the price of all replies is known.
    pub cost: Option<f64>,
    /// How many replies it was.
    pub replies: u64,
}

/// What a session has cost so far, by its log.
pub fn spent<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Spent {
    let mut spending = Spending::default();
    entries.into_iter().for_each(|entry| spending.take(entry));
    spending.session()
}

impl Spent {
    /// Adds a reply, or several.
    fn add(&mut self, other: &Self) {
        let add = |sum: &mut Option<u64>, more: Option<u64>| {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or_default().saturating_add(more));
            }
        };
        add(&mut self.usage.input, other.usage.input);
        add(&mut self.usage.output, other.usage.output);
        add(&mut self.usage.cache_read, other.usage.cache_read);
        add(&mut self.usage.cache_write, other.usage.cache_write);
        add(&mut self.usage.reasoning, other.usage.reasoning);
        self.cost = match (self.replies, self.cost, other.cost) {
            (0, _, cost) => cost,
            (_, Some(sum), Some(more)) if other.replies > 0 => Some(sum + more),
            (_, sum, _) if other.replies == 0 => sum,
            _ => None,
        };
        self.replies += other.replies;
    }

    fn to_json(self) -> Value {
        let Usage { input, output, cache_read, cache_write, reasoning } = self.usage;
        let counts = [
            ("inputTokens", input),
            ("outputTokens", output),
            ("cacheReadTokens", cache_read),
            ("cacheWriteTokens", cache_write),
            ("reasoningTokens", reasoning),
        ];
        let mut members = Object::new();
        for (name, count) in counts {
            if let Some(count) = count {
                members.insert(name, count);
            }
        }
        if let Some(cost) = self.cost.and_then(money) {
            members.insert("cost", cost);
        }
        members.insert("replies", self.replies);
        members.into()
    }

    fn from_json(value: &Value) -> Self {
        let count = |name: &str| value.get(name).and_then(Value::as_u64);
        Self {
            usage: Usage {
                input: count("inputTokens"),
                output: count("outputTokens"),
                cache_read: count("cacheReadTokens"),
                cache_write: count("cacheWriteTokens"),
                reasoning: count("reasoningTokens"),
            },
            cost: value.get("cost").and_then(Value::as_number).map(Number::as_f64),
            replies: count("replies").unwrap_or_default(),
        }
    }
}

/// A sum to a millionth of a dollar: adding many small ones leaves digits that mean nothing.
fn money(dollars: f64) -> Option<Value> {
    format!("{dollars:.6}").parse().ok()
}

/// Adds up what replies cost, while a log is written or read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spending {
    /// The turns that are over.
    before: Spent,
    /// The replies of this turn that are over.
    turn: Spent,
}

impl Spending {
    /// Takes an entry of a log that is read again.
    pub(super) fn take(&mut self, entry: &Entry) {
        match &entry.body {
            Body::Agent(AgentEvent::Usage { usage }) => {
                let cost = entry.extra.get("body").and_then(|body| body.get("cost"));
                let cost = cost.and_then(Value::as_number).map(Number::as_f64);
                self.reply(*usage, cost);
            }
            Body::End { .. } => {
                // A log of an older version has no sums.
                let members = entry.extra.get("body").and_then(|body| body.get("spent"));
                if let Some(turn) = members.and_then(|members| members.get("turn")) {
                    self.turn = Spent::from_json(turn);
                }
                self.end();
            }
            _ => {}
        }
    }

    /// A reply is over.
    pub(super) fn reply(&mut self, usage: Usage, cost: Option<f64>) {
        self.turn.add(&Spent { usage, cost, replies: 1 });
    }

    /// The turn is over.
    pub(super) fn end(&mut self) {
        let turn = std::mem::take(&mut self.turn);
        self.before.add(&turn);
    }

    fn session(&self) -> Spent {
        let mut session = self.before;
        session.add(&self.turn);
        session
    }

    /// What the end of a turn says about it, if there was anything to count.
    pub(super) fn members(&self) -> Object {
        let mut members = Object::new();
        if self.turn.replies > 0 {
            let sums = [("turn", self.turn.to_json()), ("session", self.session().to_json())];
            members.insert("spent", sums.into_iter().collect::<Object>());
        }
        members
    }
}

/// What an entry about tokens says besides them.
pub(super) fn cost_members(cost: Option<f64>) -> Object {
    let cost = cost.and_then(money);
    cost.map(|cost| [("cost", cost)].into_iter().collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, output: u64) -> Usage {
        Usage { input: Some(input), output: Some(output), ..Usage::default() }
    }

    #[test]
    fn sums_survive_the_log() {
        let mut spending = Spending::default();
        spending.reply(usage(10, 2), Some(0.5));
        spending.reply(usage(20, 3), Some(0.25));
        let members = spending.members().get("spent").cloned().unwrap();
        assert_eq!(
            members.to_string(),
            r#"{"turn":{"inputTokens":30,"outputTokens":5,"cost":0.750000,"replies":2},"session":{"inputTokens":30,"outputTokens":5,"cost":0.750000,"replies":2}}"#
        );
        assert_eq!(Spent::from_json(members.get("turn").unwrap()), spending.session());
        spending.end();
        spending.reply(usage(1, 1), None);
        let session = spending.session();
        assert_eq!((session.usage, session.cost, session.replies), (usage(31, 6), None, 3));
    }
}
