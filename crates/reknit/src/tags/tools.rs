//! [`Tools`]: the tools that can be called, and the types of their parameters.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::Error as _;
use serde_json::Value as Json;

use crate::json::Value;

/// The tools that may be called, with the JSON schemas of their parameters.
///
/// With them, a value that is written as text gets the type that its tool expects, and a call of an unknown
/// tool is marked. With an empty list there are no calls at all.
///
/// ```
/// use reknit::tags::{Parser, Tools, profile};
///
/// let tools = Tools::from_json(r#"[{"name": "book", "parameters": {"properties": {"seats": {"type": "integer"}}}}]"#)?;
/// let mut parser = Parser::new(profile("qwen3-coder").unwrap(), Some(&tools))?;
/// parser.push("<tool_call><function=book><parameter=seats>2</parameter></function></tool_call>")?;
/// parser.finish();
/// assert_eq!(parser.calls().next().unwrap().args().to_string(), r#"{"seats":2}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tools {
    tools: BTreeMap<String, BTreeMap<String, Types>>,
}

/// How deep `anyOf` and the like may be nested. A schema is input, so the recursion needs a bound.
const MAX_CHOICE_DEPTH: usize = 8;

/// The JSON types that a value may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Types {
    string: bool,
    number: bool,
    boolean: bool,
    null: bool,
    /// An array or an object.
    nested: bool,
}

/// A definition in the form that providers accept, bare or inside `function`.
#[derive(Deserialize)]
struct Definition {
    name: Option<String>,
    #[serde(alias = "input_schema")]
    parameters: Option<Json>,
    function: Option<Box<Definition>>,
}

impl Tools {
    /// Parses a JSON array of definitions: `name` and `parameters` (or `input_schema`), bare or inside
    /// `function`.
    pub fn from_json(source: &str) -> Result<Self, serde_json::Error> {
        let definitions: Vec<Definition> = serde_json::from_str(source)?;
        let mut tools = BTreeMap::new();
        let has_definitions = !definitions.is_empty();
        for definition in definitions {
            let definition =
                definition.function.map_or(Definition { function: None, ..definition }, |inner| *inner);
            if let Some(name) = definition.name {
                tools.insert(name, types(definition.parameters.as_ref()));
            }
        }
        // What a provider runs itself may have no name. But without any tool nothing in a text is a call.
        if has_definitions && tools.is_empty() {
            return Err(serde_json::Error::custom("none of the tools has a `name`"));
        }
        Ok(Self { tools })
    }

    /// Whether there are no tools.
    pub(super) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Whether there is a tool of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }

    /// The types of a parameter, if a tool has one of this name.
    pub(super) fn types(&self, tool: &str, param: &str) -> Option<Types> {
        self.tools.get(tool)?.get(param).copied()
    }
}

/// Parses `text` as JSON of any type.
pub(super) fn untyped(text: &str, depth: usize) -> Option<Value> {
    let any = Types { string: true, number: true, boolean: true, null: true, nested: true };
    any.read_json(text.trim(), depth)
}

impl Types {
    /// Whether a value is always the text itself, even if that looks like another type. If not, its type is
    /// known only when it is complete.
    pub(super) fn is_text(self) -> bool {
        self.string && !self.nested
    }

    /// Whether a value cannot be a string.
    pub(super) fn refuse_text(self) -> bool {
        !self.string && self != Self::default()
    }

    /// Parses `text` as a value, unless that is a string.
    pub(super) fn read(self, text: &str, depth: usize) -> Option<Value> {
        let text = text.trim();
        if self.is_text() {
            return None;
        }
        self.read_json(text, depth).or(match text {
            "True" | "TRUE" if self.boolean => Some(Value::Bool(true)),
            "False" | "FALSE" if self.boolean => Some(Value::Bool(false)),
            "None" | "NULL" if self.null => Some(Value::Null),
            _ => None,
        })
    }

    fn read_json(self, text: &str, depth: usize) -> Option<Value> {
        let value = Value::parse(text, depth).ok()?;
        let fits = match &value {
            Value::Null => self.null,
            Value::Bool(_) => self.boolean,
            Value::Number(_) => self.number,
            Value::String(_) => self.string,
            Value::Array(_) | Value::Object(_) => self.nested,
        };
        fits.then_some(value)
    }

    /// Adds the types that a value may have by this schema, which is in `depth` choices.
    fn add(&mut self, schema: &Json, depth: usize) {
        let mut add = |name: &str| match name {
            "string" => self.string = true,
            "integer" | "number" => self.number = true,
            "boolean" => self.boolean = true,
            "null" => self.null = true,
            "array" | "object" => self.nested = true,
            _ => {}
        };
        match schema.get("type") {
            Some(Json::String(name)) => add(name),
            Some(Json::Array(names)) => names.iter().filter_map(Json::as_str).for_each(add),
            _ if depth == MAX_CHOICE_DEPTH => {}
            _ => {
                let choices = ["anyOf", "oneOf", "allOf"].map(|key| schema.get(key).and_then(Json::as_array));
                choices.into_iter().flatten().flatten().for_each(|choice| self.add(choice, depth + 1));
            }
        }
    }
}

fn types(schema: Option<&Json>) -> BTreeMap<String, Types> {
    let properties = schema.and_then(|schema| schema.get("properties")).and_then(Json::as_object);
    let of = |(name, schema): (&String, &Json)| {
        let mut types = Types::default();
        types.add(schema, 0);
        (name.clone(), types)
    };
    properties.into_iter().flatten().map(of).collect()
}
