//! `reknit.Reply`: bytes to messages.

use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use reknit::json::Value;
use reknit::message::Change;
use reknit::reply::Error;
use reknit::tags::GrammarError;
use reknit::{Dialect, Item, Limits};

use crate::change::{self, Counter, Step};
use crate::error::{guarded_for, lock, of_engine, panicked};
use crate::item::{Call, End, Text, Thinking};
use crate::message::{self, Message};
use crate::options::{self, Notation, bytes_of};
use crate::value::{json, to_python};

const WHAT: &str = "reply";

/// Reads the messages in a provider's stream: `push` each piece of bytes, then `finish`.
///
/// `dialect` names the provider's format; without it, it is detected. With `profile`, or a `grammar` of your
/// own, the calls and thinking that a model writes into its text become blocks of the message; `tools` are
/// their definitions, and `ids` is what the ids of such calls begin with. With `native`, the provider's own
/// form is built as well. Growth of one block within one `push` is one change, unless `join` is false.
///
/// >>> reply = reknit.Reply()
/// >>> reply.push(b'data: {"choices":[{"delta":{"cont')
/// []
/// >>> for change in reply.push(b'ent":"Hi"}}]}\n\n'):
/// ...     match change:
/// ...         case {"grew": {"text": text}}:
/// ...             print(text)
/// Hi
/// >>> reply.finish()
/// [{'cut': {}}]
/// >>> reply.message.status
/// 'cut'
#[pyclass(frozen, module = "reknit")]
pub(crate) struct Reply {
    state: Mutex<State>,
}

struct State {
    phase: Phase,
    counter: Counter,
    join: bool,
}

enum Phase {
    Open(Box<reknit::Reply>),
    Over(Over),
    /// The engine panicked.
    Broken,
}

/// What is left of a reply at its end.
struct Over {
    messages: Vec<reknit::Message>,
    dialect: Option<Dialect>,
    error: Option<Error>,
    native: Vec<Value>,
}

/// What is read next.
enum Input<'a> {
    Piece(&'a [u8]),
    End,
}

#[pymethods]
impl Reply {
    #[new]
    #[pyo3(signature = (dialect=None, *, profile=None, grammar=None, tools=None, ids="call_", limits=None, native=false, join=true))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        dialect: Option<&str>,
        profile: Option<&str>,
        grammar: Option<&str>,
        tools: Option<&Bound<'_, PyAny>>,
        ids: &str,
        limits: Option<&Bound<'_, PyDict>>,
        native: bool,
        join: bool,
    ) -> PyResult<Self> {
        let choice = Choice::new(dialect, profile, grammar, tools, ids, limits)?;
        let mut reply = choice.reply().map_err(|error| options::wrong_grammar(&error))?;
        if native {
            reply = reply.with_native();
        }
        Ok(Self::of(reply, join))
    }

    /// A reply whose input is only the text of a model, with the calls and thinking that are written in it.
    ///
    /// >>> reply = reknit.Reply.of_text("hermes")
    /// >>> _ = reply.push(b'<tool_call>{"name": "now", "arguments": {}}</tool_call>')
    /// >>> _ = reply.finish()
    /// >>> reply.message.calls
    /// [Call(id='call_0_0', name='now', input={})]
    #[staticmethod]
    #[pyo3(signature = (profile=None, *, grammar=None, tools=None, ids="call_", limits=None, join=true))]
    fn of_text(
        profile: Option<&str>,
        grammar: Option<&str>,
        tools: Option<&Bound<'_, PyAny>>,
        ids: &str,
        limits: Option<&Bound<'_, PyDict>>,
        join: bool,
    ) -> PyResult<Self> {
        let notation = Notation::new(profile, grammar, tools)?.ok_or_else(|| {
            PyValueError::new_err("say how the model writes its calls: `profile` or `grammar`")
        })?;
        let tagger = notation.tagger(ids).map_err(|error| options::wrong_grammar(&error))?;
        let reply = reknit::Reply::of_text(tagger).with_limits(&options::limits(limits)?);
        Ok(Self::of(reply, join))
    }

    /// Reads the next piece of the stream, which may be cut anywhere. Returns what it changed.
    fn push<'py>(&self, py: Python<'py>, piece: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        change::list(py, &self.steps(py, &Input::Piece(&bytes_of(piece)?))?)
    }

    /// Ends the stream, and returns what that changed. A message that is not over is cut.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        change::list(py, &self.steps(py, &Input::End)?)
    }

    /// The same as `push`, as lines of JSON: the engine's own form, in which places are counted in bytes.
    fn push_json(&self, py: Python<'_>, piece: &Bound<'_, PyAny>) -> PyResult<String> {
        self.lines(py, &Input::Piece(&bytes_of(piece)?))
    }

    /// The same as `finish`, as lines of JSON.
    fn finish_json(&self, py: Python<'_>) -> PyResult<String> {
        self.lines(py, &Input::End)
    }

    /// Reads the next piece, and returns what it adds to the content: text, thinking, calls that may be run,
    /// the end of a message.
    ///
    /// >>> reknit.Reply().push_items(b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n')
    /// [Text(text='Hi')]
    fn push_items<'py>(&self, py: Python<'py>, piece: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        self.items(py, &Input::Piece(&bytes_of(piece)?))
    }

    /// Ends the stream, and returns what that adds to the content.
    fn finish_items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.items(py, &Input::End)
    }

    /// The current message, or the last one of the stream.
    #[getter]
    fn message(&self, py: Python<'_>) -> PyResult<Message> {
        let state = lock(py, &self.state, WHAT)?;
        Ok(Message::new(match &state.phase {
            Phase::Open(reply) => reply.message().clone(),
            Phase::Over(over) => over.messages.last().cloned().unwrap_or_default(),
            Phase::Broken => return Err(broken(py)),
        }))
    }

    /// All messages of the stream so far. Most streams have one.
    #[getter]
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let state = lock(py, &self.state, WHAT)?;
        match &state.phase {
            Phase::Open(reply) => message::list(py, reply.messages().cloned()),
            Phase::Over(over) => message::list(py, over.messages.iter().cloned()),
            Phase::Broken => Err(broken(py)),
        }
    }

    /// The name of the dialect, once it is known.
    #[getter]
    fn dialect(&self, py: Python<'_>) -> PyResult<Option<&'static str>> {
        let state = lock(py, &self.state, WHAT)?;
        let dialect = match &state.phase {
            Phase::Open(reply) => reply.dialect(),
            Phase::Over(over) => over.dialect,
            Phase::Broken => return Err(broken(py)),
        };
        Ok(dialect.map(Dialect::name))
    }

    /// Why the rest of the input is refused, if it is: a `reknit.Error`.
    #[getter]
    fn error<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let state = lock(py, &self.state, WHAT)?;
        let error = match &state.phase {
            Phase::Open(reply) => reply.error(),
            Phase::Over(over) => over.error.as_ref(),
            Phase::Broken => return Err(broken(py)),
        };
        Ok(error.map(|error| refusal(py, error)))
    }

    /// After `finish`: the messages in the provider's own, non-streamed form, if `native` was chosen.
    #[getter]
    fn native<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let state = lock(py, &self.state, WHAT)?;
        let native = over(&state)?.native.iter().map(|value| to_python(py, value));
        PyList::new(py, native.collect::<PyResult<Vec<_>>>()?)
    }

    /// The same as JSON.
    fn native_json(&self, py: Python<'_>) -> PyResult<String> {
        json(&over(&*lock(py, &self.state, WHAT)?)?.native)
    }

    /// The messages as JSON: what `reknit read --all --json` prints.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        let state = lock(py, &self.state, WHAT)?;
        match &state.phase {
            Phase::Open(reply) => json(&reply.messages().collect::<Vec<_>>()),
            Phase::Over(over) => json(&over.messages),
            Phase::Broken => Err(broken(py)),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let dialect = self.dialect(py)?.unwrap_or("unknown");
        Ok(format!("<reknit.Reply, dialect {dialect}, {}>", self.message(py)?.status_name()))
    }
}

impl Reply {
    fn of(reply: reknit::Reply, join: bool) -> Self {
        let phase = Phase::Open(Box::new(reply));
        Self { state: Mutex::new(State { phase, counter: Counter::new(), join }) }
    }

    fn steps(&self, py: Python<'_>, input: &Input<'_>) -> PyResult<Vec<Step>> {
        let mut steps = Vec::new();
        self.read(py, input, |change, at, _, join| change::add(&mut steps, change, at, join))?;
        Ok(steps)
    }

    fn lines(&self, py: Python<'_>, input: &Input<'_>) -> PyResult<String> {
        let mut lines = String::new();
        self.read(py, input, |change, _, _, _| {
            lines.push_str(&serde_json::to_string(&change).expect("a change is JSON"));
            lines.push('\n');
        })?;
        Ok(lines)
    }

    fn items<'py>(&self, py: Python<'py>, input: &Input<'_>) -> PyResult<Bound<'py, PyList>> {
        let mut items: Vec<Item> = Vec::new();
        let refused = self.read(py, input, |change, _, message, join| {
            for item in Item::of(&change, message) {
                match (items.last_mut(), &item) {
                    (Some(Item::Text(last)), Item::Text(more)) if join => last.push_str(more),
                    (Some(Item::Thinking(last)), Item::Thinking(more)) if join => last.push_str(more),
                    _ => items.push(item),
                }
            }
        })?;
        let last_end = items.iter().rposition(|item| matches!(item, Item::End(_)));
        let list = PyList::empty(py);
        for (at, item) in items.into_iter().enumerate() {
            match item {
                Item::Text(text) => list.append(Text::new(text))?,
                Item::Thinking(text) => list.append(Thinking::new(text))?,
                Item::Call(call) => list.append(Call::of(py, &call)?)?,
                Item::End(message) => {
                    let error = refused.as_ref().filter(|_| Some(at) == last_end);
                    let error = error.map(|error| refusal(py, error).unbind());
                    list.append(End::new(Bound::new(py, Message::new(*message))?.into_any(), error)?)?;
                }
                _ => {}
            }
        }
        Ok(list)
    }

    /// Reads on, and gives each change to `take`. Returns why the rest is refused, if that was noticed now.
    fn read(
        &self,
        py: Python<'_>,
        input: &Input<'_>,
        mut take: impl FnMut(Change<'_>, usize, &reknit::Message, bool) + Send,
    ) -> PyResult<Option<Error>> {
        let mut state = lock(py, &self.state, WHAT)?;
        let State { phase, counter, join } = &mut *state;
        let reply = match phase {
            Phase::Open(reply) => reply,
            Phase::Broken => return Err(broken(py)),
            Phase::Over(_) => {
                let hint = "make a new reknit.Reply for each stream";
                return Err(PyValueError::new_err(format!("this reply is finished\nhint: {hint}")));
            }
        };
        let was_refused = reply.error().is_some();
        let work = || {
            let mut changes = match input {
                Input::Piece(piece) => reply.push(piece),
                Input::End => reply.finish(),
            };
            while let Some((change, message)) = changes.next() {
                let at = counter.place(&change, message);
                take(change, at, message, *join);
            }
        };
        let length = match input {
            Input::Piece(piece) => piece.len(),
            Input::End => 0,
        };
        let outcome = guarded_for(py, length, work);
        if let Err(error) = outcome {
            *phase = Phase::Broken;
            return Err(error);
        }
        let refused = reply.error().filter(|_| !was_refused).cloned();
        if let Input::End = input
            && let Phase::Open(reply) = std::mem::replace(phase, Phase::Broken)
        {
            *phase = Phase::Over(Over {
                messages: reply.messages().cloned().collect(),
                dialect: reply.dialect(),
                error: reply.error().cloned(),
                native: reply.into_native(),
            });
        }
        Ok(refused)
    }
}

/// What a caller chose for a reply, before it is made; columns of streams make many with the same.
pub(crate) struct Choice {
    dialect: Option<Dialect>,
    notation: Option<Notation>,
    ids: String,
    limits: Limits,
}

impl Choice {
    pub(crate) fn new(
        dialect: Option<&str>,
        profile: Option<&str>,
        grammar: Option<&str>,
        tools: Option<&Bound<'_, PyAny>>,
        ids: &str,
        limits: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        Ok(Self {
            dialect: dialect.map(options::dialect).transpose()?,
            notation: Notation::new(profile, grammar, tools)?,
            ids: ids.to_owned(),
            limits: options::limits(limits)?,
        })
    }

    pub(crate) fn reply(&self) -> Result<reknit::Reply, GrammarError> {
        let mut reply = self.dialect.map_or_else(reknit::Reply::detect, reknit::Reply::new);
        if let Some(notation) = &self.notation {
            reply = reply.with_tags(notation.tagger(&self.ids)?);
        }
        Ok(reply.with_limits(&self.limits))
    }
}

fn over(state: &State) -> PyResult<&Over> {
    match &state.phase {
        Phase::Over(over) => Ok(over),
        _ => Err(PyValueError::new_err("the provider's own form is known after `finish`")),
    }
}

fn broken(py: Python<'_>) -> PyErr {
    panicked(py, "in an earlier call")
}

fn refusal<'py>(py: Python<'py>, refused: &Error) -> Bound<'py, PyAny> {
    of_engine(py, refused.kind().name(), refused).into_value(py).into_bound(py).into_any()
}
