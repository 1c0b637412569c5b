//! Keys are nowhere to be found.

use std::path::Path;

use reknit_runtime::provider::http::Recorder;

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
