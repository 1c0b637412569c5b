//! The binary on a terminal: a pseudo-terminal, and a screen that shows what is written to it.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::fd::AsFd;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use pty_process::Size;
use pty_process::blocking::{Command, Pty, open};

/// Runs a program, says how it ended, and stays: a terminal whose first program goes away drops what was
/// not read from it yet.
const STAY: &str = r#"trap : INT; "$0" "$@"; printf '\036%d\036' $?; read -r _ </dev/tty"#;

/// Stands around the exit code, and in no output.
const END: char = '\x1e';

/// How long a program that hangs is waited for; one that works is never waited for.
const HANGS: Duration = Duration::from_secs(120);

/// A run of the binary with its output, and its keyboard, on a terminal.
pub(crate) struct Terminal {
    child: Child,
    keyboard: Pty,
    output: Receiver<Vec<u8>>,
    /// All that was written so far.
    bytes: Vec<u8>,
    screen: vt100::Parser,
}

/// What a run has left.
pub(crate) struct Left {
    pub(crate) code: Option<i32>,
    pub(crate) bytes: String,
    screen: vt100::Parser,
}

impl Terminal {
    pub(crate) const ROWS: u16 = 48;

    /// Starts the binary on a terminal of this width, with nothing on its standard input.
    pub(crate) fn start(columns: u16, environment: &[(&str, &str)], arguments: &[&str]) -> Self {
        Self::spawn(columns, environment, arguments, Some(Stdio::null())).0
    }

    /// The same with its keyboard on its standard input.
    pub(crate) fn start_typing(columns: u16, environment: &[(&str, &str)], arguments: &[&str]) -> Self {
        Self::spawn(columns, environment, arguments, None).0
    }

    /// The same with a pipe on its standard input.
    pub(crate) fn start_fed(
        columns: u16,
        environment: &[(&str, &str)],
        arguments: &[&str],
    ) -> (Self, ChildStdin) {
        let (terminal, stdin) = Self::spawn(columns, environment, arguments, Some(Stdio::piped()));
        (terminal, stdin.expect("it is on a pipe"))
    }

    fn spawn(
        columns: u16,
        environment: &[(&str, &str)],
        arguments: &[&str],
        stdin: Option<Stdio>,
    ) -> (Self, Option<ChildStdin>) {
        let (pty, pts) = open().expect("there are pseudo-terminals");
        pty.resize(Size::new(Self::ROWS, columns)).expect("it has a size");
        let command = Command::new("sh").args(["-c", STAY, env!("CARGO_BIN_EXE_reknit")]);
        let command = command.args(arguments);
        // Without another one, standard input is the terminal too.
        let command = match stdin {
            Some(stdin) => command.stdin(stdin),
            None => command,
        };
        let command = command.env("TERM", "xterm-256color").env_remove("NO_COLOR");
        let mut child =
            command.envs(environment.iter().copied()).spawn(pts).expect("the binary was built for this test");
        let stdin = child.stdin.take();
        let (send, output) = mpsc::channel();
        let mut screen_end = File::from(pty.as_fd().try_clone_to_owned().expect("it can be shared"));
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            // A terminal whose last program has gone is an error to read from, not an end.
            while let Ok(length @ 1..) = screen_end.read(&mut buffer) {
                if send.send(buffer[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        let screen = vt100::Parser::new(size(Self::ROWS), size(columns), 0);
        (Self { child, keyboard: pty, output, bytes: Vec::new(), screen }, stdin)
    }

    /// Waits until the screen shows this.
    pub(crate) fn wait_for(&mut self, wanted: &str) {
        while !rows(&self.screen).contains(wanted) {
            let bytes = self.output.recv_timeout(HANGS);
            let bytes = bytes.unwrap_or_else(|_| panic!("{wanted:?} is not on\n{}", rows(&self.screen)));
            self.take(&bytes);
        }
    }

    /// The user presses keys.
    pub(crate) fn press(&mut self, keys: &[u8]) {
        self.keyboard.write_all(keys).expect("the program reads the keyboard");
    }

    /// The user makes the window wider or narrower.
    pub(crate) fn resize(&mut self, columns: u16) {
        self.keyboard.resize(Size::new(Self::ROWS, columns)).expect("it has a size");
        self.screen.set_size(size(Self::ROWS), size(columns));
    }

    /// What is on the screen, and where the cursor is.
    pub(crate) fn look(&self) -> (String, (u16, u16)) {
        (rows(&self.screen), self.screen.screen().cursor_position())
    }

    /// Waits for the end.
    pub(crate) fn end(mut self) -> Left {
        while self.bytes.iter().filter(|&&byte| byte == END as u8).count() < 2 {
            let bytes = self.output.recv_timeout(HANGS).expect("the program ends");
            self.take(&bytes);
        }
        self.child.kill().and_then(|()| self.child.wait()).expect("it has stayed");
        let text = String::from_utf8(self.bytes).expect("all that is written is UTF-8");
        let (bytes, code) = text.split_once(END).expect("it was waited for");
        Left { code: code.trim_end_matches(END).parse().ok(), bytes: bytes.to_owned(), screen: self.screen }
    }

    fn take(&mut self, bytes: &[u8]) {
        if !self.bytes.contains(&(END as u8)) {
            self.screen.process(bytes.split(|&byte| byte == END as u8).next().unwrap_or_default());
        }
        self.bytes.extend_from_slice(bytes);
    }
}

impl Left {
    /// What is on the screen.
    pub(crate) fn screen(&self) -> String {
        rows(&self.screen)
    }

    /// What is on the screen, with a sign at every change of style: `d`im, `i`talic, `b`old, in`v`erse, a
    /// colour.
    pub(crate) fn styled(&self) -> String {
        let screen = self.screen.screen();
        let (height, width) = screen.size();
        let mut shown = String::new();
        let mut last = String::new();
        for row in 0..height.get() {
            let cells = (0..width.get()).filter_map(|column| screen.cell(row, column));
            for cell in cells.filter(|cell| !cell.is_wide_continuation()) {
                let mut style = String::new();
                let signs =
                    [(cell.dim(), "d"), (cell.italic(), "i"), (cell.bold(), "b"), (cell.inverse(), "v")];
                signs.iter().filter(|(is_set, _)| *is_set).for_each(|(_, sign)| style.push_str(sign));
                if let vt100::Color::Idx(colour) = cell.fgcolor() {
                    style.push_str(&colour.to_string());
                }
                if style != last && cell.has_contents() {
                    shown += &format!("⟨{style}⟩");
                    last = style;
                }
                shown.push_str(if cell.has_contents() { cell.contents() } else { " " });
            }
            shown.truncate(shown.trim_end_matches(' ').len());
            shown.push('\n');
        }
        shown.trim_end().to_owned() + "\n"
    }
}

fn size(length: u16) -> NonZeroU16 {
    NonZeroU16::new(length).expect("a terminal has rows and columns")
}

fn rows(screen: &vt100::Parser) -> String {
    let screen = screen.screen();
    let rows = screen.rows(0, screen.size().1.get()).map(|row| row.trim_end().to_owned() + "\n");
    rows.collect::<String>().trim_end().to_owned() + "\n"
}
