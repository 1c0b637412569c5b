//! Whether there are colours: `--color`, and the variables that everybody uses for it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::sync::atomic::{AtomicU8, Ordering};

use clap::{ColorChoice, ValueEnum};

/// When output has colours.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum When {
    // On a terminal, unless the environment says otherwise. A comment for rustdoc would be in every help.
    Auto,
    Always,
    Never,
}

/// What was chosen, as a number.
static CHOSEN: AtomicU8 = AtomicU8::new(When::Auto as u8);

pub(crate) fn choose(when: When) {
    CHOSEN.store(when as u8, Ordering::Relaxed);
}

fn chosen() -> When {
    let number = CHOSEN.load(Ordering::Relaxed);
    When::value_variants().iter().copied().find(|when| *when as u8 == number).unwrap_or(When::Auto)
}

/// Whether output that goes to a terminal, or elsewhere, has colours.
pub(crate) fn is_on(is_terminal: bool) -> bool {
    match chosen() {
        When::Always => true,
        When::Never => false,
        When::Auto if is_set("NO_COLOR") => false,
        When::Auto if is_set("CLICOLOR_FORCE") && !is_zero("CLICOLOR_FORCE") => true,
        When::Auto => is_terminal && !is_dumb() && !is_zero("CLICOLOR"),
    }
}

/// Whether the terminal can do nothing but print.
pub(crate) fn is_dumb() -> bool {
    env::var_os("TERM").is_none_or(|name| name.is_empty() || name == "dumb")
}

/// What `--color` says, for errors about the other arguments.
pub(crate) fn named_in(arguments: &[OsString]) -> When {
    let mut named = When::Auto;
    let mut words = arguments.iter().map(OsString::as_os_str).take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        let value = match word.to_str() {
            Some("--color") => words.next().and_then(OsStr::to_str),
            Some(word) => word.strip_prefix("--color="),
            None => None,
        };
        named = value.and_then(|value| When::from_str(value, false).ok()).unwrap_or(named);
    }
    named
}

/// The same choice for what clap prints.
pub(crate) fn for_clap() -> ColorChoice {
    match chosen() {
        When::Auto => ColorChoice::Auto,
        When::Always => ColorChoice::Always,
        When::Never => ColorChoice::Never,
    }
}

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| !value.is_empty())
}

fn is_zero(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| value == "0")
}
