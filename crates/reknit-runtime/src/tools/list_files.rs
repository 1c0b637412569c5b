//! `list_files`: what is in a directory.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use reknit::json::Object;
use reknit_workspace::Root;
use tokio_util::sync::CancellationToken;

use super::arguments;
use super::blocking::{blocking, stopped};
use super::place::{Directory, Place};
use crate::question::Class;
use crate::tool::{Context, Definition, Failure, Kind, Output, Tool, Work};

/// How many entries are listed.
const MOST: usize = 200;

pub(super) struct ListFiles {
    definition: Definition,
}

impl ListFiles {
    pub(super) fn new() -> Self {
        let about = "Lists the files and directories in a directory; those that git ignores are left out. Directories \
            end with `/`, symlinks with `@`. A recursive list is cut after 200 entries, the deepest ones first.";
        let definition = Definition::new("list_files", Class::Read, about)
            .subject("path", "The path of the directory, relative to the root; `.` is the root.")
            .optional("recursive", Kind::Boolean, "Whether to list what is in its directories as well.");
        Self { definition }
    }
}

impl Tool for ListFiles {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn execute<'a>(&'a self, args: &'a Object, context: &'a Context) -> Work<'a, Result<Output, Failure>> {
        Box::pin(async move {
            let path = arguments::required(args, "path")?;
            let recursive = arguments::flag(args, "recursive");
            blocking(context, move |workspace, cancel| {
                let directory = Place::directory(&workspace.root, &path)?;
                list(&workspace.root, &directory, recursive, cancel).map(Output::text)
            })
            .await
        })
    }
}

/// A walk over the files below a directory as git sees them: without ignored ones, without its own data, and without
/// following symlinks.
pub(super) fn walk(directory: &Path) -> WalkBuilder {
    let mut walk = WalkBuilder::new(directory);
    walk.hidden(false)
        .require_git(false)
        .follow_links(false)
        .sort_by_file_name(Ord::cmp)
        .filter_entry(|entry| !entry.file_name().eq_ignore_ascii_case(".git"));
    walk
}

fn list(
    root: &Root,
    directory: &Directory,
    recursive: bool,
    cancel: &CancellationToken,
) -> Result<String, Failure> {
    let base = directory.absolute(root);
    let mut lines: Vec<String> = Vec::new();
    // Level by level, so that a limit leaves out what is deepest.
    let mut directories = VecDeque::from([PathBuf::from(&base)]);
    while let Some(next) = directories.pop_front() {
        for entry in walk(&next).max_depth(Some(1)).build().flatten().filter(|entry| entry.depth() == 1) {
            if cancel.is_cancelled() {
                return Err(stopped());
            }
            if lines.len() == MOST {
                let more = "(File list truncated. Use list_files on specific subdirectories if you need to explore further.)";
                return Ok(format!("{}\n\n{more}", lines.join("\n")));
            }
            let shown = entry.path().strip_prefix(&base).unwrap_or(entry.path()).to_string_lossy();
            let kind = entry.file_type();
            let mark = match kind {
                Some(kind) if kind.is_dir() => "/",
                Some(kind) if kind.is_symlink() => "@",
                _ => "",
            };
            lines.push(format!("{shown}{mark}"));
            if recursive && mark == "/" {
                directories.push_back(entry.into_path());
            }
        }
    }
    if lines.is_empty() {
        return Ok(format!("`{}` has no files, apart from ignored ones.", directory.shown()));
    }
    Ok(lines.join("\n"))
}
