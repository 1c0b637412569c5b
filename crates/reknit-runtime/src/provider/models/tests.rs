use super::*;

const CONFIG: &str = r#"
default = "sonnet"

[models.sonnet]
dialect = "anthropic"
model = "claude-sonnet-5-5"
context_window = 200_000
price = { input = 3.0, output = 15.0, cache_read = 0.3, cache_write = 3.75 }
body = { thinking = { type = "enabled", budget_tokens = 4096 } }

[models.local]
dialect = "openai-chat"
model = "qwen3-coder"
base_url = "http://127.0.0.1:8080/v1"
headers = { "x-team" = "search", "x-gateway-key" = { env = "GATEWAY_KEY" } }
tags = "roo"
timeouts = { connect = 0.5, silence = 300 }

[models.gateway]
dialect = "openai-responses"
model = "gpt-5.4"
key_env = "MY_KEY"
"#;

fn set<'a>(variables: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
    |name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
}

fn found(file: Option<&str>, name: Option<&str>, variables: &[(&str, &str)]) -> Result<Model, Error> {
    Models::read(file)?.find(name, &set(variables))
}

#[test]
fn a_named_model_has_what_the_file_says() {
    let model = found(Some(CONFIG), None, &[("ANTHROPIC_API_KEY", "k")]).unwrap();
    assert_eq!(
        (&*model.name, model.dialect, &*model.id),
        ("sonnet", Dialect::Anthropic, "claude-sonnet-5-5")
    );
    assert_eq!((model.context_window, model.price.map(|price| price.output)), (Some(200_000), Some(15.0)));
    assert_eq!(model.body.get("thinking").unwrap().get("budget_tokens").unwrap().as_u64(), Some(4096));
    assert!(matches!(&model.key, Key::Found { variable, .. } if variable == "ANTHROPIC_API_KEY"));

    let local = found(Some(CONFIG), Some("local"), &[("GATEWAY_KEY", "g"), ("OPENAI_API_KEY", "k")]).unwrap();
    assert_eq!(local.key, Key::NotNeeded, "another server must not get the key of OpenAI");
    assert_eq!(local.headers[0].1.reveal(), "g");
    assert_eq!(local.tags.map(|grammar| &*grammar.name), Some("roo"));
    assert_eq!(local.waits.connect, Some(Duration::from_millis(500)));
    assert_eq!(local.waits.silence, Some(Duration::from_secs(300)));

    let gateway = found(Some(CONFIG), Some("gateway"), &[("OPENAI_API_KEY", "k")]).unwrap();
    assert_eq!(gateway.key, Key::Missing { variable: "MY_KEY".to_owned() });
    assert_eq!(Models::read(Some(CONFIG)).unwrap().secret_variables(), ["MY_KEY", "GATEWAY_KEY"]);
}

#[test]
fn the_environment_names_a_provider() {
    let check = |variables: &[(&str, &str)], name: &str, dialect, url: &str| {
        let model = found(None, None, variables).unwrap();
        assert_eq!((&*model.name, model.dialect, &*model.base_url), (name, dialect, url));
    };
    let anthropic = [("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k")];
    check(&anthropic, "anthropic/claude-sonnet-5-5", Dialect::Anthropic, "https://api.anthropic.com");
    let openai = [("OPENAI_API_KEY", "k")];
    check(&openai, "openai/gpt-5.4", Dialect::OpenAiResponses, "https://api.openai.com/v1");
    let imitation = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", "http://h/v1")];
    check(&imitation, "openai/gpt-5.4", Dialect::OpenAiChat, "http://h/v1");
    let gemini = [("GOOGLE_API_KEY", "k")];
    check(&gemini, "gemini/gemini-3.8-flash", Dialect::Gemini, "https://generativelanguage.googleapis.com");
    let ollama = found(None, Some("ollama/qwen3:8b"), &[("OLLAMA_HOST", "box:9")]).unwrap();
    assert_eq!((&*ollama.id, &*ollama.base_url, ollama.key), ("qwen3:8b", "http://box:9", Key::NotNeeded));
}

#[test]
fn a_session_finds_its_model_again() {
    let models = Models::read(Some(CONFIG)).unwrap();
    let like = |dialect: &str, id: &str| {
        models.like(dialect, id, &set(&[("GATEWAY_KEY", "g")])).map(|model| model.unwrap().name)
    };
    assert_eq!(like("openai-chat", "qwen3-coder").as_deref(), Some("local"));
    assert_eq!(like("anthropic", "claude-opus-5-5").as_deref(), Some("anthropic/claude-opus-5-5"));
    assert_eq!(like("cohere", "command"), None);
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let check = |file: &str, expected: &str| {
        let error = found(Some(file), None, &[("ANTHROPIC_API_KEY", "k")]).unwrap_err();
        assert_eq!(error.to_string(), expected, "{file}");
        assert!(!error.hint().is_empty());
    };
    check("default = \"x\"", "`default`: there is no model `x`");
    check("modles = {}", "line 1: unknown field `modles`, expected `default` or `models`");
    check("[models.a]\nmodel = \"m\"\n", "line 1: missing field `dialect`");
    let a = |rest: &str| format!("[models.a]\nmodel = \"m\"\n{rest}");
    check(
        &a("dialect = \"cohere\""),
        "model `a`: `dialect`: there is no dialect `cohere` for requests; use `anthropic`, `openai-chat`, `openai-responses`, `gemini` or `ollama`",
    );
    check(
        &a("dialect = \"gemini\"\ntimeouts = { silence = 0 }"),
        "model `a`: `timeouts.silence`: not a number of seconds above zero",
    );
    check(
        &a("dialect = \"gemini\"\nheaders = { a = { env = \"NOT_SET\" } }"),
        "the key of the model `a` is missing: `NOT_SET` is not set",
    );
    let tags = found(Some(&a("dialect = \"gemini\"\ntags = \"ro\"")), None, &[]).unwrap_err().to_string();
    assert!(tags.starts_with("model `a`: `tags`: there is no profile `ro`; use one of: "), "{tags}");
    assert_eq!(found(None, None, &[]).unwrap_err(), Error::NoModel);
    let unknown = found(None, Some("gpt"), &[]).unwrap_err();
    assert_eq!(unknown.to_string(), "there is no model `gpt`");
    assert!(unknown.hint().contains("anthropic/MODEL"), "{}", unknown.hint());
}

#[test]
fn a_key_is_not_shown() {
    let model = found(Some(CONFIG), None, &[("ANTHROPIC_API_KEY", "sk-very-secret")]).unwrap();
    assert!(!format!("{model:?}").contains("sk-very-secret"));
}
