//! Spans of turns, requests and calls.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::*;

/// The spans of a test: their names, parents and fields.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<Recorded>>>);

struct Recorded {
    name: &'static str,
    parent: Option<u64>,
    fields: BTreeMap<&'static str, String>,
}

struct Fields<'a>(&'a mut BTreeMap<&'static str, String>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("reknit_runtime")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = BTreeMap::new();
        span.record(&mut Fields(&mut fields));
        let mut spans = self.0.lock().unwrap();
        spans.push(Recorded {
            name: span.metadata().name(),
            parent: span.parent().map(Id::into_u64),
            fields,
        });
        Id::from_u64(spans.len() as u64)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        let mut spans = self.0.lock().unwrap();
        let at = usize::try_from(id.into_u64()).unwrap() - 1;
        values.record(&mut Fields(&mut spans[at].fields));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn turns_requests_and_calls_have_spans() {
    let spans = Spans::default();
    // The session's tasks run on this thread.
    let _guard = tracing::subscriber::set_default(spans.clone());
    let server = Server::start(
        Dialect::Anthropic,
        [Say::text("I look.").call("c1", "read", "{}"), Say::text("Done.")]
            .map(|say| Answer::reply(Dialect::Anthropic, &say)),
    );
    let world = World::new([]);
    let (session, mut watch) =
        world.open_with(world.builder_with(model(&server, Dialect::Anthropic, ""))).await;
    session.say("Go.").await;
    assert_eq!(watch.end().await, EndReason::Done);
    session.say("More.").await;
    assert_eq!(watch.end().await, EndReason::Failed, "the script is over");

    let spans = spans.0.lock().unwrap();
    let names: Vec<_> = spans.iter().map(|span| (span.name, span.parent)).collect();
    let turn = Some(1);
    assert_eq!(
        names,
        [
            ("invoke_agent", None),
            ("chat", turn),
            ("execute_tool", turn),
            ("chat", turn),
            ("invoke_agent", None),
            ("chat", Some(5)),
        ]
    );
    let field = |span: usize, name: &str| spans[span].fields.get(name).map(String::as_str);
    assert_eq!(field(0, "gen_ai.conversation.id"), Some("\"s\""));
    assert_eq!(field(1, "gen_ai.operation.name"), Some("\"chat\""));
    assert_eq!(field(1, "gen_ai.provider.name"), Some("\"anthropic\""));
    assert_eq!(field(1, "gen_ai.request.model"), Some("\"strict-1\""));
    assert_eq!(field(1, "gen_ai.response.id"), Some("\"msg_c1\""));
    assert_eq!(field(1, "gen_ai.usage.input_tokens"), Some("100"));
    assert_eq!(field(1, "gen_ai.usage.output_tokens"), Some("20"));
    assert_eq!(field(1, "gen_ai.response.finish_reasons"), Some(r#""[\"tool\"]""#));
    assert_eq!(field(2, "gen_ai.tool.name"), Some("\"read\""));
    assert_eq!(field(2, "gen_ai.tool.call.id"), Some("\"c1\""));
    assert_eq!(field(5, "error.type"), Some("\"request-refused\""));
    let all: String = spans.iter().flat_map(|span| span.fields.values().map(String::as_str)).collect();
    assert!(!all.contains("I look.") && !all.contains("Go."), "what was said is not in them");
}
