//! [`Case`]: an edit of a real file that has look-alikes of its place, and what must become of it.

use reknit::edit::{Action, Edit, Replace};

use super::slip::{Copy, Row, Slip, another_word, is_blank, pick, words};
use super::sources::Source;
use crate::cuts::Random;

/// How many lines the block has that is edited.
const HEIGHT: std::ops::RangeInclusive<usize> = 4..=14;

/// A file, an edit, and the only right outcome.
pub(super) struct Case {
    pub(super) content: String,
    pub(super) edit: Edit,
    pub(super) right: Right,
}

/// Where an edit belongs.
pub(super) enum Right {
    /// Here: the bytes of the lines it means, and the content that comes of it.
    Place { start: usize, end: usize, content: String },
    /// Nowhere: its place is gone.
    Nowhere,
}

/// Whether the place that is meant is in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    There,
    Removed,
}

/// How many look-alikes the place has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decoys {
    One,
    Two,
}

/// What an edit does to one line of its block.
#[derive(Clone, Copy)]
enum Change {
    InsertBehind,
    Rewrite,
    Remove,
}

impl Case {
    /// An edit of a block somewhere in the file, if one is found in which all that can slip.
    pub(super) fn new(
        source: &Source,
        slips: &[Slip],
        presence: Presence,
        decoys: Decoys,
        random: &mut Random,
    ) -> Option<Self> {
        (0..200).find_map(|_| Self::attempt(source, slips, presence, decoys, random))
    }

    fn attempt(
        source: &Source,
        slips: &[Slip],
        presence: Presence,
        decoys: Decoys,
        random: &mut Random,
    ) -> Option<Self> {
        let lines = &source.lines;
        let height = HEIGHT.start() + random.below(HEIGHT.end() - HEIGHT.start() + 1);
        let start = random.below(lines.len().checked_sub(height)?);
        let block = &lines[start..start + height];
        if is_blank(&block[0]) || is_blank(&block[height - 1]) {
            return None;
        }
        let unit = unit(lines);
        let mut copy = Copy::of(block);
        for slip in slips {
            copy.slip(*slip, unit, random)?;
        }

        let telling: Vec<_> = (0..height).filter(|line| !copy.spoilt.contains(line)).collect();
        // One by itself has another name: any other kept line may differ.
        let decoys = match decoys {
            Decoys::One => vec![with_another_name(block, &telling, random)?],
            Decoys::Two => vec![
                with_another_identifier(block, &telling, random)?,
                with_another_line(block, &telling, lines, random)?,
            ],
        };
        let (file, at) = hidden(lines, start, height, decoys, presence, random);
        // Where all but the spoilt lines occur a second time, nobody could say which of the two is meant.
        if places(&file, block, &copy.spoilt) != usize::from(presence == Presence::There) {
            return None;
        }

        let (search, replacement, changed) = change(block, &copy, random)?;
        let content = joined(&file);
        let right = match presence {
            Presence::Removed => Right::Nowhere,
            Presence::There => {
                let before = joined(&file[..at]);
                let (start, end) = (before.len(), before.len() + joined(block).len());
                Right::Place { start, end, content: before + &joined(&changed) + &content[end..] }
            }
        };
        let mut replace = Replace::default();
        (replace.search, replace.replacement) = (search, replacement);
        let edit =
            Edit { path: None, action: Action::Replace(replace), line: 1, at: 0..0, repairs: Vec::new() };
        Some(Self { content, edit, right })
    }
}

/// By how much a file indents: its least indentation that is more than a blank.
fn unit(lines: &[String]) -> &'static str {
    let width = |line: &String| line.len() - line.trim_start_matches(' ').len();
    let least = lines.iter().map(width).filter(|width| *width > 1).min();
    if least == Some(2) { "  " } else { "    " }
}

/// The block with one identifier of one line changed.
fn with_another_identifier(block: &[String], telling: &[usize], random: &mut Random) -> Option<Vec<String>> {
    let lines: Vec<_> = telling.iter().copied().filter(|line| !words(&block[*line]).is_empty()).collect();
    let line = pick(&lines, random)?;
    let (start, end) = pick(&words(&block[line]), random)?;
    let mut decoy = block.to_vec();
    let other = another_word(&block[line][start..end], random);
    decoy[line].replace_range(start..end, other);
    Some(decoy)
}

/// The block with another name in its first line that has a letter.
fn with_another_name(block: &[String], telling: &[usize], random: &mut Random) -> Option<Vec<String>> {
    let first = block.iter().position(|line| line.contains(char::is_alphabetic))?;
    let lines: Vec<_> = telling.iter().copied().filter(|line| *line == first).collect();
    with_another_identifier(block, &lines, random)
}

/// The block with one line replaced by another one of the file.
fn with_another_line(
    block: &[String],
    telling: &[usize],
    lines: &[String],
    random: &mut Random,
) -> Option<Vec<String>> {
    let solid: Vec<_> = telling.iter().copied().filter(|line| !words(&block[*line]).is_empty()).collect();
    let line = pick(&solid, random)?;
    let other = &lines[random.below(lines.len())];
    if words(other).is_empty() || other.trim() == block[line].trim() {
        return None;
    }
    let mut decoy = block.to_vec();
    decoy[line].clone_from(other);
    Some(decoy)
}

/// The file with the decoys in it, and with the block or without; and the line where the block is or was.
fn hidden(
    lines: &[String],
    start: usize,
    height: usize,
    decoys: Vec<Vec<String>>,
    presence: Presence,
    random: &mut Random,
) -> (Vec<String>, usize) {
    let mut file = lines.to_vec();
    let mut at = start;
    let mut kept = height;
    if presence == Presence::Removed {
        file.drain(start..start + height);
        kept = 0;
    }
    let mut taken: Option<(usize, usize)> = None;
    for decoy in decoys {
        let place = loop {
            let place = random.below(file.len() + 1);
            let in_block = at < place && place < at + kept;
            let in_decoy = taken.is_some_and(|(from, to)| from < place && place < to);
            if !in_block && !in_decoy {
                break place;
            }
        };
        let height = decoy.len();
        file.splice(place..place, decoy);
        if place <= at {
            at += height;
        }
        taken = Some((place, place + height));
    }
    (file, at)
}

/// How many places of the file have all lines of a block but these, blank lines aside.
fn places(file: &[String], block: &[String], spoilt: &[usize]) -> usize {
    let solid: Vec<&str> = file.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    let mut wanted: Vec<Option<&str>> = block
        .iter()
        .enumerate()
        .filter(|(_, line)| !is_blank(line))
        .map(|(number, line)| (!spoilt.contains(&number)).then(|| line.trim()))
        .collect();
    // At the end of the file there is no line that a missing one would stand for.
    while wanted.pop_if(|last| last.is_none()).is_some() {}
    let fits = |window: &&[&str]| {
        window.iter().zip(&wanted).all(|(there, wanted)| wanted.is_none_or(|wanted| wanted == *there))
    };
    solid.windows(wanted.len()).filter(fits).count()
}

/// Changes one line that slipped nowhere: the search text, the replacement, and the block as it must become.
fn change(block: &[String], copy: &Copy, random: &mut Random) -> Option<(String, String, Vec<String>)> {
    let copied = |line: usize| copy.rows.iter().position(|row| row.of == Some(line));
    let free = |line: &usize| {
        !copy.spoilt.contains(line)
            && !copy.loosened.contains(line)
            && !is_blank(&block[*line])
            && copied(*line).is_some()
    };
    let line = pick(&(0..block.len()).filter(free).collect::<Vec<_>>(), random)?;
    let row = copied(line)?;
    let new = format!("rewritten_by_edit({});", random.below(1000));
    let indented = |like: &str| format!("{}{new}", &like[..like.len() - like.trim_start().len()]);
    let change = [Change::InsertBehind, Change::Rewrite, Change::Remove][random.below(3)];

    let search: Vec<String> = copy.rows.iter().map(|Row { text, .. }| text.clone()).collect();
    let mut replacement = search.clone();
    let mut changed = block.to_vec();
    for (lines, at) in [(&mut replacement, row), (&mut changed, line)] {
        let new = indented(&lines[at]);
        match change {
            Change::InsertBehind => lines.insert(at + 1, new),
            Change::Rewrite => lines[at] = new,
            Change::Remove => drop(lines.remove(at)),
        }
    }
    Some((joined(&search), joined(&replacement), changed))
}

fn joined(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}
