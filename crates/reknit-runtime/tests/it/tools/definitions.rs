//! What the tools say about themselves.

use reknit_runtime::question::Class;
use reknit_runtime::testing::arguments;
use reknit_runtime::tools::standard;

#[test]
fn every_tool_has_a_class_and_a_schema() {
    let tools = standard();
    let classes: Vec<_> =
        tools.definitions().map(|definition| (&*definition.name, definition.class)).collect();
    assert_eq!(
        classes,
        [
            ("apply_diff", Class::Write),
            ("ask_followup_question", Class::Talk),
            ("attempt_completion", Class::Talk),
            ("edit", Class::Write),
            ("execute_command", Class::Execute),
            ("list_files", Class::Read),
            ("read_command_output", Class::Read),
            ("read_file", Class::Read),
            ("search_files", Class::Read),
            ("write_to_file", Class::Write),
        ]
    );
    for definition in tools.definitions() {
        let schema = definition.schema();
        let properties = schema.get("properties").and_then(|properties| properties.as_object()).unwrap();
        assert_eq!(properties.len(), definition.params.len(), "{}", definition.name);
        assert!(properties.iter().all(|(_, property)| property.get("type").is_some()), "{schema}");
    }
}

#[test]
fn calls_are_described_in_one_line() {
    let tools = standard();
    let describe = |tool: &str, args: &str| tools.get(tool).unwrap().describe(&arguments(args));
    for (tool, args, expected) in [
        ("read_file", r#"{"path": "a"}"#, "[read_file for 'a']"),
        ("read_file", r#"{"files": [{"path": "a"}, {"path": "b"}]}"#, "[read_file for 'a', 'b']"),
        ("read_file", r#"{"files": ["a", "b", "c", "d"]}"#, "[read_file for 4 files]"),
        ("read_file", "{}", "[read_file]"),
        ("write_to_file", r#"{"path": "a", "content": "b"}"#, "[write_to_file for 'a']"),
        ("apply_diff", r#"{"path": "a"}"#, "[apply_diff for 'a']"),
        ("apply_diff", "{}", "[apply_diff]"),
        (
            "apply_diff",
            r#"{"args": "<file><path>a</path></file><file><path>b</path></file><file><path>c</path></file>"}"#,
            "[apply_diff for 'a' and 2 more files]",
        ),
        ("apply_diff", r#"{"args": "<file><path>a</path></file><file><path>b</pa"}"#, "[apply_diff for 'a']"),
        ("edit", r#"{"path": "a"}"#, "[edit for 'a']"),
        ("list_files", r#"{"path": "."}"#, "[list_files for '.']"),
        ("search_files", r#"{"path": ".", "regex": "a+"}"#, "[search_files for 'a+']"),
        (
            "search_files",
            r#"{"path": ".", "regex": "a+", "file_pattern": "*.rs"}"#,
            "[search_files for 'a+' in '*.rs']",
        ),
        ("execute_command", r#"{"command": "ls"}"#, "[execute_command for 'ls']"),
        ("read_command_output", r#"{"artifact_id": "cmd-1.txt"}"#, "[read_command_output for 'cmd-1.txt']"),
        ("attempt_completion", r#"{"result": "done"}"#, "[attempt_completion]"),
        ("ask_followup_question", r#"{"question": "why?"}"#, "[ask_followup_question for 'why?']"),
    ] {
        assert_eq!(describe(tool, args), expected, "{tool} {args}");
    }
}

#[test]
fn numbers_and_flags_may_be_text() {
    let tools = standard();
    let check = |tool: &str, args: &str| tools.get(tool).unwrap().definition().check(&arguments(args));
    assert_eq!(check("list_files", r#"{"path": ".", "recursive": "true"}"#), Ok(()));
    assert_eq!(check("read_file", r#"{"path": "a", "offset": " 3 "}"#), Ok(()));
    assert!(check("list_files", r#"{"path": ".", "recursive": "deep"}"#).is_err());
    assert!(check("read_file", r#"{"path": "a", "offset": "three"}"#).is_err());
}
