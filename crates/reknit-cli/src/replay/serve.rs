//! `--serve`: answers requests with a recording like a provider's server, on the loopback interface.

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
use super::recording::{Recording, Whole};
use super::schedule::{End, Schedule};
use super::{routes, sleeper};
use crate::outcome::CommandError;
use crate::print_message;

/// Each connection has a thread, so their number is limited.
const CONNECTIONS: usize = 256;
/// How long to wait after a connection could not be accepted.
const RETRY_DELAY: Duration = Duration::from_millis(50);
const JSON: &str = "application/json";

/// What is shared by all connections.
struct Server {
    recording: Recording,
    /// The answer to requests that do not ask for a stream, if the dialect has one.
    whole: Option<Whole>,
    schedule: Schedule,
    open: AtomicUsize,
}

/// Answers the given number of requests, or requests until it is interrupted.
pub(super) fn run(
    recording: Recording,
    schedule: Schedule,
    port: u16,
    requests: Option<u64>,
) -> Result<(), CommandError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
        let what = anyhow!("cannot listen on port {port}: {error}");
        CommandError::with_hint(what, "use another port, or 0 for any free one")
    })?;
    let address = listener.local_addr().context("cannot determine the port")?;
    print_message(format_args!("listening on http://{address}"));

    let server =
        Arc::new(Server { whole: recording.whole(), recording, schedule, open: AtomicUsize::new(0) });
    let (answered, answers) = mpsc::channel();
    // The thread ends with the program, because waiting for a client cannot be interrupted.
    thread::spawn(move || accept(&listener, &server, &answered));
    for _ in 0..requests.unwrap_or(u64::MAX) {
        if answers.recv().is_err() {
            return Err(anyhow!("cannot accept any more connections").into());
        }
    }
    Ok(())
}

fn accept(listener: &TcpListener, server: &Arc<Server>, answered: &Sender<()>) {
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // Not a reason to stop: the client may already be gone, or all file descriptors may be in use until
            // other connections are closed.
            sleeper()(RETRY_DELAY);
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
            print_message(format_args!("error: connection dropped: {error}"));
        }
    }
}

/// The response to a request.
enum Answer {
    Greeting,
    Recording,
    /// All of it at once, in the provider's own form.
    Whole,
    Refused(Status, String),
}

/// Answers the requests of one client and counts them.
fn serve(server: &Server, mut connection: Connection, has_room: bool, answered: &Sender<()>) {
    loop {
        let (asked, answer, next) = match connection.read_request() {
            Err(Refusal::Gone) => return,
            Err(Refusal::Answer(status, what)) => (String::new(), Answer::Refused(status, what), Next::Close),
            Ok(request) => {
                let answer = if has_room { decide(server, &request) } else { busy() };
                (format!("{} {}: ", request.method, request.target), answer, request.next)
            }
        };
        let next = match give(server, &answer, next, &mut connection) {
            Ok((said, next)) => {
                print_message(format_args!("{asked}{said}"));
                next
            }
            // A client that has seen enough closes the connection.
            Err(error) => {
                print_message(format_args!("{asked}the client closed the connection: {error}"));
                Next::Close
            }
        };
        if next == Next::Close {
            connection.close();
            // This fails if the program is about to exit, which is fine.
            let _ = answered.send(());
            return;
        }
        let _ = answered.send(());
    }
}

fn decide(server: &Server, request: &Request) -> Answer {
    let Server { recording, whole, .. } = server;
    let Request { method, target, .. } = request;
    if target == "/" && method == "GET" {
        return Answer::Greeting;
    }
    let Some(route) = routes::of(target) else {
        return Answer::Refused(Status::NOT_FOUND, format!("`{target}` is not a known path"));
    };
    if method != "POST" {
        let what = format!("`{target}` accepts POST, not {method}");
        return Answer::Refused(Status::NOT_ALLOWED, what);
    }
    // A dialect without a path of its own is answered on all paths.
    let expected = recording.dialect.as_deref().filter(|dialect| routes::path_of(dialect).is_some());
    match expected.filter(|dialect| *dialect != route.dialect) {
        Some(dialect) => {
            let what = format!("the recording is `{dialect}`, but `{target}` is `{}`", route.dialect);
            Answer::Refused(Status::CONFLICT, what)
        }
        None if whole.is_some() && !route.streams(request.stream) => Answer::Whole,
        None => Answer::Recording,
    }
}

fn busy() -> Answer {
    Answer::Refused(Status::BUSY, format!("too many connections: {CONNECTIONS} are open"))
}

/// Sends a response, and describes it for the log.
fn give(
    server: &Server,
    answer: &Answer,
    next: Next,
    connection: &mut Connection,
) -> io::Result<(String, Next)> {
    let Server { recording, schedule, whole, .. } = server;
    match answer {
        Answer::Greeting => {
            connection.answer(Status::OK, "text/plain; charset=utf-8", &greeting(recording))?;
            Ok(("200".to_owned(), Next::Close))
        }
        Answer::Refused(status, what) => {
            refuse(connection, *status, what)?;
            Ok((format!("{}, {what}", status.0), Next::Close))
        }
        Answer::Whole => {
            schedule.wait(sleeper());
            match whole {
                Some(Whole::Message(message)) if schedule.end == End::Whole => {
                    connection.answer(Status::OK, JSON, &format!("{message}\n"))?;
                    Ok(("200, not as a stream".to_owned(), Next::Close))
                }
                Some(Whole::Failed(what)) if schedule.end == End::Whole => {
                    refuse(connection, Status::FAILED, what)?;
                    Ok((format!("500, {what}"), Next::Close))
                }
                // Half an answer is no answer.
                _ => Ok(("the connection was broken before the answer".to_owned(), Next::Close)),
            }
        }
        Answer::Recording => {
            connection.begin_chunks(content_type(recording.framing), next)?;
            schedule.play(&recording.bytes, sleeper(), |piece| connection.chunk(piece))?;
            match schedule.end {
                End::Whole => connection.end_chunks().map(|()| ("200".to_owned(), next)),
                End::Broken => Ok(("200, then the connection was broken".to_owned(), Next::Close)),
            }
        }
    }
}

/// Sends an error in a form that the SDKs of all providers understand.
fn refuse(connection: &mut Connection, status: Status, what: &str) -> io::Result<()> {
    let kind = match status {
        Status::NOT_FOUND => "not_found_error",
        Status::BUSY => "overloaded_error",
        Status::FAILED => "api_error",
        _ => "invalid_request_error",
    };
    let mut body = json!({"type": "error", "message": what, "error": {"type": kind, "message": what}});
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
        "reknit replay: a recording, {}, {} bytes\nrequest it with POST {}\n",
        dialect.unwrap_or("of an unknown dialect"),
        recording.bytes.len(),
        paths.join(", ")
    )
}

fn content_type(framing: Framing) -> &'static str {
    match framing {
        Framing::Sse => "text/event-stream; charset=utf-8",
        Framing::Lines => "application/x-ndjson",
        Framing::AwsEventStream => "application/vnd.amazon.eventstream",
        _ => JSON,
    }
}
