//! [`Pipes`]: what a command writes, as it arrives.

use reknit::agent::Stream;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, ChildStderr, ChildStdout};

const BUFFER: usize = 64 << 10;

/// The two pipes of a command.
pub(super) struct Pipes {
    stdout: Pipe<ChildStdout>,
    stderr: Pipe<ChildStderr>,
}

struct Pipe<P> {
    /// `None` once it is closed.
    pipe: Option<P>,
    buffer: Box<[u8]>,
}

/// How many bytes were read, and from where.
#[derive(Clone, Copy)]
pub(super) struct Read {
    pub(super) stream: Stream,
    count: usize,
}

impl Pipes {
    pub(super) fn of(child: &mut Child) -> Self {
        Self { stdout: Pipe::new(child.stdout.take()), stderr: Pipe::new(child.stderr.take()) }
    }

    pub(super) fn are_open(&self) -> bool {
        self.stdout.pipe.is_some() || self.stderr.pipe.is_some()
    }

    /// Reads from whichever pipe has something. Dropping the future loses nothing. One of them must be open.
    pub(super) async fn read(&mut self) -> Read {
        let (stream, count) = tokio::select! {
            count = self.stdout.read(), if self.stdout.pipe.is_some() => (Stream::Stdout, count),
            count = self.stderr.read(), if self.stderr.pipe.is_some() => (Stream::Stderr, count),
            else => (Stream::Stdout, 0),
        };
        Read { stream, count }
    }

    pub(super) fn bytes(&self, read: Read) -> &[u8] {
        let buffer = match read.stream {
            Stream::Stdout => &self.stdout.buffer,
            Stream::Stderr => &self.stderr.buffer,
        };
        &buffer[..read.count]
    }
}

impl<P: AsyncRead + Unpin> Pipe<P> {
    fn new(pipe: Option<P>) -> Self {
        Self { pipe, buffer: vec![0; BUFFER].into() }
    }

    async fn read(&mut self) -> usize {
        let Some(pipe) = &mut self.pipe else { return 0 };
        // A pipe that cannot be read is as good as one that is closed.
        let count = pipe.read(&mut self.buffer).await.unwrap_or(0);
        if count == 0 {
            self.pipe = None;
        }
        count
    }
}
