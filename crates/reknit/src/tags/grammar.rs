//! [`Grammar`]: how a kind of model writes its calls and its thinking, as data.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use serde::de::Error as _;

use crate::diagnostic::Hint;
use crate::json::{self, DeserializeError, Object, Value};

/// How a model writes tool calls and thinking into its text.
///
/// A grammar is data: the profiles are TOML files, and [`Grammar::from_toml`] parses one of your own.
/// `docs/grammars.md` describes the fields; the files in `profiles/` use each of them.
///
/// ```
/// use reknit::tags::{Grammar, Parser};
///
/// let grammar = Grammar::from_toml(r#"
///     name = "mine"
///     [calls]
///     kind = "markup"
///     call = "<{name}>"
///     call_close = "</{name}>"
///     parameter = "<{name}>"
///     parameter_close = "</{name}>"
///     tools = ["greet"]
///     parameters = ["who"]
/// "#)?;
/// let mut parser = Parser::new(&grammar, None)?;
/// parser.push("Hello. <greet><who>world</who></greet>")?;
/// parser.finish();
/// assert_eq!(parser.calls().next().unwrap().args().to_string(), r#"{"who":"world"}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Grammar {
    /// Its name.
    pub name: String,
    /// What happens to whitespace around text.
    #[serde(default)]
    pub(super) text: TextRule,
    /// Text that the model's server adds before every answer.
    #[serde(default)]
    pub(super) prefix: String,
    /// What happens to markers in a fenced block or an inline code span.
    #[serde(default)]
    pub(super) code: CodeRule,
    /// How thinking is marked.
    pub(super) reasoning: Option<Reasoning>,
    /// How calls are written; without this there are none.
    pub(super) calls: Option<Calls>,
    /// What is removed from text for display.
    #[serde(default)]
    pub(super) display: Display,
    /// Whether the limits are those of the parser that the grammar reproduces, whatever limits are given.
    #[serde(default)]
    pub(super) seed_limits: bool,
}

/// What happens to whitespace around text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum TextRule {
    /// It is dropped, and so is text that is only whitespace.
    #[default]
    Trim,
    /// It is part of the text.
    Keep,
    /// It is dropped, but text that is only whitespace, or empty, is an empty block.
    KeepEmpty,
}

/// What happens to markers in a fenced block or an inline code span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CodeRule {
    /// They do not count.
    #[default]
    Prose,
    /// They count as everywhere else.
    Ignored,
}

/// How thinking is marked.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reasoning {
    /// The markers that open it.
    pub(super) open: Vec<String>,
    /// The marker that ends it.
    pub(super) close: String,
    /// The text starts inside it, because the opening marker is in the prompt.
    #[serde(default)]
    pub(super) inside: bool,
    /// A call ends it, even without its closing marker.
    #[serde(default)]
    pub(super) ends_at_calls: bool,
    /// Only the first is thinking; later markers are text.
    #[serde(default)]
    pub(super) once: bool,
}

/// How calls are written.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Object")]
pub(super) enum Calls {
    /// A marker for the call, and markers for its parameters.
    Markup(Markup),
    /// A JSON value for the call or for its arguments.
    Json(Body),
    /// A list of calls, written as in Python.
    Python(Python),
    /// Gemma's notation.
    Gemma(Gemma),
    /// Harmony's channels, which also mark thinking.
    Channels(Channels),
}

impl TryFrom<Object> for Calls {
    type Error = DeserializeError;

    fn try_from(mut fields: Object) -> Result<Self, Self::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "kebab-case")]
        enum Kind {
            Markup,
            Json,
            Python,
            Gemma,
            Channels,
        }
        let kind = fields.remove("kind").ok_or_else(|| DeserializeError::missing_field("kind"))?;
        let kind = json::from_value(&kind)?;
        let fields = Value::Object(fields);
        Ok(match kind {
            Kind::Markup => Self::Markup(json::from_value(&fields)?),
            Kind::Json => Self::Json(json::from_value(&fields)?),
            Kind::Python => Self::Python(json::from_value(&fields)?),
            Kind::Gemma => Self::Gemma(json::from_value(&fields)?),
            Kind::Channels => Self::Channels(json::from_value(&fields)?),
        })
    }
}

/// Calls as markup. In a marker, `{name}` is the name, `{blank}` is any whitespace, and `{attributes}` is any
/// text, which is only searched for `string="false"`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Markup {
    /// The markers around one or more calls.
    pub(super) wrapper: Option<Wrapper>,
    /// The marker that opens a call.
    pub(super) call: String,
    /// The marker that closes it.
    pub(super) call_close: String,
    /// The marker that opens a parameter.
    pub(super) parameter: String,
    /// The marker that closes it.
    pub(super) parameter_close: String,
    /// The names of the tools; any name if empty.
    #[serde(default)]
    pub(super) tools: Vec<String>,
    /// The names of the parameters of all tools; any name if empty.
    #[serde(default)]
    pub(super) parameters: Vec<String>,
    /// The names of the parameters of single tools, which replace those of all tools.
    #[serde(default)]
    pub(super) tool_parameters: BTreeMap<String, Vec<String>>,
    /// How values are cleaned.
    #[serde(default)]
    pub(super) clean: Clean,
    /// Which closing marker closes a parameter.
    #[serde(default)]
    pub(super) closer: Closer,
    /// What is different for single parameters; later rules win.
    #[serde(default)]
    pub(super) rules: Vec<Rule>,
    /// What follows a marker decides what it means: a tag that is only mentioned is text, and a missing
    /// closing marker is noticed. Without it every marker counts, as in the reproduced parsers.
    #[serde(default = "yes")]
    pub(super) mentions: bool,
    /// Half a closing marker at the end of the text belongs to the value.
    #[serde(default)]
    pub(super) half_closers: bool,
    /// How deep calls may be nested in calls.
    #[serde(default)]
    pub(super) nesting: usize,
}

/// The markers around one or more calls.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wrapper {
    /// The markers that open it.
    pub(super) open: Vec<String>,
    /// The markers that close it.
    pub(super) close: Vec<String>,
    /// It may be missing, because it is in the prompt or the model leaves it out.
    #[serde(default)]
    pub(super) optional: bool,
}

/// What is different for some parameters.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    /// The tools that have these parameters; all tools if empty.
    #[serde(default)]
    pub(super) tools: Vec<String>,
    /// The names of the parameters.
    pub(super) parameters: Vec<String>,
    /// How their values are cleaned.
    pub(super) clean: Option<Clean>,
    /// Which closing marker closes them.
    pub(super) closer: Option<Closer>,
    /// Whether `&amp;` in them means `&`.
    #[serde(default)]
    pub(super) ampersands: bool,
}

/// How a value is cleaned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Clean {
    /// Whitespace around it is removed.
    #[default]
    Trim,
    /// One line end at its start and one at its end are removed.
    Newline,
    /// One line feed at its start and one at its end are removed; a carriage return is kept.
    LineFeed,
    /// It is not changed.
    Keep,
}

/// Which closing marker closes a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Closer {
    /// The first.
    #[default]
    First,
    /// The first one after which the call continues with another parameter or ends.
    Placed,
    /// The last one: up to the end of the call, it is followed only by parameters that the call does not have
    /// yet.
    Last,
    /// The first one; when the call closes, the value is read again up to the last one in the call.
    RepairedAtClose,
    /// The first one; at each further one between parameters, the value is read again up to there.
    RepairedAtEach,
}

/// Calls as JSON.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Body {
    /// The markers around all calls.
    pub(super) wrapper: Option<Wrapper>,
    /// The markers that open a call, or several. With `{name}`, the JSON is the arguments; without it, the
    /// JSON is the whole call.
    pub(super) open: Vec<String>,
    /// Texts that may come between the opening marker and the arguments.
    #[serde(default)]
    pub(super) before: Vec<String>,
    /// The markers that close a call. They may be missing, because the JSON shows where it ends.
    #[serde(default)]
    pub(super) close: Vec<String>,
    /// A missing closing marker is not reported.
    #[serde(default)]
    pub(super) close_optional: bool,
    /// The text that may separate JSON values.
    #[serde(default)]
    pub(super) separator: String,
    /// A JSON object at the start of the text can be a call without any marker.
    #[serde(default)]
    pub(super) bare: bool,
    /// Removed from the start of a name.
    #[serde(default)]
    pub(super) name_prefix: String,
    /// This and a number after it are removed from the end of a name.
    #[serde(default)]
    pub(super) name_index: String,
}

impl Body {
    /// The range of a name without the prefix and the number that some models add to it.
    pub(super) fn bare_name(&self, text: &str, Range { mut start, mut end }: Range<usize>) -> Range<usize> {
        if !self.name_prefix.is_empty() && text[start..end].starts_with(&self.name_prefix) {
            start += self.name_prefix.len();
        }
        if let (false, Some(index)) = (self.name_index.is_empty(), text[start..end].rfind(&self.name_index)) {
            let number = &text[start + index + self.name_index.len()..end];
            if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
                end = start + index;
            }
        }
        start..end
    }

    /// The same of a name that is cut, maybe in what is added to it.
    pub(super) fn bare_name_so_far(&self, text: &str, name: Range<usize>) -> Range<usize> {
        let bare = self.bare_name(text, name.clone());
        match (&text[name.clone()], &text[bare.clone()]) {
            (whole, _) if self.name_prefix.starts_with(whole) => name.end..name.end,
            (_, name) if !self.name_index.is_empty() && name.ends_with(&self.name_index) => {
                bare.start..bare.end - self.name_index.len()
            }
            _ => bare,
        }
    }
}

/// Calls as a list, written as in Python.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Python {
    /// The markers that may come before the list.
    #[serde(default)]
    pub(super) open: Vec<String>,
    /// The markers that may come after it.
    #[serde(default)]
    pub(super) close: Vec<String>,
}

/// Calls in Gemma's notation, `call:name{key:value}`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Gemma {
    /// The marker that opens a call, with `{name}` and the opening brace of the arguments.
    pub(super) open: String,
    /// The marker that closes it.
    pub(super) close: String,
    /// The marker at both ends of a string.
    pub(super) quote: String,
}

/// Calls and thinking as messages in channels.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Channels {
    /// Whether the analysis channel is shown as thinking.
    #[serde(default = "yes")]
    pub(super) analysis: bool,
}

/// What is removed from text for display.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Display {
    /// The names of tags that are removed everywhere, while their content is kept.
    #[serde(default)]
    pub(super) remove_tags: Vec<String>,
    /// An incomplete tag at the end is removed whatever its name, as the reproduced programs do.
    #[serde(default)]
    pub(super) seed: bool,
}

/// Why a grammar cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrammarError {
    /// It is not TOML, or a field is missing, unknown or of the wrong type.
    #[error("{0}")]
    Form(String),
    /// A marker that cannot be searched for.
    #[error("`{field}` of grammar `{grammar}`: {problem}")]
    Marker {
        /// The grammar's name.
        grammar: String,
        /// The field.
        field: &'static str,
        /// What is wrong.
        problem: String,
    },
}

impl Hint for GrammarError {
    fn hint(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Form(_) => "see `docs/grammars.md` for the fields of a grammar, or start from a profile",
            Self::Marker { .. } => {
                "start the marker with literal text, and write `{name}` in place of the name"
            }
        })
    }
}

impl Grammar {
    /// The same grammar for a model whose text starts inside its thinking, because the marker that opens it is
    /// in the prompt. `None` if the grammar does not mark thinking with an opening and a closing marker.
    #[must_use]
    pub fn starting_in_thinking(mut self) -> Option<Self> {
        self.reasoning.as_mut()?.inside = true;
        Some(self)
    }

    /// Whether a text starts inside its thinking.
    pub(super) fn starts_inside(&self) -> bool {
        self.reasoning.as_ref().is_some_and(|reasoning| reasoning.inside)
    }

    /// Parses a grammar in TOML.
    pub fn from_toml(source: &str) -> Result<Self, GrammarError> {
        let value: Value = toml::from_str(source).map_err(|error| GrammarError::Form(error.to_string()))?;
        // By way of a value: each of its types would be read in all the ways that the parser of TOML has.
        json::from_value(&value).map_err(|error| GrammarError::Form(error.to_string()))
    }
}

fn yes() -> bool {
    true
}
