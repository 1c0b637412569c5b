//! [`Vote`]: which lines of a text say that a search may be about there.

use super::super::index::{Index, SPOTS, Spot};
use super::super::needle::Needle;
use super::{slack, weight};

/// How many candidates there are at most.
const CANDIDATES: usize = 24;
/// A candidate with this much less support than the best, by weight and by number, does not count. Weight alone
/// would let go of a place that lacks one long line.
const WEAK: f64 = 0.3;
/// How many lines of a search point at candidates: the rarest.
const SEEDS: usize = 32;

/// A line of the text that may correspond to a line of the search.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Vote {
    pub(in super::super) spot: Spot,
    /// The line of the search.
    pub(in super::super) line: usize,
    /// How much it says: long and rare lines say most.
    pub(in super::super) weight: f64,
}

impl Vote {
    /// Where the search would begin.
    fn start(&self) -> isize {
        self.spot.line as isize - self.line as isize
    }
}

fn line_votes(index: &Index, needle: &Needle<'_>) -> Vec<Vote> {
    let mut seeds: Vec<_> =
        needle.solid.iter().filter_map(|solid| index.spots(solid.key).map(|spots| (solid, spots))).collect();
    seeds.sort_by_key(|(_, spots)| spots.count);
    let rarest = seeds.first().map_or(0, |(_, spots)| spots.count);
    seeds
        .into_iter()
        .take(SEEDS)
        .filter(|(_, spots)| spots.count <= SPOTS.max(rarest))
        .flat_map(|(solid, spots)| {
            let weight = weight(solid.body) / spots.count as f64;
            spots.first.iter().map(move |spot| Vote { spot: *spot, line: solid.line, weight })
        })
        .collect()
}

pub(super) fn word_votes(index: &Index, needle: &Needle<'_>) -> Vec<Vote> {
    let votes = |(word, line): (&[u8], usize)| {
        let spots = index.word(word);
        let weight = word.len() as f64 / spots.len() as f64;
        spots.iter().map(move |spot| Vote { spot: *spot, line, weight }).collect::<Vec<_>>()
    };
    needle.words().into_iter().flat_map(votes).collect()
}

/// One vote for each stretch that votes agree on, those with the most support.
///
/// Votes agree if the search would begin at about the same line. They are added up around each one by itself:
/// a line that occurs everywhere would otherwise make one stretch of the whole file.
pub(super) fn candidates(index: &Index, needle: &Needle<'_>) -> Vec<Vote> {
    let mut votes = line_votes(index, needle);
    if votes.is_empty() {
        votes = word_votes(index, needle);
    }
    let slack = slack(needle.lines.len()) as isize;
    votes.sort_by_key(|vote| (vote.start(), vote.spot.line));
    let mut agreeing = Vec::with_capacity(votes.len());
    let (mut from, mut to, mut sum) = (0, 0, 0.0);
    for vote in &votes {
        while votes.get(to).is_some_and(|other| other.start() - vote.start() <= slack) {
            sum += votes[to].weight;
            to += 1;
        }
        while vote.start() - votes[from].start() > slack {
            sum -= votes[from].weight;
            from += 1;
        }
        agreeing.push((sum, vote.start(), from..to));
    }
    agreeing.sort_by(|(a, a_start, _), (b, b_start, _)| b.total_cmp(a).then(a_start.cmp(b_start)));
    let mut chosen: Vec<Vote> = Vec::new();
    let Some((most, _, best)) = agreeing.first().cloned() else { return chosen };
    let mut tried: Vec<isize> = Vec::new();
    for (sum, start, range) in agreeing {
        if chosen.len() == CANDIDATES {
            break;
        }
        let weak = sum < most * WEAK && (range.len() as f64) < best.len() as f64 * WEAK;
        if weak || tried.iter().any(|other| (other - start).abs() <= slack) {
            continue;
        }
        tried.push(start);
        // The one that says most is certainly in the stretch; another may be a line that also occurs next to it.
        let heaviest = votes[range].iter().copied().max_by(|a, b| a.weight.total_cmp(&b.weight));
        chosen.extend(
            heaviest.filter(|vote| chosen.iter().all(|other| (other.start() - vote.start()).abs() > slack)),
        );
    }
    chosen
}
