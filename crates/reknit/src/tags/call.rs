//! [`Call`]: one call, while it arrives and when it is over.

use std::borrow::Cow;
use std::ops::Range;

use super::params::{ParamData, Params};
use super::span::Stretch;
use crate::json::{Object, PartialJson, Value};
use crate::message::CallEnd;

/// What is kept of a call; the text itself is the parser's.
#[derive(Clone, Debug)]
pub(super) struct CallData {
    pub(super) name: Slice,
    /// From the first byte of its opening marker to the last of its closing one.
    pub(super) range: Stretch,
    pub(super) input: Input,
    pub(super) end: Option<CallEnd>,
    pub(super) known: bool,
    /// It is called whole, whatever it is.
    pub(super) finalized: bool,
    /// The call it stands in.
    pub(super) parent: Option<u32>,
}

#[derive(Clone, Debug)]
pub(super) enum Input {
    Params(Params),
    Json(Box<Arguments>),
}

/// The arguments of a call in JSON.
#[derive(Clone, Debug)]
pub(super) struct Arguments {
    pub(super) json: PartialJson,
    /// Where they stand, if they are written as JSON.
    pub(super) written: Option<Range<usize>>,
}

impl Input {
    /// With this JSON so far.
    pub(super) fn json(json: PartialJson) -> Self {
        Self::Json(Box::new(Arguments { json, written: None }))
    }
}

/// A part of the parser's text, or a text of its own where the two differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Slice {
    Range(Stretch),
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
    pub(super) index: usize,
}

/// A parameter of a call.
#[derive(Clone, Copy, Debug)]
pub struct Param<'a> {
    data: &'a ParamData,
    text: &'a str,
}

impl<'a> Call<'a> {
    /// The index of its block.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The tool.
    pub fn name(&self) -> &'a str {
        self.data.name.of(self.text)
    }

    /// How it ended; nothing while it is open.
    pub fn end(&self) -> Option<CallEnd> {
        self.data.end
    }

    /// Whether it was not closed: the text ended before it did, or it is malformed.
    pub fn is_partial(&self) -> bool {
        self.end() != Some(CallEnd::Closed) && !self.data.finalized
    }

    /// Whether the tool is among those that were given; true if none were.
    pub fn known(&self) -> bool {
        self.data.known
    }

    /// The index of the call that it stands in.
    pub fn parent(&self) -> Option<usize> {
        self.data.parent.map(|parent| parent as usize)
    }

    /// Where it stands in the text, with its markers.
    pub fn range(&self) -> Range<usize> {
        self.data.range.range()
    }

    /// It as it was written.
    pub fn raw(&self) -> &'a str {
        &self.text[self.range()]
    }

    /// Its parameters in the order they came, if they are written as markup.
    pub fn params(&self) -> impl Iterator<Item = Param<'a>> {
        let Self { data, params: all, text, .. } = *self;
        let params = match &data.input {
            Input::Params(params) => Some(params.iter(all)),
            Input::Json(_) => None,
        };
        params.into_iter().flatten().map(move |data| Param { data, text })
    }

    /// Its arguments while they arrive, if they are written as JSON or read into it.
    pub fn json(&self) -> Option<&'a PartialJson> {
        match &self.data.input {
            Input::Json(arguments) => Some(&arguments.json),
            Input::Params(_) => None,
        }
    }

    /// The JSON text of its arguments so far: as it was written, or as it was read from another notation.
    pub fn args_text(&self) -> Cow<'a, str> {
        match &self.data.input {
            Input::Json(arguments) => match &arguments.written {
                Some(written) => Cow::Borrowed(&self.text[written.clone()]),
                None => arguments.json.raw().to_str(),
            },
            Input::Params(_) => Cow::Borrowed(""),
        }
    }

    /// Its arguments so far.
    pub fn args(&self) -> Cow<'a, Value> {
        match &self.data.input {
            Input::Json(arguments) => match arguments.json.value() {
                Some(value) => Cow::Borrowed(value),
                None => Cow::Owned(Value::Object(Object::new())),
            },
            Input::Params(_) => Cow::Owned(Value::Object(
                self.params()
                    .filter(|param| !param.data.replaced)
                    .map(|param| (param.name().to_owned(), param.value()))
                    .collect(),
            )),
        }
    }
}

impl<'a> Param<'a> {
    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.text[self.data.name.range()]
    }

    /// Its text so far, cleaned.
    pub fn text(&self) -> &'a str {
        self.data.value.of(self.text)
    }

    /// Its value: the text, or once it is whole, what the tool's schema makes of it.
    pub fn value(&self) -> Value {
        match &self.data.typed {
            Some(value) => Value::clone(value),
            None => Value::String(self.text().into()),
        }
    }

    /// Whether it is whole.
    pub fn closed(&self) -> bool {
        self.data.closed
    }

    /// Whether a later one of the same name took its place.
    pub fn replaced(&self) -> bool {
        self.data.replaced
    }
}
