//! Which profile a text is in: that of a call which is cut, and none in prose.

use reknit::event::End;
use reknit::tags::{Parser, detect};

use crate::cuts::Random;
use crate::tags::{TagsCase, corpus_tools, feed, parser, tags_cases};

/// A call that has begun is found in a text that ends anywhere after its name.
#[test]
fn the_profile_of_a_cut_call_is_found() {
    let tools = corpus_tools();
    let mut random = Random::new(90);
    let (mut begun, mut found) = (0, 0);
    for TagsCase { case, grammar } in tags_cases() {
        let Ok(text) = str::from_utf8(&case.input) else { continue };
        let (whole, _) = feed(grammar, parser(grammar, &tools), &[&case.input]);
        for call in whole.calls().filter(|call| call.end() == Some(End::Closed)) {
            let body = call.raw().find(call.name()).map_or(0, |at| at + call.name().len());
            // The longest of the markers that end with the name.
            let opener = body + call.raw()[body..].find(['{', '\n', '<', '[']).unwrap_or_default() + 1;
            let cuts = call.range().start + opener..call.range().end;
            for _ in 0..4 {
                let end = cuts.start + random.below(cuts.len().max(1));
                let text = &text[..text.floor_char_boundary(end.min(text.len()))];
                begun += 1;
                let mut cut = Parser::new(detect(text, None).grammar, None).unwrap();
                cut.push(text).unwrap();
                cut.finish();
                let start = call.range().start;
                found += usize::from(cut.calls().any(|call| call.range().start == start));
            }
        }
    }
    assert!(found * 10 >= begun * 9, "{found} of {begun}");
}

/// Prose and code that hold no call, although many mention the markers of one.
#[test]
fn no_call_is_found_in_prose() {
    let mut mentions = 0;
    for number in 0..1000 {
        let text = prose(number);
        mentions += usize::from(OPENERS.iter().any(|opener| text.contains(opener)));
        let found = detect(&text, None);
        assert_eq!(found.grammar.name, "none", "{}\n{text}", found.why);
    }
    assert!(mentions >= 200, "{mentions}");
}

/// Opening markers, as a text about them mentions them.
const OPENERS: &[&str] = &[
    "<tool_call>",
    "<function=name>",
    "<invoke name=\"x\">",
    "<function_calls>",
    "<read_file>",
    "<write_to_file>",
    "[TOOL_CALLS]",
    "<|python_tag|>",
    "functools",
    "<TOOLCALL>",
    "<tool_calls>",
    "<|tool_call|>",
    "<minimax:tool_call>",
    "[ping()](https://d.example)",
    "values[next(it)]",
];

/// A file of prose or code, in which each fifth sentence is about a marker.
fn prose(number: u64) -> String {
    let mut random = Random::new(number);
    let sentences = [
        "The parser reads its input once.",
        "See [the manual](https://d.example/manual) for more.",
        "if a < b && c > d { return [x, y]; }",
        "- one\n- two (see `<read_file>` below)",
        "```json\n{\"name\": \"f\", \"arguments\": {}}\n```",
        "let list = [f(x) for x in items]",
        "<p>Some <b>bold</b> text</p>",
        "{ \"name\": \"package\", \"version\": \"1.0.0\" }",
        "assert_eq!(call(1), [2, 3]);",
        "# Heading",
    ];
    let mut text = String::from("Notes. ");
    for _ in 0..5 + random.below(20) {
        if random.below(5) == 0 {
            let opener = OPENERS[random.below(OPENERS.len())];
            text.push_str(&format!("A model writes {opener} first, then the name."));
        } else {
            text.push_str(sentences[random.below(sentences.len())]);
        }
        text.push_str(["\n", " ", "\n\n"][random.below(3)]);
    }
    text.push_str("The end.\n");
    text
}
