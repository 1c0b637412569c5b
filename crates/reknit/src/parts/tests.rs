use expect_test::{Expect, expect};

use super::*;
use crate::Event;
use crate::diagnostic::{Kind, Place};
use crate::event::{Failure, Keep, Owner, Start, Stop, StopReason};
use crate::tags::profile;

/// A message with its parts, and copies of them that follow by the changes alone.
struct Told {
    message: Message,
    parts: Parts,
    copy: List,
    lines: Vec<String>,
}

impl Told {
    fn new(parts: Parts) -> Self {
        Self { message: Message::default(), parts, copy: List::default(), lines: Vec::new() }
    }

    fn with(grammar: &str) -> Self {
        let grammar = profile(grammar).unwrap();
        Self::new(Parts::with_grammar(grammar, None, "t", &Limits::default()).unwrap())
    }

    fn take(&mut self, event: Event<'_>) -> &mut Self {
        let change = self.message.apply(event, Place::default());
        self.follow(&change)
    }

    fn follow(&mut self, change: &message::Change<'_>) -> &mut Self {
        let mut changes = self.parts.follow(&self.message, change);
        while let Some((change, list)) = changes.next() {
            let line = serde_json::to_string(&change).unwrap();
            let read: Change<'_> = serde_json::from_str(&line).unwrap();
            assert_eq!(read, change, "{line}");
            self.copy.apply(&read).unwrap();
            assert_eq!(self.copy, *list, "{line}");
            self.lines.push(line);
        }
        drop(changes);
        self
    }

    fn open(&mut self, block: u32, opening: event::Opening) -> &mut Self {
        self.take(Event::Opened { block: Slot(block), choice: 0, opening })
    }

    fn text(&mut self, block: u32, text: &str) -> &mut Self {
        if self.message.block(Slot(block)).is_none() {
            self.open(block, event::Opening::Text { refusal: false });
        }
        self.take(Event::Grew { block: Slot(block), text })
    }

    fn close(&mut self, block: u32) -> &mut Self {
        self.take(Event::Closed { block: Slot(block) })
    }

    fn cut(&mut self) -> &mut Self {
        let change = self.message.cut().unwrap();
        self.follow(&change)
    }

    fn blocks(&self, expect: &Expect) {
        let json = serde_json::to_string(&self.parts.list().neutral(&self.message)).unwrap();
        let Value::Object(message) = Value::parse(&json, 128).unwrap() else { panic!("{json}") };
        let shown = ["blocks", "diagnostics"].map(|key| message.get(key).unwrap().as_array().unwrap());
        let lines = shown.into_iter().flatten().map(|value| format!("{value}\n"));
        expect.assert_eq(&lines.collect::<String>());
    }

    fn changes(&self, expect: &Expect) {
        expect.assert_eq(&self.lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    }
}

fn native_call(id: &str) -> event::Opening {
    let (runner, notation) = (Runner::Client, event::Notation::Json);
    event::Opening::ToolCall { id: id.to_owned(), name: "search".to_owned(), runner, notation }
}

#[test]
fn native_and_tagged_calls_are_one_list() {
    let mut told = Told::with("qwen3");
    told.open(0, event::Opening::Thinking { redacted: None });
    told.take(Event::Grew { block: Slot(0), text: "native" });
    told.take(Event::Signed { block: Slot(0), signature: "c2ln" }).close(0);
    told.text(1, "<think>tagged</think>Text. <tool_");
    told.text(1, "call>{\"name\": \"read\", \"arguments\": {\"n\": 1.50}}</tool_call>").close(1);
    told.open(2, native_call("native_1"));
    told.take(Event::Grew { block: Slot(2), text: "{\"q\": 1}" }).close(2);
    told.open(3, event::Opening::ToolResult { kind: "result".to_owned(), call_id: Some("x".to_owned()) });
    told.take(Event::Kept {
        owner: Owner::Block(Slot(3)),
        key: "content".into(),
        keep: Keep::Set(Value::from("found")),
    });
    told.close(3).take(Event::Ended);
    told.blocks(&expect![[r#"
        {"type":"thinking","text":"native","signature":"c2ln"}
        {"type":"thinking","text":"tagged","origin":"tagged"}
        {"type":"text","text":"Text."}
        {"type":"tool_call","id":"t1_2","name":"read","end":"closed","input":{"n":1.50},"origin":"tagged"}
        {"type":"tool_call","id":"native_1","name":"search","end":"closed","input":{"q":1}}
        {"type":"tool_result","kind":"result","call_id":"x","content":"found"}
    "#]]);
    assert_eq!(told.parts.list().client_calls().count(), 2);
    assert_eq!(told.parts.list().extra(Slot(3)).unwrap().len(), 1);
}

#[test]
fn changes_have_what_is_new_and_where() {
    let mut told = Told::with("cline");
    told.take(Event::Started(Start::default()));
    told.text(0, "I see. <rea").text(0, "d_file><path>a.").text(0, "rs</path></read_file>").close(0);
    told.take(Event::Stopped {
        choice: 0,
        stop: Stop { reason: StopReason::End, detail: "stop".to_owned() },
    });
    told.take(Event::Ended);
    told.changes(&expect![[r#"
        {"message":{"started":{}}}
        {"opened":{"part":[0,0],"type":"text"}}
        {"grew":{"part":[0,0],"at":0,"text":"I see."}}
        {"closed":{"part":[0,0],"end":"closed"}}
        {"opened":{"part":[0,1],"type":"tool_call","id":"t0_1","name":"read_file","notation":"params","origin":{"tagged":{"range":{"start":7,"end":7},"known":true}}}}
        {"param_opened":{"part":[0,1],"name":"path"}}
        {"param_grew":{"part":[0,1],"param":0,"at":0,"text":"a."}}
        {"param_grew":{"part":[0,1],"param":0,"at":2,"text":"rs"}}
        {"param_closed":{"part":[0,1],"param":0}}
        {"closed":{"part":[0,1],"end":"closed","until":47}}
        {"message":{"stopped":{"reason":"end","detail":"stop"}}}
        {"message":{"ended":{}}}
    "#]]);
}

#[test]
fn without_a_grammar_it_is_the_message_as_it_is() {
    let mut told = Told::new(Parts::default());
    told.text(0, " <read_file><path>a</path></read_file> ").close(0);
    told.open(1, event::Opening::Text { refusal: true }).text(1, "No.").close(1);
    told.open(2, event::Opening::Text { refusal: false });
    told.open(3, native_call("native_1")).take(Event::Grew { block: Slot(3), text: "{\"q\":" });
    told.cut();
    let form = serde_json::to_string(&told.parts.list().neutral(&told.message)).unwrap();
    assert_eq!(form, serde_json::to_string(&told.message).unwrap());
    assert_eq!(told.parts.list().parts().len(), 4);
}

#[test]
fn what_a_cut_message_leaves_open_is_cut() {
    let mut told = Told::with("cline");
    told.text(0, "Text.<read_file><path>a.rs</path></read_file><read_file><path>b.r").cut();
    told.blocks(&expect![[r#"
        {"type":"text","text":"Text."}
        {"type":"tool_call","id":"t0_1","name":"read_file","end":"closed","input":{"path":"a.rs"},"origin":"tagged"}
        {"type":"tool_call","id":"t0_2","name":"read_file","end":"cut","raw":"<read_file><path>b.r","origin":"tagged"}
    "#]]);
    let mut told = Told::with("qwen3");
    told.text(0, "<think>hm").text(1, "half a sent").cut();
    let states: Vec<_> = told.parts.list().parts().iter().map(|placed| placed.part.state()).collect();
    assert_eq!(states, [State::Cut, State::Cut]);
}

#[test]
fn a_block_that_is_closed_inside_a_call_cuts_it() {
    let mut told = Told::with("cline");
    told.text(0, "<read_file><path>a.rs</path>").close(0).take(Event::Ended);
    told.blocks(&expect![[r#"
        {"type":"tool_call","id":"t0_0","name":"read_file","end":"cut","raw":"<read_file><path>a.rs</path>","origin":"tagged"}
    "#]]);
}

#[test]
fn a_message_that_fails_inside_a_call_cuts_it() {
    let mut told = Told::with("cline");
    told.text(0, "<read_file><path>a.rs</path>");
    told.take(Event::Failed(Failure { kind: None, message: "no".to_owned(), raw: Value::Null }));
    told.blocks(&expect![[r#"
        {"type":"tool_call","id":"t0_0","name":"read_file","end":"cut","raw":"<read_file><path>a.rs</path>","origin":"tagged"}
    "#]]);
}

#[test]
fn a_whole_call_without_its_marker_is_whole_only_if_its_text_is() {
    const CALL: &str = "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}";
    let ends = |told: &Told| told.parts.list().tool_calls().map(ToolCall::end).collect::<Vec<_>>();
    let mut whole = Told::with("hermes");
    whole.text(0, CALL);
    assert_eq!(ends(&whole), [None], "its marker may come");
    whole.close(0);
    whole.blocks(&expect![[r#"
        {"type":"tool_call","id":"t0_0","name":"f","end":"closed","input":{"a":1},"origin":"tagged"}
        {"kind":"missing-closer","block":0,"at":47,"message":"`</tool_call>` is missing behind a call that is whole","hint":"nothing to do; the call is whole without it"}
    "#]]);

    let mut torn = Told::with("hermes");
    torn.text(0, CALL).cut();
    torn.blocks(&expect![[r#"
        {"type":"tool_call","id":"t0_0","name":"f","end":"cut","raw":"<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}","origin":"tagged"}
    "#]]);

    let mut half = Told::with("hermes");
    half.text(0, CALL).text(0, "</tool_ca").cut();
    assert_eq!(ends(&half), [Some(CallEnd::Cut)]);

    let mut in_code = Told::with("cline");
    in_code.text(0, "As in `<read_file><path>a</path></read_file>").cut();
    assert_eq!(ends(&in_code), [Some(CallEnd::Cut)], "the other backtick may come");

    let mut marked = Told::with("hermes");
    marked.text(0, CALL).text(0, "</tool_call>");
    assert_eq!(ends(&marked), [Some(CallEnd::Closed)]);
    marked.cut();
    assert_eq!(ends(&marked), [Some(CallEnd::Closed)]);
}

#[test]
fn a_call_in_a_list_is_over_when_the_next_begins() {
    let mut told = Told::with("hermes");
    told.text(0, r#"<tool_call>[{"name": "f", "arguments": {}}, {"name": "g", "argu"#).cut();
    let ends: Vec<_> = told.parts.list().tool_calls().map(ToolCall::end).collect();
    assert_eq!(ends, [Some(CallEnd::Closed), Some(CallEnd::Cut)]);
}

#[test]
fn each_text_belongs_to_its_choice() {
    let mut told = Told::with("cline");
    for choice in [0, 1] {
        let opening = event::Opening::Text { refusal: false };
        told.take(Event::Opened { block: Slot(choice), choice, opening });
    }
    told.text(1, "One <read_file><path>").text(0, "Zero <read_").text(1, "b</path></read_file>");
    told.text(0, "file><path>a</path></read_file>").close(1).close(0).take(Event::Ended);
    told.blocks(&expect![[r#"
        {"type":"text","choice":0,"text":"Zero"}
        {"type":"tool_call","choice":0,"id":"t0_1","name":"read_file","end":"closed","input":{"path":"a"},"origin":"tagged"}
        {"type":"text","choice":1,"text":"One"}
        {"type":"tool_call","choice":1,"id":"t1_1","name":"read_file","end":"closed","input":{"path":"b"},"origin":"tagged"}
    "#]]);
}

#[test]
fn what_a_provider_says_beside_a_text_stands_with_its_first_part() {
    let mut told = Told::with("cline");
    told.text(0, "<read_file><path>a</path></read_file> Text.").text(1, " \n");
    for block in [0, 1] {
        let (owner, keep) = (Owner::Block(Slot(block)), Keep::Set(Value::from("c2ln")));
        told.take(Event::Kept { owner, key: "signature".into(), keep });
    }
    told.text(2, "\n").close(0).close(1).close(2).take(Event::Ended);
    told.blocks(&expect![[r#"
        {"type":"tool_call","id":"t0_0","name":"read_file","end":"closed","input":{"path":"a"},"origin":"tagged","extra":{"signature":"c2ln"}}
        {"type":"text","text":"Text."}
        {"type":"text","text":" \n","extra":{"signature":"c2ln"}}
    "#]]);
}

#[test]
fn a_refusal_is_read_as_it_is() {
    let mut told = Told::with("cline");
    told.open(0, event::Opening::Text { refusal: true });
    told.text(0, "<read_file><path>a</path></read_file>").close(0);
    assert_eq!(told.parts.list().tool_calls().count(), 0);
}

#[test]
fn arguments_that_are_a_string_are_what_is_in_it() {
    let text = r#"<tool_call>{"name": "f", "arguments": "{\"a\": 12345678901234567890}"}</tool_call>"#;
    for cut in 0..text.len() {
        let mut told = Told::with("hermes");
        told.text(0, &text[..cut]).text(0, &text[cut..]).close(0).take(Event::Ended);
        let call = told.parts.list().tool_calls().next().unwrap();
        assert_eq!(call.input().unwrap().to_string(), r#"{"a":12345678901234567890}"#, "cut at {cut}");
        assert!(matches!(call.args, Args::Complete(_)));
    }
}

#[test]
fn arguments_can_be_looked_at_while_they_arrive() {
    let mut told = Told::with("cline");
    told.text(0, "<write_to_file><path>a</path><content>half a li");
    let call = told.parts.list().tool_calls().next().unwrap();
    assert_eq!(call.input().unwrap().to_string(), r#"{"path":"a","content":"half a li"}"#);
    let mut told = Told::with("hermes");
    told.text(0, r#"<tool_call>{"name": "f", "arguments": {"a": "half"#);
    let call = told.parts.list().tool_calls().next().unwrap();
    assert_eq!(call.input().unwrap().to_string(), r#"{"a":"half"}"#);
}

#[test]
fn values_are_typed_and_unknown_tools_marked() {
    let tools = r#"[{"name": "book", "parameters": {"properties": {"seats": {"type": "integer"}}}}]"#;
    let tools = Tools::from_json(tools).unwrap();
    let grammar = profile("qwen3-coder").unwrap();
    let mut told = Told::new(Parts::with_grammar(grammar, Some(&tools), "t", &Limits::default()).unwrap());
    told.text(0, "<tool_call><function=book><parameter=seats>2</parameter></function></tool_call>");
    told.text(0, "<tool_call><function=look><parameter=at>2</parameter></function></tool_call>");
    told.close(0).take(Event::Ended);
    told.blocks(&expect![[r#"
        {"type":"tool_call","id":"t0_0","name":"book","end":"closed","input":{"seats":2},"origin":"tagged"}
        {"type":"tool_call","id":"t0_1","name":"look","end":"closed","input":{"at":"2"},"origin":"tagged","unknown":true}
        {"kind":"unknown-tool","block":0,"at":79,"message":"no tool `look` was given","hint":"answer the call with an error that names the tools there are"}
    "#]]);
}

#[test]
fn a_call_in_a_call_names_it() {
    let grammar = Grammar::from_toml(
        r#"
        name = "nested"
        [calls]
        kind = "markup"
        call = "<{name}>"
        call_close = "</{name}>"
        parameter = "<{name}>"
        parameter_close = "</{name}>"
        tools = ["outer", "inner"]
        parameters = ["a"]
        nesting = 1
        "#,
    );
    let parts = Parts::with_grammar(&grammar.unwrap(), None, "t", &Limits::default());
    let mut told = Told::new(parts.unwrap());
    told.text(0, "<outer><a>1</a><inner><a>2</a></inner></outer>").close(0);
    told.blocks(&expect![[r#"
        {"type":"tool_call","id":"t0_0","name":"outer","end":"closed","input":{"a":"1"},"origin":"tagged"}
        {"type":"tool_call","id":"t0_1","name":"inner","end":"closed","input":{"a":"2"},"origin":"tagged","parent":"t0_0"}
    "#]]);
}

#[test]
fn the_range_of_a_call_is_one_of_the_text_as_it_came() {
    let grammar = Grammar::from_toml(
        r#"
        name = "prefixed"
        prefix = "<think>"
        [reasoning]
        open = ["<think>"]
        close = "</think>"
        [calls]
        kind = "json"
        open = ["<call>"]
        close = ["</call>"]
        "#,
    );
    let parts = Parts::with_grammar(&grammar.unwrap(), None, "t", &Limits::default());
    let mut told = Told::new(parts.unwrap());
    let call = r#"<call>{"name": "f", "arguments": {}}</call>"#;
    told.text(0, &format!("hm</think>é{call}")).close(0);
    let list = told.parts.list();
    assert!(matches!(&list.parts()[0].part, Part::Thinking { text, .. } if *text == "hm"));
    let Origin::Tagged(tagged) = &list.tool_calls().next().unwrap().origin else { panic!("it is tagged") };
    assert_eq!(tagged.raw(told.message.block(Slot(0)).unwrap()).unwrap(), call);
}

#[test]
fn the_next_message_has_ids_of_its_own() {
    let mut told = Told::with("cline");
    let call = "<read_file><path>a</path></read_file>";
    let mut ids = Vec::new();
    for _ in 0..3 {
        told.message = Message::default();
        told.take(Event::Started(Start::default())).text(0, call).text(1, call).cut();
        assert_eq!(told.parts.list().parts().len(), 2);
        ids.extend(told.parts.list().tool_calls().map(|call| call.id.clone()));
    }
    assert_eq!(ids, ["t0_0", "t1_0", "t1_0_0", "t1_1_0", "t2_0_0", "t2_1_0"]);
}

#[test]
fn behind_its_limit_a_text_is_read_no_further() {
    let limits = Limits { text_bytes: 50, ..Limits::default() };
    let text = "<read_file><path>a</path></read_file><read_file><path>bcdef</path></read_file>";
    let mut outcomes = Vec::new();
    for cut in 0..text.len() {
        let parts = Parts::with_grammar(profile("cline").unwrap(), None, "t", &limits).unwrap();
        let mut told = Told::new(parts);
        told.copy = List::new(&limits);
        told.text(0, &text[..cut]).text(0, &text[cut..]).close(0).take(Event::Ended);
        outcomes.push(serde_json::to_string(&told.parts.list().neutral(&told.message)).unwrap());
        assert_eq!(told.parts.list().tool_calls().count(), 2);
        let kinds: Vec<_> = told.parts.list().diagnostics().iter().map(|odd| (odd.kind, odd.at)).collect();
        assert_eq!(kinds, [(Kind::StrayText, 48), (Kind::LimitReached, 50)]);
    }
    outcomes.dedup();
    assert_eq!(outcomes.len(), 1, "{outcomes:#?}");
}

#[test]
fn diagnostics_past_their_limit_are_counted() {
    let limits = Limits { diagnostics: 2, ..Limits::default() };
    let mut told = Told::new(Parts::with_grammar(profile("cline").unwrap(), None, "t", &limits).unwrap());
    told.copy = List::new(&limits);
    let odd = "<read_file><path>a</path>stray</read_file>";
    for block in 0..2 {
        told.text(block, &odd.repeat(3)).close(block);
    }
    assert_eq!(told.parts.list().diagnostics().len(), 2);
    assert_eq!(told.parts.list().diagnostics_omitted(), 4);
}

#[test]
fn a_change_that_does_not_fit_is_refused() {
    let mut told = Told::with("cline");
    told.text(0, "Text.").text(0, " More.<read_file><path>a").text(0, "b").close(0);
    let changes: Vec<Change<'_>> =
        told.lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (at, change) in changes.iter().enumerate() {
        let lost = changes[..at].iter().chain(&changes[at + 1..]);
        let mut list = List::default();
        let misfit = lost.map(|change| list.apply(change)).find_map(Result::err);
        // The last growth of something, and its end, are not missed by what comes behind them.
        let missed = !matches!(
            change,
            Change::Closed { .. } | Change::Grew { at: 5, .. } | Change::ParamGrew { at: 1, .. }
        );
        assert_eq!(misfit.is_some(), missed, "without {change:?}: {misfit:?}");
        let twice = changes[..=at].iter().chain([change]);
        let mut list = List::default();
        let misfit = twice.map(|change| list.apply(change)).find_map(Result::err);
        let noticed = !matches!(change, Change::ParamOpened { .. });
        assert_eq!(misfit.is_some(), noticed, "twice {change:?}: {misfit:?}");
        assert!(misfit.is_none_or(|misfit| !misfit.hint().is_empty()));
    }
}

#[test]
fn whoever_comes_late_has_nothing_of_what_is_missing() {
    let mut message = Message::default();
    let opening = event::Opening::Text { refusal: false };
    message.apply(Event::Opened { block: Slot(0), choice: 0, opening }, Place::default());
    let mut parts = Parts::default();
    for event in [Event::Grew { block: Slot(0), text: "late" }, Event::Closed { block: Slot(0) }] {
        let change = message.apply(event, Place::default());
        parts.follow(&message, &change);
    }
    assert_eq!(parts.list(), &List::default());
}
