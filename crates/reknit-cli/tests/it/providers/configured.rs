//! Which model is used: the configuration, the environment, `reknit models` and `reknit doctor`.

use expect_test::expect;

use super::*;

/// A server that says hello, in a dialect.
fn hello(dialect: Dialect) -> Server {
    Server::start(dialect, [Answer::reply(dialect, &Say::text("Hello to you."))])
}

#[test]
fn the_usual_variables_are_enough() {
    for (dialect, key, url, model) in [
        (Dialect::Anthropic, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "anthropic/strict-1"),
        (Dialect::OpenAiChat, "OPENAI_API_KEY", "OPENAI_BASE_URL", "openai/strict-1"),
        (Dialect::Gemini, "GEMINI_API_KEY", "GEMINI_BASE_URL", "gemini/strict-1"),
        (Dialect::Ollama, "OLLAMA_API_KEY", "OLLAMA_HOST", "ollama/strict-1"),
    ] {
        let server = hello(dialect);
        let mut home = Home::new();
        home.variables = vec![(key, KEY.to_owned()), (url, server.base_url())];
        let run = home.run(&["run", "Hello.", "--model", model], "");
        assert_eq!(run.code, Some(0), "{dialect}: {run:?} {:?}", server.refusals());
        assert_eq!(run.stdout, "Hello to you.\n", "{dialect}");
    }
}

#[test]
fn a_proxy_is_used() {
    let server = hello(Dialect::Anthropic);
    let mut home = Home::new();
    home.variables = vec![
        ("ANTHROPIC_API_KEY", KEY.to_owned()),
        ("ANTHROPIC_BASE_URL", "http://models.invalid".to_owned()),
        ("HTTP_PROXY", server.base_url()),
    ];
    let run = home.run(&["run", "Hello.", "--model", "anthropic/strict-1"], "");
    assert_eq!(run.code, Some(0), "{run:?} {:?}", server.refusals());
    assert_eq!(server.requests()[0].line, "POST http://models.invalid/v1/messages HTTP/1.1");
}

#[test]
fn the_configuration_says_how_long_to_wait() {
    let say = Say::text("This is said piece by piece, and then nothing more is said.");
    let server = Server::start(Dialect::Gemini, [Answer::faulty(Dialect::Gemini, &say, Fault::Stall)]);
    let home = Home::with_model(&server, Dialect::Gemini, "timeouts = { silence = 0.2 }");
    let run = home.run(&["run", "Hello."], "");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stdout.starts_with("This is said"), "{}", run.stdout);
    assert!(run.stdout.contains("error: nothing more of the reply came within 200 ms\n"), "{}", run.stdout);
    let hint = "hint: try again; for a slow model raise `timeouts` in the configuration";
    assert!(run.stderr.contains(hint), "{}", run.stderr);
}

#[test]
fn options_about_a_model_need_a_task() {
    for option in ["--model", "--root", "--record", "--replay"] {
        let run = Home::new().run(&["run", option, "x"], "");
        assert_eq!(run.code, Some(2), "{option}: {run:?}");
        assert!(
            run.stderr.starts_with("error: there is no task\nhint: say what to do"),
            "{option}: {}",
            run.stderr
        );
    }
}

#[test]
fn models_are_listed_with_what_is_missing() {
    let mut home = Home::new();
    let none = home.run(&["models"], "");
    assert_eq!((none.code, none.stdout.as_str()), (Some(1), ""));
    assert!(
        none.stderr.starts_with("there is no model that can be used\nhint: set ANTHROPIC_API_KEY"),
        "{}",
        none.stderr
    );

    home.configure(
        "default = \"local\"\n\n[models.local]\ndialect = \"openai-chat\"\nmodel = \"qwen\"\n\
         base_url = \"http://me:password@127.0.0.1:8080/v1\"\ntags = \"roo\"\n\n\
         [models.team]\ndialect = \"anthropic\"\nmodel = \"claude\"\nkey_env = \"TEAM_KEY\"\ncontext_window = 200000\n",
    );
    home.variables = vec![("GEMINI_API_KEY", KEY.to_owned())];
    let list = home.run(&["models"], "");
    assert_eq!((list.code, list.stderr.as_str()), (Some(0), ""));
    expect![[r#"
        * local                    openai-chat  http://127.0.0.1:8080/v1  needs no key
          team                     anthropic    https://api.anthropic.com  TEAM_KEY is missing
          gemini/gemini-3.8-flash  gemini       https://generativelanguage.googleapis.com  GEMINI_API_KEY is set
    "#]]
    .assert_eq(&list.stdout);
    let json = home.run(&["models", "--json"], "").stdout;
    assert!(!json.contains(KEY) && !json.contains("password"), "{json}");
    let json: Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(json["models"][0]["tags"], "roo");
    assert_eq!(json["models"][1]["key"], serde_json::json!({"variable": "TEAM_KEY", "set": false}));
    assert_eq!(json["models"][1]["context_window"], 200_000);

    let run = home.run(&["run", "--model", "team", "Hello."], "");
    assert_eq!(run.code, Some(2));
    assert!(
        run.stderr.starts_with("error: the key of the model `team` is missing: `TEAM_KEY` is not set\n"),
        "{}",
        run.stderr
    );

    home.configure("[models.a]\ndialect = \"anthropic\"\nmodle = \"m\"\n");
    let wrong = home.run(&["models"], "");
    assert_eq!(wrong.code, Some(2));
    let expected = "config/reknit/config.toml`: line 3: unknown field `modle`, expected one of";
    assert!(wrong.stderr.contains(expected), "{}", wrong.stderr);
}

#[test]
fn the_doctor_says_what_to_do() {
    let server = hello(Dialect::Anthropic);
    let home = Home::with_model(&server, Dialect::Anthropic, "");
    let good = home.run(&["doctor"], "");
    assert_eq!((good.code, good.stderr.as_str()), (Some(0), ""), "{}", good.stdout);
    for line in [
        "ok    configuration ",
        "ok    model strict ",
        "ok    address of strict ",
        "ok    journal ",
        "ok    sessions ",
    ] {
        assert!(good.stdout.lines().any(|shown| shown.starts_with(line)), "{line}: {}", good.stdout);
    }
    assert!(good.stdout.contains(" answers (HTTP 404)"), "{}", good.stdout);
    assert!(!good.stdout.contains(KEY), "{}", good.stdout);
    assert_eq!(server.requests().len(), 0, "the model is not asked");

    // A port that was free a moment ago.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let address = listener.local_addr().expect("it is bound");
    drop(listener);
    let mut home = Home::new();
    home.variables = vec![("OLLAMA_HOST", address.to_string())];
    home.configure("[models.team]\ndialect = \"ollama\"\nmodel = \"m\"\nkey_env = \"TEAM_KEY\"\n");
    let bad = home.run(&["doctor", "--json"], "");
    assert_eq!(bad.code, Some(1));
    let report: Value = serde_json::from_str(&bad.stdout).expect("it is JSON");
    let check = |what: &str| {
        let checks = report["checks"].as_array().expect("it is a list").iter();
        checks
            .clone()
            .find(|check| check["what"] == what)
            .cloned()
            .unwrap_or_else(|| panic!("{what}: {report}"))
    };
    assert_eq!(check("model team")["hint"], "export TEAM_KEY with the key of your provider");
    assert_eq!(check("address of team")["state"], "bad");
    assert_eq!(check("address of team")["hint"], "start it with `ollama serve`, or set OLLAMA_HOST");
}
