//! [`Grammar`]: how one sort of model writes its calls and its thinking, as data.

use std::collections::BTreeMap;

use serde::Deserialize;

/// How a model writes tool calls and thinking into its text.
///
/// All of it is data: the profiles are TOML files, and [`Grammar::from_toml`] reads one of your own. The
/// fields are described where they are declared; the profiles under `profiles/` show each in use.
///
/// ```
/// use reknit::tags::{Grammar, parse};
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
/// let parsed = parse(&grammar, "Hello. <greet><who>world</who></greet>")?;
/// assert_eq!(parsed.calls().next().unwrap().args().to_string(), r#"{"who":"world"}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grammar {
    /// Its name.
    pub name: String,
    /// What it is for, in a sentence.
    #[serde(default)]
    pub about: String,
    /// What a compatibility profile does that the engine would not do by itself.
    #[serde(default)]
    pub differs: Vec<String>,
    /// What happens to blanks around text.
    #[serde(default)]
    pub text: TextRule,
    /// Text that the model's server puts before every answer.
    #[serde(default)]
    pub prefix: String,
    /// What a fenced block or an inline code span does to the markers in it.
    #[serde(default)]
    pub code: CodeRule,
    /// What happens to prose behind the first call.
    #[serde(default)]
    pub behind_calls: BehindRule,
    /// How thinking is marked.
    pub reasoning: Option<Reasoning>,
    /// How calls are written; without it there are none.
    pub calls: Option<Calls>,
    /// What display removes from text.
    #[serde(default)]
    pub display: Display,
    /// The seed's limits instead of the ones given.
    #[serde(default)]
    pub seed_limits: bool,
}

/// What happens to blanks around text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextRule {
    /// They are dropped, and so is text of blanks alone.
    #[default]
    Trim,
    /// They are text.
    Keep,
    /// They are dropped, but text of blanks alone, or none, is an empty block.
    KeepEmpty,
}

/// What a fenced block or an inline code span does to the markers in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CodeRule {
    /// They are prose.
    #[default]
    Prose,
    /// Nothing.
    Ignored,
}

/// What happens to prose behind the first call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BehindRule {
    /// It is text.
    #[default]
    Text,
    /// It is dropped, with a diagnostic: such a model is to stop behind its calls, and what it goes on to
    /// write is a made-up result or a repetition.
    Drop,
}

/// How thinking is marked.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reasoning {
    /// What opens it.
    pub open: Vec<String>,
    /// What ends it.
    pub close: String,
    /// The text starts inside it: the opening marker is in the prompt.
    #[serde(default)]
    pub inside: bool,
    /// A call ends it, also without its closing marker.
    #[serde(default)]
    pub ends_at_calls: bool,
    /// Only the first is thinking; later markers are text.
    #[serde(default)]
    pub once: bool,
}

/// How calls are written.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Calls {
    /// A marker for the call, markers for its parameters.
    Markup(Markup),
    /// A JSON value for the call, or for its arguments.
    Json(Body),
    /// A list of calls as Python writes them.
    Python(Python),
    /// Gemma's notation.
    Gemma(Gemma),
    /// Harmony's channels, which also mark the thinking.
    Channels(Channels),
}

/// Calls as markup. A marker is written with `{name}` where the name stands, `{blank}` where blanks may
/// stand, and `{attributes}` where more may stand that is only looked at for `string="false"`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Markup {
    /// What stands around one or more calls.
    pub wrapper: Option<Wrapper>,
    /// What opens a call.
    pub call: String,
    /// What closes it.
    pub call_close: String,
    /// What opens a parameter.
    pub parameter: String,
    /// What closes it.
    pub parameter_close: String,
    /// The names of the tools; empty for any.
    #[serde(default)]
    pub tools: Vec<String>,
    /// The names of the parameters of all tools; empty for any.
    #[serde(default)]
    pub parameters: Vec<String>,
    /// The names of the parameters of single tools, instead of those of all.
    #[serde(default)]
    pub tool_parameters: BTreeMap<String, Vec<String>>,
    /// How values are cleaned.
    #[serde(default)]
    pub clean: Clean,
    /// Which closing marker closes a parameter.
    #[serde(default)]
    pub closer: Closer,
    /// What single parameters do otherwise; later rules win.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// A call is one only if a marker stands behind its opening one: a tag that is mentioned is text.
    #[serde(default = "yes")]
    pub mentions: bool,
    /// Half a closing marker at the end of the text belongs to the value.
    #[serde(default)]
    pub half_closers: bool,
    /// How deep calls may stand in calls.
    #[serde(default)]
    pub nesting: usize,
}

/// What stands around one or more calls.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wrapper {
    /// What opens it.
    pub open: Vec<String>,
    /// What closes it.
    pub close: Vec<String>,
    /// It may be missing: it is in the prompt, or the model leaves it out.
    #[serde(default)]
    pub optional: bool,
}

/// What parameters do otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Of these tools; empty for all.
    #[serde(default)]
    pub tools: Vec<String>,
    /// These parameters.
    pub parameters: Vec<String>,
    /// How their values are cleaned.
    pub clean: Option<Clean>,
    /// Which closing marker closes them.
    pub closer: Option<Closer>,
    /// Whether `&amp;` in them is `&`.
    #[serde(default)]
    pub ampersands: bool,
}

/// How a value is cleaned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clean {
    /// Blanks around it are dropped.
    #[default]
    Trim,
    /// One line end at its start and one at its end are dropped.
    Newline,
    /// One line feed at its start and one at its end are dropped; a carriage return stays.
    LineFeed,
    /// Nothing is dropped.
    Keep,
}

/// Which closing marker closes a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Closer {
    /// The first.
    #[default]
    First,
    /// The first behind which the call goes on: another parameter, or the end of the call.
    Placed,
    /// The last: the one behind which nothing stands up to the end of the call but parameters that the call
    /// has not had.
    Last,
    /// The first, and at the end of the call the value is read again up to the last one in it.
    RepairedAtClose,
    /// The first, and at each further one between parameters the value is read again up to that.
    RepairedAtEach,
}

/// Calls as JSON.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// What stands around all calls.
    pub wrapper: Option<Wrapper>,
    /// What opens a call, or several. With `{name}` in it JSON is the arguments, without it the whole call.
    pub open: Vec<String>,
    /// What may stand between name and arguments, after the opening marker.
    #[serde(default)]
    pub before: Vec<String>,
    /// What closes it; the JSON ends by itself, so it may be missing.
    #[serde(default)]
    pub close: Vec<String>,
    /// It is not missed if it is not there.
    #[serde(default)]
    pub close_optional: bool,
    /// What may stand between JSON values.
    #[serde(default)]
    pub separator: String,
    /// A JSON object of a call at the start of the text is one also without a marker.
    #[serde(default)]
    pub bare: bool,
    /// What is removed before a name.
    #[serde(default)]
    pub name_prefix: String,
    /// A number behind this, at the end of a name, is removed.
    #[serde(default)]
    pub name_index: String,
}

/// Calls as a list of Python calls.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Python {
    /// What may stand before the list.
    #[serde(default)]
    pub open: Vec<String>,
    /// What may stand behind it.
    #[serde(default)]
    pub close: Vec<String>,
}

/// Calls in Gemma's notation, `call:name{key:value}`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gemma {
    /// What opens a call, with `{name}`; the arguments' brace follows.
    pub open: String,
    /// What closes it.
    pub close: String,
    /// What stands at both ends of a string.
    pub quote: String,
}

/// Calls and thinking as messages in channels.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Channels {
    /// Whether the analysis channel is shown, as thinking.
    #[serde(default = "yes")]
    pub analysis: bool,
}

/// What display removes from text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Display {
    /// The names of tags that are removed wherever they stand, their content staying.
    #[serde(default)]
    pub remove_tags: Vec<String>,
    /// A half tag at the end is cut as the seed's regular expressions do, whatever its name.
    #[serde(default)]
    pub seed: bool,
}

/// Why a grammar cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrammarError {
    /// It is not TOML, or not of this form.
    #[error("{0}")]
    Form(String),
    /// A marker that cannot be found in a text.
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

impl GrammarError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Form(_) => "see `docs/grammars.md` for the fields of a grammar, or start from a profile",
            Self::Marker { .. } => {
                "a marker starts with a text of its own, and has `{name}` where the name stands"
            }
        }
    }
}

impl Grammar {
    /// Reads a grammar from TOML.
    pub fn from_toml(source: &str) -> Result<Self, GrammarError> {
        toml::from_str(source).map_err(|error| GrammarError::Form(error.to_string()))
    }
}

fn yes() -> bool {
    true
}
