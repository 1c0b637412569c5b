//! The JavaScript peers: one process of Node, driven line by line.

use std::cell::{Cell, RefCell};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::measure::{Outcome, Work};

pub(crate) struct Node {
    pipes: RefCell<Pipes>,
    inputs: Cell<usize>,
    versions: Value,
}

struct Pipes {
    child: Child,
    /// Closed to tell Node to end.
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// An input that Node has.
#[derive(Clone, Copy)]
pub(crate) struct Input(usize);

impl Node {
    /// `None` if Node or its packages are not there.
    pub(crate) fn start() -> Option<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("node");
        if !folder.join("node_modules").is_dir() {
            return None;
        }
        let mut child = Command::new("node")
            .arg("peers.mjs")
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let (requests, answers) = (child.stdin.take(), BufReader::new(child.stdout.take()?));
        let pipes = RefCell::new(Pipes { child, requests, answers });
        let mut node = Self { pipes, inputs: Cell::new(0), versions: Value::Null };
        node.versions = node.ask(&json!({"do": "versions"})).ok()?;
        Some(node)
    }

    /// The version of Node, or of one of its packages.
    pub(crate) fn version(&self, name: &str) -> &str {
        self.versions[name].as_str().unwrap_or("unknown")
    }

    /// Whether it has a package.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.versions[name].is_string()
    }

    /// Gives Node a text to work on.
    pub(crate) fn input(&self, text: &str) -> Result<Input> {
        let input = Input(self.inputs.replace(self.inputs.get() + 1));
        self.ask(&json!({"do": "keep", "input": input.0, "text": text}))?;
        Ok(input)
    }

    /// Some work of `peers.mjs` on an input; `options` are for that work.
    pub(crate) fn work(&self, name: &'static str, input: Input, options: &Value) -> Work<'_> {
        let request = json!({"do": "run", "work": name, "input": input.0, "options": options});
        Box::new(move || {
            let answer = self.ask(&request)?;
            let seconds = answer["seconds"].as_f64().context("Node did not say how long it took")?;
            let result = answer["result"].as_u64().context("Node did not say what it read")?;
            Ok(Outcome { time: Duration::from_secs_f64(seconds), result: result as usize })
        })
    }

    fn ask(&self, request: &Value) -> Result<Value> {
        let pipes = &mut *self.pipes.borrow_mut();
        let requests = pipes.requests.as_mut().context("Node was told to end")?;
        requests.write_all(format!("{request}\n").as_bytes()).context("Node does not listen")?;
        let mut answer = String::new();
        if pipes.answers.read_line(&mut answer).context("Node does not answer")? == 0 {
            bail!("Node ended; what it said is above");
        }
        serde_json::from_str(&answer).context("Node answered with what is no JSON")
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let pipes = self.pipes.get_mut();
        pipes.requests = None;
        let _ = pipes.child.wait();
    }
}
