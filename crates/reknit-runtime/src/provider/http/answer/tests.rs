use reqwest::header::{HeaderName, HeaderValue};

use super::*;

fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    pairs
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
        .collect()
}

fn check(
    status: u16,
    pairs: &[(&'static str, &'static str)],
    body: &str,
    kind: ErrorKind,
    message: &str,
) -> Error {
    let error = refused(status, &headers(pairs), body);
    assert_eq!((error.kind, &*error.message), (kind, message), "{body}");
    error
}

#[test]
fn each_provider_has_its_own_words() {
    let anthropic = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let said = "overloaded_error: Overloaded (HTTP 529, request req_1)";
    let error = check(529, &[("request-id", "req_1")], anthropic, ErrorKind::Overloaded, said);
    assert!(error.can_retry);
    let long = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}"#;
    let said = "invalid_request_error: prompt is too long: 9 tokens > 8 maximum (HTTP 400)";
    check(400, &[], long, ErrorKind::TooLong, said);
    let openai = r#"{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#;
    let said = "invalid_api_key: Incorrect API key provided (HTTP 401, request r)";
    let error = check(401, &[("x-request-id", "r")], openai, ErrorKind::KeyRefused, said);
    assert!(!error.can_retry);
    let quota = r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#;
    let said = "insufficient_quota: You exceeded your current quota (HTTP 429)";
    assert!(!check(429, &[], quota, ErrorKind::RateLimited, said).can_retry);
    let gemini = r#"[{"error":{"code":429,"message":"Slow down","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay": "31s"}]}}]"#;
    let error = check(429, &[], gemini, ErrorKind::RateLimited, "RESOURCE_EXHAUSTED: Slow down (HTTP 429)");
    assert_eq!(error.retry_after, Some(Duration::from_secs(31)));
    let ollama = r#"{"error":"model 'x' not found"}"#;
    check(404, &[], ollama, ErrorKind::NotFound, "model 'x' not found (HTTP 404)");
    let gemini =
        r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[]}}"#;
    check(400, &[], gemini, ErrorKind::KeyRefused, "INVALID_ARGUMENT: API key not valid. (HTTP 400)");
}

#[test]
fn a_page_is_not_an_answer() {
    let html = [("content-type", "text/html; charset=utf-8")];
    let page = "<html><head><title>Sign in to\n the network</title></head><body>…</body></html>";
    let said = "the answer is not the reply of a model, but `text/html`: Sign in to the network (HTTP 200)";
    check(200, &html, page, ErrorKind::NotAReply, said);
    assert!(!may_be_a_reply(&headers(&html)));
    let page = "<html><body><h1>502 Bad Gateway</h1><hr>nginx</body></html>";
    let said = "a page instead of an answer: 502 Bad Gateway nginx (HTTP 502)";
    assert!(check(502, &html, page, ErrorKind::ProviderFailed, said).can_retry);
    check(503, &[], "", ErrorKind::Overloaded, "there is nothing in the answer (HTTP 503)");
    let moved = [("location", "https://elsewhere.example/v1?key=abc")];
    let said = "the address has moved to https://elsewhere.example/v1 (HTTP 307)";
    check(307, &moved, "", ErrorKind::NotAReply, said);
    for kind in
        ["", "text/event-stream", "application/json; charset=utf-8", "application/x-ndjson", "text/plain"]
    {
        let mut map = HeaderMap::new();
        map.insert(CONTENT_TYPE, HeaderValue::from_str(kind).unwrap());
        assert!(may_be_a_reply(&map), "{kind}");
    }
}

#[test]
fn how_long_to_wait_has_several_forms() {
    let now = UNIX_EPOCH + Duration::from_secs(1_792_481_280);
    let wait = |pairs: &[(&'static str, &'static str)]| wait(&headers(pairs), now);
    assert_eq!(wait(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
    assert_eq!(wait(&[("retry-after", "1.5")]), Some(Duration::from_millis(1500)));
    assert_eq!(wait(&[("retry-after-ms", "250"), ("retry-after", "7")]), Some(Duration::from_millis(250)));
    let date = [("retry-after", "Tue, 20 Oct 2026 07:29:00 GMT")];
    assert_eq!(super::date("Thu, 01 Jan 1970 00:00:01 GMT"), Some(UNIX_EPOCH + Duration::from_secs(1)));
    assert_eq!(
        super::date("Thu, 29 Feb 2024 12:00:00 GMT"),
        Some(UNIX_EPOCH + Duration::from_secs(1_709_208_000))
    );
    let expected = super::date(date[0].1).unwrap().duration_since(now).unwrap();
    assert_eq!(wait(&date), Some(expected));
    assert_eq!(wait(&[("retry-after", "Tue, 20 Oct 2020 07:29:00 GMT")]), Some(Duration::ZERO), "it is over");
    assert_eq!(wait(&[("retry-after", "soon")]), None);
    assert_eq!(wait(&[("retry-after", "-1")]), None);
    assert!(!refused(500, &headers(&[("x-should-retry", "false")]), "").can_retry);
}
