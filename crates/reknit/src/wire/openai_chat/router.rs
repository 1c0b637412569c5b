//! [`Router`]: which call a fragment of a tool call belongs to.
//!
//! The format gives every call an `index`, and its first fragment an `id`. Compatible servers omit either one,
//! use one index for several calls, send a new id with every fragment, or send the string `"null"`.

use std::collections::BTreeMap;

use crate::json::{EndFinder, Object, Value};
use crate::wire::native_members::put_all;

/// A piece of a tool call, as a delta has it.
#[derive(Clone, Debug, Default)]
pub(super) struct Fragment<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: Option<&'a str>,
    pub(super) name: Option<&'a str>,
    pub(super) arguments: &'a str,
}

#[derive(Debug, PartialEq)]
pub(super) enum Route {
    /// It begins a call with these arguments, and with the other members that were held for it.
    New { call: usize, arguments: String, others: Object },
    /// It continues a call.
    Known { call: usize, renamed: bool },
    /// It is kept until the name of its call comes; its other members go to [`Router::hold`].
    Held,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Router {
    calls: Vec<Call>,
    by_id: BTreeMap<String, usize>,
    by_index: BTreeMap<u64, usize>,
    /// Fragments without a name, by index. A call begins with its name.
    held: BTreeMap<Option<u64>, Held>,
}

/// The identity of a call, as far as it is known.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// The id that the server sent, if any.
    pub(super) id: Option<String>,
    pub(super) name: String,
    /// Whether an earlier call has the same id, so that a result could not say which one it is for.
    shares_id: bool,
    /// The index that it began with, if any.
    index: Option<u64>,
    arguments: Arguments,
}

/// How far the arguments of a call are.
#[derive(Clone, Debug)]
enum Arguments {
    Growing(EndFinder),
    /// Their JSON is complete: only whitespace may follow.
    Over,
}

#[derive(Clone, Debug, Default)]
struct Held {
    id: Option<String>,
    arguments: String,
    others: Object,
}

impl Router {
    pub(super) fn route(&mut self, fragment: &Fragment<'_>) -> Route {
        let id = fragment.id.filter(|id| !id.is_empty() && *id != "null");
        let name = fragment.name.filter(|name| !name.is_empty());
        let there = match fragment.index {
            Some(index) => self.by_index.get(&index).copied(),
            None => self.calls.len().checked_sub(1),
        };
        let same_id = there.filter(|&call| id.is_some() && self.calls[call].id.as_deref() == id);
        if let Some(call) = same_id.or_else(|| self.with_id(id?, fragment, name)) {
            return self.go_on(call, None, name, fragment.arguments);
        }
        match (there, name) {
            (Some(call), None) => self.go_on(call, id, None, fragment.arguments),
            (Some(call), Some(name)) if self.calls[call].continues(id, name, fragment.arguments) => {
                self.go_on(call, id, Some(name), fragment.arguments)
            }
            (_, Some(name)) => self.begin(fragment.index, id, name, fragment.arguments),
            (None, None) => {
                let held = self.held.entry(fragment.index).or_default();
                held.id = held.id.take().or(id.map(str::to_owned));
                held.arguments.push_str(fragment.arguments);
                Route::Held
            }
        }
    }

    /// The call that a fragment with a known id continues. Some servers use one id for several calls: then the
    /// fragment has another index and begins a call.
    fn with_id(&self, id: &str, fragment: &Fragment<'_>, name: Option<&str>) -> Option<usize> {
        let call = *self.by_id.get(id)?;
        let known = &self.calls[call];
        let is_elsewhere = known.index.is_some() && fragment.index.is_some() && known.index != fragment.index;
        let begins = is_elsewhere && name.is_some_and(|name| !known.repeats(name, fragment.arguments));
        (!begins).then_some(call)
    }

    pub(super) fn call(&self, call: usize) -> &Call {
        &self.calls[call]
    }

    pub(super) fn calls(&self) -> &[Call] {
        &self.calls
    }

    pub(super) fn grow(&mut self, call: usize, arguments: &str) {
        self.calls[call].grow(arguments);
    }

    /// Keeps a member of a fragment that is held.
    pub(super) fn hold(&mut self, index: Option<u64>, key: &str, value: Value) {
        self.held.entry(index).or_default().others.insert(key, value);
    }

    /// The fragments that never became part of a call, with the length of their arguments in bytes.
    pub(super) fn take_held(&mut self) -> Vec<(usize, Value)> {
        let held = std::mem::take(&mut self.held).into_iter();
        held.map(|(index, held)| (held.arguments.len(), held.into_value(index))).collect()
    }

    fn begin(&mut self, index: Option<u64>, id: Option<&str>, name: &str, arguments: &str) -> Route {
        let call = self.calls.len();
        let held = self.held.remove(&index).unwrap_or_default();
        let id = id.map(str::to_owned).or(held.id);
        let shares_id = id.as_ref().is_some_and(|id| self.by_id.contains_key(id));
        if let Some(id) = id.as_ref().filter(|_| !shares_id) {
            self.by_id.insert(id.clone(), call);
        }
        if let Some(index) = index {
            self.by_index.insert(index, call);
        }
        let growing = Arguments::Growing(EndFinder::new());
        self.calls.push(Call { id, name: name.to_owned(), shares_id, index, arguments: growing });
        let arguments = held.arguments + arguments;
        self.calls[call].grow(&arguments);
        Route::New { call, arguments, others: held.others }
    }

    fn go_on(&mut self, call: usize, id: Option<&str>, name: Option<&str>, arguments: &str) -> Route {
        let known = &mut self.calls[call];
        let mut renamed = false;
        if let (None, Some(id)) = (&known.id, id) {
            known.id = Some(id.to_owned());
            self.by_id.insert(id.to_owned(), call);
            renamed = true;
        }
        if let Some(name) = name.filter(|name| *name != known.name)
            && known.has_no_arguments()
        {
            known.name.push_str(name);
            renamed = true;
        }
        known.grow(arguments);
        Route::Known { call, renamed }
    }
}

impl Held {
    /// Joins the fragments into one.
    fn into_value(self, index: Option<u64>) -> Value {
        let mut fragment = Object::new();
        if let Some(index) = index {
            fragment.insert("index", index);
        }
        if let Some(id) = self.id {
            fragment.insert("id", id);
        }
        if !self.arguments.is_empty() {
            let mut function = Object::new();
            function.insert("arguments", self.arguments);
            fragment.insert("function", function);
        }
        put_all(&mut fragment, self.others);
        Value::Object(fragment)
    }
}

impl Call {
    /// The id that the server sent, unless another call has it.
    pub(super) fn own_id(&self) -> Option<&str> {
        self.id.as_deref().filter(|_| !self.shares_id)
    }

    /// Whether a fragment with a name and no known id continues this call rather than begins another one.
    fn continues(&self, id: Option<&str>, name: &str, arguments: &str) -> bool {
        match (id, &self.id) {
            (Some(_), Some(_)) => false,
            // Only a call with an id may have a name in pieces. Without any ids, another name is another call.
            (None, None) => self.repeats(name, arguments),
            (Some(_), None) | (None, Some(_)) => self.repeats(name, arguments) || self.has_no_arguments(),
        }
    }

    /// Whether a fragment repeats the name of this call and continues its arguments.
    fn repeats(&self, name: &str, arguments: &str) -> bool {
        let fits = match &self.arguments {
            Arguments::Growing(_) => true,
            Arguments::Over => arguments.trim_ascii().is_empty(),
        };
        name == self.name && fits
    }

    fn has_no_arguments(&self) -> bool {
        matches!(&self.arguments, Arguments::Growing(nesting) if nesting.is_blank())
    }

    fn grow(&mut self, piece: &str) {
        if let Arguments::Growing(nesting) = &mut self.arguments
            && nesting.push(piece.as_bytes()).is_some()
        {
            self.arguments = Arguments::Over;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each fragment as (index, id, name, arguments); the calls as `id name arguments`.
    fn check(fragments: &[(Option<u64>, &str, &str, &str)], expected: &[&str]) {
        let mut router = Router::default();
        let mut arguments: Vec<String> = Vec::new();
        for &(index, id, name, piece) in fragments {
            let fragment = Fragment { index, id: Some(id), name: Some(name), arguments: piece };
            match router.route(&fragment) {
                Route::New { arguments: first, .. } => arguments.push(first),
                Route::Known { call, .. } => arguments[call].push_str(piece),
                Route::Held => {}
            }
        }
        let calls = router.calls.iter().zip(&arguments);
        let calls: Vec<_> = calls
            .map(|(call, arguments)| {
                format!("{} {} {arguments}", call.id.as_deref().unwrap_or("-"), call.name)
            })
            .collect();
        assert_eq!(calls, expected);
    }

    #[test]
    fn fragments_are_routed_by_index() {
        check(
            &[
                (Some(0), "a", "f", ""),
                (Some(2), "b", "g", ""),
                (Some(0), "", "", "{\"x\""),
                (Some(2), "", "", "{}"),
                (Some(0), "", "", ":1}"),
            ],
            &["a f {\"x\":1}", "b g {}"],
        );
    }

    #[test]
    fn a_new_id_and_name_on_a_used_index_is_a_new_call() {
        check(&[(Some(0), "a", "f", "{}"), (Some(0), "b", "f", "{}")], &["a f {}", "b f {}"]);
    }

    #[test]
    fn a_new_id_with_every_fragment_is_one_call() {
        let fragments = [(Some(0), "a", "f", "{"), (Some(0), "b", "", "\"x\":"), (Some(0), "c", "", "1}")];
        check(&fragments, &["a f {\"x\":1}"]);
    }

    #[test]
    fn without_ids_a_whole_argument_ends_a_call() {
        let fragments = [(Some(0), "null", "f", "{}"), (Some(0), "null", "f", "{\"x\":1}")];
        check(&fragments, &["- f {}", "- f {\"x\":1}"]);
        check(&[(None, "", "f", "{}"), (None, "", "g", "{}")], &["- f {}", "- g {}"]);
    }

    #[test]
    fn a_repeated_name_continues_the_call() {
        check(&[(Some(0), "", "f", "{\"x\""), (Some(0), "", "f", ":1}")], &["- f {\"x\":1}"]);
        check(&[(Some(0), "a", "f", "{"), (Some(0), "a", "f", "}")], &["a f {}"]);
    }

    #[test]
    fn a_name_may_come_in_pieces() {
        check(
            &[(Some(0), "a", "get_", ""), (Some(0), "", "weather", ""), (Some(0), "", "", "{}")],
            &["a get_weather {}"],
        );
    }

    #[test]
    fn without_an_index_a_fragment_continues_the_call_in_progress() {
        check(&[(None, "a", "f", "{"), (None, "", "", "}")], &["a f {}"]);
    }

    #[test]
    fn what_comes_before_the_name_is_kept_for_it() {
        check(&[(Some(0), "a", "", "{"), (Some(0), "", "f", "}")], &["a f {}"]);
    }

    #[test]
    fn without_ids_another_name_is_another_call() {
        check(&[(Some(0), "", "now", ""), (Some(0), "", "today", "")], &["- now ", "- today "]);
    }

    #[test]
    fn one_id_at_two_indexes_is_two_calls() {
        let fragments = [
            (Some(0), "a", "f", "{"),
            (Some(1), "a", "g", "{"),
            (Some(0), "a", "", "}"),
            (Some(1), "a", "", "}"),
            (Some(2), "a", "g", "{\"x\":1}"),
        ];
        check(&fragments, &["a f {}", "a g {}", "a g {\"x\":1}"]);
        let counted = [(Some(0), "a", "f", "{"), (Some(1), "a", "f", "}")];
        check(&counted, &["a f {}"]);
    }

    #[test]
    fn an_id_may_come_late() {
        check(
            &[(Some(0), "", "f", "{"), (Some(0), "a", "", "}"), (Some(1), "b", "f", "{}")],
            &["a f {}", "b f {}"],
        );
    }
}
