//! Shows a turn while it happens, and answers its questions.

use std::io::{self, BufWriter, StdoutLock, Write};

use anyhow::Context;
use reknit::agent::{AgentEvent, Body, EndReason};
use reknit_runtime::question::Question;
use reknit_runtime::session::Session;
use reknit_runtime::store::{Stored, Tail};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::keyboard::{self, Keyboard};
use super::screen::{Asked, Screen};
use crate::interrupt;
use crate::outcome::{CommandError, Outcome};
use crate::print::print_json;

/// What a turn is shown with.
pub(super) enum Display {
    Plain(Box<Screen>),
    /// The entries, as JSON; questions are those that no answer follows.
    Entries {
        asked: Vec<Asked>,
    },
}

/// The signals that stop a turn: Ctrl-C, and what `kill` sends.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    count: usize,
}

/// Shows a turn from where `tail` begins, until it is over. `on_yes` is called for everything that is allowed.
pub(super) async fn follow(
    session: &Session,
    mut tail: Tail,
    display: &mut Display,
    on_yes: impl Fn(&Question),
) -> Result<Outcome, CommandError> {
    let mut keyboard = Keyboard::open();
    let mut signals = Signals::watch()?;
    loop {
        let asked = display.asked().first().cloned();
        tokio::select! {
            biased;
            () = signals.next() => {
                if signals.count > 1 {
                    return Ok(Outcome::Interrupted);
                }
                session.cancel().await;
            }
            entries = tail.next() => {
                let entries = entries?;
                let mut out = BufWriter::new(io::stdout().lock());
                display.show(&entries, &mut out)?;
                out.flush()?;
                if let Some(reason) = entries.iter().find_map(end) {
                    return Ok(outcome(reason, signals.count));
                }
            }
            line = keyboard.line(), if asked.is_some() || keyboard.is_read_ahead() => {
                let Some(Asked { approval_id, question }) = asked else { continue };
                let answer = keyboard::answer(&question, line.as_deref());
                let typed = if keyboard.is_terminal() { None } else { Some(line.as_deref().unwrap_or_default()) };
                let mut out = BufWriter::new(io::stdout().lock());
                display.answered(typed, &mut out)?;
                out.flush()?;
                if answer.yes {
                    on_yes(&question);
                }
                session.answer(approval_id, answer).await;
            }
            error = session.failed() => return Err(error.into()),
        }
    }
}

/// How a turn that ended for this reason ends the program.
fn outcome(reason: EndReason, signals: usize) -> Outcome {
    match reason {
        EndReason::Done => Outcome::Done,
        _ if signals > 0 => Outcome::Interrupted,
        _ => Outcome::Partly,
    }
}

fn end(stored: &Stored) -> Option<EndReason> {
    match stored.entry.body {
        Body::End { reason } => Some(reason),
        _ => None,
    }
}

impl Display {
    fn asked(&self) -> &[Asked] {
        match self {
            Self::Plain(screen) => screen.asked(),
            Self::Entries { asked } => asked,
        }
    }

    fn show(
        &mut self,
        entries: &[Stored],
        out: &mut BufWriter<StdoutLock<'static>>,
    ) -> Result<(), CommandError> {
        for Stored { entry, .. } in entries {
            match self {
                Self::Plain(screen) => screen.push(entry, out)?,
                Self::Entries { asked } => {
                    print_json(out, entry)?;
                    if let Some((approval_id, question)) = Question::of(entry) {
                        asked.push(Asked { approval_id: approval_id.to_owned(), question });
                    }
                    if let Body::Agent(AgentEvent::ApprovalResponse { approval_id, .. }) = &entry.body {
                        asked.retain(|asked| asked.approval_id != *approval_id);
                    }
                }
            }
        }
        Ok(())
    }

    /// The first question was answered, with this line if a terminal does not show it by itself.
    fn answered(&mut self, line: Option<&str>, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Plain(screen) => screen.answered(line, out),
            Self::Entries { asked } => {
                asked.remove(0);
                Ok(())
            }
        }
    }
}

impl Signals {
    fn watch() -> Result<Self, CommandError> {
        let watch = |kind| signal(kind).context("cannot install a signal handler");
        Ok(Self {
            interrupt: watch(SignalKind::interrupt())?,
            terminate: watch(SignalKind::terminate())?,
            count: 0,
        })
    }

    async fn next(&mut self) {
        let kind = tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt(),
            _ = self.terminate.recv() => SignalKind::terminate(),
        };
        self.count += 1;
        interrupt::came(kind.as_raw_value());
    }
}
