//! `write_to_file`: creates a file, or replaces all of its content.

use std::borrow::Cow;

use reknit::edit::{self, Action, Format, Parsed};
use reknit::json::Object;

use super::{arguments, change};
use crate::question::Class;
use crate::tool::{Context, Definition, Failure, Kind, Output, Review, Tool, Work};

pub(super) struct WriteToFile {
    definition: Definition,
}

impl WriteToFile {
    pub(super) fn new() -> Self {
        let about = "Creates a file, or replaces the whole content of one. Directories that are missing are created. \
            Write the complete content: a comment such as `// rest of the code` would replace the code. To change a \
            part of a file, use apply_diff or edit.";
        let definition = Definition::new("write_to_file", Class::Write, about)
            .subject("path", "The path of the file, relative to the root.")
            .required("content", Kind::Text, "The complete content, without line numbers. It may be empty.");
        Self { definition }
    }
}

impl Tool for WriteToFile {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn review<'a>(&'a self, args: &'a Object, context: &'a Context) -> Work<'a, Result<Review, Failure>> {
        Box::pin(async move { change::review(parse(args)?, context).await })
    }

    fn execute<'a>(&'a self, args: &'a Object, context: &'a Context) -> Work<'a, Result<Output, Failure>> {
        Box::pin(async move { change::write(parse(args)?, context).await })
    }
}

fn parse(args: &Object) -> Result<Parsed, Failure> {
    let (path, content) = (arguments::required(args, "path")?, arguments::required(args, "content")?);
    let content = bare(&path, &content).into_owned();
    let edit = edit::Edit {
        path: Some(path),
        at: 0..content.len(),
        action: Action::Write { content },
        line: 1,
        repairs: Vec::new(),
    };
    Ok(Parsed { edits: vec![edit], problems: Vec::new(), format: Some(Format::Whole) })
}

/// The content without the fence around it, or the number before each of its lines, that a model added.
fn bare<'a>(path: &str, content: &'a str) -> Cow<'a, str> {
    let content = if is_markdown(path) { content } else { without_fence(content).unwrap_or(content) };
    without_numbers(content).map_or(Cow::Borrowed(content), Cow::Owned)
}

/// In such a file a fence may be the content.
fn is_markdown(path: &str) -> bool {
    let extension = path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    extension.is_some_and(|extension| matches!(&*extension, "md" | "markdown" | "mdx" | "qmd" | "rmd"))
}

/// What is inside one fence that begins with the first line and ends with the last.
fn without_fence(content: &str) -> Option<&str> {
    const MARK: &str = "```";
    let (first, rest) = content.trim_start_matches('\n').split_once('\n')?;
    let label = first.trim_end().strip_prefix(MARK)?;
    let inside = rest.trim_end().strip_suffix(MARK)?;
    let is_closed_once = inside.is_empty() || inside.ends_with('\n');
    let has_other = inside.lines().any(|line| line.trim_start().starts_with(MARK));
    (is_closed_once && !has_other && !label.contains(['`', ' '])).then_some(inside)
}

/// The content without `1 | `, `2 | ` … before its lines; `None` if not every line has its number.
fn without_numbers(content: &str) -> Option<String> {
    let mut bare = String::with_capacity(content.len());
    for (index, line) in content.split_inclusive('\n').enumerate() {
        let (number, rest) = line.split_once('|')?;
        if number.trim().parse() != Ok(index + 1) {
            return None;
        }
        bare.push_str(rest.strip_prefix(' ').unwrap_or(rest));
    }
    (!content.is_empty()).then_some(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_around_everything_is_removed() {
        for (content, expected) in [
            ("```rust\nfn a() {}\n```", "fn a() {}\n"),
            ("```\na\n```\n", "a\n"),
            ("```rs\n```", ""),
            // Two fences, one that is not closed, one that is closed in the middle of a line.
            ("```\na\n```\ntext\n```\nb\n```", "```\na\n```\ntext\n```\nb\n```"),
            ("```\na\n", "```\na\n"),
            ("```\na ```", "```\na ```"),
            ("a\n```\nb\n```\n", "a\n```\nb\n```\n"),
        ] {
            assert_eq!(bare("a.rs", content), expected, "{content:?}");
            assert_eq!(bare("a.md", content), content, "{content:?}");
        }
    }

    #[test]
    fn line_numbers_are_removed_if_every_line_has_its_own() {
        for (content, expected) in [
            ("1 | a\n2 |   b\n3 | \n", "a\n  b\n\n"),
            (" 9 | a\n10 | b\n", " 9 | a\n10 | b\n"),
            ("1 | a\nb\n", "1 | a\nb\n"),
            ("1 | a\n3 | b\n", "1 | a\n3 | b\n"),
            ("```\n1 | a\n2 | b\n```", "a\nb\n"),
            ("", ""),
        ] {
            assert_eq!(bare("a.rs", content), expected, "{content:?}");
        }
    }
}
