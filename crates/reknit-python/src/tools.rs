//! `reknit.Tools`: calls and thinking that a model writes into its text.

use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use reknit::tags;

use crate::diagnostic::Diagnostic;
use crate::error::{guarded, guarded_for, lock};
use crate::options::{self, Notation, bytes_of, tool_list, wrong_grammar};
use crate::value::{form, json};

const WHAT: &str = "Tools";

/// Reads the text of a model in pieces, and finds the calls and the thinking in it.
///
/// `profile` says how the model writes them, or a `grammar` of your own in TOML; `tools` are the definitions of
/// the tools, which give values their types. With `thinking`, the text starts inside the thinking.
///
/// >>> tools = reknit.Tools("hermes")
/// >>> tools.push('I look. <tool_call>{"name": "now", "argu')
/// >>> tools.push('ments": {}}</tool_call>')
/// >>> tools.finish()
/// >>> [block["type"] for block in tools.blocks]
/// ['text', 'tool_call']
#[pyclass(frozen, module = "reknit")]
pub(crate) struct Tools {
    profile: String,
    inner: Mutex<Inner>,
}

struct Inner {
    parser: Box<tags::Parser>,
    is_over: bool,
}

#[pymethods]
impl Tools {
    #[new]
    #[pyo3(signature = (profile=None, *, grammar=None, tools=None, thinking=false, limits=None))]
    fn new(
        profile: Option<&str>,
        grammar: Option<&str>,
        tools: Option<&Bound<'_, PyAny>>,
        thinking: bool,
        limits: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let Notation { mut grammar, tools } = Notation::new(profile, grammar, tools)?.ok_or_else(|| {
            PyValueError::new_err("say how the model writes its calls: `profile` or `grammar`")
        })?;
        let profile = grammar.name.clone();
        if thinking {
            grammar = grammar.starting_in_thinking().ok_or_else(|| {
                PyValueError::new_err(format!("`{profile}` has no marker that ends thinking"))
            })?;
        }
        let parser = tags::Parser::new(&grammar, tools.as_ref()).map_err(|error| wrong_grammar(&error))?;
        let parser = Box::new(parser.with_limits(&options::limits(limits)?));
        Ok(Self { profile, inner: Mutex::new(Inner { parser, is_over: false }) })
    }

    /// The name of the profile or the grammar.
    #[getter]
    fn profile(&self) -> &str {
        &self.profile
    }

    /// Takes the next piece, as text or as bytes. Text beyond the limit is a diagnostic.
    fn push(&self, py: Python<'_>, piece: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut inner = lock(py, &self.inner, WHAT)?;
        if inner.is_over {
            return Err(PyValueError::new_err(
                "this text is finished\nhint: make a new reknit.Tools for each",
            ));
        }
        let parser = &mut inner.parser;
        if let Ok(text) = piece.cast::<PyString>() {
            let text = text.to_str()?;
            let _ = guarded_for(py, text.len(), || parser.push(text))?;
        } else {
            let bytes = bytes_of(piece)?;
            let _ = guarded_for(py, bytes.len(), || parser.push_bytes(&bytes))?;
        }
        Ok(())
    }

    /// Ends the text.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let mut inner = lock(py, &self.inner, WHAT)?;
        if !inner.is_over {
            inner.is_over = true;
            guarded(py, || inner.parser.finish())?;
        }
        Ok(())
    }

    /// The blocks so far: text, thinking and calls.
    #[getter]
    fn blocks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_dict(py)?.get_item("blocks")
    }

    /// What was unexpected in the text.
    #[getter]
    fn diagnostics(&self, py: Python<'_>) -> PyResult<Vec<Diagnostic>> {
        let inner = lock(py, &self.inner, WHAT)?;
        Ok(inner.parser.diagnostics().iter().map(Diagnostic::from).collect())
    }

    /// The JSON that `reknit tools --json` prints.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        json(&*lock(py, &self.inner, WHAT)?.parser)
    }

    /// The same as objects.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        form(py, &*lock(py, &self.inner, WHAT)?.parser)
    }
}

/// The profile that fits a text best, and why.
#[pyfunction]
#[pyo3(name = "_detect_profile", signature = (text, tools=None))]
pub(crate) fn detect_profile(
    py: Python<'_>,
    text: &str,
    tools: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String)> {
    let tools = tools.map(tool_list).transpose()?;
    let found = guarded_for(py, text.len(), || tags::detect(text, tools.as_ref()))?;
    Ok((found.grammar.name.clone(), found.why))
}
