//! A message and a grammar joined: every reply and every text of the corpus, cut in every way.

use reknit::event::{Event, Failure, Opening, Slot};
use reknit::json::Value;
use reknit::message::{Change as MessageChange, State};
use reknit::parts::{Address, Args, Change, List, Part, Parts};
use reknit::reply::Changes;
use reknit::tags::{Block, Grammar, Parser, profile, profiles};
use reknit::{Limits, Message, Reply, diagnostic::Place};

use crate::corpus;
use crate::cuts::same_for_every_cut;

/// What comes of a reply, and what those have who follow by the changes alone.
#[derive(Debug, PartialEq)]
struct Outcome {
    list: List,
    form: String,
    lines: Vec<String>,
}

struct Follower {
    parts: Parts,
    copy: List,
    lines: Vec<String>,
}

impl Follower {
    fn new(grammar: Option<&Grammar>) -> Self {
        let limits = Limits::default();
        let parts = match grammar {
            Some(grammar) => Parts::with_grammar(grammar, None, "t", &limits).unwrap(),
            None => Parts::new(&limits),
        };
        Self { parts, copy: List::new(&limits), lines: Vec::new() }
    }

    fn follow(&mut self, message: &Message, change: &MessageChange<'_>) {
        let mut changes = self.parts.follow(message, change);
        while let Some((change, list)) = changes.next() {
            let line = serde_json::to_string(&change).unwrap();
            let read: Change<'_> =
                serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
            self.copy.apply(&read).unwrap_or_else(|misfit| panic!("{line}: {misfit}"));
            assert_eq!(self.copy, *list, "{line}");
            self.lines.push(line);
        }
    }

    fn outcome(self, message: &Message) -> Outcome {
        let form = serde_json::to_string(&self.parts.list().neutral(message)).unwrap();
        Outcome { list: self.parts.list().clone(), form, lines: self.lines }
    }
}

/// One grammar of each sort: none, tags of names, JSON in tags, a list, thinking, channels.
const GRAMMARS: [Option<&str>; 6] =
    [None, Some("cline"), Some("hermes"), Some("pythonic"), Some("qwen3"), Some("harmony")];

#[test]
fn replies_of_the_corpus_have_the_same_parts_however_they_are_cut() {
    for wire in corpus::wire_cases() {
        for name in GRAMMARS {
            let grammar = name.map(|name| profile(name).unwrap());
            let read = |size: usize| {
                let mut reply = Reply::new(wire.dialect);
                let mut follower = Follower::new(grammar);
                let mut look = |mut changes: Changes<'_>| {
                    while let Some((change, message)) = changes.next() {
                        follower.follow(message, &change);
                    }
                };
                wire.case.input.chunks(size).for_each(|piece| look(reply.push(piece)));
                look(reply.finish());
                let outcome = follower.outcome(reply.message());
                if grammar.is_none() {
                    assert_eq!(outcome.form, serde_json::to_string(reply.message()).unwrap());
                }
                outcome
            };
            let whole = read(wire.case.input.len().max(1));
            assert_eq!(read(3), whole, "corpus/{} with {name:?}", wire.case.name);
        }
    }
}

/// How a message with one text ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Stopped,
    Cut,
    Failed,
}

/// The outcome of a message with one text block, which comes in these pieces.
fn of_text(grammar: &Grammar, pieces: &[&[u8]], end: End) -> Outcome {
    let mut message = Message::default();
    let mut follower = Follower::new(Some(grammar));
    let slot = Slot(0);
    let mut take = |message: &mut Message, event: Event<'_>| {
        let change = message.apply(event, Place::default());
        follower.follow(message, &change);
    };
    take(&mut message, Event::Opened { block: slot, choice: 0, opening: Opening::Text { refusal: false } });
    let mut held = Vec::new();
    for piece in pieces {
        held.extend_from_slice(piece);
        let whole = std::str::from_utf8(&held).map_or_else(|error| error.valid_up_to(), str::len);
        let text = std::str::from_utf8(&held[..whole]).unwrap();
        take(&mut message, Event::Grew { block: slot, text });
        held.drain(..whole);
    }
    match end {
        End::Stopped => {
            take(&mut message, Event::Closed { block: slot });
            take(&mut message, Event::Ended);
        }
        End::Failed => {
            let failure = Failure { kind: None, message: "overloaded".to_owned(), raw: Value::Null };
            take(&mut message, Event::Failed(failure));
        }
        End::Cut => {
            let change = message.cut().unwrap();
            follower.follow(&message, &change);
        }
    }
    follower.outcome(&message)
}

/// The texts of `corpus/tags` with their grammars, and the names of the cases.
fn texts() -> Vec<(&'static Grammar, String, String)> {
    let texts = profiles().iter().flat_map(|grammar| {
        let cases = corpus::cases(&format!("tags/{}", grammar.name)).into_iter();
        cases.map(move |case| (grammar, String::from_utf8_lossy(&case.input).into_owned(), case.name))
    });
    texts.collect()
}

/// Whether a grammar reads a value again when it is over, as those that are there for comparison do: what
/// is shown on the way depends on the cut then.
fn reads_again(grammar: &Grammar) -> bool {
    matches!(&*grammar.name, "cline-v2" | "roo-v1")
}

#[test]
fn texts_of_the_corpus_have_the_same_parts_however_they_are_cut() {
    for (grammar, text, _) in texts().into_iter().filter(|(grammar, ..)| !reads_again(grammar)) {
        for end in [End::Stopped, End::Cut] {
            same_for_every_cut(text.as_bytes(), |pieces| {
                let Outcome { list, form, lines } = of_text(grammar, pieces, end);
                // How often something grew is a matter of the cut, and so is between which of the changes of
                // one piece a diagnostic of it stands; all else is not.
                let depends = |line: &String| line.contains("grew\":") || line.starts_with("{\"noticed");
                (list, form, lines.into_iter().filter(|line| !depends(line)).collect::<Vec<_>>())
            });
        }
    }
}

#[test]
fn the_parts_of_a_text_are_the_blocks_of_its_parser() {
    for (grammar, text, name) in texts() {
        let mut parser = Parser::new(grammar, None).unwrap();
        parser.push(&text).unwrap();
        parser.finish();
        let Outcome { list, .. } = of_text(grammar, &[text.as_bytes()], End::Stopped);
        assert_eq!(list.parts().len(), parser.blocks().len(), "{name}");
        for (placed, block) in list.parts().iter().zip(parser.blocks()) {
            match (&placed.part, block) {
                (Part::Text { text, .. }, Block::Text { text: read, .. })
                | (Part::Thinking { text, .. }, Block::Thinking { text: read, .. }) => {
                    assert_eq!(*text, read, "{name}");
                }
                (Part::Call(call), Block::Call(read)) => {
                    assert_eq!((&*call.name, call.end()), (read.name(), read.end()), "{name}");
                    if let Args::Complete(input) = &call.args {
                        assert_eq!(*input, *read.args(), "{name}");
                    }
                }
                (part, block) => panic!("{name}: {part:?} is not {block:?}"),
            }
            assert_ne!(placed.part.state(), State::Open, "{name}");
        }
        assert_eq!(list.diagnostics().len(), parser.diagnostics().len(), "{name}");
    }
}

#[test]
fn a_message_that_fails_has_the_parts_of_one_that_is_cut() {
    for (grammar, text, name) in texts() {
        let [cut, failed] = [End::Cut, End::Failed].map(|end| of_text(grammar, &[text.as_bytes()], end).list);
        assert_eq!(cut, failed, "{name}");
        assert!(cut.parts().iter().all(|placed| placed.part.state() != State::Open), "{name}");
    }
}

/// Wherever a text is torn off: what is whole then is whole in the same way when the rest comes.
#[test]
fn a_torn_text_has_no_call_that_the_whole_has_not() {
    for (grammar, text, name) in texts().into_iter().filter(|(_, text, _)| text.len() < 400) {
        let complete = |text: &str, end| {
            let Outcome { list, .. } = of_text(grammar, &[text.as_bytes()], end);
            let calls = list.parts().iter().filter_map(|placed| match &placed.part {
                Part::Call(call) => match &call.args {
                    Args::Complete(input) => Some((placed.address, call.name.clone(), input.clone())),
                    Args::Streaming(_) | Args::Cut(_) | Args::Malformed(_) => None,
                },
                _ => None,
            });
            calls.collect::<Vec<(Address, String, Value)>>()
        };
        let whole = complete(&text, End::Stopped);
        for cut in (0..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let torn = complete(&text[..cut], End::Cut);
            assert!(whole.starts_with(&torn), "{name}, torn off at {cut}:\n{torn:?}\n{whole:?}");
        }
    }
}
