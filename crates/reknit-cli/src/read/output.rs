//! [`Output`]: what is printed of a reply, and when.

use std::io::{self, BufWriter, StdoutLock, Write};
use std::time::Duration;

use reknit::Reply;
use reknit::reply::Changes;
use reknit::tags::{Grammar, GrammarError};

use super::events::Events;
use super::flow::Flow;
use super::live::Live;
use super::tagged::Tagged;
use super::{Arguments, Form, native_or_trouble};
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
    /// The text, as it comes.
    Text(Flow),
    /// All of it, for people, as it comes.
    Live(Box<Live>),
    /// Every change, as it comes.
    Changes,
    /// Every agent event, as it comes.
    Events(Box<Events>),
    /// The last message, at the end.
    Last(Form),
    /// The messages, at the end.
    All(Form),
    /// The message with the calls and the thinking in its texts.
    Tagged(Box<Tagged>),
}

impl Output {
    pub(super) fn new(arguments: &Arguments, tags: Option<&Grammar>) -> Result<Self, Trouble> {
        let out = BufWriter::new(io::stdout().lock());
        let wrong = |error: GrammarError| Trouble::with_hint(anyhow::anyhow!("{error}"), error.hint());
        if arguments.events {
            let events = Events::new(tags).map_err(wrong)?;
            return Ok(Self { out, kind: Kind::Events(Box::new(events)) });
        }
        if let Some(grammar) = tags {
            let tagged = Tagged::new(grammar, arguments.json, arguments.ndjson).map_err(wrong)?;
            return Ok(Self { out, kind: Kind::Tagged(Box::new(tagged)) });
        }
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
        Ok(Self { out, kind })
    }

    /// Waits for the next piece, or the end; returns when it came.
    pub(super) fn wait(&mut self, pieces: &mut Pieces) -> Result<Option<Duration>, Trouble> {
        if let Kind::Tagged(tagged) = &mut self.kind {
            return Ok(tagged.wait(pieces, &mut self.out)?);
        }
        let Self { out, kind: Kind::Live(live) } = self else { return Ok(None) };
        let at = pieces.wait(|elapsed| {
            live.wait(elapsed);
            live.drain(out)?;
            out.flush()
        })?;
        live.get_ready();
        Ok(at)
    }

    /// Takes what a piece changed that came at a time.
    pub(super) fn show(&mut self, mut changes: Changes<'_>, at: Option<Duration>) -> Result<(), Trouble> {
        while let Some((change, message)) = changes.next() {
            match &mut self.kind {
                Kind::Text(flow) => flow.show(&change, message, &mut self.out)?,
                Kind::Live(live) => live.show(&change, message, at),
                Kind::Changes => print_json(&mut self.out, &change)?,
                Kind::Events(events) => events.show(&change, message, &mut self.out)?,
                Kind::Tagged(tagged) => tagged.show(&change, message, at, &mut self.out)?,
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
        if let (Kind::Last(Form::Native) | Kind::All(Form::Native), Some(dialect)) =
            (&self.kind, reply.dialect())
        {
            native_or_trouble(dialect)?;
        }
        match &mut self.kind {
            Kind::Text(flow) => flow.end(&mut self.out)?,
            Kind::Live(live) => {
                live.finish();
                live.drain(&mut self.out)?;
            }
            Kind::Changes => {}
            Kind::Events(events) => events.end(&mut self.out)?,
            Kind::Tagged(tagged) => tagged.end(reply.message(), &mut self.out)?,
            Kind::Last(Form::Neutral) => print_json(&mut self.out, reply.message())?,
            Kind::Last(Form::Native) => {
                reply.into_native().last().map_or(Ok(()), |last| print_json(&mut self.out, last))?;
            }
            Kind::All(Form::Neutral) => print_json(&mut self.out, &reply.messages().collect::<Vec<_>>())?,
            Kind::All(Form::Native) => print_json(&mut self.out, &reply.into_native())?,
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
}
