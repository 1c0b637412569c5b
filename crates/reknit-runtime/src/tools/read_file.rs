//! `read_file`: the lines of files, with their numbers, or an image.

use reknit::agent::Content;
use reknit::json::{Object, Value};
use reknit_workspace::{RelPath, Root};
use tokio_util::sync::CancellationToken;

use super::blocking::blocking;
use super::place::{self, Place};
use super::secret::is_secret;
use crate::question::Class;
use crate::tool::{Context, Definition, Failure, Kind, Output, Review, Tool, Work};

mod request;
mod shown;

use request::Request;
use shown::Shown;

pub(super) struct ReadFile {
    definition: Definition,
}

impl ReadFile {
    pub(super) fn new() -> Self {
        let about = "Reads files and shows their lines with numbers, as in `12 | text`; images are shown as images. Up \
            to 2000 lines of a file are shown at once, and 100 KB of all files together. Reading several files in one \
            call is more efficient. For one file use `path`; for several use `files`, or `args` in tags.";
        let files = r#"{"type": "array", "items": {"type": "object", "properties": {"path": {"type": "string"},
            "line_ranges": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}},
            "required": ["path"], "additionalProperties": false}}"#;
        let files = Value::parse(files, 16).expect("it is JSON");
        let definition = Definition::new("read_file", Class::Read, about)
            .optional("path", Kind::Text, "The path of a file, relative to the root.")
            .optional("offset", Kind::Integer, "The first line to show, counted from 1.")
            .optional("limit", Kind::Integer, "How many lines to show.")
            .optional(
                "files",
                Kind::Schema(files),
                "Several files, each with the first and last lines of its ranges.",
            )
            .optional(
                "args",
                Kind::Text,
                "Several files: `<file><path>a.rs</path><line_range>1-50</line_range></file>` for each.",
            );
        Self { definition }
    }
}

impl Tool for ReadFile {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn describe(&self, args: &Object) -> String {
        let requests = request::read(args).unwrap_or_default();
        let paths: Vec<_> = requests.iter().map(|request| format!("'{}'", request.path)).collect();
        match paths.len() {
            0 => "[read_file]".to_owned(),
            1..=3 => format!("[read_file for {}]", paths.join(", ")),
            count => format!("[read_file for {count} files]"),
        }
    }

    fn review<'a>(&'a self, args: &'a Object, context: &'a Context) -> Work<'a, Result<Review, Failure>> {
        Box::pin(async move {
            let requests = request::read(args)?;
            let is_secret =
                blocking(context, move |workspace, _| names_secret(&workspace.root, &requests)).await?;
            Ok(Review::of(if is_secret { Class::ReadSecret } else { Class::Read }))
        })
    }

    fn execute<'a>(&'a self, args: &'a Object, context: &'a Context) -> Work<'a, Result<Output, Failure>> {
        Box::pin(async move {
            let requests = request::read(args)?;
            blocking(context, move |workspace, cancel| read(&workspace.root, &requests, cancel)).await
        })
    }
}

/// Whether one of the files looks secret, by the name that was given or by the one that it has.
///
/// Fails if none of them can be read.
fn names_secret(root: &Root, requests: &[Request]) -> Result<bool, Failure> {
    let mut failures = Vec::new();
    let mut any_secret = false;
    for request in requests {
        match find(root, &request.path) {
            Ok(path) => any_secret |= is_secret(path.as_str()) || is_secret(&request.path),
            Err(failure) => failures.push(failure),
        }
    }
    if failures.len() == requests.len() { Err(joined(failures)) } else { Ok(any_secret) }
}

fn read(root: &Root, requests: &[Request], cancel: &CancellationToken) -> Result<Output, Failure> {
    let mut shown = Shown::new(cancel);
    let mut failures = Vec::new();
    for request in requests {
        let found = find(root, &request.path).and_then(|path| {
            let file = root.open_file(&path).map_err(|error| place::refused(root, &request.path, &error))?;
            shown.file(request, file)
        });
        if let Err(failure) = found {
            shown.error(&request.path, &failure);
            failures.push(failure);
        }
    }
    if failures.len() == requests.len() {
        return Err(joined(failures));
    }
    Ok(Output::content(shown.finish()))
}

fn find(root: &Root, path: &str) -> Result<RelPath, Failure> {
    match Place::find(root, path)? {
        Place::File(found) => Ok(found),
        Place::Directory(_) => Err(Failure::mistake(format!(
            "`{path}`: not a file but a directory. Use list_files to see what is in it."
        ))),
    }
}

/// All failures as one: the model's, if one of them is.
fn joined(mut failures: Vec<Failure>) -> Failure {
    if failures.len() == 1 {
        return failures.remove(0);
    }
    let messages: Vec<_> = failures.iter().map(|failure| &*failure.message).collect();
    let message = messages.join("\n");
    let is_mistake = failures.iter().any(|failure| failure.fault == crate::tool::Fault::Model);
    if is_mistake { Failure::mistake(message) } else { Failure::other(message) }
}

/// A text as content.
fn text(text: String) -> Content {
    Content::Text { text }
}
