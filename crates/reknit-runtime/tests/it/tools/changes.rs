//! `write_to_file`, `apply_diff` and `edit`.

use std::os::unix::fs::PermissionsExt as _;
use std::{fs, time::SystemTime};

use reknit_runtime::question::Class;
use reknit_runtime::testing::arguments;
use reknit_runtime::tools::standard;
use reknit_workspace::Undo;

use super::Project;

/// The arguments of `apply_diff` for one block.
fn diff(path: &str, search: &str, replacement: &str) -> String {
    let block = format!("<<<<<<< SEARCH\n{search}\n=======\n{replacement}\n>>>>>>> REPLACE");
    let diff = reknit::json::Value::from(block);
    format!(r#"{{"path": "{path}", "diff": {diff}}}"#)
}

#[tokio::test]
async fn a_file_is_written_reviewed_and_undone() {
    let project = Project::new(&[("a.txt", "one\ntwo\n")]);
    let args = r#"{"path": "a.txt", "content": "one\n2\n"}"#;
    let review = project.review("write_to_file", args).await.unwrap();
    assert_eq!(review.progress, None, "it is one edit");
    assert_eq!(review.class, Class::Write);
    let expected = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
    assert_eq!(review.detail.as_deref(), Some(expected));
    assert_eq!(project.read("a.txt"), "one\ntwo\n", "a review writes nothing");

    assert_eq!(project.text("write_to_file", args).await, "Changed `a.txt` (+1 -1 lines).\n");
    assert_eq!(project.read("a.txt"), "one\n2\n");

    let workspace = project.caller.context().workspace();
    let entry = workspace.journal.newest(&workspace.root).unwrap().unwrap();
    Undo::of(entry.id).commit(&workspace.root, &workspace.journal, SystemTime::now()).unwrap();
    assert_eq!(project.read("a.txt"), "one\ntwo\n");
}

#[tokio::test]
async fn a_new_file_gets_its_directories() {
    let project = Project::new(&[]);
    let args = r#"{"path": "src/new/a.rs", "content": "fn a() {}\n"}"#;
    let detail = project.review("write_to_file", args).await.unwrap().detail.unwrap();
    assert_eq!(detail, "--- /dev/null\n+++ b/src/new/a.rs\n@@ -0,0 +1 @@\n+fn a() {}\n");
    assert!(!project.root().join("src").exists());
    assert_eq!(project.text("write_to_file", args).await, "Created `src/new/a.rs` (+1 -0 lines).\n");
    assert_eq!(project.read("src/new/a.rs"), "fn a() {}\n");
}

#[tokio::test]
async fn a_file_can_be_emptied() {
    let project = Project::new(&[("a.txt", "one\n")]);
    project.text("write_to_file", r#"{"path": "a.txt", "content": ""}"#).await;
    assert_eq!(project.read("a.txt"), "");
    project.text("write_to_file", r#"{"path": "new.txt", "content": ""}"#).await;
    assert_eq!(project.read("new.txt"), "");
    let text = project.text("write_to_file", r#"{"path": "a.txt", "content": ""}"#).await;
    assert_eq!(text, "The files already have this content. Nothing was written.");
    let words = project.mistake("write_to_file", r#"{"path": "a.txt"}"#).await;
    assert_eq!(words, "Missing value for required parameter 'content'. Please retry with complete response.");
}

#[tokio::test]
async fn line_ends_and_permissions_stay() {
    let project = Project::new(&[("run.sh", "one\r\ntwo\r\n")]);
    fs::set_permissions(project.root().join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    project.text("write_to_file", r#"{"path": "run.sh", "content": "one\nthree\n"}"#).await;
    assert_eq!(project.read("run.sh"), "one\r\nthree\r\n");
    project.text("apply_diff", &diff("run.sh", "three", "four\nfive")).await;
    assert_eq!(project.read("run.sh"), "one\r\nfour\r\nfive\r\n");
    let mode = fs::metadata(project.root().join("run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[tokio::test]
async fn a_fence_and_line_numbers_are_not_content() {
    let project = Project::new(&[]);
    project
        .text("write_to_file", r#"{"path": "a.rs", "content": "```rust\n1 | fn a() {\n2 | }\n```"}"#)
        .await;
    assert_eq!(project.read("a.rs"), "fn a() {\n}\n");
}

#[tokio::test]
async fn a_placeholder_does_not_replace_code() {
    let project = Project::new(&[("a.rs", "fn a() {}\nfn b() {}\n")]);
    let args = r#"{"path": "a.rs", "content": "fn a() { 1 }\n// ... rest of the code unchanged ...\n"}"#;
    let words = project.mistake("write_to_file", args).await;
    assert!(words.contains("the comment `// ... rest of the code unchanged ...` would replace"), "{words}");
    assert!(project.review("write_to_file", args).await.is_err(), "nobody is asked");
    assert_eq!(project.read("a.rs"), "fn a() {}\nfn b() {}\n");
}

#[tokio::test]
async fn nothing_outside_the_root_or_protected_is_written() {
    let project = Project::new(&[("sub/a", "a\n")]);
    fs::create_dir(project.root().join(".git")).unwrap();
    fs::write(project.outside("target.txt"), "keep\n").unwrap();
    project.link(project.outside("target.txt"), "link.txt");
    project.link(project.outside(""), "folder");
    project.link("nowhere", "dangling");
    for path in [
        "../target.txt",
        "sub/../../target.txt",
        "link.txt",
        "folder/new.txt",
        "dangling",
        "/tmp/reknit-test-outside",
        ".git/hooks/pre-commit",
        ".GIT/config",
        "sub",
        "sub/a/b",
    ] {
        let args = format!(r#"{{"path": "{path}", "content": "x"}}"#);
        let words = project.mistake("write_to_file", &args).await;
        assert!(words.starts_with("Nothing was written.") && words.contains("\nhint: "), "{path}: {words}");
        let args = diff(path, "keep", "lost");
        project.mistake("apply_diff", &args).await;
        let args = format!(r#"{{"path": "{path}", "old_string": "keep", "new_string": "lost"}}"#);
        project.mistake("edit", &args).await;
    }
    assert_eq!(fs::read_to_string(project.outside("target.txt")).unwrap(), "keep\n");
    assert_eq!(fs::read_dir(project.root().join(".git")).unwrap().count(), 0);
    assert_eq!(project.read("sub/a"), "a\n");
}

#[tokio::test]
async fn a_link_inside_the_root_leads_to_its_file() {
    let project = Project::new(&[("a.txt", "one\n")]);
    project.link("a.txt", "link.txt");
    project.text("edit", r#"{"path": "link.txt", "old_string": "one", "new_string": "two"}"#).await;
    assert_eq!(project.read("a.txt"), "two\n");
    assert!(fs::symlink_metadata(project.root().join("link.txt")).unwrap().is_symlink());
}

#[tokio::test]
async fn a_huge_file_is_not_edited() {
    let project = Project::new(&[]);
    fs::File::create(project.root().join("huge")).unwrap().set_len(33 << 20).unwrap();
    let words = project.mistake("edit", r#"{"path": "huge", "old_string": "a", "new_string": "b"}"#).await;
    assert!(
        words.starts_with("`huge`: has 34,603,008 bytes, and only files of up to 33,554,432 bytes"),
        "{words}"
    );
}

#[tokio::test]
async fn blocks_are_applied() {
    let project = Project::new(&[("a.rs", "fn a() {\n    one();\n}\n\nfn b() {\n    two();\n}\n")]);
    let blocks = "<<<<<<< SEARCH\n:start_line:2\n-------\n    one();\n=======\n    1();\n>>>>>>> REPLACE\n\n\
        <<<<<<< SEARCH\n    two();\n=======\n    2();\n>>>>>>> REPLACE";
    let args = format!(r#"{{"path": "a.rs", "diff": {}}}"#, reknit::json::Value::from(blocks));
    assert_eq!(project.text("apply_diff", &args).await, "Changed `a.rs` (+2 -2 lines).\n");
    assert_eq!(project.read("a.rs"), "fn a() {\n    1();\n}\n\nfn b() {\n    2();\n}\n");
}

#[tokio::test]
async fn an_edit_that_was_not_found_literally_says_so() {
    let project = Project::new(&[("a.py", "def a():\n        return 1\n")]);
    let text =
        project.text("apply_diff", &diff("a.py", "def a():\n    return 1", "def a():\n    return 2")).await;
    assert!(text.contains("Edit 1 was not found literally; the place differs in: indentation."), "{text}");
    assert!(text.contains("\n-        return 1\n+        return 2\n"), "{text}");
}

#[tokio::test]
async fn an_edit_without_a_place_comes_with_the_closest_one() {
    let project = Project::new(&[("a.rs", "fn alpha(x: u32) -> u32 {\n    x + 1\n}\n\nfn beta() {}\n")]);
    let search = "fn alpha(x: u64) -> u64 {\n    x + 2\n}";
    let words = project.mistake("apply_diff", &diff("a.rs", search, "fn alpha() {}")).await;
    assert!(words.starts_with("Nothing was written.\n\nedit 1 of `a.rs`: "), "{words}");
    assert!(words.contains("\nhint: ") && words.contains("The closest place is lines 1-3, "), "{words}");
    assert!(words.contains("fn alpha(x: u32) -> u32 {"), "{words}");
    let missing = project.mistake("apply_diff", &diff("b/a.rs", "a", "b")).await;
    assert!(missing.contains("there is no such file. Similar files: `a.rs`."), "{missing}");
}

#[tokio::test]
async fn several_files_are_changed_together_or_not_at_all() {
    let project = Project::new(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    let file = |path: &str, search: &str| {
        format!(
            "<file>\n<path>{path}</path>\n<diff>\n<content>\n<<<<<<< SEARCH\n{search}\n=======\nnew\n>>>>>>> REPLACE\n\
             </content>\n</diff>\n</file>\n"
        )
    };
    let args = |files: &str| format!(r#"{{"args": {}}}"#, reknit::json::Value::from(files));
    let bad = args(&format!("{}{}", file("a.txt", "one"), file("b.txt", "absent")));
    let words = project.mistake("apply_diff", &bad).await;
    assert!(words.contains("1 of 2 have a place") && words.contains("edit 2 of `b.txt`"), "{words}");
    assert_eq!((project.read("a.txt"), project.read("b.txt")), ("one\n".to_owned(), "two\n".to_owned()));

    let good = args(&format!("{}{}", file("a.txt", "one"), file("b.txt", "two")));
    let review = project.review("apply_diff", &good).await.unwrap();
    assert_eq!(review.progress.as_deref(), Some("2 edits in 2 files"));
    let detail = review.detail.unwrap();
    assert!(detail.contains("+++ b/a.txt") && detail.contains("+++ b/b.txt"), "{detail}");
    project.text("apply_diff", &good).await;
    assert_eq!((project.read("a.txt"), project.read("b.txt")), ("new\n".to_owned(), "new\n".to_owned()));
    let workspace = project.caller.context().workspace();
    assert_eq!(workspace.journal.log(&workspace.root, 9).unwrap().entries.len(), 1, "one entry undoes both");
}

#[tokio::test]
async fn a_diff_that_is_none_is_explained() {
    let project = Project::new(&[("a.txt", "one\n")]);
    for (args, expected) in [
        ("{}", "Missing value for required parameter 'path'."),
        (r#"{"path": "a.txt"}"#, "Missing value for required parameter 'diff'."),
        (
            r#"{"path": "a.txt", "diff": "please change it"}"#,
            "The diff contains no search and replace block.",
        ),
        (r#"{"path": "a.txt", "diff": "a", "args": "b"}"#, "Use either 'path' and 'diff', or 'args'"),
        (r#"{"path": "a.txt", "diff": "<<<<<<< SEARCH\none\n=======\ntwo\n"}"#, "Nothing was written."),
        (
            r#"{"path": "a.txt", "diff": "<<<<<<< SEARCH\none\n=======\none\n>>>>>>> REPLACE"}"#,
            "Nothing was written.",
        ),
        (
            r#"{"path": "a.txt", "diff": "<<<<<<< SEARCH\n=======\none\n>>>>>>> REPLACE"}"#,
            "Nothing was written.",
        ),
    ] {
        let words = project.mistake("apply_diff", args).await;
        assert!(words.starts_with(expected), "{args}: {words}");
        assert_eq!(project.read("a.txt"), "one\n");
    }
}

#[tokio::test]
async fn a_text_is_replaced_once_or_everywhere() {
    let project = Project::new(&[("a.txt", "a b a\n")]);
    let words = project.mistake("edit", r#"{"path": "a.txt", "old_string": "a", "new_string": "c"}"#).await;
    assert!(words.contains("edit 1 of `a.txt`: search text matches at"), "{words}");
    project.text("edit", r#"{"path": "a.txt", "old_string": "b a", "new_string": "d a"}"#).await;
    assert_eq!(project.read("a.txt"), "a d a\n");
    let all = r#"{"path": "a.txt", "old_string": "a", "new_string": "c", "replace_all": "true"}"#;
    project.text("edit", all).await;
    assert_eq!(project.read("a.txt"), "c d c\n");
    project.text("edit", r#"{"path": "a.txt", "old_string": " d c", "new_string": ""}"#).await;
    assert_eq!(project.read("a.txt"), "c\n");
    project.text("edit", r#"{"path": "new.txt", "old_string": "", "new_string": "fresh\n"}"#).await;
    assert_eq!(project.read("new.txt"), "fresh\n");
    for args in [
        r#"{"path": "a.txt", "old_string": "absent", "new_string": "x"}"#,
        r#"{"path": "a.txt", "old_string": "c", "new_string": "c"}"#,
        r#"{"path": "absent.txt", "old_string": "c", "new_string": "d"}"#,
    ] {
        assert!(project.review("edit", args).await.is_err(), "{args}");
    }
}

#[tokio::test]
async fn a_review_changes_with_the_file() {
    let project = Project::new(&[("a.txt", "one\ntwo\n")]);
    let args = r#"{"path": "a.txt", "old_string": "two", "new_string": "2"}"#;
    let before = project.review("edit", args).await.unwrap();
    assert_eq!(before, project.review("edit", args).await.unwrap());
    project.write("a.txt", "one and a half\ntwo\n");
    assert_ne!(before, project.review("edit", args).await.unwrap());
}

#[tokio::test]
async fn a_write_that_has_to_wait_can_be_cancelled() {
    let project = Project::new(&[("a.txt", "one\n")]);
    project.text("edit", r#"{"path": "a.txt", "old_string": "one", "new_string": "two"}"#).await;
    // What another process that writes below the root has.
    let roots = fs::read_dir(project.outside("journal/roots")).unwrap();
    let lock = fs::File::open(roots.map(|root| root.unwrap().path()).next().unwrap().join("lock")).unwrap();
    lock.lock().unwrap();
    let (done, ()) = tokio::join!(
        project.call("edit", r#"{"path": "a.txt", "old_string": "two", "new_string": "three"}"#),
        async { project.caller.cancel() }
    );
    let failure = done.unwrap_err();
    assert!(failure.message.starts_with("Nothing was written: "), "{failure}");
    lock.unlock().unwrap();
    assert_eq!(project.read("a.txt"), "two\n");
}

#[tokio::test]
async fn calls_at_the_same_time_do_not_lose_each_others_edits() {
    let content: String = (0..20).map(|line| format!("<{line}>\n\n\n")).collect();
    let project = Project::new(&[("a.txt", &content)]);
    let (tools, context) = (standard(), project.caller.context());
    let mut tasks = tokio::task::JoinSet::new();
    for line in 0..20 {
        let (tool, context) = (tools.get("edit").unwrap().clone(), context.clone());
        let args =
            arguments(&format!(r#"{{"path": "a.txt", "old_string": "<{line}>", "new_string": "[{line}]"}}"#));
        tasks.spawn(async move { (line, tool.execute(&args, &context).await) });
    }
    // A call that came second sees that the file has changed and writes nothing; it never overwrites the other.
    let mut written = 0;
    for (line, done) in tasks.join_all().await {
        let is_there = project.read("a.txt").contains(&format!("[{line}]"));
        assert_eq!(is_there, done.is_ok(), "{line}: {done:?}");
        written += usize::from(is_there);
    }
    assert!(written > 0);
}
