//! A limit is reached at the same byte of the input for every cut, and everything before that byte is kept.

use reknit::Hint;
use reknit::diagnostic::Kind;
use reknit::event::End;
use reknit::message::{Args, Status};
use reknit::reply::Error;
use reknit::tags::{Tagger, profile};
use reknit::{Dialect, Limits, Message, Reply, frame};

use crate::cuts::same_for_every_cut;
use crate::replies::{Outcome, outcome};

fn small() -> Limits {
    let mut limits = Limits::default();
    limits.frame_bytes = 1 << 20;
    limits.reply_bytes = 1 << 20;
    limits.blocks = 100;
    limits.diagnostics = 100;
    limits.text_bytes = 1 << 20;
    limits.param_bytes = 1 << 20;
    limits
}

fn small_but(set: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = small();
    set(&mut limits);
    limits
}

fn read(limits: &Limits, input: &[u8]) -> Outcome {
    same_for_every_cut(input, |pieces| outcome(Reply::new(Dialect::OpenAiChat).with_limits(limits), pieces))
}

fn last(outcome: &Outcome) -> &Message {
    outcome.messages.last().expect("there is always one")
}

fn text(words: &str) -> String {
    format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{words}\"}}}}]}}\n\n")
}

fn call(index: usize, arguments: &str) -> String {
    let function = format!("{{\"name\":\"f\",\"arguments\":{}}}", serde_json::to_string(arguments).unwrap());
    format!(
        "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":{index},\"id\":\"call_{index}\",\"function\":{function}}}]}}}}]}}\n\n"
    )
}

#[test]
fn a_frame_that_is_too_long_is_refused_at_its_byte() {
    let first = text("short");
    let input = first.clone() + &text(&"long ".repeat(40)) + &text("never read");
    let mut limits = small();
    limits.frame_bytes = 100;
    let outcome = read(&limits, input.as_bytes());
    let at = first.len() as u64 + 100;
    assert_eq!(outcome.error, Some(Error::Frame(frame::Error::TooLong { at, limit: 100 })));
    assert_eq!(last(&outcome).text(), "short");
    assert_eq!(last(&outcome).status(), Status::Cut);
    let notice = &last(&outcome).diagnostics()[0];
    assert_eq!((notice.kind, notice.place().unwrap().at), (Kind::LimitReached, at));
    let error = outcome.error.expect("it was compared");
    assert!(error.to_string().starts_with(&format!("byte {at}: ")), "{error}");
    assert!(error.hint().contains("frame_bytes"));
}

#[test]
fn a_text_of_its_own_that_is_too_long_is_refused_at_its_byte() {
    let input = "<read_file><path>a</path></read_file><read_file><path>bcdef</path></read_file>";
    let mut limits = small();
    limits.text_bytes = 50;
    let (message, error) = same_for_every_cut(input.as_bytes(), |pieces| {
        let tagger = Tagger::new(profile("cline").unwrap(), None, "").unwrap();
        let outcome = outcome(Reply::of_text(tagger).with_limits(&limits), pieces);
        (last(&outcome).clone(), outcome.error)
    });
    assert_eq!(error, Some(Error::TooLong { limit: 50 }));
    assert_eq!(message.status(), Status::Cut);
    assert_eq!(message.tool_calls().filter(|call| call.end() == Some(End::Closed)).count(), 1);
}

#[test]
fn a_reply_that_is_too_long_is_refused_at_its_byte() {
    let frames = [text("one "), text("two "), text("three")];
    let input = frames.concat();
    let two = frames[..2].concat().len();
    for (limit, expected) in [(0, ""), (1, ""), (two - 2, "one "), (two, "one two "), (two + 9, "one two ")] {
        let mut limits = small();
        limits.reply_bytes = limit as u64;
        let outcome = read(&limits, input.as_bytes());
        assert_eq!(outcome.error, Some(Error::TooLong { limit: limit as u64 }));
        assert_eq!(
            (last(&outcome).text().as_str(), last(&outcome).status()),
            (expected, Status::Cut),
            "{limit}"
        );
        assert_eq!(last(&outcome).diagnostics().last().unwrap().place().unwrap().at, limit as u64);
    }
    let mut fits = small();
    fits.reply_bytes = input.len() as u64;
    assert_eq!(read(&fits, input.as_bytes()).error, None);
}

#[test]
fn a_reply_of_too_many_values_is_refused_at_its_byte() {
    let input = text("one ") + &text("[two,") + &text("three]");
    // Those of a frame, and two in the text of the second.
    let frame = text("one ").bytes().filter(|byte| b"[{,".contains(byte)).count();
    let comma = input.find("two,").unwrap() as u64 + 3;
    for (limit, at, expected) in [(0, 6, ""), (frame, text("one ").len() as u64 + 6, "one ")] {
        let outcome = read(&small_but(|limits| limits.values = limit), input.as_bytes());
        assert_eq!(outcome.error, Some(Error::TooManyValues { at, limit }));
        assert_eq!((last(&outcome).text().as_str(), last(&outcome).status()), (expected, Status::Cut));
        assert_eq!(last(&outcome).diagnostics().last().unwrap().place().unwrap().at, at);
    }
    let in_text = input[..comma as usize].bytes().filter(|byte| b"[{,".contains(byte)).count();
    let outcome = read(&small_but(|limits| limits.values = in_text), input.as_bytes());
    assert_eq!(outcome.error, Some(Error::TooManyValues { at: comma, limit: in_text }));
    assert_eq!(read(&small_but(|limits| limits.values = 3 * frame + 2), input.as_bytes()).error, None);
}

/// If the input is one piece, both limits are reached in it. The first one is the error.
#[test]
fn of_two_limits_the_first_is_the_error() {
    let input = text("short") + &text(&"long ".repeat(40));
    let mut limits = small();
    limits.frame_bytes = 100;
    limits.reply_bytes = 200;
    let outcome = read(&limits, input.as_bytes());
    let at = text("short").len() as u64 + 100;
    assert_eq!(outcome.error, Some(Error::Frame(frame::Error::TooLong { at, limit: 100 })));
    assert_eq!(last(&outcome).diagnostics().len(), 1);
}

#[test]
fn a_block_too_many_is_refused_where_it_begins() {
    let frames = [call(0, "{}"), call(1, "{}"), call(2, "{}"), text("lost")];
    let mut limits = small();
    limits.blocks = 2;
    let outcome = read(&limits, frames.concat().as_bytes());
    let at = (frames[0].len() + frames[1].len()) as u64;
    assert_eq!(outcome.error, Some(Error::TooManyBlocks { at, limit: 2 }));
    assert_eq!(last(&outcome).blocks().len(), 2);
    assert_eq!(last(&outcome).status(), Status::Cut);
    let mut three = small();
    three.blocks = 3;
    assert_eq!(read(&three, frames[..3].concat().as_bytes()).error, None);
}

/// Otherwise a stream could start a new message with every frame.
#[test]
fn blocks_are_counted_over_all_messages() {
    let message = text("x") + "data: [DONE]\n\n";
    let outcome = read(&small_but(|limits| limits.blocks = 3), message.repeat(5).as_bytes());
    assert_eq!(outcome.error, Some(Error::TooManyBlocks { at: 3 * message.len() as u64, limit: 3 }));
    assert_eq!(outcome.messages.iter().map(|message| message.blocks().len()).sum::<usize>(), 3);
}

#[test]
fn arguments_nested_too_deep_are_malformed() {
    let mut limits = small();
    limits.json_depth = 3;
    let input = call(0, "[[1]]") + &call(1, "[[[1]]]") + "data: [DONE]\n\n";
    let outcome = read(&limits, input.as_bytes());
    let ends: Vec<_> =
        last(&outcome).tool_calls().map(|call| matches!(call.args, Args::Complete(_))).collect();
    assert_eq!(ends, [true, false]);
    let notice = last(&outcome).diagnostics().iter().find(|notice| notice.kind == Kind::MalformedArguments);
    assert_eq!(
        notice.expect("it is noticed").message,
        "arguments of `f`: nested too deeply (limit 3) at byte 2"
    );
}

#[test]
fn arguments_nested_a_hundred_thousand_deep_are_only_malformed() {
    for deep in ["[".repeat(100_000), "{\"a\":".repeat(100_000)] {
        let input = call(0, &deep) + &text("read on") + "data: [DONE]\n\n";
        // Trying every cut would take too long. Some of these pieces end inside the nesting.
        let whole = outcome(Reply::detect(), &[input.as_bytes()]);
        let pieces: Vec<_> = input.as_bytes().chunks(1000).collect();
        assert_eq!(outcome(Reply::detect(), &pieces), whole);
        assert_eq!(last(&whole).text(), "read on");
        let call = last(&whole).tool_calls().next().expect("there is a call");
        assert!(
            matches!(&call.args, Args::Malformed { raw, .. } if raw.len() == deep.len()),
            "{:?}",
            call.name
        );
    }
}

/// The same for an unknown field in the provider's own JSON.
#[test]
fn a_frame_nested_a_hundred_thousand_deep_is_read() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for member in
        [format!("\"future\":{deep}"), format!("\"usage\":{{\"future\":{deep}}}"), format!("\"id\":{deep}")]
    {
        let frame =
            format!("data: {{{member},\"choices\":[{{\"delta\":{{\"content\":\"Hi\",{member}}}}}]}}\n\n");
        for reply in [Reply::detect(), Reply::new(Dialect::OpenAiChat)] {
            assert_eq!(last(&outcome(reply, &[frame.as_bytes()])).text(), "Hi", "{}", &member[..20]);
        }
    }
}

#[test]
fn further_diagnostics_are_only_counted() {
    let unknown = "data: {\"object\":\"heartbeat\"}\n\n";
    let input = text("Hi") + &unknown.repeat(5);
    let outcome = read(&small_but(|limits| limits.diagnostics = 2), input.as_bytes());
    assert_eq!(outcome.error, None);
    assert_eq!(last(&outcome).diagnostics().len(), 2);
    let json = serde_json::to_value(last(&outcome)).expect("a message is JSON");
    assert_eq!(json["diagnostics_omitted"], 3);
}

/// Bytes after the limit are not read.
#[test]
fn bytes_after_a_limit_change_nothing() {
    let mut limits = small();
    limits.reply_bytes = 20;
    let mut reply = Reply::new(Dialect::OpenAiChat).with_limits(&limits);
    reply.push(text("Hi").as_bytes());
    let before = reply.message().clone();
    assert!(reply.push(text("more").as_bytes()).next().is_none());
    assert!(reply.finish().next().is_none());
    assert_eq!(*reply.message(), before);
}
