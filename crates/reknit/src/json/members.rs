//! [`Members`]: the members of a JSON object, taken out one by one with a check of their types.

use std::borrow::Cow;
use std::iter;

use serde::de::DeserializeOwned;

use super::{Number, Object, Value};
use crate::diagnostic::Hint;

/// An object from which members are taken. Those that are left at the end are unknown.
pub(crate) struct Members {
    /// What the object is, for error messages.
    of: String,
    object: Object,
}

/// JSON that is not the event, entry, chunk, message or object that it was read as.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Misread(Fault);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Fault {
    #[error("{of} must be an object, but it is {found}")]
    NotAnObject { of: String, found: &'static str },
    #[error("{of} has no `{member}`")]
    Missing { of: String, member: &'static str },
    #[error("`{member}` of {of} must be {expected}, but it is {found}")]
    WrongType { of: String, member: &'static str, expected: &'static str, found: &'static str },
    #[error("`{member}` of {of} must be one of {expected}, but it is `{found}`")]
    UnknownWord { of: String, member: &'static str, expected: &'static str, found: String },
    #[error("{of} has version {found}, but only version {known} can be read")]
    UnknownVersion { of: String, found: u64, known: u64 },
}

impl Hint for Misread {
    fn hint(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self.0 {
            Fault::NotAnObject { .. } => "write each event as one JSON object",
            Fault::Missing { .. } => "add the member; `docs/json.md` lists the members of every event",
            Fault::WrongType { .. } | Fault::UnknownWord { .. } => {
                "check what writes the events; `docs/json.md` lists the members of every event"
            }
            Fault::UnknownVersion { .. } => "read it with the version of reknit that wrote it",
        })
    }
}

impl Members {
    /// The members of `value`; errors call it `of`.
    pub(crate) fn new(of: impl Into<String>, value: Value) -> Result<Self, Misread> {
        match value {
            Value::Object(object) => Ok(Self { of: of.into(), object }),
            other => Err(Misread(Fault::NotAnObject { of: of.into(), found: described(&other) })),
        }
    }

    /// Sets what errors call the object.
    pub(crate) fn rename(&mut self, of: String) {
        self.of = of;
    }

    /// The members that were not taken.
    pub(crate) fn rest(self) -> Object {
        self.object
    }

    /// The whole object, if only `type` was taken from it.
    pub(crate) fn rest_of_kind(self, kind: String) -> Object {
        iter::once(("type".to_owned(), Value::from(kind))).chain(self.object).collect()
    }

    pub(crate) fn has(&self, member: &str) -> bool {
        self.object.get(member).is_some()
    }

    pub(crate) fn optional(&mut self, member: &'static str) -> Option<Value> {
        self.object.remove(member)
    }

    pub(crate) fn value(&mut self, member: &'static str) -> Result<Value, Misread> {
        self.optional(member).ok_or_else(|| Misread(Fault::Missing { of: self.of.clone(), member }))
    }

    pub(crate) fn text(&mut self, member: &'static str) -> Result<String, Misread> {
        let value = self.value(member)?;
        self.typed(member, "a string", &value, |value| value.as_str().map(Into::into))
    }

    pub(crate) fn optional_text(&mut self, member: &'static str) -> Result<Option<String>, Misread> {
        self.optional_typed(member, "a string", |value| value.as_str().map(Into::into))
    }

    pub(crate) fn optional_flag(&mut self, member: &'static str) -> Result<Option<bool>, Misread> {
        self.optional_typed(member, "true or false", Value::as_bool)
    }

    pub(crate) fn optional_number(&mut self, member: &'static str) -> Result<Option<Number>, Misread> {
        self.optional_typed(member, "a number", |value| value.as_number().cloned())
    }

    pub(crate) fn count(&mut self, member: &'static str) -> Result<u64, Misread> {
        let value = self.value(member)?;
        self.typed(member, "a count", &value, Value::as_u64)
    }

    pub(crate) fn optional_count(&mut self, member: &'static str) -> Result<Option<u64>, Misread> {
        self.optional_typed(member, "a count", Value::as_u64)
    }

    /// A member that is not important enough for an error: if it has another type, it is left in the object.
    pub(crate) fn if_any<T>(&mut self, member: &str, read: impl FnOnce(&Value) -> Option<T>) -> Option<T> {
        let read = read(self.object.get(member)?);
        if read.is_some() {
            self.object.remove(member);
        }
        read
    }

    pub(crate) fn list(&mut self, member: &'static str) -> Result<Vec<Value>, Misread> {
        match self.value(member)? {
            Value::Array(elements) => Ok(elements.into()),
            other => Err(self.wrong(member, "a list", &other)),
        }
    }

    pub(crate) fn optional_list(&mut self, member: &'static str) -> Result<Vec<Value>, Misread> {
        match self.optional(member) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(elements)) => Ok(elements.into()),
            Some(other) => Err(self.wrong(member, "a list", &other)),
        }
    }

    pub(crate) fn object(&mut self, member: &'static str) -> Result<Object, Misread> {
        match self.value(member)? {
            Value::Object(object) => Ok(object),
            other => Err(self.wrong(member, "an object", &other)),
        }
    }

    /// The members of a member.
    pub(crate) fn members(&mut self, member: &'static str) -> Result<Self, Misread> {
        let object = self.object(member)?;
        Ok(Self { of: format!("`{member}` of {}", self.of), object })
    }

    /// The members of a member that is not important enough for an error: if it is not an object, it is left
    /// in this one.
    pub(crate) fn members_if_any(&mut self, member: &'static str) -> Option<Self> {
        self.object.get(member)?.as_object()?;
        self.members(member).ok()
    }

    /// Puts back what is left of a member whose members were taken.
    pub(crate) fn put_back(&mut self, member: &'static str, taken: Self) {
        if !taken.object.is_empty() {
            self.object.insert(member, taken.object);
        }
    }

    /// The same for a list, element by element.
    pub(crate) fn put_back_list(&mut self, member: &'static str, left: Vec<Object>) {
        if left.iter().any(|left| !left.is_empty()) {
            self.object.insert(member, left.into_iter().map(Value::from).collect::<Vec<_>>());
        }
    }

    /// Checks the version.
    pub(crate) fn version(&mut self, member: &'static str, known: u64) -> Result<(), Misread> {
        match self.count(member)? {
            found if found == known => Ok(()),
            found => Err(Misread(Fault::UnknownVersion { of: self.of.clone(), found, known })),
        }
    }

    /// A member that is one of a few words.
    pub(crate) fn word<T>(
        &mut self,
        member: &'static str,
        expected: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, Misread> {
        let found = self.text(member)?;
        match read(&found) {
            Some(word) => Ok(word),
            None => Err(self.unknown_word(member, expected, found)),
        }
    }

    pub(crate) fn unknown_word(
        &self,
        member: &'static str,
        expected: &'static str,
        found: String,
    ) -> Misread {
        Misread(Fault::UnknownWord { of: self.of.clone(), member, expected, found })
    }

    /// A member that `serde` can read because it has no numbers whose digits matter.
    pub(crate) fn value_as<T: DeserializeOwned>(
        &mut self,
        member: &'static str,
        expected: &'static str,
    ) -> Result<T, Misread> {
        let value = self.value(member)?;
        self.typed(member, expected, &value, |value| serde_json::from_value(value.clone().into()).ok())
    }

    pub(crate) fn optional_as<T: DeserializeOwned>(
        &mut self,
        member: &'static str,
        expected: &'static str,
    ) -> Result<Option<T>, Misread> {
        self.optional_typed(member, expected, |value| serde_json::from_value(value.clone().into()).ok())
    }

    /// `null` counts as absent.
    fn optional_typed<T>(
        &mut self,
        member: &'static str,
        expected: &'static str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<Option<T>, Misread> {
        match self.optional(member) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => self.typed(member, expected, &value, read).map(Some),
        }
    }

    fn typed<T>(
        &self,
        member: &'static str,
        expected: &'static str,
        value: &Value,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, Misread> {
        read(value).ok_or_else(|| self.wrong(member, expected, value))
    }

    fn wrong(&self, member: &'static str, expected: &'static str, value: &Value) -> Misread {
        Misread(Fault::WrongType { of: self.of.clone(), member, expected, found: described(value) })
    }
}

fn described(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
