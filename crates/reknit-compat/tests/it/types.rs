//! Every public type can be sent to another thread and shared with it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::sources::{public_type, sources};

fn is_shareable<T: Send + Sync>() {}

/// Asserts it of each type, at compile time, and gives their names.
macro_rules! shareable {
    ($($module:ident :: $name:ident $(<$argument:tt>)?),* $(,)?) => {{
        $(is_shareable::<reknit_compat::$module::$name$(<$argument>)?>();)*
        vec![$(stringify!($name)),*]
    }};
}

#[test]
fn every_public_type_is_send_and_sync() {
    let listed = shareable![
        reconstruct::Reconstructor,
        reconstruct::Callbacks,
        reconstruct::Close,
        reconstruct::ServerEvent,
        reconstruct::Delta,
        reconstruct::Error,
        reconstruct::ChatMessage,
        reconstruct::State,
        realtime::Profile,
        realtime::UnknownProfile,
        realtime::Processor,
        realtime::Tally,
        realtime::ServerEvent,
        realtime::Happening,
        realtime::Subsession,
        realtime::Diagnostic,
        realtime::DiagnosticKind,
        realtime::MessageBuilder,
        system_events::SystemEvent,
        realtime::MessageType,
        realtime::Stamp,
        realtime::NoMessage,
        realtime::EnhancedMessage,
        realtime::MessageKind,
        realtime::MessageStatus,
        realtime::MessageMetadata,
        realtime::List<u8>,
        realtime::ToolCall,
        realtime::ToolResult,
        realtime::CompletedCall,
        realtime::ToolCallBook,
        realtime::ToolNotification,
        realtime::ToolStatus,
        realtime::Statistics,
        realtime::NoToolCalls,
        realtime::Sessions,
        realtime::Session,
        realtime::SessionIndex,
        realtime::IndexEntry,
        realtime::Placing,
        realtime::Time,
        cline::Version,
        cline::End,
        cline::Constructed,
        cline::Error,
    ];
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
