//! Closes a reply that is over: decides which parts are sent back, and the result of each call.

use std::collections::BTreeSet;

use super::reply::{CallState, Open, OpenBody, Reply, Seal};
use super::unanswered::Unanswered;
use crate::agent::{self, Content, ToolResult};
use crate::json::{Object, Value};
use crate::wire::request::{
    Answer, Around, Call, Form, Ids, Input, Output, ProviderCallId, RepairKind, Repairs, ReplyPart, Thinking,
    UserPart, Wait, refuse_unless,
};

/// Who wrote a reply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Origin {
    /// It is not known.
    Unknown,
    /// The provider that the request is for.
    Own,
    Another,
}

#[derive(Debug, Default)]
pub(super) struct Closed {
    pub(super) parts: Vec<ReplyPart>,
    pub(super) results: Vec<Answer>,
    /// The results of calls that are sent as text.
    pub(super) results_as_text: Vec<UserPart>,
    /// Whether something was left out after the last part.
    has_gap: bool,
}

pub(super) struct Closing<'c> {
    pub(super) origin: Origin,
    /// Whether the provider continues the reply, so that its calls may still get results.
    pub(super) continues: bool,
    /// Whether the user said something after the reply.
    pub(super) is_followed: bool,
    /// The provider's calls in earlier replies that still wait for their results.
    pub(super) pending: &'c BTreeSet<String>,
    /// The ids of items that were sent.
    pub(super) items: &'c mut BTreeSet<String>,
    pub(super) form: &'c Form,
    pub(super) ids: &'c mut Ids,
    pub(super) repairs: &'c mut Repairs,
}

impl Closing<'_> {
    pub(super) fn close(&mut self, reply: &Reply<'_>) -> Closed {
        let mut closed = Closed::default();
        // Calls that the provider runs keep their ids, so calls of the client must not have the same ones.
        if self.origin == Origin::Own {
            reply.provider_calls().for_each(|(id, _)| self.ids.reserve(id));
        }
        for (at, open) in reply.parts.iter().enumerate() {
            let before = closed.parts.len();
            self.close_part(at, open, reply, &mut closed);
            closed.has_gap = closed.parts.len() == before && !open.is_written();
        }
        let only_results =
            closed.results_as_text.is_empty() && !closed.results.is_empty() && !self.is_followed;
        let Closed { parts, results, .. } = &mut closed;
        if only_results {
            parts.iter_mut().for_each(ReplyPart::wait_for_results);
        }
        refuse_unless(parts, self.repairs, |part| match part {
            ReplyPart::Text { text, fields, .. } => !is_blank(text) || !fields.is_empty(),
            _ => true,
        });
        // What is left out may have been all that followed some thinking.
        self.leave_out_last_thinking(parts);
        let mut around = Around { answers: results, pending: self.pending, items: self.items, only_results };
        (self.form.fit)(parts, &mut around, self.repairs);
        self.leave_out_last_thinking(parts);
        join_texts(parts);
        if let (Some(Open { seq, .. }), []) = (reply.parts.first(), &**parts) {
            self.repairs.push(RepairKind::ReplyEmpty, *seq, "an empty reply was left out");
        }
        closed
    }

    fn leave_out_last_thinking(&mut self, parts: &mut Vec<ReplyPart>) {
        let is_thinking = |part: &ReplyPart| matches!(part, ReplyPart::Thinking { .. });
        if !self.form.thinking_leads && !parts.iter().all(is_thinking) {
            return;
        }
        while let Some(ReplyPart::Thinking { seq, .. }) = parts.last() {
            let message = "thinking was left out: nothing came after it";
            self.repairs.push(RepairKind::ThinkingUnfinished, *seq, message);
            parts.pop();
        }
    }

    fn close_part(&mut self, at: usize, open: &Open<'_>, reply: &Reply<'_>, closed: &mut Closed) {
        let seq = open.seq;
        match &open.body {
            OpenBody::Text(text) => closed.push_text(seq, text),
            OpenBody::TextFields(fields) => {
                let wanted = self.form.text_fields.iter().filter(|_| self.origin == Origin::Own);
                let wanted = wanted.filter_map(|name| Some((*name, sealed(fields.get(name)?)?)));
                closed.seal_text(seq, wanted.collect());
            }
            OpenBody::Thinking { text, seal } => {
                if let Some(thinking) = self.thinking(seq, text, *seal) {
                    closed.parts.push(ReplyPart::Thinking { seq, thinking });
                }
            }
            OpenBody::Block { kind, block } => match self.origin {
                Origin::Own => {
                    let (kind, approval) = ((*kind).to_owned(), reply.approval(block));
                    closed.parts.push(ReplyPart::Block { seq, kind, block: (*block).clone(), approval });
                }
                Origin::Unknown | Origin::Another => {
                    let message = format!("a block of kind `{kind}` was left out: {}", self.whose());
                    self.repairs.push(RepairKind::BlockOfAnother, seq, message);
                }
            },
            OpenBody::ProviderResult { call, result } => {
                // If another provider ran it, the repair of the call covers its result.
                if self.origin == Origin::Own {
                    let (id, name, fields) = (call.id.clone(), call.name.clone(), fields(call));
                    let (call, result) = (ProviderCallId { id, name, fields }, (*result).clone());
                    closed.parts.push(ReplyPart::ProviderResult { seq, call, result });
                }
            }
            OpenBody::Call { id, name, state } => {
                let result = reply.results.get(&at).copied();
                let call = match state {
                    CallState::Writing => return self.cut(seq, id, name, "it was cut", result, closed),
                    CallState::Broken(error) => return self.cut(seq, id, name, error, result, closed),
                    CallState::Whole(call) => *call,
                };
                if call.provider_executed {
                    return self.provider_call(seq, call, closed);
                }
                let (output, is_error) = match result {
                    Some(result) => (output(&result.result), result.is_error == Some(true)),
                    None => (self.explain(seq, id, name, reply.unanswered(id)), true),
                };
                match &call.raw {
                    Some(raw) => {
                        closed.push_text(seq, raw);
                        closed.answer_in_text(name, &output, is_error);
                    }
                    None => {
                        let call = self.client_call(seq, call);
                        let (id, name) = (call.id.clone(), call.name.clone());
                        let is_plain = matches!(call.input, Input::Plain(_));
                        let kind = call.field("type");
                        closed.results.push(Answer { id, name, output, is_error, is_plain, kind });
                        closed.parts.push(ReplyPart::Call { seq, call });
                    }
                }
            }
        }
    }

    fn thinking(&mut self, seq: u64, text: &str, seal: Seal<'_>) -> Option<Thinking> {
        let metadata = match seal {
            Seal::Sealed(metadata) => Some(metadata),
            // An empty delta may have opened thinking that never came.
            Seal::Open | Seal::Over if text.is_empty() => return None,
            Seal::Open | Seal::Over => None,
            Seal::Torn => {
                let message = "thinking was left out: its beginning is in the summary";
                self.repairs.push(RepairKind::ThinkingRefused, seq, message);
                return None;
            }
        };
        if self.origin == Origin::Own {
            return Some(Thinking::new(text.to_owned(), metadata));
        }
        let message = format!("thinking was left out: {}", self.whose());
        self.repairs.push(RepairKind::ThinkingOfAnother, seq, message);
        None
    }

    /// Leaves out a call whose arguments were never complete.
    fn cut(
        &mut self,
        seq: u64,
        id: &str,
        name: &str,
        why: &str,
        result: Option<&ToolResult>,
        closed: &mut Closed,
    ) {
        let message = format!("the call `{id}` of `{name}` was left out: {why}");
        self.repairs.push(RepairKind::CallCut, seq, message);
        if let Some(result) = result {
            closed.answer_in_text(name, &output(&result.result), result.is_error == Some(true));
        }
    }

    fn provider_call(&mut self, seq: u64, call: &agent::ToolCall, closed: &mut Closed) {
        if self.origin != Origin::Own {
            let message = format!("the provider's call of `{}` was left out: {}", call.name, self.whose());
            return self.repairs.push(RepairKind::BlockOfAnother, seq, message);
        }
        let input = self.input(seq, call);
        let (id, name, fields) = (call.id.clone(), call.name.clone(), fields(call));
        let call = Call { id, name, input, fields, is_own: true };
        let wait = if self.continues { Wait::ForReply } else { Wait::No };
        closed.parts.push(ReplyPart::ProviderCall { seq, call, wait });
    }

    fn client_call(&mut self, seq: u64, call: &agent::ToolCall) -> Call {
        let is_own = self.origin == Origin::Own;
        let id = self.ids.give(&call.id, &self.form.ids);
        if id != call.id {
            self.repairs.push(
                RepairKind::IdChanged,
                seq,
                format!("the call `{}` is sent as `{id}`", call.id),
            );
        }
        let name = self.form.names.spell(&call.name, "unnamed").into_owned();
        if name != call.name {
            let message = format!("the tool `{}` is sent as `{name}`", call.name);
            self.repairs.push(RepairKind::ToolRenamed, seq, message);
        }
        let input = self.input(seq, call);
        Call { id, name, input, fields: if is_own { fields(call) } else { Object::new() }, is_own }
    }

    fn input(&mut self, seq: u64, call: &agent::ToolCall) -> Input {
        match &call.arguments {
            Value::Object(object) => Input::Object(object.clone()),
            Value::Null => Input::Object(Object::new()),
            Value::String(text) if self.form.has_plain_input && self.origin == Origin::Own => {
                Input::Plain(text.into())
            }
            other => {
                let message = format!("the arguments of the call `{}` are not an object", call.id);
                self.repairs.push(RepairKind::ArgumentsWrapped, seq, message);
                Input::Object([("input", other.clone())].into_iter().collect())
            }
        }
    }

    /// A result for a call that has none.
    fn explain(&mut self, seq: u64, id: &str, name: &str, why: Unanswered<'_>) -> Output {
        let (kind, text) = why.result();
        self.repairs.push(kind, seq, format!("the call `{id}` of `{name}` has no result; one was added"));
        Output::Value(text.into())
    }

    fn whose(&self) -> &'static str {
        match self.origin {
            Origin::Unknown => "it is not known which provider wrote it",
            Origin::Own | Origin::Another => "another provider wrote it",
        }
    }
}

impl Closed {
    /// The provider's calls whose results are here.
    pub(super) fn late_results(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            ReplyPart::ProviderResult { call, .. } => Some(&*call.id),
            _ => None,
        })
    }

    /// The provider's calls that are sent without a result, because the results of the client come first.
    pub(super) fn waiting(&self) -> BTreeSet<&str> {
        let mut waiting = BTreeSet::new();
        for part in &self.parts {
            match part {
                ReplyPart::ProviderCall { call, wait: Wait::ForResults, .. } => {
                    waiting.insert(&*call.id);
                }
                ReplyPart::ProviderResult { call, .. } => {
                    waiting.remove(&*call.id);
                }
                _ => {}
            }
        }
        waiting
    }

    /// Appends to the last text, unless something came between them.
    fn push_text(&mut self, seq: u64, piece: &str) {
        match self.parts.last_mut() {
            Some(ReplyPart::Text { text, fields, .. }) if !self.has_gap && fields.is_empty() => {
                text.push_str(piece);
            }
            _ => {
                self.parts.push(ReplyPart::Text { seq, text: piece.to_owned(), fields: Object::new() });
            }
        }
    }

    /// Ends the last text if the provider wants fields back with it, which must not go with any other text.
    fn seal_text(&mut self, seq: u64, wanted: Object) {
        match self.parts.last_mut() {
            _ if wanted.is_empty() => {}
            Some(ReplyPart::Text { fields, .. }) if fields.is_empty() => *fields = wanted,
            // The provider may want fields back without any text.
            _ => self.parts.push(ReplyPart::Text { seq, text: String::new(), fields: wanted }),
        }
    }

    /// Adds a result as text: the model wrote the call in its text, or it cannot be sent as a call.
    fn answer_in_text(&mut self, name: &str, output: &Output, is_error: bool) {
        let word = if is_error { "Error" } else { "Result" };
        self.results_as_text.push(UserPart::Text(format!("[{name}] {word}:\n{}", output.text())));
        self.results_as_text.extend(output.images().cloned());
    }
}

/// Joins texts that became neighbours, as they would be read back.
fn join_texts(parts: &mut Vec<ReplyPart>) {
    parts.dedup_by(|second, first| match (first, second) {
        (
            ReplyPart::Text { text: first, fields: before, .. },
            ReplyPart::Text { text: second, fields, .. },
        ) if before.is_empty() => {
            if !second.is_empty() {
                first.push_str("\n\n");
            }
            first.push_str(second);
            *before = std::mem::take(fields);
            true
        }
        _ => false,
    });
}

/// The texts and images of a result that is a list of them, or its value.
fn output(result: &Value) -> Output {
    let parts = result.as_array().filter(|parts| !parts.is_empty());
    let parts = parts.and_then(|parts| parts.iter().map(user_part).collect::<Option<Vec<_>>>());
    parts.map_or_else(|| Output::Value(result.clone()), Output::Parts)
}

fn user_part(value: &Value) -> Option<UserPart> {
    match Content::read(value.clone()) {
        Ok((Content::Text { text }, _)) => Some(UserPart::Text(text)),
        Ok((Content::Image { media_type, data }, _)) => UserPart::image(&media_type, &data),
        Ok((Content::Other(_), _)) | Err(_) => None,
    }
}

fn fields(call: &agent::ToolCall) -> Object {
    call.metadata.as_ref().and_then(Value::as_object).cloned().unwrap_or_default()
}

/// What goes back of a field of a text: a string, such as a signature, or those of a list that have something
/// encrypted, which only their provider can read.
fn sealed(value: &Value) -> Option<Value> {
    if let Value::Array(list) = value {
        let has_seal = |element: &&Value| {
            element.as_object().is_some_and(|element| element.keys().any(|key| key.starts_with("encrypted_")))
        };
        let list: Vec<_> = list.iter().filter(has_seal).cloned().collect();
        return (!list.is_empty()).then(|| list.into());
    }
    value.as_text().filter(|text| !text.is_empty()).map(|_| value.clone())
}

pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}
