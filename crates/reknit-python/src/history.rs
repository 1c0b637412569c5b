//! `reknit.history`: a session's log to the messages of its next request.

use std::borrow::Cow;

use pyo3::prelude::*;
use pyo3::types::PyList;
use reknit::Hint;
use reknit::history as engine;

use crate::error::{guarded, of_engine, wrong_type};
use crate::options;
use crate::session::entry_of;
use crate::value::{json, to_python};

/// The messages of the next request, from the entries of a session's log, which may end anywhere.
///
/// `dialect` names the provider: `anthropic`, `openai-chat`, `openai-responses`, `gemini`, `bedrock-converse`, `cohere`
/// or `ollama`. What the provider would refuse is repaired, and each repair is listed.
///
/// >>> body = {"type": "user-message", "content": [{"type": "text", "text": "Hi"}]}
/// >>> request = reknit.history([{"v": 1, "seq": 1, "at": 0, "body": body}], "anthropic")
/// >>> request.messages
/// [{'role': 'user', 'content': [{'type': 'text', 'text': 'Hi'}]}]
/// >>> request.repairs
/// []
#[pyfunction]
pub(crate) fn history(py: Python<'_>, entries: &Bound<'_, PyAny>, dialect: &str) -> PyResult<Request> {
    let dialect = options::dialect(dialect)?;
    let list = entries.try_iter().map_err(|_| {
        wrong_type(
            "`entries` must be the entries of a log",
            entries,
            "give a list of dicts, or of lines of JSON",
        )
    })?;
    let entries = list.map(|entry| entry_of(&entry?)).collect::<PyResult<Vec<_>>>()?;
    let request = guarded(py, || engine::request(dialect, &entries))?;
    let request = request.map_err(|wrong| of_engine(py, "no-requests", &wrong))?;
    Ok(Request { request })
}

/// The messages of a request, and what had to be repaired.
#[pyclass(frozen, module = "reknit")]
pub(crate) struct Request {
    request: engine::Request,
}

#[pymethods]
impl Request {
    /// The messages in the provider's form: its `messages`, `input` or `contents`.
    #[getter]
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let messages = self.request.messages.iter().map(|message| to_python(py, message));
        PyList::new(py, messages.collect::<PyResult<Vec<_>>>()?)
    }

    /// What the provider would have refused, in the order in which it was found.
    #[getter]
    fn repairs(&self) -> Vec<Repair> {
        self.request.repairs.iter().map(Repair::from).collect()
    }

    /// The messages as JSON.
    fn to_json(&self) -> PyResult<String> {
        json(&self.request.messages)
    }
}

/// Something that a provider would have refused, and what was done about it. `seq` is the entry it concerns.
#[pyclass(frozen, eq, get_all, module = "reknit")]
#[derive(PartialEq)]
pub(crate) struct Repair {
    kind: &'static str,
    seq: u64,
    message: String,
    hint: Cow<'static, str>,
}

impl From<&engine::Repair> for Repair {
    fn from(repair: &engine::Repair) -> Self {
        let engine::Repair { kind, seq, message, .. } = repair;
        Self { kind: kind.name(), seq: *seq, message: message.clone(), hint: repair.hint() }
    }
}

#[pymethods]
impl Repair {
    fn __repr__(&self) -> String {
        format!("Repair(kind='{}', seq={}, message={:?})", self.kind, self.seq, self.message)
    }
}
