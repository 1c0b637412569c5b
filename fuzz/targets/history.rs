//! Any lines as the entries of a session, and as the messages of a request: each provider takes what is made of
//! them, and it comes back as it was.
#![no_main]

use fuzz::{Input, mutate_stream};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use reknit::agent::{AgentEvent, Body, Entry};
use reknit::history;
use reknit::json::Value;

#[path = "../../crates/reknit/tests/it/history/promises.rs"]
mod promises;

use promises::{DIALECTS, log};

/// More of them show nothing more.
const MOST: usize = 60;

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_stream(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::new(data) else { return };
    let lines = input.bytes.split(|byte| *byte == b'\n').take(MOST);
    let values = lines.filter_map(|line| str::from_utf8(line).ok()?.parse::<Value>().ok());
    let values: Vec<_> = values.collect();

    let mut entries: Vec<_> = values.iter().filter_map(|value| Entry::try_from(value.clone()).ok()).collect();
    entries.iter_mut().for_each(|entry| sign(&mut entry.body));
    for dialect in DIALECTS {
        held(promises::hold(dialect, &entries));
        if let Ok(mut bodies) = history::bodies(dialect, "", &values) {
            bodies.iter_mut().for_each(sign);
            held(promises::hold(dialect, &log(bodies)));
        }
    }
});

fn held(held: Result<(), String>) {
    held.unwrap_or_else(|why| panic!("{why}"));
}

/// Signs a call that is not: a model that signs calls does so with the first of each reply, and the validator is
/// for those.
fn sign(body: &mut Body) {
    let Body::Agent(AgentEvent::ToolCall { tool_call }) = body else { return };
    let mut fields = tool_call.metadata.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
    let is_signed = fields.get("thoughtSignature").is_some_and(|signature| signature.as_text().is_some());
    if !is_signed {
        fields.insert("thoughtSignature", "c2ln");
        tool_call.metadata = Some(fields.into());
    }
}
