//! `execute_command`: runs a command with the user's shell language, and keeps what it writes.

use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use reknit::json::Object;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};

use super::arguments;
use super::blocking::blocking;
use super::group::{self, Group};
use super::place::Place;
use crate::question::Class;
use crate::tool::{Context, Definition, Failure, Kind, Output, Progress, Review, Tool, Work};

mod environment;
mod kept;
mod live;
mod pipes;

use kept::Kept;
use live::Live;
use pipes::Pipes;

pub(super) use kept::is_name as is_output_name;

/// Waits for a line before it becomes the command. So nothing runs before its group is in the log, where a later
/// program finds it; and if this one is killed before that, the line never comes.
const GATE: &str = r#"read -r _ && exec sh -c "$0" </dev/null"#;
/// How long a command may take unless the model says otherwise.
const TIME: u64 = 120;
/// How long a command may take at most: less than a session gives a tool, whose end would lose the output.
const LONGEST: u64 = 580;
/// How long a command that was asked to end has until it is killed.
const GRACE: Duration = Duration::from_secs(1);
/// How long its output is read after it ended: a process that it started may keep the pipes open for ever.
const DRAIN: Duration = Duration::from_secs(2);
/// How often it is looked whether all processes of a group have ended.
const POLL: Duration = Duration::from_millis(20);

pub(super) struct ExecuteCommand {
    definition: Definition,
}

impl ExecuteCommand {
    pub(super) fn new() -> Self {
        let about = "Runs a command with `sh -c` and returns its exit code and its output. It has no input and no \
            terminal, so use options that avoid questions and pagers. Of a long output the beginning and the end are \
            returned; read_command_output reads the rest.";
        let definition = Definition::new("execute_command", Class::Execute, about)
            .subject("command", "The command.")
            .optional(
                "cwd",
                Kind::Text,
                "The directory to run it in, relative to the root. By default the root.",
            )
            .optional(
                "timeout",
                Kind::Integer,
                "After how many seconds it is ended. By default 120, at most 580.",
            );
        Self { definition }
    }
}

impl Tool for ExecuteCommand {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn review<'a>(&'a self, args: &'a Object, context: &'a Context) -> Work<'a, Result<Review, Failure>> {
        Box::pin(async move {
            let request = Request::read(args, context).await?;
            let detail = match &request.shown_directory {
                Some(directory) => format!("in `{directory}`:\n{}", request.command),
                None => request.command,
            };
            Ok(Review::of(Class::Execute).with_detail(detail))
        })
    }

    fn execute<'a>(&'a self, args: &'a Object, context: &'a Context) -> Work<'a, Result<Output, Failure>> {
        Box::pin(async move { Request::read(args, context).await?.run(context).await })
    }
}

struct Request {
    command: String,
    directory: PathBuf,
    /// The directory if it is not the root.
    shown_directory: Option<String>,
    time: Duration,
}

/// Why a command is not running any more.
enum End {
    Exited(ExitStatus),
    TimedOut,
    Cancelled,
}

impl Request {
    async fn read(args: &Object, context: &Context) -> Result<Self, Failure> {
        let command = arguments::required(args, "command")?;
        if command.trim().is_empty() || command.contains('\0') {
            return Err(Failure::mistake(
                "The command is empty or contains a NUL. Please retry with a command.",
            ));
        }
        let cwd =
            arguments::text(args, "cwd").filter(|cwd| !cwd.is_empty()).unwrap_or_else(|| ".".to_owned());
        let time = arguments::number(args, "timeout")?.unwrap_or(TIME).clamp(1, LONGEST);
        let (directory, shown) = blocking(context, move |workspace, _| {
            let directory = Place::directory(&workspace.root, &cwd)?;
            Ok((directory.absolute(&workspace.root), directory.shown().to_owned()))
        })
        .await?;
        let shown_directory = (shown != ".").then_some(shown);
        Ok(Self { command, directory, shown_directory, time: Duration::from_secs(time) })
    }

    async fn run(&self, context: &Context) -> Result<Output, Failure> {
        let begun = Instant::now();
        let mut command = Command::new("sh");
        command.args(["-c", GATE]).arg(&self.command).current_dir(&self.directory).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        environment::prepare(&mut command, context.workspace().hidden());
        command.env(group::MARK, context.call_id());
        let not_started = |error| Failure::other(format!("The command could not be started: {error}"));
        let mut child = command.spawn().map_err(not_started)?;
        let group = child
            .id()
            .and_then(Group::led_by)
            .ok_or_else(|| Failure::other("The command has no process."))?;
        context.progress(Progress::Group { id: group.id(), started: group.started() }).await;
        if let Some(mut gate) = child.stdin.take() {
            // If it does not open, the command ends, and says so with its exit code.
            let _ = gate.write_all(b"\n").await;
        }
        let pipes = Pipes::of(&mut child);
        let kept = Kept::new(context.workspace().outputs(), context.call_id());
        let mut running = Running { child, group, pipes, kept, live: Live::new(context) };
        let end = running.wait(self.time, context).await;
        let (held, kept) = match end {
            End::Exited(_) => running.leave().await,
            End::TimedOut | End::Cancelled => running.stop().await,
        };
        let text = self.report(&end, held, begun.elapsed(), kept).await;
        match end {
            End::Exited(_) => Ok(Output::text(text)),
            End::TimedOut | End::Cancelled => Err(Failure::other(text)),
        }
    }

    /// What the model gets to know.
    async fn report(&self, end: &End, held: bool, took: Duration, kept: Kept) -> String {
        let mut text = match end {
            End::Exited(status) => ended(*status),
            End::TimedOut => format!(
                "Exit code: 124\nThe command was ended because its time of {} s was over. If it needs longer, set 'timeout'.",
                self.time.as_secs()
            ),
            End::Cancelled => "The command was stopped by the user.".to_owned(),
        };
        if let Some(directory) = &self.shown_directory {
            let _ = write!(text, "\nWorking directory: {directory}");
        }
        let _ = write!(text, "\nTook: {:.1} s", took.as_secs_f64());
        if held {
            text.push_str(
                "\nA process that the command started still keeps its output open; it is not read any more.",
            );
        }
        let output = kept.finish().await;
        if output.is_empty() {
            text.push_str("\nThe command wrote nothing.");
        } else {
            let _ = write!(text, "\nOutput:\n{output}");
        }
        text
    }
}

fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("Exit code: {code}"),
        (None, Some(signal)) => format!("Ended by signal {signal}"),
        (None, None) => "Ended without an exit code".to_owned(),
    }
}

/// A command that was started.
struct Running<'a> {
    child: Child,
    group: Group,
    pipes: Pipes,
    kept: Kept,
    live: Live<'a>,
}

impl Running<'_> {
    /// Reads the output until the command ends or has to.
    async fn wait(&mut self, time: Duration, context: &Context) -> End {
        let late = tokio::time::sleep(time);
        tokio::pin!(late);
        loop {
            tokio::select! {
                // In this order, so that a command that never stops writing can be stopped.
                biased;
                () = context.cancelled().cancelled() => return End::Cancelled,
                () = &mut late => return End::TimedOut,
                status = self.child.wait() => match status {
                    Ok(status) => return End::Exited(status),
                    // The system has forgotten the process; how it ended cannot be known.
                    Err(_) => return End::Exited(ExitStatus::default()),
                },
                () = self.live.due(), if self.live.is_waiting() => self.live.flush().await,
                read = self.pipes.read(), if self.pipes.are_open() => self.take(read).await,
            }
        }
    }

    /// Reads what the command that ended has left in its pipes. What it started and did not end goes on.
    async fn leave(mut self) -> (bool, Kept) {
        let held = self.drain().await;
        self.live.finish().await;
        self.group.leave();
        (held, self.kept)
    }

    /// Asks all processes to end, kills those that do not, and reads their last words.
    async fn stop(mut self) -> (bool, Kept) {
        self.group.terminate();
        let over = tokio::time::sleep(GRACE);
        tokio::pin!(over);
        let mut has_ended = false;
        while !has_ended || self.group.is_alive() {
            tokio::select! {
                biased;
                () = &mut over => break,
                _ = self.child.wait(), if !has_ended => has_ended = true,
                read = self.pipes.read(), if self.pipes.are_open() => self.take(read).await,
                () = tokio::time::sleep(POLL), if has_ended => {}
            }
        }
        self.group.kill();
        // After SIGKILL only the kernel can keep it waiting; the group's own drop has nothing to add.
        let _ = tokio::time::timeout(DRAIN, self.child.wait()).await;
        let held = self.drain().await;
        self.live.finish().await;
        (held, self.kept)
    }

    /// Reads until both pipes are closed, but not for long. Returns whether somebody keeps one open.
    async fn drain(&mut self) -> bool {
        let until = tokio::time::Instant::now() + DRAIN;
        while self.pipes.are_open() {
            match tokio::time::timeout_at(until, self.pipes.read()).await {
                Ok(read) => self.take(read).await,
                Err(_) => return true,
            }
        }
        false
    }

    async fn take(&mut self, read: pipes::Read) {
        let bytes = self.pipes.bytes(read);
        self.kept.push(bytes).await;
        self.live.push(read.stream, bytes);
    }
}
