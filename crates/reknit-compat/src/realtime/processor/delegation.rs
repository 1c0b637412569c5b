//! Tools with which an agent starts another one: what it asked, and what came back.

use reknit::json::Value;

use crate::realtime::Profile;
use crate::realtime::happening::Subsession;

/// The server's prefix of a result that the user has already seen.
const PREAMBLE: &str = "**IMPORTANT**: The following response is also displayed in the UI for the user, \
                        you do not need to relay it.";

/// The kind of agent that a tool starts, if it starts one.
pub(super) fn agent_type(tool: &str) -> Option<&'static str> {
    let types = [("act_", "clone"), ("ateam_", "team"), ("aa_", "assist")];
    types.into_iter().find_map(|(start, kind)| tool.starts_with(start).then_some(kind))
}

/// The agent that a call starts.
pub(super) fn subsession(tool: &str, agent: &str, input: &Value) -> Subsession {
    let kind = if tool.contains("oneshot") { "oneshot" } else { "chat" };
    let key = string(input, "agent_key").unwrap_or_else(|| "clone".to_owned());
    Subsession {
        session_id: None,
        sub_session_type: Some(kind.to_owned()),
        sub_agent_type: Some(agent.to_owned()),
        prime_agent_key: Some("current_agent".to_owned()),
        sub_agent_key: Some(key),
    }
}

/// What the other agent was asked.
pub(super) fn request(input: &Value) -> String {
    let request = string(input, "request").or_else(|| string(input, "message")).unwrap_or_default();
    match string(input, "process_context") {
        Some(context) => format!("{request}\n# Process Context\n\n{context}"),
        None => request,
    }
}

/// What the other agent said: the `agent_message` of a JSON result, or the `text` of an older one in YAML.
pub(super) fn answer(result: &str, profile: Profile) -> String {
    let mut content = result;
    let stripped = content.replacen(PREAMBLE, "", 1);
    if stripped.len() < content.len() {
        content = stripped.trim();
        content = content.strip_prefix("---").map_or(content, str::trim);
    }
    let message = content.parse::<Value>().ok().and_then(|value| string(&value, "agent_message"));
    message.or_else(|| yaml_text(content, profile)).unwrap_or_else(|| content.to_owned())
}

fn string(value: &Value, key: &str) -> Option<String> {
    Some(value.get(key)?.as_str()?.into_owned()).filter(|text| !text.is_empty())
}

/// The value of the key `text` at the beginning of a line.
fn yaml_text(content: &str, profile: Profile) -> Option<String> {
    let mut rest = content;
    let value = loop {
        if let Some(value) = rest.strip_prefix("text:") {
            break value;
        }
        rest = rest.split_once('\n')?.1;
    };
    let (first, below) = value.split_once('\n').unwrap_or((value, ""));
    let first = first.trim();
    let text = match (first.chars().next(), profile) {
        (Some('|' | '>'), _) => block(below, profile),
        (Some('\''), Profile::Documented) => quoted(value.trim_start(), '\'').replace("''", "'"),
        (Some('"'), Profile::Documented) => unescaped(&quoted(value.trim_start(), '"')),
        // Agent C's client removes a quote at each end, and only reads one line.
        (_, Profile::AgentC) => {
            let unquoted = first.strip_prefix(['\'', '"']).unwrap_or(first);
            unquoted.strip_suffix(['\'', '"']).unwrap_or(unquoted).to_owned()
        }
        (_, Profile::Documented) => first.to_owned(),
    };
    Some(text).filter(|text| !text.is_empty())
}

/// The lines of a block scalar: those that are indented.
fn block(below: &str, profile: Profile) -> String {
    let is_inside = |line: &&str| line.is_empty() || line.starts_with([' ', '\t']);
    let lines = below.lines().take_while(is_inside);
    let indent = lines.clone().find(|line| !line.trim().is_empty());
    let indent = indent.map_or(0, |line| line.len() - line.trim_start().len());
    let lines: Vec<_> = match profile {
        Profile::Documented => lines.map(|line| line.get(indent..).unwrap_or_default()).collect(),
        // Agent C's client drops empty lines and keeps the indentation.
        Profile::AgentC => lines.filter(|line| !line.is_empty()).collect(),
    };
    lines.join("\n").trim().to_owned()
}

/// The body of a quoted scalar, up to its closing quote or, without one, to the end.
fn quoted(value: &str, quote: char) -> String {
    let body = &value[quote.len_utf8()..];
    let mut end = None;
    let mut characters = body.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        if quote == '"' && character == '\\' || character == quote && quote == '\'' && next == Some(quote) {
            characters.next();
        } else if character == quote {
            end = Some(at);
            break;
        }
    }
    body[..end.unwrap_or(body.len())].to_owned()
}

/// The text of a double-quoted scalar, whose escapes are nearly those of JSON.
fn unescaped(body: &str) -> String {
    let line = body.replace('\n', "\\n");
    let text = format!("\"{line}\"").parse::<Value>().ok();
    text.as_ref().and_then(Value::as_str).map_or_else(|| body.to_owned(), std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(result: &str, documented: &str, agent_c: &str) {
        assert_eq!(answer(result, Profile::Documented), documented, "{result}");
        assert_eq!(answer(result, Profile::AgentC), agent_c, "{result}");
    }

    #[test]
    fn an_answer_is_found_in_every_form() {
        check(r#"{"agent_message": "Done.", "other": 1}"#, "Done.", "Done.");
        check("text: Done.\nagent: x", "Done.", "Done.");
        check("text: 'It''s done.'", "It's done.", "It''s done.");
        check("text: \"a\\tb\"", "a\tb", "a\\tb");
        check("agent: x\ntext: 'Done.'\n", "Done.", "Done.");
        check("no key at all", "no key at all", "no key at all");
        check("text: ", "text: ", "text: ");
        check("text: 'open", "open", "open");
    }

    #[test]
    fn a_block_keeps_its_lines() {
        let result = "text: |\n  # Head\n\n  - item\n    more\nagent: x";
        check(result, "# Head\n\n- item\n  more", "# Head\n  - item\n    more");
    }

    #[test]
    fn what_the_server_puts_before_an_answer_is_left_out() {
        check(&format!("{PREAMBLE}\n---\ntext: Done."), "Done.", "Done.");
        check(&format!("{PREAMBLE}\nDone."), "Done.", "Done.");
    }

    #[test]
    fn a_quoted_answer_may_have_several_lines() {
        check("text: 'one\n  two'", "one\n  two", "one");
    }
}
