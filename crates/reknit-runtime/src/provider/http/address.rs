//! Where requests go, and how they show who sends them.

use reknit::Dialect;
use reqwest::Url;

use crate::provider::models::{Key, Model};

/// The version of Anthropic's API whose requests and replies this is written for, and the one that its imitators know.
/// A header of the model's configuration may name a later one.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// The address of a model's requests.
pub(super) fn of(model: &Model) -> Result<Url, String> {
    let base = model.base_url.trim().trim_end_matches('/');
    let url = match model.dialect {
        // Some write the version into the base, some do not.
        Dialect::Anthropic => format!("{}/v1/messages", base.trim_end_matches("/v1")),
        Dialect::OpenAiChat => format!("{base}/chat/completions"),
        Dialect::OpenAiResponses => format!("{base}/responses"),
        Dialect::Gemini => {
            let base = base.trim_end_matches("/v1beta");
            format!("{base}/v1beta/models/{}:streamGenerateContent?alt=sse", escaped(&model.id))
        }
        Dialect::Ollama => format!("{base}/api/chat"),
        other => return Err(format!("requests in `{other}` are not supported")),
    };
    // The address itself may contain a password, and is not repeated.
    let url = Url::parse(&url).map_err(|error| match error.to_string() {
        words if words.starts_with("relative URL") => {
            "it does not begin with `http://` or `https://`".to_owned()
        }
        words => words,
    })?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        scheme => Err(format!("it begins with `{scheme}:` and not with `http://` or `https://`")),
    }
}

/// A model's name as one part of a path.
fn escaped(name: &str) -> String {
    let mut escaped = String::new();
    for byte in name.trim_start_matches("models/").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => escaped.push(byte.into()),
            _ => escaped += &format!("%{byte:02X}"),
        }
    }
    escaped
}

/// An address without what may be secret in it.
pub(super) fn shown(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
    format!("{}://{host}{port}{}", url.scheme(), url.path())
}

/// The headers of the dialect, with the key.
pub(super) fn headers(model: &Model) -> Vec<(&'static str, String)> {
    let key = match &model.key {
        Key::Found { secret, .. } => Some(secret.reveal()),
        Key::NotNeeded | Key::Missing { .. } => None,
    };
    let mut headers = Vec::new();
    if model.dialect == Dialect::Anthropic {
        headers.push(("anthropic-version", ANTHROPIC_VERSION.to_owned()));
    }
    if let Some(key) = key {
        headers.push(match model.dialect {
            Dialect::Anthropic => ("x-api-key", key.to_owned()),
            Dialect::Gemini => ("x-goog-api-key", key.to_owned()),
            _ => ("authorization", format!("Bearer {key}")),
        });
    }
    headers
}

/// Whether the value of a header may be shown. All others may be secret: a gateway's key can have any name.
pub(super) fn is_public(name: &str) -> bool {
    matches!(name, "anthropic-version" | "anthropic-beta" | "content-type")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::models::Models;

    fn address(config: &str) -> String {
        let models = Models::read(Some(&format!("[models.m]\nmodel = \"a model\"\n{config}"))).unwrap();
        match of(&models.find(Some("m"), &|_| None).unwrap()) {
            Ok(url) => url.to_string(),
            Err(why) => why,
        }
    }

    #[test]
    fn each_dialect_has_its_path() {
        let check = |config: &str, expected: &str| assert_eq!(address(config), expected, "{config}");
        check("dialect = \"anthropic\"", "https://api.anthropic.com/v1/messages");
        check("dialect = \"anthropic\"\nbase_url = \"http://h:1/v1/\"", "http://h:1/v1/messages");
        check("dialect = \"openai-chat\"", "https://api.openai.com/v1/chat/completions");
        check("dialect = \"openai-responses\"\nbase_url = \"https://h/x\"", "https://h/x/responses");
        check(
            "dialect = \"gemini\"\nbase_url = \"https://h\"",
            "https://h/v1beta/models/a%20model:streamGenerateContent?alt=sse",
        );
        check("dialect = \"ollama\"", "http://127.0.0.1:11434/api/chat");
        check(
            "dialect = \"ollama\"\nbase_url = \"ftp://h\"",
            "it begins with `ftp:` and not with `http://` or `https://`",
        );
        check("dialect = \"ollama\"\nbase_url = \"h\"", "it does not begin with `http://` or `https://`");
    }

    #[test]
    fn what_is_shown_of_an_address_has_no_secrets() {
        let url = Url::parse("https://user:pass@h:1/v1/messages?key=abc").unwrap();
        assert_eq!(shown(&url), "https://h:1/v1/messages");
    }
}
