//! `--serve`: a recording as the answer of a provider's server, on the loopback interface.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow};
use reknit::frame::Framing;
use serde_json::json;

use super::http::{Connection, Next, Refusal, Request, Status};
use super::recording::Recording;
use super::schedule::{End, Schedule};
use super::{routes, sleeper};
use crate::outcome::Trouble;
use crate::tell;

const CONNECTIONS: usize = 256;
const AFTER_A_FAILURE: Duration = Duration::from_millis(50);
const JSON: &str = "application/json";

/// What all connections share.
struct Server {
    recording: Recording,
    schedule: Schedule,
    open: AtomicUsize,
}

/// Answers requests: so many, or until it is interrupted.
pub(super) fn run(
    recording: Recording,
    schedule: Schedule,
    port: u16,
    requests: Option<u64>,
) -> Result<(), Trouble> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
        let what = anyhow!("cannot listen on port {port}: {error}");
        Trouble::with_hint(what, "name another port, or 0 for any that is free")
    })?;
    let address = listener.local_addr().context("the port cannot be told")?;
    tell(format_args!("listening on http://{address}"));

    let server = Arc::new(Server { recording, schedule, open: AtomicUsize::new(0) });
    let (answered, answers) = mpsc::channel();
    // It ends with the program: waiting for a client cannot be broken off.
    thread::spawn(move || accept(&listener, &server, &answered));
    for _ in 0..requests.unwrap_or(u64::MAX) {
        if answers.recv().is_err() {
            return Err(anyhow!("no more connections can be accepted").into());
        }
    }
    Ok(())
}

fn accept(listener: &TcpListener, server: &Arc<Server>, answered: &Sender<()>) {
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // A client that is gone before it was here is no reason to stop, nor is a lack of descriptors,
            // which passes when others hang up.
            sleeper()(AFTER_A_FAILURE);
            continue;
        };
        let (here, answered) = (Arc::clone(server), answered.clone());
        let open = server.open.fetch_add(1, Ordering::Relaxed);
        let spawned = thread::Builder::new().spawn(move || {
            if let Ok(connection) = Connection::new(stream) {
                serve(&here, connection, open < CONNECTIONS, &answered);
            }
            here.open.fetch_sub(1, Ordering::Relaxed);
        });
        if let Err(error) = spawned {
            server.open.fetch_sub(1, Ordering::Relaxed);
            tell(format_args!("error: a connection is dropped: {error}"));
        }
    }
}

/// What a request gets.
enum Answer {
    Greeting,
    Recording,
    Refused(Status, String),
}

/// Answers the requests of one client, and counts each.
fn serve(server: &Server, mut connection: Connection, has_room: bool, answered: &Sender<()>) {
    loop {
        let (asked, answer, next) = match connection.read_request() {
            Err(Refusal::Gone) => return,
            Err(Refusal::Answer(status, what)) => (String::new(), Answer::Refused(status, what), Next::Close),
            Ok(request) => {
                let answer = if has_room { decide(&server.recording, &request) } else { busy() };
                (format!("{} {}: ", request.method, request.target), answer, request.next)
            }
        };
        let next = match give(server, &answer, next, &mut connection) {
            Ok((said, next)) => {
                tell(format_args!("{asked}{said}"));
                next
            }
            // That is how a client looks that had enough.
            Err(error) => {
                tell(format_args!("{asked}the client went away: {error}"));
                Next::Close
            }
        };
        if next == Next::Close {
            connection.close();
            // The program may be ending, and then nobody counts.
            let _ = answered.send(());
            return;
        }
        let _ = answered.send(());
    }
}

fn decide(recording: &Recording, request: &Request) -> Answer {
    let Request { method, target, .. } = request;
    if target == "/" && method == "GET" {
        return Answer::Greeting;
    }
    let Some(asked) = routes::dialect_of(target) else {
        return Answer::Refused(Status::NOT_FOUND, format!("there is no `{target}` here"));
    };
    if method != "POST" {
        let what = format!("`{target}` is answered to POST, not to {method}");
        return Answer::Refused(Status::NOT_ALLOWED, what);
    }
    // A dialect that no path asks for is answered on all of them.
    let expected = recording.dialect.as_deref().filter(|dialect| routes::path_of(dialect).is_some());
    match expected.filter(|dialect| *dialect != asked) {
        Some(dialect) => {
            let what = format!("the recording is `{dialect}`, and `{target}` asks for `{asked}`");
            Answer::Refused(Status::CONFLICT, what)
        }
        None => Answer::Recording,
    }
}

fn busy() -> Answer {
    Answer::Refused(Status::BUSY, format!("{CONNECTIONS} connections are open already"))
}

/// Sends an answer, and says which, for people.
fn give(
    server: &Server,
    answer: &Answer,
    next: Next,
    connection: &mut Connection,
) -> io::Result<(String, Next)> {
    let Server { recording, schedule, .. } = server;
    match answer {
        Answer::Greeting => {
            connection.answer(Status::OK, "text/plain; charset=utf-8", &greeting(recording))?;
            Ok(("200".to_owned(), Next::Close))
        }
        Answer::Refused(status, what) => {
            refuse(connection, *status, what)?;
            Ok((format!("{}, {what}", status.0), Next::Close))
        }
        Answer::Recording => {
            connection.begin_chunks(content_type(recording.framing), next)?;
            schedule.play(&recording.bytes, sleeper(), |piece| connection.chunk(piece))?;
            match schedule.end {
                End::Whole => connection.end_chunks().map(|()| ("200".to_owned(), next)),
                End::Broken => Ok(("200, and broken off".to_owned(), Next::Close)),
            }
        }
    }
}

/// The error in a form that the clients of all providers can show.
fn refuse(connection: &mut Connection, status: Status, what: &str) -> io::Result<()> {
    let kind = match status {
        Status::NOT_FOUND => "not_found_error",
        Status::BUSY => "overloaded_error",
        _ => "invalid_request_error",
    };
    let mut body = json!({"type": "error", "error": {"type": kind, "message": what}});
    if status == Status::NOT_FOUND {
        body["paths"] = routes::paths().collect();
    }
    connection.answer(status, JSON, &format!("{body}\n"))
}

fn greeting(recording: &Recording) -> String {
    let dialect = recording.dialect.as_deref();
    let paths: Vec<_> = match dialect.and_then(routes::path_of) {
        Some(path) => vec![path],
        None => routes::paths().collect(),
    };
    format!(
        "reknit replay: a recording, {}, {} bytes\nask for it with POST {}\n",
        dialect.unwrap_or("of an unknown dialect"),
        recording.bytes.len(),
        paths.join(", ")
    )
}

fn content_type(framing: Framing) -> &'static str {
    match framing {
        Framing::Sse => "text/event-stream; charset=utf-8",
        Framing::Lines => "application/x-ndjson",
        Framing::JsonArray | Framing::Whole => JSON,
    }
}
