//! The cases of `corpus/recording`: a recording and its reads.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use reknit::Hint;
use reknit::Limits;
use reknit::recording::Reader;

use crate::program::{folders, repository};

#[test]
fn every_case_gives_its_reads_however_it_is_cut() {
    let cases = folders(&repository().join("corpus/recording"));
    assert!(!cases.is_empty());
    for case in cases {
        let input = fs::read(case.join("input.rec")).expect("a case has an input");
        let found = reads([&input[..]]);
        assert_eq!(reads(input.chunks(1)), found, "{}", case.display());
        assert_eq!(reads(input.chunks(7)), found, "{}", case.display());
        check_or_write(&case.join("reads.txt"), &found);
    }
}

fn reads<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut reader = Reader::new(&Limits::default());
    let mut lines = String::new();
    for piece in pieces {
        reader.push(piece);
        take_all(&mut reader, &mut lines);
    }
    reader.finish();
    take_all(&mut reader, &mut lines);
    let header =
        reader.header().map_or("no header\n".to_owned(), |header| format!("header {}", header.to_line()));
    let problem = reader.next_diagnostic().map_or(String::new(), |problem| {
        format!("problem {}\n", serde_json::to_string(&problem).expect("it is plain data"))
    });
    header + &lines + &problem
}

fn take_all(reader: &mut Reader, lines: &mut String) {
    loop {
        let written = match reader.next_read() {
            Ok(Some(read)) => writeln!(lines, "{} {}", read.at_ms, read.bytes.escape_ascii()),
            Ok(None) => break,
            Err(error) => writeln!(lines, "error {error}\nhint {}", error.hint()),
        };
        written.expect("a string can always be written to");
    }
}

/// Compares with the expected file, or writes it when `cargo xtask corpus` asks for that.
fn check_or_write(path: &Path, found: &str) {
    if std::env::var_os("REKNIT_BLESS").is_some() {
        fs::write(path, found).expect("the corpus can be written to");
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    assert_eq!(found, expected, "{}", path.display());
}
