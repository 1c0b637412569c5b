//! [`Live`]: what is reported of an output while a command runs.

use std::mem;
use std::time::Duration;

use reknit::agent::Stream;
use tokio::time::Instant;

use crate::tool::{Context, Progress};
use crate::tools::excerpt::{grouped, incomplete, leftover};

/// Updates are at least this far apart. Each has at most one report for each of the two streams, which makes at most
/// 20 reports a second.
const APART: Duration = Duration::from_millis(100);
/// How many bytes a report has. Of what came since the last one, the end is shown.
const REPORT: usize = 8 << 10;
/// How many bytes are reported. Then nothing is until the command ends: reports are kept in the session's log.
const MOST: usize = 1 << 20;

/// Reports output while a command runs.
pub(super) struct Live<'a> {
    context: &'a Context,
    stdout: Pending,
    stderr: Pending,
    /// When the next report may be made.
    next: Instant,
    reported: usize,
}

/// What was not reported yet.
#[derive(Default)]
struct Pending {
    bytes: Vec<u8>,
    /// How many bytes before these are not going to be.
    skipped: u64,
}

impl<'a> Live<'a> {
    pub(super) fn new(context: &'a Context) -> Self {
        let (stdout, stderr) = (Pending::default(), Pending::default());
        Self { context, stdout, stderr, next: Instant::now(), reported: 0 }
    }

    pub(super) fn push(&mut self, stream: Stream, bytes: &[u8]) {
        match stream {
            Stream::Stdout => self.stdout.push(bytes),
            Stream::Stderr => self.stderr.push(bytes),
        }
    }

    /// Whether there is something to report.
    pub(super) fn is_waiting(&self) -> bool {
        self.reported < MOST && (self.stdout.has_whole() || self.stderr.has_whole())
    }

    /// Waits until the next report may be made.
    pub(super) fn due(&self) -> impl Future<Output = ()> + use<> {
        tokio::time::sleep_until(self.next)
    }

    /// Reports what there is, except for characters of which the rest is missing.
    pub(super) async fn flush(&mut self) {
        let texts = [(Stream::Stdout, self.stdout.take()), (Stream::Stderr, self.stderr.take())];
        self.report(texts).await;
        self.next = Instant::now() + APART;
    }

    /// Reports the rest.
    pub(super) async fn finish(&mut self) {
        let texts = [(Stream::Stdout, self.stdout.take_all()), (Stream::Stderr, self.stderr.take_all())];
        self.report(texts).await;
    }

    async fn report(&mut self, texts: [(Stream, String); 2]) {
        for (stream, data) in texts {
            if data.is_empty() {
                continue;
            }
            self.reported += data.len();
            tokio::select! {
                biased;
                // A session that is busy must not keep a command from being stopped.
                () = self.context.cancelled().cancelled() => {}
                () = self.context.progress(Progress::Output { stream, data }) => {}
            }
        }
    }
}

impl Pending {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let excess = self.bytes.len().saturating_sub(REPORT);
        if excess > 0 {
            let start = excess + leftover(&self.bytes[excess..]);
            self.bytes.drain(..start);
            self.skipped += start as u64;
        }
    }

    fn has_whole(&self) -> bool {
        self.bytes.len() > incomplete(&self.bytes)
    }

    fn take(&mut self) -> String {
        let rest = self.bytes.split_off(self.bytes.len() - incomplete(&self.bytes));
        let text = self.take_all();
        self.bytes = rest;
        text
    }

    fn take_all(&mut self) -> String {
        let bytes = mem::take(&mut self.bytes);
        let text = String::from_utf8_lossy(&bytes);
        match mem::take(&mut self.skipped) {
            0 => text.into_owned(),
            skipped => format!("[… {} bytes are not shown …]\n{text}", grouped(skipped)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_reported_whole() {
        let mut pending = Pending::default();
        let mut shown = String::new();
        for byte in "aé漢🦀".bytes() {
            pending.push(&[byte]);
            shown += &pending.take();
        }
        assert_eq!(shown, "aé漢🦀");
        pending.push(b"a\xff\xe6");
        assert_eq!((pending.take(), pending.take_all()), ("a\u{fffd}".to_owned(), "\u{fffd}".to_owned()));
    }

    #[test]
    fn of_much_only_the_end_is_reported() {
        let mut pending = Pending::default();
        pending.push("é".repeat(REPORT).as_bytes());
        pending.push(b"x");
        let text = pending.take();
        assert!(text.starts_with("[… 8,194 bytes are not shown …]\néé"), "{}", &text[..60]);
        assert!(text.ends_with("éx"));
        assert!(text.len() < REPORT + 100);
    }
}
