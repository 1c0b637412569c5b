//! Frames to events: every input of `corpus/wire` through its translator.

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
        // Only the last frame of the dialect, alone, says nothing.
        assert!(!events.is_empty() || wire.case.name.ends_with("done-alone"), "corpus/{}", wire.case.name);
    }
}

/// Frame, wire and message by hand are what [`reknit::Reply`] is made of.
#[test]
fn events_applied_by_hand_give_the_messages_of_the_reply() {
    for wire in corpus::wire_cases() {
        let mut messages = vec![Message::default()];
        translate(wire.dialect, &[&wire.case.input], |event, place| {
            let last = messages.last_mut().expect("there is one");
            if matches!(event, Event::Started(_)) && last.status() != Status::Waiting {
                last.cut();
                messages.push(Message::default());
            }
            messages.last_mut().expect("there is one").apply(event, place);
        });
        messages.last_mut().expect("there is one").cut();
        let reply = replies::read(wire.dialect, &[&wire.case.input]);
        let (by_hand, whole): (Vec<_>, Vec<_>) =
            (messages.iter().map(without_framing).collect(), reply.messages().map(without_framing).collect());
        assert_eq!(by_hand, whole, "corpus/{}", wire.case.name);
    }
}

/// A message as JSON, but for its diagnostics: those of the decoder come by another way.
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
    let problems = std::iter::from_fn(|| decoder.next_problem());
    let dropped = problems.filter(|problem| problem.kind == Kind::DroppedFrame).last();
    let length: usize = pieces.iter().map(|piece| piece.len()).sum();
    match dropped {
        Some(frame) => translator.finish_inside_frame(length as u64 - frame.at),
        None => translator.finish(),
    }
    while let Some(event) = translator.next_event() {
        take(event, place);
    }
}

/// An event that fits nothing is noticed, and the message stays as it was.
#[test]
fn an_event_for_a_block_that_is_not_there_is_only_noticed() {
    let mut message = Message::default();
    message.apply(Event::Started(reknit::event::Start::default()), Place::default());
    let before = without_framing(&message);
    let change = message.apply(Event::Grew { block: reknit::event::Slot(7), text: "x" }, Place::default());
    assert!(matches!(change, Change::Noticed(_)), "{change:?}");
    assert_eq!(without_framing(&message), before);
    assert_eq!(message.diagnostics().len(), 1);
}
