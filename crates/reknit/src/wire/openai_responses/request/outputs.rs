//! Items that are the results of calls.

use super::super::call_kind::{CallKind, SEARCH_OUTPUT};
use super::calls::TYPE;
use super::copy;
use crate::json::{Members, Misread, Object, Value};
use crate::wire::object::{data_url, object, of_kind, read_data_url};
use crate::wire::request::{Answer, Approval, Content, Conversation, Output, ProviderCallId, UserPart};

/// The item with the result of a call that the provider ran.
pub(super) fn provider_item(call: &ProviderCallId, result: &Value) -> Option<Value> {
    let output = CallKind::of(&call.fields.get(TYPE)?.as_str()?)?.output.as_ref()?;
    let mut item = Object::new();
    item.insert("call_id", &*call.id);
    if let Some(result) = result.as_object() {
        copy(output.members, result, &mut item);
    }
    Some(of_kind(output.item, &item))
}

/// The block that asks whether the provider may run a call of a server.
const APPROVAL: &str = "mcp_approval_request";

/// The answer to a block that asks for one.
pub(super) fn approval(kind: &str, block: &Object, approval: &Approval) -> Option<Answer> {
    let id = block.get("id")?.as_str()?.into_owned();
    let output = Output::Value(approval.reason.clone().unwrap_or_default().into());
    (kind == APPROVAL).then(|| Answer {
        id,
        name: String::new(),
        output,
        is_error: !approval.is_allowed,
        is_plain: false,
        kind: Some(APPROVAL.to_owned()),
    })
}

fn approval_item(answer: &Answer) -> Value {
    let mut item = Object::new();
    item.insert("approval_request_id", &*answer.id);
    item.insert("approve", !answer.is_error);
    let reason = answer.output.text();
    if !reason.is_empty() {
        item.insert("reason", reason);
    }
    of_kind("mcp_approval_response", &item)
}

/// The item with a result of the client; `None` if the type of its call has no place for such a result.
pub(super) fn client_item(answer: &Answer) -> Option<Value> {
    let output = &answer.output;
    let has_images = output.images().next().is_some();
    let (kind, members): (_, Vec<(&str, Value)>) = match answer.kind.as_deref() {
        Some(APPROVAL) => return Some(approval_item(answer)),
        None if answer.is_plain => ("custom_tool_call_output", vec![("output", content(output))]),
        None => ("function_call_output", vec![("output", content(output))]),
        Some("computer_call") => {
            // It takes one picture and nothing else.
            let Output::Parts(parts) = output else { return None };
            let [UserPart::Image { media_type, data }] = parts.as_slice() else { return None };
            let url = ("image_url", data_url(media_type, data));
            let shown = object([("type", "computer_screenshot".into()), url]);
            ("computer_call_output", vec![("output", shown)])
        }
        Some(_) if has_images => return None,
        Some("local_shell_call") => ("local_shell_call_output", vec![("output", output.text().into())]),
        Some("shell_call") => ("shell_call_output", vec![("output", shell_output(answer))]),
        Some("apply_patch_call") => {
            let status = if answer.is_error { "failed" } else { "completed" };
            let text = ("output", output.text().into());
            ("apply_patch_call_output", vec![("status", status.into()), text])
        }
        Some("tool_search_call") => {
            let Output::Value(tools @ Value::Array(_)) = output else { return None };
            (SEARCH_OUTPUT, vec![("execution", "client".into()), ("tools", tools.clone())])
        }
        Some(_) => return None,
    };
    let id = ("call_id".to_owned(), (&*answer.id).into());
    let members = members.into_iter().map(|(key, value)| (key.to_owned(), value));
    Some(of_kind(kind, &std::iter::once(id).chain(members).collect()))
}

fn content(output: &Output) -> Value {
    match output {
        Output::Parts(parts) => parts.iter().map(super::user_part).collect::<Vec<_>>().into(),
        Output::Value(_) => output.text().into(),
    }
}

/// What a shell printed: a list with an entry for each command, or a text.
fn shell_output(answer: &Answer) -> Value {
    let is_entry = |entry: &Value| entry.get("stdout").is_some() && entry.get("outcome").is_some();
    match &answer.output {
        Output::Value(list @ Value::Array(entries))
            if !entries.is_empty() && entries.iter().all(is_entry) =>
        {
            list.clone()
        }
        output => {
            let code = ("exit_code", u64::from(answer.is_error).into());
            let outcome = object([("type", "exit".into()), code]);
            let entry = [("stdout", output.text().into()), ("stderr", "".into()), ("outcome", outcome)];
            vec![object(entry)].into()
        }
    }
}

/// Reads the result of a call.
pub(super) fn read(kind: &str, mut item: Members, conversation: &mut Conversation) -> Result<(), Misread> {
    let id = match item.optional_text("call_id")? {
        // Where the provider's guide says `call_id`, the type in its SDKs says `id`.
        None if kind == "local_shell_call_output" => item.optional_text("id")?,
        id => id,
    };
    let Some(id) = id else {
        // The provider's own searches for tools have no ids of calls.
        conversation.block(kind.to_owned(), item.rest());
        return Ok(());
    };
    if conversation.provider_call(&id).is_some() {
        conversation.provider_result(id, item.rest().into());
        return Ok(());
    }
    let is_failed = item.optional_text("status")?.as_deref() == Some("failed");
    let result = match kind {
        SEARCH_OUTPUT => item.value("tools")?,
        "shell_call_output" => item.value("output")?,
        "computer_call_output" => {
            let mut output = item.members("output")?;
            match output.optional_text("image_url")?.as_deref().and_then(read_data_url) {
                Some((media_type, data)) => vec![Value::from(Content::Image { media_type, data })].into(),
                None => output.rest().into(),
            }
        }
        _ => match item.value("output")? {
            Value::Array(parts) => {
                let parts = super::read_content(parts.into())?;
                parts.into_iter().map(Value::from).collect::<Vec<_>>().into()
            }
            text => text,
        },
    };
    conversation.result(id, result, is_failed && kind == "apply_patch_call_output");
    Ok(())
}
