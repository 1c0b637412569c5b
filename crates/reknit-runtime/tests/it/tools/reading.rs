//! `read_file`.

use reknit::agent::Content;
use reknit_runtime::question::Class;

use super::Project;

#[tokio::test]
async fn lines_have_numbers() {
    let project = Project::new(&[("a.txt", "one\ntwo\nthree")]);
    let text = project.text("read_file", r#"{"path": "a.txt"}"#).await;
    assert_eq!(text, "File: a.txt\nLines 1-3 of 3:\n   1 | one\n   2 | two\n   3 | three\n");
    let text = project.text("read_file", r#"{"path": "a.txt", "offset": 2, "limit": 1}"#).await;
    assert_eq!(text, "File: a.txt\nLines 2-2 of 3:\n2 | two\n(To read on, use offset 3.)\n");
}

#[tokio::test]
async fn several_files_and_ranges_are_read_at_once() {
    let long: String = (1..=30).map(|line| format!("line {line}\n")).collect();
    let project = Project::new(&[("a.txt", &long), ("b/b.txt", "b\n")]);
    let args = r#"{"files": [{"path": "a.txt", "line_ranges": [[29, 40], [2, 3]]}, {"path": "b/b.txt"}]}"#;
    let expected = "File: a.txt\nLines 2-3 of 30:\n2 | line 2\n3 | line 3\nLines 29-30 of 30:\n29 | line 29\n\
        30 | line 30\n\nFile: b/b.txt\nLines 1-1 of 1:\n   1 | b\n";
    assert_eq!(project.text("read_file", args).await, expected);
}

#[tokio::test]
async fn one_file_that_is_missing_does_not_hide_the_others() {
    let project = Project::new(&[("a.txt", "a\n")]);
    let text = project.text("read_file", r#"{"files": [{"path": "nothing"}, {"path": "a.txt"}]}"#).await;
    assert!(text.starts_with("File: nothing\nError: `nothing`: no such file."), "{text}");
    assert!(text.ends_with("File: a.txt\nLines 1-1 of 1:\n   1 | a\n"), "{text}");
}

#[tokio::test]
async fn a_missing_file_comes_with_the_nearest_names() {
    let project =
        Project::new(&[("src/parser.rs", ""), ("src/other.rs", ""), ("tests/parser.rs", ""), ("x", "")]);
    for path in ["src/parsr.rs", "src/Parser.rs", "src/parser.ts"] {
        let words = project.mistake("read_file", &format!(r#"{{"path": "{path}"}}"#)).await;
        let expected = format!("`{path}`: no such file. Similar files: `src/parser.rs`, `tests/parser.rs`.");
        assert_eq!(words, expected);
    }
    let words = project.mistake("read_file", r#"{"path": "unlike/anything.else"}"#).await;
    assert!(words.ends_with("list_files shows what is there."), "{words}");
}

#[tokio::test]
async fn a_directory_is_named_as_such() {
    let project = Project::new(&[("src/a.rs", "")]);
    for path in ["src", "src/", ".", "./"] {
        let words = project.mistake("read_file", &format!(r#"{{"path": "{path}"}}"#)).await;
        let expected = format!("`{path}`: not a file but a directory. Use list_files to see what is in it.");
        assert_eq!(words, expected);
    }
}

#[tokio::test]
async fn nothing_outside_the_root_is_read() {
    let project = Project::new(&[("sub/a", "")]);
    std::fs::write(project.outside("secret.txt"), "secret").unwrap();
    project.link(project.outside("secret.txt"), "file-link");
    project.link(project.outside(""), "folder-link");
    let absolute = project.outside("secret.txt").to_str().unwrap().to_owned();
    for path in [
        "../secret.txt",
        "sub/../../secret.txt",
        "file-link",
        "folder-link/secret.txt",
        &absolute,
        "/etc/passwd",
        "~/a",
    ] {
        let words = project.mistake("read_file", &format!(r#"{{"path": "{path}"}}"#)).await;
        assert!(words.contains("\nhint: "), "{path}: {words}");
        assert!(!words.contains("| secret"), "{path}: {words}");
    }
}

#[tokio::test]
async fn a_binary_file_is_named_as_such() {
    let project = Project::new(&[]);
    project.write("a.bin", b"\x7fELF\0\0\0");
    let words = project.mistake("read_file", r#"{"path": "a.bin"}"#).await;
    let expected =
        "`a.bin`: a binary file of 7 bytes (an ELF program or library), which cannot be shown as text.";
    assert_eq!(words, expected);
}

#[tokio::test]
async fn an_image_is_shown_as_an_image() {
    let project = Project::new(&[("a.txt", "a\n")]);
    project.write("a.png", b"\x89PNG\r\n\x1a\n\0\0");
    let args = r#"{"files": [{"path": "a.txt"}, {"path": "a.png"}, {"path": "a.txt"}]}"#;
    let output = project.call("read_file", args).await.unwrap();
    let [Content::Text { text }, Content::Image { media_type, data }, Content::Text { text: after }] =
        &output.content[..]
    else {
        panic!("{output:?}");
    };
    assert!(text.ends_with("File: a.png\nAn image (image/png, 10 bytes):\n"), "{text}");
    assert_eq!((&**media_type, &**data), ("image/png", "iVBORw0KGgoAAA=="));
    assert!(after.starts_with("File: a.txt"), "{after}");

    let mut large = b"\x89PNG\r\n\x1a\n".to_vec();
    large.resize(6 << 20, 1);
    project.write("large.png", large);
    let words = project.mistake("read_file", r#"{"path": "large.png"}"#).await;
    assert!(words.contains("an image of 6,291,456 bytes"), "{words}");
}

#[tokio::test]
async fn a_long_file_says_how_to_read_on() {
    let long: String = (1..=3000).map(|line| format!("line {line}\n")).collect();
    let project = Project::new(&[("a.txt", &long)]);
    let text = project.text("read_file", r#"{"path": "a.txt"}"#).await;
    assert!(text.starts_with("File: a.txt\nLines 1-2000 of 3000:\n   1 | line 1\n"), "{}", &text[..80]);
    assert!(text.ends_with("2000 | line 2000\n(To read on, use offset 2001.)\n"));
    let words = project.text("read_file", r#"{"path": "a.txt", "offset": 3001}"#).await;
    assert_eq!(words, "File: a.txt\nThere is no line 3001: the file has 3000 lines.\n");
}

#[tokio::test]
async fn a_huge_file_is_cut_by_bytes() {
    let project = Project::new(&[]);
    project.write("wide.txt", format!("{}\nend\n", "x".repeat(5_000_000)));
    let text = project.text("read_file", r#"{"path": "wide.txt"}"#).await;
    assert!(text.contains("xxx… (a line of 5,000,001 bytes)\n   2 | end\n"), "{}", &text[text.len() - 100..]);
    assert!(text.len() < 3_000, "{}", text.len());

    let line = format!("{}\n", "y".repeat(999));
    project.write("long.txt", line.repeat(100_000));
    let text = project.text("read_file", r#"{"path": "long.txt", "limit": 100000}"#).await;
    assert!(text.len() < 103_000, "{}", text.len());
    let next: u64 =
        text.trim_end().rsplit_once("use offset ").unwrap().1.trim_end_matches(".)").parse().unwrap();
    let shown = text.lines().filter(|line| line.contains(" | y")).count() as u64;
    assert_eq!(next, shown + 1);
    // What is not shown is not lost either: the next call begins exactly there.
    let rest =
        project.text("read_file", &format!(r#"{{"path": "long.txt", "offset": {next}, "limit": 1}}"#)).await;
    assert!(
        rest.contains(&format!("Lines {next}-{next} of a file of 100,000,000 bytes")),
        "{}",
        &rest[..100]
    );
}

#[tokio::test]
async fn line_ends_and_bytes_are_shown_as_text() {
    let project = Project::new(&[("crlf.txt", "a\r\nb\r\n"), ("empty.txt", "")]);
    let text = project.text("read_file", r#"{"path": "crlf.txt"}"#).await;
    assert_eq!(text, "File: crlf.txt\nLines 1-2 of 2 (CRLF line ends):\n   1 | a\n   2 | b\n");
    assert_eq!(
        project.text("read_file", r#"{"path": "empty.txt"}"#).await,
        "File: empty.txt\nThe file is empty.\n"
    );
    project.write("latin1.txt", b"caf\xe9\n");
    let text = project.text("read_file", r#"{"path": "latin1.txt"}"#).await;
    assert!(text.ends_with("1 | caf\u{fffd}\n"), "{text}");
}

#[tokio::test]
async fn files_with_secrets_have_their_own_class() {
    let project = Project::new(&[(".env", "KEY=1\n"), ("a.txt", "a\n")]);
    project.link(".env", "harmless.txt");
    for (args, class) in [
        (r#"{"path": "a.txt"}"#, Class::Read),
        (r#"{"path": ".env"}"#, Class::ReadSecret),
        (r#"{"path": "harmless.txt"}"#, Class::ReadSecret),
        (r#"{"files": [{"path": "a.txt"}, {"path": ".env"}]}"#, Class::ReadSecret),
    ] {
        assert_eq!(project.review("read_file", args).await.unwrap().class, class, "{args}");
    }
    // Nobody is asked about a file that does not exist.
    assert!(project.review("read_file", r#"{"path": ".env.local"}"#).await.is_err());
}

#[tokio::test]
async fn a_pipe_is_not_waited_for() {
    let project = Project::new(&[]);
    let made = std::process::Command::new("mkfifo").arg(project.root().join("pipe")).status().unwrap();
    assert!(made.success());
    let words = project.mistake("read_file", r#"{"path": "pipe"}"#).await;
    assert!(words.contains("not a file but a named pipe"), "{words}");
}

#[tokio::test]
async fn missing_parameters_are_named() {
    let project = Project::new(&[]);
    let words = project.mistake("read_file", "{}").await;
    assert_eq!(words, "Missing value for required parameter 'path'. Please retry with complete response.");
    let words = project.mistake("read_file", r#"{"path": "a", "offset": -1}"#).await;
    assert_eq!(words, "Invalid value for parameter 'offset': it must not be negative.");
}
