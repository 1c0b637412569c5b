//! The changes of a reply as Python's dicts.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use reknit::event::Slot;
use reknit::message::{Body, Change};

use crate::diagnostic::{Address, name_block, name_bytes};
use crate::offsets::Offsets;
use crate::value::form;

/// A change, and the place of its text in code points if it has any.
pub(crate) struct Step {
    change: Change<'static>,
    at: usize,
}

/// A growing text of a message: of a block, or its signature.
type Grown = (Slot, bool);

/// Counts what each block of a message has.
pub(crate) struct Counter(Offsets<Grown>);

impl Counter {
    pub(crate) fn new() -> Self {
        Self(Offsets::new())
    }

    /// The place of what a change adds, in code points.
    pub(crate) fn place(&mut self, change: &Change<'_>, message: &reknit::Message) -> usize {
        let body = |block: Slot| message.block(block).map(reknit::message::Block::body);
        match change {
            Change::Started(_) => {
                self.0.clear();
                0
            }
            Change::Grew { block, at, text } => {
                self.0.grow((*block, false), *at, text, || match body(*block) {
                    Some(Body::Text { text, .. } | Body::Thinking { text, .. }) => Some(text),
                    _ => None,
                })
            }
            Change::Signed { block, at, signature } => {
                self.0.grow((*block, true), *at, signature, || match body(*block) {
                    Some(Body::Thinking { signature, .. }) => Some(signature),
                    _ => None,
                })
            }
            _ => 0,
        }
    }
}

/// Adds a change to those of a push. Growth of the block that grew last is joined to it.
pub(crate) fn add(steps: &mut Vec<Step>, change: Change<'_>, at: usize, join: bool) {
    if join
        && let Change::Grew { block, text, .. } = &change
        && let Some(Step { change: Change::Grew { block: last, text: grown, .. }, .. }) = steps.last_mut()
        && last == block
    {
        grown.to_mut().push_str(text);
        return;
    }
    steps.push(Step { change: change.into_owned(), at });
}

pub(crate) fn list<'py>(py: Python<'py>, steps: &[Step]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for Step { change, at } in steps {
        list.append(to_python(py, change, *at)?)?;
    }
    Ok(list)
}

fn to_python<'py>(py: Python<'py>, change: &Change<'_>, at: usize) -> PyResult<Bound<'py, PyAny>> {
    match change {
        Change::Grew { block, text, .. } => {
            grown(py, intern!(py, "grew"), *block, at, intern!(py, "text"), text)
        }
        Change::Signed { block, signature, .. } => {
            grown(py, intern!(py, "signed"), *block, at, intern!(py, "signature"), signature)
        }
        other => {
            let dict = form(py, other)?;
            for (name, body) in dict.cast::<PyDict>()? {
                name_places(&name.extract::<String>()?, body.cast::<PyDict>()?)?;
            }
            Ok(dict)
        }
    }
}

fn grown<'py>(
    py: Python<'py>,
    name: &Bound<'py, PyString>,
    block: Slot,
    at: usize,
    field: &Bound<'py, PyString>,
    text: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let body = PyDict::new(py);
    body.set_item(intern!(py, "block"), Address(block))?;
    body.set_item(intern!(py, "at"), at)?;
    body.set_item(field, text)?;
    let dict = PyDict::new(py);
    dict.set_item(name, body)?;
    Ok(dict.into_any())
}

/// Makes addresses tuples, and names bytes as such.
fn name_places(name: &str, body: &Bound<'_, PyDict>) -> PyResult<()> {
    name_block(body)?;
    if name == "noticed" {
        name_bytes(body)?;
    }
    if let Some(notice) = body.get_item("notice")? {
        name_bytes(notice.cast()?)?;
    }
    if let Some(owner) = body.get_item("owner")?
        && let Ok(owner) = owner.cast::<PyDict>()
    {
        name_block(owner)?;
    }
    Ok(())
}
