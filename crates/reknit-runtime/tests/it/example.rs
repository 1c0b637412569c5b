//! The example does what it says.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use expect_test::expect;

#[test]
fn own_tool() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = fs::read_to_string(folder.join("examples/own_tool/main.rs")).unwrap();
    assert!(source.lines().count() <= 42, "it has more than a screen");
    // The example is built with the tests, into the folder beside theirs.
    let tests = env::current_exe().unwrap();
    let program = tests.ancestors().nth(2).unwrap().join("examples/own_tool");
    assert!(program.exists(), "`{}` is not built: run `cargo test` without `--test`", program.display());
    let output = Command::new(program).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    expect![[r#"
        {"type":"user-message","content":[{"type":"text","text":"Roll the die."}]}
        {"type":"request","dialect":"openai-chat","model":"recorded"}
        {"type":"text-delta","delta":"I roll the die."}
        {"type":"tool-input-start","toolCallId":"call_1","toolName":"roll"}
        {"type":"tool-input-delta","toolCallId":"call_1","delta":"{\"sides\": 6}"}
        {"type":"tool-call","toolCall":{"id":"call_1","name":"roll","arguments":{"sides":6}}}
        {"type":"tool-started","toolCallId":"call_1"}
        {"type":"tool-result","toolResult":{"toolCallId":"call_1","toolName":"roll","result":"[roll] Result:\n4"}}
        {"type":"request","dialect":"openai-chat","model":"recorded"}
        {"type":"text-delta","delta":"It is a four."}
        {"type":"end","reason":"done"}
    "#]]
    .assert_eq(&String::from_utf8(output.stdout).unwrap());
}
