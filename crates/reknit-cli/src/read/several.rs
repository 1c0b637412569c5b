//! Many replies at once: each of them as one does alone, and a summary.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use reknit::json::Value;
use reknit::message::Status;
use reknit::{Message, Reply};
use serde::Serialize;

use super::in_order::InOrder;
use super::progress::Progress;
use super::{Arguments, Form, Profile, check_native, ending, one};
use crate::explain;
use crate::interrupt::Interrupt;
use crate::outcome::{CommandError, Outcome};
use crate::pieces::Pieces;
use crate::present::{Arriving, ReplyFeed, ReplyOutput, Source};
use crate::print::Out;
use crate::print_message;
use crate::report::Report;

/// How much of the output of later files is kept while an earlier one is being read.
const ROOM: usize = 8 << 20;

/// How a file ended.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ended {
    Stopped,
    Cut,
    Failed,
    Unreadable,
}

/// All of them, in the order of the summary.
const ENDS: [Ended; 4] = [Ended::Stopped, Ended::Cut, Ended::Failed, Ended::Unreadable];

impl Ended {
    fn name(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Cut => "cut",
            Self::Failed => "failed",
            Self::Unreadable => "unreadable",
        }
    }
}

/// What came of a file.
struct Done {
    output: Vec<u8>,
    ended: Ended,
    report: Report,
}

/// What is printed, and what is known of all files so far.
struct Printer {
    out: BufWriter<Stdout>,
    progress: Progress,
    /// How many files were printed or given up.
    seen: usize,
    counts: [usize; ENDS.len()],
    report: Report,
}

pub(super) fn run(arguments: &Arguments, files: &[PathBuf]) -> Result<Outcome, CommandError> {
    let interrupt = Interrupt::watch()?;
    let mut printer = Printer {
        out: BufWriter::new(io::stdout()),
        progress: Progress::of(files.len()),
        seen: 0,
        counts: [0; ENDS.len()],
        report: Report::default(),
    };
    printer.progress.draw(0);
    let printed =
        read_all(arguments, files, &interrupt, &mut printer).and_then(|()| Ok(printer.out.flush()?));
    printer.progress.clear();
    printed?;
    let Printer { counts, report, .. } = printer;
    report.print("; the output says how each file ended");
    let read: usize = counts.iter().sum();
    let ends = ENDS.iter().zip(counts).filter(|(_, count)| *count > 0);
    let ends: Vec<_> = ends.map(|(ended, count)| format!("{count} {}", ended.name())).collect();
    let files_read = if read == 1 { "1 file".to_owned() } else { format!("{read} files") };
    if interrupt.is_set() {
        let rest = files.len() - read;
        print_message(format_args!("error: interrupted after {files_read}; {rest} were not read"));
        return Ok(Outcome::Interrupted);
    }
    print_message(format_args!("{files_read}: {}", ends.join(", ")));
    let [_, _, _, unreadable] = counts;
    Ok(match () {
        () if unreadable > 0 => Outcome::Unreadable,
        // Whatever is not whole was reported, also a call that is cut in a reply that stopped.
        () if !report.is_empty() => Outcome::Partly,
        () => Outcome::Done,
    })
}

/// Reads all files, some at the same time, and prints what came of them in their order.
fn read_all(
    arguments: &Arguments,
    files: &[PathBuf],
    interrupt: &Interrupt,
    printer: &mut Printer,
) -> Result<(), CommandError> {
    let jobs = arguments.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let next = AtomicUsize::new(0);
    // Set when there is no use in going on.
    let is_over = AtomicBool::new(false);
    let in_order = InOrder::new(ROOM, |done: Option<Done>| printer.print(done));
    let work = || {
        while !interrupt.is_set() && !is_over.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(number) else { break };
            let done = read(arguments, file, interrupt);
            let size = done.as_ref().map_or(0, |done| done.output.len());
            let brought = in_order.bring(number, done, size);
            if brought.is_err() {
                is_over.store(true, Ordering::Relaxed);
                return brought;
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.min(files.len())).map(|_| scope.spawn(work)).collect();
        let ended =
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        ended.collect::<Vec<_>>().into_iter().collect::<Result<(), _>>()
    })?;
    Ok(())
}

impl Printer {
    fn print(&mut self, done: Option<Done>) -> io::Result<()> {
        self.seen += 1;
        let Some(Done { output, ended, report }) = done else { return Ok(()) };
        self.counts[ended as usize] += 1;
        self.report.append(report);
        if !output.is_empty() {
            // Both may be on the same terminal.
            self.progress.clear();
            self.out.write_all(&output)?;
            if self.out.get_ref().is_terminal() {
                self.out.flush()?;
            }
        }
        self.progress.draw(self.seen);
        Ok(())
    }
}

/// A file that was read: its reply, and what is wrong with the file.
struct Read {
    reply: Reply,
    error: Option<CommandError>,
}

/// Reads one file; `None` if that was interrupted.
fn read(arguments: &Arguments, file: &Path, interrupt: &Interrupt) -> Option<Done> {
    let path = file.to_string_lossy();
    let mut output = if arguments.text {
        ReplyOutput::text(ReplyFeed::new(Source::Stream), Out::Kept(Vec::new()))
    } else {
        let arriving = if arguments.ndjson { Arriving::Changes } else { Arriving::Nothing };
        ReplyOutput::kept(arriving, path.clone().into_owned())
    };
    let read = read_reply(arguments, file, &mut output);
    if interrupt.is_set() {
        return None;
    }
    let mut report = Report::default();
    let (ended, printed) = match read {
        Ok(Read { reply, error }) => {
            if error.is_none() {
                ending::report_errors(&reply, &mut report);
            }
            let ended = ended(&reply, error.as_ref());
            (ended, print(arguments, &path, Some(reply), error.as_ref(), ended, &mut output).err().or(error))
        }
        Err(error) => {
            let ended = Ended::Unreadable;
            (ended, print(arguments, &path, None, Some(&error), ended, &mut output).err().or(Some(error)))
        }
    };
    if let Some(error) = printed {
        let (words, kind) = error.words();
        report.add(words, kind.unwrap_or(explain::INPUT_OUTPUT));
    }
    Some(Done { output: output.into_kept(), ended, report: report.about(&path) })
}

fn read_reply(arguments: &Arguments, file: &Path, output: &mut ReplyOutput) -> Result<Read, CommandError> {
    let mut pieces = Pieces::open(Some(file), arguments.recut)?;
    let mut broken = None;
    let mut held = Vec::new();
    let grammar = match arguments.tools {
        None => None,
        Some(Profile::Named(grammar)) => Some(grammar),
        Some(Profile::Auto) => {
            broken = one::hold(&mut pieces, output, &mut held);
            one::fitting(&held, arguments)?.map(|found| found.grammar)
        }
    };
    let mut reading = one::Reading::new(arguments.reply(grammar)?, None);
    for piece in &held {
        reading.take(piece, output)?;
    }
    while broken.is_none() {
        match pieces.next() {
            Ok(Some(piece)) => {
                if reading.take(piece, output)? == one::Wants::NoMore {
                    break;
                }
            }
            Ok(None) => break,
            Err(error) => broken = Some(error),
        }
    }
    let one::Reading { mut reply, beginning, .. } = reading;
    output.take(reply.finish())?;
    output.finish()?;
    let unreadable = || ending::unreadable(&reply, &beginning);
    let wrong_form = || match (arguments.form, reply.dialect()) {
        (Form::Native, Some(dialect)) => check_native(dialect).err(),
        _ => None,
    };
    let error = broken.or_else(unreadable).or_else(wrong_form);
    Ok(Read { reply, error })
}

fn ended(reply: &Reply, error: Option<&CommandError>) -> Ended {
    let all = |status| reply.messages().all(|message| message.status() == status);
    match () {
        () if error.is_some() => Ended::Unreadable,
        () if all(Status::Stopped) && reply.error().is_none() => Ended::Stopped,
        () if reply.messages().any(|message| message.status() == Status::Failed) => Ended::Failed,
        () => Ended::Cut,
    }
}

/// Prints what is printed of a file at its end.
fn print(
    arguments: &Arguments,
    path: &str,
    reply: Option<Reply>,
    error: Option<&CommandError>,
    ended: Ended,
    output: &mut ReplyOutput,
) -> Result<(), CommandError> {
    match *arguments {
        Arguments { text: true, .. } => return Ok(()),
        Arguments { ndjson: true, .. } if error.is_none() => return Ok(()),
        Arguments { ndjson: true, .. } => {
            // The changes before the error are printed already.
            let error = error.map(Problem::of);
            return output.print(&Line { path, message: None, messages: None, error });
        }
        Arguments { json: false, all: false, form: Form::Neutral, .. } => {
            return output.print_line(&format!("{:<12}{path}", ended.name()));
        }
        _ => {}
    }
    let error = error.map(Problem::of);
    let mut line = Line { path, message: None, messages: None, error };
    match (reply, arguments.form) {
        (None, _) => output.print(&line),
        // Nothing was read, and nothing is claimed about it.
        (Some(reply), _) if reply.messages().all(super::look::is_nothing) && line.error.is_some() => {
            output.print(&line)
        }
        (Some(reply), Form::Neutral) if arguments.all => {
            line.messages = Some(reply.messages().map(Printed::Neutral).collect());
            output.print(&line)
        }
        (Some(reply), Form::Neutral) => {
            line.message = Some(Printed::Neutral(reply.message()));
            output.print(&line)
        }
        (Some(reply), Form::Native) => {
            let mut messages: Vec<_> = reply.into_native().into_iter().map(Printed::Native).collect();
            if arguments.all {
                line.messages = Some(messages);
            } else {
                line.message = messages.pop();
            }
            output.print(&line)
        }
    }
}

/// The line of a file.
#[derive(Serialize)]
struct Line<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Printed<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Vec<Printed<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Problem>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Printed<'a> {
    Neutral(&'a Message),
    Native(Value),
}

/// Why a file could not be read.
#[derive(Serialize)]
struct Problem {
    kind: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Problem {
    fn of(error: &CommandError) -> Self {
        let (what, hint, kind) = error.parts();
        Self { kind: kind.unwrap_or(explain::INPUT_OUTPUT), message: what, hint }
    }
}
