//! Calls and thinking written in text, as blocks of a message: every reply and every text of the corpus, cut
//! in every way.

use reknit::event::{Event, Failure, Opening, Slot};
use reknit::json::Value;
use reknit::message::{Args, Body, Change};
use reknit::reply::Changes;
use reknit::tags::{Block, Grammar, Parser, Tagger, profile, profiles};
use reknit::{Message, Reply, diagnostic::Place};

use crate::corpus;
use crate::cuts::same_for_every_cut;
use crate::tags::corpus_tools;

/// The outcome of a reply, and the changes that led to it.
#[derive(Debug, PartialEq)]
struct Outcome {
    message: Message,
    form: String,
    lines: Vec<String>,
}

/// A copy of a message that is built from the changes alone, after a trip through JSON.
#[derive(Default)]
pub(crate) struct Follower {
    copy: Message,
    pub(crate) lines: Vec<String>,
}

impl Follower {
    pub(crate) fn follow(&mut self, change: &Change<'_>, message: &Message) {
        let line = serde_json::to_string(change).unwrap();
        let read: Change<'_> = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(read, *change, "{line}");
        let is_empty = self.copy.blocks().len() == 0;
        if let (Change::Started(_), false) = (&read, is_empty) {
            self.copy = Message::default();
        }
        self.copy.follow(&read).unwrap_or_else(|misfit| panic!("{line}: {misfit}"));
        assert_eq!(self.copy, *message, "{line}");
        self.lines.push(line);
    }

    fn outcome(self, message: &Message) -> Outcome {
        Outcome { message: message.clone(), form: serde_json::to_string(message).unwrap(), lines: self.lines }
    }
}

/// One grammar of each kind: none, tags with names, JSON in tags, a list, thinking, channels.
const GRAMMARS: [Option<&str>; 6] =
    [None, Some("cline"), Some("hermes"), Some("pythonic"), Some("qwen3"), Some("harmony")];

#[test]
fn replies_of_the_corpus_have_the_same_blocks_however_they_are_cut() {
    for wire in corpus::wire_cases() {
        for name in GRAMMARS {
            let read = |size: usize| {
                let mut reply = Reply::new(wire.dialect);
                if let Some(name) = name {
                    reply = reply.with_tags(Tagger::new(profile(name).unwrap(), None, "t").unwrap());
                }
                let mut follower = Follower::default();
                let mut look = |mut changes: Changes<'_>| {
                    while let Some((change, message)) = changes.next() {
                        follower.follow(&change, message);
                    }
                };
                wire.case.input.chunks(size).for_each(|piece| look(reply.push(piece)));
                look(reply.finish());
                follower.outcome(reply.message())
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

/// A message with a tagger before it, and a copy that follows it.
pub(crate) struct Tagged {
    tagger: Tagger,
    pub(crate) message: Message,
    pub(crate) follower: Follower,
}

impl Tagged {
    pub(crate) fn new(grammar: &Grammar) -> Self {
        Self::with_tagger(Tagger::new(grammar, None, "t").unwrap())
    }

    pub(crate) fn with_tagger(tagger: Tagger) -> Self {
        Self { tagger, message: Message::default(), follower: Follower::default() }
    }

    pub(crate) fn take(&mut self, event: Event<'_>) -> &mut Self {
        let Self { tagger, message, follower } = self;
        let mut apply = |event: Event<'_>| {
            if matches!(event, Event::Started(_)) {
                *message = Message::default();
            }
            let change = message.apply(event, Place::default());
            follower.follow(&change, message);
        };
        tagger.push(event, Place::default()).into_iter().for_each(&mut apply);
        while let Some(event) = tagger.next_event() {
            apply(event);
        }
        self
    }
}

/// The outcome of a message with one text block that arrives in these pieces.
fn of_text(grammar: &Grammar, pieces: &[&[u8]], end: End) -> Outcome {
    Tagged::new(grammar).of_text(pieces, end)
}

impl Tagged {
    fn of_text(mut self, pieces: &[&[u8]], end: End) -> Outcome {
        let tagged = &mut self;
        let slot = Slot::new(0);
        tagged.take(Event::Opened { block: slot, choice: 0, opening: Opening::Text { refusal: false } });
        let mut held = Vec::new();
        for piece in pieces {
            held.extend_from_slice(piece);
            let whole = std::str::from_utf8(&held).map_or_else(|error| error.valid_up_to(), str::len);
            let text = std::str::from_utf8(&held[..whole]).unwrap();
            tagged.take(Event::Grew { block: slot, text });
            held.drain(..whole);
        }
        match end {
            End::Stopped => {
                tagged.take(Event::Closed { block: slot, end: None, raw: None }).take(Event::Ended);
            }
            End::Failed => {
                let failure = Failure { kind: None, message: "overloaded".to_owned(), raw: Value::Null };
                tagged.take(Event::Failed(failure));
            }
            End::Cut => drop(tagged.take(Event::Cut)),
        }
        self.follower.outcome(&self.message)
    }
}

/// The texts of `corpus/tags` with their grammars, and the names of the cases.
fn texts() -> Vec<(&'static Grammar, String, String)> {
    let texts = profiles().iter().flat_map(|grammar| {
        let cases = corpus::cases(&format!("tags/{}", grammar.name)).into_iter();
        cases.map(move |case| (grammar, String::from_utf8_lossy(&case.input).into_owned(), case.name))
    });
    texts.collect()
}

#[test]
fn texts_of_the_corpus_have_the_same_blocks_however_they_are_cut() {
    for (grammar, text, _) in texts() {
        for end in [End::Stopped, End::Cut] {
            same_for_every_cut(text.as_bytes(), |pieces| {
                let Outcome { message, form, lines } = of_text(grammar, pieces, end);
                // How often something grew depends on the cut, and so does the place of a diagnostic among
                // the changes of one piece. Nothing else does.
                let depends = |line: &String| line.contains("grew\":") || line.starts_with("{\"noticed");
                (message, form, lines.into_iter().filter(|line| !depends(line)).collect::<Vec<_>>())
            });
        }
    }
}

#[test]
fn the_blocks_of_a_text_are_those_of_its_parser() {
    let corpus_tools = corpus_tools();
    let texts = texts();
    let with_each = |tools| texts.iter().map(move |(grammar, text, name)| (*grammar, text, name, tools));
    for (grammar, text, name, tools) in with_each(None).chain(with_each(Some(&corpus_tools))) {
        let mut parser = Parser::new(grammar, tools).unwrap();
        parser.push(text).unwrap();
        parser.finish();
        let tagger = Tagger::new(grammar, tools, "t").unwrap();
        let Outcome { message, .. } = Tagged::with_tagger(tagger).of_text(&[text.as_bytes()], End::Stopped);
        assert_eq!(message.blocks().len(), parser.blocks().len(), "{name}");
        for (block, read) in message.blocks().zip(parser.blocks()) {
            match (block.body(), read) {
                (Body::Text { text, .. }, Block::Text { text: read, .. })
                | (Body::Thinking { text, .. }, Block::Thinking { text: read, .. }) => {
                    assert_eq!(*text, read, "{name}");
                }
                (Body::ToolCall(call), Block::Call(read)) => {
                    assert_eq!((&*call.name, call.end()), (read.name(), read.end()), "{name}");
                    assert_eq!(call.raw.as_ref().unwrap().to_str(), read.raw(), "{name}");
                    // What has arrived of them, also if the call is cut.
                    if let Some(input) = call.input() {
                        assert_eq!(sorted(&input), sorted(&read.args()), "{name}");
                    }
                }
                (block, read) => panic!("{name}: {block:?} is not {read:?}"),
            }
            assert!(block.end().is_some(), "{name}");
        }
        assert_eq!(message.diagnostics().len(), parser.diagnostics().len(), "{name}");
    }
}

/// The arguments sorted by name: the value of a repeated parameter is at the place of the first one in a
/// message, and at the place of the last one in a parser.
fn sorted(args: &Value) -> Vec<(&str, &Value)> {
    let mut members: Vec<_> = args.as_object().unwrap().iter().collect();
    members.sort_by_key(|(name, _)| *name);
    members
}

#[test]
fn a_message_that_fails_has_the_blocks_of_one_that_is_cut() {
    for (grammar, text, name) in texts() {
        let [cut, failed] =
            [End::Cut, End::Failed].map(|end| of_text(grammar, &[text.as_bytes()], end).message);
        assert!(cut.blocks().eq(failed.blocks()), "{name}");
        assert!(cut.blocks().all(|block| block.end().is_some()), "{name}");
    }
}

/// Wherever a text is cut off: a call that is complete then is the same when the rest comes.
#[test]
fn a_call_that_is_complete_in_a_cut_text_is_complete_in_the_whole_text() {
    for (grammar, text, name) in texts().into_iter().filter(|(_, text, _)| text.len() < 400) {
        let complete = |text: &str, end| {
            let Outcome { message, .. } = of_text(grammar, &[text.as_bytes()], end);
            let calls = message.blocks().filter_map(|block| match block.body() {
                Body::ToolCall(call) => match &call.args {
                    Args::Complete(input) => Some((block.slot(), call.name.clone(), input.clone())),
                    Args::Streaming(_) | Args::Cut(_) | Args::Malformed { .. } => None,
                },
                _ => None,
            });
            calls.collect::<Vec<(Slot, String, Value)>>()
        };
        let whole = complete(&text, End::Stopped);
        for cut in (0..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let cut_off = complete(&text[..cut], End::Cut);
            assert!(whole.starts_with(&cut_off), "{name}, cut off at {cut}:\n{cut_off:?}\n{whole:?}");
        }
    }
}
