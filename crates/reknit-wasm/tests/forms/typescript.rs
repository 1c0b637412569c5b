//! The file that is written from the types, and must be what is committed.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use reknit::Dialect;
use reknit::diagnostic::Kind;
use reknit::edit::{Format, How, ProblemKind, Reason};
use ts_rs::{Config, TS};

use super::{edits, message, session, stages};

const HEADER: &str = "\
// The engine's JSON as types. Written by the tests of `crates/reknit-wasm`, which also compare it with what the engine
// says about every case of the corpus: change `tests/forms` there, not this file.
";

#[test]
fn the_types_of_the_package_are_those_of_the_engine() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packages/npm/src/forms.ts");
    let written = forms();
    if std::env::var_os("REKNIT_BLESS").is_some() {
        return fs::write(&path, written).expect("the package is there");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == written,
        "packages/npm/src/forms.ts is not what the types give\n\
         hint: write it with `REKNIT_BLESS=1 cargo test -p reknit-wasm --test forms`, and read the difference"
    );
}

/// All types as one file.
fn forms() -> String {
    let mut forms = HEADER.to_owned();
    union(&mut forms, "Dialect", "The dialects that are read.", Dialect::ALL.map(Dialect::name));
    let kinds = Kind::ALL.iter().map(|kind| kind.name());
    union(&mut forms, "DiagnosticKind", "What a diagnostic is about.", kinds);
    let framings = ["sse", "lines", "json-array", "aws-event-stream", "whole"];
    union(&mut forms, "Framing", "How a stream is divided into frames.", framings);
    union(&mut forms, "EditFormat", "How edits are written.", Format::ALL.map(Format::name));
    let about = "What may differ between a search text and the file, strictest first.";
    union(&mut forms, "How", about, How::ALL.map(How::name));
    union(&mut forms, "EditReason", "Why an edit has no place.", Reason::NAMES);
    let kinds = ProblemKind::ALL.iter().map(|kind| kind.name()).chain(["no-edits"]);
    union(&mut forms, "EditProblemKind", "Why an edit cannot be read.", kinds);
    type_of::<message::Slot>(&mut forms);
    type_of::<message::Diagnostic>(&mut forms);
    type_of::<message::Status>(&mut forms);
    type_of::<message::StopReason>(&mut forms);
    type_of::<message::Usage>(&mut forms);
    type_of::<message::ProviderFailure>(&mut forms);
    type_of::<message::Message>(&mut forms);
    type_of::<message::Choice>(&mut forms);
    type_of::<message::End>(&mut forms);
    type_of::<message::Block>(&mut forms);
    type_of::<message::Change>(&mut forms);
    type_of::<message::Opened>(&mut forms);
    type_of::<message::Opening>(&mut forms);
    type_of::<message::Origin>(&mut forms);
    type_of::<message::Owner>(&mut forms);
    type_of::<message::Keep>(&mut forms);
    type_of::<stages::Found>(&mut forms);
    type_of::<stages::Frame>(&mut forms);
    type_of::<stages::JsonChange>(&mut forms);
    type_of::<stages::TextBlocks>(&mut forms);
    type_of::<stages::TextBlock>(&mut forms);
    type_of::<edits::EditReport>(&mut forms);
    type_of::<edits::FileReport>(&mut forms);
    type_of::<edits::EditOutcome>(&mut forms);
    type_of::<edits::Closest>(&mut forms);
    type_of::<edits::EditProblem>(&mut forms);
    type_of::<session::AgentEvent>(&mut forms);
    type_of::<session::AgentToolCall>(&mut forms);
    type_of::<session::AgentToolResult>(&mut forms);
    type_of::<session::OutputStream>(&mut forms);
    type_of::<session::Decision>(&mut forms);
    type_of::<session::Tokens>(&mut forms);
    type_of::<session::Entry>(&mut forms);
    type_of::<session::Body>(&mut forms);
    type_of::<session::Content>(&mut forms);
    type_of::<session::Chunk>(&mut forms);
    type_of::<session::ChunkCall>(&mut forms);
    type_of::<session::ShellOutput>(&mut forms);
    type_of::<session::Approval>(&mut forms);
    type_of::<session::Preview>(&mut forms);
    type_of::<session::ChunkChange>(&mut forms);
    type_of::<session::TranscriptMessage>(&mut forms);
    type_of::<session::TranscriptStatus>(&mut forms);
    type_of::<session::TranscriptState>(&mut forms);
    type_of::<session::Step>(&mut forms);
    type_of::<session::Effect>(&mut forms);
    type_of::<session::Repair>(&mut forms);
    forms
}

fn type_of<T: TS>(forms: &mut String) {
    let config = Config::new().with_large_int("number");
    let docs = T::docs().unwrap_or_default();
    write!(forms, "\n{docs}export {}\n", T::decl(&config)).expect("a string takes all");
}

fn union<'a>(forms: &mut String, name: &str, about: &str, words: impl IntoIterator<Item = &'a str>) {
    let words: Vec<_> = words.into_iter().map(|word| format!("\n  | \"{word}\"")).collect();
    write!(forms, "\n/**\n * {about}\n */\nexport type {name} ={};\n", words.concat())
        .expect("a string takes all");
}
