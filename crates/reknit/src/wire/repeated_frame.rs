//! [`Repeat`]: frames that differ from the one before only in the text that they bring.
//!
//! Most frames of a stream do: of a few hundred bytes, only those of the delta are new. Comparing such a frame
//! with the one before takes a fraction of the time that reading it takes.

use std::ops::Range;

use super::fields::{Raw, Scan};
use crate::event::Slot;
use crate::frame::Frame;

/// The last frame that was read, if all it did was to make a block grow.
#[derive(Debug, Default)]
pub(super) struct Repeat {
    /// `None` if it did something else.
    shape: Option<Shape>,
    /// Its name, and its data without the strings that may differ; not in `shape`, so that their memory is
    /// reused.
    event: String,
    around: String,
}

/// The block that a frame made grow, and the place of the string that it grew by.
#[derive(Debug)]
pub(super) struct Growth {
    pub(super) block: Slot,
    pub(super) text: Range<usize>,
    /// A string that means nothing.
    pub(super) padding: Option<Range<usize>>,
}

#[derive(Debug)]
struct Shape {
    block: Slot,
    strings: Strings,
    /// Where in [`Repeat::around`] the strings are missing; twice the same place if there is only one.
    gaps: [usize; 2],
}

/// The strings of a frame that may differ, in their order.
#[derive(Clone, Copy, Debug)]
enum Strings {
    Text,
    TextPadding,
    PaddingText,
}

impl Repeat {
    /// Sets the frame that was read last, with its growth if it did nothing else.
    pub(super) fn set(&mut self, frame: &Frame<'_>, growth: Option<Growth>) {
        self.shape = growth.map(|Growth { block, text, padding }| {
            let (strings, [first, second]) = match padding {
                None => (Strings::Text, [text.clone(), text.end..text.end]),
                Some(padding) if padding.start < text.start => (Strings::PaddingText, [padding, text]),
                Some(padding) => (Strings::TextPadding, [text, padding]),
            };
            frame.event.clone_into(&mut self.event);
            self.around.clear();
            let mut append = |part: Range<usize>| {
                self.around.push_str(&frame.data[part]);
                self.around.len()
            };
            let gaps = [append(0..first.start), append(first.end..second.start)];
            append(second.end..frame.data.len());
            Shape { block, strings, gaps }
        });
    }

    /// The block that `frame` makes grow and the string that it grows by, if it is like the last frame.
    pub(super) fn read<'a>(&self, frame: &Frame<'a>) -> Option<(Slot, Raw<'a>)> {
        let shape = self.shape.as_ref()?;
        let around = self.around.as_bytes();
        let [first, second] = shape.gaps;
        let mut scan = Scan::new(frame.data);
        scan.skip(&around[..first])?;
        let string = scan.string_value()?;
        scan.skip(&around[first..second])?;
        let text = match shape.strings {
            Strings::Text => string,
            Strings::TextPadding => {
                scan.string_value()?;
                string
            }
            Strings::PaddingText => scan.string_value()?,
        };
        (scan.rest() == &around[second..] && frame.event == self.event).then_some((shape.block, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Kind;

    fn frame(data: &str) -> Frame<'_> {
        Frame { number: 0, bytes: 0..0, kind: Kind::Data, event: "", data, id: "", retry: None }
    }

    /// Checks what a frame is read as after `{"a":1,"t":"x","p":"y"}`, where `t` is the text and `p` is padding.
    fn check(data: &str, expected: Option<&str>) {
        let known = r#"{"a":1,"t":"x","p":"y"}"#;
        let place = |string| known.find(string).map(|start| start..start + 3).unwrap();
        let mut repeat = Repeat::default();
        let growth = Growth { block: Slot::new(3), text: place(r#""x""#), padding: Some(place(r#""y""#)) };
        repeat.set(&frame(known), Some(growth));
        let read = repeat.read(&frame(data));
        assert_eq!(read.and_then(|(_, text)| text.string_body()), expected, "{data}");
        assert!(read.is_none_or(|(block, _)| block == Slot::new(3)));
    }

    #[test]
    fn another_text_is_growth() {
        check(r#"{"a":1,"t":"x","p":"y"}"#, Some("x"));
        check(r#"{"a":1,"t":"","p":""}"#, Some(""));
        check(r#"{"a":1,"t":"say \"hi\"","p":"\\"}"#, Some(r#"say \"hi\""#));
    }

    #[test]
    fn anything_else_must_be_read() {
        for data in [
            "",
            r#"{"a":1,"t":"#,
            r#"{"a":2,"t":"x","p":"y"}"#,
            r#"{"a":1,"t":2,"p":"y"}"#,
            r#"{"a":1,"t":["x"],"p":"y"}"#,
            r#"{"a":1,"t":"x","p":null}"#,
            r#"{"a":1,"t":"x","q":"y"}"#,
            r#"{"a":1,"t":"x","p":"y"} "#,
            r#"{"a":1,"t":"x","p":"y","t":"z"}"#,
        ] {
            check(data, None);
        }
    }

    #[test]
    fn a_frame_that_did_more_is_not_repeated() {
        let mut repeat = Repeat::default();
        let growth = Growth { block: Slot::new(0), text: 5..8, padding: None };
        repeat.set(&frame(r#"{"t":"x"}"#), Some(growth));
        assert!(repeat.read(&frame(r#"{"t":"y"}"#)).is_some());
        assert!(repeat.read(&Frame { event: "error", ..frame(r#"{"t":"y"}"#) }).is_none());
        repeat.set(&frame(r#"{"t":"x"}"#), None);
        assert!(repeat.read(&frame(r#"{"t":"y"}"#)).is_none());
    }
}
