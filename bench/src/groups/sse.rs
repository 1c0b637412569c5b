//! Server-sent events: bytes in reads to events.

use std::convert::Infallible;
use std::hint::black_box;
use std::num::NonZero;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use anyhow::Result;
use bytes::Bytes;
use futures_util::stream::{self, Iter};
use serde_json::json;

use super::{Bench, Group, Scale};
use crate::input::{MB, Stream, text_events, words};
use crate::measure::{Measured, Row, Runner, alternating, timed};
use crate::ours::frames;
use crate::report::{self, Target};

/// What we want to be at least, as a part of the fastest.
const OF_THE_FASTEST: f64 = 0.9;

pub(crate) fn run(bench: &Bench) -> Result<Group> {
    let size = if bench.scale == Scale::Full { 4 * MB } else { MB };
    let events = text_events(size / 4);
    let long = Stream::deltas("text_delta", "text", &words(size), size);
    let mut rows = Vec::new();
    for (name, stream, read) in [
        ("reads of 64 bytes", &events, 64),
        ("reads of 1,400 bytes", &events, 1_400),
        ("reads of 16,384 bytes", &events, 16_384),
        ("one event, reads of 16,384", &long, 16_384),
    ] {
        rows.push(alternating(row(bench, name, stream, read)?, bench.effort)?);
    }
    let title = "server-sent events: bytes to events";
    Ok(Group { table: report::table(title, &rows), targets: targets(&rows), rows })
}

fn row<'a>(bench: &'a Bench, name: &str, stream: &'a Stream, read: usize) -> Result<Row<'a>> {
    let bytes = stream.bytes();
    // As a client has them from its connection.
    let reads: Rc<[Bytes]> = bytes.chunks(read).map(Bytes::copy_from_slice).collect();
    let runner = |name, work: fn(&[Bytes]) -> usize| {
        let reads = Rc::clone(&reads);
        Runner::new(name, timed(move || work(&reads), |seen| seen))
    };
    let mut runners = vec![
        runner("reknit", |reads| frames(reads.iter().map(|read| &read[..]))),
        runner("sse-core", sse_core),
        runner("sse-stream", sse_stream),
        runner("sseer", sseer),
        runner("eventsource-stream", eventsource_stream),
    ];
    if let Some(node) = &bench.node {
        let input = node.input(str::from_utf8(bytes)?)?;
        let work = node.work("eventsource-parser", input, &json!({"read": read}));
        runners.push(Runner::new("eventsource-parser", work));
    }
    Ok(Row { name: name.to_owned(), size: bytes.len(), steps: stream.events().len(), runners })
}

fn targets(rows: &[Measured]) -> Vec<Target> {
    let fastest = |row: &Measured| {
        row.peers()
            .map(|peer| peer.times.ratio_to(row.ours()))
            .min_by(f64::total_cmp)
            .unwrap_or(f64::INFINITY)
    };
    let least = rows.iter().map(fastest).min_by(f64::total_cmp).unwrap_or(0.0);
    let ahead = rows.iter().filter(|row| fastest(row) > 1.0).count();
    vec![
        Target::at_least("SSE: every row, of the fastest", OF_THE_FASTEST, Some(least)),
        Target::at_least("SSE: rows in which we are ahead", (rows.len() / 2 + 1) as f64, Some(ahead as f64)),
    ]
}

fn sse_core(reads: &[Bytes]) -> usize {
    let mut decoder = sse_core::SseDecoder::with_limit(NonZero::<usize>::MAX);
    let mut seen = 0;
    for read in reads {
        let mut rest = &read[..];
        while let Some(event) = decoder.next(&mut rest) {
            if let sse_core::SseEvent::Message(event) = black_box(event).expect("no event is too long") {
                seen += event.data.len() + event.event.len();
            }
        }
    }
    seen
}

fn sse_stream(reads: &[Bytes]) -> usize {
    drain(sse_stream::SseByteStream::new(arriving(reads)), |event| {
        let event = event.expect("the events are valid");
        event.data.map_or(0, |data| data.len()) + event.event.map_or(0, |name| name.len())
    })
}

fn sseer(reads: &[Bytes]) -> usize {
    drain(sseer::EventStream::new(arriving(reads)), |event| {
        let event = event.expect("the events are valid");
        event.data.len() + event.event.len()
    })
}

fn eventsource_stream(reads: &[Bytes]) -> usize {
    drain(eventsource_stream::EventStream::new(arriving(reads)), |event| {
        let event = event.expect("the events are valid");
        event.data.len() + event.event.len()
    })
}

/// The reads as a stream that is always ready.
fn arriving(reads: &[Bytes]) -> Iter<impl Iterator<Item = Result<Bytes, Infallible>>> {
    stream::iter(reads.iter().cloned().map(Ok))
}

/// The sum over all events of a stream that never waits, without a runtime around it.
fn drain<S: futures_util::Stream>(stream: S, mut each: impl FnMut(S::Item) -> usize) -> usize {
    let mut stream = pin!(stream);
    let mut context = Context::from_waker(Waker::noop());
    let mut seen = 0;
    while let Poll::Ready(Some(event)) = stream.as_mut().poll_next(&mut context) {
        seen += each(black_box(event));
    }
    seen
}
