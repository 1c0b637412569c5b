//! Runs the binary.

use std::io::Write;
use std::process::{Child, Command, Output, Stdio};

/// The variables that name a model or where it is: a test must not use those of whoever runs it.
pub(crate) const MODEL_VARIABLES: [&str; 14] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "GEMINI_API_KEY",
    "GEMINI_BASE_URL",
    "GOOGLE_API_KEY",
    "GOOGLE_GEMINI_BASE_URL",
    "OLLAMA_API_KEY",
    "OLLAMA_HOST",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
];

/// What came of a run.
#[derive(Debug, PartialEq)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("all that is printed is UTF-8");
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// Starts the binary with all of its streams on pipes.
pub(crate) fn start(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reknit"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the binary was built for this test")
}

/// Runs the binary to its end, with `input` on its standard input.
pub(crate) fn run(arguments: &[&str], input: impl AsRef<[u8]> + Send) -> Run {
    let mut child = start(arguments);
    let mut stdin = child.stdin.take().expect("it is on a pipe");
    std::thread::scope(|scope| {
        // A program that refuses its input exits early: that is not an error here.
        scope.spawn(move || drop(stdin.write_all(input.as_ref())));
        child.wait_with_output().expect("it can be waited for").into()
    })
}
