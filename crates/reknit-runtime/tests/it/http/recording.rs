//! A session that was recorded is replayed to the same log.

use reknit_runtime::provider::http::Recorder;
use reknit_runtime::provider::recorded::Pace;
use reknit_runtime::provider::{Provider, Replayed};
use reknit_runtime::session::Builder;

use super::*;

/// What is the same in every run of a session: what the model said, and what tools did. A call may run while the reply
/// still arrives, so how the two are mixed is up to chance, and so is how growth was cut.
pub(super) fn stable(entries: &[Entry]) -> [Vec<String>; 2] {
    let is_of_tool = |entry: &Entry| {
        matches!(entry.body, Body::ToolStarted { .. } | Body::Agent(AgentEvent::ToolResult { .. }))
    };
    let (tools, model): (Vec<&Entry>, Vec<&Entry>) = entries.iter().partition(|entry| is_of_tool(entry));
    [model, tools].map(|entries| joined(&entries))
}

/// Bodies with their further members, without times, and with growth in one piece.
fn joined(entries: &[&Entry]) -> Vec<String> {
    let mut bodies: Vec<(Body, Option<Value>)> = Vec::new();
    for entry in entries {
        let members = entry.extra.get("body").filter(|members| members.get("root").is_none()).cloned();
        let is_joined = match (&entry.body, bodies.last_mut()) {
            (Body::Agent(event), Some((Body::Agent(last), None))) => members.is_none() && last.join(event),
            _ => false,
        };
        if !is_joined {
            bodies.push((entry.body.clone(), members));
        }
    }
    bodies
        .iter()
        .map(|(body, members)| format!("{} {members:?}", serde_json::to_string(body).unwrap()))
        .collect()
}

async fn play(world: &World, builder: Builder) -> Vec<Entry> {
    let (session, mut watch) = world.open_with(builder).await;
    for words in ["Look.", "And now?"] {
        session.say(words).await;
        say_yes(&session, &mut watch).await;
    }
    watch.entries
}

#[tokio::test]
async fn a_recording_replays_to_the_same_log() {
    for dialect in DIALECTS {
        let first = Say::text("I look.").thinking("Hm.", "seal").call("c1", "read", r#"{"what":"a"}"#);
        let last = Say::text("This reply is cut somewhere in the middle of its text.");
        let server = Server::start(
            dialect,
            [
                Answer::faulty(dialect, &first, Fault::RateLimitWithTime),
                Answer::reply(dialect, &first),
                Answer::reply(dialect, &Say::text("Done.")),
                Answer::faulty(dialect, &last, Fault::Cut),
            ],
        );
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("session.rec");
        let world = World::new([]);
        let http = model(&server, dialect, "").recorded(Recorder::create(&file).unwrap());
        let recorded = play(&world, world.builder_with(http)).await;
        assert_eq!(server.requests().len(), 4, "{dialect}: {:?}", server.refusals());

        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains(KEY), "{dialect}");
        assert!(text.contains("Look."), "{dialect}: the request is in it");
        let replayed = Replayed::new(&text, Pace::AtOnce).unwrap();
        assert_eq!((replayed.dialect(), replayed.model()), (dialect, MODEL));
        let world = World::new([]);
        let played = play(&world, world.builder_with(replayed)).await;
        assert_eq!(stable(&played), stable(&recorded), "{dialect}");
        assert!(Recorder::create(&file).is_err(), "a recording is never written over");
    }
}

#[test]
fn what_is_not_the_recording_of_a_session_is_refused() {
    let check = |text: &str, expected: &str| {
        assert_eq!(Replayed::new(text, Pace::AtOnce).unwrap_err().to_string(), expected);
    };
    check("", "the recording cannot be used: the recording is empty");
    check("hello\n", "the recording cannot be used: line 1: missing recording header");
    check(
        "{\"reknit\":\"recording\",\"version\":1}\n",
        "the recording cannot be used: a header does not say its dialect: it is not the recording of a session",
    );
}
