//! [`Say`]: what a model says, as each provider streams it.

use reknit::Dialect;
use reknit::json::Value;

/// What a model says in a reply.
#[derive(Clone, Debug, Default)]
pub struct Say {
    thinking: Option<(String, String)>,
    text: String,
    /// Ids, tools and arguments.
    calls: Vec<(String, String, String)>,
}

/// How many characters come at once.
const PIECE: usize = 9;

impl Say {
    /// A reply with a text.
    pub fn text(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// The same after some thinking, with the signature that has to come back.
    #[must_use]
    pub fn thinking(mut self, text: &str, signature: &str) -> Self {
        self.thinking = Some((text.to_owned(), signature.to_owned()));
        self
    }

    /// The same with a call after it.
    #[must_use]
    pub fn call(mut self, id: &str, tool: &str, arguments: &str) -> Self {
        self.calls.push((id.to_owned(), tool.to_owned(), arguments.to_owned()));
        self
    }

    /// The frames of the stream, in the dialect of the provider.
    pub fn frames(&self, dialect: Dialect) -> Vec<String> {
        match dialect {
            Dialect::OpenAiChat => self.chat(),
            Dialect::OpenAiResponses => self.responses(),
            Dialect::Gemini => self.gemini(),
            Dialect::Ollama => self.ollama(),
            _ => self.anthropic(),
        }
    }

    /// An id, which is unique in all of a session if what is said is.
    fn id(&self, kind: &str) -> String {
        let of = self.calls.first().map_or(&*self.text, |(id, ..)| id);
        format!("{kind}_{}", of.chars().filter(char::is_ascii_alphanumeric).collect::<String>())
    }

    fn anthropic(&self) -> Vec<String> {
        let event =
            |kind: &str, rest: &str| format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{rest}}}\n\n");
        let id = self.id("msg");
        let start = format!(
            r#","message":{{"id":"{id}","type":"message","role":"assistant","model":"strict-1","content":[],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":100,"cache_read_input_tokens":50,"output_tokens":1}}}}"#
        );
        let mut frames = vec![event("message_start", &start)];
        let mut index = 0;
        let mut block = |open: String, deltas: Vec<String>| {
            frames.push(event("content_block_start", &format!(r#","index":{index},"content_block":{open}"#)));
            for delta in deltas {
                frames.push(event("content_block_delta", &format!(r#","index":{index},"delta":{delta}"#)));
            }
            frames.push(event("content_block_stop", &format!(r#","index":{index}"#)));
            index += 1;
        };
        if let Some((text, signature)) = &self.thinking {
            let delta = |text: &str| format!(r#"{{"type":"thinking_delta","thinking":{}}}"#, json(text));
            let mut deltas: Vec<_> = pieces(text).map(delta).collect();
            deltas.push(format!(r#"{{"type":"signature_delta","signature":{}}}"#, json(signature)));
            block(r#"{"type":"thinking","thinking":"","signature":""}"#.to_owned(), deltas);
        }
        if !self.text.is_empty() {
            let delta = |text: &str| format!(r#"{{"type":"text_delta","text":{}}}"#, json(text));
            block(r#"{"type":"text","text":""}"#.to_owned(), pieces(&self.text).map(delta).collect());
        }
        for (id, tool, arguments) in &self.calls {
            let delta =
                |text: &str| format!(r#"{{"type":"input_json_delta","partial_json":{}}}"#, json(text));
            let open = format!(r#"{{"type":"tool_use","id":"{id}","name":"{tool}","input":{{}}}}"#);
            block(open, pieces(arguments).map(delta).collect());
        }
        let stop = if self.calls.is_empty() { "end_turn" } else { "tool_use" };
        let delta = format!(
            r#","delta":{{"stop_reason":"{stop}","stop_sequence":null}},"usage":{{"output_tokens":20}}"#
        );
        frames.push(event("message_delta", &delta));
        frames.push(event("message_stop", ""));
        frames
    }

    fn chat(&self) -> Vec<String> {
        let chunk = |rest: &str| {
            format!(
                "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"strict-1\",{rest}}}\n\n"
            )
        };
        let delta = |delta: &str| {
            chunk(&format!(r#""choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]"#))
        };
        let mut frames = vec![delta(r#"{"role":"assistant","content":""}"#)];
        if let Some((text, _)) = &self.thinking {
            frames.extend(
                pieces(text).map(|text| delta(&format!(r#"{{"reasoning_content":{}}}"#, json(text)))),
            );
        }
        frames.extend(pieces(&self.text).map(|text| delta(&format!(r#"{{"content":{}}}"#, json(text)))));
        for (index, (id, tool, arguments)) in self.calls.iter().enumerate() {
            frames.push(delta(&format!(
                r#"{{"tool_calls":[{{"index":{index},"id":"{id}","type":"function","function":{{"name":"{tool}","arguments":""}}}}]}}"#
            )));
            frames.extend(pieces(arguments).map(|text| {
                delta(&format!(
                    r#"{{"tool_calls":[{{"index":{index},"function":{{"arguments":{}}}}}]}}"#,
                    json(text)
                ))
            }));
        }
        let stop = if self.calls.is_empty() { "stop" } else { "tool_calls" };
        frames.push(chunk(&format!(r#""choices":[{{"index":0,"delta":{{}},"finish_reason":"{stop}"}}]"#)));
        frames.push(chunk(
            r#""choices":[],"usage":{"prompt_tokens":150,"completion_tokens":20,"total_tokens":170,"prompt_tokens_details":{"cached_tokens":50}}"#,
        ));
        frames.push("data: [DONE]\n\n".to_owned());
        frames
    }

    fn responses(&self) -> Vec<String> {
        let mut frames = Vec::new();
        let mut event = |kind: &str, rest: &str| {
            let number = frames.len();
            frames.push(format!(
                "event: {kind}\ndata: {{\"type\":\"{kind}\",\"sequence_number\":{number},{rest}}}\n\n"
            ));
        };
        let response = |status: &str, output: &str, usage: &str| {
            format!(
                r#""response":{{"id":"resp_1","object":"response","created_at":1,"status":"{status}","error":null,"incomplete_details":null,"instructions":null,"metadata":{{}},"model":"strict-1","output":[{output}],"parallel_tool_calls":true,"temperature":1,"tool_choice":"auto","tools":[],"top_p":1,"usage":{usage}}}"#
            )
        };
        event("response.created", &response("in_progress", "", "null"));
        let mut items = Vec::new();
        let id = |kind: &str| self.id(kind);
        if let Some((text, signature)) = &self.thinking {
            let (at, id) = (items.len(), id("rs"));
            let begin =
                format!(r#""output_index":{at},"item":{{"id":"{id}","type":"reasoning","summary":[]}}"#);
            event("response.output_item.added", &begin);
            let part = format!(r#""item_id":"{id}","output_index":{at},"summary_index":0"#);
            let of_part =
                |text: &str| format!(r#"{part},"part":{{"type":"summary_text","text":{}}}"#, json(text));
            event("response.reasoning_summary_part.added", &of_part(""));
            for piece in pieces(text) {
                event("response.reasoning_summary_text.delta", &format!(r#"{part},"delta":{}"#, json(piece)));
            }
            event("response.reasoning_summary_text.done", &format!(r#"{part},"text":{}"#, json(text)));
            event("response.reasoning_summary_part.done", &of_part(text));
            let item = format!(
                r#"{{"id":"{id}","type":"reasoning","summary":[{{"type":"summary_text","text":{}}}],"encrypted_content":{}}}"#,
                json(text),
                json(signature)
            );
            event("response.output_item.done", &format!(r#""output_index":{at},"item":{item}"#));
            items.push(item);
        }
        if !self.text.is_empty() {
            let (at, id) = (items.len(), id("msg"));
            let message = |status: &str, content: &str| {
                format!(
                    r#"{{"id":"{id}","type":"message","status":"{status}","role":"assistant","content":[{content}]}}"#
                )
            };
            event(
                "response.output_item.added",
                &format!(r#""output_index":{at},"item":{}"#, message("in_progress", "")),
            );
            let place = format!(r#""item_id":"{id}","output_index":{at},"content_index":0"#);
            let part =
                |text: &str| format!(r#"{{"type":"output_text","text":{},"annotations":[]}}"#, json(text));
            event("response.content_part.added", &format!(r#"{place},"part":{}"#, part("")));
            for piece in pieces(&self.text) {
                event(
                    "response.output_text.delta",
                    &format!(r#"{place},"delta":{},"logprobs":[]"#, json(piece)),
                );
            }
            event(
                "response.output_text.done",
                &format!(r#"{place},"text":{},"logprobs":[]"#, json(&self.text)),
            );
            event("response.content_part.done", &format!(r#"{place},"part":{}"#, part(&self.text)));
            let item = message("completed", &part(&self.text));
            event("response.output_item.done", &format!(r#""output_index":{at},"item":{item}"#));
            items.push(item);
        }
        for (call_id, tool, arguments) in &self.calls {
            let at = items.len();
            let call = |status: &str, arguments: &str| {
                format!(
                    r#"{{"id":"fc_{call_id}","type":"function_call","status":"{status}","arguments":{},"call_id":"{call_id}","name":"{tool}"}}"#,
                    json(arguments)
                )
            };
            event(
                "response.output_item.added",
                &format!(r#""output_index":{at},"item":{}"#, call("in_progress", "")),
            );
            let place = format!(r#""item_id":"fc_{call_id}","output_index":{at}"#);
            for piece in pieces(arguments) {
                event(
                    "response.function_call_arguments.delta",
                    &format!(r#"{place},"delta":{}"#, json(piece)),
                );
            }
            let done = format!(r#"{place},"name":"{tool}","arguments":{}"#, json(arguments));
            event("response.function_call_arguments.done", &done);
            let item = call("completed", arguments);
            event("response.output_item.done", &format!(r#""output_index":{at},"item":{item}"#));
            items.push(item);
        }
        let usage = r#"{"input_tokens":150,"input_tokens_details":{"cached_tokens":50},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":170}"#;
        event("response.completed", &response("completed", &items.join(","), usage));
        frames
    }

    fn gemini(&self) -> Vec<String> {
        let chunk = |parts: &str, rest: &str| {
            format!(
                "data: {{\"candidates\":[{{\"content\":{{\"role\":\"model\",\"parts\":[{parts}]}},\"index\":0{rest}}}],\"modelVersion\":\"strict-1\",\"responseId\":\"r1\",\"usageMetadata\":{{\"promptTokenCount\":150,\"candidatesTokenCount\":15,\"thoughtsTokenCount\":5,\"cachedContentTokenCount\":50,\"totalTokenCount\":170}}}}\r\n\r\n"
            )
        };
        let mut frames = Vec::new();
        let signature = self.thinking.as_ref().map(|(_, signature)| json(signature));
        if let Some((text, _)) = &self.thinking {
            frames.extend(
                pieces(text).map(|text| chunk(&format!(r#"{{"text":{},"thought":true}}"#, json(text)), "")),
            );
        }
        frames.extend(pieces(&self.text).map(|text| chunk(&format!(r#"{{"text":{}}}"#, json(text)), "")));
        for (index, (id, tool, arguments)) in self.calls.iter().enumerate() {
            // Only the first call of a reply is signed.
            let signed = match &signature {
                Some(signature) if index == 0 => format!(r#","thoughtSignature":{signature}"#),
                _ => String::new(),
            };
            let call =
                format!(r#"{{"functionCall":{{"id":"{id}","name":"{tool}","args":{arguments}}}{signed}}}"#);
            frames.push(chunk(&call, ""));
        }
        frames.push(chunk(r#"{"text":""}"#, r#","finishReason":"STOP""#));
        frames
    }

    fn ollama(&self) -> Vec<String> {
        let line = |message: &str, rest: &str| {
            format!(
                "{{\"model\":\"strict-1\",\"created_at\":\"2026-11-18T12:00:00Z\",\"message\":{{\"role\":\"assistant\",{message}}},{rest}}}\n"
            )
        };
        let more = |message: &str| line(message, r#""done":false"#);
        let mut frames = Vec::new();
        if let Some((text, _)) = &self.thinking {
            frames
                .extend(pieces(text).map(|text| more(&format!(r#""content":"","thinking":{}"#, json(text)))));
        }
        frames.extend(pieces(&self.text).map(|text| more(&format!(r#""content":{}"#, json(text)))));
        for (id, tool, arguments) in &self.calls {
            frames.push(more(&format!(
                r#""content":"","tool_calls":[{{"id":"{id}","function":{{"name":"{tool}","arguments":{arguments}}}}}]"#
            )));
        }
        let end =
            r#""done":true,"done_reason":"stop","total_duration":1,"prompt_eval_count":150,"eval_count":20"#;
        frames.push(line(r#""content":"""#, end));
        frames
    }
}

fn json(text: &str) -> String {
    Value::from(text).to_string()
}

/// A text in pieces of a few characters, as models write.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().nth(PIECE).map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}
