//! The property of this project, in one place: any cut, same result.

use std::fmt::Debug;

/// The longest input of which every two-way cut is tried; of longer ones a sample is.
const EVERY_CUT: usize = 2048;

/// How many two-way cuts are tried of a longer input, and how many random ones of any.
const SAMPLES: u64 = 64;
const RANDOM_CUTS: u64 = 12;

/// Runs `run` over `input` cut in many ways, which must all end alike; what came of the whole.
///
/// Cuts: none, every byte a piece (with empty pieces between), every two-way cut of a short input or a
/// sample of them, and some at pseudo-random places, which are the same in every run.
pub(crate) fn same_for_every_cut<T: PartialEq + Debug>(input: &[u8], run: impl Fn(&[&[u8]]) -> T) -> T {
    let whole = run(&[input]);
    let check = |pieces: &[&[u8]], cut: &dyn Fn() -> String| {
        let result = run(pieces);
        assert!(result == whole, "{}\n--- whole\n{whole:#?}\n--- cut\n{result:#?}", cut());
    };
    check(&input.chunks(1).flat_map(|byte| [byte, &[]]).collect::<Vec<_>>(), &|| "byte by byte".to_owned());
    let mut random = Random::new(0);
    let sample: Vec<_> = if input.len() <= EVERY_CUT {
        (0..=input.len()).collect()
    } else {
        (0..SAMPLES).map(|_| random.below(input.len())).collect()
    };
    for at in sample {
        check(&[&input[..at], &input[at..]], &|| format!("cut at byte {at}"));
    }
    for seed in 1..=RANDOM_CUTS {
        let pieces = cut_at_random(input, seed);
        check(&pieces, &|| {
            format!(
                "random cut {seed}, lengths {:?}",
                pieces.iter().map(|piece| piece.len()).collect::<Vec<_>>()
            )
        });
    }
    whole
}

/// `input` in pieces of random length, some of them empty; each seed has its own longest piece.
pub(crate) fn cut_at_random(input: &[u8], seed: u64) -> Vec<&[u8]> {
    let mut random = Random::new(seed);
    let longest = 2 + random.below(200);
    let mut pieces = Vec::new();
    let mut rest = input;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(random.below(longest).min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// The pieces of a text as texts: the part of a character at the end of one belongs to the next.
pub(crate) fn whole_characters(pieces: &[&[u8]]) -> Vec<String> {
    let mut texts = Vec::new();
    let mut held: Vec<u8> = Vec::new();
    for piece in pieces {
        held.extend_from_slice(piece);
        let whole = match std::str::from_utf8(&held) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let rest = held.split_off(whole);
        texts.push(String::from_utf8(held).expect("it was looked at"));
        held = rest;
    }
    texts
}

/// SplitMix64: the same numbers on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`, which is not 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).expect("it is below a usize")
    }
}

#[test]
fn pieces_joined_are_the_input() {
    let input: Vec<u8> = (0..=255).cycle().take(5000).collect();
    for seed in 0..20 {
        assert_eq!(cut_at_random(&input, seed).concat(), input);
    }
    assert_eq!(same_for_every_cut(&input, |pieces| pieces.concat()), input);
}

#[test]
#[should_panic(expected = "cut at byte 1\n")]
fn a_result_that_depends_on_the_cut_is_found() {
    // Wrong only if the input comes in two pieces, the first of which ends inside the marker.
    same_for_every_cut(b"<>", |pieces| pieces.len() == 2 && pieces[0] == b"<");
}

#[test]
fn characters_are_not_cut() {
    let bytes = "aé☕".as_bytes();
    let pieces: Vec<_> = bytes.chunks(1).collect();
    assert_eq!(whole_characters(&pieces), ["a", "", "é", "", "", "☕"]);
    assert_eq!(whole_characters(&[&bytes[..2], &bytes[2..]]), ["a", "é☕"]);
}
