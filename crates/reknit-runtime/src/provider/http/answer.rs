//! What an answer that is not a reply says.

use std::borrow::Cow;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reknit::json::Value;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER};

use crate::provider::{Error, ErrorKind};

/// How much of a provider's words is kept.
const LONGEST: usize = 500;

/// Whether the type of an answer is one that replies have. Some servers send none, or a wrong one.
pub(super) fn may_be_a_reply(headers: &HeaderMap) -> bool {
    let kind = media_type(headers);
    kind.is_empty()
        || kind.ends_with("json")
        || ["text/event-stream", "text/plain", "application/octet-stream"].contains(&&*kind)
}

fn media_type(headers: &HeaderMap) -> String {
    let kind = header(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// The provider's name for the exchange.
pub(super) fn request_id(headers: &HeaderMap) -> Option<String> {
    let names = ["request-id", "x-request-id", "x-goog-request-id"];
    names.iter().find_map(|name| header(headers, name)).map(str::to_owned)
}

/// The error that an answer amounts to.
pub(super) fn refused(status: u16, headers: &HeaderMap, body: &str) -> Error {
    let id = request_id(headers);
    let (kind, words) = if (200..300).contains(&status) {
        let kind = media_type(headers);
        (
            ErrorKind::NotAReply,
            format!("the answer is not the reply of a model, but `{kind}`: {}", plain(body)),
        )
    } else if (300..400).contains(&status) {
        let place = header(headers, LOCATION.as_str()).unwrap_or("another address");
        (
            ErrorKind::NotAReply,
            format!("the address has moved to {}", place.split('?').next().unwrap_or(place)),
        )
    } else {
        said(status, headers, body)
    };
    let request = id.as_ref().map_or_else(String::new, |id| format!(", request {id}"));
    let mut error = Error::new(kind, format!("{words} (HTTP {status}{request})"));
    error.status = Some(status);
    error.request_id = id;
    error.retry_after = wait(headers, SystemTime::now()).or_else(|| wait_in_body(body));
    // A quota that is used up does not come back in a minute.
    let has_no_credit = body.contains("insufficient_quota") || body.contains("credit balance");
    let may = header(headers, "x-should-retry") != Some("false");
    error.can_retry = error.can_retry && may && !has_no_credit;
    error
}

/// What the provider says is wrong, and what kind of error that is.
fn said(status: u16, headers: &HeaderMap, body: &str) -> (ErrorKind, String) {
    let of_status = ErrorKind::of_status(status);
    let Ok(value) = body.trim().parse::<Value>() else {
        // A proxy speaks for itself, and mostly in HTML.
        let is_page = media_type(headers) == "text/html";
        let words = match plain(body) {
            words if words.is_empty() => "there is nothing in the answer".to_owned(),
            words if is_page => format!("a page instead of an answer: {words}"),
            words => words,
        };
        return (of_status, words);
    };
    // Gemini wraps its errors in a list.
    let value = value.as_array().and_then(|list| list.iter().next()).cloned().unwrap_or(value);
    let text = |pointer: &str| value.pointer(pointer)?.as_str().map(Cow::into_owned);
    let message =
        ["/error/message", "/error", "/message", "/detail"].iter().find_map(|pointer| text(pointer));
    let message = message.unwrap_or_else(|| body.trim().to_owned());
    let word = ["/error/code", "/error/status", "/error/type"].iter().find_map(|pointer| text(pointer));
    let kind = match of_status {
        // The status of a wrong request says nothing more, the words do.
        ErrorKind::RequestRefused => {
            let all = format!("{} {message}", word.clone().unwrap_or_default());
            ErrorKind::of_word(&all).unwrap_or(of_status)
        }
        kind => kind,
    };
    let word = word.map_or_else(String::new, |word| format!("{word}: "));
    (kind, format!("{word}{}", short(&message)))
}

/// The words of a page or another text: its title, or its beginning.
fn plain(body: &str) -> String {
    let lower = body.to_ascii_lowercase();
    let title = lower.find("<title>").map(|at| at + "<title>".len());
    let title = title.and_then(|at| Some(&body[at..at + lower[at..].find("</title>")?]));
    let text = title.map_or_else(|| without_tags(body), str::to_owned);
    short(text.split_whitespace().collect::<Vec<_>>().join(" ").as_str())
}

fn without_tags(body: &str) -> String {
    let mut text = String::new();
    let mut in_tag = false;
    for c in body.chars().take(8 * LONGEST) {
        match c {
            '<' => in_tag = true,
            '>' if in_tag => {
                in_tag = false;
                text.push(' ');
            }
            c if !in_tag => text.push(c),
            _ => {}
        }
    }
    text
}

fn short(words: &str) -> String {
    match words.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words.to_owned(),
    }
}

/// How long the headers ask to wait.
fn wait(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let millis = header(headers, "retry-after-ms").and_then(|text| text.trim().parse::<f64>().ok());
    if let Some(wait) = millis.and_then(|millis| Duration::try_from_secs_f64(millis / 1000.0).ok()) {
        return Some(wait);
    }
    let text = header(headers, RETRY_AFTER.as_str())?.trim();
    match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => Some(date(text)?.duration_since(now).unwrap_or_default()),
    }
}

/// A date such as `Wed, 21 Oct 2026 07:28:00 GMT`.
fn date(text: &str) -> Option<SystemTime> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = text.split_once(", ")?.1.split(' ');
    let day: u64 = words.next()?.parse().ok()?;
    let month = words.next().and_then(|name| MONTHS.iter().position(|month| *month == name))?;
    let year: u64 = words.next()?.parse().ok()?;
    let mut time = words.next()?.split(':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (time.next()??, time.next()??, time.next()??);
    // Counted from March, so that the day of a leap year is the last one.
    let (year, month) =
        if month < 2 { (year.checked_sub(1)?, month as u64 + 10) } else { (year, month as u64 - 2) };
    let days =
        year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day.checked_sub(1)?;
    let days = days.checked_sub(719_468)?;
    UNIX_EPOCH.checked_add(Duration::from_secs(((days * 24 + hour) * 60 + minute) * 60 + second))
}

/// Gemini says in its error how long to wait: `"retryDelay": "31s"`.
fn wait_in_body(body: &str) -> Option<Duration> {
    let rest = &body[body.find("\"retryDelay\"")? + "\"retryDelay\"".len()..];
    let seconds = rest.trim_start_matches([':', ' ', '"']).split('s').next()?;
    Duration::try_from_secs_f64(seconds.parse().ok()?).ok()
}

#[cfg(test)]
mod tests;
