//! Edits of a file: any file, any answer, any format, any cut. The outcome is the same, and every byte of the
//! file that no edit has its place at stays.
#![no_main]

use fuzz::Input;
use libfuzzer_sys::fuzz_target;
use reknit::edit::{Format, How, Outcome, Parsed, Parser, Plan, Preview, plan};

/// What an answer calls the file, where it has to.
const PATH: &str = "a.rs";

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::new(data) else { return };
    let format = format(input.choice);
    // The rest is the answer and, after a NUL, the file; without one the answer is a file that quotes itself.
    let split = input.bytes.iter().position(|byte| *byte == 0);
    let file = split.map_or(input.bytes, |at| &input.bytes[at + 1..]);
    let (parsed, preview) = input.same_for_every_cut(|pieces| read(format, file, pieces));
    let again = plan(&parsed.edits, &[("", file)], How::Context);
    assert_eq!(again, preview, "the preview ends with the plan");
    check(&preview, file);
    check(&plan(&parsed.edits, &[(PATH, file)], How::Context), file);
});

/// The format that a choice picks, or none if it is to be found; they are counted by name, as `corpus/edit-parse`
/// lists them.
fn format(choice: u8) -> Option<Format> {
    let mut names: Vec<_> = Format::ALL.iter().map(|format| format.name()).chain(["auto"]).collect();
    names.sort_unstable();
    let name = names[usize::from(choice) % names.len()];
    Format::ALL.into_iter().find(|format| format.name() == name)
}

/// What comes of an answer up to its NUL.
fn read(format: Option<Format>, file: &[u8], pieces: &[&[u8]]) -> (Parsed, Plan) {
    let parser = format.map_or_else(Parser::detect, Parser::new);
    let mut preview = Preview::new(parser, file, How::Context);
    let mut held = Vec::new();
    for piece in pieces {
        let end = piece.iter().position(|byte| *byte == 0);
        held.extend_from_slice(&piece[..end.unwrap_or(piece.len())]);
        // A character that is cut continues in the next piece; an invalid one ends the answer.
        let whole = std::str::from_utf8(&held).map_or_else(|error| error.valid_up_to(), str::len);
        preview.push(std::str::from_utf8(&held[..whole]).expect("it was checked"));
        held.drain(..whole);
        if end.is_some() {
            break;
        }
    }
    preview.finish()
}

/// Splices are in order, in the file and apart; refused edits leave none.
fn check(plan: &Plan, original: &[u8]) {
    for file in &plan.files {
        let original = if matches!(&*file.path, "" | PATH) { original } else { &[] };
        let mut at = 0;
        let mut content = Vec::new();
        for splice in &file.splices {
            assert!(at <= splice.range.start && splice.range.start <= splice.range.end, "{:?}", file.splices);
            content.extend_from_slice(&original[at..splice.range.start]);
            content.extend_from_slice(&splice.replacement);
            at = splice.range.end;
        }
        content.extend_from_slice(&original[at..]);
        assert_eq!(file.content(original), content);
        if file.reports.iter().all(|report| matches!(report.outcome, Outcome::Rejected(_))) {
            assert!(file.splices.is_empty() && !file.changes(), "{file:?}");
        }
    }
}
