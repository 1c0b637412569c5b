//! `edit`: replaces a text in a file.

use reknit::edit::{self, Action, Format, Parsed, Replace, Scope};
use reknit::json::Object;

use super::{arguments, change};
use crate::question::Class;
use crate::tool::{Context, Definition, Failure, Kind, Output, Review, Tool, Work};

pub(super) struct Edit {
    definition: Definition,
}

impl Edit {
    pub(super) fn new() -> Self {
        let about = "Replaces a text in a file. The text to replace must be copied from the file exactly, and must \
            occur once: add lines around it until it does, or replace every occurrence.";
        let definition = Definition::new("edit", Class::Write, about)
            .subject("path", "The path of the file, relative to the root.")
            .required(
                "old_string",
                Kind::Text,
                "The text to replace. Empty only to write a file that is new or empty.",
            )
            .required("new_string", Kind::Text, "The new text. It may be empty.")
            .optional("replace_all", Kind::Boolean, "Whether to replace every occurrence.");
        Self { definition }
    }
}

impl Tool for Edit {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn review<'a>(&'a self, args: &'a Object, context: &'a Context) -> Work<'a, Result<Review, Failure>> {
        Box::pin(async move { change::review(parse(args)?, context).await })
    }

    fn execute<'a>(&'a self, args: &'a Object, context: &'a Context) -> Work<'a, Result<Output, Failure>> {
        Box::pin(async move { change::write(parse(args)?, context).await })
    }
}

fn parse(args: &Object) -> Result<Parsed, Failure> {
    let mut replace = Replace::default();
    replace.search = arguments::required(args, "old_string")?;
    replace.replacement = arguments::required(args, "new_string")?;
    replace.scope = if arguments::flag(args, "replace_all") { Scope::Everywhere } else { Scope::Within };
    let edit = edit::Edit {
        path: Some(arguments::required(args, "path")?),
        action: Action::Replace(replace),
        line: 1,
        at: 0..0,
        repairs: Vec::new(),
    };
    Ok(Parsed { edits: vec![edit], problems: Vec::new(), format: Some(Format::StrReplace) })
}
