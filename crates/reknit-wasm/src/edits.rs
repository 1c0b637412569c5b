//! [`Edits`]: a model's answer to changed files, with the report of `reknit apply --json`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reknit::Limits;
use reknit::edit::{
    self, FileAction, FilePlan, Format, How, Original, Outcome, Parsed, Parser, Policy, Problem, Repair,
    Report,
};
use serde::{Deserialize, Serialize};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::failure::Failure;
use crate::options::parse;
use crate::output::json;

/// Files, and what to do with them.
#[wasm_bindgen]
pub struct Edits {
    files: Vec<(String, Vec<u8>)>,
    parser: Parser,
    policy: Policy,
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
    problems: Vec<ProblemReport<'a>>,
}

#[derive(Serialize)]
struct FileReport<'a> {
    path: &'a str,
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'a str>,
    #[serde(flatten)]
    content: Option<Content>,
    edits: Vec<EditReport<'a>>,
}

/// The content of a file: text, or bytes in Base64 if it is not text.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Content {
    Content(String),
    Bytes(String),
}

#[derive(Serialize)]
struct EditReport<'a> {
    index: usize,
    /// The line of the answer where it begins.
    line: usize,
    #[serde(flatten)]
    outcome: &'a Outcome,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    repairs: &'a [Repair],
}

#[derive(Serialize)]
struct ProblemReport<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<&'a str>,
    message: &'static str,
    hint: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    form: Option<&'static str>,
}

#[wasm_bindgen]
impl Edits {
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str) -> Result<Edits, JsValue> {
        let options: Options = parse(options)?;
        let parser = match options.format.as_deref() {
            None | Some("auto") => Parser::detect(),
            Some(name) => Parser::new(named("format", &Format::ALL, Format::name, name)?),
        };
        let mut policy = Policy::default();
        if let Some(name) = &options.loosest {
            policy.loosest = named("`loosest`", &How::ALL, How::name, name)?;
        }
        Ok(Self { files: Vec::new(), parser, policy, keep_going: options.keep_going })
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
        let originals: Vec<_> = self.files.iter().map(|(path, content)| Original { path, content }).collect();
        let plan = edit::plan(&parsed.edits, &originals, self.policy);
        let is_whole = parsed.problems.is_empty() && plan.rejected().next().is_none();
        let with_contents = is_whole || self.keep_going;
        let original = |path: &str| {
            let file = originals.iter().find(|file| file.path == path && with_contents);
            file.map_or(&[][..], |file| file.content)
        };
        let files = plan.files.iter().map(|file| {
            let content = with_contents.then(|| Content::of(file, original(&file.path))).flatten();
            FileReport::new(file, content, &parsed)
        });
        let mut problems: Vec<_> = parsed.problems.iter().map(ProblemReport::new).collect();
        if problems.is_empty() && parsed.edits.is_empty() {
            problems.push(ProblemReport::NO_EDITS);
        }
        json(&Summary { format: parsed.format.map(Format::name), files: files.collect(), problems })
    }
}

impl<'a> FileReport<'a> {
    fn new(file: &'a FilePlan, content: Option<Content>, parsed: &'a Parsed) -> Self {
        let to = if let FileAction::Move { to } = &file.action { Some(to.as_str()) } else { None };
        let edits = file.reports.iter().map(|Report { index, outcome }| {
            let edit = &parsed.edits[*index];
            EditReport { index: *index, line: edit.line, outcome, repairs: &edit.repairs }
        });
        Self { path: &file.path, action: file.action.name(), to, content, edits: edits.collect() }
    }
}

impl Content {
    /// The new content of a file, unless there is none.
    fn of(file: &FilePlan, original: &[u8]) -> Option<Self> {
        match file.action {
            FileAction::Create | FileAction::Update | FileAction::Move { .. } => {}
            FileAction::Delete | FileAction::Missing => return None,
        }
        Some(match String::from_utf8(file.content(original)) {
            Ok(text) => Self::Content(text),
            Err(error) => Self::Bytes(STANDARD.encode(error.as_bytes())),
        })
    }
}

impl<'a> ProblemReport<'a> {
    const NO_EDITS: Self = Self {
        kind: "no-edits",
        line: None,
        snippet: None,
        message: "no edits found in the answer",
        hint: "if there are any, name their format with `format`",
        form: None,
    };

    fn new(problem: &'a Problem) -> Self {
        let kind = problem.kind;
        Self {
            kind: kind.name(),
            line: Some(problem.line),
            snippet: Some(&problem.snippet),
            message: kind.message(),
            hint: kind.hint(),
            form: Some(kind.form()),
        }
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
