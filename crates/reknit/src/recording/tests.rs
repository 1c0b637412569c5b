//! Recordings are written and read back, for any bytes and any cuts, and never contain secrets.

use crate::diagnostic::Hint;
use proptest::prelude::*;
use serde_json::json;

use super::error::{Error, Fault};
use super::secrets::REMOVED;
use super::{Detected, Header, Read, Reader, detect};
use crate::diagnostic::Place;
use crate::json::{Object, Value};
use crate::{Diagnostic, Limits};

const HEADER: &str = "{\"reknit\":\"recording\",\"version\":1}\n";

type Outcome = (Option<Header>, Vec<Read>, Option<Diagnostic>, Option<Error>);

/// Feeds the pieces, taking all reads after each.
fn read_pieces<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    read_limited(pieces, &Limits::default())
}

fn read_limited<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, limits: &Limits) -> Outcome {
    let mut reader = Reader::new(limits);
    let (mut reads, mut error) = (Vec::new(), None);
    let mut take_all = |reader: &mut Reader| loop {
        match reader.next_read() {
            Ok(Some(read)) => reads.push(read),
            Ok(None) => break,
            Err(found) => error = Some(found),
        }
    };
    for piece in pieces {
        reader.push(piece);
        take_all(&mut reader);
    }
    reader.finish();
    take_all(&mut reader);
    (reader.header().cloned(), reads, reader.next_diagnostic(), error)
}

fn read_whole(recording: &str) -> Outcome {
    read_pieces([recording.as_bytes()])
}

/// The error of a recording with a good header and this second line.
fn check(line: &str, expected: &str) {
    let outcome = read_whole(&format!("{HEADER}{line}\n{{\"t\":1,\"text\":\"after\"}}\n"));
    let error = outcome.3.expect("the line is wrong");
    assert_eq!((error.to_string(), outcome.1), (expected.to_owned(), Vec::new()), "{line}");
    assert!(!error.hint().is_empty());
}

#[test]
fn exchanges_follow_each_other_however_they_are_cut() {
    let header = |number: u64| {
        let mut header = Header::new(json!({"number": number}).into());
        header.dialect = Some("anthropic".to_owned());
        header.with_response(json!({"status": 200, "api_key": "abc"}).into())
    };
    let reads = [Read::new(0, "one"), Read::failed(7, "reset"), Read::new(1, "two")];
    // Nothing came of the second one.
    let recording = [
        header(1).to_line(),
        reads[0].to_line(),
        reads[1].to_line(),
        header(2).to_line(),
        header(3).to_line(),
        reads[2].to_line(),
    ]
    .concat();
    let whole = read_whole(&recording);
    assert_eq!((&whole.0, &*whole.1), (&Some(header(3)), &reads[..]));
    assert_eq!(whole.0.unwrap().response().unwrap().get("api_key"), Some(&REMOVED.into()));
    assert_eq!(whole.1[1].error(), Some(&"reset".into()));
    let bytes = read_pieces(recording.as_bytes().chunks(1));
    assert_eq!((bytes.1, bytes.2, bytes.3), (reads.to_vec(), None, None));
    let cut = read_whole(&format!("{recording}{}", &header(4).to_line()[..40]));
    assert_eq!((cut.0, cut.1.len(), cut.2.is_some()), (Some(header(3)), 3, true));
}

#[test]
fn a_line_that_is_wrong_is_named() {
    check("{\"t\":1", "line 2: not JSON: the value is cut at byte 6 of the line");
    check("[]", "line 2: not a read: it is not an object");
    check("{\"text\":\"a\"}", "line 2: not a read: `t` is not a whole number of milliseconds");
    check("{\"t\":1.5,\"text\":\"a\"}", "line 2: not a read: `t` is not a whole number of milliseconds");
    check("{\"t\":-1,\"text\":\"a\"}", "line 2: not a read: `t` is not a whole number of milliseconds");
    check("{\"t\":1}", "line 2: not a read: it has neither `text` nor `bytes`");
    check("{\"t\":1,\"text\":\"a\",\"bytes\":\"\"}", "line 2: not a read: it has both `text` and `bytes`");
    check("{\"t\":1,\"text\":7}", "line 2: not a read: `text` is not a string");
    check("{\"t\":1,\"bytes\":7}", "line 2: not a read: `bytes` is not a string");
    check("{\"t\":1,\"bytes\":\"a?\"}", "line 2: not a read: `bytes` is not base64");
    check("{\"t\":1,\"text\":\"\\ud800\"}", "line 2: not JSON: lone surrogate 0xd800 at byte 21 of the line");
}

#[test]
fn a_header_that_is_wrong_is_named() {
    let check = |input: &str, fault: Fault| {
        assert_eq!(read_whole(input).3, Some(Error { fault, line: 1 }), "{input}");
    };
    check("", Fault::NoHeader);
    check("\n \n", Fault::NoHeader);
    check("{\"t\":1,\"text\":\"a\"}\n", Fault::NoHeader);
    check(
        "{\"reknit\":\"recording\"",
        Fault::NotJson { error: "{\"reknit\":\"recording\"".parse::<Value>().expect_err("it is cut") },
    );
    let version = |found: &str| Fault::UnknownVersion { found: found.to_owned() };
    check("{\"reknit\":\"recording\",\"version\":99}\n", version("99"));
    check("{\"reknit\":\"recording\"}\n", version("null"));
    let dialect = Fault::MalformedHeader { member: "dialect" };
    check("{\"reknit\":\"recording\",\"version\":1,\"dialect\":3}\n", dialect);
    let below_a_blank_line = read_whole("\n{\"reknit\":\"recording\"}\n").3;
    assert_eq!(below_a_blank_line, Some(Error { fault: version("null"), line: 2 }));
}

#[test]
fn what_is_not_known_is_kept() {
    let header = "{\"reknit\":\"recording\",\"version\":1,\"dialect\":\"morse\",\"note\":{\"n\":1.10}}\n";
    let line = "{\"t\":3,\"text\":\"a\",\"from\":\"proxy\"}\n";
    let (found, reads, problem, error) = read_whole(&format!("{header}\r\n{line}"));
    assert_eq!((problem, error), (None, None));
    assert_eq!(found.expect("there is one").to_line(), header);
    assert_eq!(reads.iter().map(Read::to_line).collect::<String>(), line);
}

#[test]
fn a_last_line_that_is_cut_loses_nothing_but_itself() {
    let whole = format!("{HEADER}{}{}", Read::new(0, "é").to_line(), Read::new(9, "größer").to_line());
    let last = whole.trim_end().rfind('\n').expect("there are three lines") + 1;
    for end in last + 1..whole.len() - 1 {
        let (_, reads, problem, error) = read_pieces([&whole.as_bytes()[..end]]);
        assert_eq!((reads.len(), error), (1, None), "{end}");
        let problem = problem.expect("the line is cut");
        assert_eq!(problem.place(), Some(Place { at: last as u64, frame: 2 }));
        let dropped = end - last;
        let words = format!("line 3: the recording ended inside the line: {dropped} bytes dropped");
        assert_eq!(problem.message, words);
    }
    let (_, reads, problem, error) = read_whole(whole.trim_end());
    assert_eq!((reads.len(), problem, error), (2, None, None), "only the line end is missing");
}

#[test]
fn a_line_may_be_as_long_as_the_limit() {
    let line = Read::new(0, "x".repeat(100)).to_line();
    for (frame_bytes, expected) in
        [(line.len() - 1, None), (line.len() - 2, Some(Fault::TooLong { limit: line.len() - 2 }))]
    {
        let expected = expected.map(|fault| Error { fault, line: 2 });
        let limits = Limits { frame_bytes, ..Limits::default() };
        let recording = format!("{HEADER}{line}");
        assert_eq!(read_limited([recording.as_bytes()], &limits).3, expected);
        assert_eq!(read_limited(recording.as_bytes().chunks(1), &limits).3, expected);
    }
}

#[test]
fn a_recording_is_detected_by_its_first_bytes() {
    let header = Header::default().to_line();
    let decided = "{\"reknit\":\"recording\"".len();
    for end in 0..header.len() {
        let expected = if end < decided { Detected::Undecided } else { Detected::Recording };
        assert_eq!(detect(&header.as_bytes()[..end]), expected, "{end}");
    }
    assert_eq!(detect(b" {\t\"reknit\" : \r\n\"recording\""), Detected::Recording);
    assert_eq!(detect(b"{\"reknit\":\"other\""), Detected::Other);
    assert_eq!(detect(b"{\"id\":"), Detected::Other);
    assert_eq!(detect(&[b' '; 255]), Detected::Undecided);
    assert_eq!(detect(&[b' '; 256]), Detected::Other);
}

/// Long enough not to occur anywhere by chance.
const SECRET: &str = "sk-smuggled-4711";

fn with_header(name: &str, value: &str) -> Value {
    json!({"headers": [[name, value]]}).into()
}

fn with_url(url: &str) -> Value {
    json!({"url": url}).into()
}

fn with_body(body: &str) -> Value {
    let body: Value = body.parse().expect("the test writes JSON");
    Object::from_iter([("body", body)]).into()
}

#[test]
fn no_secret_is_written() {
    let header_names = [
        "authorization",
        "Authorization",
        "x-api-key",
        "X-Api-Key",
        "api-key",
        "x-goog-api-key",
        "cookie",
        "Set-Cookie",
        "Proxy-Authorization",
        "x-auth-token",
        "openai-secret-thing",
        "X-MyKey",
        "mcp-session-id",
    ];
    let member_names = [
        "key",
        "api_key",
        "access_token",
        "apiKey",
        "APIKey",
        "API_KEY",
        "accessToken",
        "authorization",
        "authorization_token",
        "x-api-key",
        "api-key",
        "x-goog-api-key",
        "cookie",
        "set-cookie",
        "proxy-authorization",
        "token",
        "client_secret",
        "password",
        "apikey",
    ];
    let mut requests = Vec::new();
    requests.extend(header_names.map(|name| with_header(name, SECRET)));
    requests.extend([
        with_header("referer", &format!("https://a.example/?key={SECRET}")),
        with_url(&format!("https://user:{SECRET}@a.example/x")),
        with_url(&format!("https://a.example/x?to=https://user:{SECRET}@b.example/y")),
        with_url(&format!("https://a.example/x?to=https%3A%2F%2Fuser%3A{SECRET}%40b.example%2Fy&a=1")),
        with_url(&format!("https://a.example/x?to=https%3A//user:{SECRET}@b.example/y")),
        with_url(&format!("https://a.example/https%3A%2F%2Fuser%3A{SECRET}%40b.example")),
        with_url(&format!("https://a.example/x?to=https%3A%2F%2Fb.example%3Fkey%3D{SECRET}%26a%3D1")),
        with_url(&format!("https://a.example/x?to=https%253A%252F%252Fuser%253A{SECRET}%2540b.example")),
        with_body(&format!(r#"{{"callback":"https%3A%2F%2Fuser%3A{SECRET}%40b.example"}}"#)),
        with_url(&format!("https://a.example/x?a=b c&key={SECRET}")),
        with_url(&format!("https://a.example/x?a=1&%6Bey={SECRET}&b=2")),
        with_url(&format!("https://a.example/x?X-Amz-Signature={SECRET}")),
        with_url(&format!("https://a.example/x#access_token={SECRET}")),
    ]);
    for name in member_names {
        requests.extend([
            with_url(&format!("https://a.example/x?{name}={SECRET}")),
            with_body(&format!(r#"{{"{name}":"{SECRET}"}}"#)),
            with_body(&format!(r#"{{"{name}":["{SECRET}"]}}"#)),
            with_body(&format!(r#"{{"tools":[{{"type":"mcp","deep":{{"{name}":{{"a":"{SECRET}"}}}}}}]}}"#)),
            with_body(&format!(r#"{{"arguments":"{{\"{name}\":\"{SECRET}\"}}"}}"#)),
            with_body(&format!(r#"{{"server":"https://a.example/sse?{name}={SECRET}"}}"#)),
            with_body(&format!(r#""{name}={SECRET}&b=2""#)),
        ]);
    }
    for name in header_names {
        requests.extend([
            with_body(&format!(r#"{{"tools":[{{"headers":{{"{name}":"{SECRET}"}}}}]}}"#)),
            with_body(&format!(r#"{{"headers":[["{name}","{SECRET}"]]}}"#)),
        ]);
    }
    for request in requests {
        let shown = format!("{request:?}");
        let line = Header::new(request).to_line();
        assert!(!line.contains(SECRET), "{shown} wrote {line}");
        assert!(line.contains(REMOVED), "{shown} wrote {line}");
        // A recording that was written with secrets is cleaned when it is read.
        let careless = line.replace(REMOVED, SECRET);
        let header = read_whole(&careless).0.expect("it is a header");
        assert_eq!(header.to_line(), line);
    }
}

#[test]
fn a_credential_is_known_by_its_scheme() {
    let line = Header::new(with_header("x-plain", &format!(" bearer {SECRET}"))).to_line();
    assert!(line.contains(r#"["x-plain","[removed]"]"#), "{line}");
}

#[test]
fn what_is_encoded_over_and_over_is_removed_unread() {
    for url in [format!("x?to=%{}40{SECRET}", "25".repeat(9)), format!("x?to=%{}", "25".repeat(100_000))] {
        let line = Header::new(with_url(&url)).to_line();
        assert!(line.contains(r#""url":"x?to=[removed]""#), "{}", &line[..line.len().min(200)]);
    }
}

#[test]
fn json_that_is_too_deep_to_be_checked_is_removed() {
    let (open, close) = ("[".repeat(200), "]".repeat(200));
    let deep = format!(r#"{open}{{"key":"{SECRET}"}}{close}"#);
    let body = Value::from([("arguments", deep)].into_iter().collect::<Object>());
    let line = Header::new(Object::from_iter([("body", body)]).into()).to_line();
    assert!(line.contains(r#""arguments":"[removed]""#), "{line}");
}

#[test]
fn json_that_is_cut_or_wrong_is_removed_if_a_secret_is_in_it() {
    let arguments = |text: &str| {
        let body = Value::from([("arguments", text)].into_iter().collect::<Object>());
        Header::new(Object::from_iter([("body", body)]).into()).to_line()
    };
    for end in ["", r#"",}"#, r#"","city":"Pa"#] {
        let line = arguments(&format!(r#"{{"api_key":"{SECRET}{end}"#));
        assert!(line.contains(r#""arguments":"[removed]""#), "{line}");
    }
    let line = arguments(r#"{"city":"Pa"#);
    assert!(line.contains("Pa"), "{line}");
}

#[test]
fn what_is_not_secret_is_kept() {
    let body = concat!(
        r#"{"max_tokens":9,"stream":true,"key":null,"thinking":{"budget_tokens":5},"#,
        r#""messages":[{"role":"user","content":"set key=value, mail a@b.example"},"#,
        r#"{"type":"thinking","signature":"c2ln"},{"arguments":"{ \"city\": \"Paris\" }"}],"#,
        r#""image":"https://a.example/cat.png?size=4","keywords":["k"],"share":"50%","#,
        r#""back":"https://a.example/?to=https%3A%2F%2Fb.example%2F%3Fq%3D%2525+x"}"#
    );
    let request = format!(
        "{{\"method\":\"POST\",\"url\":\"https://a.example/v1/messages?beta=true\",\
         \"headers\":[[\"anthropic-version\",\"2023-06-01\"]],\"body\":{body}}}"
    );
    let header = Header::new(request.parse().expect("the test writes JSON"));
    assert_eq!(header.request().expect("it was given").to_string(), request);
}

fn reads() -> impl Strategy<Value = Vec<Read>> {
    let bytes =
        prop_oneof![prop::collection::vec(any::<u8>(), 0..40), any::<String>().prop_map(String::into_bytes),];
    prop::collection::vec((any::<u64>(), bytes).prop_map(|(at, bytes)| Read::new(at, bytes)), 0..8)
}

proptest! {
    #[test]
    fn any_reads_come_back_from_any_cut(
        reads in reads(),
        dialect in prop::option::of(any::<String>()),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        end in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut header = Header::default();
        header.dialect = dialect;
        let recording = header.to_line() + &reads.iter().map(Read::to_line).collect::<String>();
        let whole = read_whole(&recording);
        prop_assert_eq!(&whole, &(Some(header), reads, None, None));

        // Also when the end is missing: what is wrong is the same for every cut.
        let input = &recording.as_bytes()[..end.map_or(recording.len(), |end| end.index(recording.len()))];
        let mut places: Vec<_> = cuts.iter().map(|cut| cut.index(input.len() + 1)).collect();
        places.sort_unstable();
        let mut pieces = Vec::new();
        let mut start = 0;
        for place in places {
            pieces.push(&input[start..place]);
            start = place;
        }
        pieces.push(&input[start..]);
        prop_assert_eq!(read_pieces(pieces), read_pieces([input]));
        prop_assert_eq!(read_pieces(input.chunks(1)), read_pieces([input]));
    }
}
