//! `search_files`: finds lines by a regular expression, as ripgrep does.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::overrides::OverrideBuilder;
use reknit::json::Object;
use reknit_workspace::{RelPath, Root};
use tokio_util::sync::CancellationToken;

use super::arguments;
use super::blocking::{blocking, stopped};
use super::excerpt::{self, counted};
use super::list_files::walk;
use super::place::{Directory, Place};
use super::secret::is_secret;
use crate::question::Class;
use crate::tool::{Context, Definition, Failure, Kind, Output, Review, Tool, Work};

/// How many matching lines are shown.
const MOST: usize = 300;
/// How many characters of a line are shown.
const LINE: usize = 500;
/// How many bytes are shown.
const BYTES: usize = 100_000;
/// A longer line makes a file one that is not searched.
const LONGEST_LINE: usize = 16 << 20;
/// How long a search may take.
const TIME: Duration = Duration::from_secs(20);

pub(super) struct SearchFiles {
    definition: Definition,
}

impl SearchFiles {
    pub(super) fn new() -> Self {
        let about = "Searches files for a regular expression, line by line, and shows each match with the lines around \
            it. Files that git ignores and binary files are left out.";
        let definition = Definition::new("search_files", Class::Read, about)
            .required(
                "path",
                Kind::Text,
                "The directory or file to search, relative to the root; `.` is the root.",
            )
            .required("regex", Kind::Text, "The regular expression, in the syntax of Rust's regex crate.")
            .optional("file_pattern", Kind::Text, "Only search files that fit this glob, such as `*.ts`.");
        Self { definition }
    }
}

impl Tool for SearchFiles {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn describe(&self, args: &Object) -> String {
        match (arguments::text(args, "regex"), arguments::text(args, "file_pattern")) {
            (Some(regex), Some(pattern)) => format!("[search_files for '{regex}' in '{pattern}']"),
            (Some(regex), None) => format!("[search_files for '{regex}']"),
            (None, _) => "[search_files]".to_owned(),
        }
    }

    fn review<'a>(&'a self, args: &'a Object, context: &'a Context) -> Work<'a, Result<Review, Failure>> {
        Box::pin(async move {
            let request = Request::read(args)?;
            let names_secret = move |root: &Root| match Place::find(root, &request.path)? {
                Place::File(path) => Ok(is_secret(path.as_str()) || is_secret(&request.path)),
                Place::Directory(_) => Ok(false),
            };
            let names_secret = blocking(context, move |workspace, _| names_secret(&workspace.root)).await?;
            Ok(Review::of(if names_secret { Class::ReadSecret } else { Class::Read }))
        })
    }

    fn execute<'a>(&'a self, args: &'a Object, context: &'a Context) -> Work<'a, Result<Output, Failure>> {
        Box::pin(async move {
            let request = Request::read(args)?;
            blocking(context, move |workspace, cancel| {
                request.search(&workspace.root, cancel).map(Output::text)
            })
            .await
        })
    }
}

struct Request {
    path: String,
    regex: String,
    matcher: RegexMatcher,
    pattern: Option<String>,
}

impl Request {
    fn read(args: &Object) -> Result<Self, Failure> {
        let regex = arguments::required(args, "regex")?;
        let matcher =
            RegexMatcherBuilder::new().line_terminator(Some(b'\n')).build(&regex).map_err(|error| {
                Failure::mistake(format!(
                    "Invalid value for parameter 'regex': {error}\nPlease retry with a corrected value."
                ))
            })?;
        let pattern = arguments::text(args, "file_pattern").filter(|pattern| !pattern.trim().is_empty());
        Ok(Self { path: arguments::required(args, "path")?, regex, matcher, pattern })
    }

    fn search(&self, root: &Root, cancel: &CancellationToken) -> Result<String, Failure> {
        let mut search = Search {
            root,
            matcher: &self.matcher,
            searcher: SearcherBuilder::new()
                .line_number(true)
                .before_context(1)
                .after_context(1)
                .heap_limit(Some(LONGEST_LINE))
                .binary_detection(BinaryDetection::quit(0))
                .build(),
            found: Found {
                text: String::new(),
                matches: 0,
                files: 0,
                stop: None,
                cancel,
                until: Instant::now() + TIME,
            },
            secret: 0,
            unread: 0,
        };
        match Place::find(root, &self.path)? {
            Place::File(path) => search.file(&path),
            Place::Directory(directory) => self.search_below(root, &directory, &mut search)?,
        }
        search.report(self)
    }

    fn search_below(
        &self,
        root: &Root,
        directory: &Directory,
        search: &mut Search<'_>,
    ) -> Result<(), Failure> {
        let base: PathBuf = directory.absolute(root);
        let mut walk = walk(&base);
        if let Some(pattern) = &self.pattern {
            let mut overrides = OverrideBuilder::new(&base);
            let overrides = overrides.add(pattern).and_then(|overrides| overrides.build());
            walk.overrides(overrides.map_err(|error| {
                Failure::mistake(format!(
                    "Invalid value for parameter 'file_pattern': {error}. Please retry with a corrected value."
                ))
            })?);
        }
        for entry in walk.build().flatten() {
            if search.found.should_stop() {
                break;
            }
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let relative = entry.path().strip_prefix(root.path()).ok().and_then(|path| path.to_str());
            match relative.and_then(|path| RelPath::new(path).ok()) {
                Some(path) if is_secret(path.as_str()) => search.secret += 1,
                Some(path) => search.file(&path),
                None => search.unread += 1,
            }
        }
        Ok(())
    }
}

struct Search<'a> {
    root: &'a Root,
    matcher: &'a RegexMatcher,
    searcher: Searcher,
    found: Found<'a>,
    /// Files that were left out because they may contain secrets.
    secret: usize,
    /// Files that could not be read.
    unread: usize,
}

impl Search<'_> {
    fn file(&mut self, path: &RelPath) {
        let Ok(file) = self.root.open_file(path) else {
            self.unread += 1;
            return;
        };
        let watched = Watched { file, cancel: self.found.cancel, until: self.found.until };
        let mut lines = Lines { path: path.as_str(), found: &mut self.found, is_first: true };
        let searched = self.searcher.search_reader(self.matcher, watched, &mut lines);
        if searched.is_err() && !self.found.should_stop() {
            self.unread += 1;
        }
    }

    fn report(self, request: &Request) -> Result<String, Failure> {
        let Found { text, matches, files, stop, .. } = self.found;
        let mut report = match (matches, stop) {
            (_, Some(Stop::Cancelled)) => return Err(stopped()),
            (0, _) => format!("No results for `{}` in `{}`.", request.regex, request.path),
            (1, _) => "Found 1 result.".to_owned(),
            (_, Some(Stop::Full)) => format!(
                "Showing the first {matches} results, in {}. Use a more specific search to see others.",
                counted(files, "file")
            ),
            _ => format!("Found {matches} results."),
        };
        if let Some(Stop::Late) = stop {
            let _ = write!(
                report,
                " The search was stopped after {} seconds; search a directory below.",
                TIME.as_secs()
            );
        }
        if self.secret > 0 {
            let _ = write!(
                report,
                " Not searched, because they may contain secrets: {}.",
                counted(self.secret, "file")
            );
        }
        if self.unread > 0 {
            let _ = write!(report, " Could not be searched: {}.", counted(self.unread, "file"));
        }
        report.push('\n');
        report.push_str(&text);
        Ok(report)
    }
}

/// Why a search ended early.
#[derive(Clone, Copy)]
enum Stop {
    Cancelled,
    Late,
    Full,
}

/// What was found so far.
struct Found<'a> {
    text: String,
    matches: usize,
    files: usize,
    stop: Option<Stop>,
    cancel: &'a CancellationToken,
    until: Instant,
}

impl Found<'_> {
    fn should_stop(&mut self) -> bool {
        if self.cancel.is_cancelled() {
            self.stop = Some(Stop::Cancelled);
        } else if self.stop.is_none() && Instant::now() > self.until {
            self.stop = Some(Stop::Late);
        }
        self.stop.is_some()
    }
}

/// A file whose reading ends when the search should.
struct Watched<'a> {
    file: fs::File,
    cancel: &'a CancellationToken,
    until: Instant,
}

impl io::Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() || Instant::now() > self.until {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.file.read(buffer)
    }
}

/// The matching lines of one file, with those around them.
struct Lines<'a, 'f> {
    path: &'a str,
    found: &'a mut Found<'f>,
    is_first: bool,
}

impl Lines<'_, '_> {
    fn line(&mut self, mark: char, number: Option<u64>, bytes: &[u8]) {
        if self.is_first {
            let _ = write!(self.found.text, "\n# {}\n", self.path);
            self.found.files += 1;
            self.is_first = false;
        }
        let text = String::from_utf8_lossy(bytes);
        let text = excerpt::line(text.trim_end_matches(['\r', '\n']), LINE);
        let _ = writeln!(self.found.text, "{mark}{:>5} | {text}", number.unwrap_or_default());
    }
}

impl Sink for Lines<'_, '_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.found.matches == MOST || self.found.text.len() > BYTES {
            self.found.stop = Some(Stop::Full);
        }
        if self.found.should_stop() {
            return Ok(false);
        }
        self.found.matches += 1;
        self.line('>', found.line_number(), found.bytes());
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        self.line(' ', context.line_number(), context.bytes());
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        self.found.text.push_str("      …\n");
        Ok(true)
    }
}
