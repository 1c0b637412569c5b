//! The new content of a file while its call arrives.

use reknit::json::Value;
use reknit_runtime::tools::preview::{Growth, Opening};

const FILE: &str = "fn a() {\n    one();\n}\n\nfn b() {\n    two();\n}\n";

/// Feeds pieces of a call's arguments, and follows what is shown.
fn follow<'p>(
    tool: &str,
    original: &str,
    pieces: impl IntoIterator<Item = &'p str>,
) -> (Option<String>, String) {
    let mut pieces = pieces.into_iter();
    let mut opening = Opening::of(tool).unwrap();
    while opening.path().is_none() {
        match pieces.next() {
            Some(piece) => opening.push(piece),
            None => return (None, String::new()),
        }
    }
    let path = opening.path().map(str::to_owned);
    let (mut growing, growths) = opening.begin(original.as_bytes());
    let mut shown = String::new();
    let mut take = |growths: Vec<Growth>| {
        for growth in growths {
            if growth.restarted {
                shown.clear();
            }
            shown.push_str(&growth.delta);
        }
    };
    take(growths);
    for piece in pieces {
        take(growing.push(piece));
    }
    (path, shown)
}

fn cut(text: &str, length: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(length.min(rest.len())));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

fn cases() -> Vec<(&'static str, &'static str, String, &'static str)> {
    let json = |pairs: &[(&str, &str)]| {
        let object: reknit::json::Object =
            pairs.iter().map(|(key, value)| (*key, Value::from(*value))).collect();
        Value::from(object).to_string()
    };
    let blocks = "<<<<<<< SEARCH\n    one();\n=======\n    1();\n    \"é\";\n>>>>>>> REPLACE\n\
        <<<<<<< SEARCH\n    two();\n=======\n    2();\n>>>>>>> REPLACE";
    let changed = "fn a() {\n    1();\n    \"é\";\n}\n\nfn b() {\n    2();\n";
    vec![
        (
            "write_to_file",
            "",
            json(&[("path", "a.rs"), ("content", "one\n\"two\"\u{1}\n")]),
            "one\n\"two\"\u{1}\n",
        ),
        ("write_to_file", FILE, json(&[("content", "é\nlast"), ("path", "a.rs")]), "é\nlast"),
        (
            "write_to_file",
            "a\r\nb\r\n",
            json(&[("path", "a.rs"), ("content", "1\n2\n3\n")]),
            "1\r\n2\r\n3\r\n",
        ),
        ("apply_diff", FILE, json(&[("path", "a.rs"), ("diff", blocks)]), changed),
        ("apply_diff", FILE, json(&[("diff", blocks), ("path", "a.rs")]), changed),
        (
            "edit",
            FILE,
            json(&[("path", "a.rs"), ("old_string", "two()"), ("new_string", "2(\n)")]),
            "fn a() {\n    one();\n}\n\nfn b() {\n    2(\n)",
        ),
    ]
}

#[test]
fn any_cut_shows_the_same_content() {
    for (tool, original, args, expected) in cases() {
        for length in 1..=args.len() {
            let (path, shown) = follow(tool, original, cut(&args, length));
            assert_eq!(
                (path.as_deref(), &*shown),
                (Some("a.rs"), expected),
                "{tool}, pieces of {length}: {args}"
            );
        }
    }
}

#[test]
fn content_is_shown_before_it_is_complete() {
    let (_, shown) = follow("write_to_file", "", [r#"{"path": "a", "content": "one\ntw"#]);
    assert_eq!(shown, "one");
    let (_, shown) = follow("write_to_file", "", [r#"{"path": "a", "content": "one\ntw"#, r#"o\nthr"#]);
    assert_eq!(shown, "one\ntwo");
}

#[test]
fn a_path_is_known_once_it_is_complete() {
    let mut opening = Opening::of("write_to_file").unwrap();
    for piece in [r#"{"content": "a", "#, r#""path": "src"#, "/lib", ".rs"] {
        opening.push(piece);
        assert_eq!(opening.path(), None);
    }
    opening.push("\"");
    assert_eq!(opening.path(), Some("src/lib.rs"));
    assert!(Opening::of("read_file").is_none());
    // A path inside another argument is not the path.
    let mut opening = Opening::of("apply_diff").unwrap();
    opening.push(r#"{"args": {"path": "a"}, "x": [{"path": "b"}], "path": 5}"#);
    assert_eq!(opening.path(), None);
}

#[test]
fn what_is_not_json_or_not_an_edit_shows_nothing_and_does_not_panic() {
    for args in [
        r#"{"path": "a", "content": 5}"#,
        r#"{"path": "a", "content": {"content": "x"}}"#,
        r#"{"path": "a", "content": nonsense"#,
        r#"{"path": "a", "content": ["x"], "contents": "x"}"#,
    ] {
        for length in 1..=args.len() {
            assert_eq!(follow("write_to_file", "", cut(args, length)).1, "", "{args}");
        }
    }
    let (_, shown) = follow("edit", FILE, [r#"{"path": "a", "old_string": "absent", "new_string": "x"}"#]);
    assert_eq!(shown, "");
}

#[test]
fn a_large_file_is_not_shown() {
    let large = "line\n".repeat(100_000);
    let args = r#"{"path": "a", "old_string": "absent", "new_string": "x"}"#;
    assert_eq!(follow("edit", &large, [args]).1, "");
    let content = Value::from(&*large).to_string();
    let args = format!(r#"{{"path": "a", "content": {content}}}"#);
    let (_, shown) = follow("write_to_file", "", cut(&args, 1000));
    assert!(shown.len() <= 256 << 10 && large.starts_with(&shown), "{}", shown.len());
    assert!(shown.len() > 200 << 10, "{}", shown.len());
}
