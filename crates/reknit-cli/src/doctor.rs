//! `reknit doctor`: whether everything that a session needs is there, and what to do if it is not.

use reknit::Hint;
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context;
use clap::Args;
use reknit_runtime::provider::http;
use reknit_runtime::provider::models::{Key, Model};
use serde::Serialize;
use tokio::runtime;

use crate::configuration::{self, variable};
use crate::files::open_journal;
use crate::outcome::{CommandError, Outcome};
use crate::print::print_json;
use crate::run::open_store;
use crate::view::{Style, Terminal};

/// Check the set-up of `run`: keys, addresses, files, and what to do about them
#[derive(Args)]
#[command(after_help = "\
It asks the address of each model whether anything answers there. It sends no key and no request to a model.

Exit code: 0 everything is there, 1 something is missing, 2 usage or other error")]
pub(crate) struct Arguments {
    /// Print the checks as one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    checks: Vec<Check>,
}

/// What was looked at, and what came of it.
#[derive(Serialize)]
struct Check {
    what: String,
    state: State,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Good,
    /// It works, but one should know it.
    Note,
    Bad,
}

impl Check {
    fn good(what: impl Into<String>, found: impl Into<String>) -> Self {
        Self { what: what.into(), state: State::Good, found: found.into(), hint: None }
    }

    fn note(what: impl Into<String>, found: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), state: State::Note, found: found.into(), hint: Some(hint.into()) }
    }

    fn bad(what: impl Into<String>, found: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), state: State::Bad, found: found.into(), hint: Some(hint.into()) }
    }

    fn failed(what: &str, error: &CommandError) -> Self {
        let (found, hint, _) = error.parts();
        Self { what: what.to_owned(), state: State::Bad, found, hint }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, CommandError> {
    let runtime =
        runtime::Builder::new_current_thread().enable_all().build().context("cannot start the runtime")?;
    let mut checks = vec![configuration_file()];
    let models = models(&mut checks);
    runtime.block_on(addresses(&models, &mut checks));
    checks.extend([journal(), store(), git(), sandbox()]);
    let is_good = checks.iter().all(|check| check.state != State::Bad);
    let mut out = BufWriter::new(io::stdout().lock());
    if arguments.json {
        print_json(&mut out, &Report { checks })?;
    } else {
        print(&checks, &mut out)?;
    }
    out.flush()?;
    Ok(if is_good { Outcome::Done } else { Outcome::Partly })
}

fn print(checks: &[Check], out: &mut impl Write) -> io::Result<()> {
    let terminal = Terminal::on_stdout_or_coloured();
    let paint =
        |style, text: &str| terminal.map_or_else(|| text.to_owned(), |terminal| terminal.paint(style, text));
    let width = checks.iter().map(|check| check.what.len()).max().unwrap_or_default();
    for Check { what, state, found, hint } in checks {
        let (style, word) = match state {
            State::Good => (Style::Good, "ok  "),
            State::Note => (Style::Warning, "note"),
            State::Bad => (Style::Bad, "bad "),
        };
        writeln!(out, "{}  {what:width$}  {found}", paint(style, word))?;
        if let Some(hint) = hint {
            writeln!(out, "      {:width$}  hint: {hint}", "")?;
        }
    }
    Ok(())
}

fn configuration_file() -> Check {
    const WHAT: &str = "configuration";
    match (configuration::file(), configuration::models()) {
        (Ok(file), Ok(_)) if file.exists() => Check::good(WHAT, file.display().to_string()),
        (Ok(file), Ok(_)) => Check::good(WHAT, format!("none; it would be `{}`", file.display())),
        (Err(error), _) | (_, Err(error)) => Check::failed(WHAT, &error),
    }
}

/// The models that can be asked for, with a check of each one's key.
fn models(checks: &mut Vec<Check>) -> Vec<Model> {
    let Ok(models) = configuration::models() else { return Vec::new() };
    let mut found = Vec::new();
    for model in models.list(&variable) {
        match model {
            Ok(model) => {
                let what = format!("model {}", model.name);
                checks.push(match &model.key {
                    Key::NotNeeded => Check::good(what, "needs no key"),
                    Key::Found { variable, .. } => Check::good(what, format!("{variable} is set")),
                    Key::Missing { variable } => Check::bad(
                        what,
                        format!("{variable} is not set"),
                        format!("export {variable} with the key of your provider"),
                    ),
                });
                found.push(model);
            }
            Err(error) => checks.push(Check::bad("model", error.to_string(), error.hint())),
        }
    }
    if found.is_empty() {
        checks.push(Check::bad(
            "models",
            "none is set up",
            "set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OLLAMA_HOST; `reknit models --help` shows the file",
        ));
    }
    found
}

/// Whether something answers at each address.
async fn addresses(models: &[Model], checks: &mut Vec<Check>) {
    let mut asked = BTreeSet::new();
    for model in models.iter().filter(|model| asked.insert(model.base_url.clone())) {
        let what = format!("address of {}", model.name);
        checks.push(match http::reach(model).await {
            Ok((address, status)) => Check::good(what, format!("{address} answers (HTTP {status})")),
            Err(error) => Check::bad(what, error.to_string(), unreachable_hint(model)),
        });
    }
}

fn unreachable_hint(model: &Model) -> String {
    let proxy = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy"];
    let proxy = proxy.into_iter().find(|name| variable(name).is_some());
    match proxy {
        Some(name) => format!("check the proxy in {name} and the address of the model"),
        None if model.dialect.name() == "ollama" => {
            "start it with `ollama serve`, or set OLLAMA_HOST".to_owned()
        }
        None => "check the network and the address; behind a proxy, set HTTPS_PROXY".to_owned(),
    }
}

fn journal() -> Check {
    const WHAT: &str = "journal";
    match open_journal(None) {
        Ok(journal) => written(WHAT, journal.folder()),
        Err(error) => Check::failed(WHAT, &error),
    }
}

/// Whether a file can be created in a folder.
fn written(what: &str, folder: &Path) -> Check {
    let probe = folder.join(format!("doctor-{}", std::process::id()));
    let tried = fs::write(&probe, b"").and_then(|()| fs::remove_file(&probe));
    match tried {
        Ok(()) => Check::good(what, folder.display().to_string()),
        Err(error) => Check::bad(
            what,
            format!("cannot write to `{}`: {error}", folder.display()),
            "make it writable, or set XDG_STATE_HOME to a folder that is",
        ),
    }
}

fn store() -> Check {
    const WHAT: &str = "sessions";
    match open_store() {
        Ok(_) => Check::good(WHAT, "the log can be opened"),
        Err(error) => Check::failed(WHAT, &error),
    }
}

fn git() -> Check {
    let version = Command::new("git").arg("--version").stderr(Stdio::null()).output();
    let here =
        env::current_dir().is_ok_and(|folder| folder.ancestors().any(|folder| folder.join(".git").exists()));
    match version {
        Ok(output) if output.status.success() => {
            let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            if here {
                return Check::good("git", version);
            }
            let hint = "`reknit undo` takes edits back, but not what commands change: keep your files in a repository";
            Check::note("git", format!("{version}; this directory is not in a repository"), hint)
        }
        _ => Check::note(
            "git",
            "not installed",
            "install it: what commands change can be taken back only with it",
        ),
    }
}

fn sandbox() -> Check {
    Check::note("sandbox", "commands run with your rights", "each command is shown before it runs: read it")
}
