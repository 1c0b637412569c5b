//! A reply as agent events, and those folded into chunks: every reply and every text of the corpus, cut in
//! every way.

use expect_test::expect;
use reknit::agent::{AgentEvent, Bridge};
use reknit::event::{Event, Failure, Keep, Notation, Opening, Owner, Runner, Slot, Stop, StopReason, Usage};
use reknit::json::{Object, Value};
use reknit::message::{Change as MessageChange, State};
use reknit::parts::{Address, Args, Change, Part, Parts};
use reknit::reply::Changes;
use reknit::tags::{Grammar, profile, profiles};
use reknit::transcript::{Chunk, Chunks, append};
use reknit::{Limits, Message, Reply, diagnostic::Place};

use crate::corpus;
use crate::cuts::{cut_at_random, same_for_every_cut, whole_characters};

/// A reply on its way to chunks.
struct Way {
    parts: Parts,
    bridge: Bridge,
    events: Vec<AgentEvent>,
    chunks: Chunks,
    /// The parts of the message in the order in which they were opened.
    order: Vec<Address>,
    /// The parts of the first choice in that order, of every message that is over.
    said: Vec<Part>,
}

impl Way {
    fn new(grammar: Option<&Grammar>) -> Self {
        let limits = Limits::default();
        let parts = match grammar {
            Some(grammar) => Parts::with_grammar(grammar, None, "t", &limits).unwrap(),
            None => Parts::new(&limits),
        };
        let (bridge, chunks) = (Bridge::new(), Chunks::default());
        Self { parts, bridge, events: Vec::new(), chunks, order: Vec::new(), said: Vec::new() }
    }

    fn follow(&mut self, message: &Message, change: &MessageChange<'_>) {
        let mut changes = self.parts.follow(message, change);
        while let Some((change, list)) = changes.next() {
            self.bridge.follow(&change, list, message);
            if let Change::Opened { part, choice: 0, .. } = change {
                self.order.push(part);
            }
        }
        drop(changes);
        if let MessageChange::Ended { .. } | MessageChange::Cut {} | MessageChange::Failed(_) = change {
            let parts = self.order.drain(..).filter_map(|part| self.parts.list().part(part).cloned());
            self.said.extend(parts);
        }
        self.take();
    }

    fn finish(mut self) -> Self {
        self.bridge.finish();
        self.take();
        self
    }

    fn take(&mut self) {
        while let Some(event) = self.bridge.next_event() {
            let line = serde_json::to_string(&event).unwrap();
            assert_eq!(serde_json::from_str::<AgentEvent>(&line).unwrap(), event, "{line}");
            append(&mut self.chunks, &event);
            self.events.push(event);
        }
    }

    /// The events, with neighbouring deltas of one part joined.
    fn joined(&self) -> Vec<AgentEvent> {
        let mut joined: Vec<AgentEvent> = Vec::new();
        for event in &self.events {
            match (joined.last_mut(), event) {
                (Some(AgentEvent::TextDelta { delta }), AgentEvent::TextDelta { delta: next })
                | (Some(AgentEvent::ReasoningDelta { delta }), AgentEvent::ReasoningDelta { delta: next }) => {
                    delta.push_str(next);
                }
                (
                    Some(AgentEvent::ToolInputDelta { tool_call_id: id, delta }),
                    AgentEvent::ToolInputDelta { tool_call_id, delta: next },
                ) if id == tool_call_id => delta.push_str(next),
                _ => joined.push(event.clone()),
            }
        }
        joined
    }

    /// What must hold of the events and the chunks of any reply.
    fn check(&self, name: &str) {
        assert_eq!(self.chunks.diagnostics(), [], "{name}");
        let (mut texts, mut thoughts) = (String::new(), Vec::new());
        for chunk in self.chunks.list() {
            match chunk {
                Chunk::Text { text } => texts.push_str(&text.to_str()),
                Chunk::Thinking { text, metadata } => {
                    let sealed = metadata.as_ref().and_then(Value::as_object).and_then(seal);
                    thoughts.push((text.to_string(), sealed));
                }
                Chunk::ToolBatch { .. } | Chunk::Error { .. } | Chunk::System { .. } => {}
            }
        }
        let said_texts: String = self.said.iter().filter_map(text_of).collect();
        assert_eq!(texts, said_texts, "{name}");
        let said_thoughts: Vec<_> = self.said.iter().filter_map(thought_of).collect();
        let joined = |thoughts: &[Thought]| thoughts.iter().map(|(text, _)| &**text).collect::<String>();
        assert_eq!(joined(&thoughts), joined(&said_thoughts), "{name}");
        let sealed = |thoughts: Vec<Thought>| thoughts.into_iter().filter(|(_, sealed)| sealed.is_some());
        let (shown, said): (Vec<_>, Vec<_>) = (sealed(thoughts).collect(), sealed(said_thoughts).collect());
        assert_eq!(shown.len(), said.len(), "{name}");
        for ((shown, seal), (said, signed)) in shown.iter().zip(&said) {
            assert_eq!(seal, signed, "{name}");
            // Thinking that something else interrupts is in several chunks.
            assert!(said.ends_with(shown), "{name}: {said:?} is sealed as {shown:?}");
        }
        self.check_calls(name);
    }

    fn check_calls(&self, name: &str) {
        for part in &self.said {
            let Part::Call(call) = part else { continue };
            let calls = self.events.iter().filter_map(|event| match event {
                AgentEvent::ToolCall { tool_call } if tool_call.id == call.id => Some(tool_call),
                _ => None,
            });
            let calls: Vec<_> = calls.collect();
            let errors = self.events.iter().filter(
                |event| matches!(event, AgentEvent::ToolInputError { tool_call_id, .. } if *tool_call_id == call.id),
            );
            let deltas = self.events.iter().filter_map(|event| match event {
                AgentEvent::ToolInputDelta { tool_call_id, delta } if *tool_call_id == call.id => {
                    Some(&**delta)
                }
                _ => None,
            });
            let written: String = deltas.collect();
            let shown = self.chunks.call(&call.id).unwrap_or_else(|| panic!("{name}: no {}", call.id));
            assert_eq!(shown.name, call.name, "{name}");
            match &call.args {
                Args::Complete(arguments) => {
                    let [whole] = calls.as_slice() else { panic!("{name}: {calls:?}") };
                    assert_eq!((&whole.name, &whole.arguments), (&call.name, arguments), "{name}");
                    assert_eq!(errors.count(), 0, "{name}");
                    assert_eq!(shown.arguments(), Some(arguments), "{name}");
                    // Free text is no JSON; a call that started at its end, or has no arguments, has no deltas.
                    if !written.is_empty() && !matches!(arguments, Value::String(_)) {
                        let text: Value = written.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
                        // Some write the object into a string, or `null` for an empty one.
                        if text.as_object().is_some() {
                            assert_eq!(text, *arguments, "{name}: {written}");
                        }
                    }
                }
                _ => {
                    assert_eq!((calls.len(), errors.count()), (0, 1), "{name}");
                    assert_eq!(shown.arguments(), None, "{name}");
                }
            }
        }
    }
}

fn text_of(part: &Part) -> Option<String> {
    match part {
        Part::Text { text, .. } => Some(text.to_string()),
        _ => None,
    }
}

/// The text of thinking, and what has to go back with it.
type Thought = (String, Option<String>);

/// The thinking of a part, if it has text or something that has to go back.
fn thought_of(part: &Part) -> Option<Thought> {
    let Part::Thinking { text, signature, redacted, state } = part else { return None };
    let signature =
        Some(signature.to_string()).filter(|signed| !signed.is_empty() && *state == State::Closed);
    let members = [("signature", signature), ("redactedData", redacted.clone())];
    let members = members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), Value::from(value?))));
    let sealed = seal(&members.collect());
    (!text.is_empty() || sealed.is_some()).then(|| (text.to_string(), sealed))
}

/// What metadata has beside the provider's own fields.
fn seal(metadata: &Object) -> Option<String> {
    let seals = metadata.iter().filter(|(name, _)| ["signature", "redactedData"].contains(name));
    let seals: Object = seals.map(|(name, value)| (name, value.clone())).collect();
    (!seals.is_empty()).then(|| Value::from(seals).to_string())
}

/// One grammar of each sort: none, tags of names, JSON in tags, a list, thinking, channels.
const GRAMMARS: [Option<&str>; 6] =
    [None, Some("cline"), Some("hermes"), Some("pythonic"), Some("qwen3"), Some("harmony")];

#[test]
fn replies_of_the_corpus_are_told_the_same_however_they_are_cut() {
    for wire in corpus::wire_cases() {
        for name in GRAMMARS {
            let read = |pieces: &[&[u8]]| {
                let mut reply = Reply::new(wire.dialect);
                let mut way = Way::new(name.map(|name| profile(name).unwrap()));
                let mut look = |mut changes: Changes<'_>| {
                    while let Some((change, message)) = changes.next() {
                        way.follow(message, &change);
                    }
                };
                pieces.iter().for_each(|piece| look(reply.push(piece)));
                look(reply.finish());
                way.finish()
            };
            let whole = read(&[&wire.case.input]);
            whole.check(&format!("corpus/{} with {name:?}", wire.case.name));
            let bytes: Vec<_> = wire.case.input.chunks(1).collect();
            for pieces in [bytes, cut_at_random(&wire.case.input, 1)] {
                let cut = read(&pieces);
                assert_eq!(cut.events, whole.events, "corpus/{} with {name:?}", wire.case.name);
                assert_eq!(cut.chunks, whole.chunks, "corpus/{} with {name:?}", wire.case.name);
            }
        }
    }
}

/// How a message with one text ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Stopped,
    Cut,
}

/// What is told of a message with one text, which comes in these pieces.
fn of_text(grammar: &Grammar, pieces: &[&[u8]], end: End) -> Way {
    let mut message = Message::default();
    let mut way = Way::new(Some(grammar));
    let block = Slot(0);
    let mut take = |message: &mut Message, event: Event<'_>| {
        let change = message.apply(event, Place::default());
        way.follow(message, &change);
    };
    take(&mut message, Event::Opened { block, choice: 0, opening: Opening::Text { refusal: false } });
    for text in whole_characters(pieces) {
        take(&mut message, Event::Grew { block, text: &text });
    }
    match end {
        End::Stopped => {
            take(&mut message, Event::Closed { block });
            take(&mut message, Event::Ended);
        }
        End::Cut => {
            let change = message.cut().unwrap();
            way.follow(&message, &change);
        }
    }
    way.finish()
}

#[test]
fn texts_of_the_corpus_are_told_the_same_however_they_are_cut() {
    // Those that are there for comparison read a value again when it is over: what is shown on the way
    // depends on the cut then.
    let grammars = profiles().iter().filter(|grammar| !matches!(&*grammar.name, "cline-v2" | "roo-v1"));
    for grammar in grammars {
        for case in corpus::cases(&format!("tags/{}", grammar.name)) {
            let text = String::from_utf8_lossy(&case.input).into_owned();
            for end in [End::Stopped, End::Cut] {
                of_text(grammar, &[text.as_bytes()], end).check(&format!("{} {end:?}", case.name));
                same_for_every_cut(text.as_bytes(), |pieces| {
                    let way = of_text(grammar, pieces, end);
                    (way.joined(), way.chunks.list().to_vec())
                });
            }
        }
    }
}

/// What is told of a message that these events make, a line each.
fn told(events: Vec<Event<'_>>) -> String {
    let mut message = Message::default();
    let mut way = Way::new(None);
    for event in events {
        let change = message.apply(event, Place::default());
        way.follow(&message, &change);
    }
    let way = way.finish();
    assert_eq!(way.chunks.diagnostics(), []);
    way.events.iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect()
}

fn opened(block: u32, opening: Opening) -> Event<'static> {
    Event::Opened { block: Slot(block), choice: 0, opening }
}

fn grew(block: u32, text: &str) -> Event<'_> {
    Event::Grew { block: Slot(block), text }
}

fn closed(block: u32) -> Event<'static> {
    Event::Closed { block: Slot(block) }
}

fn call(id: &str) -> Opening {
    let (id, name) = (id.to_owned(), "f".to_owned());
    Opening::ToolCall { id, name, runner: Runner::Client, notation: Notation::Json }
}

const TEXT: Opening = Opening::Text { refusal: false };
const THINKING: Opening = Opening::Thinking { redacted: None };

#[test]
fn texts_that_grow_side_by_side_are_told_one_after_the_other() {
    let events = vec![
        opened(0, TEXT),
        opened(1, TEXT),
        opened(2, THINKING),
        grew(0, "a"),
        grew(1, "x"),
        grew(2, "hm"),
        grew(0, "b"),
        grew(1, "y"),
        closed(0),
        grew(1, "z"),
        closed(2),
        closed(1),
    ];
    expect![[r#"
        {"type":"text-delta","delta":"a"}
        {"type":"reasoning-delta","delta":"hm"}
        {"type":"text-delta","delta":"b"}
        {"type":"text-delta","delta":"x"}
        {"type":"text-delta","delta":"y"}
        {"type":"text-delta","delta":"z"}
        {"type":"reasoning-end"}
    "#]]
    .assert_eq(&told(events));
}

#[test]
fn thinking_keeps_its_signature_to_itself() {
    let signed = |signature| Event::Signed { block: Slot(1), signature };
    let events = vec![
        opened(0, THINKING),
        grew(0, "one"),
        closed(0),
        opened(1, THINKING),
        grew(1, "two"),
        signed("ab"),
        signed("cd"),
        closed(1),
        opened(2, THINKING),
        closed(2),
    ];
    expect![[r#"
        {"type":"reasoning-delta","delta":"one"}
        {"type":"reasoning-end"}
        {"type":"reasoning-end","metadata":{}}
        {"type":"reasoning-delta","delta":"two"}
        {"type":"reasoning-end","metadata":{"signature":"abcd"}}
    "#]]
    .assert_eq(&told(events));
}

#[test]
fn half_a_signature_is_none() {
    let events = vec![
        opened(0, THINKING),
        grew(0, "one"),
        Event::Signed { block: Slot(0), signature: "ab" },
        Event::Failed(Failure { kind: None, message: "gone".to_owned(), raw: Value::Null }),
    ];
    expect![[r#"
        {"type":"reasoning-delta","delta":"one"}
        {"type":"reasoning-end"}
        {"type":"error","error":"gone"}
    "#]]
    .assert_eq(&told(events));
}

#[test]
fn a_reply_that_the_provider_has_paused_ends_so() {
    let stop = Stop { reason: StopReason::Pause, detail: "pause_turn".to_owned() };
    let events = vec![
        opened(0, TEXT),
        grew(0, "I search."),
        closed(0),
        Event::Usage(Usage { output: Some(4), ..Usage::default() }),
        Event::Stopped { choice: 0, stop },
        Event::Ended,
    ];
    expect![[r#"
        {"type":"text-delta","delta":"I search."}
        {"type":"turn-paused"}
        {"type":"usage","usage":{"outputTokens":4}}
    "#]]
    .assert_eq(&told(events));
}

/// Whoever waits is told in the order of beginning, not of ending.
#[test]
fn texts_that_end_while_they_wait_are_told_in_order() {
    let events = vec![
        opened(0, TEXT),
        opened(1, TEXT),
        opened(2, TEXT),
        grew(2, "three"),
        closed(2),
        grew(1, "two "),
        closed(1),
        grew(0, "one "),
        closed(0),
        opened(3, TEXT),
        grew(3, ", four"),
    ];
    expect![[r#"
        {"type":"text-delta","delta":"one "}
        {"type":"text-delta","delta":"two "}
        {"type":"text-delta","delta":"three"}
        {"type":"text-delta","delta":", four"}
    "#]]
    .assert_eq(&told(events));
}

#[test]
fn calls_with_one_id_are_told_one_after_the_other() {
    let events = vec![
        opened(0, call("c")),
        opened(1, call("c")),
        grew(0, "{\"a\":"),
        grew(1, "{}"),
        closed(1),
        grew(0, "1}"),
        closed(0),
    ];
    expect![[r#"
        {"type":"tool-input-start","toolCallId":"c","toolName":"f"}
        {"type":"tool-input-delta","toolCallId":"c","delta":"{\"a\":"}
        {"type":"tool-input-delta","toolCallId":"c","delta":"1}"}
        {"type":"tool-call","toolCall":{"id":"c","name":"f","arguments":{"a":1}}}
        {"type":"tool-input-start","toolCallId":"c","toolName":"f"}
        {"type":"tool-input-delta","toolCallId":"c","delta":"{}"}
        {"type":"tool-call","toolCall":{"id":"c","name":"f","arguments":{}}}
    "#]]
    .assert_eq(&told(events));
}

#[test]
fn a_call_starts_when_its_name_and_id_are_sure() {
    let named = |block, id: &'static str, name: &'static str| Event::Named {
        block: Slot(block),
        id: id.into(),
        name: name.into(),
    };
    let events = vec![
        opened(0, call("c0")),
        named(0, "c0", "f_long"),
        // An id that was made up, and stays.
        opened(1, call("call_1")),
        grew(1, "{}"),
        opened(2, TEXT),
        grew(2, "So."),
        closed(0),
        closed(1),
        closed(2),
        Event::Usage(Usage { input: Some(3), ..Usage::default() }),
        Event::Ended,
        Event::Usage(Usage { output: Some(4), ..Usage::default() }),
    ];
    expect![[r#"
        {"type":"tool-input-start","toolCallId":"c0","toolName":"f_long"}
        {"type":"text-delta","delta":"So."}
        {"type":"tool-call","toolCall":{"id":"c0","name":"f_long","arguments":{}}}
        {"type":"tool-input-start","toolCallId":"call_1","toolName":"f"}
        {"type":"tool-call","toolCall":{"id":"call_1","name":"f","arguments":{}}}
        {"type":"usage","usage":{"inputTokens":3,"outputTokens":4}}
    "#]]
    .assert_eq(&told(events));
}

fn kept(block: u32, key: &'static str, value: Value) -> Event<'static> {
    Event::Kept { owner: Owner::Block(Slot(block)), key: key.into(), keep: Keep::Set(value) }
}

#[test]
fn what_a_provider_sent_with_a_text_comes_behind_it() {
    let events = vec![
        opened(0, TEXT),
        opened(1, TEXT),
        grew(0, "signed"),
        grew(1, "plain"),
        kept(0, "thoughtSignature", "c2ln".into()),
        closed(1),
        closed(0),
        // One that says nothing.
        opened(2, TEXT),
        kept(2, "thoughtSignature", "bW9yZQ==".into()),
        closed(2),
        // One that is cut is not what was signed.
        opened(3, TEXT),
        grew(3, "half"),
        kept(3, "thoughtSignature", "bGF0ZQ==".into()),
        Event::Failed(Failure { kind: None, message: "gone".to_owned(), raw: Value::Null }),
    ];
    expect![[r#"
        {"type":"text-delta","delta":"signed"}
        {"type":"provider-block","kind":"text","block":{"thoughtSignature":"c2ln"}}
        {"type":"text-delta","delta":"plain"}
        {"type":"provider-block","kind":"text","block":{"thoughtSignature":"bW9yZQ=="}}
        {"type":"text-delta","delta":"half"}
        {"type":"error","error":"gone"}
    "#]]
    .assert_eq(&told(events));
}

#[test]
fn a_text_with_calls_in_it_has_its_fields_once() {
    for text in ["I look. <read><path>a</path></read>", "<read><path>a</path></read> I looked."] {
        let mut message = Message::default();
        let mut way = Way::new(Some(profile("cline").unwrap()));
        let events = [opened(0, TEXT), grew(0, text), kept(0, "thoughtSignature", "c2ln".into()), closed(0)];
        for event in events {
            let change = message.apply(event, Place::default());
            way.follow(&message, &change);
        }
        let fields = |event: &AgentEvent| matches!(event, AgentEvent::ProviderBlock { .. });
        let events = way.finish().events;
        assert_eq!(events.iter().position(fields), Some(events.len() - 1), "{events:?}");
    }
}

#[test]
fn a_result_of_the_provider_finds_its_call() {
    let result = |call_id: Option<&str>| Opening::ToolResult {
        kind: "found".to_owned(),
        call_id: call_id.map(str::to_owned),
    };
    let events = vec![
        opened(0, call("c")),
        closed(0),
        opened(1, result(Some("c"))),
        kept(1, "content", r#"{"type": "search_error"}"#.parse().unwrap()),
        closed(1),
        opened(2, result(None)),
        kept(2, "hits", 3.into()),
        closed(2),
        opened(3, Opening::Other { kind: "picture".to_owned() }),
        // One that is cut must not go back.
        opened(4, Opening::Other { kind: "sound".to_owned() }),
        closed(3),
        Event::Failed(Failure {
            kind: Some("busy".to_owned()),
            message: "later".to_owned(),
            raw: r#"{"error": {"code": 503}}"#.parse().unwrap(),
        }),
    ];
    expect![[r#"
        {"type":"tool-input-start","toolCallId":"c","toolName":"f"}
        {"type":"tool-call","toolCall":{"id":"c","name":"f","arguments":{}}}
        {"type":"tool-result","toolResult":{"toolCallId":"c","result":{"content":{"type":"search_error"}},"isError":true}}
        {"type":"provider-block","kind":"found","block":{"hits":3}}
        {"type":"provider-block","kind":"picture","block":{}}
        {"type":"error","error":"busy: later","statusCode":503}
    "#]]
    .assert_eq(&told(events));
}
