//! `cargo xtask picture`: records `reknit` in a terminal, for the README.
//!
//! The real binary runs in a pseudo-terminal, a terminal emulator shows what it writes, and what is on the
//! screen at each moment becomes an SVG that plays it. With reduced motion, the SVG shows the end.

use std::env;
use std::fs;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use pty_process::Size;
use pty_process::blocking::{Command, open};
use tempfile::TempDir;

use crate::{Project, run as run_command};

mod screen;
mod svg;

use screen::Screen;

/// What is typed, in a copy of `examples/`: a stream that breaks off, and an edit with its question and its
/// undo.
const COMMANDS: [&str; 3] = [
    "reknit replay edit.rec --speed 2 --cut 3600 | reknit read",
    "reknit apply edit.md",
    "reknit undo --yes",
];

/// What a question ends with, and the answer that is typed.
const QUESTION: (&str, &[u8]) = ("[y]es, [n]o, [e]ach:", b"y\n");

/// How long a person takes to read a question, and the end of one command before typing the next.
const PAUSE: Duration = Duration::from_millis(2500);

/// A terminal drops what has not been read from it yet when its first program exits, so the shell reports
/// that it is done and stays.
const STAY: &str = "; printf '\\036'; read -r _ </dev/tty";
const END: u8 = 0x1e;

const FILE: &str = "docs/img/read.svg";
const ROWS: u16 = 64;
const COLUMNS: u16 = 80;

/// Nobody sees what is shown for less time than this.
const FRAME: Duration = Duration::from_millis(40);

/// What was on the screen from this time on.
struct Frame {
    at: Duration,
    screen: Screen,
}

pub(crate) fn run(project: &Project) -> Result<()> {
    run_command(&mut project.cargo(["build", "--package", "reknit-cli"]))?;
    let frames = record(project)?;
    let picture = svg::draw(&frames);
    let file = project.root.join(FILE);
    fs::create_dir_all(file.parent().context("the picture is in a folder")?)?;
    fs::write(&file, picture).with_context(|| format!("cannot write `{FILE}`"))?;
    println!("wrote {FILE} with {} frames; look at it before you commit it", frames.len());
    Ok(())
}

/// Runs the commands one after the other, and records their screen.
fn record(project: &Project) -> Result<Vec<Frame>> {
    let nonzero = |length| NonZeroU16::new(length).context("a terminal has rows and columns");
    let mut film = Film {
        folder: tempfile::tempdir()?,
        terminal: vt100::Parser::new(nonzero(ROWS)?, nonzero(COLUMNS)?, 0),
        frames: Vec::new(),
        start: Instant::now(),
        added: Duration::ZERO,
    };
    for entry in fs::read_dir(project.root.join("examples"))? {
        let entry = entry?;
        fs::copy(entry.path(), film.folder.path().join(entry.file_name()))?;
    }
    for command in COMMANDS {
        film.take(project, command)?;
    }
    Ok(film.frames)
}

struct Film {
    folder: TempDir,
    terminal: vt100::Parser,
    frames: Vec<Frame>,
    start: Instant,
    /// Time that passes for whoever watches and did not for us.
    added: Duration,
}

impl Film {
    /// Runs a command until it ends, and answers its question.
    fn take(&mut self, project: &Project, command: &str) -> Result<()> {
        let (mut pty, pts) = open()?;
        pty.resize(Size::new(ROWS, COLUMNS))?;
        let path = env::join_paths(
            [project.target.join("debug")]
                .into_iter()
                .chain(env::split_paths(&env::var_os("PATH").unwrap_or_default())),
        )?;
        let mut child = Command::new("sh")
            .args(["-c", &format!("{command}{STAY}")])
            .current_dir(self.folder.path())
            .env("PATH", path)
            .env("TERM", "xterm-256color")
            // The journal of whoever makes the picture stays as it is.
            .env("XDG_STATE_HOME", self.folder.path().join(".state"))
            .env_remove("NO_COLOR")
            .spawn(pts)?;
        self.show(format!("\x1b[1;32m$\x1b[0m {command}\r\n").as_bytes());
        let mut asked = false;
        let mut buffer = [0; 4096];
        loop {
            let length = pty.read(&mut buffer)?;
            let mut parts = buffer[..length].split(|&byte| byte == END);
            self.show(parts.next().unwrap_or_default());
            if parts.next().is_some() {
                child.kill()?;
                child.wait()?;
                self.added += PAUSE;
                self.show(b"\r\n");
                return Ok(());
            }
            let (question, answer) = QUESTION;
            if !asked && self.terminal.screen().contents().trim_end().ends_with(question) {
                asked = true;
                self.added += PAUSE;
                pty.write_all(answer)?;
            }
        }
    }

    /// Shows what a program wrote.
    fn show(&mut self, bytes: &[u8]) {
        self.terminal.process(bytes);
        let at = self.start.elapsed() + self.added;
        let screen = Screen::of(&self.terminal);
        match self.frames.last_mut() {
            Some(last) if last.at > Duration::ZERO && at < last.at + FRAME => last.screen = screen,
            _ => self.frames.push(Frame { at, screen }),
        }
    }
}
