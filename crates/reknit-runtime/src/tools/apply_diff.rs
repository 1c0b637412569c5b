//! `apply_diff`: search and replace blocks for one file or several.

use reknit::edit::{Format, Parsed, parse};
use reknit::json::Object;

use super::{arguments, change};
use crate::question::Class;
use crate::tool::{Context, Definition, Failure, Kind, Output, Review, Tool, Work};

const FORM: &str =
    "<<<<<<< SEARCH\nthe lines as they are in the file\n=======\nthe new lines\n>>>>>>> REPLACE";

pub(super) struct ApplyDiff {
    definition: Definition,
}

impl ApplyDiff {
    pub(super) fn new() -> Self {
        let about = format!(
            "Changes parts of files. Each block names the lines to replace, copied from the file, and the new lines:\n\
             {FORM}\nA line `:start_line:12` and a line `-------` after the first marker say where to look. Several \
             blocks may follow each other. Either all of them are applied or none. For one file use `path` and `diff`; \
             for several use `args`."
        );
        let definition = Definition::new("apply_diff", Class::Write, about)
            .optional("path", Kind::Text, "The path of the file, relative to the root.")
            .optional("diff", Kind::Text, "The search and replace blocks.")
            .optional(
                "args",
                Kind::Text,
                "Several files: `<file><path>a.rs</path><diff><content>blocks</content></diff></file>` for each.",
            );
        Self { definition }
    }
}

impl Tool for ApplyDiff {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn describe(&self, args: &Object) -> String {
        if let Some(path) = arguments::text(args, "path") {
            return format!("[apply_diff for '{path}']");
        }
        let files = arguments::text(args, "args").unwrap_or_default();
        match &*paths(&files) {
            [] => "[apply_diff]".to_owned(),
            [path] => format!("[apply_diff for '{path}']"),
            [path, _] => format!("[apply_diff for '{path}' and 1 more file]"),
            [path, more @ ..] => format!("[apply_diff for '{path}' and {} more files]", more.len()),
        }
    }

    fn review<'a>(&'a self, args: &'a Object, context: &'a Context) -> Work<'a, Result<Review, Failure>> {
        Box::pin(async move { change::review(edits(args)?, context).await })
    }

    fn execute<'a>(&'a self, args: &'a Object, context: &'a Context) -> Work<'a, Result<Output, Failure>> {
        Box::pin(async move { change::write(edits(args)?, context).await })
    }
}

fn edits(args: &Object) -> Result<Parsed, Failure> {
    let parsed = match (arguments::text(args, "path"), arguments::text(args, "args")) {
        (Some(path), None) => {
            let mut parsed = parse(Format::SearchReplace, &arguments::required(args, "diff")?);
            for edit in &mut parsed.edits {
                edit.path = Some(path.clone());
            }
            parsed
        }
        (None, Some(files)) => parse(Format::RooArgs, &files),
        (None, None) => return Err(Failure::missing("path")),
        (Some(_), Some(_)) => {
            return Err(Failure::mistake(
                "Use either 'path' and 'diff', or 'args', but not both. Please retry with one of them.",
            ));
        }
    };
    if parsed.edits.is_empty() && parsed.problems.is_empty() {
        return Err(Failure::mistake(format!(
            "The diff contains no search and replace block. Write each change like this:\n{FORM}"
        )));
    }
    Ok(parsed)
}

/// The paths in `args`, in order and without repetitions. The last one may be incomplete and is left out then.
fn paths(args: &str) -> Vec<&str> {
    let mut paths: Vec<&str> = Vec::new();
    let texts = args.split("<path>").skip(1).filter_map(|rest| rest.split_once("</path>"));
    for (path, _) in texts {
        let path = path.trim();
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}
