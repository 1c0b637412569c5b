//! `--serve`: a recording as the answer of a provider's server, on the loopback interface.

use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow};
use reknit::frame::Framing;
use serde_json::json;

use super::http::{Connection, Refusal, Request, Status};
use super::schedule::{End, Schedule};
use super::tape::Tape;
use super::{routes, sleeper};
use crate::outcome::Trouble;
use crate::tell;

const CONNECTIONS: usize = 256;
const AFTER_A_FAILURE: Duration = Duration::from_millis(50);
const JSON: &str = "application/json";

/// What all connections share.
struct Server {
    tape: Tape,
    schedule: Schedule,
    open: AtomicUsize,
}

/// Answers requests: so many, or until it is interrupted.
pub(super) fn run(tape: Tape, schedule: Schedule, port: u16, requests: Option<u64>) -> Result<(), Trouble> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
        let what = anyhow!("cannot listen on port {port}: {error}");
        Trouble::with_hint(what, "name another port, or 0 for any that is free")
    })?;
    let address = listener.local_addr().context("the port cannot be told")?;
    tell(format_args!("listening on http://{address}"));

    let server = Arc::new(Server { tape, schedule, open: AtomicUsize::new(0) });
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
            let outcome = serve(&here, stream, open < CONNECTIONS);
            here.open.fetch_sub(1, Ordering::Relaxed);
            if let Ok(Answered::Something) = outcome {
                // The program may be ending, and then nobody counts.
                let _ = answered.send(());
            }
        });
        if let Err(error) = spawned {
            server.open.fetch_sub(1, Ordering::Relaxed);
            tell(format_args!("error: a connection is dropped: {error}"));
        }
    }
}

enum Answered {
    Something,
    Nothing,
}

fn serve(server: &Server, stream: TcpStream, has_room: bool) -> io::Result<Answered> {
    let mut connection = Connection::new(stream)?;
    if !has_room {
        let what = format!("{CONNECTIONS} connections are open already");
        refuse(&mut connection, Status::BUSY, &what)?;
        connection.close();
        return Ok(Answered::Something);
    }
    match connection.read_request() {
        Err(Refusal::Gone) => return Ok(Answered::Nothing),
        Err(Refusal::Answer(status, what)) => {
            tell(format_args!("{}: {what}", status.0));
            refuse(&mut connection, status, &what)?;
        }
        Ok(request) => {
            let said = answer(server, &request, &mut connection);
            let Request { method, target } = &request;
            match said {
                Ok(said) => tell(format_args!("{method} {target}: {said}")),
                // That is how a client looks that had enough.
                Err(error) => tell(format_args!("{method} {target}: the client went away: {error}")),
            }
        }
    }
    connection.close();
    Ok(Answered::Something)
}

/// Answers a request and says how, for people.
fn answer(server: &Server, request: &Request, connection: &mut Connection) -> io::Result<String> {
    let Server { tape, schedule, .. } = server;
    if request.target == "/" && request.method == "GET" {
        connection.answer(Status::OK, "text/plain; charset=utf-8", &greeting(tape))?;
        return Ok("200".to_owned());
    }
    let Some(asked) = routes::dialect_of(&request.target) else {
        let what = format!("there is no `{}` here", request.target);
        refuse(connection, Status::NOT_FOUND, &what)?;
        return Ok(format!("404, {what}"));
    };
    if request.method != "POST" {
        let what = format!("`{}` is answered to POST, not to {}", request.target, request.method);
        refuse(connection, Status::NOT_ALLOWED, &what)?;
        return Ok(format!("405, {what}"));
    }
    if let Some(dialect) = tape.dialect.as_deref().filter(|dialect| *dialect != asked) {
        let what = format!("the recording is `{dialect}`, and `{}` asks for `{asked}`", request.target);
        refuse(connection, Status::CONFLICT, &what)?;
        return Ok(format!("409, {what}"));
    }
    connection.begin_chunks(content_type(tape.framing))?;
    schedule.play(&tape.bytes, sleeper(), |piece| connection.chunk(piece))?;
    match schedule.end {
        End::Whole => connection.end_chunks()?,
        End::Broken => return Ok("200, and broken off".to_owned()),
    }
    Ok("200".to_owned())
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

fn greeting(tape: &Tape) -> String {
    let dialect = tape.dialect.as_deref();
    let paths: Vec<_> = match dialect.and_then(routes::path_of) {
        Some(path) => vec![path],
        None => routes::paths().collect(),
    };
    format!(
        "reknit replay: a recording, {}, {} bytes\nask for it with POST {}\n",
        dialect.unwrap_or("of an unknown dialect"),
        tape.bytes.len(),
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
