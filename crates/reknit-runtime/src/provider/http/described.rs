//! Tools in words, for models that write their calls into their text and have no template that says how.

use std::fmt::Write as _;

use reknit::tags::Grammar;

use crate::tool::Definition;

/// The profiles whose calls look like what is described here: a tag for the tool, and in it one for each parameter.
const DESCRIBED: [&str; 4] = ["roo", "roo-v1", "cline", "cline-v2"];

/// Whether the tools have to be described for this profile. Models of the others were trained with descriptions of
/// their own, which their server's template writes.
pub(super) fn is_for(grammar: &Grammar) -> bool {
    DESCRIBED.contains(&&*grammar.name)
}

/// A system prompt with the tools after it.
pub(super) fn with_tools(system: &str, tools: &[Definition]) -> String {
    let mut text = system.to_owned();
    if tools.is_empty() {
        return text;
    }
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text += "# Tools\n\n\
        Call a tool by writing a tag with its name, and in it a tag for each parameter:\n\n\
        <tool_name>\n<first_parameter>value</first_parameter>\n</tool_name>\n\n\
        Write values as they are, without escapes. The result comes in the next message. These are the tools:\n";
    for tool in tools {
        let _ = write!(text, "\n## {}\n\n{}\n", tool.name, tool.about);
        for param in &tool.params {
            let needed = if param.required { "required" } else { "optional" };
            let _ = writeln!(text, "- `{}` ({needed}): {}", param.name, param.about);
        }
    }
    text
}
