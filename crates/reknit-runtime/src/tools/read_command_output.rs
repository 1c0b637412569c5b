//! `read_command_output`: reads what a command wrote, when that was too long for its result.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkMatch};
use reknit::json::Object;
use tokio_util::sync::CancellationToken;

use super::arguments;
use super::blocking::{blocking, stopped};
use super::excerpt::{self, grouped, incomplete, leftover};
use super::execute_command::is_output_name;
use crate::question::Class;
use crate::tool::{Context, Definition, Failure, Kind, Output, Tool, Work};

/// How many bytes are shown unless the model asks for fewer.
const BYTES: u64 = 40 << 10;
/// How many characters of a line that was found are shown.
const LINE: usize = 500;

pub(super) struct ReadCommandOutput {
    definition: Definition,
}

impl ReadCommandOutput {
    pub(super) fn new() -> Self {
        let about = "Reads the whole output of a command, of which execute_command returned only the beginning and the \
            end.";
        let definition = Definition::new("read_command_output", Class::Read, about)
            .subject("artifact_id", "The name that the result of the command has, such as `cmd-1.txt`.")
            .optional(
                "search",
                Kind::Text,
                "Show only lines with this regular expression or text; case does not matter.",
            )
            .optional(
                "offset",
                Kind::Integer,
                "The byte to begin at, by default 0. Lines that are found are counted from there.",
            )
            .optional("limit", Kind::Integer, "How many bytes to show. By default, and at most, 40960.");
        Self { definition }
    }
}

impl Tool for ReadCommandOutput {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn execute<'a>(&'a self, args: &'a Object, context: &'a Context) -> Work<'a, Result<Output, Failure>> {
        Box::pin(async move {
            let name = arguments::required(args, "artifact_id")?;
            let search = arguments::text(args, "search").filter(|search| !search.is_empty());
            let offset = arguments::number(args, "offset")?.unwrap_or(0);
            let limit = arguments::number(args, "limit")?.unwrap_or(BYTES).clamp(4, BYTES);
            blocking(context, move |workspace, cancel| {
                let mut file = open(workspace.outputs(), &name)?;
                let io = |error: io::Error| Failure::other(format!("`{name}`: reading: {error}"));
                let size = file.metadata().map_err(io)?.len();
                if offset > size {
                    let size = grouped(size);
                    return Err(Failure::mistake(format!(
                        "`{name}`: has only {size} bytes. Use a smaller offset."
                    )));
                }
                file.seek(SeekFrom::Start(offset)).map_err(io)?;
                let text = match search {
                    Some(search) => find(&name, file, &search, limit, cancel)?,
                    None => part(&name, file, offset, limit, size).map_err(io)?,
                };
                Ok(Output::text(text))
            })
            .await
        })
    }
}

/// Opens a file in the directory of outputs. A name with anything in it that could lead elsewhere is not one.
fn open(directory: &Path, name: &str) -> Result<File, Failure> {
    let path = directory.join(name);
    let is_one = is_output_name(name) && fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
    if !is_one {
        return Err(Failure::mistake(format!(
            "There is no output `{name}`. Use the name that the result of execute_command has."
        )));
    }
    File::open(&path).map_err(|error| Failure::other(format!("`{name}`: opening: {error}")))
}

/// The bytes from an offset on, up to the end of a line if there is one.
fn part(name: &str, file: File, offset: u64, limit: u64, size: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    let mut end = bytes.len();
    if offset + (end as u64) < size {
        let line = bytes.iter().rposition(|&byte| byte == b'\n').map(|at| at + 1);
        end = line.unwrap_or(end - incomplete(&bytes));
    }
    let next = offset + end as u64;
    let start = if offset > 0 { leftover(&bytes[..end]) } else { 0 };
    let (first, last, of) = (grouped(offset), grouped(next), grouped(size));
    let more = if next < size { format!(" To read on, use offset {next}.") } else { String::new() };
    Ok(format!(
        "`{name}`, bytes {first} to {last} of {of}.{more}\n{}",
        String::from_utf8_lossy(&bytes[start..end])
    ))
}

/// The lines with a text, up to a limit of bytes.
fn find(
    name: &str,
    file: File,
    search: &str,
    limit: u64,
    cancel: &CancellationToken,
) -> Result<String, Failure> {
    let mut lines = Lines { text: String::new(), limit: limit as usize, is_cut: false, matches: 0, cancel };
    let searched = SearcherBuilder::new().line_number(true).heap_limit(Some(16 << 20)).build().search_reader(
        matcher(search)?,
        file,
        &mut lines,
    );
    if cancel.is_cancelled() {
        return Err(stopped());
    }
    searched.map_err(|error| Failure::other(format!("`{name}`: searching: {error}")))?;
    let mut text = match lines.matches {
        0 => format!("`{name}`: no line has `{search}`."),
        1 => format!("`{name}`: 1 line has `{search}`."),
        count => format!("`{name}`: {count} lines have `{search}`."),
    };
    if lines.is_cut {
        let _ = write!(text, " Others are not shown: use a more specific search, or a later offset.");
    }
    Ok(format!("{text}\n{}", lines.text))
}

/// A regular expression, or the text itself if it is not a valid one.
fn matcher(search: &str) -> Result<RegexMatcher, Failure> {
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(true).line_terminator(Some(b'\n'));
    builder
        .build(search)
        .or_else(|_| builder.fixed_strings(true).build(search))
        .map_err(|error| Failure::mistake(format!("Invalid value for parameter 'search': {error}")))
}

struct Lines<'a> {
    text: String,
    limit: usize,
    is_cut: bool,
    matches: usize,
    cancel: &'a CancellationToken,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.text.len() >= self.limit || self.cancel.is_cancelled() {
            self.is_cut = true;
            return Ok(false);
        }
        self.matches += 1;
        let line = String::from_utf8_lossy(found.bytes());
        let line = excerpt::line(line.trim_end_matches(['\r', '\n']), LINE);
        let _ = writeln!(self.text, "{:>5} | {line}", found.line_number().unwrap_or_default());
        Ok(true)
    }
}
