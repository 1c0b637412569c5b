//! A column of raw streams to columns of what they say, by Arrow's C data interface.

use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};

use crate::error::{guarded, wrong_type};
use crate::options::wrong_grammar;
use crate::reply::Choice;

mod c_data;
mod column;
mod input;
mod rows;

use input::Cells;
use rows::Rows;

/// Reads every stream of a binary column. Returns the capsules of a struct array with a row for each.
///
/// The global lock is released while it reads.
#[pyfunction]
#[pyo3(name = "_read_column", signature = (column, *, dialect=None, profile=None, grammar=None, tools=None, limits=None))]
pub(crate) fn read_column<'py>(
    py: Python<'py>,
    column: &Bound<'py, PyAny>,
    dialect: Option<&str>,
    profile: Option<&str>,
    grammar: Option<&str>,
    tools: Option<&Bound<'py, PyAny>>,
    limits: Option<&Bound<'py, PyDict>>,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let choice = Choice::new(dialect, profile, grammar, tools, "call_", limits)?;
    choice.reply().map_err(|error| wrong_grammar(&error))?;
    let wrong =
        || wrong_type("a column must be an Arrow array", column, "give a column of a pyarrow.RecordBatch");
    let capsules = column.call_method0("__arrow_c_array__").map_err(|_| wrong())?;
    let capsules = capsules.cast_into::<PyTuple>()?;
    let (schema, array) = (capsules.get_item(0)?, capsules.get_item(1)?);
    let cells = Cells::new(schema.cast::<PyCapsule>()?, array.cast::<PyCapsule>()?)?;
    let rows = py.detach(|| {
        let mut rows = Rows::default();
        for cell in cells.iter() {
            rows.read(cell, &choice);
        }
        rows
    });
    let (schema, array) = guarded(py, || rows.finish().export())?;
    let schema = PyCapsule::new_with_value(py, schema, c_data::SCHEMA_NAME)?;
    let array = PyCapsule::new_with_value(py, array, c_data::ARRAY_NAME)?;
    Ok((schema, array))
}
