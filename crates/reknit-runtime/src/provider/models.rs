//! [`Models`]: the models that can be used, from a configuration file and the environment.
//!
//! ```toml
//! default = "sonnet"
//!
//! [models.sonnet]
//! dialect = "anthropic"
//! model = "claude-sonnet-5-5"
//! context_window = 200_000
//! price = { input = 3.0, output = 15.0, cache_read = 0.3, cache_write = 3.75 }
//! body = { thinking = { type = "adaptive" } }
//!
//! [models.local]
//! dialect = "openai-chat"
//! model = "qwen3-coder"
//! base_url = "http://127.0.0.1:8080/v1"
//! headers = { "x-team" = "search", "x-gateway-key" = { env = "GATEWAY_KEY" } }
//! tags = "roo"
//! ```
//!
//! Without a file, the usual variables name a provider: `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GEMINI_API_KEY` and
//! `OLLAMA_HOST`. A model that is not in the file is named by its provider and its own name, such as
//! `anthropic/claude-opus-5-5`.

use reknit::Hint;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use reknit::json::{Object, Value};
use reknit::tags::{Grammar, profile};
use reknit::{Dialect, tags};
use serde::Deserialize;

use super::Price;

mod file;
mod known;

use file::{File, Named};
use known::Known;

/// Reads a variable of the environment. Empty ones do not count.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The models that can be used.
#[derive(Clone, Debug)]
pub struct Models {
    default: Option<String>,
    models: BTreeMap<String, Named>,
}

/// A model, and how it is reached.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Model {
    /// Its name in the configuration, or that of its provider and its own.
    pub name: String,
    /// The dialect of its requests and replies.
    pub dialect: Dialect,
    /// The provider's name for it.
    pub id: String,
    /// Where requests go, without the path of the dialect.
    pub base_url: String,
    /// Its key.
    pub key: Key,
    /// Further headers of every request.
    pub headers: Vec<(String, Secret)>,
    /// How many tokens a request and its reply may have together.
    pub context_window: Option<u64>,
    /// How many tokens a reply may have.
    pub max_output: Option<u64>,
    /// What its tokens cost.
    pub price: Option<Price>,
    /// The profile of the calls that it writes into its text, if it has no calls of its own.
    pub tags: Option<&'static Grammar>,
    /// Further members of the body of every request, in the words of its provider.
    pub body: Object,
    /// How long to wait.
    pub waits: Waits,
}

/// How long to wait for a provider. What is not given is up to the session.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Waits {
    /// Until there is a connection.
    pub connect: Option<Duration>,
    /// Until the first byte of a reply.
    pub first_byte: Option<Duration>,
    /// Between two pieces of a reply.
    pub silence: Option<Duration>,
}

/// The key of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// It needs none.
    NotNeeded,
    /// It is there.
    Found {
        /// The variable that it is in.
        variable: String,
        /// The key.
        secret: Secret,
    },
    /// It is not there.
    Missing {
        /// The variable that it should be in.
        variable: String,
    },
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps a text from being shown.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[removed]")
    }
}

/// Why a model cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration is not what it should be.
    #[error("{0}")]
    Configuration(String),
    /// There is no model of this name.
    #[error("there is no model `{name}`")]
    Unknown {
        /// The name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// Nothing says which model to use.
    #[error("there is no model to work on this task")]
    NoModel,
    /// A model needs a key that is not there.
    #[error("the key of the model `{name}` is missing: `{variable}` is not set")]
    NoKey {
        /// The model.
        name: String,
        /// The variable that the key should be in.
        variable: String,
    },
    /// The address of a model cannot be used.
    #[error("the address of the model `{name}` cannot be used: {why}")]
    Address {
        /// The model.
        name: String,
        /// What is wrong with it.
        why: String,
    },
}

impl Hint for Error {
    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Configuration(_) => "correct the configuration file; `reknit models` shows what is in it".into(),
            Self::Unknown { known, .. } if known.is_empty() => {
                format!("name it by its provider, such as `anthropic/{}`", Known::Anthropic.model()).into()
            }
            Self::Unknown { known, .. } => format!("use one of: {}", known.join(", ")).into(),
            Self::NoModel => "set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or use `--model ollama/NAME` with a \
                              local Ollama; `reknit run --demo` needs none"
                .into(),
            Self::NoKey { variable, .. } => format!("export {variable} with the key of your provider").into(),
            Self::Address { .. } => "use an address such as https://api.example.org".into(),
        }
    }
}

impl Models {
    /// The models of a configuration file, if there is one.
    pub fn read(file: Option<&str>) -> Result<Self, Error> {
        let Some(text) = file else { return Ok(Self { default: None, models: BTreeMap::new() }) };
        let file: File =
            toml::from_str(text).map_err(|error| Error::Configuration(file::words(text, &error)))?;
        if let Some(default) = file.default.as_ref().filter(|name| !is_known(&file.models, name)) {
            return Err(Error::Configuration(format!("`default`: there is no model `{default}`")));
        }
        Ok(Self { default: file.default, models: file.models })
    }

    /// All models: those of the file, and then one of each provider that the environment has a key or an address of.
    pub fn list(&self, environment: Environment<'_>) -> Vec<Result<Model, Error>> {
        let named = self.models.iter().map(|(name, model)| model.model(name, environment));
        let known = Known::ALL.into_iter().filter(|known| known.is_set_up(environment));
        named.chain(known.map(|known| known.named(None, environment))).collect()
    }

    /// The model of this name; without one, the default of the file or of the environment.
    pub fn find(&self, name: Option<&str>, environment: Environment<'_>) -> Result<Model, Error> {
        let Some(name) = name.or(self.default.as_deref()) else { return self.usual(environment) };
        if let Some(named) = self.models.get(name) {
            return named.model(name, environment);
        }
        match Known::of_name(name) {
            Some((known, id)) => known.named(Some(id), environment),
            None => {
                let known = self.models.keys().cloned();
                let known = known.chain(Known::ALL.iter().map(|known| format!("{}/MODEL", known.name())));
                Err(Error::Unknown { name: name.to_owned(), known: known.collect() })
            }
        }
    }

    /// The model that a session used before, by what its log says about it.
    pub fn like(
        &self,
        dialect: &str,
        id: &str,
        environment: Environment<'_>,
    ) -> Option<Result<Model, Error>> {
        let is_it = |model: &Model| model.dialect.name() == dialect && model.id == id;
        let named = self.models.iter().find(|(_, named)| named.is(dialect, id));
        if let Some((name, named)) = named {
            return Some(named.model(name, environment));
        }
        let known = Known::ALL.into_iter().filter_map(|known| known.named(Some(id), environment).ok());
        known.into_iter().find(is_it).map(Ok)
    }

    /// The variables that the file names for keys and headers, which commands must not see.
    pub fn secret_variables(&self) -> Vec<String> {
        let named = self.models.values();
        let variables = named.flat_map(|named| named.header_variables().chain(named.key_variable()));
        variables.map(str::to_owned).collect()
    }

    fn usual(&self, environment: Environment<'_>) -> Result<Model, Error> {
        if let (1, Some((name, named))) = (self.models.len(), self.models.first_key_value()) {
            return named.model(name, environment);
        }
        let found = Known::ALL.into_iter().find(|known| known.is_set_up(environment));
        match found {
            Some(Known::Ollama) => Err(Error::Unknown {
                name: "ollama".to_owned(),
                known: vec!["ollama/NAME, with a name that `ollama list` prints".to_owned()],
            }),
            Some(known) => known.named(None, environment),
            None => Err(Error::NoModel),
        }
    }
}

fn is_known(models: &BTreeMap<String, Named>, name: &str) -> bool {
    models.contains_key(name) || Known::of_name(name).is_some()
}

#[cfg(test)]
mod tests;
