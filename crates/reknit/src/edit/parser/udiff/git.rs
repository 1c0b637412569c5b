//! [`GitLine`]: what git writes between `diff --git` and the names of the two sides.

/// A line below `diff --git`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GitLine {
    RenameFrom(String),
    RenameTo(String),
    /// The file is a copy, in its name or in that of what it is a copy of.
    Copy,
    /// The file is new.
    Created,
    /// The file is new and can be run.
    CreatedToRun,
    Deleted,
    /// The file gets another mode.
    Mode,
    /// The file is a link or the commit of another repository: its lines are not what it holds.
    NoFile,
    /// The file is not text, so its lines are not there or not readable.
    Binary,
    /// Nothing that matters here.
    Other,
}

/// The modes of links and of other repositories.
const NO_FILES: [&str; 2] = ["120000", "160000"];

impl GitLine {
    /// Reads a line without whitespace around it.
    pub(super) fn read(text: &str) -> Option<Self> {
        let rest_after = |start| text.strip_prefix(start);
        if let Some(from) = rest_after("rename from ") {
            return Some(Self::RenameFrom(name(from)));
        }
        if let Some(to) = rest_after("rename to ") {
            return Some(Self::RenameTo(name(to)));
        }
        if let Some(mode) = rest_after("new file mode ") {
            return Some(match mode {
                mode if NO_FILES.contains(&mode) => Self::NoFile,
                "100755" => Self::CreatedToRun,
                _ => Self::Created,
            });
        }
        let has_start = |starts: &[&str]| starts.iter().any(|start| text.starts_with(start));
        let mode = text.rsplit(' ').next().unwrap_or_default();
        if has_start(&["index ", "new mode "]) && NO_FILES.contains(&mode) {
            Some(Self::NoFile)
        } else if has_start(&["new mode "]) {
            Some(Self::Mode)
        } else if has_start(&["deleted file mode "]) {
            Some(Self::Deleted)
        } else if has_start(&["copy from ", "copy to "]) {
            Some(Self::Copy)
        } else if text == "GIT binary patch" || is_binary(text) {
            Some(Self::Binary)
        } else {
            has_start(&["old mode ", "index ", "similarity index ", "dissimilarity index "])
                .then_some(Self::Other)
        }
    }
}

/// Whether a line says that two files differ and are not text. So does every `diff`, not only that of git.
pub(super) fn is_binary(text: &str) -> bool {
    let text = text.trim_ascii();
    let names = text.strip_prefix("Binary files ").and_then(|rest| rest.strip_suffix(" differ"));
    names.is_some_and(|names| names.contains(" and "))
}

/// The name of the file in what follows `diff --git `, if both sides have the same.
pub(super) fn same_name(names: &str) -> Option<String> {
    let (old, new) = if names.starts_with('"') {
        let second = names.find("\" \"")? + 2;
        (unquoted(&names[..second]), unquoted(&names[second..]))
    } else {
        // The two halves are equal except for their first letters, so a name may contain spaces.
        let (old, new) = (names.get(..names.len() / 2)?, names.get(names.len() / 2 + 1..)?);
        (old.to_owned(), new.to_owned())
    };
    match (old.strip_prefix("a/"), new.strip_prefix("b/")) {
        (Some(old), Some(new)) => (old == new).then(|| old.to_owned()),
        _ => (old == new && !old.is_empty()).then_some(old),
    }
}

/// A name, which git puts in quotes if it holds what is not plain.
fn name(text: &str) -> String {
    if text.starts_with('"') { unquoted(text) } else { text.to_owned() }
}

/// A name that git wrote in quotes: bytes that are not plain are octal escapes.
pub(super) fn unquoted(text: &str) -> String {
    let inner = text.strip_prefix('"').unwrap_or(text);
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => break,
            b'\\' => match rest.next() {
                Some(first @ b'0'..=b'7') => {
                    let mut value = u32::from(first - b'0');
                    for _ in 0..2 {
                        if let Some(digit) = rest.next_if(|byte| (b'0'..=b'7').contains(byte)) {
                            value = value * 8 + u32::from(digit - b'0');
                        }
                    }
                    bytes.push(u8::try_from(value).unwrap_or(b'?'));
                }
                Some(b'n') => bytes.push(b'\n'),
                Some(b't') => bytes.push(b'\t'),
                Some(b'r') => bytes.push(b'\r'),
                Some(other) => bytes.push(other),
                None => {}
            },
            other => bytes.push(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
