//! [`Server`]: a strict provider on the loopback interface, for tests.
//!
//! It checks every request as the real one does, and answers those that hold with the next answer of its script.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use reknit::json::Value;
use reknit::{Dialect, Reply};

mod answer;
mod check;
mod say;

pub use answer::{Answer, Fault, Step};
pub use say::Say;

/// The key that requests have to show.
pub const KEY: &str = "sk-strict-0123456789abcdef-secret";

/// The model that requests have to name.
pub const MODEL: &str = "strict-1";

/// A strict provider.
pub struct Server {
    address: SocketAddr,
    state: Arc<State>,
}

/// A request, as it came.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method and the path.
    pub line: String,
    /// The names of headers in lower case, and their values.
    pub headers: Vec<(String, String)>,
    /// The body; null if it is not JSON.
    pub body: Value,
}

struct State {
    dialect: Dialect,
    script: Mutex<Script>,
    changed: Condvar,
}

#[derive(Default)]
struct Script {
    answers: VecDeque<Answer>,
    /// What is answered when there is nothing left.
    last: Option<Answer>,
    requests: Vec<Request>,
    /// Why requests were refused.
    refusals: Vec<String>,
    /// Everything that was answered, in which signatures are looked for.
    issued: String,
}

impl Server {
    /// Answers requests of a dialect with these answers, in order.
    pub fn start(dialect: Dialect, answers: impl IntoIterator<Item = Answer>) -> Self {
        Self::begin(dialect, Script { answers: answers.into_iter().collect(), ..Script::default() }, 0)
    }

    /// The same on a port, and with an answer for all requests after those.
    pub fn serve(
        dialect: Dialect,
        answers: impl IntoIterator<Item = Answer>,
        last: Answer,
        port: u16,
    ) -> Self {
        let answers = answers.into_iter().collect();
        Self::begin(dialect, Script { answers, last: Some(last), ..Script::default() }, port)
    }

    fn begin(dialect: Dialect, script: Script, port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("there is a free port");
        let address = listener.local_addr().expect("it is bound");
        let state = Arc::new(State { dialect, script: Mutex::new(script), changed: Condvar::new() });
        let shared = state.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = shared.clone();
                // A client that goes away is none of its business.
                thread::spawn(move || drop(state.serve(stream)));
            }
        });
        Self { address, state }
    }

    /// Its address, as a base for the dialect's SDKs.
    pub fn base_url(&self) -> String {
        match self.state.dialect {
            Dialect::OpenAiChat | Dialect::OpenAiResponses => format!("http://{}/v1", self.address),
            _ => format!("http://{}", self.address),
        }
    }

    /// The requests so far, also those that were refused.
    pub fn requests(&self) -> Vec<Request> {
        self.state.script().requests.clone()
    }

    /// Why requests were refused by its checks.
    pub fn refusals(&self) -> Vec<String> {
        self.state.script().refusals.clone()
    }

    /// Adds an answer to the script.
    pub fn push(&self, answer: Answer) {
        self.state.script().answers.push_back(answer);
    }

    /// Waits until there were so many requests.
    pub fn wait_for_requests(&self, count: usize) {
        let script = self.state.script();
        let enough = self.state.changed.wait_while(script, |script| script.requests.len() < count);
        drop(enough.unwrap_or_else(PoisonError::into_inner));
    }
}

impl State {
    fn script(&self) -> std::sync::MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut stream = stream;
        while let Some((request, text)) = read_request(&mut reader)? {
            let answer = self.answer(request, &text);
            if !answer.send(&mut stream, &mut reader)? {
                return Ok(());
            }
        }
        Ok(())
    }

    fn answer(&self, request: Request, text: &str) -> Answer {
        let mut script = self.script();
        // A probe of whether anything is there.
        if request.line.starts_with("GET / ") {
            return Answer::error(404, "not_found_error", "there is nothing here");
        }
        let checked = check::check(self.dialect, &request, text, &script.issued);
        script.requests.push(request);
        self.changed.notify_all();
        if let Err((status, why)) = checked {
            script.refusals.push(why.clone());
            return Answer::error(status, "invalid_request_error", &why);
        }
        let next = script.answers.pop_front().or_else(|| script.last.clone());
        let none = || Answer::error(400, "invalid_request_error", "the script has no more answers");
        let answer = next.unwrap_or_else(none);
        let steps = answer.steps.iter().filter_map(|step| match step {
            Step::Bytes(bytes) => Some(&**bytes),
            Step::Cut | Step::Stall => None,
        });
        let sent = steps.collect::<Vec<_>>().concat();
        script.issued += &String::from_utf8_lossy(&sent);
        // A signature may be sent in pieces.
        let mut reply = Reply::new(self.dialect).with_native();
        let mut changes = reply.push(&sent);
        while changes.next().is_some() {}
        drop(changes);
        reply.into_native().iter().for_each(|native| script.issued += &native.to_string());
        answer
    }
}

/// The next request of a connection with the text of its body, or `None` if there is none.
fn read_request(reader: &mut BufReader<TcpStream>) -> io::Result<Option<(Request, String)>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let header = |wanted: &str| headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| &**value);
    let mut body = Vec::new();
    if header("transfer-encoding").is_some_and(|encoding| encoding.contains("chunked")) {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size)?;
            let size = usize::from_str_radix(size.trim(), 16).unwrap_or_default();
            let mut chunk = vec![0; size + 2];
            reader.read_exact(&mut chunk)?;
            body.extend_from_slice(&chunk[..size]);
            if size == 0 {
                break;
            }
        }
    } else {
        let length = header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        body.resize(length, 0);
        reader.read_exact(&mut body)?;
    }
    let text = String::from_utf8_lossy(&body).into_owned();
    let body = text.parse().unwrap_or_default();
    Ok(Some((Request { line: line.trim_end().to_owned(), headers, body }, text)))
}

impl Answer {
    /// Sends it, and returns whether the connection goes on.
    fn send(&self, stream: &mut TcpStream, reader: &mut BufReader<TcpStream>) -> io::Result<bool> {
        if self.is_slow {
            return wait_for_end(reader);
        }
        let mut head = format!("HTTP/1.1 {} Status\r\ncontent-type: {}\r\n", self.status, self.content_type);
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += "transfer-encoding: chunked\r\n\r\n";
        stream.write_all(head.as_bytes())?;
        for step in &self.steps {
            match step {
                Step::Bytes(bytes) => {
                    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
                    chunk.extend_from_slice(bytes);
                    chunk.extend_from_slice(b"\r\n");
                    stream.write_all(&chunk)?;
                }
                Step::Cut => {
                    // Reads what the client still sends, so that what was written is not lost with the connection.
                    stream.shutdown(std::net::Shutdown::Write)?;
                    return wait_for_end(reader);
                }
                Step::Stall => return wait_for_end(reader),
            }
        }
        stream.write_all(b"0\r\n\r\n")?;
        Ok(true)
    }
}

/// Waits until the client closes the connection.
fn wait_for_end(reader: &mut BufReader<TcpStream>) -> io::Result<bool> {
    io::copy(reader, &mut io::sink())?;
    Ok(false)
}
