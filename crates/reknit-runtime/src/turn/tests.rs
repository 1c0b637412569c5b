//! The rules of a turn, one test each.

use reknit::agent::{self, EndReason};

use super::*;

/// `read…` only reads, `finish` ends the task, `bad` fails its check; other names are unknown.
struct Names;

impl Catalog for Names {
    fn check(&self, name: &str, arguments: &Value) -> Result<Manner, Failure> {
        match name {
            "finish" => Ok(Manner::Last),
            "write" => Ok(Manner::Alone),
            _ if name.starts_with("read") => Ok(Manner::Together),
            "bad" => Err(Failure::mistake(format!("no good: {arguments}"))),
            _ => Err(Failure::mistake(format!("Unknown tool \"{name}\"."))),
        }
    }

    fn describe(&self, name: &str, _: Option<&Value>) -> String {
        format!("[{name}]")
    }
}

/// A turn, and what it asked for.
struct Play {
    turn: Turn,
    /// Calls that run, by id.
    running: BTreeMap<String, CallKey>,
}

impl Play {
    fn new() -> Self {
        Self::with(Rules::default())
    }

    fn with(rules: Rules) -> Self {
        let mut play = Self { turn: Turn::new(rules), running: BTreeMap::new() };
        play.request();
        play
    }

    fn request(&mut self) {
        self.turn.take(&Body::Request { dialect: "anthropic".into(), model: "m".into() });
    }

    fn event(&mut self, event: AgentEvent) {
        self.turn.take(&Body::Agent(event));
    }

    fn say(&mut self, text: &str) {
        self.event(AgentEvent::TextDelta { delta: text.into() });
    }

    fn begin(&mut self, id: &str, name: &str) {
        self.event(AgentEvent::ToolInputStart { tool_call_id: id.into(), tool_name: name.into() });
    }

    fn call(&mut self, id: &str, name: &str) {
        self.begin(id, name);
        self.complete(id, name);
    }

    fn complete(&mut self, id: &str, name: &str) {
        self.event(AgentEvent::ToolCall {
            tool_call: agent::ToolCall {
                id: id.into(),
                name: name.into(),
                arguments: Value::from(Object::new()),
                raw: None,
                provider_executed: false,
                metadata: None,
            },
        });
    }

    fn stop(&mut self, reason: StopReason) {
        self.turn.end(End { status: Status::Stopped, reason: Some(reason) });
    }

    fn cut(&mut self) {
        self.turn.end(End { status: Status::Cut, reason: None });
    }

    fn finish(&mut self, id: &str, outcome: Outcome) {
        self.turn.finish(self.running[id], outcome, &Names);
    }

    fn done(&mut self, id: &str) {
        self.finish(id, Outcome::Done(Output::text(format!("out of {id}")), None));
    }

    /// All that is to be done now, a line each.
    fn next(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(action) = self.turn.next(&Names) {
            lines.push(match action {
                Action::Start(call) => {
                    self.running.insert(call.id.clone(), call.key);
                    format!("start {}", call.id)
                }
                Action::Answer(result) => {
                    let text = result.result.as_str().map_or_else(|| result.result.to_string(), Into::into);
                    format!("{}: {text}", result.tool_call_id)
                }
                Action::Stop => "stop".into(),
                Action::AskUser { mistakes } => {
                    self.turn.advise();
                    format!("ask after {mistakes}")
                }
                Action::Ready(next) => format!("{next:?}"),
            });
        }
        lines
    }
}

use reknit::json::Object;

#[test]
fn a_call_starts_when_it_is_whole_and_the_reply_goes_on() {
    let mut play = Play::new();
    play.begin("a", "write");
    assert!(play.next().is_empty(), "a partial call is never run");
    play.complete("a", "write");
    assert_eq!(play.next(), ["start a"]);
    play.say("more");
    play.done("a");
    assert_eq!(play.next(), ["a: [write] Result:\nout of a"]);
    play.stop(StopReason::Tool);
    assert_eq!(play.next(), ["Request"]);
    assert!(play.next().is_empty(), "a reply is settled once");
}

#[test]
fn calls_run_strictly_in_order() {
    let mut play = Play::new();
    play.call("a", "write");
    play.call("b", "write");
    play.stop(StopReason::Tool);
    assert_eq!(play.next(), ["start a"]);
    play.done("a");
    assert_eq!(play.next(), ["a: [write] Result:\nout of a", "start b"]);
    play.done("b");
    assert_eq!(play.next(), ["b: [write] Result:\nout of b", "Request"]);
}

#[test]
fn a_later_call_that_closes_first_waits() {
    let mut play = Play::new();
    play.begin("a", "write");
    play.call("b", "write");
    assert!(play.next().is_empty());
    play.complete("a", "write");
    assert_eq!(play.next(), ["start a"]);
}

#[test]
fn reads_run_together_and_are_answered_in_order() {
    let mut play = Play::new();
    for (id, name) in [("a", "read1"), ("b", "read2"), ("c", "write"), ("d", "read3")] {
        play.call(id, name);
    }
    play.stop(StopReason::Tool);
    assert_eq!(play.next(), ["start a", "start b"]);
    play.done("b");
    assert!(play.next().is_empty(), "the result of b waits for that of a");
    play.done("a");
    assert_eq!(play.next(), ["a: [read1] Result:\nout of a", "b: [read2] Result:\nout of b", "start c"]);
    play.done("c");
    assert_eq!(play.next(), ["c: [write] Result:\nout of c", "start d"]);
}

#[test]
fn at_most_eight_reads_run_at_once() {
    let mut play = Play::new();
    for number in 0..20 {
        play.call(&number.to_string(), "read");
    }
    assert_eq!(play.next().len(), 8);
    play.done("0");
    assert_eq!(play.next(), ["0: [read] Result:\nout of 0", "start 8"]);
}

#[test]
fn an_update_while_a_call_runs_is_not_lost() {
    let mut play = Play::new();
    play.call("a", "write");
    assert_eq!(play.next(), ["start a"]);
    play.call("b", "write");
    play.stop(StopReason::Tool);
    assert!(play.next().is_empty());
    play.done("a");
    assert_eq!(play.next()[1..], ["start b"]);
}

#[test]
fn after_a_rejection_later_calls_are_skipped_and_a_partial_one_is_interrupted() {
    let mut play = Play::new();
    play.call("a", "write");
    assert_eq!(play.next(), ["start a"]);
    play.call("b", "write");
    play.begin("c", "write");
    play.finish("a", Outcome::Denied(Answer::no().with_words("use tabs")));
    assert_eq!(
        play.next(),
        [
            "stop",
            "a: The user denied this operation and responded with the message:\n\
             <user_message>\nuse tabs\n</user_message>",
            "b: Skipping tool [write] due to user rejecting a previous tool.",
            "c: Tool [write] was interrupted and not executed due to user rejecting a previous tool.",
        ]
    );
    play.cut();
    assert_eq!(play.next(), ["Request"]);
}

#[test]
fn a_denial_without_words() {
    let mut play = Play::new();
    play.call("a", "write");
    play.stop(StopReason::Tool);
    play.next();
    play.finish("a", Outcome::Denied(Answer::no()));
    assert_eq!(play.next(), ["a: The user denied this operation.", "Request"]);
}

#[test]
fn a_rejection_ends_with_its_reply() {
    let mut play = Play::new();
    play.call("a", "write");
    play.stop(StopReason::Tool);
    play.next();
    play.finish("a", Outcome::Denied(Answer::no()));
    play.next();
    play.request();
    play.call("b", "write");
    assert_eq!(play.next(), ["start b"]);
}

#[test]
fn words_of_an_approval_are_part_of_the_one_result() {
    let mut play = Play::new();
    play.call("a", "write");
    play.next();
    let answer = Answer::yes().with_words("but hurry");
    play.finish("a", Outcome::Done(Output::default(), Some(answer)));
    assert_eq!(
        play.next(),
        ["a: The user approved this operation and provided the following context:\n<feedback>\nbut hurry\n\
          </feedback>\n[write] Result:\n(tool did not return anything)"]
    );
}

#[test]
fn images_of_a_result_and_of_feedback_are_kept() {
    let image = |data: &str| Content::Image { media_type: "image/png".into(), data: data.into() };
    let mut play = Play::new();
    play.call("a", "write");
    play.next();
    let answer = Answer::yes().with_images(vec![image("QQ==")]);
    play.finish("a", Outcome::Done(Output::content(vec![image("Qg==")]), Some(answer)));
    assert_eq!(
        play.next(),
        [
            r#"a: [{"type":"text","text":"[write] Result:\n"},{"type":"image","mediaType":"image/png","data":"Qg=="},{"type":"image","mediaType":"image/png","data":"QQ=="}]"#
        ]
    );
}

#[test]
fn with_one_call_per_message_later_calls_are_not_run() {
    let mut play = Play::with(Rules::default().one_call());
    play.call("a", "read");
    play.call("b", "read");
    play.stop(StopReason::Tool);
    assert_eq!(play.next(), ["start a"]);
    play.done("a");
    let lines = play.next();
    assert!(lines[1].starts_with("b: Tool [read] was not executed because a tool has already been used"));
    assert_eq!(lines[2], "Request");
}

#[test]
fn a_malformed_call_is_answered_and_not_run() {
    let mut play = Play::new();
    play.begin("a", "write");
    play.event(AgentEvent::ToolInputError { tool_call_id: "a".into(), error: "expected `,`".into() });
    play.stop(StopReason::Tool);
    let lines = play.next();
    assert!(lines[0].contains("The arguments of the call cannot be used: expected `,`"), "{lines:?}");
    assert_eq!(lines[1..], ["Request"]);
}

#[test]
fn a_cut_call_is_answered_and_not_run() {
    let mut play = Play::new();
    play.begin("a", "write");
    play.cut();
    assert_eq!(
        play.next(),
        [
            "a: Tool [write] was not executed: the call was cut off before its arguments were complete.",
            "Request"
        ]
    );
}

#[test]
fn the_user_is_asked_after_three_mistakes_in_a_row_across_messages() {
    let mut play = Play::new();
    play.call("a", "nothing");
    play.call("b", "bad");
    play.stop(StopReason::Tool);
    assert_eq!(play.next()[2], "Request");
    play.request();
    play.call("c", "nothing");
    play.stop(StopReason::Tool);
    assert_eq!(play.next()[1..], ["ask after 3", "Request"]);
}

#[test]
fn a_successful_call_resets_the_count_of_mistakes() {
    let mut play = Play::new();
    for (wrong, right) in [("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")] {
        play.call(wrong, "nothing");
        play.call(right, "write");
        play.stop(StopReason::Tool);
        play.next();
        play.done(right);
        assert_eq!(play.next()[1..], ["Request"]);
        play.request();
    }
}

#[test]
fn a_connection_that_breaks_is_not_a_mistake() {
    let mut play = Play::new();
    for id in ["a", "b", "c", "d"] {
        play.begin(id, "write");
        play.event(AgentEvent::ToolInputError { tool_call_id: id.into(), error: "cut".into() });
        play.cut();
        assert_eq!(play.next()[1..], ["Request"]);
        play.request();
    }
}

#[test]
fn a_failure_of_the_world_is_not_a_mistake() {
    let mut play = Play::new();
    for id in ["a", "b", "c", "d"] {
        play.call(id, "write");
        play.stop(StopReason::Tool);
        play.next();
        play.finish(id, Outcome::Failed(Failure::other("disk full")));
        assert_eq!(play.next()[1..], ["Request"]);
        play.request();
    }
}

#[test]
fn a_reply_without_calls_ends_the_turn() {
    for (reason, next) in [
        (StopReason::End, "Over(Done)"),
        (StopReason::StopSequence, "Over(Done)"),
        (StopReason::Length, "Over(Length)"),
        (StopReason::Refusal, "Over(Refused)"),
        (StopReason::Filter, "Over(Refused)"),
        (StopReason::Pause, "Again"),
    ] {
        let mut play = Play::new();
        play.say("text");
        assert!(play.next().is_empty());
        play.stop(reason);
        assert_eq!(play.next(), [next]);
    }
}

#[test]
fn a_reply_that_failed_without_calls_ends_the_turn() {
    let mut play = Play::new();
    play.say("text");
    play.cut();
    assert_eq!(play.next(), ["Over(Failed)"]);
}

#[test]
fn an_empty_message_is_asked_for_once_more() {
    let mut play = Play::new();
    play.say("  \n");
    play.stop(StopReason::End);
    assert_eq!(play.next(), ["Again"]);
    play.request();
    play.stop(StopReason::End);
    assert_eq!(play.next(), ["Over(Empty)"]);
    play.request();
    play.stop(StopReason::End);
    assert_eq!(play.next(), ["Again"], "and again in the next turn");
}

#[test]
fn a_completion_ends_the_task_and_later_calls_are_not_run() {
    let mut play = Play::new();
    play.call("a", "read");
    play.call("b", "finish");
    play.call("c", "write");
    play.stop(StopReason::Tool);
    assert_eq!(play.next(), ["start a"], "a completion waits for the calls before it");
    play.done("a");
    assert_eq!(play.next()[1..], ["start b"]);
    play.finish("b", Outcome::Done(Output::text("all good").completing(), None));
    assert_eq!(
        play.next(),
        [
            "b: [finish] Result:\nall good",
            "c: Tool [write] was not executed because the task was completed before it.",
            "Over(Completed)",
        ]
    );
}

#[test]
fn a_completion_after_a_failure_is_refused() {
    let mut play = Play::new();
    play.call("a", "bad");
    play.call("b", "finish");
    play.stop(StopReason::Tool);
    let lines = play.next();
    assert!(lines[1].contains("another tool failed in this message"), "{lines:?}");
    assert_eq!(lines[2], "Request");
}

#[test]
fn a_cancel_takes_effect_at_once_and_every_call_has_one_result() {
    let mut play = Play::new();
    for (id, name) in [("a", "read"), ("b", "read"), ("c", "write")] {
        play.call(id, name);
    }
    play.begin("d", "write");
    assert_eq!(play.next(), ["start a", "start b"]);
    play.turn.cancel();
    // The real result was already there.
    play.done("b");
    assert!(play.next().is_empty(), "the results wait for that of a");
    assert_eq!(play.turn.running().count(), 1);
    play.finish("a", Outcome::Cancelled);
    assert_eq!(
        play.next(),
        [
            "a: Tool [read] was cancelled by the user.",
            "b: [read] Result:\nout of b",
            "c: Tool [write] was cancelled by the user.",
            "d: Tool [write] was cancelled by the user.",
            "Over(Cancelled)",
        ]
    );
}

#[test]
fn a_second_report_of_a_call_changes_nothing() {
    let mut play = Play::new();
    play.call("a", "write");
    play.next();
    play.finish("a", Outcome::Cancelled);
    play.done("a");
    assert_eq!(play.next(), ["a: Tool [write] was cancelled by the user."]);
    play.done("a");
    assert!(play.next().is_empty());
}

#[test]
fn calls_that_the_provider_runs_are_not_ours() {
    let mut play = Play::new();
    play.begin("p", "web_search");
    play.call("a", "write");
    assert!(play.next().is_empty(), "whose call it is, is not known yet");
    play.event(AgentEvent::ToolCall {
        tool_call: agent::ToolCall {
            id: "p".into(),
            name: "web_search".into(),
            arguments: Value::from(Object::new()),
            raw: None,
            provider_executed: true,
            metadata: None,
        },
    });
    assert_eq!(play.next(), ["start a"]);
}

#[test]
fn a_log_that_is_read_again_starts_no_call_twice() {
    let mut play = Play::new();
    for id in ["a", "b", "c"] {
        play.call(id, "write");
    }
    play.event(AgentEvent::ToolResult {
        tool_result: ToolResult {
            tool_call_id: "a".into(),
            tool_name: None,
            result: "x".into(),
            is_error: None,
        },
    });
    play.turn.take(&Body::ToolStarted { tool_call_id: "b".into() });
    play.cut();
    assert!(play.next().is_empty());
    let running: Vec<_> = play.turn.running().collect();
    let [b] = running[..] else { panic!("{running:?}") };
    play.turn.finish(b, Outcome::Interrupted, &Names);
    assert_eq!(play.next(), ["b: Task was interrupted before this tool call could be completed.", "start c"]);
}

#[test]
fn a_hundred_thousand_calls_need_no_stack_and_no_walk() {
    const COUNT: usize = 100_000;
    let mut play = Play::new();
    for number in 0..COUNT {
        play.call(&number.to_string(), "read");
    }
    play.stop(StopReason::Tool);
    let mut answered = 0;
    loop {
        match play.turn.next(&Names) {
            Some(Action::Start(call)) => play.turn.finish(call.key, Outcome::Cancelled, &Names),
            Some(Action::Answer(_)) => answered += 1,
            other => break assert_eq!(other, Some(Action::Ready(Next::Request))),
        }
    }
    assert_eq!(answered, COUNT);
}

#[test]
fn other_entries_change_nothing() {
    let mut play = Play::new();
    play.turn.take(&Body::End { reason: EndReason::Done });
    play.turn.take(&Body::Mode { mode: "plan".into() });
    assert!(play.next().is_empty());
}
