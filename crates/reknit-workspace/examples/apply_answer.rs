//! Applies a model's answer to the files below a folder: `apply_answer FOLDER <answer.md`

use std::error::Error;
use std::{env, io, time::SystemTime};

use reknit::Hint;
use reknit::edit::{How, Parser};
use reknit_workspace::{Edits, Journal, Root};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args_os().nth(1).ok_or("usage: apply_answer FOLDER <answer.md")?;
    let root = Root::open(folder)?;
    let journal = Journal::open(Journal::default_folder()?)?;

    let mut parser = Parser::detect();
    parser.push(&io::read_to_string(io::stdin())?);
    let edits = Edits::read(&root, parser.finish());
    let draft = edits.plan(How::Context);
    for failure in draft.failures() {
        println!("{failure}\nhint: {}", failure.hint());
    }
    let committed = draft.commit(&journal, SystemTime::now())?; // all files, or an error and none
    println!("written; `reknit undo {}` takes it back", committed.entry.id);
    Ok(())
}
