//! `read_command_output`.

use std::fs;

use super::Project;

/// A project with an output of a command.
fn project(output: &str) -> Project {
    let project = Project::new(&[]);
    fs::create_dir(project.outside("outputs")).unwrap();
    fs::write(project.outside("outputs").join("cmd-1.txt"), output).unwrap();
    project
}

#[tokio::test]
async fn an_output_is_read_in_parts() {
    let output: String = (0..20_000).map(|line| format!("línea {line}\n")).collect();
    let project = project(&output);
    let (mut offset, mut whole) = (0, String::new());
    while offset < output.len() {
        let args = format!(r#"{{"artifact_id": "cmd-1.txt", "offset": {offset}}}"#);
        let text = project.text("read_command_output", &args).await;
        let (head, part) = text.split_once('\n').unwrap();
        assert!(part.len() <= 40 << 10);
        whole.push_str(part);
        offset = match head.split_once("use offset ") {
            Some((_, next)) => next.trim_end_matches('.').parse().unwrap(),
            None => output.len(),
        };
    }
    assert_eq!(whole, output);
}

#[tokio::test]
async fn an_offset_may_be_inside_a_character() {
    let project = project("aéb\n");
    let text = project.text("read_command_output", r#"{"artifact_id": "cmd-1.txt", "offset": 2}"#).await;
    assert_eq!(text, "`cmd-1.txt`, bytes 2 to 5 of 5.\nb\n");
    let text = project.text("read_command_output", r#"{"artifact_id": "cmd-1.txt", "limit": 4}"#).await;
    assert_eq!(text, "`cmd-1.txt`, bytes 0 to 4 of 5. To read on, use offset 4.\naéb");
    let words = project.mistake("read_command_output", r#"{"artifact_id": "cmd-1.txt", "offset": 6}"#).await;
    assert_eq!(words, "`cmd-1.txt`: has only 5 bytes. Use a smaller offset.");
}

#[tokio::test]
async fn lines_are_found() {
    let output: String = (0..10_000).map(|line| format!("line {line} (x)\n")).collect();
    let project = project(&output);
    let search = |search: &str| format!(r#"{{"artifact_id": "cmd-1.txt", "search": "{search}"}}"#);
    let text = project.text("read_command_output", &search("LINE 99[89]9")).await;
    let expected =
        "`cmd-1.txt`: 2 lines have `LINE 99[89]9`.\n 9990 | line 9989 (x)\n10000 | line 9999 (x)\n";
    assert_eq!(text, expected);
    // Not a regular expression, so it is a text.
    let text = project.text("read_command_output", &search("7777 (x")).await;
    assert!(text.ends_with("\n 7778 | line 7777 (x)\n"), "{text}");
    let text = project.text("read_command_output", &search("absent")).await;
    assert_eq!(text, "`cmd-1.txt`: no line has `absent`.\n");
    let text = project.text("read_command_output", &search("line")).await;
    assert!(text.len() < 42_000 && text.contains("Others are not shown"), "{}", &text[..200]);
}

#[tokio::test]
async fn only_outputs_are_read() {
    let project = project("out\n");
    fs::write(project.outside("secret.txt"), "secret\n").unwrap();
    fs::write(project.outside("outputs").join("other.txt"), "secret\n").unwrap();
    std::os::unix::fs::symlink(project.outside("secret.txt"), project.outside("outputs").join("cmd-2.txt"))
        .unwrap();
    for name in [
        "../secret.txt",
        "cmd-../../secret.txt",
        "/etc/passwd",
        "other.txt",
        "cmd-2.txt",
        "cmd-.txt",
        "cmd-3.txt",
        "cmd-\\u00001.txt",
        "",
    ] {
        let words = project.mistake("read_command_output", &format!(r#"{{"artifact_id": "{name}"}}"#)).await;
        assert!(words.starts_with("There is no output `"), "{words}");
    }
}
