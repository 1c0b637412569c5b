//! Keys are nowhere to be found.

use std::path::Path;

use reknit_runtime::provider::http::Recorder;
use reknit_runtime::provider::recorded::Pace;
use reknit_runtime::provider::{Provider as _, Replayed, Request};
use reknit_validators::server::Step;

use super::*;

/// A key that no server accepts.
const WRONG: &str = "sk-wrong-9876543210-do-not-show";

/// Everything in all files below a folder.
fn all_bytes(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            bytes.extend(all_bytes(&path));
        } else {
            bytes.extend(std::fs::read(&path).unwrap());
        }
    }
    bytes
}

fn has(bytes: &[u8], key: &str) -> bool {
    bytes.windows(key.len()).any(|window| window == key.as_bytes())
}

#[tokio::test]
async fn a_key_that_is_refused_is_shown_nowhere() {
    for dialect in DIALECTS.into_iter().filter(|dialect| *dialect != Dialect::Ollama) {
        let server = Server::start(dialect, []);
        let world = World::new([]);
        let file = world.folder.path().join("session.rec");
        let headers = format!("headers = {{ \"x-gateway\" = \"{WRONG}-too\" }}");
        let http =
            model_with_key(&server, dialect, &headers, WRONG).recorded(Recorder::create(&file).unwrap());
        assert!(!format!("{http:?}").contains(WRONG));
        let (session, mut watch) = world.open_with(world.builder_with(http)).await;
        session.say("Hello.").await;
        assert_eq!(watch.end().await, EndReason::Failed, "{dialect}");
        // The server repeats the key in its error.
        assert!(server.refusals()[0].contains(WRONG), "{dialect}");
        let errors = errors(&watch.entries);
        assert_eq!(errors[0].0, "key-refused", "{dialect}: {errors:?}");
        assert!(errors[0].1.contains("[removed]"), "{dialect}: {errors:?}");
        let log: Vec<String> =
            watch.entries.iter().map(|entry| serde_json::to_string(entry).unwrap()).collect();
        assert!(!log.concat().contains(WRONG), "{dialect}: {log:#?}");
        assert!(!has(&all_bytes(world.folder.path()), WRONG), "{dialect}");
    }
}

#[tokio::test]
async fn an_address_that_cannot_be_used_does_not_show_its_password() {
    let config = format!(
        "[models.m]\ndialect = \"anthropic\"\nmodel = \"m\"\nbase_url = \"http://me:{WRONG}@127.0.0.1:1\"\nkey_env = \"K\""
    );
    let model = Models::read(Some(&config)).unwrap().find(None, &|_| Some(WRONG.to_owned())).unwrap();
    let http = Http::new(model).unwrap();
    let request = reknit_runtime::provider::Request::new(String::new(), Vec::new(), Vec::new());
    let error = reknit_runtime::provider::Provider::send(&http, &request).await.err().unwrap();
    assert!(!error.message.contains(WRONG), "{}", error.message);
    assert!(!format!("{error:?} {http:?}").contains(WRONG));
}

/// A text as a serializer writes it that escapes whatever it can.
fn escaped(text: &str) -> String {
    text.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect()
}

#[tokio::test]
async fn a_key_that_a_reply_repeats_is_shown_nowhere_however_it_is_cut() {
    for dialect in DIALECTS {
        let say = Say::text("It is §.").thinking("So: §", "seal").call("c1", "read", r#"{"what":"§"}"#);
        for (piece, key) in [(1, KEY.to_owned()), (7, escaped(KEY)), (23, KEY.to_owned()), (64, escaped(KEY))]
        {
            // A model writes a few letters at a time; what is repeated on the way comes at once.
            let frames = say.frames(dialect).concat().replace('§', &key);
            let steps = frames.as_bytes().chunks(piece).map(|piece| Step::Bytes(piece.to_vec()));
            let first = Answer::stream(dialect, steps.collect()).with_header("x-served-for", KEY);
            let server = Server::start(dialect, [first, Answer::reply(dialect, &Say::text("Done."))]);
            let world = World::new([]);
            let file = world.folder.path().join("session.rec");
            let http = model(&server, dialect, "").recorded(Recorder::create(&file).unwrap());
            let (session, mut watch) = world.open_with(world.builder_with(http)).await;
            session.say("Hello.").await;
            let what = format!("{dialect} {piece}");
            assert_eq!(watch.end().await, EndReason::Done, "{what}: {:?}", server.refusals());
            let log: Vec<String> =
                watch.entries.iter().map(|entry| serde_json::to_string(entry).unwrap()).collect();
            let log = log.concat();
            assert!(log.contains("[removed]"), "{what}: {log}");
            let recording = std::fs::read_to_string(&file).unwrap();
            assert!(recording.contains("[removed]"), "{what}: {recording}");
            for shown in [&log, &recording] {
                for key in [KEY, &escaped(KEY), &escaped(KEY).replace('\\', "\\\\")] {
                    assert!(!shown.contains(key), "{what}: {shown}");
                }
            }
            // The pieces of the recording together do not have it either.
            let replayed = Replayed::new(&recording, Pace::AtOnce).unwrap();
            let request = Request::new(String::new(), vec!["x".into()], Vec::new());
            let mut reply = replayed.send(&request).await.unwrap();
            let mut bytes = Vec::new();
            while let Some(more) = reply.next().await.unwrap() {
                bytes.extend(more);
            }
            assert!(!has(&bytes, KEY) && !has(&bytes, &escaped(KEY)), "{what}");
            assert!(has(&bytes, "[removed]"), "{what}");
        }
    }
}
