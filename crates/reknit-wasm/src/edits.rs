//! [`Edits`]: a model's answer to changed files, with the report of `reknit apply --json`.

use reknit::Limits;
use reknit::edit::{self, FileReport, Format, How, Parser, Problem};
use serde::{Deserialize, Serialize};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::failure::Failure;
use crate::json::{json, parse};

/// Files, and what to do with them.
#[wasm_bindgen]
pub struct Edits {
    files: Vec<(String, Vec<u8>)>,
    parser: Parser,
    loosest: How,
    keep_going: bool,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Options {
    format: Option<String>,
    loosest: Option<String>,
    keep_going: bool,
}

/// The whole report.
#[derive(Serialize)]
struct Summary<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'static str>,
    files: Vec<FileReport<'a>>,
    problems: Problems<'a>,
}

/// What could not be read, or that there is nothing to read.
#[derive(Serialize)]
#[serde(untagged)]
enum Problems<'a> {
    Unread(&'a [Problem]),
    NoEdits([NoEdits; 1]),
}

#[derive(Serialize)]
struct NoEdits {
    kind: &'static str,
    message: &'static str,
    hint: &'static str,
}

const NO_EDITS: NoEdits = NoEdits {
    kind: "no-edits",
    message: "no edits found in the answer",
    hint: "if there are any, name their format with `format`",
};

#[wasm_bindgen]
impl Edits {
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str) -> Result<Edits, JsValue> {
        let options: Options = parse(options)?;
        let parser = match options.format.as_deref() {
            None | Some("auto") => Parser::detect(),
            Some(name) => Parser::new(named("format", &Format::ALL, Format::name, name)?),
        };
        let loosest = match &options.loosest {
            None => How::Context,
            Some(name) => named("`loosest`", &How::ALL, How::name, name)?,
        };
        Ok(Self { files: Vec::new(), parser, loosest, keep_going: options.keep_going })
    }

    /// Adds a file.
    #[wasm_bindgen(js_name = addFile)]
    pub fn add_file(&mut self, path: &str, content: &[u8]) -> Result<(), JsValue> {
        let max = Limits::default().file_bytes;
        if content.len() as u64 > max {
            let message = format!("`{path}`: {} bytes, and at most {max} are read", content.len());
            return Err(Failure::new("limit-reached", message, "edit a smaller file").into());
        }
        self.files.push((path.to_owned(), content.to_owned()));
        Ok(())
    }

    /// Takes a piece of the answer.
    pub fn push(&mut self, piece: &str) {
        self.parser.push(piece);
    }

    /// Ends the answer, and finds the place of each edit in the files.
    pub fn apply(self) -> String {
        let parsed = self.parser.finish();
        let originals: Vec<_> = self.files.iter().map(|(path, content)| (&**path, &**content)).collect();
        let plan = edit::plan(&parsed.edits, &originals, self.loosest);
        let is_whole = parsed.problems.is_empty() && plan.rejected().next().is_none();
        let with_contents = is_whole || self.keep_going;
        let files = plan.files.iter().map(|file| {
            let original = originals.iter().find(|(path, _)| *path == file.path);
            let original = original.map_or(&[][..], |(_, content)| *content);
            file.report(&parsed.edits, with_contents.then_some(original))
        });
        let problems = match (&*parsed.problems, &*parsed.edits) {
            ([], []) => Problems::NoEdits([NO_EDITS]),
            (problems, _) => Problems::Unread(problems),
        };
        json(&Summary { format: parsed.format.map(Format::name), files: files.collect(), problems })
    }
}

/// The one of `all` that has this name.
fn named<T: Copy>(what: &str, all: &[T], name_of: fn(T) -> &'static str, name: &str) -> Result<T, Failure> {
    let found = all.iter().copied().find(|known| name_of(*known) == name);
    found.ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|known| name_of(*known)).collect();
        Failure::usage(format!("there is no {what} `{name}`"), format!("use one of {}", names.join(", ")))
    })
}
