//! Everything that the engine says about the corpus is of these types: read with them and written again, it is the
//! same.

use std::fs;
use std::path::{Path, PathBuf};

use reknit::agent::{AgentEvent, Entry};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use reknit_wasm::{Edits, Frames, PartialJson};

use super::{edits, message, session, stages};

/// The cases below a folder of the corpus, at this depth.
fn cases(kind: &str, depth: usize) -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus").join(kind)];
    for _ in 0..depth {
        folders = folders
            .iter()
            .flat_map(|folder| fs::read_dir(folder).expect("it is a folder"))
            .collect::<Result<Vec<_>, _>>()
            .expect("it is there")
            .into_iter()
            .map(|entry| entry.path())
            .filter(|path| path.is_dir())
            .collect();
    }
    assert!(folders.len() > 10, "corpus/{kind} has {} cases", folders.len());
    folders
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn value(text: &str, place: &Path) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{}: {error}: {text}", place.display()))
}

/// Checks that a value is of a type.
fn is<T: DeserializeOwned + Serialize>(value: Value, place: &Path) {
    let read: T = serde_json::from_value(value.clone())
        .unwrap_or_else(|error| panic!("{}: {error}\n{value:#}", place.display()));
    let written = serde_json::to_value(read).expect("it is JSON");
    assert_eq!(written, value, "{}", place.display());
}

fn lines_are<T: DeserializeOwned + Serialize>(path: &Path) {
    for line in text(path).lines() {
        is::<T>(value(line, path), path);
    }
}

#[test]
fn messages_and_changes() {
    for case in cases("wire", 2) {
        let path = case.join("message.json");
        is::<Vec<message::Message>>(value(&text(&path), &path), &path);
        lines_are::<message::Change>(&case.join("changes.ndjson"));
    }
}

#[test]
fn blocks_of_texts() {
    for case in cases("tags", 2) {
        let path = case.join("blocks.json");
        is::<stages::TextBlocks>(value(&text(&path), &path), &path);
    }
}

#[test]
fn chunks_and_their_changes() {
    #[derive(serde::Deserialize, Serialize)]
    #[serde(deny_unknown_fields)]
    struct Folded {
        chunks: Vec<session::Chunk>,
        diagnostics: Vec<message::Diagnostic>,
    }
    for case in cases("chunks", 1) {
        let path = case.join("chunks.json");
        is::<Folded>(value(&text(&path), &path), &path);
        lines_are::<session::ChunkChange>(&case.join("changes.ndjson"));
    }
}

#[test]
fn transcripts_and_their_steps() {
    for case in cases("transcript", 1) {
        let path = case.join("transcript.json");
        is::<session::TranscriptState>(value(&text(&path), &path), &path);
        lines_are::<session::Step>(&case.join("steps.ndjson"));
    }
}

/// Events as the engine writes them, without those of types that nobody knows.
#[test]
fn events_of_sessions() {
    for case in cases("chunks", 1) {
        let path = case.join("input.ndjson");
        for line in text(&path).lines() {
            let event: AgentEvent = serde_json::from_str(line).expect("the case is read by the engine");
            if !matches!(event, AgentEvent::Unknown(_)) {
                is::<session::AgentEvent>(serde_json::to_value(&event).expect("it is JSON"), &path);
            }
        }
    }
}

#[test]
fn entries_of_logs() {
    for kind in ["transcript", "history"] {
        for case in cases(kind, 1) {
            let path = case.join("input.ndjson");
            for line in text(&path).lines() {
                let mut entry: Entry = serde_json::from_str(line).expect("the case is read by the engine");
                entry.extra = Default::default();
                let is_unknown = matches!(&entry.body, reknit::agent::Body::Agent(AgentEvent::Unknown(_)));
                if !is_unknown {
                    is::<session::Entry>(serde_json::to_value(&entry).expect("it is JSON"), &path);
                }
            }
        }
    }
}

/// The report of the edits of every case, whole or as far as possible.
#[test]
fn reports_of_edits() {
    for case in cases("edit", 1) {
        for keep_going in [true, false] {
            let format = fs::read_to_string(case.join("format")).unwrap_or_else(|_| "auto".to_owned());
            let options = format!(r#"{{"format":"{}","keepGoing":{keep_going}}}"#, format.trim_end());
            let mut applied = Edits::new(&options).expect("the options are right");
            add_files(&case.join("before"), "", &mut applied);
            applied.push(&text(&case.join("answer.txt")));
            is::<edits::EditReport>(value(&applied.apply(), &case), &case);
        }
    }
}

fn add_files(folder: &Path, prefix: &str, edits: &mut Edits) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("it is there").path();
        let name = format!("{prefix}{}", path.file_name().expect("it has a name").to_string_lossy());
        if path.is_dir() {
            add_files(&path, &format!("{name}/"), edits);
        } else {
            edits.add_file(&name, &fs::read(&path).expect("it was listed")).expect("it is small");
        }
    }
}

#[test]
fn frames_of_streams() {
    for case in cases("frame", 1) {
        let mut frames = Frames::new("{}").expect("the options are right");
        let found = [frames.push(&fs::read(case.join("input.bin")).expect("it is there")), frames.finish()];
        for found in found {
            is::<Vec<stages::Found>>(value(&found, &case), &case);
        }
    }
}

#[test]
fn changes_of_json() {
    for case in cases("json", 1) {
        let changes = PartialJson::new(None).push(&text(&case.join("input.txt")));
        let Value::Array(mut changes) = value(&changes, &case) else { panic!("{changes} is no array") };
        // An error is the last, and becomes one of the package.
        changes.retain(|change| change.get("failed").is_none());
        is::<Vec<stages::JsonChange>>(Value::Array(changes), &case);
    }
}
