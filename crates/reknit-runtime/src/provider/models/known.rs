//! [`Known`]: the providers that need no configuration.

use reknit::Dialect;
use reknit::json::Object;

use super::{Environment, Error, Key, Model, Secret, Waits};

/// A provider that needs no configuration: its address is known, and its key is in a usual variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses; Chat Completions if `OPENAI_BASE_URL` names another server, which is what they imitate.
    OpenAi,
    /// OpenAI Chat Completions, wherever it is.
    OpenAiChat,
    /// Google's Gemini.
    Gemini,
    /// Ollama's own API.
    Ollama,
}

/// OpenAI's own address.
const OPENAI: &str = "https://api.openai.com/v1";

impl Known {
    /// All of them, in the order in which they are preferred.
    pub(super) const ALL: [Self; 5] =
        [Self::Anthropic, Self::OpenAi, Self::Gemini, Self::Ollama, Self::OpenAiChat];

    /// Its name, which comes before the name of a model: `anthropic/claude-opus-5-5`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::OpenAiChat => "openai-chat",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// The model that is used if none is named. Which models a local server has is not known.
    pub(super) fn model(self) -> &'static str {
        match self {
            Self::Anthropic => "claude-sonnet-5-5",
            Self::OpenAi | Self::OpenAiChat => "gpt-5.4",
            Self::Gemini => "gemini-3.8-flash",
            Self::Ollama => "",
        }
    }

    /// The variables that may have its key, the usual one first.
    pub(super) fn variables(self) -> &'static [&'static str] {
        match self {
            Self::Anthropic => &["ANTHROPIC_API_KEY"],
            Self::OpenAi | Self::OpenAiChat => &["OPENAI_API_KEY"],
            Self::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            Self::Ollama => &["OLLAMA_API_KEY"],
        }
    }

    /// The provider of a dialect.
    pub(super) fn of_dialect(dialect: Dialect) -> Option<Self> {
        match dialect {
            Dialect::Anthropic => Some(Self::Anthropic),
            Dialect::OpenAiResponses => Some(Self::OpenAi),
            Dialect::OpenAiChat => Some(Self::OpenAiChat),
            Dialect::Gemini => Some(Self::Gemini),
            Dialect::Ollama => Some(Self::Ollama),
            _ => None,
        }
    }

    /// The provider and the model of a name such as `openai/gpt-5.4`.
    pub(super) fn of_name(name: &str) -> Option<(Self, &str)> {
        let (provider, id) = name.split_once('/')?;
        let known = Self::ALL.into_iter().find(|known| known.name() == provider)?;
        (!id.is_empty()).then_some((known, id))
    }

    /// Whether the environment has its key or its address. Chat Completions are only used if they are named.
    pub(super) fn is_set_up(self, environment: Environment<'_>) -> bool {
        match self {
            Self::Ollama => environment("OLLAMA_HOST").is_some(),
            Self::OpenAiChat => false,
            _ => self.variables().iter().any(|variable| environment(variable).is_some()),
        }
    }

    /// Its address.
    pub(super) fn base_url(self, environment: Environment<'_>) -> String {
        let first = |variables: &[&str]| variables.iter().find_map(|variable| environment(variable));
        match self {
            Self::Anthropic => {
                first(&["ANTHROPIC_BASE_URL"]).unwrap_or_else(|| "https://api.anthropic.com".to_owned())
            }
            Self::OpenAi | Self::OpenAiChat => {
                first(&["OPENAI_BASE_URL"]).unwrap_or_else(|| OPENAI.to_owned())
            }
            Self::Gemini => first(&["GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"])
                .unwrap_or_else(|| "https://generativelanguage.googleapis.com".to_owned()),
            Self::Ollama => ollama_host(first(&["OLLAMA_HOST"]).as_deref().unwrap_or_default()),
        }
    }

    /// The first of its keys.
    pub(super) fn key(self, environment: Environment<'_>) -> Key {
        let found = self.variables().iter().find_map(|variable| Some((*variable, environment(variable)?)));
        match found {
            Some((variable, key)) => Key::Found { variable: variable.to_owned(), secret: Secret::new(key) },
            None if self == Self::Ollama => Key::NotNeeded,
            None => Key::Missing { variable: self.variables()[0].to_owned() },
        }
    }

    /// A model of it; without a name, the one that is used if none is named.
    pub(super) fn named(self, id: Option<&str>, environment: Environment<'_>) -> Result<Model, Error> {
        let base_url = self.base_url(environment);
        let dialect = match self {
            Self::Anthropic => Dialect::Anthropic,
            Self::OpenAi if base_url.trim_end_matches('/') == OPENAI => Dialect::OpenAiResponses,
            Self::OpenAi | Self::OpenAiChat => Dialect::OpenAiChat,
            Self::Gemini => Dialect::Gemini,
            Self::Ollama => Dialect::Ollama,
        };
        let id = id.unwrap_or(self.model());
        Ok(Model {
            name: format!("{}/{id}", self.name()),
            dialect,
            id: id.to_owned(),
            base_url,
            key: self.key(environment),
            headers: Vec::new(),
            context_window: None,
            max_output: None,
            price: None,
            tags: None,
            body: Object::new(),
            waits: Waits::default(),
        })
    }
}

/// The address of a server that `OLLAMA_HOST` names: its own client accepts a host, a port and a scheme, each of which
/// may be missing. A server that listens on all interfaces is reached on this machine.
fn ollama_host(host: &str) -> String {
    const PORT: &str = "11434";
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let rest = rest.trim_end_matches('/');
    let (name, port) = match rest.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => {
            (name, port)
        }
        _ if host.contains("://") && scheme == "https" => (rest, "443"),
        _ if host.contains("://") => (rest, "80"),
        _ => (rest, PORT),
    };
    let name = match name {
        "" | "0.0.0.0" | "[::]" => "127.0.0.1",
        name => name,
    };
    format!("{scheme}://{name}:{port}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_ollama_is_completed() {
        let check = |host: &str, expected: &str| assert_eq!(ollama_host(host), expected, "{host:?}");
        check("", "http://127.0.0.1:11434");
        check("0.0.0.0", "http://127.0.0.1:11434");
        check("0.0.0.0:9000", "http://127.0.0.1:9000");
        check("box", "http://box:11434");
        check("http://box:11434/", "http://box:11434");
        check("https://models.example.org", "https://models.example.org:443");
        check("http://box", "http://box:80");
        check("[::1]:11434", "http://[::1]:11434");
    }
}
