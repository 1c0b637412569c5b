//! Damaged copies of the seeds, the same on every machine, for `cargo xtask test` to run the targets on.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// How many copies of each seed are made.
const COPIES: u64 = 8;

/// How many times a copy is damaged, at most.
const DAMAGES: usize = 4;

/// How many bytes at most are lost, repeated or moved at once.
const STRETCH: usize = 60;

/// Bytes that mean something in some format, and one that is not UTF-8.
const MARKS: &[u8] = b"<>{}[]\"\\:,=+-`@ \n\r\t0\xff";

/// Writes damaged copies of the files in `seeds` to the folder `damaged`.
pub(super) fn write(seeds: &Path, damaged: &Path) -> Result<()> {
    fs::create_dir_all(damaged).with_context(|| format!("cannot create `{}`", damaged.display()))?;
    let mut paths = Vec::new();
    for entry in fs::read_dir(seeds).with_context(|| format!("cannot read `{}`", seeds.display()))? {
        paths.push(entry?.path());
    }
    paths.sort();
    let read = |path: &PathBuf| fs::read(path).with_context(|| format!("cannot read `{}`", path.display()));
    let inputs = paths.iter().map(read).collect::<Result<Vec<_>>>()?;
    for (number, (path, input)) in paths.iter().zip(&inputs).enumerate() {
        let other = &inputs[(number + 1) % inputs.len()];
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        for copy in 0..COPIES {
            // By name and not by number, so that a new case leaves the copies of the others as they are.
            let seed = name.bytes().fold(copy, |seed, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
            let mut dice = Dice(seed);
            let file = damaged.join(format!("{name}-{copy}"));
            fs::write(&file, damage(input, other, &mut dice))
                .with_context(|| format!("cannot write `{}`", file.display()))?;
        }
    }
    Ok(())
}

/// A copy of `input` in which some stretches are lost, repeated, moved or taken from another input. The first
/// bytes, which say how it is cut, are damaged like all others.
fn damage(input: &[u8], other: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut copy = input.to_vec();
    for _ in 0..=dice.below(DAMAGES) {
        let from = dice.below(copy.len());
        let to = (from + 1 + dice.below(STRETCH)).min(copy.len());
        match dice.below(5) {
            0 => drop(copy.drain(from..to)),
            1 => copy
                .splice(from..from, input[from.min(input.len())..to.min(input.len())].to_vec())
                .for_each(drop),
            2 => {
                let stretch: Vec<_> = copy.drain(from..to).collect();
                let at = dice.below(copy.len() + 1);
                copy.splice(at..at, stretch).for_each(drop);
            }
            3 => {
                let start = dice.below(other.len());
                let end = (start + 1 + dice.below(STRETCH)).min(other.len());
                copy.splice(from..to, other[start..end].iter().copied()).for_each(drop);
            }
            _ => copy[from] = MARKS[dice.below(MARKS.len())],
        }
        if copy.is_empty() {
            break;
        }
    }
    copy
}

/// Numbers that look random and are the same every time: `SplitMix64`.
struct Dice(u64);

impl Dice {
    /// A number below `bound`, which is not 0.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_damaged_and_the_same_every_time() {
        let input = b"\0\x07\x01\0\x3cdata: {\"type\":\"ping\"}\n\n";
        let other = b"\x01\x07\x01\0\x3cdata: [DONE]\n\n";
        let copies = || (0..100).map(|seed| damage(input, other, &mut Dice(seed))).collect::<Vec<_>>();
        assert_eq!(copies(), copies());
        let unchanged = copies().iter().filter(|copy| copy.as_slice() == input).count();
        assert!(unchanged < 10, "{unchanged} of 100 are not damaged");
    }
}
