//! `reknit tools`: a model's text to the calls and the thinking in it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::Args;
use reknit::Hint;
use reknit::diagnostic::Kind;
use reknit::event::End;
use reknit::tags::{Grammar, GrammarError, Tools, detect, profile, profile_source, profiles};

use crate::explain;
use crate::names::{OneOf, nearest};
use crate::outcome::{CommandError, Outcome};
use crate::pieces::{Pieces, Recut};
use crate::present::{Arriving, ReplyFeed, ReplyOutput, Source};
use crate::print::print_bytes;
use crate::print_message;
use crate::report::Report;

mod text;

pub(crate) use text::IDS;
use text::Text;

/// Find the tool calls and thinking that a model writes into its text, live
#[derive(Args)]
#[command(after_help = "\
Examples:
  reknit tools --profile cline answer.txt            the text and the calls, as they arrive
  reknit tools answer.txt                            the same, with the profile that fits best
  reknit tools --profile hermes --json answer.txt    blocks as one JSON object
  reknit tools --profile qwen3-coder --tools tools.json --json answer.txt
                                                     with values typed by the tools' schemas
  reknit tools --print-profile hermes >mine.toml     a profile, to start your own grammar from
  reknit tools --grammar mine.toml --json answer.txt    with your own grammar

Exit code: 0 every call is complete, 1 a call is cut or malformed, 2 usage or other error,
130 interrupted")]
pub(crate) struct Arguments {
    /// Text of the model; standard input if it is `-` or omitted
    file: Option<PathBuf>,

    /// How calls are written; `auto` reads the whole text first
    #[arg(long, value_name = "PROFILE", default_value = "auto", value_parser = PROFILES)]
    profile: String,

    /// Use your own grammar, in TOML, instead of a profile
    #[arg(long, value_name = "FILE", conflicts_with = "profile")]
    grammar: Option<PathBuf>,

    /// Print a profile, in TOML, to start your own grammar from
    #[arg(long, value_name = "PROFILE", conflicts_with_all = ["grammar", "tools", "json", "ndjson", "display", "thinking"])]
    print_profile: Option<String>,

    /// The text starts inside the thinking, because the marker that opens it is in the prompt
    #[arg(long)]
    thinking: bool,

    /// Available tools: a JSON array of definitions (`name`, `parameters`)
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,

    /// Print the blocks as one JSON object
    #[arg(long, conflicts_with = "ndjson")]
    json: bool,

    /// Print every change as it arrives, one JSON object per line
    #[arg(long)]
    ndjson: bool,

    /// Show text without thinking tags, and without an incomplete tag at its end
    #[arg(long, conflicts_with = "ndjson")]
    display: bool,

    /// Feed the input cut at pseudo-random bytes, or `bytes` for single bytes
    #[arg(long, value_name = "SEED")]
    recut: Option<Recut>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, CommandError> {
    if let Some(name) = &arguments.print_profile {
        return print_profile(name);
    }
    let tools = arguments.tools.as_deref().map(read_tools).transpose()?;
    let own = arguments.grammar.as_deref().map(read_grammar).transpose()?;
    let mut pieces = Pieces::open_raw(arguments.file.as_deref(), arguments.recut)?;
    // Pieces that were read to find the profile.
    let mut held: Vec<Vec<u8>> = Vec::new();
    let grammar = match &own {
        Some(own) => own,
        None if arguments.profile == "auto" => {
            while let Some(piece) = pieces.next()? {
                held.push(piece.to_owned());
            }
            let found = detect(&String::from_utf8_lossy(&held.concat()), tools.as_ref());
            print_message(format_args!("profile: {}, because {}", found.grammar.name, found.why));
            found.grammar
        }
        None => named(&arguments.profile)?,
    };
    let thinking = arguments.thinking.then(|| in_thinking(grammar)).transpose()?;
    let grammar = thinking.as_ref().unwrap_or(grammar);
    let mut text = Text::new(arguments, grammar, tools.as_ref()).map_err(|error| wrong_grammar(&error))?;
    let display = Some(grammar).filter(|_| arguments.display);
    let mut output = ReplyOutput::new(match *arguments {
        Arguments { json: true, .. } => Arriving::Nothing,
        Arguments { ndjson: true, .. } => Arriving::Changes,
        _ => {
            let display = display.cloned().map(Box::new);
            let source = Source::Text { profile: grammar.name.clone(), display };
            Arriving::Shown(Box::new(ReplyFeed::new(source)))
        }
    });
    for piece in &held {
        text.push(piece, &mut output)?;
    }
    while !text.is_full()
        && let Some(piece) = output.next(&mut pieces)?
    {
        text.push(piece, &mut output)?;
    }
    text.finish(display, &mut output)?;
    if pieces.is_interrupted() {
        output.interrupt();
    }
    output.finish()?;
    if pieces.is_interrupted() {
        return Ok(Outcome::Interrupted);
    }
    Ok(close(&text, arguments))
}

/// Prints the TOML of a profile.
fn print_profile(name: &str) -> Result<Outcome, CommandError> {
    let grammar = named(name)?;
    let source = profile_source(&grammar.name).unwrap_or_default();
    print_bytes([source.as_bytes()].into_iter())?;
    Ok(Outcome::Done)
}

/// The same grammar for a text that starts inside the thinking.
fn in_thinking(grammar: &Grammar) -> Result<Grammar, CommandError> {
    grammar.clone().starting_in_thinking().ok_or_else(|| {
        let what = anyhow!("`{}` has no marker that ends thinking", grammar.name);
        let hint = "leave out `--thinking`, or use a profile or a grammar with `[reasoning]`";
        CommandError::with_hint(what, hint).explained_as(explain::WRONG_USE)
    })
}

/// Reports broken calls and diagnostics.
fn close(text: &Text, arguments: &Arguments) -> Outcome {
    let mut report = Report::default();
    text.calls().into_iter().for_each(|(name, end)| report_call(name, end, &mut report));
    let mut outcome = if report.is_empty() { Outcome::Done } else { Outcome::Partly };
    for diagnostic in text.diagnostics() {
        let limit = diagnostic.kind == Kind::LimitReached;
        if limit {
            outcome = Outcome::Partly;
        }
        if limit || !(arguments.json || arguments.ndjson) {
            let word = if limit { "error" } else { "warning" };
            let at = diagnostic.place().unwrap_or_default().at;
            let words = format!("{word}: byte {at}: {}\nhint: {}", diagnostic.message, diagnostic.hint());
            report.add(words, diagnostic.kind.name());
        }
    }
    report.print("; `--json` prints them all");
    outcome
}

/// Reports a call that is not whole.
pub(crate) fn report_call(name: &str, end: Option<End>, report: &mut Report) {
    let (how, kind) = match end {
        Some(End::Closed) => return,
        Some(End::Malformed) => ("malformed", Kind::MalformedArguments),
        Some(End::Cut) | None => ("cut: the text ended before the call did", Kind::CutArguments),
    };
    let hint = "do not run the call; ask for the answer again";
    let what = if name.is_empty() { "a call".to_owned() } else { format!("the call to `{name}`") };
    report.add(format!("error: {what} is {how}\nhint: {hint}"), kind.name());
}

/// The error of a grammar that cannot be used.
pub(crate) fn wrong_grammar(error: &GrammarError) -> CommandError {
    CommandError::of(error)
}

/// The names of the profiles, and `auto`.
const PROFILES: OneOf<String> =
    OneOf { names: profile_names, parse: |name| profile_names().contains(&name).then(|| name.to_owned()) };

pub(crate) fn profile_names() -> Vec<&'static str> {
    ["auto"].into_iter().chain(profiles().iter().map(|profile| &*profile.name)).collect()
}

/// The profile with this name.
pub(crate) fn named(name: &str) -> Result<&'static Grammar, CommandError> {
    profile(name).ok_or_else(|| {
        let names = profile_names();
        let meant = nearest(name, names.iter().copied());
        let meant = meant.map_or_else(String::new, |name| format!("did you mean `{name}`? "));
        let hint = format!("{meant}use one of {}", names.join(", "));
        CommandError::with_hint(anyhow!("there is no profile `{name}`"), hint)
            .explained_as(explain::WRONG_USE)
    })
}

fn read_tools(path: &Path) -> Result<Tools, CommandError> {
    let name = path.display();
    let source = fs::read_to_string(path).with_context(|| format!("cannot read `{name}`"))?;
    Tools::from_json(&source).map_err(|error| {
        let what = anyhow!("`{name}` is not a list of tools: {error}");
        let hint = "give a JSON array of objects with `name` and `parameters`";
        CommandError::with_hint(what, hint).explained_as(explain::WRONG_USE)
    })
}

fn read_grammar(path: &Path) -> Result<Grammar, CommandError> {
    let name = path.display();
    let source = fs::read_to_string(path).with_context(|| format!("cannot read `{name}`"))?;
    Grammar::from_toml(&source).map_err(|error| {
        let what = anyhow!("`{name}` is not a grammar: {error}");
        CommandError::with_hint(what, error.hint()).explained_as(explain::WRONG_USE)
    })
}
