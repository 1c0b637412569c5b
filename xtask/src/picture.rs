//! `cargo xtask picture`: films `reknit read` on a terminal, for the README.
//!
//! The real binary runs in a pseudo-terminal, a terminal emulator shows what it writes, and what is on the
//! screen at each moment becomes an SVG that plays it. Where nothing may move, it shows the end.

use std::env;
use std::fs;
use std::io::Read;
use std::num::NonZeroU16;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use pty_process::Size;
use pty_process::blocking::{Command, open};

use crate::{Project, run as run_command};

mod screen;
mod svg;

use screen::Screen;

const COMMAND: &str = "reknit replay examples/write.rec | reknit read";

/// A terminal whose first program goes away drops what was not read from it yet: the shell says that it is
/// done, and stays.
const STAY: &str = "; printf '\\036'; read -r _ </dev/tty";
const END: u8 = 0x1e;

const FILE: &str = "docs/img/read.svg";
const ROWS: u16 = 48;
const COLUMNS: u16 = 80;

/// What is shown for a shorter time than this nobody sees.
const FRAME: Duration = Duration::from_millis(40);

/// What was on the screen from a time on.
struct Frame {
    at: Duration,
    screen: Screen,
}

pub(crate) fn run(project: &Project) -> Result<()> {
    run_command(&mut project.cargo(["build", "--package", "reknit-cli"]))?;
    let frames = film(project)?;
    let picture = svg::draw(&frames);
    let file = project.root.join(FILE);
    fs::create_dir_all(file.parent().context("the picture lies in a folder")?)?;
    fs::write(&file, picture).with_context(|| format!("`{FILE}` could not be written"))?;
    println!("{FILE} is written, {} frames; look at it before it is committed", frames.len());
    Ok(())
}

/// Runs the command and looks at its screen until it ends.
fn film(project: &Project) -> Result<Vec<Frame>> {
    let (mut pty, pts) = open()?;
    pty.resize(Size::new(ROWS, COLUMNS))?;
    let path = env::join_paths(
        [project.target.join("debug")]
            .into_iter()
            .chain(env::split_paths(&env::var_os("PATH").unwrap_or_default())),
    )?;
    let command = Command::new("sh").args(["-c", &format!("{COMMAND}{STAY}")]).current_dir(&project.root);
    let command = command.env("PATH", path).env("TERM", "xterm-256color").env_remove("NO_COLOR");
    let mut child = command.spawn(pts)?;

    let nonzero = |length| NonZeroU16::new(length).context("a terminal has rows and columns");
    let mut terminal = vt100::Parser::new(nonzero(ROWS)?, nonzero(COLUMNS)?, 0);
    terminal.process(format!("\x1b[1;32m$\x1b[0m {COMMAND}\r\n").as_bytes());
    let mut frames = vec![Frame { at: Duration::ZERO, screen: Screen::of(&terminal) }];
    let start = Instant::now();
    let mut buffer = [0; 4096];
    loop {
        let length = pty.read(&mut buffer)?;
        let mut parts = buffer[..length].split(|&byte| byte == END);
        terminal.process(parts.next().unwrap_or_default());
        let at = start.elapsed();
        let screen = Screen::of(&terminal);
        match frames.last_mut() {
            Some(last) if last.at > Duration::ZERO && at < last.at + FRAME => last.screen = screen,
            _ => frames.push(Frame { at, screen }),
        }
        if parts.next().is_some() {
            child.kill()?;
            child.wait()?;
            return Ok(frames);
        }
    }
}
