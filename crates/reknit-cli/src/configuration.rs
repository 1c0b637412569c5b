//! The configuration file, and the environment beside it.

use reknit::Hint;
use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;

use anyhow::anyhow;
use reknit_runtime::provider::models::{self, Models};

use crate::explain;
use crate::outcome::CommandError;

/// Where the file is: `$XDG_CONFIG_HOME/reknit/config.toml`, by default under `~/.config`.
pub(crate) fn file() -> Result<PathBuf, CommandError> {
    // The standard says that a path that is not absolute does not count.
    let folder = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")));
    let config = config.ok_or_else(|| {
        CommandError::with_hint(
            anyhow!("cannot find the configuration: there is no home directory"),
            "set HOME",
        )
    })?;
    Ok(config.join("reknit").join("config.toml"))
}

/// The models that are configured.
pub(crate) fn models() -> Result<Models, CommandError> {
    let path = file()?;
    let text = match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => {
            return Err(anyhow::Error::from(error)
                .context(format!("cannot read `{}`", path.display()))
                .into());
        }
    };
    Models::read(text.as_deref()).map_err(|error| {
        let what = anyhow!("`{}`: {error}", path.display());
        CommandError::with_hint(what, error.hint()).explained_as(explain::CONFIGURATION)
    })
}

/// A variable of the environment. An empty one counts as not set, as it does for most programs.
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

impl From<models::Error> for CommandError {
    fn from(error: models::Error) -> Self {
        let kind = match &error {
            models::Error::NoModel => explain::NO_MODEL,
            models::Error::NoKey { .. } => explain::NO_KEY,
            _ => explain::CONFIGURATION,
        };
        Self::of(&error).explained_as(kind)
    }
}
