//! `reknit run` with models: whole sessions with a strict provider on the loopback interface.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use reknit::Dialect;
use reknit_validators::server::{Answer, Fault, KEY, MODEL, Say, Server};
use serde_json::Value;

use crate::command::{MODEL_VARIABLES, Run};

mod configured;
mod connections;
mod sessions;
#[cfg(unix)]
mod terminal;

/// A user with a project, a configuration, and what the binary keeps.
struct Home {
    folder: tempfile::TempDir,
    /// Variables of the environment.
    variables: Vec<(&'static str, String)>,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is a temporary folder");
        for name in ["state", "config/reknit", "project"] {
            fs::create_dir_all(folder.path().join(name)).expect("it can be written");
        }
        fs::write(folder.path().join("project/notes.txt"), "milk\n").expect("it can be written");
        Self { folder, variables: Vec::new() }
    }

    /// A user whose only model is at a server.
    fn with_model(server: &Server, dialect: Dialect, more: &str) -> Self {
        let mut home = Self::new();
        let url = server.base_url();
        home.configure(&format!(
            "[models.strict]\ndialect = \"{dialect}\"\nmodel = \"{MODEL}\"\nbase_url = \"{url}\"\nkey_env = \"STRICT_KEY\"\n{more}\n"
        ));
        // The same key under a name that nobody knows: commands must not see that either.
        home.variables = vec![("STRICT_KEY", KEY.to_owned()), ("COPY_OF_IT", KEY.to_owned())];
        home
    }

    fn configure(&self, text: &str) {
        fs::write(self.path("config/reknit/config.toml"), text).expect("it can be written");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn start(&self, arguments: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reknit"));
        command.args(arguments).current_dir(self.path("project"));
        command.env("XDG_STATE_HOME", self.path("state")).env("XDG_CONFIG_HOME", self.path("config"));
        for variable in MODEL_VARIABLES {
            command.env_remove(variable);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the binary was built for this test")
    }

    /// Runs the binary to its end, with these answers.
    fn run(&self, arguments: &[&str], answers: &str) -> Run {
        let mut child = self.start(arguments);
        let mut stdin = child.stdin.take().expect("it is on a pipe");
        // A program that asks nothing does not read them.
        let _ = stdin.write_all(answers.as_bytes());
        drop(stdin);
        child.wait_with_output().expect("it can be waited for").into()
    }

    /// Runs the binary with these answers until it has printed this, and kills it.
    fn kill_at(&self, arguments: &[&str], answers: &str, end: &str) {
        let mut child = self.start(arguments);
        // It stays open: a question that is not answered waits.
        let mut stdin = child.stdin.take().expect("it is on a pipe");
        stdin.write_all(answers.as_bytes()).expect("they are read");
        let mut out = child.stdout.take().expect("it is on a pipe");
        let mut shown = Vec::new();
        while !shown.ends_with(end.as_bytes()) {
            let mut byte = [0];
            out.read_exact(&mut byte).expect("it gets there");
            shown.push(byte[0]);
        }
        child.kill().and_then(|()| child.wait()).expect("it runs");
    }

    /// The id of the newest session.
    fn session(&self) -> String {
        let list: Value =
            serde_json::from_str(&self.run(&["sessions", "--json"], "").stdout).expect("it is JSON");
        list["sessions"][0]["id"].as_str().expect("there is one").to_owned()
    }

    fn file(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path("project").join(name)).ok()
    }
}

/// Everything in all files below a folder.
fn all_bytes(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in fs::read_dir(folder).expect("it is a folder") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            bytes.extend(all_bytes(&path));
        } else {
            bytes.extend(fs::read(&path).expect("it is there"));
        }
    }
    bytes
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
