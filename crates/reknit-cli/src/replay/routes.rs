//! The paths that are answered, and the dialect of each.

/// A path of a provider's API, in which `*` matches one name.
pub(super) struct Route {
    path: &'static str,
    pub(super) dialect: &'static str,
    streams: Streams,
}

/// When a path answers with a stream.
#[derive(Clone, Copy)]
enum Streams {
    Always,
    Never,
    /// If the body has `"stream": true`.
    IfAsked,
    /// Unless the body has `"stream": false`.
    UnlessRefused,
}

const ROUTES: [Route; 12] = [
    Route { path: "/v1/messages", dialect: "anthropic", streams: Streams::IfAsked },
    Route { path: "/v1/chat/completions", dialect: "openai-chat", streams: Streams::IfAsked },
    Route { path: "/v1/responses", dialect: "openai-responses", streams: Streams::IfAsked },
    Route { path: "/v1beta/models/*:streamGenerateContent", dialect: "gemini", streams: Streams::Always },
    Route { path: "/v1beta/models/*:generateContent", dialect: "gemini", streams: Streams::Never },
    Route { path: "/v1/models/*:streamGenerateContent", dialect: "gemini", streams: Streams::Always },
    Route { path: "/v1/models/*:generateContent", dialect: "gemini", streams: Streams::Never },
    Route { path: "/v1beta/interactions", dialect: "gemini-interactions", streams: Streams::IfAsked },
    Route { path: "/model/*/converse-stream", dialect: "bedrock-converse", streams: Streams::Always },
    Route { path: "/v2/chat", dialect: "cohere", streams: Streams::IfAsked },
    Route { path: "/api/chat", dialect: "ollama", streams: Streams::UnlessRefused },
    Route { path: "/api/generate", dialect: "ollama", streams: Streams::UnlessRefused },
];

impl Route {
    /// Whether a request whose body says this about `stream` is answered with one.
    pub(super) fn streams(&self, asked: Option<bool>) -> bool {
        match self.streams {
            Streams::Always => true,
            Streams::Never => false,
            Streams::IfAsked => asked == Some(true),
            Streams::UnlessRefused => asked != Some(false),
        }
    }
}

/// All paths that are answered.
pub(super) fn paths() -> impl Iterator<Item = &'static str> {
    ROUTES.iter().map(|route| route.path)
}

/// The path for a recording of this dialect.
pub(super) fn path_of(dialect: &str) -> Option<&'static str> {
    ROUTES.iter().find(|route| route.dialect == dialect).map(|route| route.path)
}

/// The route of a request to this target, or `None` if it is not a path of a provider.
pub(super) fn of(target: &str) -> Option<&'static Route> {
    let path = target.split('?').next().unwrap_or_default();
    ROUTES.iter().find(|route| matches(route.path, path))
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
        let check = |target: &str, expected: Option<&str>| {
            assert_eq!(of(target).map(|route| route.dialect), expected, "{target}");
        };
        check("/v1/messages", Some("anthropic"));
        check("/v1/messages?beta=true", Some("anthropic"));
        check("/v1/chat/completions", Some("openai-chat"));
        check("/chat/completions", Some("openai-chat"));
        check("/responses", Some("openai-responses"));
        check("/v1beta/models/gemini-9:streamGenerateContent?alt=sse", Some("gemini"));
        check("/v1/models/gemini-9:streamGenerateContent?alt=sse", Some("gemini"));
        check("/v1/models/gemini-9:generateContent", Some("gemini"));
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
