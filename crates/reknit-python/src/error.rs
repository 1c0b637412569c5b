//! What goes wrong, as Python's exceptions.

use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, TryLockError};

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use reknit::Hint;

/// Where the package defines its exceptions.
const MODULE: &str = "reknit._error";

/// The kind of an error that is a bug of ours.
pub(crate) const PANIC: &str = "panic";
pub(crate) const PANIC_HINT: &str = "this is a bug in reknit: please report it with the input that led to it";

/// `reknit.Error`.
pub(crate) fn error(py: Python<'_>, kind: &str, message: &str, hint: &str) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    made(CLASS.import(py, MODULE, "Error"), kind, message, hint)
}

/// An error of the engine as `reknit.Error`.
pub(crate) fn of_engine(py: Python<'_>, kind: &str, wrong: &(impl Display + Hint)) -> PyErr {
    error(py, kind, &wrong.to_string(), &wrong.hint())
}

/// A mistake of the caller that the engine found, as `ValueError`. `what` is written before it.
pub(crate) fn wrong_value(what: &str, wrong: &(impl Display + Hint)) -> PyErr {
    PyValueError::new_err(format!("{what}{wrong}\nhint: {}", wrong.hint()))
}

/// `reknit.InUseError`: another thread is using the same object right now.
fn in_use(py: Python<'_>, what: &str) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let message = format!("another thread is using this {what}");
    let hint = "give each thread its own, or use a lock around it";
    made(CLASS.import(py, MODULE, "InUseError"), "in-use", &message, hint)
}

fn made(class: PyResult<&Bound<'_, PyType>>, kind: &str, message: &str, hint: &str) -> PyErr {
    match class.and_then(|class| class.call1((message, kind, hint))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// The value in a mutex, unless another thread is using it.
pub(crate) fn lock<'a, T>(py: Python<'_>, value: &'a Mutex<T>, what: &str) -> PyResult<MutexGuard<'a, T>> {
    match value.try_lock() {
        Ok(guard) => Ok(guard),
        Err(TryLockError::WouldBlock) => Err(in_use(py, what)),
        Err(TryLockError::Poisoned(_)) => Err(panicked(py, &format!("this {what} was left half changed"))),
    }
}

/// Calls the engine. A panic becomes `reknit.Error`: pyo3's own exception for it is missed by `except Exception`.
pub(crate) fn guarded<T>(py: Python<'_>, call: impl FnOnce() -> T) -> PyResult<T> {
    caught(call).map_err(|words| panicked(py, &words))
}

/// The same for an input of so many bytes. A long one is read without Python's global lock.
pub(crate) fn guarded_for<T: Send>(
    py: Python<'_>,
    bytes: usize,
    call: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    if bytes <= LONG {
        return guarded(py, call);
    }
    py.detach(|| caught(call)).map_err(|words| panicked(py, &words))
}

/// Releasing the lock and taking it again costs about as much as reading this many bytes.
const LONG: usize = 4096;

/// The same without Python: what the panic said.
pub(crate) fn caught<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|payload| words(&*payload))
}

pub(crate) fn panicked(py: Python<'_>, words: &str) -> PyErr {
    error(py, PANIC, &format!("the engine panicked: {words}"), PANIC_HINT)
}

fn words(payload: &(dyn Any + Send)) -> String {
    let words = payload.downcast_ref::<&str>().copied().map(str::to_owned);
    words.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

/// A `TypeError` that says what came instead.
pub(crate) fn wrong_type(what: &str, came: &Bound<'_, PyAny>, hint: &str) -> PyErr {
    let name = came.get_type().qualname().map_or_else(|_| "an object".to_owned(), |name| format!("`{name}`"));
    PyTypeError::new_err(format!("{what}, not {name}\nhint: {hint}"))
}

/// What cannot happen with the engine's own forms.
pub(crate) fn unexpected(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(format!("the engine's own form cannot be read: {error}"))
}

/// Panics as a bug in the engine would. The tests check what becomes of that.
#[pyfunction(name = "_panic_for_tests")]
pub(crate) fn panic_for_tests(py: Python<'_>, words: String) -> PyResult<()> {
    guarded(py, || panic!("{words}"))
}
