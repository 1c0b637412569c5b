//! `reknit.Chunks` and `reknit.Transcript`: what a person sees of a session.

use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use reknit::agent::{AgentEvent, Entry, Misread};
use reknit::transcript::{self, Chunk, append};
use serde::Serialize;

use crate::diagnostic::name_bytes;
use crate::error::{guarded, lock, of_engine, wrong_value};
use crate::offsets::Offsets;
use crate::value::{form, from_text_or_python, json};

/// A growing text: the message, the chunk, the call, and which of its texts.
type Grown = (usize, usize, usize, &'static str);

/// Agent events folded into what a person sees of a message: text, thinking, calls with their results.
///
/// >>> chunks = reknit.Chunks()
/// >>> chunks.append({"type": "text-delta", "delta": "Hi"})
/// {'opened': {'chunk': 0, 'value': {'type': 'text', 'text': 'Hi'}}}
/// >>> chunks.append('{"type": "text-delta", "delta": " there"}')
/// {'grew': {'chunk': 0, 'at': 2, 'text': ' there'}}
/// >>> chunks.chunks
/// [{'type': 'text', 'text': 'Hi there'}]
#[pyclass(frozen, module = "reknit")]
pub(crate) struct Chunks {
    inner: Mutex<Folding<transcript::Chunks>>,
}

/// A fold, and the lengths of its texts.
struct Folding<T> {
    fold: T,
    offsets: Offsets<Grown>,
}

/// What `reknit chunks --json` prints for events.
#[derive(Serialize)]
struct Shown<'a> {
    chunks: &'a [Chunk],
    diagnostics: &'a [reknit::Diagnostic],
}

#[pymethods]
impl Chunks {
    #[new]
    fn new() -> Self {
        let fold = transcript::Chunks::default();
        Self { inner: Mutex::new(Folding { fold, offsets: Offsets::new() }) }
    }

    /// Takes an agent event, as a dict or as JSON, and returns what it changed.
    fn append<'py>(&self, py: Python<'py>, event: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (event, _) = AgentEvent::read(from_text_or_python(event)?).map_err(|error| misread(&error))?;
        let mut inner = lock(py, &self.inner, "Chunks")?;
        let Folding { fold, offsets } = &mut *inner;
        let change = guarded(py, || append(fold, &event))?;
        let dict = form(py, &change)?;
        place(&dict, 0, &change, fold, offsets)?;
        Ok(dict)
    }

    /// The same, as the engine's own JSON, in which places are counted in bytes.
    fn append_json(&self, py: Python<'_>, event: &Bound<'_, PyAny>) -> PyResult<String> {
        let (event, _) = AgentEvent::read(from_text_or_python(event)?).map_err(|error| misread(&error))?;
        let mut inner = lock(py, &self.inner, "Chunks")?;
        json(&guarded(py, || append(&mut inner.fold, &event))?)
    }

    /// All chunks.
    #[getter]
    fn chunks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        form(py, &lock(py, &self.inner, "Chunks")?.fold.to_vec())
    }

    /// The chunks and what was dropped, as JSON.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        json(&shown(&lock(py, &self.inner, "Chunks")?.fold))
    }

    /// The same as objects.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        form(py, &shown(&lock(py, &self.inner, "Chunks")?.fold))
    }
}

fn shown(chunks: &transcript::Chunks) -> Shown<'_> {
    Shown { chunks, diagnostics: chunks.diagnostics() }
}

/// The entries of a session's log folded into the messages that a person sees.
///
/// >>> transcript = reknit.Transcript()
/// >>> body = {"type": "user-message", "content": [{"type": "text", "text": "Hi"}]}
/// >>> step = transcript.append({"v": 1, "seq": 1, "at": 0, "body": body})
/// >>> transcript.messages[0]["role"], transcript.messages[0]["chunks"]
/// ('user', [{'type': 'text', 'text': 'Hi'}])
#[pyclass(frozen, module = "reknit")]
pub(crate) struct Transcript {
    inner: Mutex<Folding<transcript::Transcript>>,
}

#[pymethods]
impl Transcript {
    #[new]
    fn new() -> Self {
        Self::of(transcript::Transcript::default())
    }

    /// Continues with a transcript that was saved with `to_json`.
    #[staticmethod]
    fn from_json(saved: &Bound<'_, PyString>) -> PyResult<Self> {
        let read = serde_json::from_str(saved.to_str()?);
        read.map(Self::of)
            .map_err(|error| PyValueError::new_err(format!("this is not a transcript: {error}")))
    }

    /// Takes an entry of the log, as a dict or as JSON, and returns what it changed; `None` if it was taken before.
    ///
    /// An entry that is not the next one raises `reknit.Error`.
    fn append<'py>(&self, py: Python<'py>, entry: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let entry = entry_of(entry)?;
        let mut inner = lock(py, &self.inner, "Transcript")?;
        let Folding { fold, offsets } = &mut *inner;
        let Some(step) = guarded(py, || fold.append(&entry))?.map_err(|error| misfit(py, &error))? else {
            return Ok(None);
        };
        let dict = form(py, &step)?;
        let effect = dict.get_item("effect")?;
        match &step.effect {
            transcript::Effect::Chunk { message, change, .. } => {
                let chunks = &fold.messages()[*message].chunks;
                place(&effect.get_item("chunk")?.get_item("change")?, *message, change, chunks, offsets)?;
            }
            transcript::Effect::Dropped(_) => name_bytes(effect.get_item("dropped")?.cast()?)?,
            _ => {}
        }
        Ok(Some(dict))
    }

    /// The same, as the engine's own JSON, in which places are counted in bytes.
    fn append_json(&self, py: Python<'_>, entry: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        let entry = entry_of(entry)?;
        let mut inner = lock(py, &self.inner, "Transcript")?;
        let step = guarded(py, || inner.fold.append(&entry))?.map_err(|error| misfit(py, &error))?;
        step.map(|step| json(&step)).transpose()
    }

    /// All messages.
    #[getter]
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        form(py, &lock(py, &self.inner, "Transcript")?.fold.messages())
    }

    /// The number of the last entry.
    #[getter]
    fn seq(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(lock(py, &self.inner, "Transcript")?.fold.seq())
    }

    /// The transcript as JSON, which `from_json` reads.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        json(&lock(py, &self.inner, "Transcript")?.fold)
    }

    /// The same as objects.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        form(py, &lock(py, &self.inner, "Transcript")?.fold)
    }
}

impl Transcript {
    fn of(fold: transcript::Transcript) -> Self {
        Self { inner: Mutex::new(Folding { fold, offsets: Offsets::new() }) }
    }
}

/// An entry from JSON or from objects.
pub(crate) fn entry_of(entry: &Bound<'_, PyAny>) -> PyResult<Entry> {
    Entry::try_from(from_text_or_python(entry)?).map_err(|error| misread(&error))
}

fn misread(error: &Misread) -> PyErr {
    wrong_value("", error)
}

fn misfit(py: Python<'_>, misfit: &transcript::Misfit) -> PyErr {
    of_engine(py, "misfit", misfit)
}

/// Gives the place of what a change adds in code points.
fn place(
    dict: &Bound<'_, PyAny>,
    message: usize,
    change: &transcript::Change<'_>,
    chunks: &transcript::Chunks,
    offsets: &mut Offsets<Grown>,
) -> PyResult<()> {
    use transcript::Change;
    let call_at = |chunk: usize, call: usize| match chunks.get(chunk) {
        Some(Chunk::ToolBatch { calls }) => calls.get(call),
        _ => None,
    };
    let (name, at) = match change {
        Change::Grew { chunk, at, text } => {
            let whole = || match chunks.get(*chunk) {
                Some(Chunk::Text { text } | Chunk::Thinking { text, .. }) => Some(text),
                _ => None,
            };
            ("grew", offsets.grow((message, *chunk, 0, "text"), *at, text, whole))
        }
        Change::InputGrew { chunk, call, at, text } => {
            let whole = || match &call_at(*chunk, *call)?.input {
                transcript::Input::Streaming { input_text } => Some(input_text),
                _ => None,
            };
            ("input_grew", offsets.grow((message, *chunk, *call, "input"), *at, text, whole))
        }
        Change::Wrote { chunk, call, stream, at, text } => {
            let output = || call_at(*chunk, *call)?.shell_output.as_ref();
            let (which, whole): (_, Option<&reknit::Text>) = match stream {
                reknit::agent::Stream::Stdout => ("stdout", output().map(|output| &output.stdout)),
                reknit::agent::Stream::Stderr => ("stderr", output().map(|output| &output.stderr)),
            };
            ("wrote", offsets.grow((message, *chunk, *call, which), *at, text, || whole))
        }
        Change::Previewed { chunk, call, at, text, .. } => {
            let whole = || call_at(*chunk, *call)?.preview.as_ref().map(|preview| &preview.text);
            ("previewed", offsets.grow((message, *chunk, *call, "preview"), *at, text, whole))
        }
        Change::Dropped(_) => return name_bytes(dict.get_item("dropped")?.cast::<PyDict>()?),
        _ => return Ok(()),
    };
    dict.get_item(name)?.set_item("at", at)
}
