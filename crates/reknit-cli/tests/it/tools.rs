//! `reknit tools`: calls and thinking in a model's text.

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect;
use reknit::Message;
use reknit::json::Value;
use reknit::message::Change;

use crate::command::run;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/tools.txt");
const CALL: &str = r#"<tool_call>{"name": "f", "arguments": {"a": 1.10}}</tool_call>"#;

/// The folders of `corpus/tags/`, with the name of the profile.
fn cases() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/tags");
    let folders = |path: &Path| {
        let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        let mut folders: Vec<_> = entries.filter(|path| path.is_dir()).collect();
        folders.sort();
        folders
    };
    let profiles = folders(&root).into_iter();
    let cases = profiles.flat_map(|profile| {
        let name = profile.file_name().unwrap().to_str().unwrap().to_owned();
        folders(&profile).into_iter().map(move |case| (name.clone(), case))
    });
    cases.collect()
}

#[test]
fn cases_print_their_blocks_for_any_cut() {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/tags/tools.json");
    for (profile, case) in cases().iter().step_by(4) {
        let own_names = profile.starts_with("cline") || profile.starts_with("roo");
        let input = case.join("input.txt");
        let mut arguments = vec!["tools", "--profile", profile, "--json", input.to_str().unwrap()];
        if !own_names {
            arguments.extend(["--tools", tools.to_str().unwrap()]);
        }
        let expected = fs::read_to_string(case.join("blocks.json")).unwrap();
        let expected = expected.parse::<Value>().unwrap().to_string() + "\n";
        for cut in [&[][..], &["--recut", "1"], &["--recut", "bytes"]] {
            let printed = run(&[&arguments[..], cut].concat(), "");
            assert_eq!(printed.stdout, expected, "{}", case.display());
            let broken = expected.contains(r#""end":"cut""#) || expected.contains(r#""end":"malformed""#);
            assert_eq!(printed.code, Some(i32::from(broken)), "{}", case.display());
        }
    }
}

#[test]
fn people_see_the_text_and_the_calls() {
    let shown = run(&["tools", "--profile", "cline", EXAMPLE], "");
    expect![[r#"
        I will write the page, then list the folder.

        [call write_to_file] {"path":"site/index.html","content":"<!doctype html>\n<p>A closing tag such as </content> may occur in a file.</p>"}

        Mentioning `<read_file>` in code is not a call.

        [call execute_command] {"command":"cd site && ls -la","requires_approval":"false"}
    "#]]
    .assert_eq(&shown.stdout);
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
}

#[test]
fn every_change_is_a_line() {
    let lines = run(&["tools", "--profile", "hermes", "--ndjson"], format!("<think>hm</think>Yes. {CALL} x"));
    expect![[r#"
        {"opened":{"block":[0,0],"type":"thinking"}}
        {"grew":{"block":[0,0],"at":0,"text":"hm"}}
        {"closed":{"block":[0,0]}}
        {"opened":{"block":[0,1],"type":"text"}}
        {"grew":{"block":[0,1],"at":0,"text":"Yes."}}
        {"closed":{"block":[0,1]}}
        {"opened":{"block":[0,2],"type":"tool_call","id":"call_0_2","invented":true,"name":"f","origin":{"tagged":{"known":true}}}}
        {"grew":{"block":[0,2],"at":0,"text":"{\"a\": 1.10}"}}
        {"closed":{"block":[0,2],"end":"closed","raw":"<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1.10}}</tool_call>"}}
        {"opened":{"block":[0,3],"type":"text"}}
        {"grew":{"block":[0,3],"at":0,"text":"x"}}
        {"closed":{"block":[0,3]}}
        {"ended":{}}
    "#]]
    .assert_eq(&lines.stdout);
    let lines =
        run(&["tools", "--profile", "cline", "--ndjson"], "<read_file><path> a.rs </path></read_file>");
    expect![[r#"
        {"opened":{"block":[0,0],"type":"tool_call","id":"call_0_0","invented":true,"name":"read_file","origin":{"tagged":{"known":true}}}}
        {"grew":{"block":[0,0],"at":0,"text":"{\"path\":\"a.rs\"}"}}
        {"closed":{"block":[0,0],"end":"closed","raw":"<read_file><path> a.rs </path></read_file>"}}
        {"ended":{}}
    "#]]
    .assert_eq(&lines.stdout);
}

#[test]
fn a_cut_call_is_found_without_naming_its_profile() {
    let text = "<tool_call>\n{\"name\":\"write_file\",\"arguments\":{\"path\":\"a\",\"content\":\"hel";
    let found = run(&["tools", "--json"], text);
    assert_eq!(found.code, Some(1), "{}", found.stdout);
    assert!(found.stdout.contains(r#""name":"write_file""#), "{}", found.stdout);
}

#[test]
fn a_text_can_start_inside_the_thinking() {
    let read = run(&["tools", "--profile", "qwen3", "--thinking", "--json"], "Hm.</think>Yes.");
    assert!(read.stdout.contains(r#"{"type":"thinking","text":"Hm.","partial":false}"#), "{}", read.stdout);
    let refused = run(&["tools", "--profile", "cline", "--thinking"], "");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("`cline` has no marker that ends thinking"), "{}", refused.stderr);
}

#[test]
fn a_profile_is_printed_to_start_from() {
    let printed = run(&["tools", "--print-profile", "hermes"], "");
    assert_eq!(printed.stdout, include_str!("../../../reknit/profiles/hermes.toml"));
    assert_eq!(run(&["tools", "--print-profile", "nothing"], "").code, Some(2));
}

#[test]
fn the_profile_that_fits_is_found_and_printed() {
    let found = run(&["tools", "--json"], CALL);
    assert_eq!(found.stderr, "profile: hermes, because it finds 1 complete call\n");
    assert_eq!(
        found.stdout,
        "{\"blocks\":[{\"type\":\"tool_call\",\"name\":\"f\",\"params\":{\"a\":1.10},\"partial\":false,\"end\":\"closed\"}],\"diagnostics\":[]}\n"
    );
    let none = run(&["tools"], "Hello.\n");
    assert_eq!(none.stderr, "profile: none, because no profile finds a call or thinking\n");
    assert_eq!(none.stdout, "Hello.\n");
}

#[test]
fn what_is_cut_is_reported_and_never_looks_whole() {
    let cut = run(&["tools", "--profile", "cline"], "Now: <write_to_file><path>a</path><content>half");
    expect![[r#"
        Now:

        [call write_to_file] <write_to_file><path>a</path><content>half [cut]
    "#]]
    .assert_eq(&cut.stdout);
    expect![[r#"
        error: the call to `write_to_file` is cut: the text ended before the call did
        hint: do not run the call; ask for the answer again
        see: `reknit explain cut-arguments`
    "#]]
    .assert_eq(&cut.stderr);
    assert_eq!(cut.code, Some(1));
}

#[test]
fn display_cleans_the_text() {
    let text = "<thinking>Hm.</thinking> I will <rea";
    let json = run(&["tools", "--profile", "cline", "--display", "--json"], text);
    expect![[r#"
        {"blocks":[{"type":"text","text":"Hm. I will","partial":true}],"diagnostics":[]}
    "#]]
    .assert_eq(&json.stdout);
    assert_eq!(run(&["tools", "--profile", "cline", "--display"], text).stdout, "Hm. I will\n");
}

#[test]
fn wrong_usage_has_a_hint() {
    let profile = run(&["tools", "--profile", "clin"], "");
    assert_eq!(profile.code, Some(2));
    expect![[r#"
        error: invalid value 'clin' for '--profile <PROFILE>'
          [possible values: auto, anthropic, cline, cline-v2, deepseek-r1, deepseek-v3, deepseek-v3-1, deepseek-v3-2, deepseek-v4, gemma4, glm47, gpt-oss, granite, harmony, hermes, jamba, kimi, kimi-k2, kimi-k25, llama3-json, minimax-append-think, minimax-m2, minimax-m2-thinking, mistral, nemotron-deci, nemotron-nano, none, phi4, pythonic, qwen25, qwen3, qwen3-coder, qwen3-thinking, roo, roo-v1]

          tip: a similar value exists: 'cline'

        For more information, try '--help'.
    "#]]
    .assert_eq(&profile.stderr);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tools");
    fs::create_dir_all(&folder).unwrap();
    let file = |name: &str, text: &str| {
        fs::write(folder.join(name), text).unwrap();
        folder.join(name).to_str().unwrap().to_owned()
    };
    let tools = file("tools.json", "{}");
    let tools = run(&["tools", "--profile", "cline", "--tools", &tools], "");
    assert!(tools.stderr.contains("is not a list of tools: invalid type: map"), "{}", tools.stderr);
    let grammar = file("grammar.toml", "name = \"x\"\n[calls]\nkind = \"xml\"\n");
    let grammar = run(&["tools", "--grammar", &grammar], "");
    assert!(grammar.stderr.contains("unknown variant `xml`"), "{}", grammar.stderr);
    assert_eq!((tools.code, grammar.code), (Some(2), Some(2)));
    let own = file(
        "own.toml",
        "name = \"own\"\n[calls]\nkind = \"json\"\nopen = [\"CALL \"]\n[reasoning]\nopen = [\"((\"]\nclose = \"))\"\n",
    );
    let own = run(&["tools", "--grammar", &own], r#"((hm)) CALL {"name": "f"}"#);
    assert_eq!(own.stdout, "[thinking, not shown]\n\n[call f] {}\n");
}

/// A reply whose text has a call in it, in two deltas.
const REPLY: &str = concat!(
    "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"I look.\\n<read_fi\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"le><path>a.rs</path></read_file>\"},",
    "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
);

#[test]
fn read_finds_calls_in_the_texts_of_a_reply() {
    let read = |options: &[&str]| {
        let arguments = [&["read", "--tools", "cline"], options].concat();
        let whole = run(&arguments, REPLY);
        assert_eq!((whole.code, whole.stderr.as_str()), (Some(0), ""));
        whole.stdout
    };
    expect![[r#"
        I look.

        [call read_file] {"path":"a.rs"}
    "#]]
    .assert_eq(&read(&[]));
    expect![[r#"
        {"id":"c1","status":"stopped","stop_reason":"end","stop_detail":"stop","blocks":[{"type":"text","text":"I look."},{"type":"tool_call","id":"call_0_1","name":"read_file","end":"closed","input":{"path":"a.rs"},"origin":"tagged"}],"diagnostics":[]}
    "#]].assert_eq(&read(&["--json"]));
    assert_eq!(read(&["--json", "--recut", "bytes"]), read(&["--json"]));
    expect![[r#"
        {"started":{"id":"c1"}}
        {"opened":{"block":[0,0],"type":"text"}}
        {"grew":{"block":[0,0],"at":0,"text":"I look."}}
        {"closed":{"block":[0,0]}}
        {"opened":{"block":[0,1],"type":"tool_call","id":"call_0_1","invented":true,"name":"read_file","origin":{"tagged":{"known":true}}}}
        {"grew":{"block":[0,1],"at":0,"text":"{\"path\":\"a.rs\"}"}}
        {"closed":{"block":[0,1],"end":"closed","raw":"<read_file><path>a.rs</path></read_file>"}}
        {"stopped":{"reason":"end","detail":"stop"}}
        {"ended":{}}
    "#]].assert_eq(&read(&["--ndjson"]));
    let lines = read(&["--ndjson"]);
    let mut message = Message::default();
    for line in lines.lines() {
        let change: Change<'_> = serde_json::from_str(line).unwrap();
        message.follow(&change).unwrap();
    }
    assert_eq!(serde_json::to_string(&message).unwrap() + "\n", read(&["--json"]));
    let native = run(&["read", "--tools", "cline", "--as", "native"], REPLY);
    assert_eq!(native.code, Some(2));
    assert_eq!(run(&["read", "--tools", "clin"], REPLY).code, Some(2));
}

/// A reply whose text ends inside a call.
const CUT_IN_A_CALL: &str = concat!(
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Now: <write_to_file><path>a</path><content>half\"},",
    "\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n"
);

#[test]
fn a_call_that_is_cut_in_the_text_of_a_reply_is_reported() {
    for options in [&[][..], &["--json"], &["--ndjson"], &["--events"]] {
        let cut = run(&[&["read", "--tools", "cline"], options].concat(), CUT_IN_A_CALL);
        expect![[r#"
            error: the call to `write_to_file` is cut: the text ended before the call did
            hint: do not run the call; ask for the answer again
            see: `reknit explain cut-arguments`
        "#]]
        .assert_eq(&cut.stderr);
        assert_eq!(cut.code, Some(1), "{options:?}");
    }
    // It is shown once, also if the message is cut with it.
    let (cut, _) = CUT_IN_A_CALL.split_once(",\"finish_reason").unwrap();
    for reply in [CUT_IN_A_CALL.to_owned(), format!("{cut}}}]}}\n\n")] {
        expect![[r#"
            Now:

            [call write_to_file] <write_to_file><path>a</path><content>half [cut]
        "#]]
        .assert_eq(&run(&["read", "--tools", "cline"], reply).stdout);
    }
}

#[test]
fn the_profile_of_a_stream_is_found() {
    let text = "I look.\\n<tool_call>\\n{\\\"name\\\": \\\"now\\\", \\\"arguments\\\": {}}\\n</tool_call>";
    let reply = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":\"stop\"}}]}}\n\ndata: [DONE]\n\n"
    );
    let found = run(&["read", "--tools", "auto", "--json"], &reply);
    assert_eq!(found.code, Some(0), "{}", found.stderr);
    assert!(found.stderr.starts_with("profile: hermes, because "), "{}", found.stderr);
    assert_eq!(found.stdout, run(&["read", "--tools", "hermes", "--json"], &reply).stdout);
    assert!(found.stdout.contains("\"name\":\"now\""), "{}", found.stdout);
    // A stream that cannot be read is the same error as without.
    let wrong = run(&["read", "--tools", "auto"], "<html>");
    assert_eq!((wrong.code, wrong.stderr), (Some(2), run(&["read"], "<html>").stderr));
}

#[test]
fn a_cut_call_on_a_pipe_is_what_was_written() {
    let native = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"rm\",\"arguments\":\"{\\\"path\\\":\\\"/tmp\"}}]}}]}\n\n";
    let read = run(&["read"], native);
    assert_eq!(read.stdout, "[call rm] {\"path\":\"/tmp [cut]\n");
    let tools = run(
        &["tools", "--profile", "hermes"],
        "<tool_call>{\"name\": \"rm\", \"arguments\": {\"path\": \"/tmp",
    );
    assert!(tools.stdout.ends_with("\"arguments\": {\"path\": \"/tmp [cut]\n"), "{}", tools.stdout);
    let cline = run(&["tools", "--profile", "cline"], "<read_file><path>/tmp");
    assert!(!cline.stdout.contains("{\"path\""), "{}", cline.stdout);
}
