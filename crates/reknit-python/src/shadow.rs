//! [`Shadow`]: a growing JSON value as Python's objects, which are kept and patched.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use reknit::json::{Change, PartialJson, Step, Value};

use crate::value::to_python;

/// The objects of a value, and where in them the text goes on.
pub(crate) struct Shadow {
    root: Py<PyAny>,
    /// The lists and dicts that are open, outermost first.
    open: Vec<Py<PyAny>>,
    /// The place of the string that is open, in the innermost of these.
    string: Option<Place>,
}

/// A place for a value.
enum Place {
    Root,
    Key(Py<PyString>),
    Index(usize),
}

/// What opens.
enum Kind {
    String,
    List,
    Dict,
}

/// The objects are not as we left them: somebody changed them.
struct Astray;

type Followed = Result<(), Astray>;

impl Shadow {
    /// The objects for a value as it is now.
    pub(crate) fn new(py: Python<'_>, json: &PartialJson) -> PyResult<Self> {
        let root = match json.value() {
            Some(value) => to_python(py, value)?,
            None => py.None().into_bound(py),
        };
        let mut shadow = Self { root: root.unbind(), open: Vec::new(), string: None };
        shadow.find_open(py, json)?;
        Ok(shadow)
    }

    pub(crate) fn value<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.root.bind(py).clone()
    }

    /// Does to the objects what the last piece did to the value.
    pub(crate) fn follow(&mut self, py: Python<'_>, json: &PartialJson) -> PyResult<()> {
        let mut changes = json.changes().peekable();
        while let Some(change) = changes.next() {
            if self.apply(py, json, change, changes.peek()).is_err() {
                *self = Self::new(py, json)?;
                break;
            }
        }
        Ok(())
    }

    /// Walks down the last of each list and dict that is not complete: that is where the text goes on.
    fn find_open(&mut self, py: Python<'_>, json: &PartialJson) -> PyResult<()> {
        let Some(mut value) = json.value() else { return Ok(()) };
        let (mut object, mut pointer, mut place) = (self.root.bind(py).clone(), String::new(), Place::Root);
        while json.state(&pointer) == reknit::json::State::Partial {
            match value {
                Value::String(_) => {
                    self.string = Some(place);
                    return Ok(());
                }
                Value::Array(elements) => {
                    self.open.push(object.clone().unbind());
                    let Some(last) = elements.last() else { return Ok(()) };
                    let index = elements.len() - 1;
                    (value, place) = (last, Place::Index(index));
                    pointer = format!("{pointer}/{index}");
                    object = object.get_item(index)?;
                }
                Value::Object(members) => {
                    self.open.push(object.clone().unbind());
                    // A repeated key leaves its member where it was, so the open one need not be the last.
                    let child =
                        |key: &str| format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
                    let is_open = |key: &str| json.state(&child(key)) == reknit::json::State::Partial;
                    let Some((key, member)) = members.iter().rev().find(|(key, _)| is_open(key)) else {
                        return Ok(());
                    };
                    (pointer, value) = (child(key), member);
                    object = object.get_item(key)?;
                    place = Place::Key(PyString::new(py, key).unbind());
                }
                Value::Null | Value::Bool(_) | Value::Number(_) => return Ok(()),
            }
        }
        Ok(())
    }

    fn apply(
        &mut self,
        py: Python<'_>,
        json: &PartialJson,
        change: Change<'_>,
        next: Option<&Change<'_>>,
    ) -> Followed {
        match change {
            Change::Opened { path } => {
                let place = Place::new(py, path.steps().next_back());
                match Kind::new(json.at(path), next) {
                    Kind::List => self.open_container(py, &place, PyList::empty(py).into_any()),
                    Kind::Dict => self.open_container(py, &place, PyDict::new(py).into_any()),
                    Kind::String => {
                        self.put(py, &place, PyString::new(py, "").into_any())?;
                        self.string = Some(place);
                        Ok(())
                    }
                }
            }
            Change::Scalar { path } => {
                let place = Place::new(py, path.steps().next_back());
                let value = match json.at(path) {
                    Some(value @ (Value::Null | Value::Bool(_) | Value::Number(_))) => to_python(py, value),
                    // The same piece replaces it: what it was is not known any more, and does not matter.
                    _ => Ok(py.None().into_bound(py)),
                };
                self.put(py, &place, value.map_err(|_| Astray)?)
            }
            Change::StringGrew { text, .. } => self.grow(py, text),
            Change::Closed { .. } => {
                if self.string.take().is_none() {
                    self.open.pop().ok_or(Astray)?;
                }
                Ok(())
            }
        }
    }

    fn open_container(&mut self, py: Python<'_>, place: &Place, container: Bound<'_, PyAny>) -> Followed {
        self.put(py, place, container.clone())?;
        self.open.push(container.unbind());
        Ok(())
    }

    /// Puts a value into the innermost list or dict that is open.
    fn put(&mut self, py: Python<'_>, place: &Place, value: Bound<'_, PyAny>) -> Followed {
        match place {
            Place::Root => {
                self.root = value.unbind();
                Ok(())
            }
            Place::Key(key) => self.inner::<PyDict>(py)?.set_item(key.bind(py), value).map_err(|_| Astray),
            Place::Index(index) => {
                let list = self.inner::<PyList>(py)?;
                match list.len() {
                    length if length == *index => list.append(value).map_err(|_| Astray),
                    length if length > *index => list.set_item(*index, value).map_err(|_| Astray),
                    _ => Err(Astray),
                }
            }
        }
    }

    fn inner<'py, T: pyo3::PyTypeCheck>(&self, py: Python<'py>) -> Result<Bound<'py, T>, Astray> {
        let inner = self.open.last().ok_or(Astray)?.bind(py).clone();
        inner.cast_into().map_err(|_| Astray)
    }

    /// Adds text to the string that is open.
    ///
    /// Python's strings do not change, but one that nobody else holds may grow in place. So the string is taken
    /// out of its place first: if that was the only reference, only the new text is copied.
    fn grow(&mut self, py: Python<'_>, text: &str) -> Followed {
        let place = self.string.take().ok_or(Astray)?;
        let none = || py.None().into_bound(py);
        let old = match &place {
            Place::Root => std::mem::replace(&mut self.root, py.None()).into_bound(py),
            Place::Key(key) => {
                let old = self.inner::<PyDict>(py)?.get_item(key.bind(py)).ok().flatten().ok_or(Astray)?;
                self.put(py, &place, none())?;
                old
            }
            Place::Index(index) => {
                let old = self.inner::<PyList>(py)?.get_item(*index).map_err(|_| Astray)?;
                self.put(py, &place, none())?;
                old
            }
        };
        let old = old.cast_into::<PyString>().map_err(|_| Astray)?;
        self.put(py, &place, appended(old, text).ok_or(Astray)?)?;
        self.string = Some(place);
        Ok(())
    }
}

impl Kind {
    /// What opens, by the change that follows; if it closes at once or is the last, by what is there now.
    ///
    /// What is there now need not be what opened: the same piece may replace it, if it repeats a key.
    fn new(now: Option<&Value>, next: Option<&Change<'_>>) -> Self {
        let child = match next {
            Some(Change::StringGrew { .. }) => return Self::String,
            Some(Change::Opened { path } | Change::Scalar { path }) => path.steps().next_back(),
            Some(Change::Closed { .. }) | None => None,
        };
        match (child, now) {
            (Some(Step::Index(_)), _) | (None, Some(Value::Array(_))) => Self::List,
            (Some(Step::Key(_)), _) | (None, Some(Value::Object(_))) => Self::Dict,
            (None, _) => Self::String,
        }
    }
}

impl Place {
    fn new(py: Python<'_>, step: Option<Step<'_>>) -> Self {
        match step {
            None => Self::Root,
            Some(Step::Index(index)) => Self::Index(index),
            Some(Step::Key(key)) => Self::Key(PyString::new(py, key).unbind()),
        }
    }
}

/// A string with more text.
fn appended<'py>(string: Bound<'py, PyString>, text: &str) -> Option<Bound<'py, PyAny>> {
    let py = string.py();
    let more = PyString::new(py, text);
    let mut grown = string.into_ptr();
    // SAFETY: `grown` is a reference to a string that is ours to give away, and `more` is a string. Python
    // stores the new reference in place of the one that it takes, or null if there is no memory.
    unsafe {
        ffi::PyUnicode_Append(&raw mut grown, more.as_ptr());
        Bound::from_owned_ptr_or_opt(py, grown)
    }
}
