//! A model over HTTP: how long a request takes to leave, and a provider's bytes to the screen, beside `curl -N` with the
//! same server.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use reknit::agent::Body;
use reknit_runtime::provider::Http;
use reknit_runtime::provider::models::Models;
use reknit_runtime::session::Session;
use reknit_runtime::store::{Cursor, Sqlite};
use reknit_runtime::tool::Workspace;
use reknit_workspace::{Journal, Root};
use tokio::runtime::Runtime;

use super::{Bench, Group, Scale};
use crate::report;

/// How far apart the pieces of a reply are: about as fast as models write.
const APART: Duration = Duration::from_millis(10);

pub(crate) fn run(bench: &Bench) -> Result<Group> {
    let (requests, pieces) = match bench.scale {
        Scale::Full => (300, 1_000),
        Scale::Quick => (20, 50),
    };
    let folder = std::env::temp_dir().join(format!("reknit-bench-http-{}", std::process::id()));
    fs::create_dir_all(folder.join("root")).context("cannot create a folder")?;
    let measured = measure(&folder, requests, pieces);
    fs::remove_dir_all(&folder).context("cannot remove the files")?;
    let table = measured?;
    Ok(Group { table, targets: Vec::new(), rows: Vec::new() })
}

fn measure(folder: &Path, requests: usize, pieces: usize) -> Result<String> {
    let ours = leaving(folder, requests)?;
    let curls = (0..requests.min(100)).map(|_| curl_leaving()).collect::<Result<Vec<_>>>()?;
    let mut table = format!(
        "http: from what the user says to the first byte of the request at the server, in a session in SQLite: {}\n\
         the same with a new process of `curl -N`: {}\n",
        shares(ours),
        shares(curls)
    );
    let curl = shown(&mut |address| curl(address), pieces)?;
    table += &format!(
        "from a provider's byte to the screen, {pieces} pieces 10 ms apart: `curl -N` {}",
        shares(curl)
    );
    match std::env::var_os("REKNIT_BINARY").map(PathBuf::from) {
        Some(binary) => {
            let ours = shown(&mut |address| reknit(&binary, folder, address), pieces)?;
            table += &format!(", `reknit run` {}\n", shares(ours));
        }
        None => table += "; `reknit run` only with `cargo xtask bench`\n",
    }
    Ok(table)
}

/// Half of them and nearly all of them.
fn shares(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)];
    format!("half within {}, 99% within {}", report::duration(at(50)), report::duration(at(99)))
}

/// What happens at the server.
enum Mark {
    /// The first byte of a request came.
    Asked(Instant),
    /// A piece of a reply is about to be written.
    Wrote(Instant),
}

/// A provider that answers every request with so many pieces, and says when.
fn serve(pieces: usize) -> Result<(SocketAddr, Receiver<Mark>)> {
    let listener = TcpListener::bind("127.0.0.1:0").context("cannot listen")?;
    let address = listener.local_addr()?;
    let (marks, seen) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let marks = marks.clone();
            // A client that goes away ends its thread.
            thread::spawn(move || drop(answer(stream, pieces, &marks)));
        }
    });
    Ok((address, seen))
}

fn answer(stream: TcpStream, pieces: usize, marks: &Sender<Mark>) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    loop {
        if reader.fill_buf()?.is_empty() {
            return Ok(());
        }
        marks.send(Mark::Asked(Instant::now()))?;
        reader.read_line(&mut String::new())?;
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.parse()?;
            }
        }
        reader.read_exact(&mut vec![0; length])?;
        stream.write_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
        )?;
        for number in 0..pieces {
            thread::sleep(APART);
            let delta = format!(
                "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\" w{number}.\"}},\"finish_reason\":null}}]}}\n\n"
            );
            marks.send(Mark::Wrote(Instant::now()))?;
            write!(stream, "{:x}\r\n{delta}\r\n", delta.len())?;
        }
        let end = "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
        write!(stream, "{:x}\r\n{end}\r\n0\r\n\r\n", end.len())?;
    }
}

/// How long a request takes to leave, in a session whose connection is there.
fn leaving(folder: &Path, requests: usize) -> Result<Vec<Duration>> {
    let (address, seen) = serve(1)?;
    let config =
        format!("[models.m]\ndialect = \"openai-chat\"\nmodel = \"m\"\nbase_url = \"http://{address}/v1\"\n");
    let model = Models::read(Some(&config))?.find(None, &|_| None)?;
    let workspace = Workspace::new(
        Root::open(folder.join("root"))?,
        Journal::open(folder.join("journal"))?,
        folder.join("outputs"),
    );
    Runtime::new().context("cannot start the runtime")?.block_on(async {
        let session = Session::builder("http", Http::new(model)?, Arc::new(workspace))
            .store(Arc::new(Sqlite::open(folder.join("http.db"))?))
            .open()
            .await?;
        let (mut tail, _) = session.subscribe(Cursor::default()).await?;
        let mut times = Vec::new();
        for number in 0..=requests {
            let said = Instant::now();
            session.say("Hello.").await;
            while !tail.next().await?.iter().any(|stored| matches!(stored.entry.body, Body::End { .. })) {}
            let Mark::Asked(asked) = seen.recv()? else { bail!("a request comes before its reply") };
            ensure!(matches!(seen.recv()?, Mark::Wrote(_)), "a reply has one piece");
            // The first one has to connect.
            if number > 0 {
                times.push(asked - said);
            }
        }
        Ok(times)
    })
}

/// The same with a process of curl, which has to start and to connect.
fn curl_leaving() -> Result<Duration> {
    let (address, seen) = serve(1)?;
    let start = Instant::now();
    let mut curl = curl(address)?;
    let Mark::Asked(asked) = seen.recv()? else { bail!("a request comes before its reply") };
    curl.wait().context("curl cannot be waited for")?;
    Ok(asked - start)
}

fn curl(address: SocketAddr) -> Result<Child> {
    let body = r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"Hello."}]}"#;
    Command::new("curl")
        .args(["-sN", "-H", "content-type: application/json", "-d", body])
        .arg(format!("http://{address}/v1/chat/completions"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start curl")
}

fn reknit(binary: &Path, folder: &Path, address: SocketAddr) -> Result<Child> {
    Command::new(binary)
        .args(["run", "Hello.", "--model", "openai-chat/m"])
        .current_dir(folder.join("root"))
        .env("XDG_STATE_HOME", folder)
        .env("XDG_CONFIG_HOME", folder)
        .env("OPENAI_API_KEY", "none")
        .env("OPENAI_BASE_URL", format!("http://{address}/v1"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("cannot start reknit")
}

/// How long each piece takes from the server to the standard output of a client.
fn shown(start: &mut dyn FnMut(SocketAddr) -> Result<Child>, pieces: usize) -> Result<Vec<Duration>> {
    let (address, seen) = serve(pieces)?;
    let mut client = start(address)?;
    let mut out = client.stdout.take().context("it is on a pipe")?;
    let (mut shown, mut read, mut times) = (Vec::new(), vec![0; 64 * 1024], Vec::new());
    while times.len() < pieces {
        let length = out.read(&mut read)?;
        let now = Instant::now();
        ensure!(length > 0, "the client has ended after {} pieces", times.len());
        shown.extend_from_slice(&read[..length]);
        while let Some(at) = find(&shown, format!("w{}.", times.len()).as_bytes()) {
            shown.drain(..at);
            let wrote = loop {
                match seen.recv()? {
                    Mark::Wrote(wrote) => break wrote,
                    Mark::Asked(_) => {}
                }
            };
            times.push(now - wrote);
        }
    }
    drop(out);
    client.wait().context("the client cannot be waited for")?;
    Ok(times)
}

fn find(bytes: &[u8], word: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, word)
}
