//! Nothing is left out in silence: what the log has and the request has not, a repair names.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use reknit::Dialect;
use reknit::agent::{AgentEvent, Body, Content, Entry};
use reknit::json::Value;

use super::promises::request;

/// Something that was said, by whichever entries it came in.
struct Said {
    seqs: Vec<RangeInclusive<u64>>,
    /// Texts that a request has if it has this.
    words: Vec<String>,
}

/// Whether everything that these entries say is in the request, or named by a repair. The log has no summary.
pub(super) fn is_reported(dialect: Dialect, entries: &[Entry]) -> Result<(), String> {
    let request = request(dialect, entries);
    let repaired: BTreeSet<_> = request.repairs.iter().map(|repair| repair.seq).collect();
    let mut sent = BTreeSet::new();
    request.messages.iter().for_each(|message| {
        texts_of(message, &mut |text| {
            sent.insert(text);
        });
    });
    for Said { seqs, words } in said(dialect, entries) {
        let is_repaired = seqs.iter().any(|seqs| repaired.range(seqs.clone()).next().is_some());
        let is_sent = |word: &String| {
            word.is_empty() || sent.contains(word) || sent.iter().any(|text| text.contains(&**word))
        };
        if let (false, Some(word)) = (is_repaired, words.iter().find(|word| !is_sent(word))) {
            return Err(format!("{dialect}: `{word}` of entry {} is lost in silence", seqs[0].start()));
        }
    }
    Ok(())
}

/// What the entries say.
fn said(dialect: Dialect, entries: &[Entry]) -> Vec<Said> {
    let mut said: Vec<Said> = Vec::new();
    // The entries of calls by id, since a repair of a call covers its results.
    let mut calls: BTreeMap<&str, RangeInclusive<u64>> = BTreeMap::new();
    let mut is_own = false;
    let mut text: Option<(RangeInclusive<u64>, String)> = None;
    let mut thought: Option<(RangeInclusive<u64>, String)> = None;
    for Entry { seq, body, .. } in entries {
        let seq = *seq;
        if let Some((seqs, words)) = text.take_if(|_| !is_text(body)) {
            said.push(Said { seqs: vec![seqs], words: vec![words] });
        }
        match body {
            Body::Request { dialect: asked, .. } => is_own = asked == dialect.name(),
            Body::UserMessage { content } => said.extend(content.iter().map(|piece| {
                let words = match piece {
                    Content::Text { text } => vec![text.clone()],
                    Content::Image { data, .. } => vec![data.clone()],
                    other => vec![Value::from(other.clone()).to_string()],
                };
                Said { seqs: vec![seq..=seq], words }
            })),
            Body::Agent(AgentEvent::TextDelta { delta }) => {
                let (seqs, words) = text.get_or_insert_with(|| (seq..=seq, String::new()));
                *seqs = *seqs.start()..=seq;
                words.push_str(delta);
            }
            Body::Agent(AgentEvent::ReasoningDelta { delta }) => {
                let (seqs, words) = thought.get_or_insert_with(|| (seq..=seq, String::new()));
                *seqs = *seqs.start()..=seq;
                words.push_str(delta);
            }
            Body::Agent(AgentEvent::ReasoningEnd { metadata }) => {
                let (seqs, words) = thought.take().unwrap_or_else(|| (seq..=seq, String::new()));
                let mut words = vec![words];
                let seals = ["signature", "redactedData"].into_iter();
                let seals = seals.filter_map(|name| metadata.as_ref()?.get(name)?.as_text());
                words.extend(seals.map(ToString::to_string));
                said.push(Said { seqs: vec![*seqs.start()..=seq], words });
            }
            Body::Agent(AgentEvent::ToolInputStart { tool_call_id, .. }) => {
                calls.insert(tool_call_id, seq..=seq);
            }
            Body::Agent(AgentEvent::ToolCall { tool_call: call }) => {
                let start = calls.remove(&*call.id).map_or(seq, |seqs| *seqs.start());
                // What the provider runs has an id and a name only where its form has a place for them.
                let is_clients = !call.provider_executed;
                let mut words =
                    if is_clients { vec![call.id.clone(), call.name.clone()] } else { Vec::new() };
                texts_of(&call.arguments, &mut |text| words.push(text));
                if let Some(raw) = &call.raw {
                    words = vec![raw.clone()];
                }
                calls.insert(&call.id, start..=seq);
                said.push(Said { seqs: vec![start..=seq], words });
            }
            Body::Agent(AgentEvent::ToolResult { tool_result }) => {
                let mut words = Vec::new();
                let mut result = tool_result.result.clone();
                // The item with a result may have an id of its own, which nothing needs.
                if let Some(result) = result.as_object_mut() {
                    result.remove("id");
                }
                texts_of(&result, &mut |text| words.push(text));
                let of_call = calls.get(&*tool_result.tool_call_id).cloned();
                said.push(Said { seqs: [seq..=seq].into_iter().chain(of_call).collect(), words });
            }
            Body::Agent(AgentEvent::ProviderBlock { kind, block }) if kind != "text" || is_own => {
                let mut words = Vec::new();
                let wanted = ["encrypted_content", "thoughtSignature", "data", "phase", "id"];
                // A text is sent without the id of its item, which nothing needs.
                let wanted = &wanted[..if kind == "text" { 4 } else { 5 }];
                let wanted = block.iter().filter(|(name, _)| wanted.contains(name));
                wanted.for_each(|(_, value)| texts_of(value, &mut |text| words.push(text)));
                said.push(Said { seqs: vec![seq..=seq], words });
            }
            _ => {}
        }
    }
    said.extend(
        text.into_iter().chain(thought).map(|(seqs, words)| Said { seqs: vec![seqs], words: vec![words] }),
    );
    said
}

fn is_text(body: &Body) -> bool {
    matches!(body, Body::Agent(AgentEvent::TextDelta { .. }))
}

/// The texts in a value, and those in texts that are JSON themselves, as arguments are in some dialects.
fn texts_of(value: &Value, take: &mut dyn FnMut(String)) {
    match value {
        Value::Array(list) => list.iter().for_each(|element| texts_of(element, take)),
        Value::Object(object) => object.iter().for_each(|(_, member)| texts_of(member, take)),
        Value::String(text) => {
            let text = String::from(text);
            if let Ok(inner @ (Value::Array(_) | Value::Object(_))) = text.parse::<Value>() {
                texts_of(&inner, take);
            }
            take(text);
        }
        _ => {}
    }
}
