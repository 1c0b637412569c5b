//! [`Output`]: what is printed of a session, and when.

use std::io::{self, BufWriter, StdoutLock, Write};
use std::time::Duration;

use reknit::transcript::{Change, Chunk, Chunks};
use serde::Serialize;

use super::flow::Flow;
use super::live::{Live, ended};
use super::noticed::Noticed;
use super::{Arguments, Input};
use crate::outcome::Trouble;
use crate::pieces::Pieces;
use crate::print::print_json;
use crate::view::Terminal;

/// Standard output, and what goes there.
pub(super) struct Output {
    out: BufWriter<StdoutLock<'static>>,
    kind: Kind,
}

enum Kind {
    /// Text, calls and results, as they come.
    Text(Flow),
    /// All of it, for people, as it comes.
    Live(Box<Live>),
    /// Every change, as it comes.
    Changes,
    /// The chunks, at the end.
    Chunks,
}

impl Output {
    pub(super) fn new(arguments: &Arguments) -> Self {
        let kind = match *arguments {
            Arguments { ndjson: true, .. } => Kind::Changes,
            Arguments { json: true, .. } => Kind::Chunks,
            _ => match Terminal::on_stdout() {
                Some(terminal) => Kind::Live(Box::new(Live::new(terminal))),
                None => Kind::Text(Flow::default()),
            },
        };
        Self { out: BufWriter::new(io::stdout().lock()), kind }
    }

    /// Waits for the next piece, or the end; returns when it came.
    pub(super) fn wait(&mut self, pieces: &mut Pieces) -> Result<Option<Duration>, Trouble> {
        let Self { out, kind: Kind::Live(live) } = self else { return Ok(None) };
        let at = pieces.wait(|elapsed| {
            live.wait(elapsed);
            live.drain(out)?;
            out.flush()
        })?;
        live.get_ready();
        Ok(at)
    }

    /// Shows a change that came at a time.
    pub(super) fn show(
        &mut self,
        change: &Change<'_>,
        chunks: &Chunks,
        at: Option<Duration>,
    ) -> Result<(), Trouble> {
        match &mut self.kind {
            Kind::Text(flow) => flow.show(change, chunks, &mut self.out)?,
            Kind::Live(live) => live.show(change, chunks, at),
            Kind::Changes => print_json(&mut self.out, change)?,
            Kind::Chunks => {}
        }
        Ok(())
    }

    /// Lets everything be seen that was shown.
    pub(super) fn flush(&mut self) -> Result<(), Trouble> {
        if let Kind::Live(live) = &mut self.kind {
            live.drain(&mut self.out)?;
        }
        Ok(self.out.flush()?)
    }

    /// The input is over.
    pub(super) fn end(&mut self, chunks: &Chunks, input: &Input, interrupted: bool) -> Result<(), Trouble> {
        match &mut self.kind {
            Kind::Text(flow) => flow.end(&mut self.out)?,
            Kind::Live(live) => {
                let (end, words) = ended(chunks.events(), input, interrupted);
                live.finish(end, &words);
            }
            Kind::Changes => {}
            Kind::Chunks => {
                let folded = Folded {
                    chunks: chunks.list(),
                    diagnostics: &input.noticed,
                    diagnostics_omitted: input.omitted,
                };
                print_json(&mut self.out, &folded)?;
            }
        }
        self.flush()
    }
}

/// All that came of the events.
#[derive(Serialize)]
struct Folded<'a> {
    chunks: &'a [Chunk],
    diagnostics: &'a [Noticed],
    #[serde(skip_serializing_if = "is_zero")]
    diagnostics_omitted: u64,
}

pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}
