//! What the targets share: an input that says itself how it is cut, and the property of this project over it.

use std::fmt::Debug;

use reknit::{Dialect, Limits};

mod mutate;

pub use mutate::stream as mutate_stream;

/// Limits so small that inputs of a fuzzer reach them: those of a frame, and of a line of a recording.
pub fn small_limits() -> Limits {
    let mut limits = Limits::default();
    limits.frame_bytes = 64;
    limits.json_depth = 8;
    limits
}

/// How many bytes before the stream itself say what to do with it.
const CONTROL: usize = 5;

/// What the fuzzer made up: a choice, lengths of pieces, and the bytes to be cut into them.
pub struct Input<'a> {
    /// Picks what is tried: a dialect, a framing, a limit. Each target says how it reads it.
    pub choice: u8,
    /// The bytes to be read.
    pub bytes: &'a [u8],
    /// The lengths of the pieces, over and over; all 0 means one piece.
    lengths: &'a [u8],
}

impl<'a> Input<'a> {
    /// The input in what a fuzzer gives, if that is long enough.
    pub fn new(data: &'a [u8]) -> Option<Self> {
        let (control, bytes) = data.split_at_checked(CONTROL)?;
        let (choice, lengths) = control.split_first()?;
        Some(Self { choice: *choice, bytes, lengths })
    }

    /// The dialect that the choice picks; they are counted by name, as `corpus/wire` lists them.
    pub fn dialect(&self) -> Dialect {
        let mut dialects = Dialect::ALL;
        dialects.sort_unstable_by_key(|dialect| dialect.name());
        dialects[usize::from(self.choice) % dialects.len()]
    }

    /// The bytes, cut as the input says; some pieces may be empty.
    pub fn pieces(&self) -> Vec<&'a [u8]> {
        if self.lengths.iter().all(|length| *length == 0) {
            return vec![self.bytes];
        }
        let mut rest = self.bytes;
        let mut pieces = Vec::new();
        for length in self.lengths.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at(usize::from(*length).min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        pieces
    }

    /// Runs over the whole, over the pieces and over single bytes, which must all end alike.
    pub fn same_for_every_cut<T: PartialEq + Debug>(&self, run: impl Fn(&[&[u8]]) -> T) -> T {
        let whole = self.same_for_its_cut(&run);
        assert_same(&whole, &run(&self.bytes.chunks(1).collect::<Vec<_>>()), "byte by byte");
        whole
    }

    /// Runs over the whole and over the pieces, which must end alike.
    pub fn same_for_its_cut<T: PartialEq + Debug>(&self, run: impl Fn(&[&[u8]]) -> T) -> T {
        let whole = run(&[self.bytes]);
        assert_same(&whole, &run(&self.pieces()), "in pieces");
        whole
    }
}

fn assert_same<T: PartialEq + Debug>(whole: &T, cut: &T, how: &str) {
    assert!(whole == cut, "{how}\n--- whole\n{whole:#?}\n--- cut\n{cut:#?}");
}
