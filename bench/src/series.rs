//! The series: one kind of work on inputs that double in size.

use std::time::Duration;

use serde_json::json;

use crate::input::{Shape, Stream, words};
use crate::measure::{Effort, Times, Work, interleaved, time};
use crate::work::{frames, jiter_each, partial_json, reply, serde_json_each, serde_json_once};

const KB: usize = 1 << 10;
const MB: usize = 1 << 20;

/// As models send them: a token has three to four letters, and a delta a few tokens.
const DELTA: usize = 16;
const LONG_DELTA: usize = 40;

/// The most that twice the input may cost.
pub(crate) const BOUND: f64 = 2.2;

/// A peer that reads everything anew with each delta is left out once a run would take longer.
const PATIENCE: Duration = Duration::from_millis(1_500);

pub(crate) struct Series {
    pub(crate) name: String,
    /// What stands in the columns of floor and peer; empty if there is none.
    pub(crate) floor: &'static str,
    pub(crate) peer: &'static str,
    pub(crate) rows: Vec<Row>,
}

pub(crate) struct Row {
    /// What was read, in bytes.
    pub(crate) size: usize,
    pub(crate) deltas: usize,
    pub(crate) times: Times,
    /// How many times as long as the row before it took.
    pub(crate) growth: Option<f64>,
    /// How many times as long as the floor.
    pub(crate) to_floor: Option<f64>,
    /// How many times as long the peer took.
    pub(crate) peer: Option<f64>,
}

impl Series {
    /// The growth over the last three doublings, as the mean of one; over all, if there are fewer.
    ///
    /// Where work grows faster than its input the largest inputs show it. One doubling alone also shows
    /// the step from one cache to the next, and whoever else uses the machine.
    pub(crate) fn growth(&self) -> f64 {
        let growths: Vec<_> = self.rows.iter().rev().filter_map(|row| row.growth).take(3).collect();
        growths.iter().product::<f64>().powf(1.0 / growths.len() as f64)
    }

    pub(crate) fn is_linear(&self) -> bool {
        self.growth() <= BOUND
    }
}

/// How large the inputs are, and how often they are read.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) effort: Effort,
    /// The largest tool argument, text and stream of events.
    argument: usize,
    text: usize,
    events: usize,
}

impl Plan {
    pub(crate) const FULL: Self = Self {
        effort: Effort { runs: 11, each: Duration::from_millis(2_500) },
        argument: 4 * MB,
        text: 16 * MB,
        events: 16 * MB,
    };
    pub(crate) const QUICK: Self = Self {
        effort: Effort { runs: 5, each: Duration::from_millis(300) },
        argument: 512 * KB,
        text: 4 * MB,
        events: 8 * MB,
    };

    /// Measures every series; `each` is given them as they are done.
    pub(crate) fn run(self, mut each: impl FnMut(&Series)) {
        for shape in Shape::ALL {
            each(&self.argument(shape));
            each(&self.argument_in_reply(shape));
        }
        for delta in [DELTA, LONG_DELTA] {
            each(&self.text(delta));
        }
        for read in [64, 1_400, 16_384] {
            each(&self.events(read));
        }
        each(&self.long_event());
    }

    fn argument(self, shape: Shape) -> Series {
        let arguments: Vec<_> = doublings(64 * KB, self.argument).map(|size| shape.argument(size)).collect();
        let mut expected = Duration::ZERO;
        let inputs = arguments.iter().map(|argument| {
            let mut peer: Option<Work<'_>> = None;
            if expected <= PATIENCE {
                let mut work: Work<'_> = Box::new(move || jiter_each(argument, DELTA));
                // Twice the input is four times the work.
                expected = 4 * time(&mut work);
                peer = Some(work);
            }
            Input {
                size: argument.len(),
                deltas: argument.len().div_ceil(DELTA),
                ours: Box::new(move || partial_json(argument, DELTA)),
                floor: Some(Box::new(move || serde_json_once(argument))),
                peer,
            }
        });
        let name = format!("tool argument, {}, {DELTA}-byte deltas, PartialJson", shape.name());
        self.measure(name, "serde_json once", "jiter each delta", inputs.collect())
    }

    fn argument_in_reply(self, shape: Shape) -> Series {
        let start =
            Stream::start(&json!({"type": "tool_use", "id": "toolu_1", "name": "write", "input": {}}));
        let arguments = doublings(64 * KB, self.argument).map(|size| shape.argument(size));
        let streams: Vec<_> = arguments
            .map(|text| (text.len(), Stream::deltas("input_json_delta", "partial_json", &text, DELTA)))
            .collect();
        let inputs = streams.iter().map(|(size, deltas)| {
            let (start, data) = (&start, deltas.data());
            Input {
                size: *size,
                deltas: deltas.events().len(),
                ours: Box::new(move || reply(start, deltas, 1)),
                floor: Some(Box::new(move || serde_json_each(&data, 1))),
                peer: None,
            }
        });
        let name = format!("tool argument, {}, {DELTA}-byte deltas, bytes to Reply", shape.name());
        self.measure(name, "serde_json each event", "", inputs.collect())
    }

    fn text(self, delta: usize) -> Series {
        let start = Stream::start(&json!({"type": "text", "text": ""}));
        // The same events again and again, so that what is measured is the engine and not the reading of
        // a hundred megabytes from memory.
        let unit = delta * 4 * KB;
        let deltas = Stream::deltas("text_delta", "text", &words(unit), delta);
        let data = deltas.data();
        let inputs = doublings(MB / unit, self.text / unit).map(|times| {
            let (start, deltas, data) = (&start, &deltas, &data);
            Input {
                size: times * unit,
                deltas: times * deltas.events().len(),
                ours: Box::new(move || reply(start, deltas, times)),
                floor: Some(Box::new(move || serde_json_each(data, times))),
                peer: None,
            }
        });
        let name = format!("text message, {delta}-byte deltas, bytes to Reply");
        self.measure(name, "serde_json each event", "", inputs.collect())
    }

    fn events(self, read: usize) -> Series {
        let events = Stream::deltas("text_delta", "text", &words(64 * KB), LONG_DELTA);
        let bytes = events.bytes();
        let inputs = doublings(MB / bytes.len(), self.events / bytes.len()).map(|times| Input {
            size: times * bytes.len(),
            deltas: times * events.events().len(),
            ours: Box::new(move || frames((0..times).flat_map(|_| bytes.chunks(read)))),
            floor: None,
            peer: None,
        });
        self.measure(format!("server-sent events, reads of {read} bytes, Decoder"), "", "", inputs.collect())
    }

    fn long_event(self) -> Series {
        let streams: Vec<_> = doublings(64 * KB, self.argument)
            .map(|size| Stream::deltas("text_delta", "text", &words(size), size))
            .collect();
        let inputs = streams.iter().map(|stream| Input {
            size: stream.bytes().len(),
            deltas: 1,
            ours: Box::new(move || frames(stream.bytes().chunks(1_400))),
            floor: None,
            peer: None,
        });
        let name = "one server-sent event, reads of 1400 bytes, Decoder".to_owned();
        self.measure(name, "", "", inputs.collect())
    }

    fn measure(
        self,
        name: String,
        floor: &'static str,
        peer: &'static str,
        inputs: Vec<Input<'_>>,
    ) -> Series {
        let mut work = Vec::new();
        let mut places = Vec::new();
        for Input { size, deltas, ours, floor, peer } in inputs {
            places.push((size, deltas, floor.is_some(), peer.is_some()));
            work.push(ours);
            work.extend(floor);
            work.extend(peer);
        }
        let mut times = interleaved(&mut work, self.effort).into_iter();
        let mut rows: Vec<Row> = Vec::new();
        for (size, deltas, has_floor, has_peer) in places {
            let ours = times.next().expect("all work was timed");
            let floor = if has_floor { times.next() } else { None };
            let peer = if has_peer { times.next() } else { None };
            rows.push(Row {
                size,
                deltas,
                growth: rows.last().map(|before| ours.ratio_to(&before.times)),
                to_floor: floor.map(|floor| ours.ratio_to(&floor)),
                peer: peer.map(|peer| peer.ratio_to(&ours)),
                times: ours,
            });
        }
        Series { name, floor, peer, rows }
    }
}

struct Input<'a> {
    size: usize,
    deltas: usize,
    ours: Work<'a>,
    floor: Option<Work<'a>>,
    peer: Option<Work<'a>>,
}

fn doublings(first: usize, last: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(first), |size| Some(size * 2)).take_while(move |size| *size <= last)
}
