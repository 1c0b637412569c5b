//! `reknit.Text`, `reknit.Thinking`, `reknit.Call` and `reknit.End`: the content of a reply.

use pyo3::prelude::*;
use pyo3::types::PyString;
use reknit::event::Origin;
use reknit::message::ToolCall;

use crate::error::wrong_type;
use crate::message::Message;
use crate::value::{from_python, to_python};

/// More text.
///
/// >>> reknit.Text("Hi")
/// Text(text='Hi')
#[pyclass(frozen, eq, hash, get_all, module = "reknit")]
#[derive(PartialEq, Hash)]
pub(crate) struct Text {
    text: String,
}

/// More of the model's thinking.
///
/// >>> reknit.Thinking("Hm.")
/// Thinking(text='Hm.')
#[pyclass(frozen, eq, hash, get_all, module = "reknit")]
#[derive(PartialEq, Hash)]
pub(crate) struct Thinking {
    text: String,
}

/// Both are a text and nothing else.
macro_rules! text_item {
    ($($item:ident),+) => {$(
        #[pymethods]
        impl $item {
            #[classattr]
            fn __match_args__() -> (&'static str,) {
                ("text",)
            }

            #[new]
            pub(crate) fn new(text: String) -> Self {
                Self { text }
            }

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                Ok(format!(concat!(stringify!($item), "(text={})"), PyString::new(py, &self.text).repr()?))
            }
        }
    )+};
}

text_item!(Text, Thinking);

/// A call that may be run: its arguments are complete, and so is the message.
///
/// `input` is what `json.loads` would return, `input_text` the same as JSON with every digit as it came.
///
/// >>> call = reknit.Call("call_1", "weather", {"city": "Zürich"})
/// >>> match call:
/// ...     case reknit.Call(name="weather", input={"city": city}):
/// ...         print(city)
/// Zürich
#[pyclass(frozen, get_all, module = "reknit")]
pub(crate) struct Call {
    id: String,
    name: String,
    input: Py<PyAny>,
    input_text: String,
    /// Whether it was found in the text of the reply.
    tagged: bool,
}

impl Call {
    pub(crate) fn of(py: Python<'_>, call: &ToolCall) -> PyResult<Self> {
        let input = call.input();
        let value = input.as_deref().unwrap_or(&reknit::json::Value::Null);
        Ok(Self {
            id: call.id.to_string(),
            name: call.name.clone(),
            input: to_python(py, value)?.unbind(),
            input_text: value.to_string(),
            tagged: matches!(call.origin, Origin::Tagged { .. }),
        })
    }
}

#[pymethods]
impl Call {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("id", "name", "input")
    }

    #[new]
    fn new(id: String, name: String, input: Bound<'_, PyAny>) -> PyResult<Self> {
        let input_text = from_python(&input)?.to_string();
        Ok(Self { id, name, input: input.unbind(), input_text, tagged: false })
    }

    fn __eq__(&self, other: &Self) -> bool {
        (&self.id, &self.name, &self.input_text) == (&other.id, &other.name, &other.input_text)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let input = self.input.bind(py).repr()?;
        let [id, name] = [&self.id, &self.name].map(|text| PyString::new(py, text));
        Ok(format!("Call(id={}, name={}, input={input})", id.repr()?, name.repr()?))
    }
}

/// The end of a message. `message.status` says how it ended.
///
/// `error` is why nothing more was read, if that is the reason: the input is not a stream that can be read, or
/// its source failed, whose exception is then the `__cause__`.
#[pyclass(frozen, get_all, module = "reknit")]
pub(crate) struct End {
    message: Py<Message>,
    error: Option<Py<PyAny>>,
}

#[pymethods]
impl End {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("message", "error")
    }

    #[new]
    #[pyo3(signature = (message, error=None))]
    pub(crate) fn new(message: Bound<'_, PyAny>, error: Option<Py<PyAny>>) -> PyResult<Self> {
        let hint = "give the message of a reply";
        let message = message
            .cast_into::<Message>()
            .map_err(|error| wrong_type("`message` must be a reknit.Message", &error.into_inner(), hint))?;
        Ok(Self { message: message.unbind(), error })
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let error = match &self.error {
            Some(error) => format!(", error={}", error.bind(py).repr()?),
            None => String::new(),
        };
        Ok(format!("End(message={}{error})", self.message.bind(py).repr()?))
    }
}
