//! Frames of a dialect to events: the same for every cut, and by hand they give what [`Reply`] gives.
#![no_main]

use fuzz::{Input, mutate_stream};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use reknit::diagnostic::{Kind, Place};
use reknit::event::Event;
use reknit::frame::Decoder;
use reknit::message::Status;
use reknit::wire::Translator;
use reknit::{Dialect, Limits, Message, Reply};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_stream(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::new(data) else { return };
    let dialect = input.dialect();
    input.same_for_its_cut(|pieces| {
        let mut events = Vec::new();
        translate(dialect, pieces, |event, place| events.push(format!("{place:?} {event:?}")));
        events
    });
    let mut reply = Reply::new(dialect);
    reply.push(input.bytes);
    reply.finish();
    if reply.error().is_none() {
        let theirs: Vec<_> = reply.messages().map(without_framing).collect();
        assert_eq!(by_hand(dialect, input.bytes), theirs);
    }
});

fn translate(dialect: Dialect, pieces: &[&[u8]], mut take: impl FnMut(Event<'_>, Place)) {
    let mut decoder = Decoder::detect(&Limits::default());
    let mut translator = Translator::new(dialect);
    let mut place = Place::default();
    let mut dropped = None;
    let mut drain = |decoder: &mut Decoder, translator: &mut Translator| {
        // A frame that is damaged is the last one; no input is longer than the limit.
        while let Ok(Some(frame)) = decoder.next_frame() {
            place = Place { at: frame.bytes.start, frame: frame.number };
            translator.push(&frame);
            while let Some(event) = translator.next_event() {
                take(event, place);
            }
            while decoder.next_diagnostic().is_some() {}
        }
        let problems = std::iter::from_fn(|| decoder.next_diagnostic());
        dropped = problems.filter(|problem| problem.kind == Kind::DroppedFrame).last();
        place
    };
    for piece in pieces {
        decoder.push(piece);
        drain(&mut decoder, &mut translator);
    }
    decoder.finish();
    let place = drain(&mut decoder, &mut translator);
    let length: usize = pieces.iter().map(|piece| piece.len()).sum();
    let from = dropped.map(|frame| frame.place().expect("it is of the stream").at);
    translator.finish(from.map_or(0, |from| length as u64 - from));
    while let Some(event) = translator.next_event() {
        take(event, place);
    }
}

/// The messages that the events make, applied one by one.
fn by_hand(dialect: Dialect, bytes: &[u8]) -> Vec<serde_json::Value> {
    let mut messages = vec![Message::default()];
    translate(dialect, &[bytes], |event, place| {
        let last = messages.last_mut().expect("there is one");
        if matches!(event, Event::Started(_)) && last.status() != Status::Waiting {
            cut(last);
            messages.push(Message::default());
        }
        messages.last_mut().expect("there is one").apply(event, place);
    });
    cut(messages.last_mut().expect("there is one"));
    messages.iter().map(without_framing).collect()
}

/// Ends a message early, if it is not over.
fn cut(message: &mut Message) {
    if !message.is_over() {
        message.apply(Event::Cut, Place::default());
    }
}

/// A message as JSON, without its diagnostics: those of the decoder come by another way.
fn without_framing(message: &Message) -> serde_json::Value {
    let mut json = serde_json::to_value(message).expect("a message is JSON");
    let object = json.as_object_mut().expect("it is an object");
    object.remove("diagnostics");
    object.remove("diagnostics_omitted");
    json
}
