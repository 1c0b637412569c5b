//! [`Written`]: arguments that come one by one, as the JSON text that they are.

use crate::json::{PartialJson, Value};

/// How far the JSON text of a call's arguments is.
#[derive(Clone, Debug, Default)]
pub(super) enum Written {
    /// Not begun.
    #[default]
    Nothing,
    /// Behind a value.
    Values,
    /// Behind the colon. What came of the value is held: it may still be JSON, and then its text is not
    /// that of a string.
    Undecided(Box<PartialJson>),
    /// In a value that is a string.
    Text,
}

/// Each gives what the text goes on with.
impl Written {
    /// A value begins.
    pub(super) fn open(&mut self, name: &str) -> String {
        let before = match self {
            Self::Nothing => "{".to_owned(),
            Self::Values => ",".to_owned(),
            Self::Undecided(_) | Self::Text => self.close(None) + ",",
        };
        *self = Self::Undecided(Box::default());
        format!("{before}{}:", Value::from(name))
    }

    /// More of its text came.
    pub(super) fn grow(&mut self, text: &str) -> String {
        match self {
            Self::Undecided(held) => {
                if held.push(text).is_ok() {
                    return String::new();
                }
                let shown = held.raw().to_str().into_owned();
                *self = Self::Text;
                format!("\"{}", inside(&shown))
            }
            Self::Text => inside(text),
            Self::Nothing | Self::Values => String::new(),
        }
    }

    /// The value is whole: the text that came, or something else.
    pub(super) fn close(&mut self, value: Option<&Value>) -> String {
        match std::mem::replace(self, Self::Values) {
            Self::Undecided(held) => {
                value.map_or_else(|| Value::from(held.raw().clone()).to_string(), ToString::to_string)
            }
            Self::Text => "\"".to_owned(),
            unchanged @ (Self::Nothing | Self::Values) => {
                *self = unchanged;
                String::new()
            }
        }
    }

    /// All values have come.
    pub(super) fn end(&mut self) -> String {
        match self {
            Self::Nothing => "{}".to_owned(),
            Self::Values | Self::Undecided(_) | Self::Text => self.close(None) + "}",
        }
    }
}

/// A text as it stands between the quotes of a JSON string.
fn inside(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}
