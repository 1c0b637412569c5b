//! `reknit explain`: what an error or a diagnostic means, out of `docs/errors.md`.

use std::ffi::OsStr;
use std::io::{self, Write};

use clap::Args;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};

use crate::names::nearest;
use crate::outcome::{CommandError, Outcome};
use crate::print_message;
use crate::view::{Terminal, View};

/// The page itself, so that the binary needs no files.
const PAGE: &str = include_str!("../../../docs/errors.md");

/// Kinds that are not the engine's: how a message can end, and errors of files and the command line.
pub(crate) const CONFIGURATION: &str = "configuration";
pub(crate) const CUT: &str = "cut";
pub(crate) const FAILED: &str = "failed";
pub(crate) const INPUT_OUTPUT: &str = "input-output";
pub(crate) const MALFORMED_EVENT: &str = "malformed-event";
pub(crate) const NO_EDITS: &str = "no-edits";
pub(crate) const NO_KEY: &str = "no-key";
pub(crate) const NO_MODEL: &str = "no-model";
pub(crate) const NOT_TEXT: &str = "not-text";
pub(crate) const PATH: &str = "path";
pub(crate) const PROVIDER: &str = "provider";
pub(crate) const SESSION: &str = "session";
pub(crate) const UNDO: &str = "undo";
pub(crate) const WRITE: &str = "write";
pub(crate) const WRONG_USE: &str = "wrong-use";

/// Explain what an error or diagnostic means, why it happens, and what to do about it
#[derive(Args)]
#[command(after_help = "\
Examples:
  reknit explain                 list everything that can be explained
  reknit explain cut-arguments   explain one of them

Messages name the kind after `see:`; diagnostics of a message have it as `kind`.")]
pub(crate) struct Arguments {
    /// What to explain; if omitted, everything that can be explained is listed
    #[arg(value_name = "KIND", value_parser = Kinds, hide_possible_values = true)]
    kinds: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, CommandError> {
    let mut chosen = Vec::new();
    for kind in &arguments.kinds {
        match entries().find(|entry| entry.name == kind) {
            Some(entry) => chosen.push(entry),
            None => {
                let what = anyhow::anyhow!("there is no explanation for `{kind}`");
                let hint = match nearest(kind, entries().map(|entry| entry.name)) {
                    Some(name) => format!("did you mean `{name}`? `reknit explain` lists all kinds"),
                    None => "`reknit explain` lists what can be explained".to_owned(),
                };
                return Err(CommandError::with_hint(what, hint));
            }
        }
    }
    let mut page = String::new();
    if chosen.is_empty() {
        for Entry { name, text } in entries() {
            page += &format!("{name:<22}{}\n", text.lines().next().unwrap_or_default());
        }
        io::stdout().lock().write_all(page.as_bytes())?;
        return Ok(Outcome::Done);
    }
    let terminal = Terminal::on_stdout_or_coloured();
    let heading = if terminal.is_some() { "# " } else { "" };
    for (number, Entry { name, text }) in chosen.iter().enumerate() {
        let gap = if number == 0 { "" } else { "\n" };
        page += &format!("{gap}{heading}{name}\n\n{text}\n");
    }
    let mut out = io::stdout().lock();
    match terminal {
        None => out.write_all(page.as_bytes())?,
        Some(terminal) => {
            let mut view = View::new(terminal);
            view.text(&page);
            view.begin_paragraph();
            view.drain(&mut out)?;
        }
    }
    Ok(Outcome::Done)
}

/// The names of the entries, for completions. Any word is accepted here: [`run`] has a better error.
#[derive(Clone)]
struct Kinds;

impl TypedValueParser for Kinds {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(entries().map(|entry| PossibleValue::new(entry.name))))
    }
}

/// Prints which kinds to look up about what was reported.
pub(crate) fn point_to(kinds: impl IntoIterator<Item = &'static str>) {
    let mut named = Vec::new();
    for kind in kinds {
        if !named.contains(&kind) {
            named.push(kind);
        }
    }
    if !named.is_empty() {
        print_message(format_args!("see: `reknit explain {}`", named.join(" ")));
    }
}

/// A section of the page.
struct Entry {
    name: &'static str,
    /// Everything below the heading; the first line says what it means.
    text: &'static str,
}

/// The entries of the page, in its order. An entry ends at the next heading of its level or above.
fn entries() -> impl Iterator<Item = Entry> {
    let sections = PAGE.split("\n## ").flat_map(|section| section.split("\n### ").skip(1));
    sections.filter_map(|section| {
        let (name, text) = section.split_once('\n')?;
        Some(Entry { name: name.trim(), text: text.trim() })
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use reknit::diagnostic::Kind;
    use reknit::edit::{ProblemKind, Reason};
    use reknit_runtime::provider::ErrorKind;

    use super::*;

    #[test]
    fn every_kind_has_an_entry_and_every_entry_a_kind() {
        let own = [
            CONFIGURATION,
            CUT,
            FAILED,
            INPUT_OUTPUT,
            MALFORMED_EVENT,
            NO_EDITS,
            NO_KEY,
            NO_MODEL,
            NOT_TEXT,
            PATH,
            PROVIDER,
            SESSION,
            UNDO,
            WRITE,
            WRONG_USE,
        ];
        let problems = ProblemKind::ALL.iter().map(|kind| kind.name());
        let edits = problems.chain(Reason::NAMES);
        let kinds = Kind::ALL.iter().map(|kind| kind.name()).chain(edits).chain(own);
        let named: Vec<_> = entries().map(|entry| entry.name).collect();
        assert_eq!(named.iter().copied().collect::<BTreeSet<_>>(), kinds.collect());
        assert_eq!(named.len(), named.iter().collect::<BTreeSet<_>>().len(), "an entry is there twice");
    }

    #[test]
    fn every_kind_of_a_providers_error_is_in_the_table() {
        let entry = entries().find(|entry| entry.name == PROVIDER).expect("it is on the page");
        let rows = entry.text.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        let named: Vec<&str> = rows.filter(|name| *name != "kind").collect();
        let known: Vec<&str> = ErrorKind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(named, known);
    }

    #[test]
    fn every_entry_says_what_it_means_and_what_to_do() {
        for Entry { name, text } in entries() {
            let first = text.lines().next().unwrap_or_default();
            assert!(first.ends_with('.') && !first.contains('`'), "{name}: {first}");
            for part in ["\n**Why.** ", "\n**What to do.** ", "\n```console\n$ "] {
                assert!(text.contains(part), "{name} has no {part:?}");
            }
        }
    }
}
