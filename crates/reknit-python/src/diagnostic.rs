//! `reknit.Diagnostic`.

use std::borrow::Cow;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use reknit::Hint;
use reknit::diagnostic::Location;
use reknit::event::Slot;

/// Something that was unexpected in a stream, a text or a session. Reading went on after it.
///
/// Places are counted in bytes: `at_byte` in the input, `offset_byte` in the text of `block`.
#[pyclass(frozen, eq, get_all, module = "reknit")]
#[derive(Clone, PartialEq)]
pub(crate) struct Diagnostic {
    kind: &'static str,
    message: String,
    hint: Cow<'static, str>,
    at_byte: Option<u64>,
    frame: Option<u64>,
    block: Option<Address>,
    offset_byte: Option<u64>,
    event: Option<u64>,
}

#[pymethods]
impl Diagnostic {
    fn __repr__(&self) -> String {
        let at = self.at_byte.map_or_else(String::new, |at| format!(", at_byte={at}"));
        format!("Diagnostic(kind={:?}, message={:?}{at})", self.kind, self.message)
    }
}

impl From<&reknit::Diagnostic> for Diagnostic {
    fn from(diagnostic: &reknit::Diagnostic) -> Self {
        let place = diagnostic.place();
        let (mut block, mut offset_byte, mut event) = (None, None, None);
        match diagnostic.location {
            Location::Text { block: slot, offset, .. } => {
                (block, offset_byte) = (Some(Address(slot)), Some(offset));
            }
            Location::Event(number) => event = Some(number),
            _ => {}
        }
        Self {
            kind: diagnostic.kind.name(),
            message: diagnostic.message.clone(),
            hint: diagnostic.hint(),
            at_byte: place.map(|place| place.at),
            frame: place.map(|place| place.frame),
            block,
            offset_byte,
            event,
        }
    }
}

/// The address of a block: a number, or two for a block that was found in a text.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Address(pub(crate) Slot);

impl<'py> IntoPyObject<'py> for Address {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        match self.0.numbers() {
            (number, None) => Ok(number.into_pyobject(py)?.into_any()),
            (number, Some(below)) => Ok((number, below).into_pyobject(py)?.into_any()),
        }
    }
}

impl<'py> IntoPyObject<'py> for &Address {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        (*self).into_pyobject(py)
    }
}

/// Names the bytes in a diagnostic that is a dict as such, and makes the address of its block a tuple.
pub(crate) fn name_bytes(diagnostic: &Bound<'_, PyDict>) -> PyResult<()> {
    for (old, new) in [("at", "at_byte"), ("offset", "offset_byte")] {
        if let Some(byte) = diagnostic.get_item(old)? {
            diagnostic.del_item(old)?;
            diagnostic.set_item(new, byte)?;
        }
    }
    name_block(diagnostic)
}

/// Makes the address of a block a tuple, which can be a key.
pub(crate) fn name_block(dict: &Bound<'_, PyDict>) -> PyResult<()> {
    if let Some(block) = dict.get_item("block")?
        && let Ok(numbers) = block.extract::<Vec<u32>>()
    {
        dict.set_item("block", PyTuple::new(dict.py(), numbers)?)?;
    }
    Ok(())
}
