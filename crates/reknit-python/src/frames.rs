//! `reknit.Frame` and `reknit.FrameDecoder`: bytes to the units of a stream.

use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use reknit::frame::{self, Framing, Kind};

use crate::diagnostic::Diagnostic;
use crate::error::{guarded, guarded_for, lock, of_engine};
use crate::options::{self, bytes_of, one_of};

const WHAT: &str = "FrameDecoder";

const FRAMINGS: [(&str, Framing); 5] = [
    ("sse", Framing::Sse),
    ("lines", Framing::Lines),
    ("json-array", Framing::JsonArray),
    ("aws-event-stream", Framing::AwsEventStream),
    ("whole", Framing::Whole),
];

/// One unit of a provider's stream: a server-sent event, a line, an element of an array.
///
/// `kind` is `data`, `comment` or `error`. `start_byte` and `end_byte` are its place in the input.
#[pyclass(frozen, eq, get_all, module = "reknit")]
#[derive(PartialEq)]
pub(crate) struct Frame {
    number: u64,
    kind: &'static str,
    event: String,
    data: String,
    id: String,
    retry: Option<u64>,
    start_byte: u64,
    end_byte: u64,
}

#[pymethods]
impl Frame {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("kind", "event", "data")
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let quoted = |text: &str| PyString::new(py, text).repr();
        let (event, data) = (quoted(&self.event)?, quoted(&self.data)?);
        Ok(format!("Frame(kind='{}', event={event}, data={data})", self.kind))
    }
}

impl From<frame::Frame<'_>> for Frame {
    fn from(frame: frame::Frame<'_>) -> Self {
        let kind = match frame.kind {
            Kind::Data => "data",
            Kind::Comment => "comment",
            Kind::Error => "error",
        };
        Self {
            number: frame.number,
            kind,
            event: frame.event.to_owned(),
            data: frame.data.to_owned(),
            id: frame.id.to_owned(),
            retry: frame.retry,
            start_byte: frame.bytes.start,
            end_byte: frame.bytes.end,
        }
    }
}

/// Takes bytes cut anywhere, and returns frames: server-sent events, lines, elements of a JSON array, messages
/// of an AWS event stream. Which of these it is is detected, unless `framing` names it. `strict` follows the
/// standard of server-sent events to the letter: an event without its blank line is dropped.
///
/// >>> decoder = reknit.FrameDecoder()
/// >>> decoder.push(b"event: greeting\ndata: He")
/// []
/// >>> decoder.push(b"llo\n\n")
/// [Frame(kind='data', event='greeting', data='Hello')]
/// >>> decoder.framing
/// 'sse'
#[pyclass(frozen, module = "reknit")]
pub(crate) struct FrameDecoder {
    inner: Mutex<Inner>,
}

struct Inner {
    decoder: frame::Decoder,
    error: Option<frame::Error>,
}

#[pymethods]
impl FrameDecoder {
    #[new]
    #[pyo3(signature = (framing=None, *, strict=false, limits=None))]
    fn new(framing: Option<&str>, strict: bool, limits: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let limits = options::limits(limits)?;
        let mut decoder = match framing {
            Some(name) => frame::Decoder::new(one_of("framing", name, &FRAMINGS)?, &limits),
            None => frame::Decoder::detect(&limits),
        };
        if strict {
            decoder = decoder.strict();
        }
        Ok(Self { inner: Mutex::new(Inner { decoder, error: None }) })
    }

    /// Takes a piece, and returns the frames in it; a diagnostic comes before the frame that it is about.
    fn push<'py>(&self, py: Python<'py>, piece: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let piece = bytes_of(piece)?;
        let mut inner = lock(py, &self.inner, WHAT)?;
        let decoder = &mut inner.decoder;
        guarded_for(py, piece.len(), || decoder.push(&piece))?;
        inner.take(py)
    }

    /// Ends the input, and returns what is left of it.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut inner = lock(py, &self.inner, WHAT)?;
        guarded(py, || inner.decoder.finish())?;
        inner.take(py)
    }

    /// `sse`, `lines`, `json-array`, `aws-event-stream` or `whole`, once it is known.
    #[getter]
    fn framing(&self, py: Python<'_>) -> PyResult<Option<&'static str>> {
        let framing = lock(py, &self.inner, WHAT)?.decoder.framing();
        Ok(FRAMINGS.iter().find(|(_, known)| Some(*known) == framing).map(|(name, _)| *name))
    }

    /// Why the rest of the input is refused, if it is: a `reknit.Error`.
    #[getter]
    fn error<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let inner = lock(py, &self.inner, WHAT)?;
        let refused = inner.error.as_ref().map(|refused| {
            let kind = reknit::reply::Error::Frame(refused.clone()).kind().name();
            of_engine(py, kind, refused)
        });
        Ok(refused.map(|error| error.into_value(py).into_bound(py).into_any()))
    }
}

impl Inner {
    fn take<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        while self.error.is_none() {
            let decoder = &mut self.decoder;
            let next = guarded(py, || decoder.next_frame().map(|frame| frame.map(Frame::from)))?;
            while let Some(diagnostic) = self.decoder.next_diagnostic() {
                list.append(Diagnostic::from(&diagnostic))?;
            }
            match next {
                Ok(Some(frame)) => list.append(frame)?,
                Ok(None) => break,
                Err(error) => self.error = Some(error),
            }
        }
        Ok(list)
    }
}
