//! Values that came after their place in the text had passed.

use std::collections::BTreeMap;

use super::path::Step;
use crate::json::Value;

#[derive(Clone, Debug)]
pub(super) struct Late {
    pub(super) path: Vec<Step>,
    pub(super) json: String,
    /// Whether it continues the string that is there.
    pub(super) appends: bool,
}

/// A value that others can be put into.
#[derive(Debug)]
pub(super) enum Node {
    Leaf(String),
    /// A container; its steps say of which kind.
    Inner(BTreeMap<Step, Node>),
}

impl Node {
    pub(super) fn new(value: Value) -> Self {
        match value {
            Value::Object(object) => {
                Self::inner(object.into_iter().map(|(key, value)| (Step::Key(key), value)))
            }
            Value::Array(elements) => Self::inner(
                elements.into_iter().enumerate().map(|(index, value)| (Step::Index(index), value)),
            ),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                Self::Leaf(value.to_string())
            }
        }
    }

    fn inner(values: impl Iterator<Item = (Step, Value)>) -> Self {
        // Not collected, which would sort them first.
        let mut children = BTreeMap::new();
        children.extend(values.map(|(step, value)| (step, Self::new(value))));
        Self::Inner(children)
    }

    pub(super) fn child(&self, step: &Step) -> Option<&Self> {
        match self {
            Self::Inner(children) => children.get(step),
            Self::Leaf(_) => None,
        }
    }

    /// Puts a value in its place, and replaces what does not fit.
    pub(super) fn set(&mut self, late: Late) {
        let node = late.path.into_iter().fold(self, |node, step| {
            let children = node.children_like(&step);
            children.entry(step).or_insert_with(|| Self::Leaf(String::new()))
        });
        match node {
            Self::Leaf(json) if late.appends && json.ends_with('"') => {
                json.pop();
                json.push_str(&late.json[1..]);
            }
            node => *node = Self::Leaf(late.json),
        }
    }

    /// Writes it as JSON. Returns `false` if elements of an array are missing; the others move up.
    pub(super) fn write(&self, out: &mut String) -> bool {
        let children = match self {
            Self::Leaf(json) => {
                out.push_str(json);
                return true;
            }
            Self::Inner(children) => children,
        };
        let is_array = matches!(children.first_key_value(), Some((Step::Index(_), _)));
        let mut whole = true;
        out.push(if is_array { '[' } else { '{' });
        for (position, (step, child)) in children.iter().enumerate() {
            if position > 0 {
                out.push(',');
            }
            match step {
                Step::Key(key) => {
                    out.push_str(&Value::from(&**key).to_string());
                    out.push(':');
                }
                Step::Index(index) => whole &= *index == position,
            }
            whole &= child.write(out);
        }
        out.push(if is_array { ']' } else { '}' });
        whole
    }

    /// Its children; cleared if they have steps of another kind.
    fn children_like(&mut self, step: &Step) -> &mut BTreeMap<Step, Self> {
        let fits = match self {
            Self::Leaf(_) => false,
            Self::Inner(children) => children.keys().next().is_none_or(|first| {
                matches!((first, step), (Step::Key(_), Step::Key(_)) | (Step::Index(_), Step::Index(_)))
            }),
        };
        if !fits {
            *self = Self::Inner(BTreeMap::new());
        }
        match self {
            Self::Inner(children) => children,
            Self::Leaf(_) => unreachable!("it was made a container right above"),
        }
    }
}
