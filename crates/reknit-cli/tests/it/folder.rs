//! A directory with files to edit, and a journal of its own beside it.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::command::Run;

/// Files, gone with the value.
pub(crate) struct Folder {
    temporary: TempDir,
}

impl Folder {
    /// A directory with these files, and one for the journal beside it.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        Self::new_in(tempfile::tempdir(), files)
    }

    /// The same in memory, if the system has a folder there.
    pub(crate) fn in_memory(files: &[(&str, &str)]) -> Self {
        Self::new_in(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()), files)
    }

    fn new_in(temporary: io::Result<TempDir>, files: &[(&str, &str)]) -> Self {
        let folder = Self { temporary: temporary.expect("there is room for files") };
        fs::create_dir(folder.root()).expect("the directory is new");
        for (path, content) in files {
            folder.write(path, content);
        }
        folder
    }

    /// The directory of the files.
    pub(crate) fn root(&self) -> PathBuf {
        self.temporary.path().join("files")
    }

    /// The directory above, in which nothing may be written.
    pub(crate) fn outside(&self) -> &Path {
        self.temporary.path()
    }

    /// The directory for the journal, as the environment names it.
    pub(crate) fn state(&self) -> String {
        self.temporary.path().join("state").to_str().expect("it is UTF-8").to_owned()
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("it is below the root")).expect("it can be made");
        fs::write(path, content).expect("it can be written");
    }

    pub(crate) fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub(crate) fn read(&self, path: &str) -> String {
        String::from_utf8(self.bytes(path)).expect("the file is UTF-8")
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.root().join(path).exists()
    }

    /// A command that runs there.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.root()).env("XDG_STATE_HOME", self.state());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the binary there, with an input that fits a pipe.
    pub(crate) fn run(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Run {
        self.output(arguments, input).into()
    }

    /// The same for output that is not text.
    pub(crate) fn output(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Output {
        let mut child = self.command(env!("CARGO_BIN_EXE_reknit"), arguments).spawn().expect("it was built");
        // A program that refuses its input exits early: that is not an error here.
        drop(child.stdin.take().expect("it is on a pipe").write_all(input.as_ref()));
        child.wait_with_output().expect("it can be waited for")
    }
}

/// A search and replace block, with its lines.
pub(crate) fn block(search: &str, replacement: &str) -> String {
    format!("<<<<<<< SEARCH\n{search}=======\n{replacement}>>>>>>> REPLACE\n")
}

/// The same below the name of a file.
pub(crate) fn block_of(path: &str, search: &str, replacement: &str) -> String {
    format!("{path}\n{}\n", block(search, replacement))
}
