//! [`Available`]: the tools of a session as its turn sees them.

use reknit::json::{Object, Value};

use super::Mode;
use crate::question::Class;
use crate::tool::{Definition, Failure, Tools};
use crate::turn::{Catalog, Manner};
use crate::words;

pub(super) struct Available {
    pub(super) tools: Tools,
    pub(super) mode: Option<Mode>,
}

impl Available {
    pub(super) fn definitions(&self) -> impl Iterator<Item = &Definition> {
        self.tools.definitions().filter(|definition| self.is_allowed(&definition.name))
    }

    fn is_allowed(&self, name: &str) -> bool {
        self.mode.as_ref().is_none_or(|mode| mode.tools.iter().any(|tool| tool == name))
    }
}

impl Catalog for Available {
    fn check(&self, name: &str, arguments: &Value) -> Result<Manner, Failure> {
        let Some(tool) = self.tools.get(name) else {
            let names = self.definitions().map(|definition| &*definition.name);
            return Err(Failure::mistake(words::unknown_tool(name, names)));
        };
        if let Some(mode) = &self.mode
            && !self.is_allowed(name)
        {
            return Err(Failure::mistake(words::not_allowed(name, &mode.name)));
        }
        let definition = tool.definition();
        let Value::Object(args) = arguments else {
            return Err(Failure::mistake("The arguments of the call are not an object."));
        };
        definition.check(args)?;
        Ok(match definition.class {
            Class::Read => Manner::Together,
            _ if definition.completes => Manner::Last,
            _ => Manner::Alone,
        })
    }

    fn describe(&self, name: &str, arguments: Option<&Value>) -> String {
        match (self.tools.get(name), arguments) {
            (Some(tool), Some(Value::Object(args))) => tool.describe(args),
            (Some(tool), _) => tool.describe(&Object::new()),
            (None, _) => format!("[{name}]"),
        }
    }
}
