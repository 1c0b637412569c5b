//! [`Output`]: what is printed of a reply, and when.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::time::Duration;

use reknit::Reply;
use reknit::reply::Changes;
use serde::Serialize;
use serde_json::Serializer;

use super::flow::Flow;
use super::live::Live;
use super::{Arguments, Form};
use crate::outcome::Trouble;
use crate::pieces::Pieces;
use crate::view::{Terminal, is_unsafe};

/// Standard output, and what goes there.
pub(super) struct Output {
    out: BufWriter<StdoutLock<'static>>,
    kind: Kind,
}

enum Kind {
    /// The text, as it comes.
    Text(Flow),
    /// All of it, for people, as it comes.
    Live(Box<Live>),
    /// Every change, as it comes.
    Changes,
    /// The last message, at the end.
    Last(Form),
    /// The messages, at the end.
    All(Form),
}

/// How often the status line is drawn while nothing comes.
const TICK: Duration = Duration::from_millis(100);

impl Output {
    pub(super) fn new(arguments: &Arguments) -> Self {
        let kind = match *arguments {
            Arguments { ndjson: true, .. } => Kind::Changes,
            Arguments { all: true, form, .. } => Kind::All(form),
            // The provider's own form is JSON or nothing.
            Arguments { json: true, form, .. } | Arguments { form: form @ Form::Native, .. } => {
                Kind::Last(form)
            }
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
        let mut within = Duration::ZERO;
        while !pieces.is_ready(within) {
            live.wait(pieces.elapsed());
            live.drain(out)?;
            out.flush()?;
            within = TICK;
        }
        live.get_ready();
        Ok(pieces.at())
    }

    /// Takes what a piece changed that came at a time.
    pub(super) fn show(&mut self, mut changes: Changes<'_>, at: Option<Duration>) -> Result<(), Trouble> {
        while let Some((change, message)) = changes.next() {
            match &mut self.kind {
                Kind::Text(flow) => flow.show(&change, message, &mut self.out)?,
                Kind::Live(live) => live.show(&change, message, at),
                Kind::Changes => self.print(&change)?,
                Kind::Last(_) | Kind::All(_) => {}
            }
        }
        if let Kind::Live(live) = &mut self.kind {
            live.drain(&mut self.out)?;
        }
        Ok(self.out.flush()?)
    }

    /// The reply is over.
    pub(super) fn end(&mut self, reply: Reply) -> Result<(), Trouble> {
        match &mut self.kind {
            Kind::Text(flow) => flow.end(&mut self.out)?,
            Kind::Live(live) => {
                live.finish();
                live.drain(&mut self.out)?;
            }
            Kind::Changes => {}
            Kind::Last(Form::Neutral) => self.print(reply.message())?,
            Kind::Last(Form::Native) => {
                reply.into_native().last().map_or(Ok(()), |last| self.print(last))?;
            }
            Kind::All(Form::Neutral) => self.print(&reply.messages().collect::<Vec<_>>())?,
            Kind::All(Form::Native) => self.print(&reply.into_native())?,
        }
        Ok(self.out.flush()?)
    }

    /// The reply is over because somebody wanted it so.
    pub(super) fn interrupt(&mut self, reply: Reply) -> Result<(), Trouble> {
        if let Kind::Live(live) = &mut self.kind {
            live.interrupt();
        }
        self.end(reply)
    }

    /// Nothing is to be printed.
    pub(super) fn clear(&mut self) -> Result<(), Trouble> {
        if let Kind::Live(live) = &mut self.kind {
            live.clear(&mut self.out)?;
        }
        Ok(self.out.flush()?)
    }

    fn print(&mut self, value: &impl Serialize) -> Result<(), Trouble> {
        if self.out.get_ref().is_terminal() {
            value.serialize(&mut Serializer::with_formatter(&mut self.out, Harmless))?;
        } else {
            serde_json::to_writer(&mut self.out, value)?;
        }
        Ok(self.out.write_all(b"\n")?)
    }
}

/// The same JSON, with what a terminal would obey written as escapes.
struct Harmless;

impl serde_json::ser::Formatter for Harmless {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(is_unsafe) {
            out.write_all(&rest.as_bytes()[..at])?;
            let mut chars = rest[at..].chars();
            let mut units = [0; 2];
            for unit in chars.next().unwrap_or_default().encode_utf16(&mut units) {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = chars.as_str();
        }
        out.write_all(rest.as_bytes())
    }
}
