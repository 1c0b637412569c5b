//! The configuration file.

use super::*;

/// The whole file. What is not known is an error: a name that is written wrongly would have no effect.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(default)]
    pub(super) default: Option<String>,
    #[serde(default)]
    pub(super) models: BTreeMap<String, Named>,
}

/// A model in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Named {
    dialect: String,
    model: String,
    #[serde(default)]
    base_url: Option<String>,
    #[serde(default)]
    key_env: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, Header>,
    #[serde(default)]
    context_window: Option<u64>,
    #[serde(default)]
    max_output: Option<u64>,
    #[serde(default)]
    price: Option<Price>,
    #[serde(default)]
    tags: Option<String>,
    #[serde(default)]
    body: Option<serde_json::Map<String, serde_json::Value>>,
    #[serde(default)]
    timeouts: Timeouts,
}

/// The value of a header: as it is, or in a variable.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Header {
    Text(String),
    Variable { env: String },
}

/// In seconds.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Timeouts {
    connect: Option<f64>,
    first_byte: Option<f64>,
    silence: Option<f64>,
}

impl Named {
    pub(super) fn is(&self, dialect: &str, id: &str) -> bool {
        self.dialect == dialect && self.model == id
    }

    pub(super) fn model(&self, name: &str, environment: Environment<'_>) -> Result<Model, Error> {
        let wrong =
            |member: &str, why: String| Error::Configuration(format!("model `{name}`: `{member}`: {why}"));
        let known = self.dialect.parse().ok().and_then(Known::of_dialect);
        let known = known.ok_or_else(|| {
            wrong(
                "dialect",
                format!(
                    "there is no dialect `{}` for requests; use `anthropic`, `openai-chat`, `openai-responses`, `gemini` or `ollama`",
                    self.dialect
                ),
            )
        })?;
        let dialect = self
            .dialect
            .parse()
            .map_err(|error: reknit::wire::UnknownName| wrong("dialect", error.to_string()))?;
        let key = match &self.key_env {
            Some(variable) => match environment(variable) {
                Some(key) => Key::Found { variable: variable.clone(), secret: Secret::new(key) },
                None => Key::Missing { variable: variable.clone() },
            },
            // A server of one's own often needs none, and must not get the key of another.
            None if self.base_url.is_some() => Key::NotNeeded,
            None => known.key(environment),
        };
        let mut headers = Vec::new();
        for (header, value) in &self.headers {
            let value = match value {
                Header::Text(text) => text.clone(),
                Header::Variable { env } => environment(env)
                    .ok_or_else(|| Error::NoKey { name: name.to_owned(), variable: env.clone() })?,
            };
            headers.push((header.clone(), Secret::new(value)));
        }
        let tags = match &self.tags {
            None => None,
            Some(tags) => Some(profile(tags).ok_or_else(|| {
                let names: Vec<_> = tags::profiles().iter().map(|profile| &*profile.name).collect();
                wrong("tags", format!("there is no profile `{tags}`; use one of: {}", names.join(", ")))
            })?),
        };
        let seconds = |member: &str, seconds: Option<f64>| match seconds {
            None => Ok(None),
            Some(seconds) => match Duration::try_from_secs_f64(seconds) {
                Ok(wait) if !wait.is_zero() => Ok(Some(wait)),
                _ => Err(wrong(member, "not a number of seconds above zero".to_owned())),
            },
        };
        let Timeouts { connect, first_byte, silence } = self.timeouts;
        let waits = Waits {
            connect: seconds("timeouts.connect", connect)?,
            first_byte: seconds("timeouts.first_byte", first_byte)?,
            silence: seconds("timeouts.silence", silence)?,
        };
        let body = match Value::from(serde_json::Value::Object(self.body.clone().unwrap_or_default())) {
            Value::Object(body) => body,
            _ => Object::new(),
        };
        Ok(Model {
            name: name.to_owned(),
            dialect,
            id: self.model.clone(),
            base_url: self.base_url.clone().unwrap_or_else(|| known.base_url(environment)),
            key,
            headers,
            context_window: self.context_window,
            max_output: self.max_output,
            price: self.price,
            tags,
            body,
            waits,
        })
    }

    /// The variables that its headers come from.
    pub(super) fn header_variables(&self) -> impl Iterator<Item = &str> {
        self.headers.values().filter_map(|header| match header {
            Header::Variable { env } => Some(&**env),
            Header::Text(_) => None,
        })
    }

    pub(super) fn key_variable(&self) -> Option<&str> {
        self.key_env.as_deref()
    }
}

/// What is wrong with a file, and where.
pub(super) fn words(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    let message = error.message().trim_end();
    line.map_or_else(|| message.to_owned(), |line| format!("line {line}: {message}"))
}
