//! [`Chunk`]: a displayed part of a message.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::agent::{Decision, Members, Misread, Stream};
use crate::json::{Number, Value, exact};
use crate::text::Text;

/// A displayed part of a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[non_exhaustive]
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
        /// What has to be sent back to the provider with it. It seals the chunk: later thinking is a new
        /// chunk.
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Value>,
    },
    /// Consecutive calls.
    ToolBatch {
        /// The calls.
        calls: Vec<Call>,
    },
    /// Something failed.
    Error {
        /// The error message.
        message: String,
        /// The HTTP status code, if there was one.
        #[serde(skip_serializing_if = "Option::is_none")]
        status_code: Option<Number>,
    },
    /// A message for the user.
    System {
        /// What it is about.
        kind: SystemKind,
        /// The text.
        text: String,
    },
}

/// A call and its outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Call {
    /// Its id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments.
    #[serde(flatten)]
    pub input: Input,
    /// The result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Whether it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// The output of its command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shell_output: Option<ShellOutput>,
    /// Whether it may run, if approval was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// The new content of a file that it edits, while the model writes the edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
}

/// The arguments of a call.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum Input {
    /// They are complete.
    Whole {
        /// The arguments.
        arguments: Value,
    },
    /// They will never be complete.
    Broken {
        /// The text that arrived.
        input_text: Text,
        /// Why they are incomplete.
        input_error: String,
    },
    /// They are still arriving.
    Streaming {
        /// The text so far.
        input_text: Text,
    },
}

/// The output of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShellOutput {
    /// Standard output.
    pub stdout: Text,
    /// Standard error.
    pub stderr: Text,
}

/// Whether a call may run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Approval {
    /// The id of the request.
    pub id: String,
    /// The decision; `None` until there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// The reason for the request, or for the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The new content of a file, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Preview {
    /// The file.
    pub path: String,
    /// The content.
    pub text: Text,
}

/// What a [`Chunk::System`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SystemKind {
    /// A message for the user.
    Notice,
    /// Another model answers.
    ModelChanged,
    /// The configuration was reloaded.
    ConfigReload,
    /// The user stopped the turn.
    Cancelled,
}

impl ShellOutput {
    pub(super) fn of(&self, stream: Stream) -> &Text {
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
    /// A call without a result.
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
    pub(super) fn read(value: Value) -> Result<Self, Misread> {
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
        Self::read(exact(deserializer)?).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Call {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(exact(deserializer)?).map_err(D::Error::custom)
    }
}
