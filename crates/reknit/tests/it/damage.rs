//! Damaged inputs of the corpus: cut short, spliced, with flipped bits, and with frames that are lost or
//! repeated.

use proptest::prelude::*;
use proptest::sample::Index;
use reknit::frame::Decoder;
use reknit::message::{Change, Status};
use reknit::{Dialect, Limits, Message, Reply};

use crate::corpus::{self, WireCase};
use crate::cuts::{Random, cut_at_random};
use crate::following::{Follower, through_json};
use crate::replies::{Outcome, outcome};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn damaged_input_is_read_the_same_for_every_cut(
        case: Index,
        damages in prop::collection::vec(damage(), 1..4),
        dialect: Index,
        seeds: [u64; 2],
    ) {
        let cases = corpus();
        let case = case.get(cases);
        let input = damages.iter().fold(case.case.input.clone(), |input, damage| damage.inflict(&input, cases));
        // Mostly the right dialect, sometimes detection or another dialect.
        let reply = || match dialect.index(8) {
            0 => Reply::detect(),
            1 => Reply::new(*dialect.get(&Dialect::ALL)),
            _ => Reply::new(case.dialect),
        };
        let whole = outcome(reply(), &[&input]);
        prop_assert_eq!(&outcome(reply(), &input.chunks(1).collect::<Vec<_>>()), &whole, "byte by byte");
        for seed in seeds {
            prop_assert_eq!(&outcome(reply(), &cut_at_random(&input, seed)), &whole, "random cut {}", seed);
        }
        prop_assert_eq!(&follow(&whole.changes), &whole.messages);
        for dialect in Dialect::ALL {
            let (ends, stopped) = (ends(dialect, &input).len(), stopped(&outcome(Reply::new(dialect), &[&input])));
            prop_assert!(stopped <= ends, "{} messages are complete, {} ends arrived", stopped, ends);
        }
    }
}

/// Something that can happen to a stream.
#[derive(Clone, Debug)]
enum Damage {
    /// It ends early.
    Truncate(Index),
    /// A bit is flipped.
    Flip { at: Index, bit: u8 },
    /// A byte is replaced with one that has a meaning in some format.
    Replace { at: Index, byte: u8 },
    /// A frame is lost.
    Lose(Index),
    /// A frame comes twice.
    Repeat(Index),
    /// Two frames are swapped.
    Swap(Index, Index),
    /// It continues with the rest of another stream.
    Splice { at: Index, case: Index, from: Index },
}

fn damage() -> impl Strategy<Value = Damage> {
    let byte = prop::sample::select(b"\r\n{}[]\",:\\\0\xFF 0ud".as_slice());
    prop_oneof![
        any::<Index>().prop_map(Damage::Truncate),
        (any::<Index>(), 0..8u8).prop_map(|(at, bit)| Damage::Flip { at, bit }),
        (any::<Index>(), byte).prop_map(|(at, byte)| Damage::Replace { at, byte }),
        any::<Index>().prop_map(Damage::Lose),
        any::<Index>().prop_map(Damage::Repeat),
        any::<(Index, Index)>().prop_map(|(one, other)| Damage::Swap(one, other)),
        any::<(Index, Index, Index)>().prop_map(|(at, case, from)| Damage::Splice { at, case, from }),
    ]
}

impl Damage {
    fn inflict(&self, input: &[u8], cases: &[WireCase]) -> Vec<u8> {
        let mut damaged = input.to_vec();
        let mut frames = frames(input);
        let count = frames.len();
        match self {
            _ if input.is_empty() => {}
            Self::Truncate(at) => damaged.truncate(at.index(input.len())),
            Self::Flip { at, bit } => damaged[at.index(input.len())] ^= 1 << bit,
            Self::Replace { at, byte } => damaged[at.index(input.len())] = *byte,
            Self::Lose(frame) => drop(frames.remove(frame.index(count))),
            Self::Repeat(frame) => {
                let at = frame.index(count);
                frames.insert(at, frames[at]);
            }
            Self::Swap(one, other) => frames.swap(one.index(count), other.index(count)),
            Self::Splice { at, case, from } => {
                let other = &case.get(cases).case.input;
                damaged.truncate(at.index(input.len()));
                damaged.extend_from_slice(&other[from.index(other.len() + 1)..]);
            }
        }
        match self {
            Self::Lose(_) | Self::Repeat(_) | Self::Swap(..) => frames.concat(),
            Self::Truncate(_) | Self::Flip { .. } | Self::Replace { .. } | Self::Splice { .. } => damaged,
        }
    }
}

/// The input split after each blank line, or after each line if there are none.
fn frames(input: &[u8]) -> Vec<&[u8]> {
    let mut frames = vec![];
    let mut start = 0;
    let ends = |at: usize| input[..at].ends_with(b"\n\n") || input[..at].ends_with(b"\n\r\n");
    for at in (1..=input.len()).filter(|at| ends(*at) || *at == input.len()) {
        frames.push(&input[start..at]);
        start = at;
    }
    frames
}

fn corpus() -> &'static [WireCase] {
    static CASES: std::sync::OnceLock<Vec<WireCase>> = std::sync::OnceLock::new();
    CASES.get_or_init(corpus::wire_cases)
}

fn follow(changes: &[Change<'static>]) -> Vec<Message> {
    let mut follower = Follower::new(&Limits::default());
    for change in changes {
        follower.follow(&through_json(change)).expect("a change of the reply fits");
    }
    follower.messages
}

/// A message is complete only if the provider ended it: a prefix has no more complete messages than ends.
#[test]
fn no_prefix_is_complete_before_its_end() {
    for WireCase { case, dialect } in corpus() {
        let ends = ends(*dialect, &case.input);
        let mut random = Random::new(case.input.len() as u64);
        let near = ends.iter().flat_map(|end| end.saturating_sub(2)..=(end + 2).min(case.input.len()));
        let lengths = near.chain((0..40).map(|_| random.below(case.input.len() + 1)));
        for length in lengths.collect::<Vec<_>>() {
            let stopped = stopped(&outcome(Reply::new(*dialect), &[&case.input[..length]]));
            let arrived = ends.iter().filter(|end| **end <= length).count();
            assert!(
                stopped <= arrived,
                "corpus/{}: {stopped} complete after {length} bytes, {arrived} ended",
                case.name
            );
        }
    }
}

fn stopped(outcome: &Outcome) -> usize {
    outcome.messages.iter().filter(|message| message.status() == Status::Stopped).count()
}

/// Where the frames end that end a message or one of its choices.
fn ends(dialect: Dialect, input: &[u8]) -> Vec<usize> {
    let mut decoder = Decoder::detect(&Limits::default());
    decoder.push(input);
    decoder.finish();
    let mut ends = Vec::new();
    while let Ok(Some(frame)) = decoder.next_frame() {
        let data = serde_json::from_str::<serde_json::Value>(frame.data).unwrap_or_default();
        // JSON that only a lenient parser accepts is searched as text.
        let looks = |word: &str| data.is_null() && frame.data.contains(word);
        let kind = data["type"].as_str().unwrap_or(frame.event);
        let is_end = match dialect {
            Dialect::Anthropic => matches!(kind, "message_stop" | "message") || looks("message"),
            Dialect::OpenAiChat => {
                let choices = data["choices"].as_array();
                let mut choices = choices.into_iter().flatten();
                frame.data == "[DONE]"
                    || choices.any(|choice| choice["finish_reason"].is_string())
                    || looks("finish_reason")
            }
            Dialect::OpenAiResponses => {
                let ended =
                    ["response.completed", "response.incomplete", "response.cancelled"].contains(&kind);
                ended || data["object"] == "response" || looks("response")
            }
            Dialect::Gemini => frame.data.contains("finishReason") || frame.data.contains("blockReason"),
            Dialect::Ollama => data["done"] == true || looks("done"),
            Dialect::AgentC => match kind {
                "completion" => data["running"] == false,
                "interaction" => data["started"] == false,
                "cancelled" => true,
                _ => ["completion", "interaction", "cancelled"].into_iter().any(looks),
            },
            Dialect::GeminiInteractions => {
                let is_end = |kind: &str| kind == "interaction.completed";
                is_end(frame.event)
                    || data["event_type"].as_str().is_some_and(is_end)
                    || data["steps"].is_array()
                    || looks("interaction")
            }
            Dialect::BedrockConverse => {
                frame.event == "messageStop"
                    || data.get("messageStop").or(data.get("output")).is_some()
                    || looks("messageStop")
                    || looks("output")
            }
            Dialect::Cohere => {
                [kind, frame.event].contains(&"message-end")
                    || data["finish_reason"].is_string()
                    || looks("message")
            }
            other => panic!("say how {other} ends"),
        };
        if is_end {
            // A frame that is the whole input includes the whitespace after it.
            let end = usize::try_from(frame.bytes.end).expect("a case is small");
            ends.push(input[..end].trim_ascii_end().len());
        }
    }
    ends
}
