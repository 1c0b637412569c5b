//! Texts that end too early: what is not complete there is cut, so that every call that looks complete is a
//! call of the whole text.
//!
//! `cargo xtask prefixes N` tries N prefixes of the corpus, as many in each profile.

use std::collections::BTreeMap;

use reknit::event::End;
use reknit::json::Value;
use reknit::tags::{Call, Grammar, Parser, Tools, profiles};

use crate::cuts::Random;
use crate::tags::{TagsCase, corpus_tools, feed, parser, tags_cases};

/// How many prefixes the suite tries, and what they are made from.
const PREFIXES: usize = 20_000;
const PREFIXES_OF_EACH: usize = 20;
const SEED: u64 = 16;

/// Every prefix of every case, in the profile that the case is written for.
#[test]
fn a_cut_call_never_looks_complete() {
    let tools = corpus_tools();
    for TagsCase { case, grammar } in tags_cases() {
        let (whole, _) = feed(grammar, parser(grammar, &tools), &[&case.input]);
        for end in 0..case.input.len() {
            let (cut, _) = feed(grammar, parser(grammar, &tools), &[&case.input[..end]]);
            if let Err(why) = check(grammar, &cut, &whole) {
                panic!("{} cut at byte {end}: {why}", case.name);
            }
        }
    }
}

/// Random prefixes of all cases in each profile, with tools and without.
#[test]
fn a_cut_call_never_looks_complete_in_any_profile() {
    let wanted = std::env::var("REKNIT_PREFIXES").ok().map(|count| count.parse().expect("a number"));
    let wanted = wanted.unwrap_or(PREFIXES).div_ceil(profiles().len());
    let tools = corpus_tools();
    let cases = tags_cases();
    let mut random = Random::new(SEED);
    let mut total = Tally::default();
    let mut listed: BTreeMap<String, usize> = BTreeMap::new();
    for grammar in profiles() {
        let mut tally = Tally::default();
        while tally.prefixes < wanted {
            // Every second case is written for the profile.
            let own: Vec<_> = cases.iter().filter(|case| case.grammar.name == grammar.name).collect();
            let TagsCase { case, .. } = match random.below(2) {
                0 => own[random.below(own.len())],
                _ => &cases[random.below(cases.len())],
            };
            let tools = Some(&tools).filter(|_| random.below(2) == 0);
            let whole = read(grammar, tools, &case.input);
            for _ in 0..PREFIXES_OF_EACH {
                let end = random.below(case.input.len() + 1);
                let cut = read(grammar, tools, &case.input[..end]);
                tally.prefixes += 1;
                match check(grammar, &cut, &whole) {
                    Ok(checked) => {
                        tally.complete += checked.complete;
                        tally.undecided += checked.undecided;
                        if checked.undecided > 0 {
                            *listed.entry(format!("{} as {}", case.name, grammar.name)).or_default() += 1;
                        }
                    }
                    Err(why) => panic!("{} as {} cut at byte {end}: {why}", case.name, grammar.name),
                }
            }
        }
        total.prefixes += tally.prefixes;
        total.complete += tally.complete;
        total.undecided += tally.undecided;
        println!("{:22} {tally}", grammar.name);
    }
    println!("{:22} {total}", "all");
    for (what, count) in listed {
        println!("decided by the next character, {count} times: {what}");
    }
    assert!(total.complete > 0, "no prefix has a complete call: nothing was checked");
}

/// What a number of prefixes have.
#[derive(Clone, Copy, Default)]
struct Tally {
    prefixes: usize,
    /// Complete calls, which the whole text has too.
    complete: usize,
    /// Complete calls that the next character turns into something else.
    undecided: usize,
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { prefixes, complete, undecided } = self;
        write!(f, "{prefixes} prefixes, {complete} complete calls, {undecided} decided by the next character")
    }
}

fn read(grammar: &Grammar, tools: Option<&Tools>, input: &[u8]) -> Parser {
    let mut parser = Parser::new(grammar, tools).unwrap();
    // A text that is too long for its profile is cut, too.
    let _ = parser.push_bytes(input);
    parser.finish();
    parser
}

/// Checks that every complete call of a cut text is a call of the whole text.
fn check(grammar: &Grammar, cut: &Parser, whole: &Parser) -> Result<Tally, String> {
    let mut tally = Tally::default();
    for call in cut.calls().filter(|call| call.end() == Some(End::Closed)) {
        let expected = whole.calls().find(|other| other.range().start == call.range().start);
        if expected.map(says) == Some(says(call)) {
            tally.complete += 1;
        } else if is_undecided(grammar, &call, cut, whole) {
            tally.undecided += 1;
        } else {
            return Err(format!("{:?} is not in the whole, which has {:?}", says(call), expected.map(says)));
        }
    }
    Ok(tally)
}

fn says(call: Call<'_>) -> (&str, Value, Option<End>) {
    (call.name(), call.args().into_owned(), call.end())
}

/// A list in Python's notation at the end of a text is one of calls, unless the next character is a bracket or a
/// colon that makes it a link or an index. This is the only case of its kind.
fn is_undecided(grammar: &Grammar, call: &Call<'_>, cut: &Parser, whole: &Parser) -> bool {
    let next = whole.text().strip_prefix(cut.text()).and_then(|rest| rest.chars().next());
    grammar.name == "pythonic"
        && call.raw().starts_with('[')
        && cut.text().ends_with(']')
        && matches!(next, Some('(' | '[' | ':'))
}
