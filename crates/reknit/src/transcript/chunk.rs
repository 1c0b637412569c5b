//! [`Chunk`]: one displayed unit of a message.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::agent::{Decision, Members, Misread, Stream};
use crate::json::{Number, Value, exact};
use crate::text::Text;

/// One displayed unit of a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Chunk {
    /// Text for the reader.
    Text {
        /// The text.
        text: Text,
    },
    /// The model's thinking.
    Thinking {
        /// The text.
        text: Text,
        /// What the provider wants back with it. It seals the chunk: what is thought then is another one.
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Value>,
    },
    /// Calls that were asked for one behind the other.
    ToolBatch {
        /// The calls.
        calls: Vec<Call>,
    },
    /// Something failed.
    Error {
        /// What it says.
        message: String,
        /// The status of the response, if there was one.
        #[serde(skip_serializing_if = "Option::is_none")]
        status_code: Option<Number>,
    },
    /// Something that the reader should know.
    System {
        /// What it is about.
        kind: SystemKind,
        /// What it says.
        text: String,
    },
}

/// A call, with what became of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// Its id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it is called with.
    #[serde(flatten)]
    pub input: Input,
    /// What came out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Whether it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// What its command wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shell_output: Option<ShellOutput>,
    /// Whether it may run, if somebody was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// The new content of a file that it edits, while the edit is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
}

/// What a call is called with.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum Input {
    /// Whole.
    Whole {
        /// The arguments.
        arguments: Value,
    },
    /// Never to be whole.
    Broken {
        /// The text that there was of them.
        input_text: Text,
        /// Why.
        input_error: String,
    },
    /// Still being written.
    Streaming {
        /// Their text so far.
        input_text: Text,
    },
}

/// What a command wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellOutput {
    /// To its output.
    pub stdout: Text,
    /// To its errors.
    pub stderr: Text,
}

/// Whether a call may run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// The request's id.
    pub id: String,
    /// What was said; nothing while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Why it was asked, or what was said with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The new content of a file, as far as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preview {
    /// The file.
    pub path: String,
    /// What is shown.
    pub text: Text,
}

/// What a [`Chunk::System`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SystemKind {
    /// Something to know.
    Notice,
    /// Another model answers.
    ModelChanged,
    /// The configuration was read again.
    ConfigReload,
    /// The user stopped the turn.
    Cancelled,
}

impl ShellOutput {
    /// What went to a stream.
    pub fn of(&self, stream: Stream) -> &Text {
        match stream {
            Stream::Stdout => &self.stdout,
            Stream::Stderr => &self.stderr,
        }
    }

    pub(super) fn of_mut(&mut self, stream: Stream) -> &mut Text {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }
}

impl Call {
    /// A call of which nothing is known but this.
    pub(super) fn new(id: &str, name: &str, input: Input) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            input,
            result: None,
            is_error: None,
            shell_output: None,
            approval: None,
            preview: None,
        }
    }

    /// Its arguments, if they are whole.
    pub fn arguments(&self) -> Option<&Value> {
        match &self.input {
            Input::Whole { arguments } => Some(arguments),
            Input::Broken { .. } | Input::Streaming { .. } => None,
        }
    }

    fn read(value: Value) -> Result<Self, Misread> {
        let mut members = Members::new("a call", value)?;
        let (id, name) = (members.text("id")?, members.text("name")?);
        let input = match members.optional("arguments") {
            Some(arguments) => Input::Whole { arguments },
            None => {
                let input_text = members.text("inputText")?.into();
                match members.optional_text("inputError")? {
                    Some(input_error) => Input::Broken { input_text, input_error },
                    None => Input::Streaming { input_text },
                }
            }
        };
        Ok(Self {
            id,
            name,
            input,
            result: members.optional("result"),
            is_error: members.optional_flag("isError")?,
            shell_output: members.optional_as("shellOutput", "`stdout` and `stderr`")?,
            approval: members.optional_as("approval", "an approval")?,
            preview: members.optional_as("preview", "`path` and `text`")?,
        })
    }
}

const KINDS: &str = "`text`, `thinking`, `tool-batch`, `error`, `system`";

impl Chunk {
    /// Reads a chunk.
    pub fn read(value: Value) -> Result<Self, Misread> {
        let mut members = Members::new("a chunk", value)?;
        let kind = members.text("type")?;
        members.rename(format!("a chunk of type `{kind}`"));
        Ok(match &*kind {
            "text" => Self::Text { text: members.text("text")?.into() },
            "thinking" => {
                Self::Thinking { text: members.text("text")?.into(), metadata: members.optional("metadata") }
            }
            "tool-batch" => Self::ToolBatch {
                calls: members.list("calls")?.into_iter().map(Call::read).collect::<Result<_, _>>()?,
            },
            "error" => Self::Error {
                message: members.text("message")?,
                status_code: members.optional_number("statusCode")?,
            },
            "system" => Self::System {
                kind: members.value_as("kind", "the kind of a system chunk")?,
                text: members.text("text")?,
            },
            _ => return Err(members.unknown_word("type", KINDS, kind)),
        })
    }
}

impl<'de> Deserialize<'de> for Chunk {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(exact::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Call {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(exact::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
