//! [`Options`]: what a caller may set, as JSON.

use reknit::tags::{Grammar, Tagger, Tools, profile, profiles};
use reknit::{Dialect, Limits};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::failure::{Failure, USAGE};
use crate::limits::LimitOptions;

/// What the ids of calls in a text start with, as on the command line.
const IDS: &str = "call_";

/// The options of a reply, and of a model's text.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Options {
    dialect: Option<String>,
    profile: Option<String>,
    grammar: Option<String>,
    /// Whether the text starts inside the thinking.
    thinking: bool,
    tools: Option<Box<RawValue>>,
    limits: LimitOptions,
}

impl Options {
    /// The dialect that is named; none if it is to be detected.
    pub(crate) fn dialect(&self) -> Result<Option<Dialect>, Failure> {
        match self.dialect.as_deref() {
            None | Some("auto") => Ok(None),
            Some(name) => {
                name.parse().map(Some).map_err(|error: reknit::wire::UnknownName| Failure::of(USAGE, &error))
            }
        }
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits.limits()
    }

    /// The grammar of calls in text, if any is named.
    pub(crate) fn grammar(&self) -> Result<Option<Grammar>, Failure> {
        let grammar = match (&self.profile, &self.grammar) {
            (Some(_), Some(_)) => {
                return Err(Failure::usage("both `profile` and `grammar` are set", "set one of them"));
            }
            (None, None) if self.thinking => {
                return Err(Failure::usage("`thinking` is set without a profile", "set `profile` as well"));
            }
            (None, None) => return Ok(None),
            (Some(name), None) => named(name)?.clone(),
            (None, Some(source)) => {
                Grammar::from_toml(source).map_err(|error| Failure::of("malformed-grammar", &error))?
            }
        };
        if !self.thinking {
            return Ok(Some(grammar));
        }
        let name = grammar.name.clone();
        grammar.starting_in_thinking().map(Some).ok_or_else(|| {
            let message = format!("`{name}` has no marker that ends thinking");
            Failure::usage(message, "leave out `thinking`, or use a profile that has such a marker")
        })
    }

    /// The tools that there are, if the caller lists them.
    pub(crate) fn tools(&self) -> Result<Option<Tools>, Failure> {
        self.tools.as_deref().map(|tools| tools_from(tools.get())).transpose()
    }

    /// The stage that finds calls in text, if a profile or a grammar is named.
    pub(crate) fn tagger(&self) -> Result<Option<Tagger>, Failure> {
        let (grammar, tools) = (self.grammar()?, self.tools()?);
        let tagger = grammar.map(|grammar| Tagger::new(&grammar, tools.as_ref(), IDS)).transpose();
        tagger.map_err(|error| Failure::of("malformed-grammar", &error))
    }
}

/// The profile with this name.
pub(crate) fn named(name: &str) -> Result<&'static Grammar, Failure> {
    profile(name).ok_or_else(|| {
        let names: Vec<_> = profiles().iter().map(|profile| &*profile.name).collect();
        Failure::usage(format!("there is no profile `{name}`"), format!("use one of {}", names.join(", ")))
    })
}

/// The tools in a JSON text.
pub(crate) fn tools_from(json: &str) -> Result<Tools, Failure> {
    Tools::from_json(json).map_err(|error| {
        let hint = "give an array of objects with `name` and `parameters`";
        Failure::usage(format!("`tools` is not a list of tools: {error}"), hint)
    })
}
