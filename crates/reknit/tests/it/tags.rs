//! Calls and thinking in text: the cases of `corpus/tags`, cut in every way.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use reknit::message::CallEnd;
use reknit::tags::grammar::{Calls, Wrapper};
use reknit::tags::{Block, Change, Grammar, Parser, SpanKind, Tools, profile, profiles};

use crate::corpus::{self, Case, Verdict};
use crate::cuts::{Random, cut_at_random, same_for_every_cut};

/// A case of `corpus/tags/`, and the profile it is read with.
struct TagsCase {
    case: Case,
    grammar: &'static Grammar,
}

fn tags_cases() -> Vec<TagsCase> {
    let cases = profiles().iter().flat_map(|grammar| {
        let cases = corpus::cases(&format!("tags/{}", grammar.name));
        cases.into_iter().map(move |case| TagsCase { case, grammar })
    });
    cases.collect()
}

#[test]
fn tags_cases_give_what_they_must() {
    let tools = corpus_tools();
    let mut verdict = Verdict::new();
    for TagsCase { case, grammar } in tags_cases() {
        let told = same_for_every_cut(&case.input, |pieces| read(grammar, &tools, pieces));
        verdict.expect(&case, "blocks.json", &told.blocks);
        verdict.expect(&case, "spans.txt", &told.spans);
    }
    verdict.give();
}

/// Whatever text a profile is given, it comes out the same for every cut, and no byte is lost.
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

/// Calls with parts missing, doubled and out of place, between whatever else may stand in a text.
#[test]
fn broken_calls_come_out_the_same_for_every_cut() {
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

/// What may stand anywhere: blanks, prose, code, and what JSON and Python are made of.
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

/// A few calls and thoughts, of which each marker may be missing, doubled, halved or followed by anything.
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

/// A thought or a call as the grammar has it, marker by marker.
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
    if let Some(reasoning) = grammar.reasoning.as_ref().filter(|_| thinks) {
        return vec![reasoning.open[0].clone(), "hm ".to_owned(), reasoning.close.clone()];
    }
    let around = |wrapper: &Option<Wrapper>, parts: Vec<String>| match wrapper {
        Some(Wrapper { open, close, .. }) => {
            [vec![open[0].clone()], parts, vec![close[close.len() - 1].clone()]].concat()
        }
        None => parts,
    };
    match &grammar.calls {
        None => vec!["text".to_owned()],
        Some(Calls::Markup(markup)) => {
            let mut parts = vec![fill(&markup.call, &tool)];
            for name in &params {
                let value = ["1", "a &amp; b", "\n  x\n"][name.len() % 3].to_owned();
                parts.extend([fill(&markup.parameter, name), value, fill(&markup.parameter_close, name)]);
            }
            parts.push(fill(&markup.call_close, &tool));
            around(&markup.wrapper, parts)
        }
        Some(Calls::Json(body)) => {
            let open = pick(&body.open.iter().map(String::as_str).collect::<Vec<_>>());
            let mut parts = vec![fill(&open, &format!("{}{tool}", body.name_prefix))];
            parts.extend(body.before.iter().cloned());
            parts.push(if open.contains("{name}") { object } else { envelope });
            parts.extend(body.close.first().cloned());
            parts.push(body.separator.clone());
            around(&body.wrapper, parts)
        }
        Some(Calls::Python(python)) => {
            let calls = ["[", "stop(", "a=", "[1, (2.0, 'x')]", ", b=", "True", ")", ", ", "get_time()", "]"];
            let calls = calls.into_iter().map(str::to_owned).collect();
            [vec![python.open[0].clone()], calls, vec![python.close[0].clone()]].concat()
        }
        Some(Calls::Gemma(gemma)) => {
            let quote = &gemma.quote;
            let values = format!("a:{quote}x{quote},b:[1,two],c:{{d:true}}");
            vec![fill(&gemma.open, &tool), values, "}".to_owned(), gemma.close.clone()]
        }
        Some(Calls::Channels(_)) => {
            let head = pick(&["analysis", "final", "commentary", "commentary to=functions.stop "]);
            let parts = ["<|start|>assistant", "<|channel|>", &head, "<|constrain|>json", "<|message|>"];
            let ends = [object, pick(&["<|end|>", "<|return|>", "<|call|>"])];
            parts.into_iter().map(str::to_owned).chain(ends).collect()
        }
    }
}

#[test]
fn every_file_is_a_profile_of_its_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<_> =
        files.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    files.sort();
    let names: Vec<_> = profiles().iter().map(|grammar| grammar.name.clone()).collect();
    assert_eq!(files, names);
}

/// What came of a text.
#[derive(Debug, PartialEq)]
struct Told {
    blocks: String,
    spans: String,
}

fn corpus_tools() -> Tools {
    Tools::from_json(include_str!("../../../../corpus/tags/tools.json")).unwrap()
}

/// Feeds a parser, and checks on the way that what was shown is what is there.
fn read(grammar: &Grammar, tools: &Tools, pieces: &[&[u8]]) -> Told {
    // The formats of Cline and Roo name their tools themselves.
    let own_names = grammar.name.starts_with("cline") || grammar.name.starts_with("roo");
    let mut parser = Parser::new(grammar, Some(tools).filter(|_| !own_names)).unwrap();
    let mut shown = Shown::default();
    for piece in pieces {
        parser.push_bytes(piece).unwrap();
        shown.follow(&parser);
    }
    parser.finish();
    shown.follow(&parser);
    // These read a value again when it is over: that is what they are there for.
    if !matches!(grammar.name.as_str(), "cline-v2" | "roo-v1") {
        shown.check(&parser);
    }

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
            SpanKind::Blank => "blank".to_owned(),
            SpanKind::Dropped => "dropped".to_owned(),
        };
        writeln!(spans, "{range:?} {kind}").unwrap();
    }
    assert_eq!(end, parser.text().len(), "spans cover the text");
    let blocks = serde_json::to_string_pretty(&parser).unwrap() + "\n";
    Told { blocks, spans }
}

/// What the changes showed of each block and of each parameter.
#[derive(Default)]
struct Shown {
    blocks: BTreeMap<usize, String>,
    params: BTreeMap<(usize, usize), String>,
    args: BTreeMap<usize, usize>,
}

impl Shown {
    fn follow(&mut self, parser: &Parser) {
        for change in parser.changes() {
            match *change {
                Change::Grew { block, from, to } => {
                    self.blocks.entry(block).or_default().push_str(&parser.text()[from..to]);
                }
                Change::ParamGrew { block, param, from, to } => {
                    let Some(Block::Call(call)) = parser.block(block) else {
                        panic!("{change:?} of no call")
                    };
                    let shown = self.params.entry((block, param)).or_default();
                    assert_eq!(shown.len(), from, "{change:?}");
                    shown.push_str(&call.params().nth(param).unwrap().text()[from..to]);
                }
                Change::ArgsGrew { block, from, to } => {
                    let shown = self.args.entry(block).or_default();
                    assert_eq!(*shown, from, "{change:?}");
                    *shown = to;
                }
                Change::Opened { .. }
                | Change::ParamOpened { .. }
                | Change::ParamClosed { .. }
                | Change::Closed { .. } => {}
            }
        }
    }

    fn check(&self, parser: &Parser) {
        for (index, block) in parser.blocks().enumerate() {
            match block {
                Block::Text { text, .. } | Block::Thinking { text, .. } => {
                    assert_eq!(self.blocks.get(&index).map_or("", String::as_str), text);
                }
                Block::Call(call) => {
                    for (number, param) in call.params().enumerate() {
                        let shown = self.params.get(&(index, number)).map_or("", String::as_str);
                        assert_eq!(shown, param.text(), "parameter {} of block {index}", param.name());
                    }
                    if let (Some(json), Some(CallEnd::Cut)) = (call.json(), call.end()) {
                        let shown = self.args.get(&index).copied().unwrap_or_default();
                        assert_eq!(shown, json.raw().len(), "arguments of block {index}");
                    }
                }
            }
        }
    }
}
