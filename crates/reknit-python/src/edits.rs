//! `reknit.apply_edits`: a model's edits to files that the caller holds.

use std::collections::BTreeMap;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};
use reknit::edit::{FileAction, FilePlan, FileReport, Format, How, Parsed, Parser, Plan, Problem, plan};
use serde::Serialize;

use crate::error::{guarded, guarded_for, wrong_type};
use crate::options::{bytes_of, dict_of, one_of};
use crate::value::{json, parsed};

/// Puts a model's edits into files, without touching a disk.
///
/// `files` are contents by path; what comes back has the type that went in. `answer` is what the model wrote,
/// whole or as an iterable of pieces. If an edit has no place, or two, nothing is applied and the report says
/// why, unless `keep_going` is true. `format` is detected if it is `None`; `loosest` is the most that a place may
/// differ in from the search text.
///
/// >>> answer = """a.py
/// ... <<<<<<< SEARCH
/// ... print("hi")
/// ... =======
/// ... print("hello")
/// ... >>>>>>> REPLACE
/// ... """
/// >>> applied = reknit.apply_edits({"a.py": 'print("hi")\n'}, answer)
/// >>> applied.is_whole, applied.files
/// (True, {'a.py': 'print("hello")\n'})
/// >>> applied.report["files"][0]["edits"][0]["how"]
/// 'exact'
#[pyfunction]
#[pyo3(signature = (files, answer, *, format=None, loosest="context", keep_going=false))]
pub(crate) fn apply_edits<'py>(
    py: Python<'py>,
    files: &Bound<'py, PyAny>,
    answer: &Bound<'py, PyAny>,
    format: Option<&str>,
    loosest: &str,
    keep_going: bool,
) -> PyResult<AppliedEdits> {
    let formats = Format::ALL.map(|format| (format.name(), format));
    let rungs = How::ALL.map(|how| (how.name(), how));
    let loosest = one_of("rung", loosest, &rungs)?;
    let mut parser = match format {
        Some(name) => Parser::new(one_of("format", name, &formats)?),
        None => Parser::detect(),
    };
    for piece in pieces(answer)? {
        let piece = piece?;
        guarded_for(py, piece.len(), || parser.push(&piece))?;
    }
    let files = dict_of(files).ok_or_else(|| {
        wrong_type("`files` must be a dict", files, "give the contents of the files by their paths")
    })?;
    let given = Given::new(&files)?;
    let originals: Vec<_> = given.contents.iter().map(|(path, file)| (&**path, &*file.content)).collect();
    let answer = guarded(py, || parser.finish())?;
    let length = given.contents.values().map(|file| file.content.len()).sum();
    let plan = guarded_for(py, length, || plan(&answer.edits, &originals, loosest))?;
    let is_whole = plan.rejected().next().is_none() && answer.problems.is_empty() && !answer.edits.is_empty();
    let contents = is_whole || keep_going;
    let report = json(&Summary::new(&answer, &plan, &given, contents))?;
    let after = PyDict::new(py);
    for file in plan.files.iter().filter(|file| contents && file.changes()) {
        given.carry_out(py, file, &after)?;
    }
    Ok(AppliedEdits { files: after.unbind(), is_whole, report })
}

/// What became of a model's edits.
#[pyclass(frozen, module = "reknit")]
pub(crate) struct AppliedEdits {
    /// The new contents of the files that change, by path; `None` for a file that is deleted or moved away.
    #[pyo3(get)]
    files: Py<PyDict>,
    /// Whether every edit of the answer was understood and has its place.
    #[pyo3(get)]
    is_whole: bool,
    report: String,
}

#[pymethods]
impl AppliedEdits {
    /// The report that `reknit apply --dry-run --json` prints, as JSON.
    fn to_json(&self) -> &str {
        &self.report
    }

    /// The same as objects.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        parsed(py, &self.report)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let names = self.files.bind(py).keys().repr()?;
        let whole = if self.is_whole { "True" } else { "False" };
        Ok(format!("<reknit.AppliedEdits, is_whole={whole}, files={names}>"))
    }
}

/// The pieces of an answer.
fn pieces<'py>(answer: &Bound<'py, PyAny>) -> PyResult<Box<dyn Iterator<Item = PyResult<String>> + 'py>> {
    if let Ok(text) = answer.cast::<PyString>() {
        return Ok(Box::new([Ok(text.to_str()?.to_owned())].into_iter()));
    }
    let hint = "give the text of the answer, or an iterable of pieces of it";
    let wrong = |given: &Bound<'_, PyAny>| wrong_type("an answer must be a str", given, hint);
    if answer.is_instance_of::<PyBytes>() {
        return Err(wrong(answer));
    }
    let pieces = answer.try_iter().map_err(|_| wrong(answer))?;
    Ok(Box::new(pieces.map(move |piece| {
        let piece = piece?;
        match piece.cast::<PyString>() {
            Ok(text) => Ok(text.to_str()?.to_owned()),
            Err(_) => Err(wrong_type("a piece of an answer must be a str", &piece, hint)),
        }
    })))
}

/// The files of the caller.
struct Given {
    contents: BTreeMap<String, File>,
}

struct File {
    content: Vec<u8>,
    is_text: bool,
}

impl Given {
    fn new(files: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut contents = BTreeMap::new();
        for (path, content) in files {
            let Ok(path) = path.extract::<String>() else {
                return Err(PyTypeError::new_err("the path of a file must be a str"));
            };
            let file = match content.cast::<PyString>() {
                Ok(text) => File { content: text.to_str()?.as_bytes().to_vec(), is_text: true },
                Err(_) => File { content: bytes_of(&content)?.to_vec(), is_text: false },
            };
            contents.insert(path, file);
        }
        Ok(Self { contents })
    }

    fn content(&self, path: &str) -> &[u8] {
        self.contents.get(path).map_or(&[], |file| &file.content)
    }

    /// Enters what a plan does to a file.
    fn carry_out(&self, py: Python<'_>, file: &FilePlan, after: &Bound<'_, PyDict>) -> PyResult<()> {
        let path = match &file.action {
            FileAction::Missing => return Ok(()),
            FileAction::Delete => return after.set_item(&file.path, py.None()),
            FileAction::Create | FileAction::Update => &file.path,
            FileAction::Move { to } => {
                after.set_item(&file.path, py.None())?;
                to
            }
        };
        let content = file.content(self.content(&file.path));
        // A new file has the type that the others have.
        let is_text = match self.contents.get(&file.path) {
            Some(old) => old.is_text,
            None => self.contents.values().all(|file| file.is_text),
        };
        match str::from_utf8(&content) {
            Ok(text) if is_text => after.set_item(path, text),
            _ => after.set_item(path, PyBytes::new(py, &content)),
        }
    }
}

/// The report of the command line.
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

impl<'a> Summary<'a> {
    fn new(parsed: &'a Parsed, plan: &'a Plan, given: &'a Given, contents: bool) -> Self {
        let files = plan.files.iter().map(|file| {
            let original = contents.then(|| given.content(&file.path));
            file.report(&parsed.edits, original)
        });
        let problems = match (&*parsed.problems, &*parsed.edits) {
            ([], []) => Problems::NoEdits([NO_EDITS]),
            (problems, _) => Problems::Unread(problems),
        };
        Self { format: parsed.format.map(Format::name), files: files.collect(), problems }
    }
}
