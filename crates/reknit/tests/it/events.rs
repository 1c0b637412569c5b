//! From frames to events: every input in `corpus/wire` through its translator.

use reknit::diagnostic::{Kind, Place};
use reknit::event::Event;
use reknit::frame::Decoder;
use reknit::message::{Change, Status};
use reknit::wire::Translator;
use reknit::{Dialect, Limits, Message};

use crate::corpus;
use crate::cuts::same_for_every_cut;
use crate::replies;

#[test]
fn every_wire_input_gives_the_same_events_for_every_cut() {
    for wire in corpus::wire_cases() {
        let events = same_for_every_cut(&wire.case.input, |pieces| {
            let mut events = Vec::new();
            translate(wire.dialect, pieces, |event, place| events.push(format!("{place:?} {event:?}")));
            events
        });
        // Only a stream that consists of the last frame of the dialect has no events.
        assert!(!events.is_empty() || wire.case.name.ends_with("done-alone"), "corpus/{}", wire.case.name);
    }
}

/// [`reknit::Reply`] does the same as a decoder, a translator and a message that are put together by hand.
#[test]
fn events_applied_by_hand_give_the_messages_of_the_reply() {
    for wire in corpus::wire_cases() {
        let mut messages = vec![Message::default()];
        translate(wire.dialect, &[&wire.case.input], |event, place| {
            let last = messages.last_mut().expect("there is one");
            if matches!(event, Event::Started(_)) && last.status() != Status::Waiting {
                cut(last);
                messages.push(Message::default());
            }
            messages.last_mut().expect("there is one").apply(event, place);
        });
        cut(messages.last_mut().expect("there is one"));
        let reply = replies::read(wire.dialect, &[&wire.case.input]);
        let (by_hand, whole): (Vec<_>, Vec<_>) =
            (messages.iter().map(without_framing).collect(), reply.messages().map(without_framing).collect());
        assert_eq!(by_hand, whole, "corpus/{}", wire.case.name);
    }
}

/// Ends a message early, if it is not over.
fn cut(message: &mut Message) {
    if !message.is_over() {
        message.apply(Event::Cut, Place::default());
    }
}

/// A message as JSON, without its diagnostics: those of the decoder are missing if it is made by hand.
fn without_framing(message: &Message) -> serde_json::Value {
    let mut json = serde_json::to_value(message).expect("a message is JSON");
    json.as_object_mut().expect("it is an object").remove("diagnostics");
    json
}

fn translate(dialect: Dialect, pieces: &[&[u8]], mut take: impl FnMut(Event<'_>, Place)) {
    let mut decoder = Decoder::detect(&Limits::default());
    let mut translator = Translator::new(dialect);
    let mut place = Place::default();
    let mut drain = |decoder: &mut Decoder, translator: &mut Translator| {
        while let Some(frame) = decoder.next_frame().expect("no case is longer than the limit") {
            place = Place { at: frame.bytes.start, frame: frame.number };
            translator.push(&frame);
            while let Some(event) = translator.next_event() {
                take(event, place);
            }
        }
        place
    };
    for piece in pieces {
        decoder.push(piece);
        drain(&mut decoder, &mut translator);
    }
    decoder.finish();
    let place = drain(&mut decoder, &mut translator);
    let problems = std::iter::from_fn(|| decoder.next_diagnostic());
    let dropped = problems.filter(|problem| problem.kind == Kind::DroppedFrame).last();
    let length: usize = pieces.iter().map(|piece| piece.len()).sum();
    let from = dropped.map(|frame| frame.place().expect("it is of the stream").at);
    translator.finish(from.map_or(0, |from| length as u64 - from));
    while let Some(event) = translator.next_event() {
        take(event, place);
    }
}

/// An event that does not fit only adds a diagnostic.
#[test]
fn an_event_for_an_unknown_block_only_adds_a_diagnostic() {
    let mut message = Message::default();
    message.apply(Event::Started(reknit::event::Start::default()), Place::default());
    let before = without_framing(&message);
    let change =
        message.apply(Event::Grew { block: reknit::event::Slot::new(7), text: "x" }, Place::default());
    assert!(matches!(change, Change::Noticed(_)), "{change:?}");
    assert_eq!(without_framing(&message), before);
    assert_eq!(message.diagnostics().len(), 1);
}
