//! From replies to agent events, and from those to chunks: every reply and every text in the corpus, cut in
//! every way.

use expect_test::expect;
use reknit::agent::{AgentEvent, Bridge};
use reknit::event::{CallId, Event, Failure, Keep, Notation, Opening, Origin, Owner, Runner, Slot, Stop};
use reknit::event::{StopReason, Usage};
use reknit::json::{Object, Value};
use reknit::message::{Args, Block, Body, Change};
use reknit::reply::Changes;
use reknit::tags::{Grammar, Tagger, profile, profiles};
use reknit::transcript::{Call, Chunk, Chunks, Input, append};
use reknit::{Message, Reply, diagnostic::Place};

use crate::corpus;
use crate::cuts::{cut_at_random, same_for_every_cut, whole_characters};

/// A reply with its events and chunks so far.
#[derive(Default)]
struct Way {
    bridge: Bridge,
    events: Vec<AgentEvent>,
    chunks: Chunks,
    /// The blocks of the message in the order in which they were opened.
    order: Vec<Slot>,
    /// The blocks of the first choice of all finished messages, in that order.
    said: Vec<Block>,
}

impl Way {
    fn follow(&mut self, message: &Message, change: &Change<'_>) {
        let events: Vec<_> = self.bridge.follow(change, message).collect();
        self.take(events);
        match change {
            Change::Opened { block, choice: 0, .. } => self.order.push(*block),
            Change::Ended { .. } | Change::Cut {} | Change::Failed(_) => {
                let blocks = self.order.drain(..).filter_map(|block| message.block(block).cloned());
                self.said.extend(blocks);
            }
            _ => {}
        }
    }

    fn finish(mut self) -> Self {
        let events: Vec<_> = self.bridge.finish().collect();
        self.take(events);
        self
    }

    fn take(&mut self, events: Vec<AgentEvent>) {
        for event in events {
            let line = serde_json::to_string(&event).unwrap();
            assert_eq!(serde_json::from_str::<AgentEvent>(&line).unwrap(), event, "{line}");
            append(&mut self.chunks, &event);
            self.events.push(event);
        }
    }

    /// The events, with consecutive deltas of a block joined.
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

    /// The call with this id; if there are several, the first one in the last batch that has the id.
    fn shown(&self, id: &str) -> Option<&Call> {
        self.chunks.iter().rev().find_map(|chunk| match chunk {
            Chunk::ToolBatch { calls } => calls.iter().find(|call| call.id == id),
            _ => None,
        })
    }

    /// Checks what has to be true for any reply.
    fn check(&self, name: &str) {
        assert_eq!(**self.chunks.diagnostics(), [], "{name}");
        let (mut texts, mut thoughts) = (String::new(), Vec::new());
        for chunk in self.chunks.iter() {
            match chunk {
                Chunk::Text { text } => texts.push_str(&text.to_str()),
                Chunk::Thinking { text, metadata } => {
                    let sealed = metadata.as_ref().and_then(Value::as_object).and_then(seal);
                    thoughts.push((text.to_string(), sealed));
                }
                _ => {}
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
            // Thinking that is interrupted is in several chunks.
            assert!(said.ends_with(shown), "{name}: {said:?} is sealed as {shown:?}");
        }
        self.check_calls(name);
    }

    fn check_calls(&self, name: &str) {
        for block in &self.said {
            let Body::ToolCall(call) = block.body() else { continue };
            let calls = self.events.iter().filter_map(|event| match event {
                AgentEvent::ToolCall { tool_call } if *tool_call.id == *call.id => Some(tool_call),
                _ => None,
            });
            let calls: Vec<_> = calls.collect();
            let errors = self.events.iter().filter(
                |event| matches!(event, AgentEvent::ToolInputError { tool_call_id, .. } if **tool_call_id == *call.id),
            );
            let deltas = self.events.iter().filter_map(|event| match event {
                AgentEvent::ToolInputDelta { tool_call_id, delta } if **tool_call_id == *call.id => {
                    Some(&**delta)
                }
                _ => None,
            });
            let written: String = deltas.collect();
            let shown = self.shown(&call.id).unwrap_or_else(|| panic!("{name}: no {}", call.id));
            assert_eq!(shown.name, call.name, "{name}");
            match &call.args {
                Args::Complete(arguments) => {
                    let [whole] = calls.as_slice() else { panic!("{name}: {calls:?}") };
                    assert_eq!((&whole.name, &whole.arguments), (&call.name, arguments), "{name}");
                    assert_eq!(errors.count(), 0, "{name}");
                    assert_eq!(shown.input, Input::Whole { arguments: arguments.clone() }, "{name}");
                    // Free text is not JSON. A call that started at its end or has no arguments has no
                    // deltas.
                    if !written.is_empty() && !matches!(arguments, Value::String(_)) {
                        let text: Value = written.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
                        // Some servers send the object as a string, or `null` for an empty one.
                        if text.as_object().is_some() {
                            assert_eq!(text, *arguments, "{name}: {written}");
                        }
                    }
                }
                _ => {
                    assert_eq!((calls.len(), errors.count()), (0, 1), "{name}");
                    assert!(!matches!(shown.input, Input::Whole { .. }), "{name}");
                }
            }
        }
    }
}

fn text_of(block: &Block) -> Option<String> {
    match block.body() {
        Body::Text { text, .. } => Some(text.to_string()),
        _ => None,
    }
}

/// The text of thinking, and what has to be sent back with it.
type Thought = (String, Option<String>);

/// The thinking in a block, if it has text or something that has to be sent back.
fn thought_of(block: &Block) -> Option<Thought> {
    let Body::Thinking { text, signature, redacted } = block.body() else { return None };
    let is_closed = block.end() == Some(reknit::event::End::Closed);
    let signature = Some(signature.to_string()).filter(|signed| !signed.is_empty() && is_closed);
    let members = [("signature", signature), ("redactedData", redacted.clone())];
    let members = members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), Value::from(value?))));
    let sealed = seal(&members.collect());
    (!text.is_empty() || sealed.is_some()).then(|| (text.to_string(), sealed))
}

/// The metadata without the provider's own fields.
fn seal(metadata: &Object) -> Option<String> {
    let seals = metadata.iter().filter(|(name, _)| ["signature", "redactedData"].contains(name));
    let seals: Object = seals.map(|(name, value)| (name, value.clone())).collect();
    (!seals.is_empty()).then(|| Value::from(seals).to_string())
}

/// No grammar, and one of each kind: tags with names, JSON in tags, a list, thinking, channels.
const GRAMMARS: [Option<&str>; 6] =
    [None, Some("cline"), Some("hermes"), Some("pythonic"), Some("qwen3"), Some("harmony")];

#[test]
fn replies_give_the_same_events_for_every_cut() {
    for wire in corpus::wire_cases() {
        for name in GRAMMARS {
            let read = |pieces: &[&[u8]]| {
                let mut reply = Reply::new(wire.dialect);
                if let Some(name) = name {
                    reply = reply.with_tags(Tagger::new(profile(name).unwrap(), None, "t").unwrap());
                }
                let mut way = Way::default();
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

/// How a message ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Stopped,
    Cut,
}

/// The events of a message with one text, which arrives in these pieces.
fn of_text(grammar: &Grammar, pieces: &[&[u8]], end: End) -> Way {
    let texts = whole_characters(pieces);
    let mut events = vec![opened(0, TEXT)];
    events.extend(texts.iter().map(|text| grew(0, text)));
    match end {
        End::Stopped => events.extend([closed(0), Event::Ended]),
        End::Cut => events.push(Event::Cut),
    }
    of_events(Some(grammar), events)
}

/// The agent events of a message that is made of these events.
fn of_events(grammar: Option<&Grammar>, events: Vec<Event<'_>>) -> Way {
    let (mut message, mut way) = (Message::default(), Way::default());
    let mut tagger = grammar.map(|grammar| Tagger::new(grammar, None, "t").unwrap());
    let mut apply = |event: Event<'_>| {
        let change = message.apply(event, Place::default());
        way.follow(&message, &change);
    };
    for event in events {
        let Some(tagger) = &mut tagger else {
            apply(event);
            continue;
        };
        tagger.push(event, Place::default()).into_iter().for_each(&mut apply);
        while let Some(event) = tagger.next_event() {
            apply(event);
        }
    }
    way.finish()
}

#[test]
fn texts_give_the_same_events_for_every_cut() {
    for grammar in profiles() {
        for case in corpus::cases(&format!("tags/{}", grammar.name)) {
            let text = String::from_utf8_lossy(&case.input).into_owned();
            for end in [End::Stopped, End::Cut] {
                of_text(grammar, &[text.as_bytes()], end).check(&format!("{} {end:?}", case.name));
                same_for_every_cut(text.as_bytes(), |pieces| {
                    let way = of_text(grammar, pieces, end);
                    (way.joined(), way.chunks.to_vec())
                });
            }
        }
    }
}

/// The agent events of a message that is made of these events, one per line.
fn reported(events: Vec<Event<'_>>) -> String {
    let way = of_events(None, events);
    assert_eq!(**way.chunks.diagnostics(), []);
    way.events.iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect()
}

fn opened(block: u32, opening: Opening) -> Event<'static> {
    Event::Opened { block: Slot::new(block), choice: 0, opening }
}

fn grew(block: u32, text: &str) -> Event<'_> {
    Event::Grew { block: Slot::new(block), text }
}

fn closed(block: u32) -> Event<'static> {
    Event::Closed { block: Slot::new(block), end: None, raw: None }
}

fn call(id: &str) -> Opening {
    call_with(CallId::Given(id.to_owned()))
}

fn call_with(id: CallId) -> Opening {
    let (name, runner, notation) = ("f".to_owned(), Runner::Client, Notation::Json);
    Opening::ToolCall { id, name, runner, notation, origin: Origin::Native }
}

const TEXT: Opening = Opening::Text { refusal: false };
const THINKING: Opening = Opening::Thinking { redacted: None };

#[test]
fn texts_that_grow_at_the_same_time_come_one_after_the_other() {
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
    .assert_eq(&reported(events));
}

#[test]
fn thinking_keeps_its_signature_to_itself() {
    let signed = |signature| Event::Signed { block: Slot::new(1), signature };
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
    .assert_eq(&reported(events));
}

#[test]
fn an_incomplete_signature_is_left_out() {
    let events = vec![
        opened(0, THINKING),
        grew(0, "one"),
        Event::Signed { block: Slot::new(0), signature: "ab" },
        Event::Failed(Failure { kind: None, message: "gone".to_owned(), raw: Value::Null }),
    ];
    expect![[r#"
        {"type":"reasoning-delta","delta":"one"}
        {"type":"reasoning-end"}
        {"type":"error","error":"gone"}
    "#]]
    .assert_eq(&reported(events));
}

#[test]
fn a_paused_reply_ends_with_turn_paused() {
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
    .assert_eq(&reported(events));
}

/// Blocks that wait come in the order in which they started, not in the order in which they ended.
#[test]
fn texts_that_end_while_they_wait_come_in_order() {
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
    .assert_eq(&reported(events));
}

#[test]
fn calls_with_the_same_id_come_one_after_the_other() {
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
    .assert_eq(&reported(events));
}

#[test]
fn a_call_starts_when_its_name_and_id_are_final() {
    let named = |block, id: &'static str, name: &'static str| Event::Named {
        block: Slot::new(block),
        id: CallId::Given(id.to_owned()),
        name: name.into(),
    };
    let events = vec![
        opened(0, call("c0")),
        named(0, "c0", "f_long"),
        // An id that was made up and is not replaced.
        opened(1, call_with(CallId::Invented("call_1".to_owned()))),
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
    .assert_eq(&reported(events));
}

/// A server may send an id that looks like those that are made up here.
#[test]
fn an_id_that_only_looks_made_up_starts_a_call() {
    let events = vec![opened(0, call("call_0")), grew(0, "{"), grew(0, "}"), closed(0)];
    expect![[r#"
        {"type":"tool-input-start","toolCallId":"call_0","toolName":"f"}
        {"type":"tool-input-delta","toolCallId":"call_0","delta":"{"}
        {"type":"tool-input-delta","toolCallId":"call_0","delta":"}"}
        {"type":"tool-call","toolCall":{"id":"call_0","name":"f","arguments":{}}}
    "#]]
    .assert_eq(&reported(events));
}

fn kept(block: u32, key: &'static str, value: Value) -> Event<'static> {
    Event::Kept { owner: Owner::Block(Slot::new(block)), key: key.into(), keep: Keep::Set(value) }
}

#[test]
fn fields_that_a_provider_sent_with_a_text_come_after_it() {
    let events = vec![
        opened(0, TEXT),
        opened(1, TEXT),
        grew(0, "signed"),
        grew(1, "plain"),
        kept(0, "thoughtSignature", "c2ln".into()),
        closed(1),
        closed(0),
        // A text that is empty.
        opened(2, TEXT),
        kept(2, "thoughtSignature", "bW9yZQ==".into()),
        closed(2),
        // A text that is cut is not what was signed.
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
    .assert_eq(&reported(events));
}

#[test]
fn a_text_with_calls_in_it_has_its_fields_once() {
    for text in ["I look. <read><path>a</path></read>", "<read><path>a</path></read> I looked."] {
        let sent = kept(0, "thoughtSignature", "c2ln".into());
        let events = vec![opened(0, TEXT), grew(0, text), sent, closed(0), Event::Ended];
        let fields = |event: &AgentEvent| matches!(event, AgentEvent::ProviderBlock { .. });
        let events = of_events(Some(profile("cline").unwrap()), events).events;
        assert_eq!(events.iter().position(fields), Some(events.len() - 1), "{events:?}");
    }
}

/// With a tagger and without one, the fields of a text are sent back if the provider ended the message.
#[test]
fn fields_of_a_text_need_the_end_of_the_message_or_of_the_text() {
    let stopped = || {
        let stop = Stop { reason: StopReason::Length, detail: "length".to_owned() };
        vec![closed(0), Event::Stopped { choice: 0, stop }, Event::Ended]
    };
    for (text, end, expected) in
        [("half", stopped(), 1), ("", stopped(), 1), ("half", vec![Event::Cut], 0), ("", vec![Event::Cut], 0)]
    {
        for grammar in [None, profile("hermes")] {
            let mut events = vec![opened(0, TEXT), kept(0, "id", "msg_1".into())];
            events.extend((!text.is_empty()).then(|| grew(0, text)));
            events.extend(end.clone());
            let events = of_events(grammar, events).events;
            let fields = events.iter().filter(|event| matches!(event, AgentEvent::ProviderBlock { .. }));
            assert_eq!(fields.count(), expected, "{text:?} {events:?}");
        }
    }
}

#[test]
fn a_result_of_the_provider_names_its_call() {
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
        // A result that is cut must not be sent back.
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
    .assert_eq(&reported(events));
}
