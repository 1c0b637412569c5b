//! Events in any order, with few different ids, so that they meet, and few different texts, some of them
//! empty.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use reknit::agent::{AgentEvent, Decision, Lifecycle, Stream, ToolCall, ToolResult};
use reknit::event::Usage;
use reknit::json::{Number, Object, Value};
use reknit::transcript::{Chunks, append};

use super::promises;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn the_promises_hold(events in vec(any_event(), 0..40)) {
        promises::hold(&events);
    }

    /// Whatever changes chunks are given, they stay valid, and those that do not fit change nothing.
    #[test]
    fn changes_of_other_chunks_do_no_harm(
        own in vec(any_event(), 0..20),
        others in vec(any_event(), 0..20),
    ) {
        let (mut chunks, mut other) = (Chunks::default(), Chunks::default());
        own.iter().for_each(|event| drop(append(&mut chunks, event)));
        for event in &others {
            let before = chunks.clone();
            if chunks.follow(&append(&mut other, event)).is_err() {
                prop_assert_eq!(&chunks, &before);
            }
        }
        own.iter().chain(&others).for_each(|event| drop(append(&mut chunks, event)));
    }
}

/// An event of any type.
pub(crate) fn any_event() -> impl Strategy<Value = AgentEvent> {
    // Those that make chunks are twice as likely as those that do not.
    prop_oneof![4 => content(), 3 => calls(), 2 => extensions(), 1 => silent()]
}

fn content() -> impl Strategy<Value = AgentEvent> {
    prop_oneof![
        3 => text().prop_map(|delta| AgentEvent::TextDelta { delta }),
        3 => text().prop_map(|delta| AgentEvent::ReasoningDelta { delta }),
        2 => proptest::option::of(value()).prop_map(|metadata| AgentEvent::ReasoningEnd { metadata }),
        1 => (text(), proptest::option::of(number()))
            .prop_map(|(error, status_code)| AgentEvent::Error { error, status_code }),
        1 => text().prop_map(|message| AgentEvent::Notice { message }),
        1 => (text(), text()).prop_map(|(key_id, model_id)| AgentEvent::ModelChanged { key_id, model_id }),
        1 => Just(AgentEvent::ConfigReload {}),
    ]
}

fn calls() -> impl Strategy<Value = AgentEvent> {
    let call = (call_id(), text(), value(), proptest::option::of(text()), any::<bool>());
    let call = call.prop_map(|(id, name, arguments, raw, provider_executed)| AgentEvent::ToolCall {
        tool_call: ToolCall { id, name, arguments, raw, provider_executed, metadata: None },
    });
    let result = (call_id(), proptest::option::of(text()), value(), proptest::option::of(any::<bool>()));
    let result = result.prop_map(|(tool_call_id, tool_name, result, is_error)| AgentEvent::ToolResult {
        tool_result: ToolResult { tool_call_id, tool_name, result, is_error },
    });
    prop_oneof![3 => call, 2 => result, 1 => output(Just(None).boxed())]
}

fn extensions() -> impl Strategy<Value = AgentEvent> {
    prop_oneof![
        (call_id(), text())
            .prop_map(|(tool_call_id, tool_name)| AgentEvent::ToolInputStart { tool_call_id, tool_name }),
        (call_id(), text())
            .prop_map(|(tool_call_id, delta)| AgentEvent::ToolInputDelta { tool_call_id, delta }),
        (call_id(), text())
            .prop_map(|(tool_call_id, error)| AgentEvent::ToolInputError { tool_call_id, error }),
        output(call_id().prop_map(Some).boxed()),
        (approval_id(), call_id(), proptest::option::of(text())).prop_map(
            |(approval_id, tool_call_id, reason)| {
                AgentEvent::ApprovalRequest { approval_id, tool_call_id, reason }
            }
        ),
        (approval_id(), select(&[Decision::Allow, Decision::Deny]), proptest::option::of(text())).prop_map(
            |(approval_id, decision, reason)| AgentEvent::ApprovalResponse { approval_id, decision, reason }
        ),
        (call_id(), text(), text(), any::<bool>()).prop_map(|(tool_call_id, path, delta, restarted)| {
            AgentEvent::EditPreview { tool_call_id, path, delta, restarted }
        }),
        text().prop_map(|checkpoint_id| AgentEvent::Lifecycle(Lifecycle::Checkpoint { checkpoint_id })),
        (text(), object()).prop_map(|(kind, block)| AgentEvent::ProviderBlock { kind, block }),
    ]
}

fn silent() -> impl Strategy<Value = AgentEvent> {
    let words = proptest::option::of(text());
    prop_oneof![
        words.clone().prop_map(|status| AgentEvent::Lifecycle(Lifecycle::Status { status })),
        words.clone().prop_map(|turn_id| AgentEvent::TurnStart { turn_id }),
        words.prop_map(|turn_id| AgentEvent::TurnSealed { turn_id }),
        proptest::option::of(0..9_u64)
            .prop_map(|output| AgentEvent::Usage { usage: Usage { output, ..Usage::default() } }),
        proptest::option::of(value())
            .prop_map(|tasks| AgentEvent::Lifecycle(Lifecycle::TaskListUpdate { tasks })),
        select(vec![
            AgentEvent::TurnPaused {},
            AgentEvent::Done {},
            AgentEvent::Lifecycle(Lifecycle::TabCreated {}),
            AgentEvent::Lifecycle(Lifecycle::MessageQueued {}),
            AgentEvent::Lifecycle(Lifecycle::MessageConsumed {}),
            AgentEvent::Lifecycle(Lifecycle::MessageCancelled {}),
            AgentEvent::Lifecycle(Lifecycle::CompactionStarted {}),
            AgentEvent::Lifecycle(Lifecycle::CompactionComplete {}),
            AgentEvent::Lifecycle(Lifecycle::CompactionError {}),
        ]),
        object().prop_map(|mut object| {
            let mut unknown: Object = [("type", "sparkle")].into_iter().collect();
            object.remove("type");
            unknown.insert("with", object);
            AgentEvent::Unknown(unknown)
        }),
    ]
}

fn output(tool_call_id: BoxedStrategy<Option<String>>) -> impl Strategy<Value = AgentEvent> {
    (text(), select(&[Stream::Stdout, Stream::Stderr]), tool_call_id)
        .prop_map(|(data, stream, tool_call_id)| AgentEvent::ShellOutput { data, stream, tool_call_id })
}

fn text() -> impl Strategy<Value = String> + Clone {
    select(&["", "a", "é\n", "two words"]).prop_map(str::to_owned)
}

fn call_id() -> impl Strategy<Value = String> {
    select(&["c1", "c2", "c3"]).prop_map(str::to_owned)
}

fn approval_id() -> impl Strategy<Value = String> {
    select(&["p1", "p2"]).prop_map(str::to_owned)
}

fn number() -> impl Strategy<Value = Number> {
    select(&["0", "529", "1.10", "-0", "1e5", "123456789012345678901234567890"]).prop_map(|digits| {
        let value: Value = digits.parse().expect("it is JSON");
        value.as_number().expect("it is a number").clone()
    })
}

pub(crate) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec((select(&["a", "b", "type"]), inner), 0..3)
                .prop_map(|members| Value::from(members.into_iter().collect::<Object>())),
        ]
    })
}

fn object() -> impl Strategy<Value = Object> {
    vec((select(&["a", "b", "type"]), value()), 0..3).prop_map(|members| members.into_iter().collect())
}
