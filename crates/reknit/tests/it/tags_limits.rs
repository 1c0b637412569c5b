//! Calls in text that reach a limit.

use reknit::Limits;
use reknit::tags::{Grammar, Parser, profile};

use crate::cuts::same_for_every_cut;
use crate::tags::{feed, same_with_limits, summary};

#[test]
fn a_parameter_past_its_limit_makes_its_call_malformed() {
    let mut limits = Limits::default();
    limits.param_bytes = 10;
    let input = "A <read_file><path>éééééé</path></read_file> B <read_file><path>0123456789</path></read_file>\
        <write_to_file><content>01</content>6789</content></write_to_file>\
        <execute_command><command>0123456789x</command><cwd>/</cwd>";
    let outcome = same_with_limits(profile("cline").unwrap(), limits, input);
    let expected = "text \"A\" closed\n\
        call read_file {\"path\":\"ééééé\"} malformed \"<read_file><path>éééééé</path></read_file>\"\n\
        text \"B\" closed\n\
        call read_file {\"path\":\"0123456789\"} closed\n\
        call write_to_file {\"content\":\"01</conten\"} malformed \
        \"<write_to_file><content>01</content>6789</content></write_to_file>\"\n\
        call execute_command {\"command\":\"0123456789\"} malformed \
        \"<execute_command><command>0123456789x</command><cwd>/</cwd>\"\n\
        limit-reached at 29\nlimit-reached at 133\nlimit-reached at 201\n";
    assert_eq!(outcome, expected);
}

#[test]
fn arguments_past_their_limit_make_their_call_malformed() {
    let mut limits = Limits::default();
    limits.param_bytes = 12;
    for (name, input) in [
        ("hermes", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"0123456789\"}}</tool_call>"),
        ("mistral", "[TOOL_CALLS]f[ARGS]{\"a\":\"0123456789\"}[/TOOL_CALLS]"),
        ("pythonic", "[f(a=\"0123456789\")]"),
        ("gemma4", "<|tool_call>call:f{a:<|\"|>0123456789<|\"|>}<tool_call|>"),
    ] {
        let two = format!("{input}\n{input}");
        let outcome = same_with_limits(profile(name).unwrap(), limits, &two);
        // The last bracket belongs to the list and not to the call.
        let input = if name == "pythonic" { &input[..input.len() - 1] } else { input };
        let malformed = outcome.lines().filter(|line| line.starts_with("call f {"));
        assert_eq!(malformed.clone().count(), 2, "{outcome}");
        assert!(
            malformed.into_iter().all(|line| line.ends_with(&format!("malformed {input:?}"))),
            "{outcome}"
        );
    }
}

#[test]
fn arguments_that_are_too_deep_make_their_call_malformed() {
    let mut limits = Limits::default();
    limits.json_depth = 4;
    for (name, open, close, after) in [
        ("hermes", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":", "}}</tool_call>", ""),
        ("mistral", "[TOOL_CALLS]f[ARGS]{\"a\":", "}[/TOOL_CALLS]", ""),
        // The last bracket belongs to the list and not to the call.
        ("pythonic", "[f(a=", ")]", "]"),
        ("gemma4", "<|tool_call>call:f{a:", "}<tool_call|>", ""),
    ] {
        let call = |value: &str| format!("{open}{value}{close}");
        let outcome = same_with_limits(profile(name).unwrap(), limits, &call("[[1]]"));
        assert_eq!(outcome, "call f {\"a\":[[1]]} closed\n", "{name}");
        let input = call("[[[1]]]");
        let outcome = same_with_limits(profile(name).unwrap(), limits, &input);
        let raw = input.strip_suffix(after).unwrap_or(&input);
        assert!(outcome.contains(&format!("malformed {raw:?}\n")), "{name}: {outcome}");
    }
}

#[test]
fn a_text_past_its_limit_is_refused_from_that_byte_on() {
    let mut limits = Limits::default();
    limits.text_bytes = 20;
    for (input, expected) in [
        ("<read_file><path>012345", "call read_file {\"path\":\"012\"} cut \"<read_file><path>012\"\n"),
        ("One two three four é five", "text \"One two three four\" open\n"),
        ("One two three four <read_file>", "text \"One two three four <\" open\n"),
    ] {
        let outcome = same_with_limits(profile("cline").unwrap(), limits, input);
        let at = if input.contains('é') { 19 } else { 20 };
        assert_eq!(outcome, format!("{expected}limit-reached at {at}\n"));
    }
    let invalid = same_for_every_cut(b"\xff 23456789012345678\xff\xff", |pieces| {
        let parser = Parser::new(profile("cline").unwrap(), None).unwrap().with_limits(&limits);
        summary(&feed(profile("cline").unwrap(), parser, pieces).0)
    });
    assert_eq!(
        invalid, "text \"\u{fffd} 2345678901234567\" open\nlimit-reached at 18\ninvalid-utf8 at 0\n",
        "what is after the limit is not reported"
    );
}

#[test]
fn calls_in_calls_have_a_depth_limit() {
    let grammar = Grammar::from_toml(
        r#"
            name = "nested"
            [calls]
            kind = "markup"
            call = "<{name}>"
            call_close = "</{name}>"
            parameter = "<{name}>"
            parameter_close = "</{name}>"
            tools = ["all", "one"]
            parameters = ["x"]
            nesting = 2
        "#,
    )
    .unwrap();
    let same = |limits, input: &str| same_with_limits(&grammar, limits, input);
    let none = Limits::default();
    assert_eq!(
        same(none, "a <all><x>1</x> <one><x>2</x></one><all><one><x>3</x></one></all><x>4</x></all> b"),
        "text \"a\" closed\ncall all {\"x\":\"4\"} closed\ncall one {\"x\":\"2\"} closed in 1\n\
         call all {} closed in 1\ncall one {\"x\":\"3\"} closed in 3\ntext \"b\" open\n\
         repeated-parameter at 66\n"
    );
    // A call that is nested too deep is stray text, and its closing tag closes the call around it.
    assert_eq!(
        same(none, "<all><all><all><all><x>1</x></all></all></all></all>"),
        "call all {} closed\ncall all {} closed in 0\ncall all {\"x\":\"1\"} closed in 1\n\
         text \"</all>\" open\nstray-text at 15\n"
    );
    assert_eq!(
        same(none, "<all><one><x>1"),
        "call all {} cut \"<all><one><x>1\"\ncall one {\"x\":\"1\"} cut \"<one><x>1\" in 0\n"
    );
    let mut small = Limits::default();
    small.param_bytes = 2;
    assert_eq!(
        same(small, "<all><one><x>123</x></one><x>4</x></all> b"),
        "call all {\"x\":\"4\"} closed\ncall one {\"x\":\"12\"} malformed \"<one><x>123</x></one>\" in 0\n\
         text \"b\" open\nlimit-reached at 15\n"
    );
    assert_eq!(
        same(small, "<all><one><x>123</x>"),
        "call all {} cut \"<all><one><x>123</x>\"\n\
         call one {\"x\":\"12\"} malformed \"<one><x>123</x>\" in 0\nlimit-reached at 15\n"
    );
}
