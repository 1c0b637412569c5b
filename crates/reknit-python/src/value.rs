//! JSON values to Python's objects and back.

use pyo3::exceptions::{PyRecursionError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use reknit::json::{Number, Object, Value};
use serde::Serialize;

use crate::error::{unexpected, wrong_value};
use crate::options::dict_of;

/// How deeply the engine's own forms may be nested: arguments of any depth that it reads, and what is around them.
const DEPTH: usize = 640;

/// What `json.loads` would return.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(bool) => PyBool::new(py, *bool).to_owned().into_any(),
        Value::Number(number) => number_to_python(py, number)?,
        Value::String(text) => PyString::new(py, &text.to_str()).into_any(),
        Value::Array(elements) => {
            let list = PyList::empty(py);
            for element in elements {
                list.append(to_python(py, element)?)?;
            }
            list.into_any()
        }
        Value::Object(members) => object_to_python(py, members)?.into_any(),
    })
}

pub(crate) fn object_to_python<'py>(py: Python<'py>, members: &Object) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, member) in members.iter() {
        dict.set_item(key, to_python(py, member)?)?;
    }
    Ok(dict)
}

fn number_to_python<'py>(py: Python<'py>, number: &Number) -> PyResult<Bound<'py, PyAny>> {
    let text = number.as_str();
    if let Some(integer) = number.as_i64() {
        return Ok(integer.into_pyobject(py)?.into_any());
    }
    if text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()) {
        // Python refuses integers of more than some thousand digits.
        if let Ok(integer) = py.get_type::<PyInt>().call1((text,)) {
            return Ok(integer);
        }
    }
    Ok(PyFloat::new(py, number.as_f64()).into_any())
}

/// The JSON form of something, as Python's objects.
pub(crate) fn form<'py>(py: Python<'py>, form: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    parsed(py, &json(form)?)
}

/// JSON of ours, as Python's objects.
pub(crate) fn parsed<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
    to_python(py, &Value::parse(json, DEPTH).map_err(unexpected)?)
}

/// The JSON form of something, as text.
pub(crate) fn json(form: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(form).map_err(unexpected)
}

/// A value from JSON text, or from Python's objects.
pub(crate) fn from_text_or_python(given: &Bound<'_, PyAny>) -> PyResult<Value> {
    match given.cast::<PyString>() {
        Ok(text) => {
            Value::parse(text.to_str()?, DEPTH).map_err(|error| wrong_value("this is not JSON: ", &error))
        }
        Err(_) => from_python(given),
    }
}

/// What `json.dumps` would write.
pub(crate) fn from_python(given: &Bound<'_, PyAny>) -> PyResult<Value> {
    below(given, DEPTH)
}

fn below(given: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(PyRecursionError::new_err(format!("the value has more than {DEPTH} levels")));
    };
    if given.is_none() {
        Ok(Value::Null)
    } else if let Ok(bool) = given.cast::<PyBool>() {
        Ok(Value::Bool(bool.is_true()))
    } else if let Ok(text) = given.cast::<PyString>() {
        Ok(Value::from(text.to_str()?))
    } else if given.is_instance_of::<PyInt>() {
        given.str()?.to_str()?.parse().map_err(unexpected)
    } else if let Ok(float) = given.cast::<PyFloat>() {
        let float = float.value();
        match float.is_finite() {
            true => Ok(serde_json::Value::from(float).into()),
            false => Err(PyValueError::new_err(format!("JSON has no number for {float}"))),
        }
    } else if let Some(dict) = dict_of(given) {
        let mut object = Object::new();
        for (key, member) in dict {
            let key = key.cast::<PyString>().map_err(|_| PyTypeError::new_err("a key must be a string"))?;
            object.insert(key.to_str()?, below(&member, depth)?);
        }
        Ok(object.into())
    } else if given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>() {
        let elements = given.try_iter()?.map(|element| below(&element?, depth));
        elements.collect::<PyResult<Vec<_>>>().map(Value::from)
    } else {
        Err(crate::error::wrong_type(
            "a value must be None, a bool, a number, a str, a list or a dict",
            given,
            "convert it first",
        ))
    }
}
