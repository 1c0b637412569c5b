//! `reknit sessions`: the sessions of `reknit run`.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::time::{Duration, UNIX_EPOCH};

use anyhow::Context;
use clap::{Args, Subcommand};
use reknit_runtime::session::root_of;
use reknit_runtime::store::Store;
use serde::Serialize;
use tokio::runtime;

use crate::log::Time;
use crate::outcome::{CommandError, Outcome};
use crate::print::print_json;
use crate::print_message;
use crate::run::{Screen, existing_store, outputs, read_log};
use crate::view::one_line;

/// List, show and delete the sessions of `run`
#[derive(Args)]
#[command(after_help = "\
Examples:
  reknit sessions                     all sessions, the newest first
  reknit sessions show ID             a session as it was on the screen
  reknit sessions show ID --ndjson    the entries of its log, one JSON object per line
  reknit sessions delete ID           delete a session; the files that it changed stay, with their undo

Exit code: 0 done, 2 usage or other error")]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,

    /// Print the list as one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Show what happened in a session
    Show {
        /// The session
        #[arg(value_name = "ID")]
        id: String,

        /// Print the entries of its log, one JSON object per line
        #[arg(long)]
        ndjson: bool,
    },
    /// Delete a session and the output of its commands
    Delete {
        /// The session
        #[arg(value_name = "ID")]
        id: String,
    },
}

#[derive(Serialize)]
struct Listing<'a> {
    sessions: Vec<Listed<'a>>,
}

#[derive(Serialize)]
struct Listed<'a> {
    id: &'a str,
    created: Time,
    changed: Time,
    entries: u64,
    title: &'a str,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, CommandError> {
    let runtime = runtime::Builder::new_current_thread().build().context("cannot start the runtime")?;
    let store = existing_store()?;
    runtime.block_on(async {
        match &arguments.command {
            None => list(&*store, arguments.json).await,
            Some(Command::Show { id, ndjson }) => show(&*store, id, *ndjson).await,
            Some(Command::Delete { id }) => delete(&*store, id).await,
        }
    })?;
    Ok(Outcome::Done)
}

async fn list(store: &dyn Store, json: bool) -> Result<(), CommandError> {
    let sessions = store.sessions().await?;
    let mut out = BufWriter::new(io::stdout().lock());
    if json {
        let listed = sessions.iter().map(|session| Listed {
            id: &session.id,
            created: time(session.created),
            changed: time(session.changed),
            entries: session.entries,
            title: &session.title,
        });
        print_json(&mut out, &Listing { sessions: listed.collect() })?;
        return Ok(out.flush()?);
    }
    for session in &sessions {
        writeln!(out, "{}  {:#}  {}", session.id, time(session.changed), one_line(&session.title))?;
    }
    out.flush()?;
    if sessions.is_empty() {
        print_message(format_args!("there are no sessions yet; `reknit run` starts one"));
    }
    Ok(())
}

fn time(millis: u64) -> Time {
    Time(UNIX_EPOCH + Duration::from_millis(millis))
}

async fn show(store: &dyn Store, id: &str, ndjson: bool) -> Result<(), CommandError> {
    let entries = read_log(store, id).await?;
    let mut out = BufWriter::new(io::stdout().lock());
    // The files are no longer what they were, so what was new in a draft cannot be known.
    let mut screen = Screen::new(None);
    for stored in &entries {
        if ndjson {
            print_json(&mut out, &stored.entry)?;
        } else {
            screen.said(&stored.entry, &mut out)?;
            screen.push(&stored.entry, &mut out)?;
        }
    }
    out.flush()?;
    drop(out);
    if let Some(root) =
        entries.iter().filter_map(|stored| root_of(&stored.entry)).next_back().filter(|_| !ndjson)
    {
        print_message(format_args!("\nthe files are in   {}", root.display()));
    }
    Ok(())
}

async fn delete(store: &dyn Store, id: &str) -> Result<(), CommandError> {
    store.delete(id).await?;
    match fs::remove_dir_all(outputs(id)?) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(CommandError::from(
            anyhow::Error::from(error).context("cannot delete the output of its commands"),
        )),
        _ => Ok(()),
    }
}
