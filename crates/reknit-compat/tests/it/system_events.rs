//! The cases in `corpus/system-events`.

use reknit::transcript::{Chunk, SystemKind};
use reknit_compat::system_events::{Routed, SystemEvent, apply_system_event};
use serde::{Deserialize, Serialize};

use crate::corpus::{self, Verdict};

/// A case in `corpus/system-events`: messages, what happened, and the id for a new message.
#[derive(Deserialize)]
struct Happening {
    messages: Vec<Message>,
    event: Said,
    id: String,
}

#[derive(Deserialize)]
struct Said {
    kind: SystemKind,
    text: String,
}

#[derive(Clone, Serialize, Deserialize)]
struct Message {
    id: String,
    role: String,
    chunks: Vec<Chunk>,
}

/// The content of `expected.json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Placed {
    message_id: String,
    messages: Vec<Message>,
}

impl Routed for Message {
    type Id = String;

    fn of_system(id: String) -> Self {
        Self { id, role: "system".to_owned(), chunks: Vec::new() }
    }

    fn id(&self) -> String {
        self.id.clone()
    }

    fn is_of_system(&self) -> bool {
        self.role == "system"
    }

    fn push(&mut self, chunk: Chunk) {
        self.chunks.push(chunk);
    }
}

#[test]
fn system_events_cases_give_the_expected_files() {
    let mut verdict = Verdict::default();
    for case in corpus::cases("system-events") {
        let Happening { mut messages, event, id } =
            serde_json::from_str(&case.input).unwrap_or_else(|error| panic!("corpus/{}: {error}", case.name));
        let before = messages.len();
        let mut ids = 0;
        let event = SystemEvent { kind: event.kind, text: event.text };
        let message_id = apply_system_event(&mut messages, event, || {
            ids += 1;
            id
        });
        assert_eq!(
            messages.len() - before,
            ids,
            "corpus/{}: an id is only made for a new message",
            case.name
        );
        verdict.expect(
            &case,
            "expected.json",
            &(serde_json::to_string_pretty(&Placed { message_id, messages }).expect("it is JSON") + "\n"),
        );
    }
    verdict.give();
}
