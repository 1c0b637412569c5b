//! [`Call`]: a call, while it arrives and when it is complete.

use std::borrow::Cow;
use std::ops::Range;

use super::params::{ParamData, Params};
use super::span::SmallRange;
use crate::event::End;
use crate::json::{Object, PartialJson, Value};

/// The data of a call. Its text is in the parser.
#[derive(Clone, Debug)]
pub(super) struct CallData {
    pub(super) name: Slice,
    /// From the first byte of its opening marker to the last byte of its closing marker.
    pub(super) range: SmallRange,
    pub(super) input: Input,
    pub(super) end: Option<End>,
    pub(super) known: bool,
    /// The block of the call that contains it.
    pub(super) parent: Option<u32>,
}

#[derive(Clone, Debug)]
pub(super) enum Input {
    Params(Params),
    Json(Box<JsonArguments>),
}

/// The arguments of a call, read as JSON.
#[derive(Clone, Debug)]
pub(super) struct JsonArguments {
    pub(super) json: PartialJson,
    /// Where they are in the text, if they are written as JSON there.
    pub(super) written: Option<Range<usize>>,
}

impl Input {
    /// A call whose arguments are this JSON so far.
    pub(super) fn json(json: PartialJson) -> Self {
        Self::Json(Box::new(JsonArguments { json, written: None }))
    }

    fn as_params(&self) -> Option<&Params> {
        match self {
            Self::Params(params) => Some(params),
            Self::Json(_) => None,
        }
    }

    fn as_json(&self) -> Option<&JsonArguments> {
        match self {
            Self::Json(arguments) => Some(arguments),
            Self::Params(_) => None,
        }
    }
}

/// A part of the parser's text, or a string of its own where the two differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Slice {
    Range(SmallRange),
    #[expect(clippy::box_collection, reason = "few have one, and all would be as large")]
    Owned(Box<String>),
}

impl Slice {
    pub(super) fn of<'a>(&'a self, text: &'a str) -> &'a str {
        match self {
            Self::Range(range) => &text[range.range()],
            Self::Owned(owned) => owned,
        }
    }
}

/// A call in a text.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub(super) data: &'a CallData,
    /// The parameters of all calls.
    pub(super) params: &'a [ParamData],
    pub(super) text: &'a str,
}

/// A parameter of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Param<'a> {
    data: &'a ParamData,
    text: &'a str,
}

impl<'a> Call<'a> {
    /// The name of the tool.
    pub fn name(&self) -> &'a str {
        self.data.name.of(self.text)
    }

    /// How it ended, or `None` while it is open.
    pub fn end(&self) -> Option<End> {
        self.data.end
    }

    /// Whether it is not complete: it is open, cut or malformed.
    pub(super) fn is_partial(&self) -> bool {
        self.end() != Some(End::Closed)
    }

    /// Whether the tool is one of those given to the parser; true if none were given.
    pub(super) fn is_known(&self) -> bool {
        self.data.known
    }

    /// The index of the block of the call that contains it, if one does.
    pub(super) fn parent(&self) -> Option<usize> {
        self.data.parent.map(|parent| parent as usize)
    }

    /// Its range in [`Parser::text`](super::Parser::text), with its markers.
    pub fn range(&self) -> Range<usize> {
        self.data.range.range()
    }

    /// Its text as the model wrote it, with its markers.
    pub fn raw(&self) -> &'a str {
        &self.text[self.range()]
    }

    /// The name and the text so far of each parameter, in the order in which they came. Empty if the arguments
    /// are not written one by one.
    pub fn params(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.all_params().map(|param| (param.name(), param.text()))
    }

    pub(super) fn all_params(&self) -> impl Iterator<Item = Param<'a>> {
        let Self { data, params: all, text } = *self;
        let params = data.input.as_params().into_iter().flat_map(|params| params.iter(all));
        params.map(move |data| Param { data, text })
    }

    /// Its parameter with this number.
    pub(super) fn param(&self, number: usize) -> Option<Param<'a>> {
        let params = self.data.input.as_params().filter(|params| number < params.len())?;
        Some(Param { data: params.get(self.params, number), text: self.text })
    }

    /// The number of its parameters; `None` if its arguments are not written one by one.
    pub(super) fn param_count(&self) -> Option<usize> {
        self.data.input.as_params().map(Params::len)
    }

    /// The JSON text of its arguments so far: as the model wrote it, or rewritten from another notation.
    /// Empty if the arguments are written one by one.
    pub fn args_text(&self) -> Cow<'a, str> {
        match (self.args_range(), self.data.input.as_json()) {
            (Some(written), _) => Cow::Borrowed(&self.text[written]),
            (None, Some(arguments)) => arguments.json.raw().to_str(),
            (None, None) => Cow::Borrowed(""),
        }
    }

    /// The range of its arguments in the text, if they are written as JSON.
    pub(super) fn args_range(&self) -> Option<Range<usize>> {
        self.data.input.as_json()?.written.clone()
    }

    /// Whether the JSON text of its arguments, of which some has come, is that of an object.
    pub(super) fn has_object(&self) -> bool {
        match self.args_range() {
            Some(written) => self.text[written].starts_with('{'),
            None => self.args_piece(0..1) == "{",
        }
    }

    /// A part of the JSON text of its arguments.
    pub(super) fn args_piece(&self, piece: Range<usize>) -> Cow<'a, str> {
        let arguments = self.data.input.as_json();
        arguments.and_then(|arguments| arguments.json.raw().slice(piece)).unwrap_or_default()
    }

    /// Its arguments so far, as an object.
    pub fn args(&self) -> Cow<'a, Value> {
        match &self.data.input {
            Input::Json(arguments) => match arguments.json.value() {
                Some(value) => Cow::Borrowed(value),
                None => Cow::Owned(Value::Object(Object::new())),
            },
            Input::Params(_) => Cow::Owned(Value::Object(
                self.all_params()
                    .filter(|param| !param.data.replaced)
                    .map(|param| (param.name().to_owned(), param.value()))
                    .collect(),
            )),
        }
    }
}

impl<'a> Param<'a> {
    /// Its name.
    pub(super) fn name(&self) -> &'a str {
        &self.text[self.data.name.range()]
    }

    /// Its value so far as text, cleaned.
    pub(super) fn text(&self) -> &'a str {
        self.data.value.of(self.text)
    }

    /// Its value: a string, or once it is complete, a value of the type that the tool's schema asks for.
    pub(super) fn value(&self) -> Value {
        match &self.data.typed {
            Some(value) => Value::clone(value),
            None => Value::String(self.text().into()),
        }
    }

    /// Whether its type is known only when it is complete.
    pub(super) fn is_typed_late(&self) -> bool {
        self.data.typed_late
    }
}
