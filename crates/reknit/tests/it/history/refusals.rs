//! What providers are known to refuse, the validators refuse too: otherwise they would show nothing.

use reknit::Dialect;
use reknit::json::Value;

use super::parsed;
use super::promises::validate;

#[test]
fn anthropic_refuses() {
    let user = r#"{"role":"user","content":[{"type":"text","text":"Hi"}]}"#;
    let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]}"#;
    let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"}]}"#;
    let paused = r#"{"role":"assistant","content":[{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}]}"#;
    accept(Dialect::Anthropic, &[user, call, result]);
    accept(Dialect::Anthropic, &[user, paused]);
    for (rule, messages) in [
        ("message 0 is of `assistant`", vec![call, result]),
        ("results of []", vec![user, call, user]),
        ("the id `t1` twice", vec![user, call, result, call, result]),
        ("the last message is the model's", vec![user, call]),
        ("a blank text", vec![r#"{"role":"user","content":[{"type":"text","text":" \n"}]}"#]),
        ("no filled list", vec![r#"{"role":"user","content":[]}"#]),
        (
            "a result after a text",
            vec![
                user,
                call,
                r#"{"role":"user","content":[{"type":"text","text":"So"},{"type":"tool_result","tool_use_id":"t1"}]}"#,
            ],
        ),
        (
            "no text `signature`",
            vec![
                user,
                r#"{"role":"assistant","content":[{"type":"thinking","thinking":"Hm"},{"type":"text","text":"Hi"}]}"#,
                user,
            ],
        ),
        (
            "the last block is thinking",
            vec![
                user,
                r#"{"role":"assistant","content":[{"type":"thinking","thinking":"Hm","signature":"c"}]}"#,
                user,
            ],
        ),
        (
            "`text` after a call",
            vec![
                user,
                r#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}},{"type":"text","text":"So"}]}"#,
                result,
            ],
        ),
        (
            "not a name: \"functions.ls:0\"",
            vec![
                user,
                r#"{"role":"assistant","content":[{"type":"tool_use","id":"functions.ls:0","name":"ls","input":{}}]}"#,
            ],
        ),
        ("the provider's call `s1` has no result", vec![user, paused, user]),
        (
            "the caller `s1` is not there",
            vec![
                user,
                r#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{},"caller":{"tool_id":"s1"}}]}"#,
                result,
            ],
        ),
        (
            "a text for the calls of",
            vec![
                user,
                r#"{"role":"assistant","content":[{"type":"server_tool_use","id":"s1","name":"code_execution","input":{}},{"type":"tool_use","id":"t1","name":"ls","input":{},"caller":{"tool_id":"s1"}}]}"#,
                r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"},{"type":"text","text":"So"}]}"#,
            ],
        ),
        (
            "no text `encrypted_index`",
            vec![
                user,
                r#"{"role":"assistant","content":[{"type":"text","text":"So","citations":[{"type":"web_search_result_location","url":"https://example.org"}]}]}"#,
                user,
            ],
        ),
        (
            "the provider's results",
            vec![
                user,
                r#"{"role":"assistant","content":[{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}]}"#,
                user,
            ],
        ),
    ] {
        refuse(Dialect::Anthropic, rule, &messages);
    }
}

#[test]
fn chat_refuses() {
    let user = r#"{"role":"user","content":"Hi"}"#;
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}"#;
    let result = r#"{"role":"tool","tool_call_id":"c1","content":"a"}"#;
    accept(Dialect::OpenAiChat, &[user, call, result]);
    for (rule, messages) in [
        ("an assistant's message after", vec![call, result]),
        ("calls without a result", vec![user, call, user]),
        ("calls without a result", vec![user, call]),
        ("which is not an open call", vec![user, call, result, result]),
        ("which is not an open call", vec![user, result]),
        ("with nothing in it", vec![user, r#"{"role":"assistant","content":null}"#, user]),
        (
            "arguments of",
            vec![
                user,
                r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":"}}]}"#,
                result,
            ],
        ),
        (
            "plain thinking without a call",
            vec![user, r#"{"role":"assistant","content":"Hi","reasoning_content":"Hm"}"#, user],
        ),
    ] {
        refuse(Dialect::OpenAiChat, rule, &messages);
    }
}

#[test]
fn responses_refuse() {
    let user = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]}"#;
    let reasoning = r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gA"}"#;
    let call = r#"{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"}"#;
    let output = r#"{"type":"function_call_output","call_id":"c1","output":"a"}"#;
    accept(Dialect::OpenAiResponses, &[user, reasoning, call, output]);
    for (rule, items) in [
        ("without its following item", vec![user, reasoning, user]),
        ("without its following item", vec![user, reasoning]),
        ("calls without an output", vec![user, call]),
        ("which is not an open call", vec![user, output]),
        ("which is not an open call", vec![user, call, output, output]),
        ("the id `c1` twice", vec![user, call, output, call, output]),
        (
            "which is not an open call",
            vec![user, call, r#"{"type":"custom_tool_call_output","call_id":"c1","output":"a"}"#],
        ),
        ("no text `encrypted_content`", vec![user, r#"{"type":"reasoning","id":"rs_1","summary":[]}"#, call]),
        ("the item `rs_1` twice", vec![user, reasoning, call, output, reasoning, call]),
    ] {
        refuse(Dialect::OpenAiResponses, rule, &items);
    }
}

/// Each kind of item has an id, members and an output of its own.
#[test]
fn responses_refuse_items_of_special_kinds() {
    let user = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]}"#;
    let computer = r#"{"type":"computer_call","id":"cu_1","call_id":"c1","action":{"type":"wait"},"status":"completed"}"#;
    let picture = r#"{"type":"computer_call_output","call_id":"c1","output":{"type":"computer_screenshot","image_url":"data:image/png;base64,aQ=="}}"#;
    let shell = r#"{"type":"shell_call","call_id":"c1","action":{"commands":["ls"]},"status":"completed"}"#;
    let printed = r#"{"type":"shell_call_output","call_id":"c1","output":[{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}}]}"#;
    let patch = r#"{"type":"apply_patch_call","call_id":"c1","operation":{"type":"delete_file","path":"a"},"status":"completed"}"#;
    let patched = r#"{"type":"apply_patch_call_output","call_id":"c1","status":"completed","output":""}"#;
    let asked =
        r#"{"type":"mcp_approval_request","id":"mcpr_1","server_label":"w","name":"r","arguments":"{}"}"#;
    let allowed = r#"{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true}"#;
    let search = r#"{"type":"web_search_call","id":"ws_1","status":"completed"}"#;
    let program = r#"{"type":"program","id":"prog_1","call_id":"p1","code":"1","fingerprint":"f"}"#;
    let ended = r#"{"type":"program_output","id":"po_1","call_id":"p1","result":"1","status":"completed"}"#;
    accept(Dialect::OpenAiResponses, &[user, computer, picture]);
    accept(Dialect::OpenAiResponses, &[user, shell, printed]);
    accept(Dialect::OpenAiResponses, &[user, patch, patched]);
    accept(Dialect::OpenAiResponses, &[user, asked, allowed]);
    accept(Dialect::OpenAiResponses, &[user, search, program, ended, user]);
    for (rule, items) in [
        (
            "the id of",
            vec![user, r#"{"type":"function_call","id":"cu_1","call_id":"c1","name":"ls","arguments":"{}"}"#],
        ),
        (
            "the id of",
            vec![user, r#"{"type":"custom_tool_call","id":"fc_1","call_id":"c1","name":"ls","input":""}"#],
        ),
        (
            "no id",
            vec![
                user,
                r#"{"type":"computer_call","call_id":"c1","action":{},"status":"completed"}"#,
                picture,
            ],
        ),
        ("no id", vec![user, r#"{"type":"web_search_call","status":"completed"}"#]),
        ("no text `status`", vec![user, r#"{"type":"image_generation_call","id":"ig_1","result":"aQ=="}"#]),
        ("no action", vec![user, r#"{"type":"shell_call","call_id":"c1","status":"completed"}"#]),
        ("no object `operation`", vec![user, r#"{"type":"apply_patch_call","call_id":"c1"}"#]),
        ("no code", vec![user, r#"{"type":"code_interpreter_call","id":"ci_1","status":"completed"}"#]),
        ("no queries", vec![user, r#"{"type":"file_search_call","id":"fs_1","status":"completed"}"#]),
        (
            "no text `arguments`",
            vec![user, r#"{"type":"mcp_call","id":"mcp_1","server_label":"w","name":"r"}"#],
        ),
        ("the item `ws_1` twice", vec![user, search, search, user]),
        ("the item `mcpr_1` twice", vec![user, asked, allowed, asked, allowed]),
        ("`mcpr_1`, which is not there", vec![user, allowed]),
        ("which is not an open call of its kind", vec![user, computer, printed]),
        ("which is not an open call of its kind", vec![user, shell, picture]),
        ("which is not an open call of its kind", vec![user, ended]),
        (
            "not a picture",
            vec![
                user,
                computer,
                r#"{"type":"computer_call_output","call_id":"c1","output":{"type":"input_text","text":"a"}}"#,
            ],
        ),
        (
            "no object `outcome`",
            vec![
                user,
                shell,
                r#"{"type":"shell_call_output","call_id":"c1","output":[{"stdout":"a","stderr":""}]}"#,
            ],
        ),
        (
            "the status of",
            vec![
                user,
                patch,
                r#"{"type":"apply_patch_call_output","call_id":"c1","status":"done","output":""}"#,
            ],
        ),
    ] {
        refuse(Dialect::OpenAiResponses, rule, &items);
    }
}

#[test]
fn gemini_refuses() {
    let user = r#"{"role":"user","parts":[{"text":"Hi"}]}"#;
    let call =
        r#"{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}},"thoughtSignature":"c2ln"}]}"#;
    let response =
        r#"{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"a"}}}]}"#;
    accept(Dialect::Gemini, &[user, call, response]);
    for (rule, contents) in [
        ("content 0 is of `model`", vec![call, response]),
        ("responses of []", vec![user, call, user]),
        ("responses of [\"ls\"] for calls []", vec![response]),
        ("the last turn is the model's", vec![user, call]),
        ("an empty text", vec![user, r#"{"role":"model","parts":[{"text":""}]}"#, user]),
        (
            "a turn of thoughts only",
            vec![user, r#"{"role":"model","parts":[{"text":"Hm","thought":true}]}"#, user],
        ),
        (
            "is not signed",
            vec![user, r#"{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}}]}"#, response],
        ),
    ] {
        refuse(Dialect::Gemini, rule, &contents);
    }
}

#[test]
fn bedrock_refuses() {
    let user = r#"{"role":"user","content":[{"text":"Hi"}]}"#;
    let call = r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"ls","input":{}}}]}"#;
    let result = r#"{"role":"user","content":[{"toolResult":{"toolUseId":"t1","content":[{"text":"a"}],"status":"success"}}]}"#;
    accept(Dialect::BedrockConverse, &[user, call, result]);
    for (rule, messages) in [
        ("message 0 is of `assistant`", vec![call, result]),
        ("results of []", vec![user, call, user]),
        ("the id `t1` twice", vec![user, call, result, call, result]),
        ("the last message is the model's", vec![user, call]),
        ("a blank text", vec![r#"{"role":"user","content":[{"text":" \n"}]}"#]),
        ("no filled list", vec![r#"{"role":"user","content":[]}"#]),
        (
            "no text `signature`",
            vec![
                user,
                r#"{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"Hm"}}},{"text":"Hi"}]}"#,
                user,
            ],
        ),
        (
            "the last block is thinking",
            vec![
                user,
                r#"{"role":"assistant","content":[{"reasoningContent":{"redactedContent":"c2ln"}}]}"#,
                user,
            ],
        ),
        (
            "after a call",
            vec![
                user,
                r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"ls","input":{}}},{"text":"So"}]}"#,
                result,
            ],
        ),
        (
            "not a name",
            vec![
                user,
                r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"functions.ls:0","name":"ls","input":{}}}]}"#,
            ],
        ),
        (
            "no object `input`",
            vec![
                user,
                r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"ls","input":"a"}}]}"#,
            ],
        ),
    ] {
        refuse(Dialect::BedrockConverse, rule, &messages);
    }
}

#[test]
fn cohere_refuses() {
    let user = r#"{"role":"user","content":[{"type":"text","text":"Hi"}]}"#;
    let call = r#"{"role":"assistant","tool_plan":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}"#;
    let result = r#"{"role":"tool","tool_call_id":"c1","content":"a"}"#;
    accept(Dialect::Cohere, &[user, call, result]);
    for (rule, messages) in [
        ("an assistant's message after", vec![call, result]),
        ("calls without a result", vec![user, call, user]),
        ("which is not an open call", vec![user, call, result, result]),
        ("with nothing in it", vec![user, r#"{"role":"assistant"}"#, user]),
        (
            "a text next to calls",
            vec![
                user,
                r#"{"role":"assistant","content":[{"type":"text","text":"So"}],"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}"#,
                result,
            ],
        ),
        (
            "a plan without calls",
            vec![
                user,
                r#"{"role":"assistant","tool_plan":"So","content":[{"type":"text","text":"So"}]}"#,
                user,
            ],
        ),
        (
            "nothing but thinking",
            vec![user, r#"{"role":"assistant","content":[{"type":"thinking","thinking":"Hm"}]}"#, user],
        ),
    ] {
        refuse(Dialect::Cohere, rule, &messages);
    }
}

fn accept(dialect: Dialect, messages: &[&str]) {
    assert_eq!(check(dialect, messages), Ok(()));
}

fn refuse(dialect: Dialect, rule: &str, messages: &[&str]) {
    let verdict = check(dialect, messages);
    assert!(verdict.as_ref().is_err_and(|why| why.contains(rule)), "{rule}: {verdict:?}");
}

fn check(dialect: Dialect, messages: &[&str]) -> Result<(), String> {
    validate(dialect, &messages.iter().map(|message| parsed(message)).collect::<Vec<Value>>())
}
