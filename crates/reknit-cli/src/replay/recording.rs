//! [`Recording`]: a recording that is ready to be played.

use std::path::Path;

use anyhow::anyhow;
use reknit::frame::{Decoder, Framing};
use reknit::{Diagnostic, Dialect, Limits, Reply, message};

use super::schedule::Mark;
use crate::outcome::CommandError;
use crate::pieces::Reads;

/// All bytes of a recording, with their times and what they contain.
pub(super) struct Recording {
    pub(super) bytes: Vec<u8>,
    pub(super) marks: Vec<Mark>,
    pub(super) framing: Framing,
    /// The name of the dialect, as detected from the bytes or else as in the header.
    pub(super) dialect: Option<String>,
    /// Set if the recording is cut.
    pub(super) diagnostic: Option<Diagnostic>,
}

impl Recording {
    /// Reads a recording, or a raw stream as a recording with a single read.
    pub(super) fn load(file: Option<&Path>) -> Result<Self, CommandError> {
        let limits = Limits::default();
        let mut reads = Reads::open(file)?;
        let (mut bytes, mut marks) = (Vec::new(), Vec::new());
        while let Some(read) = reads.next()? {
            if (bytes.len() + read.bytes.len()) as u64 > limits.reply_bytes {
                let what = anyhow!("{}: longer than {} bytes", reads.name(), limits.reply_bytes);
                return Err(CommandError::with_hint(what, "play only a part of it"));
            }
            bytes.extend_from_slice(&read.bytes);
            marks.push(Mark { at_ms: read.at_ms, end: bytes.len() });
        }
        let probe = Probe::of(&bytes, &limits);
        if reads.header().is_none() {
            if !probe.has_frames {
                let what = anyhow!(
                    "{}: neither a recording nor a stream: no server-sent events or JSON in {} bytes",
                    reads.name(),
                    bytes.len()
                );
                let hint = "play what `reknit read --record FILE` wrote, or the body of a streamed response";
                return Err(CommandError::with_hint(what, hint));
            }
            marks = vec![Mark { at_ms: 0, end: bytes.len() }];
        }
        let named = reads.header().and_then(|header| header.dialect.clone());
        Ok(Self {
            dialect: probe.dialect.map(|dialect| dialect.name().to_owned()).or(named),
            framing: probe.framing,
            diagnostic: reads.problem().cloned(),
            bytes,
            marks,
        })
    }
}

/// What a request gets that does not ask for a stream.
pub(super) enum Whole {
    /// The message in the provider's own form, as JSON.
    Message(String),
    /// What the provider reported instead.
    Failed(String),
    /// Nothing: the stream ends before the message does.
    Cut,
}

impl Recording {
    /// The whole answer, if the dialect has a form for it.
    pub(super) fn whole(&self) -> Option<Whole> {
        let dialect: Dialect = self.dialect.as_deref()?.parse().ok()?;
        if !dialect.has_native() {
            return None;
        }
        let mut reply = Reply::new(dialect).with_native();
        reply.push(&self.bytes);
        reply.finish();
        let message = reply.message();
        Some(match (message.status(), message.failure()) {
            (_, Some(failure)) => Whole::Failed(failure.message.clone()),
            (message::Status::Stopped, None) => Whole::Message(reply.into_native().last()?.to_string()),
            (_, None) => Whole::Cut,
        })
    }
}

/// What the first frames of a stream show.
struct Probe {
    framing: Framing,
    has_frames: bool,
    dialect: Option<Dialect>,
}

impl Probe {
    fn of(bytes: &[u8], limits: &Limits) -> Self {
        // The first frames show the dialect, or none do.
        const FIRST_FRAMES: usize = 16;
        let mut decoder = Decoder::detect(limits);
        decoder.push(bytes);
        decoder.finish();
        let (mut has_frames, mut dialect) = (false, None);
        for _ in 0..FIRST_FRAMES {
            let Ok(Some(frame)) = decoder.next_frame() else { break };
            has_frames = true;
            dialect = dialect.or_else(|| Dialect::detect(&frame));
        }
        Self { framing: decoder.framing().unwrap_or(Framing::Sse), has_frames, dialect }
    }
}
