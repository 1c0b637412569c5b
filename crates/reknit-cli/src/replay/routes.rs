//! The paths that are answered, and the dialect of each.

/// A path of a provider's API, in which `*` matches one name.
struct Route {
    path: &'static str,
    dialect: &'static str,
}

const ROUTES: [Route; 9] = [
    Route { path: "/v1/messages", dialect: "anthropic" },
    Route { path: "/v1/chat/completions", dialect: "openai-chat" },
    Route { path: "/v1/responses", dialect: "openai-responses" },
    Route { path: "/v1beta/models/*:streamGenerateContent", dialect: "gemini" },
    Route { path: "/v1beta/interactions", dialect: "gemini-interactions" },
    Route { path: "/model/*/converse-stream", dialect: "bedrock-converse" },
    Route { path: "/v2/chat", dialect: "cohere" },
    Route { path: "/api/chat", dialect: "ollama" },
    Route { path: "/api/generate", dialect: "ollama" },
];

/// All paths that are answered.
pub(super) fn paths() -> impl Iterator<Item = &'static str> {
    ROUTES.iter().map(|route| route.path)
}

/// The path for a recording of this dialect.
pub(super) fn path_of(dialect: &str) -> Option<&'static str> {
    ROUTES.iter().find(|route| route.dialect == dialect).map(|route| route.path)
}

/// The dialect that a request to this target expects, or `None` if it is not a path of a provider.
pub(super) fn dialect_of(target: &str) -> Option<&'static str> {
    let path = target.split('?').next().unwrap_or_default();
    ROUTES.iter().find(|route| matches(route.path, path)).map(|route| route.dialect)
}

/// Whether the path matches, with or without `/v1`: some SDKs expect it in the base URL, others add it.
fn matches(pattern: &str, path: &str) -> bool {
    let short = pattern.strip_prefix("/v1").filter(|short| short.starts_with('/'));
    [Some(pattern), short].into_iter().flatten().any(|pattern| match pattern.split_once('*') {
        None => path == pattern,
        Some((start, end)) => {
            let name = path.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
            name.is_some_and(|name| !name.is_empty() && !name.contains('/'))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_determines_the_dialect() {
        let check =
            |target: &str, expected: Option<&str>| assert_eq!(dialect_of(target), expected, "{target}");
        check("/v1/messages", Some("anthropic"));
        check("/v1/messages?beta=true", Some("anthropic"));
        check("/v1/chat/completions", Some("openai-chat"));
        check("/chat/completions", Some("openai-chat"));
        check("/responses", Some("openai-responses"));
        check("/v1beta/models/gemini-9:streamGenerateContent?alt=sse", Some("gemini"));
        check("/v1beta/models/a/b:streamGenerateContent", None);
        check("/v1beta/models/:streamGenerateContent", None);
        check("/beta/models/x:streamGenerateContent", None);
        check("/v1beta/interactions", Some("gemini-interactions"));
        check("/model/amazon.nova-9%3A0/converse-stream", Some("bedrock-converse"));
        check("/model//converse-stream", None);
        check("/model/m/converse", None);
        check("/v2/chat", Some("cohere"));
        check("/chat", None);
        check("/api/chat", Some("ollama"));
        check("/api/generate", Some("ollama"));
        check("/v1/messages/", None);
        check("/", None);
    }
}
