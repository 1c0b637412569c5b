//! What a caller chooses: a dialect, limits, how calls are written in text.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyDict, PyMapping, PyMemoryView, PyString};
use reknit::Hint;
use reknit::tags::{self, Grammar, Tagger};
use reknit::{Dialect, Limits};

use crate::error::{wrong_type, wrong_value};
use crate::value::from_python;

/// The bytes of a piece.
pub(crate) fn bytes_of(piece: &Bound<'_, PyAny>) -> PyResult<PyBackedBytes> {
    if let Ok(bytes) = piece.extract() {
        return Ok(bytes);
    }
    if piece.is_instance_of::<PyMemoryView>() {
        return Ok(piece.call_method0("tobytes")?.extract()?);
    }
    let hint = match piece.is_instance_of::<PyString>() {
        true => {
            "read bytes from the connection, such as `response.iter_bytes()`; lines and decoded text lose some"
        }
        false => "give bytes, a bytearray or a memoryview",
    };
    Err(wrong_type("a piece must be bytes", piece, hint))
}

/// A dict, or a copy of another mapping as one.
pub(crate) fn dict_of<'py>(given: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    if let Ok(dict) = given.cast::<PyDict>() {
        return Some(dict.clone());
    }
    let mapping = given.cast::<PyMapping>().ok()?;
    let dict = PyDict::new(given.py());
    dict.update(mapping).ok()?;
    Some(dict)
}

pub(crate) fn dialect(name: &str) -> PyResult<Dialect> {
    name.parse::<Dialect>().map_err(|error| {
        let names = Dialect::ALL.map(Dialect::name);
        PyValueError::new_err(format!("{error}\nhint: {}{}", meant(name, &names), error.hint()))
    })
}

/// The limits that `given` changes.
pub(crate) fn limits(given: Option<&Bound<'_, PyDict>>) -> PyResult<Limits> {
    let mut limits = Limits::default();
    for (name, limit) in given.into_iter().flatten() {
        let name: String = name.extract()?;
        let number = |limit: &Bound<'_, PyAny>| {
            limit.extract::<u64>().map_err(|_| {
                let what = format!("the limit `{name}` must be an int that is not negative");
                wrong_type(&what, limit, "leave it out for the default")
            })
        };
        let size = |limit: &Bound<'_, PyAny>| {
            number(limit).map(|number| usize::try_from(number).unwrap_or(usize::MAX))
        };
        match name.as_str() {
            "frame_bytes" => limits.frame_bytes = size(&limit)?,
            "reply_bytes" => limits.reply_bytes = number(&limit)?,
            "values" => limits.values = size(&limit)?,
            "json_depth" => limits.json_depth = depth(size(&limit)?)?,
            "blocks" => limits.blocks = size(&limit)?,
            "diagnostics" => limits.diagnostics = size(&limit)?,
            "text_bytes" => limits.text_bytes = size(&limit)?,
            "param_bytes" => limits.param_bytes = size(&limit)?,
            _ => {
                let words = format!("there is no limit `{name}`\nhint: use some of {}", LIMITS.join(", "));
                return Err(PyValueError::new_err(words));
            }
        }
    }
    Ok(limits)
}

/// How deeply JSON may be nested. What is deeper can be read, but hardly be walked: Python gives up at a thousand.
const DEEPEST: usize = 512;

pub(crate) fn depth(depth: usize) -> PyResult<usize> {
    match depth {
        ..=DEEPEST => Ok(depth),
        _ => Err(PyValueError::new_err(format!(
            "JSON may be nested at most {DEEPEST} levels deep, not {depth}"
        ))),
    }
}

const LIMITS: [&str; 8] = [
    "frame_bytes",
    "reply_bytes",
    "values",
    "json_depth",
    "blocks",
    "diagnostics",
    "text_bytes",
    "param_bytes",
];

/// How a model writes calls into its text, and which tools there are.
pub(crate) struct Notation {
    pub(crate) grammar: Grammar,
    pub(crate) tools: Option<tags::Tools>,
}

impl Notation {
    /// `None` if the caller names neither a profile nor a grammar.
    pub(crate) fn new(
        profile: Option<&str>,
        grammar: Option<&str>,
        tools: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<Self>> {
        let grammar = match (profile, grammar) {
            (None, None) if tools.is_none() => return Ok(None),
            (None, None) => {
                let words = "`tools` are for calls in text\nhint: also say how the model writes them: `profile` or `grammar`";
                return Err(PyValueError::new_err(words));
            }
            (Some(_), Some(_)) => {
                return Err(PyValueError::new_err("give either `profile` or `grammar`, not both"));
            }
            (Some(name), None) => named(name)?.clone(),
            (None, Some(source)) => {
                Grammar::from_toml(source).map_err(|error| wrong_value("this is not a grammar: ", &error))?
            }
        };
        Ok(Some(Self { grammar, tools: tools.map(tool_list).transpose()? }))
    }

    pub(crate) fn tagger(&self, ids: &str) -> Result<Tagger, tags::GrammarError> {
        Tagger::new(&self.grammar, self.tools.as_ref(), ids)
    }
}

pub(crate) fn wrong_grammar(error: &tags::GrammarError) -> PyErr {
    wrong_value("", error)
}

/// The names of the profiles: how models write calls into their text.
///
/// >>> "hermes" in reknit.profiles()
/// True
#[pyfunction]
pub(crate) fn profiles() -> Vec<&'static str> {
    tags::profiles().iter().map(|profile| &*profile.name).collect()
}

fn named(name: &str) -> PyResult<&'static Grammar> {
    tags::profile(name).ok_or_else(|| {
        let names = profiles();
        let words = match name {
            "auto" => "`auto` needs the whole text, so it is only possible in `reknit.tools`".to_owned(),
            _ => format!("there is no profile `{name}`"),
        };
        let hint = format!("{}use one of {}", meant(name, &names), names.join(", "));
        PyValueError::new_err(format!("{words}\nhint: {hint}"))
    })
}

/// The definitions of tools, as JSON or as objects.
pub(crate) fn tool_list(tools: &Bound<'_, PyAny>) -> PyResult<tags::Tools> {
    let source = match tools.cast::<PyString>() {
        Ok(source) => source.to_str()?.to_owned(),
        Err(_) => from_python(tools)?.to_string(),
    };
    tags::Tools::from_json(&source).map_err(|error| {
        let hint = "give a list of objects with `name` and `parameters`";
        PyTypeError::new_err(format!("`tools` is not a list of tools: {error}\nhint: {hint}"))
    })
}

/// Which of the names was probably meant by a wrong one, as the beginning of a hint.
pub(crate) fn meant(wrong: &str, names: &[&str]) -> String {
    let ranked = names.iter().map(|name| (strsim::jaro_winkler(wrong, name), name));
    let best = ranked.filter(|(alike, _)| *alike > 0.8).max_by(|one, other| one.0.total_cmp(&other.0));
    best.map_or_else(String::new, |(_, name)| format!("did you mean `{name}`? "))
}

/// One of some names.
pub(crate) fn one_of<T: Copy>(what: &str, name: &str, all: &[(&str, T)]) -> PyResult<T> {
    if let Some((_, found)) = all.iter().find(|(known, _)| *known == name) {
        return Ok(*found);
    }
    let names: Vec<_> = all.iter().map(|(name, _)| *name).collect();
    let hint = format!("{}use one of {}", meant(name, &names), names.join(", "));
    Err(PyValueError::new_err(format!("there is no {what} `{name}`\nhint: {hint}")))
}
