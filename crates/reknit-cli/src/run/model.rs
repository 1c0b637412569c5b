//! Who answers the requests of a session.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use reknit::agent::Body;
use reknit_runtime::provider::http::Recorder;
use reknit_runtime::provider::models::Waits;
use reknit_runtime::provider::recorded::Pace;
use reknit_runtime::provider::{Http, Provider, Replayed};
use reknit_runtime::session::Timeouts;
use reknit_runtime::store::Stored;

use super::Arguments;
use crate::configuration::{self, variable};
use crate::outcome::CommandError;

/// Who answers, and how long it may take.
pub(super) struct Chosen {
    pub(super) provider: Arc<dyn Provider>,
    pub(super) timeouts: Timeouts,
    /// Variables of the environment that commands must not see.
    pub(super) hidden: Vec<String>,
}

/// The provider of a session with this log, which may be empty.
pub(super) fn choose(arguments: &Arguments, log: &[Stored]) -> Result<Chosen, CommandError> {
    if let Some(file) = &arguments.replay {
        return replayed(file);
    }
    let models = configuration::models()?;
    // A session goes on with the model that it had, unless another one is named.
    let before = log.iter().rev().find_map(|stored| match &stored.entry.body {
        Body::Request { dialect, model } => Some((dialect, model)),
        _ => None,
    });
    let same = match (&arguments.model, before) {
        (None, Some((dialect, model))) => models.like(dialect, model, &variable),
        _ => None,
    };
    let model = same.unwrap_or_else(|| models.find(arguments.model.as_deref(), &variable))?;
    let timeouts = timeouts(model.waits);
    let mut http = Http::new(model)?;
    if let Some(file) = &arguments.record {
        http = http.recorded(recorder(file)?);
    }
    Ok(Chosen { provider: Arc::new(http), timeouts, hidden: models.secret_variables() })
}

fn timeouts(waits: Waits) -> Timeouts {
    let mut timeouts = Timeouts::default();
    timeouts.first_byte = waits.first_byte.unwrap_or(timeouts.first_byte);
    timeouts.silence = waits.silence.unwrap_or(timeouts.silence);
    timeouts
}

fn recorder(file: &Path) -> Result<Arc<Recorder>, CommandError> {
    Recorder::create(file).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            let what = anyhow!("`{}` already exists", file.display());
            CommandError::with_hint(what, "use another file name, or delete the file first")
        }
        io::ErrorKind::NotFound => {
            let what = anyhow!("cannot write `{}`: its folder does not exist", file.display());
            CommandError::with_hint(what, "create the folder first, or use another file name")
        }
        _ => anyhow::Error::from(error).context(format!("cannot write `{}`", file.display())).into(),
    })
}

fn replayed(file: &Path) -> Result<Chosen, CommandError> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    let replayed = Replayed::new(&text, Pace::AtOnce).map_err(|error| {
        let what = anyhow!("`{}`: {error}", file.display());
        CommandError::with_hint(what, "use a file that `reknit run --record` has written")
    })?;
    Ok(Chosen { provider: Arc::new(replayed), timeouts: Timeouts::default(), hidden: Vec::new() })
}
