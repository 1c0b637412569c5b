//! The expected spans of calls in text agree with the expected blocks: what is called a text or a value is one.

use std::ops::Range;

use serde_json::Value;

use super::{Problem, Tree, numbered};

/// These profiles read values again or rewrite them as JSON, so the values are not in the text.
const OTHER_VALUES: [&str; 4] = ["cline-v2", "roo-v1", "gemma4", "pythonic"];

const FIX: &str = "label it as what it is";

/// A line of `spans.txt`.
struct Span<'a> {
    line: usize,
    range: Range<usize>,
    kind: &'a str,
    block: Option<usize>,
}

/// Checks every case in `corpus/tags`.
pub(super) fn agree(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, spans) in tree.with_ends(&["/spans.txt"]).filter(|(path, _)| path.starts_with("corpus/tags/"))
    {
        let folder = path.trim_end_matches("/spans.txt");
        let input = tree.text(&format!("{folder}/input.txt"));
        let blocks = tree.text(&format!("{folder}/blocks.json"));
        let blocks = blocks.and_then(|blocks| serde_json::from_str::<Value>(blocks).ok());
        // That a file is missing is reported with all other files.
        let (Some(input), Some(blocks)) = (input, blocks) else { continue };
        let note = |line: usize, what: String| Problem::new(path, line, what, FIX);
        match parse(spans) {
            Ok(spans) => problems.extend(check(folder, input, &spans, &blocks, note)),
            Err(line) => problems.push(note(line, "not `FROM..TO KIND`".to_owned())),
        }
    }
    problems
}

/// The spans, or the number of the first line that is not one.
fn parse(spans: &str) -> Result<Vec<Span<'_>>, usize> {
    let span = |(line, text): (usize, _)| {
        let text: &str = text;
        let (range, kind) = text.split_once(' ').ok_or(line)?;
        let (start, end) = range.split_once("..").ok_or(line)?;
        let range = start.parse().map_err(|_| line)?..end.parse().map_err(|_| line)?;
        let (kind, block) = match kind.split_once(" of ") {
            Some((kind, block)) => (kind, Some(block.parse().map_err(|_| line)?)),
            None => (kind, None),
        };
        Ok(Span { line, range, kind, block })
    };
    numbered(spans).map(span).collect()
}

fn check(
    folder: &str,
    input: &str,
    spans: &[Span<'_>],
    found: &Value,
    note: impl Fn(usize, String) -> Problem,
) -> Vec<Problem> {
    let profile = folder.split('/').nth(2).unwrap_or_default();
    let blocks = found["blocks"].as_array().map_or(&[][..], Vec::as_slice);
    // A profile may put text before the input, which is then the start of the first block.
    let end = spans.last().map_or(0, |span| span.range.end);
    let before = blocks.first().and_then(|block| block["text"].as_str()).unwrap_or_default();
    let before = before.get(..end.saturating_sub(input.len())).unwrap_or_default();
    let text = [before, input].concat();
    let mut problems = Vec::new();
    let mut from = 0;
    for span in spans {
        if span.range.start != from || text.get(span.range.clone()).is_none_or(str::is_empty) {
            problems.push(note(span.line, format!("{:?} does not follow {from}", span.range)));
            return problems;
        }
        from = span.range.end;
        let Some(number) = span.block else { continue };
        let said = &text[span.range.clone()];
        let block = blocks.get(number).unwrap_or(&Value::Null);
        let fits = match span.kind {
            "value" if OTHER_VALUES.contains(&profile) => block["type"] == "tool_call",
            "value" => is_value(said, block, found),
            kind => block["type"] == kind && block["text"].as_str().is_some_and(|text| text.contains(said)),
        };
        if !fits {
            problems.push(note(span.line, format!("`{said}` is not a {} of block {number}", span.kind)));
        }
    }
    if from != text.len() {
        problems.push(note(spans.len(), format!("nothing says what {from}..{} is", text.len())));
    }
    problems
}

/// Whether `said` is a value of a call, or all of its arguments.
fn is_value(said: &str, block: &Value, found: &Value) -> bool {
    let params = &block["params"];
    let has_notice = |kind: &str| {
        found["diagnostics"].as_array().is_some_and(|notices| notices.iter().any(|one| one["kind"] == kind))
    };
    match block["end"].as_str() {
        // What is malformed is not divided.
        Some("malformed") => return true,
        Some("cut") if said.starts_with('{') && serde_json::from_str::<Value>(said).is_err() => return true,
        Some(_) => {}
        None => return false,
    }
    let decoded = said.replace("&amp;", "&");
    let is_text = |value: &Value| {
        value
            .as_str()
            .is_some_and(|text| text == said || text.replace("&amp;", "&") == decoded.replace("&amp;", "&"))
    };
    let json = [said.to_owned(), said.trim().to_lowercase()];
    let json = json.iter().find_map(|text| serde_json::from_str::<Value>(text).ok());
    // Some models write the object of the arguments into a string, or nothing for none.
    let inner =
        json.as_ref().and_then(Value::as_str).and_then(|text| serde_json::from_str::<Value>(text).ok());
    let is_json = |value: &Value| json.as_ref() == Some(value) || inner.as_ref() == Some(value);
    let mut values = params.as_object().into_iter().flat_map(|params| params.values());
    is_json(params)
        || json == Some(Value::Null)
        || values.any(|value| is_text(value) || is_json(value))
        || has_notice("repeated-parameter")
}

#[cfg(test)]
mod tests {
    use super::super::tests::expect;
    use super::*;

    const BLOCKS: &str = r#"{"blocks":[{"type":"text","text":"So"},
        {"type":"tool_call","name":"f","params":{"a":"x","b":2},"end":"closed"}],"diagnostics":[]}"#;
    const INPUT: &str = "So <f><a>x</a><b>2</b></f>";

    fn spans(value: &str) -> String {
        format!(
            "0..2 text of 0\n2..3 blank\n3..9 markup\n{value}14..17 markup\n17..18 value of 1\n18..26 markup\n"
        )
    }

    fn files(spans: &str) -> [(&'static str, String); 3] {
        [
            ("corpus/tags/own/a/input.txt", INPUT.to_owned()),
            ("corpus/tags/own/a/blocks.json", BLOCKS.to_owned()),
            ("corpus/tags/own/a/spans.txt", spans.to_owned()),
        ]
    }

    fn expect_of(value: &str, problems: &[&str]) {
        let files = files(&spans(value));
        expect(agree, &files.each_ref().map(|(path, text)| (*path, text.as_str())), problems);
    }

    #[test]
    fn spans_that_agree_are_fine() {
        expect_of("9..10 value of 1\n10..14 markup\n", &[]);
    }

    #[test]
    fn a_closing_marker_is_not_a_value() {
        let problem =
            "corpus/tags/own/a/spans.txt:4: `x</a>` is not a value of block 1, label it as what it is";
        expect_of("9..14 value of 1\n", &[problem]);
    }

    #[test]
    fn a_gap_is_found() {
        let problem = "corpus/tags/own/a/spans.txt:5: 11..14 does not follow 10, label it as what it is";
        expect_of("9..10 value of 1\n11..14 markup\n", &[problem]);
    }
}
