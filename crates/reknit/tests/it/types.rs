//! Every public type is `Send` and `Sync`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::sources::{public_type, sources};

fn is_shareable<T: Send + Sync>() {}

/// Asserts this for each type at compile time, and returns their names.
macro_rules! shareable {
    ($($module:ident :: $name:ident $(<$argument:tt>)?),* $(,)?) => {{
        $(is_shareable::<reknit::$module::$name$(<$argument>)?>();)*
        vec![$(stringify!($name)),*]
    }};
}

#[test]
fn every_public_type_is_send_and_sync() {
    let mut listed = shareable![
        frame::Frame<'static>,
        frame::Kind,
        frame::Framing,
        frame::Decoder,
        frame::Error,
        frame::Damage,
        wire::Dialect,
        wire::UnknownName,
        wire::Translator,
        event::Event<'static>,
        event::Slot,
        event::Start,
        event::Opening,
        event::Runner,
        event::Notation,
        event::Owner,
        event::Keep<'static>,
        event::Usage,
        event::Stop,
        event::StopReason,
        event::Failure,
        json::PartialJson,
        json::Change<'static>,
        json::State,
        json::Value,
        json::Array,
        json::Object,
        json::Number,
        json::Path<'static>,
        json::Step<'static>,
        json::Error,
        json::ErrorKind,
        json::DeserializeError,
        message::Message,
        message::Choice,
        message::Status,
        message::Block,
        message::Body,
        message::ToolCall,
        message::Args,
        message::Input,
        event::End,
        event::CallId,
        event::Origin,
        message::Change<'static>,
        message::Misfit,
        message::ParseError,
        reply::Reply,
        reply::Changes<'static>,
        reply::Error,
        reply::Item,
        reply::Items<()>,
        tags::Parser,
        tags::Block<'static>,
        tags::Call<'static>,
        tags::SpanKind,
        tags::Tools,
        tags::Detected,
        tags::TooLong,
        tags::Tagger,
        edit::Edit,
        edit::Action,
        edit::Replace,
        edit::Scope,
        edit::FileEnd,
        edit::Format,
        edit::Parsed,
        edit::Problem,
        edit::ProblemKind,
        edit::Repair,
        edit::RepairKind,
        edit::Parser,
        edit::Plan,
        edit::FilePlan,
        edit::FileAction,
        edit::FileReport<'static>,
        edit::Content<'static>,
        edit::Splice,
        edit::Report,
        edit::Outcome,
        edit::Match,
        edit::How,
        edit::Lines,
        edit::Note,
        edit::Rejection,
        edit::Closest,
        edit::Reason,
        edit::Preview<'static>,
        edit::Change,
        agent::AgentEvent,
        agent::ToolCall,
        agent::ToolResult,
        agent::Stream,
        agent::Lifecycle,
        agent::ReplyEvents,
        agent::Bridge,
        agent::Entry,
        agent::Body,
        agent::Content,
        agent::Decision,
        agent::EndReason,
        agent::Misread,
        transcript::Chunk,
        transcript::Call,
        transcript::Input,
        transcript::ShellOutput,
        transcript::Approval,
        transcript::Preview,
        transcript::SystemKind,
        transcript::Chunks,
        transcript::Change<'static>,
        transcript::Message,
        transcript::Role,
        transcript::Status,
        transcript::Transcript,
        transcript::Step<'static>,
        transcript::Effect<'static>,
        history::Request,
        history::Error,
        history::Repair,
        history::RepairKind,
        recording::Header,
        recording::Read,
        recording::Reader,
        recording::Detected,
        recording::Error,
        diagnostic::Diagnostic,
        diagnostic::Diagnostics,
        diagnostic::Location,
        diagnostic::Place,
        diagnostic::Kind,
    ];
    is_shareable::<reknit::Text>();
    is_shareable::<reknit::Limits>();
    listed.extend(["Text", "Limits"]);
    is_shareable::<reknit::tags::Grammar>();
    is_shareable::<reknit::tags::GrammarError>();
    listed.extend(["Grammar", "GrammarError"]);
    #[cfg(feature = "stream")]
    is_shareable::<reknit::reply::ChangeStream<u8>>();
    listed.push("ChangeStream");

    let mut counts: BTreeMap<String, i32> = BTreeMap::new();
    listed.iter().for_each(|name| *counts.entry((*name).to_owned()).or_default() += 1);
    for file in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        let source = fs::read_to_string(&file).expect("it was listed");
        for name in source.lines().filter_map(public_type) {
            *counts.entry(name.to_owned()).or_default() -= 1;
        }
    }
    counts.retain(|_, count| *count != 0);
    assert!(counts.is_empty(), "listed here more (+) or less (-) often than defined in src: {counts:?}");
}
