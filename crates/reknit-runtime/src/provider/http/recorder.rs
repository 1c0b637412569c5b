//! [`Recorder`]: every exchange with a provider, in a file that can be replayed.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use reknit::Dialect;
use reknit::json::{Object, Value};
use reknit::recording::{Header, Read};

use super::secrets::Secrets;
use crate::provider::{Error, ErrorKind};

/// Writes every exchange of a session to a file, with its request and without secrets.
///
/// [`Replayed`](crate::provider::Replayed) plays it.
#[derive(Debug)]
pub struct Recorder {
    file: Mutex<File>,
}

impl Recorder {
    /// Creates the file. One that exists is left alone.
    pub fn create(path: &Path) -> io::Result<Arc<Self>> {
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        Ok(Arc::new(Self { file: Mutex::new(file) }))
    }

    pub(super) fn begin(self: &Arc<Self>, dialect: Dialect, request: Value, secrets: Secrets) -> Exchange {
        let start = Instant::now();
        Exchange { recorder: self.clone(), dialect, request, secrets, start }
    }

    /// One write per line: what was read is in the file even if the program is killed.
    fn write(&self, line: &str) -> Result<(), Error> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = file.write_all(line.as_bytes());
        written.map_err(|error| {
            let mut error =
                Error::new(ErrorKind::RequestRefused, format!("cannot write the recording: {error}"));
            error.can_retry = false;
            error
        })
    }
}

/// An exchange that is being recorded.
pub(super) struct Exchange {
    recorder: Arc<Recorder>,
    dialect: Dialect,
    request: Value,
    secrets: Secrets,
    start: Instant,
}

impl Exchange {
    /// The reply begins.
    pub(super) fn answered(&mut self, status: u16, request_id: Option<&str>) -> Result<(), Error> {
        let mut response = Object::new();
        response.insert("status", u64::from(status));
        if let Some(id) = request_id {
            response.insert("requestId", id);
        }
        self.header(response.into())
    }

    /// There is no reply.
    pub(super) fn refused(mut self, error: &Error) -> Result<(), Error> {
        let response: Object = [("error", error.to_json())].into_iter().collect();
        self.header(response.into())
    }

    /// More of the reply came, from which secrets were removed.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.recorder.write(&Read::new(self.at_ms(), bytes).to_line())
    }

    pub(super) fn broke_off(&mut self, error: &Error) -> Result<(), Error> {
        self.recorder.write(&Read::failed(self.at_ms(), error.to_json()).to_line())
    }

    fn header(&mut self, response: Value) -> Result<(), Error> {
        let request = std::mem::take(&mut self.request);
        let mut header = Header::new(request).with_response(response);
        header.dialect = Some(self.dialect.name().to_owned());
        self.recorder.write(&self.secrets.remove(&header.to_line()))
    }

    fn at_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
