//! The messages that a tagger makes of events, step by step.

use expect_test::{Expect, expect};
use reknit::Hint;
use reknit::diagnostic::{Kind, Location};
use reknit::event::{
    CallId, Event, Failure, Keep, Notation, Opening, Origin, Owner, Runner, Slot, Start, Stop,
};
use reknit::event::{End, StopReason};
use reknit::json::Value;
use reknit::message::{Args, Block, Body, Change, ToolCall};
use reknit::tags::{Grammar, Tagger, Tools, profile};
use reknit::{Dialect, Limits, Message, Reply};

use crate::tagged::Tagged;

const TEXT: Opening = Opening::Text { refusal: false };

fn with(grammar: &str) -> Tagged {
    Tagged::new(profile(grammar).unwrap())
}

impl Tagged {
    fn open(&mut self, block: u32, opening: Opening) -> &mut Self {
        self.take(Event::Opened { block: Slot::new(block), choice: 0, opening })
    }

    fn grow(&mut self, block: u32, text: &str) -> &mut Self {
        self.take(Event::Grew { block: Slot::new(block), text })
    }

    /// Opens a text block with this text.
    fn text(&mut self, block: u32, text: &str) -> &mut Self {
        self.open(block, TEXT).grow(block, text)
    }

    fn close(&mut self, block: u32) -> &mut Self {
        self.take(Event::Closed { block: Slot::new(block), end: None, raw: None })
    }

    fn stop(&mut self, reason: StopReason) -> &mut Self {
        self.take(Event::Stopped { choice: 0, stop: Stop { reason, detail: String::new() } })
    }

    fn blocks(&self, expect: &Expect) {
        let json = serde_json::to_string(&self.message).unwrap();
        let Value::Object(message) = json.parse().unwrap() else { panic!("{json}") };
        let shown = ["blocks", "diagnostics"].map(|key| message.get(key).unwrap().as_array().unwrap());
        let lines = shown.into_iter().flatten().map(|value| format!("{value}\n"));
        expect.assert_eq(&lines.collect::<String>());
    }

    fn changes(&self, expect: &Expect) {
        expect.assert_eq(&self.follower.lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    }

    fn ends(&self) -> Vec<Option<End>> {
        self.message.tool_calls().map(ToolCall::end).collect()
    }
}

fn native_call(id: &str) -> Opening {
    let (id, name) = (CallId::Given(id.to_owned()), "search".to_owned());
    let (runner, notation, origin) = (Runner::Client, Notation::Json, Origin::Native);
    Opening::ToolCall { id, name, runner, notation, origin }
}

#[test]
fn native_and_tagged_blocks_are_in_one_message() {
    let mut tagged = with("qwen3");
    tagged.open(0, Opening::Thinking { redacted: None }).grow(0, "native");
    tagged.take(Event::Signed { block: Slot::new(0), signature: "c2ln" }).close(0);
    tagged.text(1, "<think>tagged</think>Text. <tool_");
    tagged.grow(1, "call>{\"name\": \"read\", \"arguments\": {\"n\": 1.50}}</tool_call>").close(1);
    tagged.open(2, native_call("native_1")).grow(2, "{\"q\": 1}").close(2);
    tagged.open(3, Opening::ToolResult { kind: "result".to_owned(), call_id: Some("x".to_owned()) });
    let (owner, keep) = (Owner::Block(Slot::new(3)), Keep::Set(Value::from("found")));
    tagged.take(Event::Kept { owner, key: "content".into(), keep }).close(3).take(Event::Ended);
    tagged.blocks(&expect![[r#"
        {"type":"thinking","text":"native","signature":"c2ln"}
        {"type":"thinking","text":"tagged","origin":"tagged"}
        {"type":"text","text":"Text."}
        {"type":"tool_call","id":"t1_2","name":"read","end":"closed","input":{"n":1.50},"origin":"tagged"}
        {"type":"tool_call","id":"native_1","name":"search","end":"closed","input":{"q":1}}
        {"type":"tool_result","kind":"result","call_id":"x","content":"found"}
    "#]]);
    assert_eq!(tagged.message.runnable_calls().count(), 2);
}

#[test]
fn changes_have_what_is_new_and_where() {
    let mut tagged = with("cline");
    tagged.take(Event::Started(Start::default()));
    tagged.text(0, "I see. <rea").grow(0, "d_file><path>a.").grow(0, "rs</path></read_file>").close(0);
    tagged.stop(StopReason::End).take(Event::Ended);
    tagged.changes(&expect![[r#"
        {"started":{}}
        {"opened":{"block":[0,0],"type":"text"}}
        {"grew":{"block":[0,0],"at":0,"text":"I see."}}
        {"closed":{"block":[0,0]}}
        {"opened":{"block":[0,1],"type":"tool_call","id":"t0_1","invented":true,"name":"read_file","origin":{"tagged":{"known":true}}}}
        {"grew":{"block":[0,1],"at":0,"text":"{\"path\":\"a."}}
        {"grew":{"block":[0,1],"at":11,"text":"rs\"}"}}
        {"closed":{"block":[0,1],"end":"closed","raw":"<read_file><path>a.rs</path></read_file>"}}
        {"stopped":{"reason":"end","detail":""}}
        {"ended":{}}
    "#]]);
}

#[test]
fn what_a_cut_message_leaves_open_is_cut() {
    let mut tagged = with("cline");
    let text = "Text.<read_file><path>a.rs</path></read_file><read_file><path>b.r";
    tagged.text(0, text).take(Event::Cut);
    tagged.blocks(&expect![[r#"
        {"type":"text","text":"Text."}
        {"type":"tool_call","id":"t0_1","name":"read_file","end":"closed","input":{"path":"a.rs"},"origin":"tagged"}
        {"type":"tool_call","id":"t0_2","name":"read_file","end":"cut","raw":"<read_file><path>b.r","origin":"tagged"}
    "#]]);
    let mut tagged = with("qwen3");
    tagged.text(0, "<think>hm").text(1, "half a sent").take(Event::Cut);
    let ends: Vec<_> = tagged.message.blocks().map(Block::end).collect();
    assert_eq!(ends, [Some(End::Cut), Some(End::Cut)]);
}

#[test]
fn a_block_that_is_closed_inside_a_call_cuts_it() {
    let mut tagged = with("cline");
    tagged.text(0, "<read_file><path>a.rs").close(0).take(Event::Ended);
    tagged.blocks(&expect![[r#"
        {"type":"tool_call","id":"t0_0","name":"read_file","end":"cut","raw":"<read_file><path>a.rs","origin":"tagged"}
    "#]]);
    let mut tagged = with("qwen3");
    tagged.text(0, "<think>hm").close(0).take(Event::Ended);
    assert_eq!(
        tagged.message.blocks().next().unwrap().end(),
        Some(End::Cut),
        "unclosed thinking in a closed text"
    );
}

#[test]
fn a_message_that_fails_inside_a_call_cuts_it() {
    let mut tagged = with("cline");
    tagged.text(0, "<read_file><path>a.rs</path>");
    tagged.take(Event::Failed(Failure { kind: None, message: "no".to_owned(), raw: Value::Null }));
    tagged.blocks(&expect![[r#"
        {"type":"tool_call","id":"t0_0","name":"read_file","end":"cut","raw":"<read_file><path>a.rs</path>","origin":"tagged"}
    "#]]);
}

const CALL: &str = "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}";

#[test]
fn a_call_without_its_closing_marker_is_complete_only_if_its_text_is() {
    let mut whole = with("hermes");
    whole.text(0, CALL);
    assert_eq!(whole.ends(), [None], "its marker may come");
    whole.close(0).take(Event::Ended);
    whole.blocks(&expect![[r#"
        {"type":"tool_call","id":"t0_0","name":"f","end":"closed","input":{"a":1},"origin":"tagged"}
        {"kind":"missing-closer","at":0,"frame":0,"block":0,"offset":47,"message":"`</tool_call>` is missing after a complete call","hint":"no action needed, unless the last value looks too short or too long"}
    "#]]);

    let mut cut_off = with("hermes");
    cut_off.text(0, CALL).take(Event::Cut);
    cut_off.blocks(&expect![[r#"
        {"type":"tool_call","id":"t0_0","name":"f","end":"cut","raw":"<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}","origin":"tagged"}
    "#]]);

    let mut half = with("hermes");
    half.text(0, CALL).grow(0, "</tool_ca").take(Event::Cut);
    assert_eq!(half.ends(), [Some(End::Cut)]);

    let mut in_code = with("cline");
    in_code.text(0, "As in `<read_file><path>a</path></read_file>").take(Event::Cut);
    assert_eq!(in_code.ends(), [Some(End::Cut)], "the other backtick may come");

    let mut marked = with("hermes");
    marked.text(0, CALL).grow(0, "</tool_call>");
    assert_eq!(marked.ends(), [Some(End::Closed)]);
    marked.take(Event::Cut);
    assert_eq!(marked.ends(), [Some(End::Closed)]);
}

/// Some providers close a block before they report why the model stopped, and some after.
#[test]
fn a_text_of_a_model_that_was_stopped_is_cut_off() {
    for reason in [StopReason::Length, StopReason::Filter, StopReason::End, StopReason::Tool] {
        let end = match reason {
            StopReason::Length | StopReason::Filter => End::Cut,
            _ => End::Closed,
        };
        let mut before = with("hermes");
        before.text(0, CALL).stop(reason).close(0).take(Event::Ended);
        assert_eq!(before.ends(), [Some(end)], "{reason:?}");
        let mut after = with("hermes");
        after.text(0, CALL).close(0).stop(reason).take(Event::Ended);
        assert_eq!(after.ends(), [Some(end)], "{reason:?}");
    }
    // Something follows the text, so it was complete, whatever stops the model later.
    let mut followed = with("hermes");
    followed.text(0, CALL).close(0).text(1, "More").close(1).stop(StopReason::Length).take(Event::Ended);
    assert_eq!(followed.ends(), [Some(End::Closed)]);
}

#[test]
fn a_call_in_a_list_ends_when_the_next_one_starts() {
    let mut tagged = with("hermes");
    tagged.text(0, r#"<tool_call>[{"name": "f", "arguments": {}}, {"name": "g", "argu"#).take(Event::Cut);
    assert_eq!(tagged.ends(), [Some(End::Closed), Some(End::Cut)]);
}

#[test]
fn each_text_belongs_to_its_choice() {
    let mut tagged = with("cline");
    for choice in [0, 1] {
        tagged.take(Event::Opened { block: Slot::new(choice), choice, opening: TEXT });
    }
    tagged.grow(1, "One <read_file><path>").grow(0, "Zero <read_").grow(1, "b</path></read_file>");
    tagged.grow(0, "file><path>a</path></read_file>").close(1).close(0).take(Event::Ended);
    tagged.blocks(&expect![[r#"
        {"type":"text","choice":0,"text":"Zero"}
        {"type":"tool_call","choice":0,"id":"t0_1","name":"read_file","end":"closed","input":{"path":"a"},"origin":"tagged"}
        {"type":"text","choice":1,"text":"One"}
        {"type":"tool_call","choice":1,"id":"t1_1","name":"read_file","end":"closed","input":{"path":"b"},"origin":"tagged"}
    "#]]);
}

#[test]
fn fields_that_a_provider_sends_with_a_text_go_to_its_first_block() {
    let mut tagged = with("cline");
    tagged.text(0, "<read_file><path>a</path></read_file> Text.").text(1, " \n");
    for block in [0, 1] {
        let (owner, keep) = (Owner::Block(Slot::new(block)), Keep::Set(Value::from("c2ln")));
        tagged.take(Event::Kept { owner, key: "signature".into(), keep });
    }
    tagged.text(2, "\n").close(0).close(1).close(2).take(Event::Ended);
    tagged.blocks(&expect![[r#"
        {"type":"tool_call","id":"t0_0","name":"read_file","end":"closed","input":{"path":"a"},"origin":"tagged","extra":{"signature":"c2ln"}}
        {"type":"text","text":"Text."}
        {"type":"text","text":" \n","extra":{"signature":"c2ln"}}
    "#]]);
}

#[test]
fn a_refusal_is_not_parsed() {
    let mut tagged = with("cline");
    tagged.open(0, Opening::Text { refusal: true });
    tagged.grow(0, "<read_file><path>a</path></read_file>").close(0);
    assert_eq!(tagged.message.tool_calls().count(), 0);
}

#[test]
fn arguments_in_a_string_are_parsed() {
    let text = r#"<tool_call>{"name": "f", "arguments": "{\"a\": 12345678901234567890}"}</tool_call>"#;
    for cut in 0..text.len() {
        let mut tagged = with("hermes");
        tagged.text(0, &text[..cut]).grow(0, &text[cut..]).close(0).take(Event::Ended);
        let call = tagged.message.runnable_calls().next().unwrap();
        assert_eq!(call.input().unwrap().to_string(), r#"{"a":12345678901234567890}"#, "cut at {cut}");
    }
}

#[test]
fn arguments_can_be_read_while_they_arrive() {
    let mut tagged = with("cline");
    tagged.text(0, "<write_to_file><path>a</path><content>half a \"li\nne");
    let call = tagged.message.tool_calls().next().unwrap();
    assert_eq!(call.input().unwrap().to_string(), r#"{"path":"a","content":"half a \"li\nne"}"#);
    let mut tagged = with("hermes");
    tagged.text(0, r#"<tool_call>{"name": "f", "arguments": {"a": "half"#);
    let call = tagged.message.tool_calls().next().unwrap();
    assert_eq!(call.input().unwrap().to_string(), r#"{"a":"half"}"#);
}

/// Whether a value streams is decided when its parameter opens: a value that may not be a string is written
/// when it is complete.
#[test]
fn values_are_typed_and_unknown_tools_marked() {
    let tools = r#"[{"name": "book", "parameters": {"properties":
        {"seats": {"type": "integer"}, "name": {"type": "string"}}}}]"#;
    let tools = Tools::from_json(tools).unwrap();
    let tagger = Tagger::new(profile("qwen3-coder").unwrap(), Some(&tools), "t").unwrap();
    let mut tagged = Tagged::with_tagger(tagger);
    tagged.text(0, "<tool_call><function=book><parameter=name>12");
    tagged.grow(0, "</parameter><parameter=seats>2").grow(0, "3</parameter></function></tool_call>");
    tagged.grow(0, "<tool_call><function=look><parameter=at>2</parameter></function></tool_call>");
    tagged.close(0).take(Event::Ended);
    tagged.blocks(&expect![[r#"
        {"type":"tool_call","id":"t0_0","name":"book","end":"closed","input":{"name":"12","seats":23},"origin":"tagged"}
        {"type":"tool_call","id":"t0_1","name":"look","end":"closed","input":{"at":"2"},"origin":"tagged","unknown":true}
        {"kind":"unknown-tool","at":0,"frame":0,"block":0,"offset":110,"message":"`look` is not one of the given tools","hint":"answer the call with an error that lists the available tools"}
    "#]]);
    tagged.changes(&expect![[r#"
        {"opened":{"block":[0,0],"type":"tool_call","id":"t0_0","invented":true,"name":"book","origin":{"tagged":{"known":true}}}}
        {"grew":{"block":[0,0],"at":0,"text":"{\"name\":\"12"}}
        {"grew":{"block":[0,0],"at":11,"text":"\",\"seats\":"}}
        {"grew":{"block":[0,0],"at":21,"text":"23}"}}
        {"closed":{"block":[0,0],"end":"closed","raw":"<tool_call><function=book><parameter=name>12</parameter><parameter=seats>23</parameter></function>"}}
        {"opened":{"block":[0,1],"type":"tool_call","id":"t0_1","invented":true,"name":"look","origin":{"tagged":{"known":false}}}}
        {"grew":{"block":[0,1],"at":0,"text":"{\"at\":\"2\"}"}}
        {"closed":{"block":[0,1],"end":"closed","raw":"<tool_call><function=look><parameter=at>2</parameter></function>"}}
        {"noticed":{"kind":"unknown-tool","at":0,"frame":0,"block":0,"offset":110,"message":"`look` is not one of the given tools","hint":"answer the call with an error that lists the available tools"}}
        {"ended":{}}
    "#]]);
}

#[test]
fn a_repeated_parameter_has_its_last_value_at_its_first_place() {
    let mut tagged = with("cline");
    let text = "<search_files><path>a</path><regex>x</regex><path>b</path></search_files>";
    tagged.text(0, text).close(0).take(Event::Ended);
    tagged.blocks(&expect![[r#"
        {"type":"tool_call","id":"t0_0","name":"search_files","end":"closed","input":{"path":"b","regex":"x"},"origin":"tagged"}
        {"kind":"repeated-parameter","at":0,"frame":0,"block":0,"offset":45,"message":"parameter `path` is repeated; the last value is used","hint":"check which of the two values the model meant"}
    "#]]);
}

#[test]
fn a_call_without_arguments_has_an_empty_object() {
    for (grammar, text) in [
        ("cline", "<attempt_completion></attempt_completion>"),
        ("hermes", r#"<tool_call>{"name": "f"}</tool_call>"#),
        ("hermes", r#"<tool_call>{"name": "f", "arguments": null}</tool_call>"#),
        ("hermes", r#"<tool_call>{"name": "f", "arguments": {}}</tool_call>"#),
    ] {
        let mut tagged = with(grammar);
        tagged.text(0, text).close(0).take(Event::Ended);
        let call = tagged.message.runnable_calls().next().unwrap();
        assert_eq!(call.input().unwrap().to_string(), "{}", "{text}");
        let mut cut_off = with(grammar);
        cut_off.text(0, text.rsplit_once('<').unwrap().0).take(Event::Cut);
        assert_eq!(cut_off.ends(), [Some(End::Cut)], "{text}");
    }
}

#[test]
fn arguments_that_are_not_an_object_are_malformed() {
    let mut tagged = with("hermes");
    tagged.text(0, r#"<tool_call>{"name": "f", "arguments": [1]}</tool_call>"#).close(0).take(Event::Ended);
    tagged.blocks(&expect![[r#"
        {"type":"tool_call","id":"t0_0","name":"f","end":"malformed","raw":"<tool_call>{\"name\": \"f\", \"arguments\": [1]}</tool_call>","origin":"tagged"}
        {"kind":"malformed-arguments","at":0,"frame":0,"block":0,"offset":0,"message":"the arguments of a call are not an object","hint":"do not run the call; tell the model what is wrong with its arguments"}
    "#]]);
    let Body::ToolCall(call) = tagged.message.blocks().next().unwrap().body() else { panic!("it is a call") };
    assert!(matches!(call.args, Args::Malformed { error: None, .. }), "{call:?}");
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
        parameters = ["a", "b"]
        nesting = 1
        "#,
    );
    let mut tagged = Tagged::new(&grammar.unwrap());
    tagged.text(0, "<outer><a>1</a><inner><a>2</a></inner><b>3</b></outer>").close(0).take(Event::Ended);
    tagged.blocks(&expect![[r#"
        {"type":"tool_call","id":"t0_0","name":"outer","end":"closed","input":{"a":"1","b":"3"},"origin":"tagged"}
        {"type":"tool_call","id":"t0_1","name":"inner","end":"closed","input":{"a":"2"},"origin":"tagged","parent":"t0_0"}
    "#]]);
}

#[test]
fn the_raw_text_of_a_call_does_not_include_the_prefix() {
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
    let mut tagged = Tagged::new(&grammar.unwrap());
    let call = r#"<call>{"name": "f", "arguments": {}}</call>"#;
    tagged.text(0, &format!("hm</think>é{call}")).close(0).take(Event::Ended);
    let blocks: Vec<_> = tagged.message.blocks().collect();
    assert!(matches!(blocks[0].body(), Body::Thinking { text, .. } if *text == "hm"));
    assert_eq!(tagged.message.tool_calls().next().unwrap().raw.as_ref().unwrap().to_str(), call);
}

#[test]
fn the_next_message_has_ids_of_its_own() {
    let mut tagged = with("cline");
    let call = "<read_file><path>a</path></read_file>";
    let mut ids = Vec::new();
    for _ in 0..3 {
        tagged.take(Event::Started(Start::default())).text(0, call).text(1, call).take(Event::Cut);
        assert_eq!(tagged.message.blocks().len(), 2);
        ids.extend(tagged.message.tool_calls().map(|call| call.id.to_string()));
    }
    assert_eq!(ids, ["t0_0", "t1_0", "t1_0_0", "t1_1_0", "t2_0_0", "t2_1_0"]);
}

/// Events for a text that has ended, or that is opened twice, are reported as they are without a tagger.
#[test]
fn events_that_do_not_fit_are_reported() {
    let mut tagged = with("cline");
    tagged.text(0, "Text.").open(0, TEXT).close(0).grow(0, "late").close(1).text(1, "Next.").grow(0, "later");
    tagged.take(Event::Ended).text(2, "after the end");
    tagged.blocks(&expect![[r#"
        {"type":"text","text":"Text."}
        {"type":"text","text":"Next."}
        {"kind":"duplicate-block","at":0,"frame":0,"message":"the block already exists","hint":"check whether two streams were joined together"}
        {"kind":"orphan-delta","at":0,"frame":0,"message":"something arrived for a block that is not open","hint":"check that the beginning of the stream is not missing"}
        {"kind":"orphan-delta","at":0,"frame":0,"message":"something arrived for a block that is not open","hint":"check that the beginning of the stream is not missing"}
        {"kind":"orphan-delta","at":0,"frame":0,"message":"something arrived for a block that is not open","hint":"check that the beginning of the stream is not missing"}
        {"kind":"after-end","at":0,"frame":0,"message":"something arrived after the end","hint":"check that the input is a single response, not several joined together"}
        {"kind":"after-end","at":0,"frame":0,"message":"something arrived after the end","hint":"check that the input is a single response, not several joined together"}
    "#]]);
}

#[test]
fn a_text_is_not_read_past_its_limit() {
    let mut limits = Limits::default();
    limits.text_bytes = 50;
    let text = "<read_file><path>a</path></read_file><read_file><path>bcdef</path></read_file>";
    let mut outcomes = Vec::new();
    for cut in 0..text.len() {
        let tagger = Tagger::new(profile("cline").unwrap(), None, "t").unwrap().with_limits(&limits);
        let mut tagged = Tagged::with_tagger(tagger);
        tagged.text(0, &text[..cut]).grow(0, &text[cut..]).close(0).take(Event::Ended);
        outcomes.push(serde_json::to_string(&tagged.message).unwrap());
        assert_eq!(tagged.message.tool_calls().count(), 2);
        let diagnostics = tagged.message.diagnostics().iter();
        let offsets: Vec<_> =
            diagnostics.map(|diagnostic| (diagnostic.kind, offset(diagnostic.location))).collect();
        assert_eq!(offsets, [(Kind::LimitReached, 50), (Kind::StrayText, 48)]);
    }
    outcomes.dedup();
    assert_eq!(outcomes.len(), 1, "{outcomes:#?}");
}

/// Its closing marker may be past the limit, or something that shows that it was no call.
#[test]
fn a_call_at_the_limit_of_its_text_is_cut() {
    let call = r#"<tool_call>{"name": "ls", "arguments": {}}"#;
    for (limit, end) in [(call.len(), End::Cut), (call.len() + 6, End::Cut), (call.len() + 12, End::Closed)] {
        let mut limits = Limits::default();
        limits.text_bytes = limit;
        let text = format!("{call}</tool_call> Done.");
        for cut in 0..text.len() {
            let tagger = Tagger::new(profile("hermes").unwrap(), None, "t").unwrap().with_limits(&limits);
            let mut tagged = Tagged::with_tagger(tagger);
            tagged.text(0, &text[..cut]).grow(0, &text[cut..]).close(0).take(Event::Ended);
            let ends: Vec<_> = tagged.message.tool_calls().map(ToolCall::end).collect();
            assert_eq!(ends, [Some(end)], "limit {limit}, cut at {cut}");
        }
    }
}

#[test]
fn a_list_of_tools_names_at_least_one() {
    for tools in [r#"[{"foo": 1}]"#, r#"[{"type": "web_search"}]"#, r#"[{"function": {"parameters": {}}}]"#] {
        assert_eq!(Tools::from_json(tools).unwrap_err().to_string(), "none of the tools has a `name`");
    }
    for tools in ["[]", r#"[{"type": "web_search"}, {"name": "ls"}]"#] {
        assert!(Tools::from_json(tools).is_ok(), "{tools}");
    }
}

fn offset(location: Location) -> u64 {
    let Location::Text { block, offset, .. } = location else { panic!("{location:?} is in no text") };
    assert_eq!(block, Slot::new(0));
    offset
}

/// A chat reply with these texts in one choice.
fn reply_of(grammar: &str, limits: &Limits, texts: &[&str]) -> Reply {
    let tagger = Tagger::new(profile(grammar).unwrap(), None, "t").unwrap();
    let mut reply = Reply::new(Dialect::OpenAiChat).with_tags(tagger).with_limits(limits);
    for text in texts {
        let text = Value::from(*text);
        reply.push(format!("data: {{\"choices\":[{{\"delta\":{{\"content\":{text}}}}}]}}\n\n").as_bytes());
    }
    reply.push(b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    reply.finish();
    reply
}

#[test]
fn diagnostics_past_their_limit_are_counted() {
    let mut limits = Limits::default();
    limits.diagnostics = 2;
    let stray = "<read_file><path>a</path>stray</read_file>";
    let reply = reply_of("cline", &limits, &[&stray.repeat(3), &stray.repeat(3)]);
    assert_eq!(reply.message().diagnostics().len(), 2);
    assert_eq!(reply.message().diagnostics().omitted(), 4);
}

#[test]
fn blocks_are_counted_after_the_tagger() {
    let call = "<read_file><path>a</path></read_file>";
    let mut limits = Limits::default();
    limits.blocks = 3;
    let reply = reply_of("cline", &limits, &[&call.repeat(3)]);
    assert_eq!((reply.error(), reply.message().runnable_calls().count()), (None, 3));
    let reply = reply_of("cline", &limits, &[&call.repeat(4)]);
    assert_eq!(reply.error().unwrap().kind(), Kind::LimitReached);
    assert_eq!(reply.message().tool_calls().count(), 3);
    assert_eq!(reply.message().runnable_calls().count(), 0, "the reply is cut");
}

#[test]
fn a_change_that_does_not_fit_is_refused() {
    let mut tagged = with("cline");
    tagged.text(0, "Text.").grow(0, " More.<read_file><path>a").grow(0, "b").close(0).take(Event::Ended);
    let lines = &tagged.follower.lines;
    let changes: Vec<Change<'_>> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let misfit_of = |changes: &mut dyn Iterator<Item = &Change<'_>>| {
        let mut message = Message::default();
        changes.map(|change| message.follow(change)).find_map(Result::err)
    };
    for (at, change) in changes.iter().enumerate() {
        let lost = misfit_of(&mut changes[..at].iter().chain(&changes[at + 1..]));
        // Nothing that comes later depends on the last growth of a block or on its end.
        let last_growth = |after: &[Change<'_>]| {
            let Change::Grew { block, .. } = change else { return false };
            !after.iter().any(|after| matches!(after, Change::Grew { block: grown, .. } if grown == block))
        };
        let missed = match change {
            Change::Closed { .. } | Change::Ended { .. } => false,
            Change::Grew { .. } => !last_growth(&changes[at + 1..]),
            _ => true,
        };
        assert_eq!(lost.is_some(), missed, "without {change:?}: {lost:?}");
        let twice = misfit_of(&mut changes[..=at].iter().chain([change]));
        assert_eq!(twice.is_some(), !matches!(change, Change::Ended { .. }), "twice {change:?}: {twice:?}");
        assert!(twice.is_none_or(|misfit| !misfit.hint().is_empty()));
    }
}
