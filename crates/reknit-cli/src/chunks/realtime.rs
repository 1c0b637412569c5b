//! `reknit chunks --realtime`: the events of an Agent C server to its sessions.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

use reknit::json::Value;
use reknit::realtime::{
    EnhancedMessage, Happening, MessageKind, Processor, Profile, ServerEvent, Tally, Time,
};
use serde::Serialize;

use super::noticed::Noticed;
use super::output::is_zero;
use super::{Arguments, Input, State, close};
use crate::outcome::{Outcome, Trouble};
use crate::pieces::Pieces;
use crate::print::print_json;

pub(super) fn profile(name: &str) -> Result<Profile, String> {
    name.parse().map_err(|error: reknit::realtime::UnknownProfile| format!("{error}; {}", error.hint()))
}

pub(super) fn run(arguments: &Arguments, profile: Profile, mut pieces: Pieces) -> Result<Outcome, Trouble> {
    let mut input = Input::new(arguments.strict);
    let mut processor = Processor::new(profile).with_limits(&input.limits);
    let mut out = BufWriter::new(io::stdout().lock());
    let (mut words, mut now) = (Words::default(), Time::default());
    let mut broken = None;
    while input.state == State::Open {
        broken = input.take(pieces.next());
        let mut show = |happenings: &[Happening]| -> Result<(), Trouble> {
            for happening in happenings {
                match *arguments {
                    Arguments { json: true, .. } => {}
                    Arguments { ndjson: true, .. } => print_json(&mut out, happening)?,
                    _ => words.show(happening, &mut out)?,
                }
            }
            Ok(())
        };
        input.read(|value, place| {
            let (event, at) = timed(value, now);
            now = at;
            let happenings = processor.process(&event, now);
            show(&happenings)?;
            // People see all of it at once; what programs get does not depend on where the input is cut.
            if !arguments.ndjson {
                show(&processor.flush(now))?;
            }
            let odd = happenings.iter().filter_map(|happening| match happening {
                Happening::Diagnostic(diagnostic) => Some(Noticed::odd(diagnostic, place)),
                _ => None,
            });
            Ok(odd.collect())
        })?;
        if input.state == State::Over {
            show(&processor.flush(now))?;
        }
        out.flush()?;
    }
    if arguments.json {
        print_json(&mut out, &Ended::new(&processor, &input))?;
    } else if !arguments.ndjson {
        words.end(&mut out)?;
    }
    out.flush()?;
    close(&input, arguments, broken, pieces.is_interrupted())
}

/// An event, and when it came: that of a line `{"at": TIME, "event": EVENT}`, or the one before.
fn timed(value: Value, now: Time) -> (ServerEvent, Time) {
    match (value.get("at").and_then(Value::as_u64), value.get("event")) {
        (Some(at), Some(event)) => (ServerEvent::from(event.clone()), Time(at)),
        (_, _) => (ServerEvent::from(value), now),
    }
}

/// All that came of the events.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ended<'a> {
    #[serde(flatten)]
    sessions: &'a reknit::realtime::Sessions,
    tally: Tally,
    diagnostics: &'a [Noticed],
    #[serde(skip_serializing_if = "is_zero")]
    diagnostics_omitted: u64,
}

impl<'a> Ended<'a> {
    fn new(processor: &'a Processor, input: &'a Input) -> Self {
        Self {
            sessions: processor.sessions(),
            tally: processor.tally(),
            diagnostics: &input.noticed,
            diagnostics_omitted: input.omitted,
        }
    }
}

/// What happened, for people: text as it grows, and a paragraph for all else.
#[derive(Default)]
struct Words {
    /// How much of the message that a session builds is shown.
    shown: BTreeMap<String, usize>,
    /// The session whose text was shown last; none if it was a paragraph.
    speaking: Option<String>,
    /// The session that all is of until another one is named.
    named: Option<String>,
    is_begun: bool,
}

impl Words {
    fn show(&mut self, happening: &Happening, out: &mut impl Write) -> io::Result<()> {
        match happening {
            Happening::MessageStreaming { session_id, message } => self.grow(session_id, message, out),
            Happening::MessageComplete { session_id, message } => {
                self.grow(session_id, message, out)?;
                self.shown.remove(session_id);
                self.speaking = None;
                Ok(())
            }
            Happening::MessageAdded { message, .. } => {
                self.paragraph(&format!("[{}] {}", message.role, text(&message.content)), out)
            }
            Happening::ToolNotification(call) => {
                self.paragraph(&format!("[{}: {}]", call.tool_name, call.status.name()), out)
            }
            Happening::MediaAdded { media, .. } => {
                let kind = media.content_type.as_deref().unwrap_or("media");
                self.paragraph(&format!("[{kind}]"), out)
            }
            Happening::SystemMessage(fields) => {
                let content = fields.get("content").map(text).unwrap_or_default();
                self.paragraph(&format!("[{content}]"), out)
            }
            Happening::Error { message, .. } => self.paragraph(&format!("[error] {message}"), out),
            Happening::ResponseCancelled { .. } => self.paragraph("[cancelled]", out),
            _ => Ok(()),
        }
    }

    /// The text of a message that was not shown yet. Of a thought only that there is one.
    fn grow(&mut self, session: &str, message: &EnhancedMessage, out: &mut impl Write) -> io::Result<()> {
        let is_new = !self.shown.contains_key(session);
        if message.kind == MessageKind::Thought {
            self.shown.insert(session.to_owned(), 0);
            return if is_new { self.paragraph("[thinking, not shown]", out) } else { Ok(()) };
        }
        let content = text(&message.content);
        let from = self.shown.insert(session.to_owned(), content.len()).unwrap_or(0);
        let more = content.get(from..).unwrap_or_default();
        if more.is_empty() {
            return Ok(());
        }
        if is_new || self.speaking.as_deref() != Some(session) {
            self.part(out)?;
            self.speaking = Some(session.to_owned());
            let before = self.named.replace(session.to_owned());
            if before.is_some_and(|before| before != session) {
                write!(out, "[{session}] ")?;
            }
        }
        out.write_all(more.as_bytes())
    }

    fn paragraph(&mut self, text: &str, out: &mut impl Write) -> io::Result<()> {
        self.part(out)?;
        self.speaking = None;
        out.write_all(text.as_bytes())
    }

    /// A blank line behind what was shown before.
    fn part(&mut self, out: &mut impl Write) -> io::Result<()> {
        if std::mem::replace(&mut self.is_begun, true) { out.write_all(b"\n\n") } else { Ok(()) }
    }

    fn end(&self, out: &mut impl Write) -> io::Result<()> {
        if self.is_begun { out.write_all(b"\n") } else { Ok(()) }
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), Into::into)
}
