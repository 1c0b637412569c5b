//! [`CallKind`]: a type of items that are calls, and where in the item everything is.

use super::Raw;
use crate::event::{Notation, Runner};
use crate::json::{Object, Value};

#[derive(Debug)]
pub(super) struct CallKind {
    pub(super) item: &'static str,
    runner: RunBy,
    pub(super) notation: Notation,
    arguments: &'static [Arguments],
    /// The members with the results of the call.
    pub(super) results: &'static [&'static str],
    /// The item with the result of a call that the provider ran, if it is an item of its own.
    pub(super) output: Option<Output>,
    /// Whether a request with the item is refused without its own id, which is accepted only after its reasoning.
    pub(super) needs_id: bool,
    pub(super) has_name: bool,
    /// What else a request has of the item.
    pub(super) fields: &'static [&'static str],
}

/// An item with the result of a call, as a request has it.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) item: &'static str,
    pub(super) members: &'static [&'static str],
}

/// Who carries out the calls of a kind.
#[derive(Debug)]
enum RunBy {
    Always(Runner),
    /// The provider, if the item says that it runs in a container.
    Environment,
    /// The client, if the item says so.
    Execution,
}

#[derive(Debug)]
enum Arguments {
    /// In a member, as text; some servers send an object instead.
    Text(&'static str),
    /// In a member that is an object. The member of it that grows must come in the order given here.
    Object(&'static str, Order),
    /// A member of the item is the only argument.
    Member(&'static str),
}

#[derive(Debug)]
enum Order {
    AsItIs,
    First(&'static str),
    Last(&'static str),
}

/// The member of `operation` that grows.
const DIFF: &str = "diff";

/// The fields of a call of a function, or of a tool that takes free text.
pub(super) const FUNCTION_FIELDS: &[&str] = &["namespace", "caller"];

pub(super) const SEARCH_OUTPUT: &str = "tool_search_output";

const CALLS: [CallKind; 13] = [
    CallKind {
        has_name: true,
        fields: FUNCTION_FIELDS,
        ..client("function_call", &[Arguments::Text("arguments")])
    },
    CallKind {
        notation: Notation::Plain,
        has_name: true,
        fields: FUNCTION_FIELDS,
        ..client("custom_tool_call", &[Arguments::Text("input")])
    },
    CallKind { needs_id: true, ..client("local_shell_call", &[Arguments::Object("action", Order::AsItIs)]) },
    CallKind {
        runner: RunBy::Environment,
        output: Some(Output {
            item: "shell_call_output",
            members: &["max_output_length", "output", "status"],
        }),
        fields: &["environment", "caller"],
        ..client("shell_call", &[Arguments::Object("action", Order::First("commands"))])
    },
    CallKind {
        fields: &["caller"],
        ..client("apply_patch_call", &[Arguments::Object("operation", Order::Last(DIFF))])
    },
    CallKind {
        needs_id: true,
        fields: &["pending_safety_checks"],
        ..client("computer_call", &[Arguments::Object("action", Order::AsItIs), Arguments::Member("actions")])
    },
    CallKind {
        runner: RunBy::Execution,
        output: Some(Output { item: SEARCH_OUTPUT, members: &["execution", "tools", "status"] }),
        fields: &["execution"],
        ..client("tool_search_call", &[Arguments::Object("arguments", Order::AsItIs)])
    },
    // Searches have arguments at xAI and an action at OpenAI.
    CallKind {
        results: &["results"],
        ..provider(
            "web_search_call",
            &[Arguments::Object("action", Order::AsItIs), Arguments::Text("arguments")],
        )
    },
    CallKind { results: &["results"], ..provider("file_search_call", &[Arguments::Member("queries")]) },
    CallKind {
        results: &["outputs"],
        fields: &["container_id"],
        ..provider("code_interpreter_call", &[Arguments::Member("code")])
    },
    CallKind { results: &["result"], ..provider("image_generation_call", &[]) },
    CallKind {
        results: &["output", "error"],
        has_name: true,
        fields: &["server_label", "approval_request_id"],
        ..provider("mcp_call", &[Arguments::Text("arguments")])
    },
    CallKind {
        output: Some(Output { item: "program_output", members: &["id", "result", "status"] }),
        fields: &["fingerprint"],
        ..provider("program", &[Arguments::Member("code")])
    },
];

const fn client(item: &'static str, arguments: &'static [Arguments]) -> CallKind {
    CallKind {
        item,
        runner: RunBy::Always(Runner::Client),
        notation: Notation::Json,
        arguments,
        results: &[],
        output: None,
        needs_id: false,
        has_name: false,
        fields: &[],
    }
}

const fn provider(item: &'static str, arguments: &'static [Arguments]) -> CallKind {
    CallKind { runner: RunBy::Always(Runner::Provider), needs_id: true, ..client(item, arguments) }
}

impl CallKind {
    pub(super) fn of(item: &str) -> Option<&'static Self> {
        CALLS.iter().find(|kind| kind.item == item)
    }

    /// The name of the tool if the item does not have one: `web_search` for a `web_search_call`.
    pub(super) fn tool(&self) -> &'static str {
        self.item.strip_suffix("_call").unwrap_or(self.item)
    }

    pub(super) fn runner(&self, item: Raw<'_>) -> Runner {
        let word = |key: &str, inner: Option<&str>| {
            let member = item.get(key)?;
            inner.map_or(Some(member), |inner| member.get(inner))?.string()
        };
        match self.runner {
            RunBy::Always(runner) => runner,
            RunBy::Environment => match word("environment", Some("type")).as_deref() {
                None | Some("local") => Runner::Client,
                Some(_) => Runner::Provider,
            },
            RunBy::Execution => match word("execution", None).as_deref() {
                Some("client") => Runner::Client,
                _ => Runner::Provider,
            },
        }
    }

    /// Who runs a call with these fields.
    pub(super) fn runner_of(&self, fields: &Object) -> Runner {
        self.runner(Raw::new(&Value::from(fields.clone()).to_string()))
    }

    /// The member of the item that is its arguments.
    pub(super) fn argument(&self, item: Raw<'_>) -> Option<&'static str> {
        let mut members = self.arguments.iter().map(Arguments::member);
        members.find(|member| item.get(member).is_some_and(|value| !value.is_null()))
    }

    /// The arguments of an item as one text; empty if it has no arguments.
    pub(super) fn arguments(&self, item: Raw<'_>) -> String {
        self.arguments.iter().find_map(|place| place.text(item)).unwrap_or_default()
    }

    /// Whether the call of a function, or of a tool that takes free text. Any other kind has to be named.
    pub(super) fn is_ordinary(&self) -> bool {
        matches!(self.item, "function_call" | "custom_tool_call")
    }

    /// Whether these arguments lack the member that is all there is of them. The item is refused without it.
    pub(super) fn lacks_argument(&self, arguments: &Object) -> bool {
        matches!(self.arguments, [Arguments::Member(key)] if arguments.get(key).is_none())
    }

    /// Puts arguments into an item, where its kind has them.
    pub(super) fn put(&self, arguments: &Object, item: &mut Object) {
        let fitting = self.arguments.iter().find(|place| place.fits(arguments));
        match fitting.or(self.arguments.first()) {
            Some(_) if self.arguments.len() > 1 && arguments.is_empty() => {}
            Some(Arguments::Text(key)) => {
                item.insert(*key, Value::from(arguments.clone()).to_string());
            }
            Some(Arguments::Object(key, _)) => drop(item.insert(*key, arguments.clone())),
            Some(Arguments::Member(key)) => {
                if let Some(value) = arguments.get(key) {
                    item.insert(*key, value.clone());
                }
            }
            None => {}
        }
    }
}

impl Arguments {
    /// Whether arguments look like those that are in this place.
    fn fits(&self, arguments: &Object) -> bool {
        match self {
            Self::Text(_) => true,
            Self::Object(..) => arguments.get("type").is_some(),
            Self::Member(key) => arguments.get(key).is_some(),
        }
    }

    fn member(&self) -> &'static str {
        let (Self::Text(member) | Self::Object(member, _) | Self::Member(member)) = self;
        member
    }

    fn text(&self, item: Raw<'_>) -> Option<String> {
        let value = item.get(self.member()).filter(|value| !value.is_null())?;
        if value.string_body().is_some() && !matches!(self, Self::Member(_)) {
            return value.owned_string();
        }
        let value = match value.exact() {
            Ok(value) => value,
            Err(_) if value.string_body().is_some() => value.value(),
            // Arguments that are nested too deep cannot be run; their text stays malformed.
            Err(_) => return Some(value.text().to_owned()),
        };
        Some(match (self, value) {
            (Self::Object(_, order), Value::Object(object)) => order.apply(object).to_string(),
            (Self::Member(key), value) => Value::from(Object::from_iter([(*key, value)])).to_string(),
            (_, value) => value.to_string(),
        })
    }
}

impl Order {
    fn apply(&self, object: Object) -> Value {
        let (first, last): (Vec<_>, Vec<_>) = object.into_iter().partition(|(key, _)| match self {
            Self::AsItIs => true,
            Self::First(first) => key == first,
            Self::Last(last) => key != last,
        });
        Value::from(Object::from_iter(first.into_iter().chain(last)))
    }
}

/// The kinds of events that bring a string inside the arguments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Inner {
    /// The code of an interpreter.
    Code,
    /// The diff of a patch.
    Diff,
    /// One of the commands for a shell.
    Command(u64),
}

impl Inner {
    /// The arguments up to the first character of the string; `start` is what the item began with.
    pub(super) fn opening(self, start: &str) -> String {
        match self {
            Self::Code => r#"{"code":""#.to_owned(),
            Self::Command(_) => r#"{"commands":[""#.to_owned(),
            Self::Diff => {
                let mut operation = match start.parse() {
                    Ok(Value::Object(operation)) => operation,
                    _ => Object::new(),
                };
                operation.remove(DIFF);
                operation.insert(DIFF, "");
                let mut text = Value::from(operation).to_string();
                text.truncate(text.len() - r#""}"#.len());
                text
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(item: &str) -> String {
        let raw = Raw::new(item);
        let kind = raw.get("type").and_then(Raw::owned_string).unwrap();
        CallKind::of(&kind).unwrap().arguments(raw)
    }

    #[test]
    fn arguments_are_found_where_each_call_has_them() {
        assert_eq!(arguments(r#"{"type":"function_call","arguments":"{\"a\":1}"}"#), r#"{"a":1}"#);
        assert_eq!(arguments(r#"{"type":"function_call","arguments":""}"#), "");
        assert_eq!(arguments(r#"{"type":"tool_search_call","arguments":{"paths":[]}}"#), r#"{"paths":[]}"#);
        assert_eq!(arguments(r#"{"type":"file_search_call","queries":["a"]}"#), r#"{"queries":["a"]}"#);
        assert_eq!(arguments(r#"{"type":"code_interpreter_call","code":"1"}"#), r#"{"code":"1"}"#);
        assert_eq!(arguments(r#"{"type":"web_search_call","arguments":"{}"}"#), "{}");
        assert_eq!(arguments(r#"{"type":"image_generation_call","result":"x"}"#), "");
    }

    #[test]
    fn what_cannot_be_parsed_is_kept_as_it_came() {
        let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(200), "]".repeat(200));
        assert_eq!(arguments(&format!(r#"{{"type":"tool_search_call","arguments":{deep}}}"#)), deep);
        let half = r#"{"type":"code_interpreter_call","code":"\ud83d"}"#;
        assert_eq!(arguments(half), "{\"code\":\"\u{fffd}\"}");
    }

    #[test]
    fn the_member_that_grows_comes_in_order() {
        let patch = r#"{"type":"apply_patch_call","operation":{"diff":"+a","path":"p"}}"#;
        assert_eq!(arguments(patch), r#"{"path":"p","diff":"+a"}"#);
        assert!(arguments(patch).starts_with(&Inner::Diff.opening(r#"{"diff":"","path":"p"}"#)));
        let shell = r#"{"type":"shell_call","action":{"timeout_ms":1,"commands":["ls"]}}"#;
        assert_eq!(arguments(shell), r#"{"commands":["ls"],"timeout_ms":1}"#);
        assert!(arguments(shell).starts_with(&Inner::Command(0).opening("")));
    }

    #[test]
    fn the_item_says_who_runs_it() {
        let runner = |item: &str| {
            let raw = Raw::new(item);
            CallKind::of(&raw.get("type").and_then(Raw::owned_string).unwrap()).unwrap().runner(raw)
        };
        assert_eq!(runner(r#"{"type":"shell_call"}"#), Runner::Client);
        assert_eq!(runner(r#"{"type":"shell_call","environment":{"type":"local"}}"#), Runner::Client);
        let container = r#"{"type":"shell_call","environment":{"type":"container_reference"}}"#;
        assert_eq!(runner(container), Runner::Provider);
        assert_eq!(runner(r#"{"type":"tool_search_call","execution":"client"}"#), Runner::Client);
        assert_eq!(runner(r#"{"type":"tool_search_call","execution":"server"}"#), Runner::Provider);
        assert_eq!(runner(r#"{"type":"mcp_call"}"#), Runner::Provider);
    }
}
