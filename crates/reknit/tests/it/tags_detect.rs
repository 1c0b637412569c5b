//! Which profile a text is in: that of a call which is cut, and none in files that hold no call.

use std::collections::BTreeMap;

use reknit::event::End;
use reknit::tags::{Call, Parser, Tools, detect, profiles};

use crate::cuts::Random;
use crate::tags::{TagsCase, corpus_tools, feed, parser, source_of, tags_cases, word, words};

mod files;

/// How often each call is cut.
const CUTS: usize = 8;

/// A call that has begun is found in most texts that end anywhere after its opening marker, and no other call is.
#[test]
fn the_profile_of_a_cut_call_is_found() {
    let tools = corpus_tools();
    let mut random = Random::new(90);
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut failures = String::new();
    for TagsCase { case, grammar } in tags_cases() {
        let Ok(text) = str::from_utf8(&case.input) else { continue };
        let (whole, _) = feed(grammar, parser(grammar, &tools), &[&case.input]);
        let openers = openers(&source_of(grammar));
        let tally = tallies.entry(&grammar.name).or_default();
        for call in whole.calls().filter(|call| call.end() == Some(End::Closed)) {
            let range = call.range();
            let from = range.start + after_opener(&openers, &call);
            for _ in 0..CUTS {
                let end = from + random.below((range.end - from).max(1));
                let cut = &text[..text.floor_char_boundary(end)];
                tally.begun += 1;
                let found = read(cut, None);
                let right = found.calls().any(|found| is_begun(&found, &call));
                let wrong = found.calls().find(|found| !whole.calls().any(|call| is_begun(found, &call)));
                tally.found += usize::from(right);
                tally.wrong += usize::from(wrong.is_some());
                if !right || wrong.is_some() {
                    let is = detect(cut, None).grammar.name.as_str();
                    let tail = &cut[cut.floor_char_boundary(cut.len().saturating_sub(60))..];
                    let says = if right { "wrong" } else { "missed" };
                    failures.push_str(&format!("{} {says} as {is} …{tail:?}\n", case.name));
                }
            }
        }
    }
    let mut all = Tally::default();
    for (name, tally) in &tallies {
        println!("{name:22} {tally}");
        all = Tally {
            begun: all.begun + tally.begun,
            found: all.found + tally.found,
            wrong: all.wrong + tally.wrong,
        };
        // Where these two are different, they reproduce a bug.
        let is_right = tally.wrong == 0 || matches!(*name, "cline-v2" | "roo-v1");
        assert!(is_right, "{name}: {tally}\n{failures}");
    }
    println!("{:22} {all}\n{failures}", "all");
    assert!(all.found * 100 >= all.begun * 95, "{all}\n{failures}");
}

#[derive(Default)]
struct Tally {
    begun: usize,
    found: usize,
    wrong: usize,
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { begun, found, wrong } = self;
        write!(f, "{found} of {begun} begun calls found, {wrong} texts with a wrong one")
    }
}

/// Whether a call that was found is the beginning of this one.
fn is_begun(found: &Call<'_>, call: &Call<'_>) -> bool {
    let same_name = match found.end() {
        Some(End::Closed) => found.name() == call.name(),
        _ => call.name().starts_with(found.name()),
    };
    found.range().start == call.range().start && same_name
}

fn read(text: &str, tools: Option<&Tools>) -> Parser {
    let mut parser = Parser::new(detect(text, tools).grammar, tools).unwrap();
    parser.push(text).unwrap();
    parser.finish();
    parser
}

/// The markers with which a call begins in a profile.
fn openers(source: &toml::Value) -> Vec<String> {
    let Some(calls) = source.get("calls") else { return Vec::new() };
    match &*word(calls, "kind") {
        "markup" => {
            let call = word(calls, "call");
            let wrappers = calls.get("wrapper").map(|wrapper| words(wrapper, "open")).unwrap_or_default();
            let wrapped = wrappers.into_iter().map(|open| format!("{open}{{blank}}{call}"));
            wrapped.chain([call.clone()]).collect()
        }
        "json" => words(calls, "open"),
        "python" => vec!["[{name}(".to_owned()],
        "gemma" => vec![word(calls, "open")],
        "channels" => vec!["<|{attributes}<|message|>".to_owned()],
        kind => panic!("no calls of the kind `{kind}`"),
    }
}

/// How long the opening marker of a call is. A call without one, in a list after another call or at the start
/// of the text, begins with its name.
fn after_opener(openers: &[String], call: &Call<'_>) -> usize {
    let found = openers.iter().find_map(|opener| end_of(opener, call));
    found.unwrap_or_else(|| call.raw().find(call.name()).map_or(0, |at| at + call.name().len()))
}

/// Where a marker at the start of a call ends.
fn end_of(marker: &str, call: &Call<'_>) -> Option<usize> {
    let raw = call.raw();
    let (mut at, mut rest) = (0, marker);
    while !rest.is_empty() {
        let (literal, placeholder) = match rest.split_once('{') {
            Some((literal, after)) => match after.split_once('}') {
                Some((name, after)) => {
                    rest = after;
                    (literal, Some(name))
                }
                None => (std::mem::take(&mut rest), None),
            },
            None => (std::mem::take(&mut rest), None),
        };
        at += raw[at..].strip_prefix(literal).map(|_| literal.len())?;
        let next = rest.split('{').next().unwrap_or_default();
        at += match placeholder {
            None => 0,
            Some("blank") => raw[at..].len() - raw[at..].trim_start().len(),
            Some(_) if next.is_empty() => raw[at..].find(call.name())? + call.name().len(),
            Some(_) => raw[at..].find(next)?,
        };
    }
    Some(at)
}

/// Real files that hold no call, although many mention the markers of one.
#[test]
fn no_call_is_found_in_files() {
    let mut random = Random::new(1000);
    let markers: Vec<_> = profiles().iter().flat_map(|grammar| mentioned(&source_of(grammar))).collect();
    let files = files::all();
    assert!(files.len() >= 1000, "{} files", files.len());
    let (mut mentions, mut failures) = (0, Vec::new());
    for (number, file) in files.iter().enumerate() {
        let text = match number % 3 {
            0 => files::with_mention(file, &markers, &mut random),
            _ => file.text.clone(),
        };
        mentions += usize::from(markers.iter().any(|marker| text.contains(marker)));
        let found = detect(&text, None);
        if found.grammar.name != "none" {
            let parsed = read(&text, None);
            let call = parsed.calls().next().map(|call| call.raw().chars().take(200).collect::<String>());
            failures.push(format!("{}: {}, {}: {call:?}", file.name, found.grammar.name, found.why));
        }
    }
    println!("{} files, {mentions} of them mention a marker", files.len());
    assert!(mentions >= 200, "{mentions}");
    assert!(failures.is_empty(), "{} files:\n{}", failures.len(), failures.join("\n"));
}

/// The opening markers of a profile, as a text about them mentions them.
fn mentioned(source: &toml::Value) -> Vec<String> {
    let mut markers = openers(source);
    markers.extend(source.get("reasoning").map(|reasoning| words(reasoning, "open")).unwrap_or_default());
    if let Some(wrapper) = source.get("calls").and_then(|calls| calls.get("wrapper")) {
        markers.extend(words(wrapper, "open"));
    }
    let fill = |marker: String| {
        let marker = marker.replace("{attributes}", "").replace("{blank}", "");
        marker.replace("{name}", "name").trim_end().to_owned()
    };
    markers.into_iter().map(fill).filter(|marker| marker.len() > 2).collect()
}

fn found(text: &str) -> &'static str {
    &detect(text, None).grammar.name
}

/// What looks like a list of calls in code, in a sentence or in a link.
#[test]
fn lists_in_code_and_prose_are_not_calls() {
    for text in [
        "#[cfg(feature = \"std\")]\nfn f() {}\n",
        "#![doc(html_root_url = \"x\")]\n",
        "let list = [a(), b()];\n",
        "fields = [\n    Field(name=\"a\"),\n]\n",
        "See [measure()] and [stop()].\n",
        "[measure()] measures.\n",
        "[measure()]: https://d.example\n",
    ] {
        assert_eq!(found(text), "none", "{text}");
    }
}

/// A call that a model only considers while it thinks is not one, whoever does not know its thinking.
#[test]
fn calls_in_the_thinking_of_another_profile_do_not_count() {
    let thinking = "<think>Maybe <invoke name=\"f\"></invoke>?</think>";
    assert_eq!(found(&format!("{thinking}<minimax:tool_call><invoke name=\"g\">")), "minimax-m2");
    assert_eq!(found("◁think▷<|tool_call_begin|>f:0<|tool_call_argument_begin|>{}◁/think▷No."), "kimi");
    let call = r#"<tool_call>{"name": "f", "arguments": {"a": "</think>"}}</tool_call>"#;
    assert_eq!(found(&format!("I write it. {call}")), "hermes");
    assert_eq!(found(&format!("It ends with `</think>`. {call}")), "hermes");
}
