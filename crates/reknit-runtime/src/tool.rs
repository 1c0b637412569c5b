//! [`Tool`]: something that a model can call.
//!
//! A [`Definition`] says what a tool is called, what it takes and how much harm it can do. One definition gives the
//! JSON schema for providers with native tools, the list of tools for calls in tags, and the checks that a call
//! must pass before it runs.

#[cfg(feature = "session")]
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
#[cfg(feature = "session")]
use std::sync::Arc;

use reknit::agent::Content;
use reknit::json::{Object, Value};

use crate::question::Class;

#[cfg(feature = "session")]
mod context;

#[cfg(feature = "session")]
pub(crate) use context::Report;
#[cfg(feature = "session")]
pub use context::{Context, Progress, Workspace};

/// What the asynchronous methods of a [`Tool`] return.
pub type Work<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Something that a model can call.
#[cfg(feature = "session")]
pub trait Tool: Send + Sync + 'static {
    /// Its name, its parameters and its class.
    fn definition(&self) -> &Definition;

    /// The call in one line, for people and in its result: `[read_file for 'a.rs']`.
    ///
    /// The arguments may be incomplete: this is also shown while the model writes them.
    fn describe(&self, args: &Object) -> String {
        let name = &self.definition().name;
        let subject = self.definition().params.iter().find(|param| param.is_subject);
        match subject.and_then(|param| args.get(&param.name)).and_then(Value::as_str) {
            Some(subject) => format!("[{name} for '{subject}']"),
            None => format!("[{name}]"),
        }
    }

    /// What exactly the call would do, before anybody is asked whether it may.
    ///
    /// A call that cannot succeed fails here, so that nobody is asked about it. It is called again after an
    /// approval: if what it returns has changed, the approval does not cover it and the question is asked again.
    fn review<'a>(&'a self, args: &'a Object, context: &'a Context) -> Work<'a, Result<Review, Failure>> {
        let _ = (args, context);
        Box::pin(async { Ok(Review::of(self.definition().class)) })
    }

    /// Runs the call.
    fn execute<'a>(&'a self, args: &'a Object, context: &'a Context) -> Work<'a, Result<Output, Failure>>;
}

/// What a call would do.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Review {
    /// Its class, which may depend on the arguments: some files contain secrets.
    pub class: Class,
    /// Exactly what will happen, if it is more than the arguments say: a diff, a command.
    pub detail: Option<String>,
    /// How much it does, if that is more than one thing: `3 edits in 2 files`.
    pub progress: Option<String>,
    /// Whether it touches something that is protected.
    pub protected: bool,
}

impl Review {
    /// A call of this class, with nothing to add.
    pub fn of(class: Class) -> Self {
        Self { class, detail: None, progress: None, protected: false }
    }

    /// The same with what exactly will happen.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// The same with how much it does.
    #[must_use]
    pub fn with_progress(mut self, progress: Option<String>) -> Self {
        self.progress = progress;
        self
    }

    /// The same for something that is protected.
    #[must_use]
    pub fn protected(mut self) -> Self {
        self.protected = true;
        self
    }
}

/// What a call gave.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Output {
    /// Text and images for the model.
    pub content: Vec<Content>,
    /// Whether the task is done and the turn ends here.
    pub completes: bool,
}

impl Output {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::Text { text: text.into() }], completes: false }
    }

    /// Text and images.
    pub fn content(content: Vec<Content>) -> Self {
        Self { content, completes: false }
    }

    /// All of its text, without images.
    pub fn plain_text(&self) -> String {
        let texts = self.content.iter().filter_map(|content| match content {
            Content::Text { text } => Some(&**text),
            _ => None,
        });
        texts.collect()
    }

    /// The same, and the task is done.
    #[must_use]
    pub fn completing(mut self) -> Self {
        self.completes = true;
        self
    }
}

/// Why a call failed, in words that the model can act on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct Failure {
    /// The words.
    pub message: String,
    /// Whose fault it is.
    pub fault: Fault,
}

/// Whose fault a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The model's: a missing parameter, a file that does not exist. After three in a row the user is asked.
    Model,
    /// Nobody's, or the world's: a command that cannot be started, a full disk.
    World,
}

impl Failure {
    /// The model has made a mistake.
    pub fn mistake(message: impl Into<String>) -> Self {
        Self { message: message.into(), fault: Fault::Model }
    }

    /// The model has left out a parameter that the call needs.
    pub fn missing(param: &str) -> Self {
        Self::mistake(format!(
            "Missing value for required parameter '{param}'. Please retry with complete response."
        ))
    }

    /// It did not work, and the model is not to blame.
    pub fn other(message: impl Into<String>) -> Self {
        Self { message: message.into(), fault: Fault::World }
    }
}

/// What a tool is called, what it takes, and what it does.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub about: String,
    /// The class of its calls, unless a [`Review`] says otherwise.
    pub class: Class,
    /// Its parameters, in the order in which the model should write them.
    pub params: Vec<Param>,
    /// Whether a call ends the task. It then runs only if no other call of its reply has failed.
    pub completes: bool,
}

/// A parameter of a tool.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Param {
    /// Its name.
    pub name: String,
    /// What it means, for the model.
    pub about: String,
    /// Its type.
    pub kind: Kind,
    /// Whether a call needs it.
    pub required: bool,
    /// Whether it says what the call is about: `[read_file for 'a.rs']`.
    is_subject: bool,
}

/// The type of a parameter.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// A string.
    Text,
    /// A whole number.
    Integer,
    /// True or false.
    Boolean,
    /// Anything else, with its JSON schema.
    Schema(Value),
}

impl Definition {
    /// A tool without parameters.
    pub fn new(name: impl Into<String>, class: Class, about: impl Into<String>) -> Self {
        Self { name: name.into(), about: about.into(), class, params: Vec::new(), completes: false }
    }

    /// The same with a required parameter that says what a call is about.
    #[must_use]
    pub fn subject(mut self, name: &str, about: &str) -> Self {
        self.params.push(Param::new(name, Kind::Text, about, true, true));
        self
    }

    /// The same with another required parameter.
    #[must_use]
    pub fn required(mut self, name: &str, kind: Kind, about: &str) -> Self {
        self.params.push(Param::new(name, kind, about, true, false));
        self
    }

    /// The same with another parameter that may be left out.
    #[must_use]
    pub fn optional(mut self, name: &str, kind: Kind, about: &str) -> Self {
        self.params.push(Param::new(name, kind, about, false, false));
        self
    }

    /// The same for a tool that ends the task.
    #[must_use]
    pub fn completing(mut self) -> Self {
        self.completes = true;
        self
    }

    /// The JSON schema of the parameters.
    pub fn schema(&self) -> Value {
        let properties: Object = self.params.iter().map(|param| (&*param.name, param.schema())).collect();
        let required = self.params.iter().filter(|param| param.required);
        let required: Vec<Value> = required.map(|param| Value::from(&*param.name)).collect();
        let mut schema = Object::new();
        schema.insert("type", "object");
        schema.insert("properties", properties);
        schema.insert("required", required);
        schema.insert("additionalProperties", false);
        schema.into()
    }

    /// Checks that arguments have what is required, in the types that the parameters have.
    pub fn check(&self, args: &Object) -> Result<(), Failure> {
        for param in &self.params {
            match args.get(&param.name) {
                None if !param.required => {}
                // An empty file is a file: only `null` counts as missing.
                None | Some(Value::Null) if param.required => {
                    return Err(Failure::missing(&param.name));
                }
                Some(value) if !param.kind.fits(value) => {
                    return Err(Failure::mistake(format!(
                        "Invalid value for parameter '{}': expected {}. Please retry with a corrected value.",
                        param.name,
                        param.kind.name()
                    )));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Param {
    fn new(name: &str, kind: Kind, about: &str, required: bool, is_subject: bool) -> Self {
        Self { name: name.to_owned(), about: about.to_owned(), kind, required, is_subject }
    }

    fn schema(&self) -> Value {
        let mut schema = match &self.kind {
            Kind::Schema(Value::Object(schema)) => schema.clone(),
            Kind::Schema(_) => Object::new(),
            kind => [("type", Value::from(kind.name()))].into_iter().collect(),
        };
        schema.insert("description", &*self.about);
        schema.into()
    }
}

impl Kind {
    fn fits(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Text, Value::String(_)) | (Self::Boolean, Value::Bool(_)) | (Self::Schema(_), _) => true,
            (Self::Integer, Value::Number(number)) => number.as_i64().is_some(),
            // Calls in tags have only text, and some models put quotes around everything.
            (Self::Integer, value @ Value::String(_)) => {
                value.as_str().is_some_and(|text| text.trim().parse::<i64>().is_ok())
            }
            (Self::Boolean, value @ Value::String(_)) => value
                .as_str()
                .is_some_and(|text| matches!(&*text.trim().to_ascii_lowercase(), "true" | "false")),
            // A parameter that may be left out may also be null; a required one was refused before.
            (_, Value::Null) => true,
            _ => false,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::Schema(_) => "object",
        }
    }
}

/// The tools of a session, by name.
#[cfg(feature = "session")]
#[derive(Clone, Default)]
pub struct Tools {
    tools: BTreeMap<String, Arc<dyn Tool>>,
}

#[cfg(feature = "session")]
impl Tools {
    /// No tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with another tool. One of the same name is replaced.
    #[must_use]
    pub fn with(mut self, tool: impl Tool) -> Self {
        self.tools.insert(tool.definition().name.clone(), Arc::new(tool));
        self
    }

    /// The tool of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    /// The definitions, by name.
    pub fn definitions(&self) -> impl Iterator<Item = &Definition> {
        self.tools.values().map(|tool| tool.definition())
    }
}
