//! Calls and thinking in text: the cases in `corpus/tags`, cut in every way.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use reknit::Limits;
use reknit::event::End;
use reknit::tags::{Block, Grammar, Parser, SpanKind, Tools, profile, profiles};

use crate::corpus::{self, Case, Verdict};
use crate::cuts::{Random, cut_at_random, same_for_every_cut};

/// A case in `corpus/tags/`, and the profile that it is read with.
pub(crate) struct TagsCase {
    pub(crate) case: Case,
    pub(crate) grammar: &'static Grammar,
}

pub(crate) fn tags_cases() -> Vec<TagsCase> {
    let cases = profiles().iter().flat_map(|grammar| {
        let cases = corpus::cases(&format!("tags/{}", grammar.name));
        cases.into_iter().map(move |case| TagsCase { case, grammar })
    });
    cases.collect()
}

#[test]
fn tags_cases_have_the_expected_outcome() {
    let tools = corpus_tools();
    let mut verdict = Verdict::new();
    for TagsCase { case, grammar } in tags_cases() {
        let found = same_for_every_cut(&case.input, |pieces| read(grammar, &tools, pieces));
        verdict.expect(&case, "blocks.json", &found.blocks);
        verdict.expect(&case, "spans.txt", &found.spans);
    }
    verdict.give();
}

/// Whatever text a profile reads, the result is the same for every cut, and no byte is lost.
#[test]
fn every_profile_reads_the_cases_of_every_other() {
    let tools = corpus_tools();
    for TagsCase { case, .. } in tags_cases() {
        for grammar in profiles() {
            let whole = read(grammar, &tools, &[&case.input]);
            let bytes: Vec<_> = case.input.chunks(1).collect();
            assert_eq!(read(grammar, &tools, &bytes), whole, "{} as {}", case.name, grammar.name);
            let random = cut_at_random(&case.input, 1);
            assert_eq!(read(grammar, &tools, &random), whole, "{} as {}", case.name, grammar.name);
        }
    }
}

#[test]
fn ten_thousand_cuts_have_one_outcome() {
    let grammar = profile("roo").unwrap();
    let tools = corpus_tools();
    let input = "Let me see & think: a < b, `<read_file>`.\n\n<write_to_file>\n<path>a.html</path>\n<content>\n\
        <p>é</content></p>\r\n</write_to_file>\n</content>\n<line_count>2</line_count>\n</write_to_file>\n\
        <execute_command><command>a &amp;&amp; b</command></execute_command> Done.";
    let whole = read(grammar, &tools, &[input.as_bytes()]);
    for seed in 0..10_000 {
        assert_eq!(read(grammar, &tools, &cut_at_random(input.as_bytes(), seed)), whole, "seed {seed}");
    }
}

/// Calls with parts missing, doubled and out of place, mixed with anything else that a text can contain.
#[test]
fn broken_calls_are_read_the_same_for_every_cut() {
    let tools = corpus_tools();
    for grammar in profiles() {
        for seed in 0..BROKEN {
            let mut random = Random::new(seed);
            let input = broken_text(grammar, &mut random);
            let whole = read(grammar, &tools, &[input.as_bytes()]);
            let bytes: Vec<_> = input.as_bytes().chunks(1).collect();
            assert_eq!(read(grammar, &tools, &bytes), whole, "{} of {input:?}", grammar.name);
            let cut = cut_at_random(input.as_bytes(), seed);
            assert_eq!(read(grammar, &tools, &cut), whole, "{} of {input:?}", grammar.name);
        }
    }
}

/// How many broken texts each profile reads.
const BROKEN: u64 = 100;

/// What can be anywhere in a text: whitespace, prose, code, and what JSON and Python consist of.
const ANYTHING: &[&str] = &[
    " ",
    "  ",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\t",
    "a",
    "word ",
    "é",
    "\u{a0}",
    "\u{feff}",
    "🦀",
    "`",
    "``",
    "```",
    "```json\n",
    "\n```\n",
    "~~~\n",
    "<",
    "</",
    "<|",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "\"",
    "'",
    "\\",
    ":",
    ",",
    ";",
    "=",
    "&",
    "&am",
    "&amp;",
    "0",
    "-1.5e3",
    "12345678901234567890",
    "true",
    "None",
    "null",
    "a < b",
    "\"name\"",
    "\"arguments\": ",
    "{\"name\": \"stop\"",
    "{\"name\": \"stop\", \"arguments\": {}}",
    "{\"a\": \"\\u00e9\\n\"}",
    "\\ud83e",
    "[stop()",
    "'x\\'y'",
    "[1, {'b': (2,)}]",
    "<|\"|>",
    "<thinking>",
    "</thinking>",
    "<read_file >",
];

/// A few calls and thoughts in which each marker may be missing, doubled, halved or followed by anything.
fn broken_text(grammar: &Grammar, random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..1 + random.below(4) {
        for part in sentence(grammar, random) {
            let half = part.floor_char_boundary(random.below(part.len() + 1));
            match random.below(16) {
                0 => {}
                1 => text.extend([part.as_str(), part.as_str()]),
                2 => text.push_str(&part[..half]),
                3 => text.push_str(&part[half..]),
                _ => text.push_str(&part),
            }
            while random.below(3) == 0 {
                text.push_str(ANYTHING[random.below(ANYTHING.len())]);
            }
        }
    }
    text
}

/// A thought or a call in this grammar, marker by marker.
fn sentence(grammar: &Grammar, random: &mut Random) -> Vec<String> {
    let mut pick = |of: &[&str]| of[random.below(of.len())].to_owned();
    let tool = pick(&["write_to_file", "read_file", "execute_command", "replace_in_file", "stop", "x y"]);
    let params = [(); 3].map(|()| pick(&["path", "content", "command", "diff"]));
    let object = pick(&[
        "{}",
        "{\"timezone\": \"U<T\\nC\"}",
        "{\"a\": [1, {\"b\": null}]}",
        "\"{\\\"a\\\":1}\"",
        "[1]",
    ]);
    let envelope = match pick(&["", "list", "swapped", "more", "no arguments"]).as_str() {
        "list" => format!("[{{\"name\": \"stop\"}}, {{\"name\": \"{tool}\", \"arguments\": {object}}}]"),
        "swapped" => format!("{{\"arguments\": {object}, \"name\": \"{tool}\"}}"),
        "more" => format!("{{\"id\": 7, \"name\": \"{tool}\", \"x\": {object}, \"parameters\": {object}}}"),
        "no arguments" => format!("{{\"name\": \"{tool}\"}}"),
        _ => format!("{{\"name\": \"{tool}\", \"arguments\": {object}}}"),
    };
    let attributes = pick(&["", " string=\"false\"", "\n"]);
    let fill = |marker: &str, name: &str| {
        marker.replace("{name}", name).replace("{blank}", "\n").replace("{attributes}", &attributes)
    };
    let thinks = pick(&["calls", "calls", "thinks"]) == "thinks";
    let source = source_of(grammar);
    if let Some(reasoning) = source.get("reasoning").filter(|_| thinks) {
        return vec![words(reasoning, "open")[0].clone(), "hm ".to_owned(), word(reasoning, "close")];
    }
    let Some(calls) = source.get("calls") else { return vec!["text".to_owned()] };
    let around = |parts: Vec<String>| match calls.get("wrapper") {
        Some(wrapper) => {
            let (open, close) = (words(wrapper, "open").swap_remove(0), words(wrapper, "close").pop());
            [vec![open], parts, close.into_iter().collect()].concat()
        }
        None => parts,
    };
    match &*word(calls, "kind") {
        "markup" => {
            let mut parts = vec![fill(&word(calls, "call"), &tool)];
            for name in &params {
                let value = ["1", "a &amp; b", "\n  x\n"][name.len() % 3].to_owned();
                let marker = |key| fill(&word(calls, key), name);
                parts.extend([marker("parameter"), value, marker("parameter_close")]);
            }
            parts.push(fill(&word(calls, "call_close"), &tool));
            around(parts)
        }
        "json" => {
            let open = pick(&words(calls, "open").iter().map(String::as_str).collect::<Vec<_>>());
            let mut parts = vec![fill(&open, &format!("{}{tool}", word(calls, "name_prefix")))];
            parts.extend(words(calls, "before"));
            parts.push(if open.contains("{name}") { object } else { envelope });
            parts.extend(words(calls, "close").into_iter().next());
            parts.push(word(calls, "separator"));
            around(parts)
        }
        "python" => {
            let list = ["[", "stop(", "a=", "[1, (2.0, 'x')]", ", b=", "True", ")", ", ", "get_time()", "]"];
            let list = list.into_iter().map(str::to_owned).collect();
            [vec![words(calls, "open")[0].clone()], list, vec![words(calls, "close")[0].clone()]].concat()
        }
        "gemma" => {
            let quote = word(calls, "quote");
            let values = format!("a:{quote}x{quote},b:[1,two],c:{{d:true}}");
            vec![fill(&word(calls, "open"), &tool), values, "}".to_owned(), word(calls, "close")]
        }
        "channels" => {
            let head = pick(&["analysis", "final", "commentary", "commentary to=functions.stop "]);
            let parts = ["<|start|>assistant", "<|channel|>", &head, "<|constrain|>json", "<|message|>"];
            let ends = [object, pick(&["<|end|>", "<|return|>", "<|call|>"])];
            parts.into_iter().map(str::to_owned).chain(ends).collect()
        }
        kind => panic!("no sentence of the kind `{kind}`"),
    }
}

/// The parsed file of a profile.
pub(crate) fn source_of(grammar: &Grammar) -> toml::Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("profiles/{}.toml", grammar.name));
    toml::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// A string in a table; empty if there is none with this key.
pub(crate) fn word(table: &toml::Value, key: &str) -> String {
    table.get(key).and_then(toml::Value::as_str).unwrap_or_default().to_owned()
}

pub(crate) fn words(table: &toml::Value, key: &str) -> Vec<String> {
    let list = table.get(key).and_then(toml::Value::as_array);
    list.into_iter().flatten().map(|word| word.as_str().unwrap().to_owned()).collect()
}

/// Half a marker is held back while more may come. When nothing does, it is text, unless everything before the
/// name has come: then it is a call that is cut.
#[test]
fn half_a_marker_is_shown_only_at_the_end() {
    for (profile_name, head, rest) in [
        ("cline", "<write_to_file>", ""),
        ("roo", "<apply_diff>", ""),
        ("hermes", "<tool_call>", "\n{\"name\": \"stop"),
        ("qwen3-coder", "<tool_call>", "\n<function=stop>"),
        ("qwen3-coder", "<function=", "stop>"),
        ("anthropic", "<function_calls>", "\n<invoke name=\"stop\">"),
        ("minimax-m2", "<invoke name=\"", "stop\" x=\"1\">"),
        ("glm47", "<tool_call>", "stop"),
        ("deepseek-v3", "<｜tool▁call▁begin｜>", "function<｜tool▁sep｜>stop\n"),
        ("deepseek-v3-1", "<｜tool▁call▁begin｜>", "stop<｜tool▁sep｜>"),
        ("kimi-k2", "<|tool_call_begin|>", "functions.stop:0<|tool_call_argument_begin|>"),
        ("gemma4", "<|tool_call>call:", "stop{"),
        (
            "gpt-oss",
            "<|start|>assistant<|channel|>commentary to=",
            "functions.stop <|constrain|>json<|message|>",
        ),
        ("mistral", "[TOOL_CALLS]", "stop[ARGS]"),
        ("pythonic", "[stop(", ""),
        ("kimi", "◁think▷", ""),
    ] {
        let tag = [head, rest].concat();
        for (end, _) in tag.char_indices().skip(1) {
            let mut parser = Parser::new(profile(profile_name).unwrap(), None).unwrap();
            parser.push(&format!("So {}", &tag[..end])).unwrap();
            assert_eq!(summary(&parser), "text \"So\" open\n", "{profile_name} {}", &tag[..end]);
            parser.finish();
            let found = summary(&parser);
            if end < head.len() {
                let text = format!("text {:?} open\n", format!("So {}", tag[..end].trim_end()));
                assert_eq!(found, text, "{profile_name} {}", &tag[..end]);
            } else {
                let calls: Vec<_> = parser.calls().collect();
                assert_eq!(calls.len(), 1, "{profile_name} {}: {found}", &tag[..end]);
                assert!("stop".starts_with(calls[0].name()), "{profile_name} {}: {found}", &tag[..end]);
                let call = format!("call {} {{}} cut {:?}\n", calls[0].name(), &tag[..end]);
                assert_eq!(found, format!("text \"So\" closed\n{call}"), "{profile_name}");
            }
        }
    }
}

/// The opening marker of a wrapper, with nothing after it.
#[test]
fn a_wrapper_at_the_end_is_a_call_that_is_cut() {
    for (profile_name, open) in [
        ("kimi-k2", "<|tool_calls_section_begin|>"),
        ("deepseek-v3-1", "<｜tool▁calls▁begin｜>"),
        ("pythonic", "<|python_start|>"),
        ("qwen3-coder", "<tool_call>"),
    ] {
        let text = format!("So {open}\n");
        let found = same_with_limits(profile(profile_name).unwrap(), Limits::default(), &text);
        assert_eq!(found, format!("text \"So\" closed\ncall  {{}} cut {:?}\n", &text[3..]), "{profile_name}");
    }
}

/// An empty closing marker would be everywhere.
#[test]
fn a_closing_marker_is_not_empty() {
    for (calls, closes) in [
        ("kind = \"json\"\nopen = [\"<call>\"]", "[\"</call>\", \"\"]"),
        ("kind = \"gemma\"\nopen = \"<call>{name}\"\nquote = \"|\"", "\"\""),
    ] {
        let source = format!("name = \"own\"\n[calls]\n{calls}\nclose = {closes}\n");
        let error = Parser::new(&Grammar::from_toml(&source).unwrap(), None).unwrap_err();
        assert_eq!(error.to_string(), "`close` of grammar `own`: `` does not start with literal text");
    }
}

/// A marker in which the name is missing, misspelt or out of place is refused, and not read as a call without
/// a name.
#[test]
fn a_name_is_where_a_marker_needs_one() {
    let markup = |call: &str, parameter: &str| {
        format!(
            "kind = \"markup\"\ncall = \"{call}\"\ncall_close = \"</call>\"\n\
             parameter = \"{parameter}\"\nparameter_close = \"</p>\""
        )
    };
    for (calls, problem) in [
        (
            markup("<call {nam}>", "<p {name}>"),
            "`call` of grammar `own`: `{nam}` in `<call {nam}>` is not `{name}`, `{blank}` or `{attributes}`",
        ),
        (markup("<call>", "<p {name}>"), "`call` of grammar `own`: `<call>` does not contain `{name}`"),
        (markup("<call {name}>", "<p>"), "`parameter` of grammar `own`: `<p>` does not contain `{name}`"),
        (
            "kind = \"json\"\nopen = [\"<call {name}>\"]\nclose = [\"</{name}>\"]".to_owned(),
            "`close` of grammar `own`: `</{name}>` cannot contain `{name}`",
        ),
    ] {
        let source = format!("name = \"own\"\n[calls]\n{calls}\n");
        let error = Parser::new(&Grammar::from_toml(&source).unwrap(), None).unwrap_err();
        assert_eq!(error.to_string(), problem);
    }
}

/// A notation that no model has, described with what `docs/grammars.md` says.
#[test]
fn a_notation_of_ones_own_is_read() {
    let grammar = Grammar::from_toml(
        r#"
            name = "at signs"
            [reasoning]
            open = ["((note"]
            close = "note))"
            [calls]
            kind = "markup"
            call = "@call {name}("
            call_close = ")@end"
            parameter = "@arg {name}:"
            parameter_close = "@;"
            closer = "placed"
            [calls.wrapper]
            open = ["@begin"]
            close = ["@done"]
            optional = true
        "#,
    )
    .unwrap();
    let text = "((note Hm. note)) Sure: @call x( is how. @begin\n@call greet(\n@arg who: the world @;\n\
        @arg how: a @; b @;\n)@end\n@done Bye. @call wave(\n@arg to: you";
    assert_eq!(
        same_with_limits(&grammar, Limits::default(), text),
        "thinking \"Hm.\" closed\ntext \"Sure: @call x( is how.\" closed\n\
         call greet {\"who\":\"the world\",\"how\":\"a @; b\"} closed\ntext \"Bye.\" closed\n\
         call wave {\"to\":\"you\"} cut \"@call wave(\\n@arg to: you\"\n"
    );
    let grammar = Grammar::from_toml(
        r#"
            name = "arrows"
            [calls]
            kind = "json"
            open = ["=> {name} with", "=>"]
            before = ["exactly"]
            close = ["<="]
            close_optional = true
            separator = "and"
            name_prefix = "tool."
            name_index = "/"
        "#,
    )
    .unwrap();
    let text =
        "=> tool.greet/1 with exactly {\"who\": \"you\"} <= ok => {\"name\": \"a\"} and {\"name\": \"b\"}";
    assert_eq!(
        same_with_limits(&grammar, Limits::default(), text),
        "call greet {\"who\":\"you\"} closed\ntext \"ok\" closed\ncall a {} closed\ncall b {} closed\n"
    );
}

/// Whether the names are listed or not, and however the text is cut.
#[test]
fn markers_may_have_text_and_whitespace_after_their_name() {
    let lists = "tools = [\"f\", \"ff\"]\nparameters = [\"path\", \"pa\"]\n";
    for (call, call_text) in [("<call {name}>", "<call ff>"), ("<f>{name}</f>{blank}<go>", "<f>ff</f> <go>")]
    {
        for (parameter, parameter_text) in [
            ("<k>{name}</k>{blank}<v>", "<k>path</k>\n<v>"),
            ("<k n={name};{attributes}>", "<k n=path; as=text>"),
            ("[{name}]{blank}=>", "[path]=>"),
        ] {
            let source = |lists| {
                format!(
                    "name = \"own\"\n[calls]\nkind = \"markup\"\n{lists}call = '{call}'\ncall_close = '</call>'\n\
                     parameter = '{parameter}'\nparameter_close = '</v>'\n"
                )
            };
            let text = format!("{call_text}{parameter_text}a.rs</v></call>");
            for source in [source(""), source(lists)] {
                let grammar = Grammar::from_toml(&source).unwrap();
                let outcome = same_with_limits(&grammar, Limits::default(), &text);
                assert_eq!(outcome, "call ff {\"path\":\"a.rs\"} closed\n", "{source}{text}");
            }
        }
    }
}

/// The example in the page about grammars, which reads the text above it.
#[test]
fn the_grammar_in_the_documentation_reads_its_text() {
    let page = include_str!("../../../../docs/grammars.md");
    let example = page.split_once("### An example").expect("the page has an example").1;
    let fenced = |kind: &str| {
        let (_, rest) = example.split_once(&format!("```{kind}\n")).expect("the example has it");
        rest.split("```").next().unwrap_or_default()
    };
    let grammar = Grammar::from_toml(fenced("toml")).unwrap();
    assert_eq!(
        same_with_limits(&grammar, Limits::default(), fenced("text")),
        "thinking \"They want a file.\" closed\ntext \"I write it.\" closed\n\
         call write_file {\"path\":\"notes/a.md\",\"text\":\"# Notes\\n(/text) is how a text ends.\"} closed\n"
    );
}

/// Calls in calls, if a grammar allows them.
/// The outcome of `input` without tools, which must be the same for every cut.
pub(crate) fn same_with_limits(grammar: &Grammar, limits: Limits, input: &str) -> String {
    same_for_every_cut(input.as_bytes(), |pieces| {
        let parser = Parser::new(grammar, None).unwrap().with_limits(&limits);
        summary(&feed(grammar, parser, pieces).0)
    })
}

/// A line for each block and each diagnostic.
pub(crate) fn summary(parser: &Parser) -> String {
    let mut lines = String::new();
    for block in parser.blocks() {
        let state = |closed| if closed { "closed" } else { "open" };
        match block {
            Block::Text { text, closed } => write!(lines, "text {text:?} {}", state(closed)).unwrap(),
            Block::Thinking { text, closed } => write!(lines, "thinking {text:?} {}", state(closed)).unwrap(),
            Block::Call(call) => {
                write!(lines, "call {} {} ", call.name(), call.args()).unwrap();
                match call.end() {
                    None => write!(lines, "open").unwrap(),
                    Some(End::Closed) => write!(lines, "closed").unwrap(),
                    Some(End::Cut) => write!(lines, "cut {:?}", call.raw()).unwrap(),
                    Some(End::Malformed) => write!(lines, "malformed {:?}", call.raw()).unwrap(),
                }
                if let Some(parent) = serde_json::to_value(call).unwrap().get("parent") {
                    write!(lines, " in {parent}").unwrap();
                }
            }
            other => panic!("{other:?} is not known here"),
        }
        lines.push('\n');
    }
    for diagnostic in parser.diagnostics() {
        let kind = serde_json::to_value(diagnostic.kind).unwrap();
        writeln!(lines, "{} at {}", kind.as_str().unwrap(), diagnostic.place().unwrap().at).unwrap();
    }
    lines
}

/// What a parser found in a text.
#[derive(Debug, PartialEq)]
pub(crate) struct Found {
    blocks: String,
    spans: String,
}

pub(crate) fn corpus_tools() -> Tools {
    Tools::from_json(include_str!("../../../../corpus/tags/tools.json")).unwrap()
}

/// Parses the pieces, and checks that the spans are those of the blocks.
fn read(grammar: &Grammar, tools: &Tools, pieces: &[&[u8]]) -> Found {
    feed(grammar, parser(grammar, tools), pieces).1
}

pub(crate) fn parser(grammar: &Grammar, tools: &Tools) -> Parser {
    // The grammars of Cline and Roo have lists of tools themselves.
    let own_names = grammar.name.starts_with("cline") || grammar.name.starts_with("roo");
    Parser::new(grammar, Some(tools).filter(|_| !own_names)).unwrap()
}

pub(crate) fn feed(grammar: &Grammar, mut parser: Parser, pieces: &[&[u8]]) -> (Parser, Found) {
    for piece in pieces {
        // A text that is too long is also reported in a diagnostic.
        let _ = parser.push_bytes(piece);
    }
    parser.finish();
    if !repairs(grammar) {
        check_spans(grammar, &parser);
    }
    let found = found_by(&parser);
    (parser, found)
}

/// The spans that are called values are the values of the calls, and nothing else.
fn check_spans(grammar: &Grammar, parser: &Parser) {
    let mut values: BTreeMap<usize, String> = BTreeMap::new();
    for (kind, range) in parser.spans() {
        if let SpanKind::Value(block) = kind {
            values.entry(block).or_default().push_str(&parser.text()[range]);
        }
    }
    for (index, block) in parser.blocks().enumerate() {
        let Block::Call(call) = block else { continue };
        let spans = values.get(&index).map_or("", String::as_str);
        let params: String = call.params().map(|(_, value)| value).collect();
        // What is malformed is not divided.
        if call.end() == Some(End::Malformed) {
            continue;
        }
        if call.params().next().is_some() {
            assert_eq!(without_entities(spans), without_entities(&params), "block {index}");
        } else if !rewrites(grammar) && !spans.is_empty() {
            assert_eq!(spans, call.args_text(), "block {index}");
        } else if spans.trim().is_empty() {
            let args = call.args_text();
            assert!(matches!(&*args, "" | "{" | "{}"), "block {index}: {args} is not in the text");
        }
    }
}

/// Some values are decoded and some are not, and some would be twice.
fn without_entities(text: &str) -> String {
    let mut text = text.to_owned();
    while text.contains("&amp;") {
        text = text.replace("&amp;", "&");
    }
    text
}

/// Whether a grammar reads complete values again. That is what these profiles are for.
fn repairs(grammar: &Grammar) -> bool {
    matches!(grammar.name.as_str(), "cline-v2" | "roo-v1")
}

/// Whether the arguments of a grammar's calls are rewritten as JSON, so that they are not in the text.
fn rewrites(grammar: &Grammar) -> bool {
    matches!(grammar.name.as_str(), "gemma4" | "pythonic")
}

fn found_by(parser: &Parser) -> Found {
    let mut spans = String::new();
    let mut end = 0;
    for (kind, range) in parser.spans() {
        assert_eq!(range.start, end, "spans lie end to end");
        assert!(!range.is_empty(), "a span is not empty");
        end = range.end;
        let kind = match kind {
            SpanKind::Text(block) => format!("text of {block}"),
            SpanKind::Thinking(block) => format!("thinking of {block}"),
            SpanKind::Value(block) => format!("value of {block}"),
            SpanKind::Markup => "markup".to_owned(),
            SpanKind::Whitespace => "blank".to_owned(),
            SpanKind::Dropped => "dropped".to_owned(),
            other => panic!("{other:?} is not known here"),
        };
        writeln!(spans, "{range:?} {kind}").unwrap();
    }
    assert_eq!(end, parser.text().len(), "spans cover the text");
    let blocks = serde_json::to_string_pretty(parser).unwrap() + "\n";
    Found { blocks, spans }
}

#[test]
fn the_text_of_a_call_has_its_markers() {
    for (name, text) in [
        ("cline", "<read_file><path>a</path></read_file>"),
        ("hermes", r#"<tool_call>{"name": "f", "arguments": {}}</tool_call>"#),
        ("gpt-oss", "<|start|>assistant<|channel|>commentary to=functions.f<|message|>{}<|call|>"),
        ("gemma4", "<|tool_call>call:f{}<tool_call|>"),
    ] {
        let mut parser = Parser::new(profile(name).unwrap(), None).unwrap();
        parser.push(&format!("So: {text} Then.")).unwrap();
        parser.finish();
        assert_eq!(parser.calls().next().unwrap().raw(), text, "{name}");
    }
}

#[test]
fn every_file_is_a_profile_of_the_same_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<_> =
        files.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    files.sort();
    let names: Vec<_> = profiles().iter().map(|grammar| grammar.name.clone()).collect();
    assert_eq!(files, names);
}
