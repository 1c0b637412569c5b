//! [`Request`]: a file that is to be read, and which of its lines.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use reknit::json::{Object, Value};

use crate::tool::Failure;
use crate::tools::arguments;

/// How many lines are shown unless the model asks for others.
const LINES: u64 = 2_000;

/// A file that is to be read.
#[derive(Debug, PartialEq)]
pub(super) struct Request {
    pub(super) path: String,
    /// Its lines, counted from 1: in order, not empty, and not overlapping.
    pub(super) ranges: Vec<RangeInclusive<u64>>,
}

impl Request {
    fn new(path: String, mut ranges: Vec<RangeInclusive<u64>>) -> Self {
        if ranges.is_empty() {
            ranges.push(1..=LINES);
        }
        ranges.sort_by_key(|range| *range.start());
        let mut joined: Vec<RangeInclusive<u64>> = Vec::new();
        for range in ranges {
            match joined.last_mut() {
                Some(last) if *range.start() <= last.end().saturating_add(1) => {
                    *last = *last.start()..=*last.end().max(range.end());
                }
                _ => joined.push(range),
            }
        }
        Self { path, ranges: joined }
    }
}

/// The files that a call asks for.
pub(super) fn read(args: &Object) -> Result<Vec<Request>, Failure> {
    let mut requests = Vec::new();
    if let Some(path) = arguments::text(args, "path") {
        let offset = arguments::number(args, "offset")?.unwrap_or(1).max(1);
        let limit = arguments::number(args, "limit")?.unwrap_or(LINES).max(1);
        requests.push(Request::new(path, vec![offset..=offset.saturating_add(limit - 1)]));
    }
    match args.get("files") {
        None | Some(Value::Null) => {}
        Some(Value::Array(files)) => {
            for file in files {
                requests.push(from_json(file)?);
            }
        }
        Some(_) => return Err(wrong("files", "a list of objects with a 'path'")),
    }
    if let Some(files) = arguments::text(args, "args") {
        requests.extend(in_tags(&files)?);
    }
    if requests.is_empty() { Err(Failure::missing("path")) } else { Ok(requests) }
}

fn from_json(file: &Value) -> Result<Request, Failure> {
    let path = match file.as_object() {
        Some(object) => arguments::text(object, "path"),
        None => file.as_str().map(Cow::into_owned),
    };
    let path = path.ok_or_else(|| wrong("files", "a list of objects with a 'path'"))?;
    let ranges = match file.get("line_ranges") {
        None | Some(Value::Null) => Vec::new(),
        Some(ranges) => {
            let pairs = ranges.as_array().map(|ranges| ranges.iter().map(pair).collect::<Option<Vec<_>>>());
            pairs
                .flatten()
                .ok_or_else(|| wrong("files", "each of 'line_ranges' as a first and a last line"))?
        }
    };
    Ok(Request::new(path, ranges))
}

fn pair(range: &Value) -> Option<RangeInclusive<u64>> {
    match &range.as_array()?[..] {
        [first, last] => valid(first.as_u64()?, last.as_u64()?),
        _ => None,
    }
}

/// `<file><path>a.rs</path><line_range>1-50</line_range></file>` for each.
fn in_tags(files: &str) -> Result<Vec<Request>, Failure> {
    let mut requests = Vec::new();
    for file in files.split("<file>").skip(1) {
        let path = elements(file, "path").next().ok_or_else(|| wrong("args", "a <path> in each <file>"))?;
        let ranges = elements(file, "line_range").map(|range| {
            let (first, last) = range.split_once('-')?;
            valid(first.trim().parse().ok()?, last.trim().parse().ok()?)
        });
        let ranges: Option<Vec<_>> = ranges.collect();
        let ranges = ranges.ok_or_else(|| wrong("args", "a <line_range> such as 1-50"))?;
        requests.push(Request::new(path.to_owned(), ranges));
    }
    if requests.is_empty() { Err(wrong("args", "a <file> for each file")) } else { Ok(requests) }
}

fn elements<'a>(text: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once(&open)?;
        let (inside, after) = after.split_once(&close)?;
        rest = after;
        Some(inside.trim())
    })
}

fn valid(first: u64, last: u64) -> Option<RangeInclusive<u64>> {
    (first <= last && last > 0).then(|| first.max(1)..=last)
}

fn wrong(param: &str, expected: &str) -> Failure {
    Failure::mistake(format!(
        "Invalid value for parameter '{param}': expected {expected}. Please retry with a corrected value."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(args: &str) -> Result<Vec<Request>, String> {
        let args = Value::parse(args, 16).expect("it is JSON");
        read(args.as_object().expect("it is an object")).map_err(|failure| failure.message)
    }

    fn request(path: &str, ranges: &[RangeInclusive<u64>]) -> Request {
        Request { path: path.to_owned(), ranges: ranges.to_vec() }
    }

    #[test]
    fn files_can_be_named_in_three_ways() {
        let expected = vec![request("a", &[3..=7]), request("b", &[1..=2000])];
        assert_eq!(requests(r#"{"path": "a", "offset": 3, "limit": 5}"#).unwrap(), expected[..1]);
        let json = r#"{"files": [{"path": "a", "line_ranges": [[3, 7]]}, {"path": "b"}]}"#;
        assert_eq!(requests(json).unwrap(), expected);
        let tags = r#"{"args": "<file><path>a</path><line_range>3-7</line_range></file>\n<file>\n<path> b </path></file>"}"#;
        assert_eq!(requests(tags).unwrap(), expected);
    }

    #[test]
    fn ranges_are_put_in_order_and_joined() {
        let args =
            r#"{"files": [{"path": "a", "line_ranges": [[9, 12], [1, 3], [4, 4], [2, 2], [10, 20]]}]}"#;
        assert_eq!(requests(args).unwrap(), [request("a", &[1..=4, 9..=20])]);
    }

    #[test]
    fn what_cannot_be_read_is_explained() {
        let missing = "Missing value for required parameter 'path'. Please retry with complete response.";
        assert_eq!(requests("{}").unwrap_err(), missing);
        for args in [
            r#"{"files": "a"}"#,
            r#"{"files": [{}]}"#,
            r#"{"files": [{"path": "a", "line_ranges": [[5, 1]]}]}"#,
            r#"{"files": [{"path": "a", "line_ranges": [[5]]}]}"#,
            r#"{"args": "a.rs"}"#,
            r#"{"args": "<file>a.rs</file>"}"#,
            r#"{"args": "<file><path>a</path><line_range>5</line_range></file>"}"#,
        ] {
            let error = requests(args).unwrap_err();
            assert!(error.starts_with("Invalid value for parameter"), "{args}: {error}");
        }
    }
}
