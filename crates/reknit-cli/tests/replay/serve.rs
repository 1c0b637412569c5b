//! `reknit replay --serve`, with a client that is just a socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Stdio};

use crate::program::{CHAT, file, recording, reknit, repository, str, streams};

/// A server with a recording, which ends when the value is dropped.
struct Server {
    child: Child,
    port: u16,
    words: BufReader<ChildStderr>,
}

impl Server {
    fn of(recording: impl AsRef<[u8]>, options: &[&str]) -> Self {
        let path = file("served.rec", recording);
        let mut command = reknit();
        command.args(["replay", "--serve", "0", "--speed", "max", str(&path)]).args(options);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the binary starts");
        let mut words = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut line = String::new();
        words.read_line(&mut line).expect("it says where it listens");
        let port = line.trim().strip_prefix("listening on http://127.0.0.1:").map(str::parse);
        let Some(Ok(port)) = port else { panic!("it says {line}") };
        Self { child, port, words }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).expect("it listens")
    }

    /// Sends bytes and reads the whole response.
    fn send(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        stream.write_all(request).expect("it reads");
        Answer::read(stream)
    }

    fn post(&self, path: &str) -> Answer {
        self.send(&post(path))
    }

    /// Its exit code, once it has exited by itself.
    fn end(mut self) -> (Option<i32>, String) {
        let mut words = String::new();
        self.words.read_to_string(&mut words).expect("it writes UTF-8");
        (self.child.wait().expect("it can be waited for").code(), words)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may already have exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request, the last one of its connection.
fn post(path: &str) -> Vec<u8> {
    post_with(path, "Connection: close\r\n")
}

fn post_with(path: &str, header: &str) -> Vec<u8> {
    let body = "{\"stream\":true}";
    let length = body.len();
    format!("POST {path} HTTP/1.1\r\nHost: x\r\n{header}Content-Length: {length}\r\n\r\n{body}").into_bytes()
}

struct Answer {
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("it ends the connection");
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("there is a head") + 4;
        let body = bytes.split_off(end);
        Self { head: String::from_utf8(bytes).expect("a head is text"), body }
    }

    fn status(&self) -> &str {
        self.head.split(' ').nth(1).expect("there is a status line")
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }

    /// The chunks of the body, and whether the last one arrived.
    fn chunks(&self) -> (Vec<Vec<u8>>, bool) {
        assert!(self.head.contains("\r\nTransfer-Encoding: chunked\r\n"), "{}", self.head);
        let (mut chunks, mut rest) = (Vec::new(), &self.body[..]);
        while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
            let size = std::str::from_utf8(&rest[..end]).expect("a size is text");
            let size = usize::from_str_radix(size, 16).expect("a size is a number");
            if size == 0 {
                assert_eq!(rest, b"0\r\n\r\n");
                return (chunks, true);
            }
            let chunk = &rest[end + 2..end + 2 + size];
            chunks.push(chunk.to_vec());
            rest = &rest[end + 2 + size + 2..];
        }
        assert!(rest.is_empty());
        (chunks, false)
    }
}

#[test]
fn the_chunks_are_the_reads() {
    let server = Server::of(recording(CHAT.as_bytes(), 50), &[]);
    for path in ["/v1/chat/completions", "/chat/completions", "/v1/chat/completions?x=1"] {
        let answer = server.post(path);
        assert!(
            answer.head.contains("\r\nContent-Type: text/event-stream; charset=utf-8\r\n"),
            "{}",
            answer.head
        );
        let expected: Vec<_> = CHAT.as_bytes().chunks(50).map(<[u8]>::to_vec).collect();
        assert_eq!((answer.status(), answer.chunks()), ("200", (expected, true)));
    }
}

#[test]
fn every_stream_is_served_as_it_is() {
    for (name, bytes) in streams() {
        let server = Server::of(recording(&bytes, 33), &["--requests", "2"]);
        // The greeting names the path, and a connection without a request does not count.
        drop(server.connect());
        let greeting = String::from_utf8(server.send(b"GET / HTTP/1.1\r\n\r\n").body).expect("it is text");
        let (_, paths) = greeting.split_once("POST ").expect("it tells the path");
        let path = paths.split([',', '\n']).next().expect("there is one").replace('*', "m");
        let answer = server.post(&path);
        assert_eq!(answer.status(), "200", "{name}");
        assert_eq!(answer.chunks().0.concat(), bytes, "{name}");
        assert_eq!(server.end().0, Some(0), "{name}");
    }
}

#[test]
fn framing_gives_the_content_type() {
    let check = |stream: &str, path: &str, expected: &str| {
        let answer = Server::of(stream, &[]).post(path);
        let line = format!("\r\nContent-Type: {expected}\r\n");
        assert!(answer.head.contains(&line), "{}", answer.head);
    };
    check("{\"a\":1}\n{\"a\":2}\n", "/api/chat", "application/x-ndjson");
    check("[{\"a\":1},\n{\"a\":2}]", "/v1beta/models/m:streamGenerateContent", "application/json");
    check("data: 1\n\n", "/v1/responses", "text/event-stream; charset=utf-8");
}

#[test]
fn a_cut_breaks_the_connection() {
    for at in [0, 1, 120, CHAT.len()] {
        let server = Server::of(recording(CHAT.as_bytes(), 50), &["--cut", &at.to_string()]);
        let answer = server.send(&post_with("/v1/chat/completions", ""));
        assert!(!answer.head.contains("Connection:"), "announced, it would be no fault: {}", answer.head);
        let (chunks, ended) = answer.chunks();
        assert_eq!((chunks.concat(), ended), (CHAT.as_bytes()[..at].to_vec(), false));
    }
}

#[test]
fn several_are_answered_at_once() {
    let server = Server::of(recording(CHAT.as_bytes(), 50), &["--stall", "5@60", "--requests", "2"]);
    let streams = [server.connect(), server.connect()];
    for mut stream in &streams {
        stream.write_all(&post("/v1/chat/completions")).expect("it reads");
    }
    // The second first: it does not wait for the first to be read.
    for stream in streams.into_iter().rev() {
        let (chunks, ended) = Answer::read(stream).chunks();
        assert_eq!((chunks.concat(), ended), (CHAT.as_bytes().to_vec(), true));
        assert!(chunks.iter().any(|chunk| chunk == &CHAT.as_bytes()[50..60]), "the stall is a cut");
    }
    assert_eq!(server.end().0, Some(0));
}

#[test]
fn a_connection_can_be_used_again() {
    let server = Server::of(recording(CHAT.as_bytes(), 50), &["--requests", "3"]);
    let chunked = "POST /chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
                   6;x=y\r\n{\"stre\r\n9\r\nam\":true}\r\n0\r\nTrailer: 1\r\n\r\n";
    let requests = [chunked.as_bytes(), &post_with("/chat/completions", ""), &post("/chat/completions")];
    let mut stream = server.connect();
    // All at once, so that each is read after the previous one.
    stream.write_all(&requests.concat()).expect("it reads");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("it ends the connection");
    drop(stream);
    let answers = String::from_utf8_lossy(&bytes).into_owned();
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 3);
    assert_eq!(answers.matches("[DONE]").count(), 3);
    assert_eq!(answers.matches("Connection: close").count(), 1);
    assert_eq!(server.end().0, Some(0));
}

#[test]
fn a_silent_client_does_not_block_the_others() {
    let server = Server::of(recording(CHAT.as_bytes(), 50), &[]);
    let _silent = server.connect();
    let mut slow = server.connect();
    slow.write_all(&post("/v1/chat/completions")[..20]).expect("it reads");
    assert_eq!(server.post("/v1/chat/completions").status(), "200");
    slow.write_all(&post("/v1/chat/completions")[20..]).expect("it reads");
    assert_eq!(Answer::read(slow).status(), "200");
}

#[test]
fn other_paths_and_methods_are_refused_with_a_reason() {
    let server = Server::of(recording(CHAT.as_bytes(), 50), &[]);
    let not_found = server.post("/v1/embeddings");
    assert_eq!(not_found.status(), "404");
    assert_eq!(not_found.json()["error"]["message"], "`/v1/embeddings` is not a known path");
    assert_eq!(not_found.json()["paths"].as_array().expect("a list").len(), 12);

    let misfit = server.post("/v1/messages");
    assert_eq!(misfit.status(), "409");
    let reason = "the recording is `openai-chat`, but `/v1/messages` is `anthropic`";
    assert_eq!(misfit.json()["error"]["message"], reason);

    let get = server.send(b"GET /v1/chat/completions HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(get.status(), "405");
    assert!(get.head.contains("\r\nAllow: POST\r\n"));

    let root = server.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(root.status(), "200");
    let words = String::from_utf8(root.body).expect("it is text");
    assert!(words.contains("openai-chat") && words.contains("POST /v1/chat/completions\n"), "{words}");
}

#[test]
fn the_header_names_a_dialect_that_the_bytes_do_not_show() {
    let odd = "{\"reknit\":\"recording\",\"version\":1,\"dialect\":\"gemini\"}\n{\"t\":0,\"text\":\"data: 1\\n\\n\"}\n";
    let server = Server::of(odd, &[]);
    assert_eq!(server.post("/v1/messages").status(), "409");
    assert_eq!(server.post("/v1beta/models/m:streamGenerateContent?alt=sse").status(), "200");
    let unknown = Server::of("data: 1\n\n", &[]);
    assert_eq!(unknown.post("/v1/messages").status(), "200");
    assert_eq!(unknown.post("/api/chat").status(), "200");
}

#[test]
fn bodies_are_read_in_every_form() {
    let server = Server::of(recording(CHAT.as_bytes(), 50), &[]);
    let head = "POST /chat/completions HTTP/1.1\r\nConnection: Close\r\n";
    let check = |rest: &str, expected: &str| {
        assert_eq!(server.send(format!("{head}{rest}").as_bytes()).status(), expected, "{rest}");
    };
    check("\r\n", "200");
    check("Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "200");
    check("Transfer-Encoding: chunked\r\n\r\nthree\r\nabc\r\n0\r\n\r\n", "400");
    check("Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFF\r\n", "413");
    check("Transfer-Encoding: gzip\r\n\r\n", "400");
    check("Content-Length: many\r\n\r\n", "400");
    check("Content-Length: 999999999999\r\n\r\n", "413");
    check("Content-Length: 2\r\nExpect: 100-continue\r\n\r\n{}", "100");
}

#[test]
fn an_invalid_request_gets_400() {
    let server = Server::of(recording(CHAT.as_bytes(), 50), &[]);
    assert_eq!(server.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\r\n\r\n").status(), "400");
    assert_eq!(server.send(b"hello\r\n\r\n").status(), "400");
    assert_eq!(server.send(b"GET / HTTP/1.0\r\n\r\n").status(), "505");
    let long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(64 * 1024));
    assert_eq!(server.send(long.as_bytes()).status(), "431");
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "X: 1\r\n".repeat(500));
    assert_eq!(server.send(many.as_bytes()).status(), "400");
    assert_eq!(server.post("/chat/completions").status(), "200", "it still serves");
}

#[test]
fn a_client_that_disconnects_does_no_harm() {
    let big = CHAT.repeat(4_000);
    let server = Server::of(recording(big.as_bytes(), 60_000), &["--requests", "2"]);
    let mut gone = server.connect();
    gone.write_all(&post("/chat/completions")).expect("it reads");
    drop(gone);
    let (chunks, ended) = server.post("/chat/completions").chunks();
    assert_eq!((chunks.concat().len(), ended), (big.len(), true));
    let (code, words) = server.end();
    assert_eq!(code, Some(0));
    assert!(words.contains("POST /chat/completions: 200\n"), "{words}");
}

#[test]
fn a_port_that_is_taken_is_an_error_with_a_hint() {
    let server = Server::of(recording(CHAT.as_bytes(), 50), &[]);
    let path = repository().join("tests/sdk/recordings/anthropic.rec");
    let output = reknit().args(["replay", "--serve", &server.port.to_string(), str(&path)]).output();
    let output = output.expect("the binary starts");
    assert_eq!(output.status.code(), Some(2));
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(words.contains("hint: use another port, or 0 for any free one"), "{words}");
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_with_its_code() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let server = Server::of(recording(CHAT.as_bytes(), 50), &[]);
        let killed =
            std::process::Command::new("kill").args([signal, &server.child.id().to_string()]).status();
        assert!(killed.expect("there is a `kill`").success());
        assert_eq!(server.end().0, Some(code));
    }
}

/// A request with this body.
fn ask(server: &Server, path: &str, body: &str) -> Answer {
    let length = body.len();
    let head = "HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length:";
    server.send(format!("POST {path} {head} {length}\r\n\r\n{body}").as_bytes())
}

#[test]
fn a_request_for_no_stream_gets_the_whole_message() {
    let server = Server::of(recording(CHAT.as_bytes(), 50), &[]);
    let native = crate::program::run_with(CHAT.as_bytes(), &["read", "--as", "native", "--json"]);
    let native: serde_json::Value = serde_json::from_slice(&native.stdout).expect("it is JSON");
    for body in ["", "{}", "{\"stream\":false}", "{\"messages\":[{\"stream\":true}]}"] {
        let answer = ask(&server, "/v1/chat/completions", body);
        assert_eq!(answer.status(), "200");
        assert!(answer.head.contains("\r\nContent-Type: application/json\r\n"), "{}", answer.head);
        assert_eq!(answer.json(), native, "{body}");
    }
    let streamed = ask(&server, "/v1/chat/completions", "{\"messages\":[],\"stream\": true}");
    assert_eq!(streamed.chunks().0.concat(), CHAT.as_bytes());
}

#[test]
fn a_path_of_gemini_says_whether_it_streams() {
    let gemini = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hi\"}],\"role\":\"model\"},\"finishReason\":\"STOP\",\"index\":0}]}\n\n";
    let server = Server::of(gemini, &[]);
    for version in ["v1", "v1beta"] {
        let streamed = ask(&server, &format!("/{version}/models/m:streamGenerateContent?alt=sse"), "{}");
        assert_eq!(streamed.chunks().0.concat(), gemini.as_bytes());
        let whole = ask(&server, &format!("/{version}/models/m:generateContent"), "{}");
        assert_eq!(whole.json()["candidates"][0]["content"]["parts"][0]["text"], "Hi");
    }
}

#[test]
fn ollama_streams_unless_told_not_to() {
    let ollama = "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"Hi\"},\"done\":false}\n\
                  {\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n";
    let server = Server::of(ollama, &[]);
    assert_eq!(ask(&server, "/api/chat", "{\"model\":\"m\"}").chunks().0.concat(), ollama.as_bytes());
    let whole = ask(&server, "/api/chat", "{\"stream\":false}");
    assert_eq!(whole.json()["message"]["content"], "Hi");
}

#[test]
fn half_a_message_is_never_sent_as_a_whole_one() {
    let check = |recorded: &str, options: &[&str], expected: &str| {
        let server = Server::of(recorded, options);
        let mut stream = server.connect();
        stream
            .write_all(b"POST /v1/chat/completions HTTP/1.1\r\nConnection: close\r\n\r\n")
            .expect("it reads");
        let mut bytes = String::new();
        stream.read_to_string(&mut bytes).expect("it ends the connection");
        assert!(bytes.starts_with(expected), "{bytes}");
        assert!(!bytes.contains("Zürich"), "{bytes}");
    };
    check(CHAT, &["--cut", "150"], "");
    check(&CHAT[..200], &[], "");
    let failed = format!(
        "{}data: {{\"error\":{{\"message\":\"out of order\"}}}}\n\n",
        &CHAT[..CHAT.find(": ping").expect("it is there")]
    );
    check(&failed, &[], "HTTP/1.1 500 Internal Server Error\r\n");
}
