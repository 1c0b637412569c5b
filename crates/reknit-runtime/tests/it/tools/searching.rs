//! `search_files`.

use reknit_runtime::question::Class;
use reknit_runtime::tools::standard;

use super::Project;

#[tokio::test]
async fn matches_come_with_the_lines_around_them() {
    let project = Project::new(&[
        ("src/a.rs", "fn one() {}\nfn two() {}\nfn three() {}\nend\n"),
        ("src/b.txt", "no\nfn two\r\n"),
        ("c.rs", "nothing\n"),
    ]);
    let text = project.text("search_files", r#"{"path": "src", "regex": "fn t(wo|en)"}"#).await;
    let expected = "Found 2 results.\n\n# src/a.rs\n     1 | fn one() {}\n>    2 | fn two() {}\n     3 | fn three() {}\n\
        \n# src/b.txt\n     1 | no\n>    2 | fn two\n";
    assert_eq!(text, expected);
    let only = project.text("search_files", r#"{"path": ".", "regex": "two", "file_pattern": "*.rs"}"#).await;
    assert!(only.starts_with("Found 1 result.\n\n# src/a.rs"), "{only}");
    let file = project.text("search_files", r#"{"path": "src/b.txt", "regex": "two"}"#).await;
    assert!(file.contains("# src/b.txt"), "{file}");
    let none = project.text("search_files", r#"{"path": ".", "regex": "absent"}"#).await;
    assert_eq!(none, "No results for `absent` in `.`.\n");
}

#[tokio::test]
async fn a_search_has_limits() {
    let project = Project::new(&[]);
    project.write("many.txt", "match\n".repeat(1000));
    let text = project.text("search_files", r#"{"path": ".", "regex": "match"}"#).await;
    assert!(text.starts_with("Showing the first 300 results, in 1 file."), "{}", &text[..100]);
    assert_eq!(text.lines().filter(|line| line.starts_with('>')).count(), 300);
    project.write("many.txt", format!("match {}\n", "x".repeat(100_000)));
    let text = project.text("search_files", r#"{"path": ".", "regex": "match"}"#).await;
    assert!(text.len() < 1_000 && text.contains("more bytes in this line"), "{text}");
}

#[tokio::test]
async fn ignored_binary_and_secret_files_are_left_out() {
    let project = Project::new(&[
        (".gitignore", "ignored\n"),
        ("ignored", "needle\n"),
        (".env", "needle\n"),
        ("server.pem", "needle\n"),
        (".git/config", "needle\n"),
        (".github/workflow.yml", "needle\n"),
    ]);
    project.write("binary", b"needle\n\0\0\0");
    let text = project.text("search_files", r#"{"path": ".", "regex": "needle"}"#).await;
    let expected = "Found 1 result. Not searched, because they may contain secrets: 2 files.\n\n\
        # .github/workflow.yml\n>    1 | needle\n";
    assert_eq!(text, expected);
    // Naming one of them is possible, and asks.
    let review = project.review("search_files", r#"{"path": ".env", "regex": "needle"}"#).await.unwrap();
    assert_eq!(review.class, Class::ReadSecret);
}

#[tokio::test]
async fn nothing_outside_the_root_is_searched() {
    let project = Project::new(&[("a.txt", "needle\n")]);
    std::fs::write(project.outside("outside.txt"), "needle\n").unwrap();
    project.link(project.outside("outside.txt"), "link.txt");
    project.link(project.outside(""), "folder");
    let text = project.text("search_files", r#"{"path": ".", "regex": "needle"}"#).await;
    assert_eq!(text, "Found 1 result.\n\n# a.txt\n>    1 | needle\n");
    for path in ["..", "link.txt", "folder", "/etc"] {
        project.mistake("search_files", &format!(r#"{{"path": "{path}", "regex": "needle"}}"#)).await;
    }
}

#[tokio::test]
async fn a_bad_expression_is_explained() {
    let project = Project::new(&[]);
    let words = project.mistake("search_files", r#"{"path": ".", "regex": "a(b"}"#).await;
    assert!(words.contains("regex parse error:") && words.contains("unclosed group"), "{words}");
    let words = project.mistake("search_files", r#"{"path": ".", "regex": "a\\nb"}"#).await;
    assert!(words.starts_with("Invalid value for parameter 'regex'"), "{words}");
    let words = project.mistake("search_files", r#"{"path": ".", "regex": "a", "file_pattern": "{a"}"#).await;
    assert!(words.starts_with("Invalid value for parameter 'file_pattern'"), "{words}");
    let words = project.mistake("search_files", r#"{"path": "nothing", "regex": "a"}"#).await;
    assert!(words.starts_with("`nothing`: no such file."), "{words}");
}

#[tokio::test]
async fn a_cancelled_search_stops() {
    let project = Project::new(&[("a.txt", "needle\n")]);
    project.caller.cancel();
    let args = reknit_runtime::testing::arguments(r#"{"path": ".", "regex": "needle"}"#);
    let tools = standard();
    let failure =
        tools.get("search_files").unwrap().execute(&args, project.caller.context()).await.unwrap_err();
    assert_eq!(failure.message, "The call was stopped before it was done.");
}
