//! What the keys of an edit tool's arguments are called, and what they ask.

use super::super::ProblemKind;
use crate::edit::{Action, Replace, Scope};
use crate::json::{Object, Value};

/// A key of an edit tool, under any of its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Old,
    New,
    All,
    Path,
    Command,
    Content,
}

const NAMES: [(Key, &[&str]); 6] = [
    (Key::Old, &["old_string", "old_str", "oldText", "old_text"]),
    (Key::New, &["new_string", "new_str", "newText", "new_text"]),
    (Key::All, &["replace_all", "replaceAll", "allow_multiple"]),
    (Key::Path, &["path", "file_path", "filePath", "filename"]),
    (Key::Command, &["command"]),
    (Key::Content, &["file_text"]),
];

impl Key {
    pub(super) fn read(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, names)| names.contains(&name)).map(|(key, _)| *key)
    }

    /// Whether only an edit tool has it.
    pub(super) fn is_telling(self) -> bool {
        matches!(self, Self::Old | Self::New | Self::Content)
    }

    /// The member that has this key; twice, under two names, is an error.
    fn get(self, object: &Object) -> Result<Option<&Value>, ProblemKind> {
        let mut members = object.iter().filter(|(name, _)| Self::read(name) == Some(self));
        let member = members.next().map(|(_, value)| value);
        if members.next().is_some() { Err(ProblemKind::InvalidArguments) } else { Ok(member) }
    }

    /// The text that has this key.
    fn text(self, object: &Object) -> Result<Option<String>, ProblemKind> {
        match self.get(object)? {
            None => Ok(None),
            Some(value) => {
                value.as_str().map(|text| Some(text.into_owned())).ok_or(ProblemKind::InvalidArguments)
            }
        }
    }
}

/// What an object asks, if it is the arguments of an edit tool.
pub(super) fn read(object: &Object) -> Option<Result<Action, ProblemKind>> {
    let is_telling = object.keys().filter_map(Key::read).any(Key::is_telling);
    let command = Key::Command.text(object).ok().flatten();
    let command = match command.as_deref() {
        Some("create") => Command::Create,
        Some("str_replace") => Command::Replace,
        Some("insert" | "view" | "undo_edit") => return Some(Err(ProblemKind::UnsupportedCommand)),
        _ if is_telling => Command::Unnamed,
        _ => return None,
    };
    Some(action(object, command))
}

/// What the editor is told to do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Command {
    Create,
    Replace,
    Unnamed,
}

fn action(object: &Object, command: Command) -> Result<Action, ProblemKind> {
    let (old, new) = (Key::Old.text(object)?, Key::New.text(object)?);
    let content = Key::Content.text(object)?;
    match (command, old, new, content) {
        (Command::Create | Command::Unnamed, None, None, Some(content)) => Ok(Action::Write { content }),
        (Command::Replace | Command::Unnamed, Some(search), Some(replacement), None) => {
            replace(object, search, replacement)
        }
        // The editor's text to insert is optional: without it the old text is removed.
        (Command::Replace, Some(search), None, None) => replace(object, search, String::new()),
        _ => Err(ProblemKind::InvalidArguments),
    }
}

fn replace(object: &Object, search: String, replacement: String) -> Result<Action, ProblemKind> {
    let scope = match Key::All.get(object)? {
        None | Some(Value::Null | Value::Bool(false)) => Scope::Within,
        Some(Value::Bool(true)) => Scope::Everywhere,
        Some(_) => return Err(ProblemKind::InvalidArguments),
    };
    Ok(Action::Replace(Replace { search, replacement, scope, ..Replace::default() }))
}

/// The path that the object at a JSON pointer names, or the closest one around it.
pub(super) fn path_around(root: Option<&Value>, pointer: &str) -> Option<String> {
    let root = root?;
    let mut pointer = pointer;
    loop {
        let object = root.pointer(pointer).and_then(Value::as_object);
        if let Some(path) = object.and_then(|object| Key::Path.text(object).ok().flatten()) {
            return Some(path);
        }
        pointer = &pointer[..pointer.rfind('/')?];
    }
}
