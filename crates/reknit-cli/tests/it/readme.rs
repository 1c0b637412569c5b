//! Every console block of the README: what it shows is what happens.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A command as it is shown, and what is shown of its output.
struct Example {
    command: String,
    printed: Vec<String>,
}

fn examples(page: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    for block in page.split("\n```console\n").skip(1) {
        let (block, _) = block.split_once("\n```").expect("a block ends");
        let mut goes_on = false;
        for line in block.lines() {
            let command = line.strip_prefix("$ ");
            match (command, examples.last_mut()) {
                (Some(command), _) => {
                    examples.push(Example { command: command.to_owned(), printed: Vec::new() });
                }
                (None, Some(example)) if goes_on => example.command += &format!("\n{line}"),
                (None, Some(example)) => example.printed.push(line.to_owned()),
                (None, None) => panic!("a block begins with a command, not with {line}"),
            }
            goes_on = (command.is_some() || goes_on) && line.ends_with(['|', '\\']);
        }
        // An empty line separates a command from the next.
        for example in &mut examples {
            if example.printed.last().is_some_and(String::is_empty) {
                example.printed.pop();
            }
        }
    }
    examples
}

/// Whether lines are those of two streams, each in its order, however they are mixed on a terminal.
fn is_mixed(shown: &[String], out: &[&str], err: &[&str]) -> bool {
    match shown.split_first() {
        None => out.is_empty() && err.is_empty(),
        Some((line, rest)) => {
            (out.first() == Some(&line.as_str()) && is_mixed(rest, &out[1..], err))
                || (err.first() == Some(&line.as_str()) && is_mixed(rest, out, &err[1..]))
        }
    }
}

#[test]
fn every_console_block_is_real() {
    let page = fs::read_to_string(repository().join("README.md")).expect("there is a README");
    let examples = examples(&page);
    assert!(examples.len() >= 5, "{}", examples.len());
    let binary = Path::new(env!("CARGO_BIN_EXE_reknit"));
    // What commands keep for later is not kept in the user's own folders.
    let kept = tempfile::tempdir().expect("there is a temporary folder");
    let has_jq = Command::new("jq").arg("--version").output().is_ok();
    for Example { command, printed } in examples {
        if command.contains("| jq ") && !has_jq {
            println!("left out: there is no jq for `{command}`");
            continue;
        }
        assert!(command.contains("target/release/reknit"), "{command}");
        let real = command.replace("target/release/reknit", &format!("'{}'", binary.display()));
        let mut shell = Command::new("sh");
        shell.args(["-c", &real]).current_dir(repository());
        let output = shell.env("XDG_STATE_HOME", kept.path()).env("TMPDIR", kept.path()).output();
        let output = output.expect("there is a shell");
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let mut out_lines: Vec<_> = out.lines().collect();
        // As the blocks are read, an empty line at the end does not show.
        if printed.len() < out_lines.len() + err.lines().count() && out_lines.last() == Some(&"") {
            out_lines.pop();
        }
        let err_lines: Vec<_> = err.lines().collect();
        assert!(
            is_mixed(&printed, &out_lines, &err_lines),
            "$ {command}\nshows\n{}\nbut prints\n{out}{err}",
            printed.join("\n")
        );
    }
}
