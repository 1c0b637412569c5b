//! `--profile cline-v1|cline-v2`: the answer applied as a version of Cline does, for comparison.

use reknit::Hint;
use std::fs;
use std::path::Path;

use anyhow::Context;
use reknit_compat::cline::{End, Version, construct};

use super::Arguments;
use super::answer::Answer;
use crate::outcome::{CommandError, Outcome};
use crate::pieces::Pieces;
use crate::print::print_bytes;
use crate::print_message;

/// Prints the new content of a file.
pub(super) fn run(arguments: &Arguments, file: &Path, version: Version) -> Result<Outcome, CommandError> {
    let original = fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    let mut answer = Answer::new(Pieces::open_raw(arguments.answer.as_deref(), arguments.recut)?);
    let mut diff = String::new();
    while let Some(piece) = answer.next()? {
        diff += &piece;
    }
    if answer.is_interrupted() {
        return Ok(Outcome::Interrupted);
    }
    let end = if arguments.streaming { End::Open } else { End::Final };
    match construct(version, &diff, &original, end) {
        Ok(constructed) => {
            print_bytes(std::iter::once(constructed.content.as_bytes()))?;
            Ok(Outcome::Done)
        }
        Err(error) => {
            print_message(format_args!("error: {error}\nhint: {}", error.hint()));
            Ok(Outcome::Partly)
        }
    }
}
