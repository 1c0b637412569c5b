//! `list_files`.

use super::Project;

#[tokio::test]
async fn a_directory_is_listed() {
    let project = Project::new(&[("b.txt", ""), ("a/c.txt", ""), (".hidden", "")]);
    project.link("b.txt", "link");
    assert_eq!(project.text("list_files", r#"{"path": "."}"#).await, ".hidden\na/\nb.txt\nlink@");
    assert_eq!(project.text("list_files", r#"{"path": "a"}"#).await, "c.txt");
    assert_eq!(
        project.text("list_files", r#"{"path": "./", "recursive": true}"#).await,
        ".hidden\na/\nb.txt\nlink@\na/c.txt"
    );
}

#[tokio::test]
async fn a_recursive_list_goes_level_by_level() {
    let project = Project::new(&[("a/deep/x", ""), ("a/y", ""), ("b/z", ""), ("c", "")]);
    let text = project.text("list_files", r#"{"path": ".", "recursive": true}"#).await;
    assert_eq!(text, "a/\nb/\nc\na/deep/\na/y\nb/z\na/deep/x");
}

#[tokio::test]
async fn ignored_files_and_git_are_left_out() {
    let files = [
        (".gitignore", "target/\n*.log\n"),
        ("target/a", ""),
        ("a.log", ""),
        (".git/config", ""),
        ("sub/b.log", ""),
        ("sub/c", ""),
    ];
    let project = Project::new(&files);
    assert_eq!(
        project.text("list_files", r#"{"path": ".", "recursive": true}"#).await,
        ".gitignore\nsub/\nsub/c"
    );
}

#[tokio::test]
async fn a_long_list_leaves_out_what_is_deepest() {
    let project = Project::new(&[]);
    for number in 0..300 {
        project.write(&format!("deep/{number}"), "");
    }
    project.write("top", "");
    let text = project.text("list_files", r#"{"path": ".", "recursive": true}"#).await;
    assert!(text.starts_with("deep/\ntop\ndeep/0\n"), "{text}");
    let expected = "\n\n(File list truncated. Use list_files on specific subdirectories if you need to explore further.)";
    assert!(text.ends_with(expected), "{text}");
    assert_eq!(text.lines().count(), 202);
}

#[tokio::test]
async fn what_cannot_be_listed_is_explained() {
    let project = Project::new(&[("a.txt", "")]);
    std::fs::create_dir(project.outside("other")).unwrap();
    project.link(project.outside("other"), "link");
    project.link(".", "self");
    assert_eq!(
        project.mistake("list_files", r#"{"path": "a.txt"}"#).await,
        "`a.txt`: not a directory but a file."
    );
    for path in ["..", "link", "/", "nothing"] {
        project.mistake("list_files", &format!(r#"{{"path": "{path}"}}"#)).await;
    }
    // A link that leads back into the directory is not followed.
    assert_eq!(
        project.text("list_files", r#"{"path": ".", "recursive": true}"#).await,
        "a.txt\nlink@\nself@"
    );
    std::fs::create_dir(project.root().join("empty")).unwrap();
    let text = project.text("list_files", r#"{"path": "empty"}"#).await;
    assert_eq!(text, "`empty` has no files, apart from ignored ones.");
}
