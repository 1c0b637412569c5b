//! A diff for patch tools, byte for byte.

use std::io::{self, Write};

use super::{Diff, Hunk, Kind, Span};

/// The names of a file before and after; `None` where it does not exist.
#[derive(Clone, Copy)]
pub(crate) struct Sides<'a> {
    pub(crate) before: Option<&'a str>,
    pub(crate) after: Option<&'a str>,
}

/// Writes a unified diff, with git headers where a file is created, deleted or moved.
pub(crate) fn write(out: &mut impl Write, sides: Sides<'_>, diff: &Diff<'_>) -> io::Result<()> {
    let hunks = diff.hunks();
    for line in head(sides, &hunks) {
        writeln!(out, "{line}")?;
    }
    for hunk in &hunks {
        writeln!(out, "{}", hunk.head())?;
        for line in &hunk.lines {
            out.write_all(&[line.kind.sign()])?;
            out.write_all(line.text)?;
            if !line.text.ends_with(b"\n") {
                writeln!(out, "\n{NO_LINE_END}")?;
            }
        }
    }
    Ok(())
}

pub(super) const NO_LINE_END: &str = r"\ No newline at end of file";

/// The lines above the hunks.
pub(super) fn head(sides: Sides<'_>, hunks: &[Hunk<'_>]) -> Vec<String> {
    let name = |side: char, path: Option<&str>| {
        path.map_or_else(|| "/dev/null".to_owned(), |path| quoted(&format!("{side}/{path}")))
    };
    let mut lines = Vec::new();
    if sides.before != sides.after {
        let any = |path: Option<&str>| path.or(sides.before).or(sides.after).map(str::to_owned);
        let (before, after) = (any(sides.before), any(sides.after));
        lines.push(format!("diff --git {} {}", name('a', before.as_deref()), name('b', after.as_deref())));
        match (sides.before, sides.after) {
            (Some(from), Some(to)) => {
                lines.extend([format!("rename from {}", quoted(from)), format!("rename to {}", quoted(to))]);
            }
            (None, _) => lines.push("new file mode 100644".to_owned()),
            (Some(_), None) => lines.push("deleted file mode 100644".to_owned()),
        }
    }
    if !hunks.is_empty() {
        lines.push(format!("--- {}", name('a', sides.before)));
        lines.push(format!("+++ {}", name('b', sides.after)));
    }
    lines
}

impl Hunk<'_> {
    pub(super) fn head(&self) -> String {
        format!("@@ -{} +{} @@", self.before.shown(), self.after.shown())
    }
}

impl Span {
    /// The first line, and the count unless it is one; for no lines, the line before.
    fn shown(self) -> String {
        match self.count {
            0 => format!("{},0", self.skipped),
            1 => format!("{}", self.skipped + 1),
            count => format!("{},{count}", self.skipped + 1),
        }
    }
}

impl Kind {
    pub(super) fn sign(self) -> u8 {
        match self {
            Self::Kept => b' ',
            Self::Removed => b'-',
            Self::Added => b'+',
        }
    }
}

/// A name as git writes it: in quotes if it contains something that could end it early.
fn quoted(name: &str) -> String {
    if !name.contains(|char: char| char.is_control() || matches!(char, '"' | '\\')) {
        return name.to_owned();
    }
    let mut quoted = String::from("\"");
    for char in name.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            _ if char.is_control() => {
                let mut bytes = [0; 4];
                for byte in char.encode_utf8(&mut bytes).bytes() {
                    quoted.push_str(&format!("\\{byte:03o}"));
                }
            }
            _ => quoted.push(char),
        }
    }
    quoted + "\""
}
