//! The tools that come with a session, with real files and processes.

use std::fs;
use std::path::{Path, PathBuf};

use reknit_runtime::question::Answer;
use reknit_runtime::testing::Caller;
use reknit_runtime::tool::{Failure, Fault, Output, Review, Workspace};
use reknit_runtime::tools::standard;
use reknit_workspace::{Journal, Root};
use tempfile::TempDir;

mod changes;
mod commands;
mod definitions;
mod listing;
mod outputs;
mod preview;
mod reading;
mod searching;
mod talking;

/// A directory with files, and tools that work on it.
struct Project {
    folder: TempDir,
    caller: Caller,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        Self::answering(files, [])
    }

    fn answering(files: &[(&str, &str)], answers: impl IntoIterator<Item = Answer>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir(&root).unwrap();
        let workspace = Workspace::new(
            Root::open(&root).unwrap(),
            Journal::open(folder.path().join("journal")).unwrap(),
            folder.path().join("outputs"),
        );
        let project = Self { folder, caller: Caller::new(workspace, answers) };
        for (path, content) in files {
            project.write(path, content);
        }
        project
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    /// A path beside the root.
    fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    fn link(&self, target: impl AsRef<Path>, name: &str) {
        std::os::unix::fs::symlink(target, self.root().join(name)).unwrap();
    }

    async fn call(&self, tool: &str, args: &str) -> Result<Output, Failure> {
        self.caller.call(standard().get(tool).unwrap().as_ref(), args).await
    }

    async fn review(&self, tool: &str, args: &str) -> Result<Review, Failure> {
        self.caller.review(standard().get(tool).unwrap().as_ref(), args).await
    }

    /// The text that a call gives.
    async fn text(&self, tool: &str, args: &str) -> String {
        self.call(tool, args).await.unwrap_or_else(|failure| panic!("{tool} {args}: {failure}")).plain_text()
    }

    /// The words of a call that the model got wrong. Its review must say the same, so that nobody is asked.
    async fn mistake(&self, tool: &str, args: &str) -> String {
        let failure = self.call(tool, args).await.expect_err(args);
        assert_eq!(failure.fault, Fault::Model, "{failure}");
        failure.message
    }
}
