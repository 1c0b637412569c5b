//! `reknit tools`: a model's text to the calls and the thinking in it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::Args;
use reknit::diagnostic::Kind;
use reknit::message::CallEnd;
use reknit::tags::{Grammar, Parser, Tools, detect, profile, profiles};

use crate::explain;
use crate::outcome::{Outcome, Trouble};
use crate::pieces::{Pieces, Recut};
use crate::tell;

mod flow;
mod live;
mod output;

use output::Output;

/// Find the tool calls and the thinking that a model writes into its text, live
#[derive(Args)]
#[command(after_help = "\
Examples:
  reknit tools --profile cline answer.txt            the text and the calls, as they arrive
  reknit tools answer.txt                            the same, with the profile that fits best
  reknit tools --profile hermes --json answer.txt    blocks as one JSON object
  reknit tools --profile qwen3-coder --tools tools.json --json answer.txt
                                                     values get the types of the tools' schemas
  reknit tools --grammar mine.toml --json answer.txt

Exit code: 0 every call is whole, 1 one is cut or malformed, 2 wrong use or trouble")]
pub(crate) struct Arguments {
    /// The text; standard input if it is `-` or left out
    file: Option<PathBuf>,

    /// How the model writes its calls; `auto` reads all of the text before it shows any
    #[arg(long, value_name = "PROFILE", default_value = "auto")]
    profile: String,

    /// A grammar of your own, in TOML, instead of a profile
    #[arg(long, value_name = "FILE", conflicts_with = "profile")]
    grammar: Option<PathBuf>,

    /// The tools there are: a JSON array of definitions (`name`, `parameters`)
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,

    /// Print the blocks as one JSON object
    #[arg(long, conflicts_with = "ndjson")]
    json: bool,

    /// Print every change as it comes, one JSON object a line
    #[arg(long)]
    ndjson: bool,

    /// Show text without the tags of thinking, and without half a tag at its end
    #[arg(long, conflicts_with = "ndjson")]
    display: bool,

    /// Feed the input cut at pseudo-random bytes, or `bytes` for one byte at a time
    #[arg(long, value_name = "SEED")]
    recut: Option<Recut>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Trouble> {
    let tools = arguments.tools.as_deref().map(read_tools).transpose()?;
    let own = arguments.grammar.as_deref().map(read_grammar).transpose()?;
    let mut pieces = Pieces::open_raw(arguments.file.as_deref(), arguments.recut)?;
    // Pieces that were read before the profile was known.
    let mut held: Vec<Vec<u8>> = Vec::new();
    let grammar = match &own {
        Some(own) => own,
        None if arguments.profile == "auto" => {
            while let Some(piece) = pieces.next()? {
                held.push(piece.to_owned());
            }
            let found = detect(&String::from_utf8_lossy(&held.concat()), tools.as_ref());
            tell(format_args!("profile: {}, because {}", found.grammar.name, found.why));
            found.grammar
        }
        None => named(&arguments.profile)?,
    };
    let parser = Parser::new(grammar, tools.as_ref());
    let mut parser = parser.map_err(|error| Trouble::with_hint(anyhow!("{error}"), error.hint()))?;
    let mut output = Output::new(arguments, grammar);
    let mut refused = None;
    for piece in &held {
        refused = parser.push_bytes(piece).err();
        output.show(&parser, None)?;
    }
    while refused.is_none() {
        let at = output.wait(&mut pieces)?;
        let Some(piece) = pieces.next()? else { break };
        refused = parser.push_bytes(piece).err();
        output.show(&parser, at)?;
    }
    if refused.is_none() {
        parser.finish();
        output.show(&parser, pieces.at())?;
    }
    output.end(&parser, pieces.is_interrupted())?;
    if pieces.is_interrupted() {
        return Ok(Outcome::Interrupted);
    }
    Ok(close(&parser, arguments))
}

/// Says what was odd, behind what is to be printed then.
fn close(parser: &Parser, arguments: &Arguments) -> Outcome {
    let mut words = Vec::new();
    for call in parser.calls() {
        let (how, kind) = match call.end() {
            Some(CallEnd::Closed) => continue,
            Some(CallEnd::Malformed) => ("malformed", Kind::MalformedArguments),
            Some(CallEnd::Cut) | None => ("cut: the text ended before it did", Kind::CutArguments),
        };
        let hint = "do not run the call; ask for the answer again";
        words.push((format!("error: the call of `{}` is {how}\nhint: {hint}", call.name()), kind.name()));
    }
    let mut outcome = if words.is_empty() { Outcome::Done } else { Outcome::Partly };
    for odd in parser.diagnostics() {
        let limit = odd.kind == Kind::LimitReached;
        if limit {
            outcome = Outcome::Partly;
        }
        if limit || !(arguments.json || arguments.ndjson) {
            let word = if limit { "error" } else { "warning" };
            let told = format!("{word}: byte {}: {}\nhint: {}", odd.at, odd.message, odd.hint());
            words.push((told, odd.kind.name()));
        }
    }
    words.iter().take(MOST_TOLD).for_each(|(words, _)| tell(format_args!("{words}")));
    if words.len() > MOST_TOLD {
        tell(format_args!("and {} more; `--json` has them all", words.len() - MOST_TOLD));
    }
    explain::point_to(words.iter().take(MOST_TOLD).map(|(_, kind)| *kind));
    outcome
}

/// How many errors and warnings are told one by one.
const MOST_TOLD: usize = 10;

/// The profile of this name.
pub(crate) fn named(name: &str) -> Result<&'static Grammar, Trouble> {
    profile(name).ok_or_else(|| {
        let names: Vec<_> = profiles().iter().map(|profile| profile.name.as_str()).collect();
        let hint = format!("use auto, or one of {}", names.join(", "));
        Trouble::with_hint(anyhow!("there is no profile `{name}`"), hint).explained_as(explain::WRONG_USE)
    })
}

fn read_tools(path: &Path) -> Result<Tools, Trouble> {
    let name = path.display();
    let source = fs::read_to_string(path).with_context(|| format!("cannot read `{name}`"))?;
    Tools::from_json(&source).map_err(|error| {
        let what = anyhow!("`{name}` is no list of tools: {error}");
        let hint = "give a JSON array of objects with `name` and `parameters`";
        Trouble::with_hint(what, hint).explained_as(explain::WRONG_USE)
    })
}

fn read_grammar(path: &Path) -> Result<Grammar, Trouble> {
    let name = path.display();
    let source = fs::read_to_string(path).with_context(|| format!("cannot read `{name}`"))?;
    Grammar::from_toml(&source).map_err(|error| {
        let what = anyhow!("`{name}` is no grammar: {error}");
        Trouble::with_hint(what, error.hint()).explained_as(explain::WRONG_USE)
    })
}
