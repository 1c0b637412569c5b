//! `reknit.Message` and `reknit.Usage`.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::diagnostic::Diagnostic;
use crate::item::Call;
use crate::value::{form, json, object_to_python, to_python};

/// A reply, or as much of it as has arrived.
///
/// It is a snapshot: it does not change when more arrives.
///
/// >>> reply = reknit.Reply("openai-chat")
/// >>> _ = reply.push(b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n')
/// >>> reply.message
/// Message(status='streaming', text='Hi')
/// >>> reply.message.to_json()
/// '{"status":"streaming","blocks":[{"type":"text","text":"Hi"}],"diagnostics":[]}'
#[pyclass(frozen, eq, module = "reknit")]
#[derive(PartialEq)]
pub(crate) struct Message {
    message: reknit::Message,
}

impl Message {
    pub(crate) fn new(message: reknit::Message) -> Self {
        Self { message }
    }

    pub(crate) fn status_name(&self) -> &'static str {
        status_name(&self.message)
    }
}

pub(crate) fn status_name(message: &reknit::Message) -> &'static str {
    use reknit::message::Status;
    match message.status() {
        Status::Waiting => "waiting",
        Status::Streaming => "streaming",
        Status::Stopped => "stopped",
        Status::Failed => "failed",
        Status::Cut => "cut",
    }
}

pub(crate) fn stop_reason_name(message: &reknit::Message) -> Option<&'static str> {
    use reknit::event::StopReason;
    message.stop().map(|stop| match stop.reason {
        StopReason::End => "end",
        StopReason::Length => "length",
        StopReason::Tool => "tool",
        StopReason::StopSequence => "stop_sequence",
        StopReason::Refusal => "refusal",
        StopReason::Filter => "filter",
        StopReason::Pause => "pause",
        _ => "other",
    })
}

#[pymethods]
impl Message {
    /// The id that the provider gave it.
    #[getter]
    fn id(&self) -> Option<&str> {
        self.message.id()
    }

    /// The model that answers.
    #[getter]
    fn model(&self) -> Option<&str> {
        self.message.model()
    }

    /// The role, nearly always `assistant`.
    #[getter]
    fn role(&self) -> Option<&str> {
        self.message.role()
    }

    /// `stopped` if the provider ended the message, `cut` if the stream ended before that, `failed` if the
    /// provider reported an error; before the end `waiting` or `streaming`.
    #[getter]
    fn status(&self) -> &'static str {
        self.status_name()
    }

    /// Why the model stopped: `end`, `length`, `tool`, `stop_sequence`, `refusal`, `filter`, `pause` or `other`.
    #[getter]
    fn stop_reason(&self) -> Option<&'static str> {
        stop_reason_name(&self.message)
    }

    /// The provider's own word for that.
    #[getter]
    fn stop_detail(&self) -> Option<&str> {
        self.message.stop().map(|stop| &*stop.detail)
    }

    /// The error that the provider reported, with `type`, `message` and `raw`.
    #[getter]
    fn failure<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.message.failure().map(|failure| form(py, failure)).transpose()
    }

    /// The number of tokens.
    #[getter]
    fn usage(&self) -> Usage {
        Usage::from(self.message.usage())
    }

    /// The text.
    #[getter]
    fn text(&self) -> String {
        self.message.text()
    }

    /// The calls that may be run: complete, not run by the provider, and of a message that was not cut.
    #[getter]
    fn calls(&self, py: Python<'_>) -> PyResult<Vec<Call>> {
        self.message.runnable_calls().map(|call| Call::of(py, call)).collect()
    }

    /// All blocks, in the form of `to_dict`.
    #[getter]
    fn blocks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        form(py, &self.message)?.get_item("blocks")
    }

    /// Fields that are not part of this form, under the provider's names.
    #[getter]
    fn extra<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        object_to_python(py, self.message.extra())
    }

    /// What was unexpected in the stream.
    #[getter]
    fn diagnostics(&self) -> Vec<Diagnostic> {
        self.message.diagnostics().iter().map(Diagnostic::from).collect()
    }

    /// The JSON that `reknit read --json` prints.
    fn to_json(&self) -> PyResult<String> {
        json(&self.message)
    }

    /// The same as objects.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        form(py, &self.message)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let text = self.message.text();
        let shown: String = text.chars().take(60).collect();
        let dots = if shown.len() < text.len() { "…" } else { "" };
        let shown = to_python(py, &format!("{shown}{dots}").into())?.repr()?;
        Ok(format!("Message(status='{}', text={shown})", self.status_name()))
    }
}

/// The number of tokens, as the provider counts them. What it did not report is `None`.
#[pyclass(frozen, eq, get_all, module = "reknit")]
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Usage {
    pub(crate) input: Option<u64>,
    pub(crate) output: Option<u64>,
    pub(crate) cache_read: Option<u64>,
    pub(crate) cache_write: Option<u64>,
    pub(crate) reasoning: Option<u64>,
}

impl From<&reknit::event::Usage> for Usage {
    fn from(usage: &reknit::event::Usage) -> Self {
        let reknit::event::Usage { input, output, cache_read, cache_write, reasoning, .. } = *usage;
        Self { input, output, cache_read, cache_write, reasoning }
    }
}

#[pymethods]
impl Usage {
    fn __repr__(&self) -> String {
        let fields = [
            ("input", self.input),
            ("output", self.output),
            ("cache_read", self.cache_read),
            ("cache_write", self.cache_write),
            ("reasoning", self.reasoning),
        ];
        let known = fields.iter().filter_map(|(name, count)| count.map(|count| format!("{name}={count}")));
        format!("Usage({})", known.collect::<Vec<_>>().join(", "))
    }
}

/// A list of messages.
pub(crate) fn list<'py>(
    py: Python<'py>,
    messages: impl IntoIterator<Item = reknit::Message>,
) -> PyResult<Bound<'py, PyList>> {
    let messages = messages.into_iter().map(|message| Py::new(py, Message::new(message)));
    PyList::new(py, messages.collect::<PyResult<Vec<_>>>()?)
}
