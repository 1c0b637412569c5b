//! Models over HTTP: sessions with a strict provider on the loopback interface, in every dialect.

use std::borrow::Cow;
use std::time::Duration;

use reknit::Dialect;
use reknit::agent::{AgentEvent, Body, Content, EndReason, Entry};
use reknit::json::Value;
use reknit_runtime::provider::models::Models;
use reknit_runtime::provider::{ErrorKind, Http};
use reknit_runtime::session::Timeouts;
use reknit_validators::server::{Answer, Fault, KEY, MODEL, Say, Server};

use crate::world::{World, say_yes};

mod faults;
mod images;
mod recording;
mod secrets;
mod spans;
mod streams;

/// The dialects that models are asked in.
const DIALECTS: [Dialect; 5] =
    [Dialect::Anthropic, Dialect::OpenAiChat, Dialect::OpenAiResponses, Dialect::Gemini, Dialect::Ollama];

/// A model at a server, with further lines of its configuration.
fn model(server: &Server, dialect: Dialect, more: &str) -> Http {
    model_with_key(server, dialect, more, KEY)
}

fn model_with_key(server: &Server, dialect: Dialect, more: &str, key: &str) -> Http {
    let url = server.base_url();
    let config = format!(
        "[models.m]\ndialect = \"{dialect}\"\nmodel = \"{MODEL}\"\nbase_url = \"{url}\"\nkey_env = \"KEY\"\n{more}"
    );
    let models = Models::read(Some(&config)).unwrap();
    Http::new(models.find(Some("m"), &|_| Some(key.to_owned())).unwrap()).unwrap()
}

/// Everything that the model said, by the log.
fn said(entries: &[Entry]) -> String {
    let texts = entries.iter().filter_map(|entry| match &entry.body {
        Body::Agent(AgentEvent::TextDelta { delta }) => Some(&**delta),
        _ => None,
    });
    texts.collect()
}

/// The errors in a log: kind, message and the provider's name for the exchange.
fn errors(entries: &[Entry]) -> Vec<(String, String, Option<String>)> {
    let errors = entries.iter().filter_map(|entry| {
        let Body::Agent(AgentEvent::Error { error, .. }) = &entry.body else { return None };
        let member = |name: &str| entry.extra.get("body")?.get(name)?.as_str().map(Cow::into_owned);
        Some((member("kind").unwrap_or_default(), error.clone(), member("requestId")))
    });
    errors.collect()
}

#[tokio::test]
async fn two_turns_with_tools_and_thinking_in_every_dialect() {
    for dialect in DIALECTS {
        let first = Say::text("I look at it.")
            .thinking("The user wants me to look.", "seal-1/+==")
            .call("call1", "read", r#"{"what":"a"}"#)
            .call("call2", "read", r#"{"what":"b"}"#);
        let second = Say::text("I write it.").thinking("Now I write.", "seal-2").call("call3", "write", "{}");
        let answers = [first, second, Say::text("It is done."), Say::text("You are welcome.")];
        let server = Server::start(dialect, answers.iter().map(|say| Answer::reply(dialect, say)));
        let price = "price = { input = 1.0, output = 10.0, cache_read = 0.1 }";
        let world = World::new([]);
        let builder = world.builder_with(model(&server, dialect, price)).system("You help.");
        let (session, mut watch) = world.open_with(builder).await;
        session.say("Look and write.").await;
        assert_eq!(
            say_yes(&session, &mut watch).await,
            EndReason::Done,
            "{dialect}: {:?}",
            server.refusals()
        );
        session.say("Thank you.").await;
        assert_eq!(watch.end().await, EndReason::Done, "{dialect}: {:?}", server.refusals());
        assert_eq!(server.refusals(), [""; 0], "{dialect}");
        assert_eq!(said(&watch.entries), "I look at it.I write it.It is done.You are welcome.", "{dialect}");
        let results = watch.results();
        assert_eq!(results.len(), 3, "{dialect}: {results:?}");
        // Thinking goes back as it came, with its seal where there is one.
        let body = server.requests().last().unwrap().body.to_string();
        match dialect {
            // Plain thinking goes back only beside calls.
            Dialect::OpenAiChat | Dialect::Ollama => {
                assert!(body.contains("The user wants me to look."), "{body}");
            }
            _ => {
                assert!(
                    body.contains(r#""seal-1/+==""#) && body.contains(r#""seal-2""#),
                    "{dialect}: {body}"
                );
            }
        }
        check_spent(dialect, &watch.entries);
    }
}

/// Four replies, each of 150 tokens in, of which 50 are from the cache, and 20 out.
fn check_spent(dialect: Dialect, entries: &[Entry]) {
    let end = entries.iter().rev().find(|entry| matches!(entry.body, Body::End { .. })).unwrap();
    let spent = end.extra.get("body").and_then(|body| body.get("spent")).unwrap();
    let (turn, session) = (spent.get("turn").unwrap(), spent.get("session").unwrap());
    let replies = |of: &Value| of.get("replies").and_then(Value::as_u64);
    assert_eq!((replies(turn), replies(session)), (Some(1), Some(4)), "{dialect}");
    // Ollama does not say what it had kept.
    let input = if dialect == Dialect::Ollama { 150.0 } else { 105.0 };
    let cost = session.get("cost").unwrap().as_number().unwrap().as_f64();
    assert!((cost - 4.0 * (input + 200.0) / 1e6).abs() < 1e-9, "{dialect}: {cost}");
}

#[tokio::test]
async fn prompt_caching_is_marked_where_the_provider_has_marks() {
    let server = Server::start(
        Dialect::Anthropic,
        [Say::text("").call("c1", "read", "{}"), Say::text("Done.")]
            .map(|say| Answer::reply(Dialect::Anthropic, &say)),
    );
    let world = World::new([]);
    let builder = world.builder_with(model(&server, Dialect::Anthropic, "")).system("You help.");
    let (session, mut watch) = world.open_with(builder).await;
    session.say("Look.").await;
    assert_eq!(watch.end().await, EndReason::Done, "{:?}", server.refusals());
    let body = &server.requests()[1].body;
    for place in ["/system/0", "/messages/0/content/0", "/messages/2/content/0"] {
        let mark = body.pointer(place).and_then(|block| block.get("cache_control")).map(ToString::to_string);
        assert_eq!(mark.as_deref(), Some(r#"{"type":"ephemeral"}"#), "{place}");
    }
    assert_eq!(body.to_string().matches("cache_control").count(), 3);
}

#[tokio::test]
async fn a_model_without_calls_of_its_own_writes_them_into_its_text() {
    for dialect in DIALECTS {
        let call = "I list it.\n<list_files>\n<path>.</path>\n</list_files>";
        let server = Server::start(
            dialect,
            [Say::text(call), Say::text("It is empty.")].map(|say| Answer::reply(dialect, &say)),
        );
        let world = World::new([]);
        let builder = world.builder_with(model(&server, dialect, "tags = \"roo\"")).system("You help.");
        let (session, mut watch) = world.open_with(builder.tools(reknit_runtime::tools::standard())).await;
        session.say("List.").await;
        assert_eq!(watch.end().await, EndReason::Done, "{dialect}: {:?}", server.refusals());
        assert_eq!(watch.results().len(), 1, "{dialect}");
        let bodies: Vec<String> = server.requests().iter().map(|request| request.body.to_string()).collect();
        assert!(
            bodies[0].contains("## list_files") && !bodies[0].contains("\"tools\""),
            "{dialect}: {}",
            bodies[0]
        );
        assert!(
            bodies[1].contains("<list_files>"),
            "{dialect}: it goes back as it was written: {}",
            bodies[1]
        );
    }
}

#[tokio::test]
async fn a_full_context_window_is_mentioned() {
    let server = Server::start(Dialect::Gemini, [Answer::reply(Dialect::Gemini, &Say::text("Hello."))]);
    let world = World::new([]);
    let builder = world.builder_with(model(&server, Dialect::Gemini, "context_window = 180"));
    let (session, mut watch) = world.open_with(builder).await;
    session.say("Hello.").await;
    assert_eq!(watch.end().await, EndReason::Done);
    let notice = watch.entries.iter().find_map(|entry| match &entry.body {
        Body::Agent(AgentEvent::Notice { message }) => Some(&**message),
        _ => None,
    });
    assert_eq!(notice, Some("the conversation has 165 tokens, and the model reads at most 180"));
}
