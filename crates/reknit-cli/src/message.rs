//! Messages for people, on standard error.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::colour;
use crate::view::{Style, sanitized};

/// Whether only errors are printed.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// From now on, prints only errors.
pub(crate) fn be_quiet() {
    IS_QUIET.store(true, Ordering::Relaxed);
}

pub(crate) fn is_quiet() -> bool {
    IS_QUIET.load(Ordering::Relaxed)
}

/// How the first word of a line is shown, which says what the line is.
const LABELS: [(&str, Style); 5] = [
    ("error:", Style::Bad),
    ("warning:", Style::Warning),
    ("hint:", Style::Good),
    ("note:", Style::Strong),
    ("see:", Style::Quiet),
];

/// Prints a message, if standard error is still open. Hints belong to the error before them, in one message.
pub(crate) fn print_message(words: std::fmt::Arguments<'_>) {
    let words = words.to_string();
    if is_quiet() && !words.starts_with("error:") {
        return;
    }
    let is_terminal = io::stderr().is_terminal();
    let words = if is_terminal { sanitized(&words) } else { Cow::Borrowed(&*words) };
    let words = if colour::is_on(is_terminal) { labelled(&words).into() } else { words };
    let _ = writeln!(io::stderr(), "{words}");
}

/// The lines, with their labels coloured.
fn labelled(words: &str) -> String {
    let lines = words.split('\n').map(|line| {
        let label = LABELS.iter().find(|(label, _)| line.starts_with(label));
        label.map_or_else(|| line.to_owned(), |(label, style)| style.paint(label) + &line[label.len()..])
    });
    lines.collect::<Vec<_>>().join("\n")
}
