//! `reknit apply` on a reply: edits in its text and in its calls.

use expect_test::expect;
use serde_json::{Value, json};

use crate::folder::Folder;

/// A stream in the dialect of OpenAI Chat Completions, with a text and calls.
fn stream(text: &str, calls: &[(&str, Value)], finish: Option<&str>) -> String {
    let calls = calls.iter().enumerate().map(|(index, (name, input))| {
        let function = json!({"name": name, "arguments": input.to_string()});
        json!({"index": index, "id": format!("call_{index}"), "type": "function", "function": function})
    });
    let delta = json!({"role": "assistant", "content": text, "tool_calls": calls.collect::<Vec<_>>()});
    let mut stream = format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]}));
    if let Some(finish) = finish {
        let choice = json!({"index": 0, "delta": {}, "finish_reason": finish});
        stream += &format!("data: {}\n\ndata: [DONE]\n\n", json!({"choices": [choice]}));
    }
    stream
}

const BLOCK: &str = "a.txt\n```\n<<<<<<< SEARCH\none\n=======\n1\n>>>>>>> REPLACE\n```\n";

#[test]
fn text_and_calls_are_applied_and_a_look_at_a_file_is_not_an_edit() {
    let folder = Folder::new(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    let calls = [
        ("str_replace_based_edit_tool", json!({"command": "view", "path": "b.txt"})),
        ("edit_file", json!({"path": "b.txt", "old_string": "two", "new_string": "2"})),
        ("write_to_file", json!({"path": "c.txt", "content": "3\n"})),
        ("bash", json!({"command": "ls"})),
    ];
    let applied = folder.run(&["apply", "--yes"], stream(BLOCK, &calls, Some("tool_calls")));
    assert_eq!(applied.code, Some(0), "{}", applied.stderr);
    assert_eq!(["a.txt", "b.txt", "c.txt"].map(|path| folder.read(path)), ["1\n", "2\n", "3\n"]);
}

#[test]
fn a_call_of_an_edit_tool_without_an_edit_is_reported() {
    let folder = Folder::new(&[("a.txt", "one\n")]);
    for input in [json!({"target_file": "a.txt", "code_edit": "1"}), json!({"path": "a.txt"})] {
        for tool in ["edit_file", "apply_patch", "apply_diff", "write_to_file"] {
            let answer = stream(BLOCK, &[(tool, input.clone())], Some("tool_calls"));
            let refused = folder.run(&["apply", "--yes"], answer);
            assert_eq!(refused.code, Some(1), "{tool} {input}: {}", refused.stderr);
            assert_eq!(folder.read("a.txt"), "one\n");
        }
    }
}

#[test]
fn nothing_of_a_cut_reply_is_written_unless_that_is_wanted() {
    for finish in [None, Some("length")] {
        let folder = Folder::new(&[("a.txt", "one\n")]);
        let answer = stream(BLOCK, &[], finish);
        let refused = folder.run(&["apply", "--yes"], &*answer);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""));
        expect![[r#"
            error: the reply is cut: edits may be missing
            hint: ask for the reply again; `--keep-going` applies the edits that arrived
            see: `reknit explain cut`
        "#]]
        .assert_eq(&refused.stderr);
        assert_eq!(folder.read("a.txt"), "one\n");

        let kept = folder.run(&["apply", "--yes", "--keep-going"], &*answer);
        assert_eq!((kept.code, folder.read("a.txt").as_str()), (Some(1), "1\n"));
    }
}

/// What one command prints about a call, the next one reads, however deep its arguments are.
#[test]
fn deep_arguments_that_were_printed_are_read() {
    let folder = Folder::new(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    let deep = (0..126).fold(json!(1), |inner, _| json!([inner]));
    let calls = [
        ("plan", json!({ "steps": deep })),
        ("edit_file", json!({"path": "b.txt", "old_string": "two", "new_string": "2"})),
    ];
    let read = folder.run(&["read", "--json"], stream(BLOCK, &calls, Some("tool_calls")));
    assert_eq!(read.code, Some(0), "{}", read.stderr);
    let applied = folder.run(&["apply", "--yes"], read.stdout);
    assert_eq!(applied.code, Some(0), "{}", applied.stderr);
    assert_eq!(["a.txt", "b.txt"].map(|path| folder.read(path)), ["1\n", "2\n"]);
}
