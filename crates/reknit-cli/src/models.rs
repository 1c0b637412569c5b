//! `reknit models`: which models can be used, and what is missing.

use reknit::Hint;
use std::io::{self, BufWriter, Write};

use clap::Args;
use reknit_runtime::provider::models::{Key, Model};
use serde::Serialize;

use crate::configuration::{self, variable};
use crate::outcome::{CommandError, Outcome};
use crate::print::print_json;
use crate::print_message;

/// List the models that `run` can use, and which keys are missing
#[derive(Args)]
#[command(after_help = "\
Examples:
  reknit models          the models of the configuration, and those that the environment has a key of
  reknit models --json   the same for programs

Models are configured in `$XDG_CONFIG_HOME/reknit/config.toml`, by default `~/.config/reknit/config.toml`:

  default = \"sonnet\"

  [models.sonnet]
  dialect = \"anthropic\"            # or openai-chat, openai-responses, gemini, ollama
  model = \"claude-sonnet-5-5\"
  base_url = \"https://…\"           # for a server that imitates one of them
  key_env = \"MY_KEY\"               # the variable that has the key
  context_window = 200000
  price = { input = 3.0, output = 15.0 }   # US dollars for a million tokens

Without it, ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY and OLLAMA_HOST are enough.
docs/sessions.md has all of it.

Exit code: 0 done, 1 none can be used, 2 usage or other error")]
pub(crate) struct Arguments {
    /// Print the list as one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Listing {
    models: Vec<Listed>,
}

#[derive(Serialize)]
struct Listed {
    name: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    default: bool,
    dialect: &'static str,
    model: String,
    base_url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<ListedKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_window: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<&'static str>,
}

#[derive(Serialize)]
struct ListedKey {
    variable: String,
    set: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, CommandError> {
    let models = configuration::models()?;
    let default = models.find(None, &variable).ok().map(|model| model.name);
    let mut listed = Vec::new();
    for model in models.list(&variable) {
        match model {
            Ok(model) => listed.push(Listed::of(model, default.as_deref())),
            Err(error) => print_message(format_args!("warning: {error}\nhint: {}", error.hint())),
        }
    }
    let is_usable = listed.iter().any(|model| model.key.as_ref().is_none_or(|key| key.set));
    let mut out = BufWriter::new(io::stdout().lock());
    if arguments.json {
        print_json(&mut out, &Listing { models: listed })?;
    } else {
        table(&listed, &mut out)?;
    }
    out.flush()?;
    drop(out);
    if !is_usable {
        let file = configuration::file()?;
        print_message(format_args!(
            "there is no model that can be used\n\
             hint: set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OLLAMA_HOST, or write `{}`",
            file.display()
        ));
    }
    Ok(if is_usable { Outcome::Done } else { Outcome::Partly })
}

impl Listed {
    fn of(model: Model, default: Option<&str>) -> Self {
        let key = match model.key {
            Key::NotNeeded => None,
            Key::Found { variable, .. } => Some(ListedKey { variable, set: true }),
            Key::Missing { variable } => Some(ListedKey { variable, set: false }),
        };
        Self {
            default: default == Some(&model.name),
            name: model.name,
            dialect: model.dialect.name(),
            model: model.id,
            base_url: without_user(&model.base_url),
            key,
            context_window: model.context_window,
            tags: model.tags.map(|grammar| &*grammar.name),
        }
    }
}

/// An address without user information, which may be a password.
fn without_user(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            let host = rest[..end].rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}{}", &rest[end..])
        }
        None => url.to_owned(),
    }
}

fn table(models: &[Listed], out: &mut impl Write) -> io::Result<()> {
    let width = |of: fn(&Listed) -> usize| models.iter().map(of).max().unwrap_or_default();
    let (name, dialect) = (width(|model| model.name.len()), width(|model| model.dialect.len()));
    for model in models {
        let mark = if model.default { "*" } else { " " };
        let key = match &model.key {
            None => "needs no key".to_owned(),
            Some(ListedKey { variable, set: true }) => format!("{variable} is set"),
            Some(ListedKey { variable, set: false }) => format!("{variable} is missing"),
        };
        writeln!(out, "{mark} {:name$}  {:dialect$}  {}  {key}", model.name, model.dialect, model.base_url)?;
    }
    Ok(())
}
