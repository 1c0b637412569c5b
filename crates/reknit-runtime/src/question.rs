//! [`Question`]: what a person is asked before a call runs, and the [`Answer`].
//!
//! Both are written into the log of a session, so that a question which was open when the program ended is asked
//! again, and so that it can be seen later what exactly was approved.

use std::borrow::Cow;

use reknit::agent::{AgentEvent, Body, Content, Entry};
use reknit::json::{Object, Value};
use sha2::{Digest, Sha256};

/// How much harm a call can do. It decides who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Class {
    /// Talks to the user: a question, the end of the task.
    Talk,
    /// Changes only the session: its mode, its list of tasks.
    Control,
    /// Reads files below the root. Such calls may run at the same time.
    Read,
    /// Reads a file that may contain a secret, which would then be sent to the provider.
    ReadSecret,
    /// Changes files below the root, with undo.
    Write,
    /// Runs a command.
    Execute,
    /// Reaches something outside this machine.
    Network,
}

impl Class {
    /// The word for it in JSON and in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Talk => "talk",
            Self::Control => "control",
            Self::Read => "read",
            Self::ReadSecret => "read-secret",
            Self::Write => "write",
            Self::Execute => "execute",
            Self::Network => "network",
        }
    }

    fn named(name: &str) -> Option<Self> {
        let all = [
            Self::Talk,
            Self::Control,
            Self::Read,
            Self::ReadSecret,
            Self::Write,
            Self::Execute,
            Self::Network,
        ];
        all.into_iter().find(|class| class.name() == name)
    }
}

/// What a person is asked.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// The call that it is about.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// The call in one line: `[write_to_file for 'src/lib.rs']`.
    pub description: String,
    /// What the call does.
    pub class: Class,
    /// Exactly what will happen, if that is more than the description: a diff, a command.
    pub detail: Option<String>,
    /// How much the call does, if that is more than one thing: `3 edits in 2 files`.
    pub progress: Option<String>,
    /// Whether it touches something that is protected even if such calls are usually allowed.
    pub protected: bool,
    /// The arguments.
    pub arguments: Value,
    /// What the approval is bound to: the tool, its arguments, and `detail`.
    pub hash: String,
}

impl Question {
    /// A question about a call.
    pub fn new(call_id: &str, tool: &str, description: String, class: Class, arguments: Value) -> Self {
        let (call_id, tool) = (call_id.to_owned(), tool.to_owned());
        let mut question = Self {
            call_id,
            tool,
            description,
            class,
            detail: None,
            progress: None,
            protected: false,
            arguments,
            hash: String::new(),
        };
        question.hash = question.hash();
        question
    }

    /// The same question with exactly what will happen.
    #[must_use]
    pub fn with_detail(mut self, detail: Option<String>, protected: bool) -> Self {
        (self.detail, self.protected) = (detail, protected);
        self.hash = self.hash();
        self
    }

    /// The same question with how much the call does.
    #[must_use]
    pub fn with_progress(mut self, progress: Option<String>) -> Self {
        self.progress = progress;
        self
    }

    fn hash(&self) -> String {
        let mut hash = Sha256::new();
        for part in [&*self.tool, &self.arguments.to_string(), self.detail.as_deref().unwrap_or_default()] {
            // Lengths first, so that no two questions have the same bytes.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The question as it is in the log.
    #[cfg(feature = "session")]
    pub(crate) fn to_json(&self) -> Object {
        let mut object = Object::new();
        object.insert("callId", &*self.call_id);
        object.insert("tool", &*self.tool);
        object.insert("description", &*self.description);
        object.insert("class", self.class.name());
        if let Some(detail) = &self.detail {
            object.insert("detail", &**detail);
        }
        if let Some(progress) = &self.progress {
            object.insert("progress", &**progress);
        }
        object.insert("protected", self.protected);
        object.insert("arguments", self.arguments.clone());
        object.insert("hash", &*self.hash);
        object
    }

    /// The question that an entry of the log asks, with the id that the answer has to name.
    pub fn of(entry: &Entry) -> Option<(&str, Self)> {
        let Body::Agent(AgentEvent::ApprovalRequest { approval_id, .. }) = &entry.body else { return None };
        let question = entry.extra.get("body")?.get("question")?.as_object()?;
        Some((approval_id, Self::from_json(question)?))
    }

    fn from_json(object: &Object) -> Option<Self> {
        let text = |key: &str| object.get(key)?.as_str().map(Cow::into_owned);
        Some(Self {
            call_id: text("callId")?,
            tool: text("tool")?,
            description: text("description")?,
            class: Class::named(&text("class")?)?,
            detail: text("detail"),
            progress: text("progress"),
            protected: matches!(object.get("protected"), Some(Value::Bool(true))),
            arguments: object.get("arguments")?.clone(),
            hash: text("hash")?,
        })
    }
}

/// What a person answered.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// Whether the call may run.
    pub yes: bool,
    /// What they said to the model.
    pub words: Option<String>,
    /// Images that they sent along.
    pub images: Vec<Content>,
}

impl Answer {
    /// Yes.
    pub fn yes() -> Self {
        Self { yes: true, ..Self::default() }
    }

    /// No.
    pub fn no() -> Self {
        Self::default()
    }

    /// What is answered where nobody can be asked: no.
    pub fn nobody() -> Self {
        Self::no().with_words("Nobody can be asked in this session.")
    }

    /// The same answer with something to say to the model.
    #[must_use]
    pub fn with_words(mut self, words: impl Into<String>) -> Self {
        self.words = Some(words.into());
        self
    }

    /// The same answer with images for the model.
    #[must_use]
    pub fn with_images(mut self, images: Vec<Content>) -> Self {
        self.images = images;
        self
    }
}
