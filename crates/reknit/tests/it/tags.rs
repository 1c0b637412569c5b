//! Calls and thinking in text: the cases of `corpus/tags`, cut in every way.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use reknit::tags::{Block, Change, Grammar, Parser, SpanKind, Tools, profile, profiles};

use crate::corpus::{self, Case, Verdict};
use crate::cuts::{cut_at_random, same_for_every_cut};

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
                }
            }
        }
    }
}
