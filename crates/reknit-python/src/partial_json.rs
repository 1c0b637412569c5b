//! `reknit.PartialJson`: a JSON value while its text arrives.

use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use reknit::json::{self, Change, State};

use crate::error::{guarded_for, lock, of_engine, wrong_type};
use crate::options;
use crate::shadow::Shadow;
use crate::value::to_python;

const WHAT: &str = "PartialJson";

/// A JSON value whose text arrives in pieces, cut anywhere.
///
/// No byte is read twice. `value` is kept and patched: looking at it after each piece costs the piece and not
/// the value. A string grows as it arrives; a number appears when it cannot change any more.
///
/// >>> json = reknit.PartialJson()
/// >>> json.push('{"path": "a.py", "content": "impo')
/// >>> json.value
/// {'path': 'a.py', 'content': 'impo'}
/// >>> json.state("/path"), json.state("/content"), json.state("/mode")
/// ('complete', 'partial', 'missing')
/// >>> json.push('rt os"}')
/// >>> json.changes
/// [JsonChange('grew', '/content', 'rt os'), JsonChange('closed', '/content'), JsonChange('closed', '')]
/// >>> json.finish()
/// {'path': 'a.py', 'content': 'import os'}
#[pyclass(frozen, module = "reknit")]
pub(crate) struct PartialJson {
    inner: Mutex<Inner>,
}

struct Inner {
    json: json::PartialJson,
    /// The value as Python's objects, once somebody has asked for it.
    shadow: Option<Shadow>,
}

/// What a piece changed in a value, at the JSON pointer `path`.
///
/// `kind` is `opened` for an empty string, list or dict, `grew` for a string that got longer by `text`,
/// `scalar` for a null, boolean or number, and `closed` for a string, list or dict that is complete.
#[pyclass(frozen, eq, get_all, module = "reknit")]
#[derive(PartialEq)]
pub(crate) struct JsonChange {
    kind: &'static str,
    path: String,
    text: Option<String>,
}

#[pymethods]
impl JsonChange {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("kind", "path", "text")
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let quoted = |text: &str| PyString::new(py, text).repr();
        let path = quoted(&self.path)?;
        match &self.text {
            Some(text) => Ok(format!("JsonChange('{}', {path}, {})", self.kind, quoted(text)?)),
            None => Ok(format!("JsonChange('{}', {path})", self.kind)),
        }
    }
}

impl From<Change<'_>> for JsonChange {
    fn from(change: Change<'_>) -> Self {
        let path = change.path().to_string();
        let (kind, text) = match change {
            Change::Opened { .. } => ("opened", None),
            Change::StringGrew { text, .. } => ("grew", Some(text.to_owned())),
            Change::Scalar { .. } => ("scalar", None),
            Change::Closed { .. } => ("closed", None),
        };
        Self { kind, path, text }
    }
}

#[pymethods]
impl PartialJson {
    #[new]
    #[pyo3(signature = (*, depth=128))]
    fn new(depth: usize) -> PyResult<Self> {
        let json = json::PartialJson::with_depth(options::depth(depth)?);
        Ok(Self { inner: Mutex::new(Inner { json, shadow: None }) })
    }

    /// Takes the next piece.
    ///
    /// Text that is not JSON is not an exception here: `error` says what is wrong with it, and what was read
    /// before stays.
    fn push(&self, py: Python<'_>, piece: &Bound<'_, PyAny>) -> PyResult<()> {
        let Ok(text) = piece.cast::<PyString>() else {
            return Err(wrong_type("a piece of JSON must be a str", piece, "decode it first"));
        };
        let text = text.to_str()?;
        let mut inner = lock(py, &self.inner, WHAT)?;
        let Inner { json, shadow } = &mut *inner;
        guarded_for(py, text.len(), || {
            // The error stays, and is returned by `error` and `finish`.
            let _ = json.push(text);
        })?;
        shadow.as_mut().map_or(Ok(()), |shadow| shadow.follow(py, json))
    }

    /// What the last piece changed, in the order of the text.
    #[getter]
    fn changes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let inner = lock(py, &self.inner, WHAT)?;
        let list = PyList::empty(py);
        for change in inner.json.changes() {
            list.append(JsonChange::from(change))?;
        }
        Ok(list)
    }

    /// The value so far, and `None` until something has arrived. It is changed by `push`: copy what you want to keep.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut inner = lock(py, &self.inner, WHAT)?;
        let Inner { json, shadow } = &mut *inner;
        match shadow {
            Some(shadow) => Ok(shadow.value(py)),
            None => Ok(shadow.insert(Shadow::new(py, json)?).value(py)),
        }
    }

    /// How much has arrived of the value at a JSON pointer: `missing`, `partial` or `complete`.
    #[pyo3(signature = (pointer=""))]
    fn state(&self, py: Python<'_>, pointer: &str) -> PyResult<&'static str> {
        let inner = lock(py, &self.inner, WHAT)?;
        Ok(match inner.json.state(pointer) {
            State::Missing => "missing",
            State::Partial => "partial",
            State::Complete => "complete",
        })
    }

    /// What is wrong with the text, if it can no longer become a value: a `reknit.Error`.
    #[getter]
    fn error<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let inner = lock(py, &self.inner, WHAT)?;
        let wrong = inner.json.error().map(|error| not_json(py, &error));
        Ok(wrong.map(|error| error.into_value(py).into_bound(py).into_any()))
    }

    /// The value, if the text is one complete value; otherwise raises `reknit.Error`.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let inner = lock(py, &self.inner, WHAT)?;
        match inner.json.clone().finish() {
            Ok(value) => to_python(py, &value),
            Err(error) => Err(not_json(py, &error)),
        }
    }

    /// The text of all pieces.
    #[getter]
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        Ok(String::from(lock(py, &self.inner, WHAT)?.json.raw()))
    }

    /// How many keys were repeated, and the byte of the first; `None` if none was. The last value counts.
    #[getter]
    fn duplicate_keys(&self, py: Python<'_>) -> PyResult<Option<(usize, usize)>> {
        let inner = lock(py, &self.inner, WHAT)?;
        Ok(inner.json.duplicate_keys())
    }

    /// The value so far as JSON, with every digit as it came; `None` until something has arrived.
    fn to_json(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(lock(py, &self.inner, WHAT)?.json.value().map(ToString::to_string))
    }
}

fn not_json(py: Python<'_>, wrong: &json::Error) -> PyErr {
    let kind = match wrong.kind() {
        json::ErrorKind::Empty => "empty",
        json::ErrorKind::OutOfRange => "out-of-range",
        json::ErrorKind::TooDeep => "too-deep",
        json::ErrorKind::Truncated => "truncated",
        _ => "syntax",
    };
    of_engine(py, kind, wrong)
}
