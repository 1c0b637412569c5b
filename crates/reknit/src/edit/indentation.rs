//! [`Levels`]: how the indentation of a search text becomes that of the file.

use super::lines::indent;

/// The indentation of a file for each indentation of a search text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Levels {
    /// They are the same.
    Same,
    /// One level of the search has another width, and others follow from it.
    Shifted(Shifted),
    /// Each width of the search has one of the file, in the same order.
    Listed(Vec<(Vec<u8>, Vec<u8>)>),
    /// Most lines are indented as in the file, and each is deeper than the one before it, or less deep, as there; the
    /// indentation of each.
    ByLine(Vec<(Vec<u8>, Vec<u8>)>),
}

/// A level of the search and of the file, and how much deeper the file goes from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shifted {
    searched: Vec<u8>,
    there: Vec<u8>,
    step: Option<Step>,
}

/// So many characters of the file for so many of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    searched: (u8, usize),
    there: (u8, usize),
}

/// How many different pairs are tried as the base. Code has no more levels in one place.
const MOST_BASES: usize = 8;

impl Levels {
    /// The levels that more than half of the lines have, given the indentation of each in the search and in the
    /// file.
    pub(super) fn of(pairs: &[(&[u8], &[u8])]) -> Option<Self> {
        if pairs.iter().all(|(searched, there)| searched == there) {
            return Some(Self::Same);
        }
        let mut distinct: Vec<(&[u8], &[u8])> = Vec::new();
        for pair in pairs {
            if distinct.len() < MOST_BASES && !distinct.contains(pair) {
                distinct.push(*pair);
            }
        }
        let bases = distinct.iter().flat_map(|base| {
            let steps = distinct.iter().filter_map(|other| Step::between(*base, *other)).map(Some);
            steps.chain([None]).map(|step| (*base, step))
        });
        let shifted = bases.map(|((searched, there), step)| {
            Self::Shifted(Shifted { searched: searched.to_vec(), there: there.to_vec(), step })
        });
        let fitting =
            |levels: &Self| pairs.iter().filter(|(searched, there)| levels.fits(searched, there)).count();
        let mut best = (fitting(&Self::Same), Self::Same);
        for levels in shifted {
            let count = fitting(&levels);
            if count > best.0 {
                best = (count, levels);
            }
        }
        let (count, levels) = best;
        if count == pairs.len() {
            return Some(levels);
        }
        Self::listed(&distinct, pairs)
            .or_else(|| Self::by_line(pairs))
            .or((count * 2 > pairs.len()).then_some(levels))
    }

    fn by_line(pairs: &[(&[u8], &[u8])]) -> Option<Self> {
        let follow = |two: &[(&[u8], &[u8])]| {
            let searched = width(two[0].0).cmp(&width(two[1].0));
            searched == width(two[0].1).cmp(&width(two[1].1))
        };
        let list = pairs.iter().map(|(searched, there)| (searched.to_vec(), there.to_vec()));
        let same = pairs.iter().filter(|(searched, there)| searched == there).count();
        (same * 2 > pairs.len() && pairs.windows(2).all(follow)).then(|| Self::ByLine(list.collect()))
    }

    /// The indentation for a new line at a place among the lines that the levels were made from.
    pub(super) fn translate_at(&self, indent: &[u8], nth: usize) -> Option<Vec<u8>> {
        match self {
            // A line of the search is at its own level; what it is for another depends on where that is.
            Self::ByLine(list) => {
                let beside = nth.saturating_sub(1)..list.len().min(nth + 1);
                only_level(list.get(beside)?, indent)
            }
            _ => self.translate(indent),
        }
    }

    fn listed(distinct: &[(&[u8], &[u8])], pairs: &[(&[u8], &[u8])]) -> Option<Self> {
        let mut list = distinct.to_vec();
        list.sort_by_key(|(searched, _)| width(searched));
        let ascend =
            list.windows(2).all(|two| width(two[0].0) < width(two[1].0) && width(two[0].1) < width(two[1].1));
        let levels =
            Self::Listed(list.iter().map(|(searched, there)| (searched.to_vec(), there.to_vec())).collect());
        (ascend && pairs.iter().all(|(searched, there)| levels.fits(searched, there))).then_some(levels)
    }

    /// Whether a line of the search is at the level that it has in the file.
    pub(super) fn fits(&self, searched: &[u8], there: &[u8]) -> bool {
        match self {
            Self::ByLine(list) => list.iter().any(|(own, other)| own == searched && other == there),
            _ => self.translate(searched).as_deref() == Some(there),
        }
    }

    /// The indentation of the file for one that is written as in the search, if that is known.
    pub(super) fn translate(&self, indent: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Same => Some(indent.to_vec()),
            Self::Shifted(shifted) => shifted.translate(indent),
            Self::Listed(list) | Self::ByLine(list) => only_level(list, indent),
        }
    }
}

impl Shifted {
    fn translate(&self, indent: &[u8]) -> Option<Vec<u8>> {
        if let Some(deeper) = indent.strip_prefix(&*self.searched) {
            let deeper = match self.step {
                _ if deeper.is_empty() => Vec::new(),
                Some(step) => step.scale(deeper)?,
                // Tabs for spaces are so many for each.
                None if let Some(step) = self.other_characters() => step.scale(deeper)?,
                // Four more may be one level more or twice the width, so that nothing else follows from it.
                None if !self.searched.is_empty() && !self.there.is_empty() => return None,
                None if self.there.iter().any(|byte| !deeper.contains(byte)) => return None,
                None => deeper.to_vec(),
            };
            return Some([&*self.there, &deeper].concat());
        }
        let less = self.searched.strip_prefix(indent)?;
        let less = self.step?.scale(less)?;
        self.there.strip_suffix(&*less).map(<[u8]>::to_vec)
    }

    /// The step that follows from one level that is written in other characters.
    fn other_characters(&self) -> Option<Step> {
        let (searched, there) = (uniform(&self.searched)?, uniform(&self.there)?);
        (searched.0 != there.0).then_some(Step { searched, there })
    }
}

impl Step {
    /// How much deeper the second pair is than the first.
    fn between(base: (&[u8], &[u8]), other: (&[u8], &[u8])) -> Option<Self> {
        let searched = other.0.strip_prefix(base.0)?;
        let there = other.1.strip_prefix(base.1)?;
        Some(Self { searched: uniform(searched)?, there: uniform(there)? })
    }

    fn scale(self, indent: &[u8]) -> Option<Vec<u8>> {
        let (byte, count) = uniform(indent)?;
        let (to, many) = self.there;
        let product = count * many;
        (byte == self.searched.0 && product.is_multiple_of(self.searched.1))
            .then(|| vec![to; product / self.searched.1])
    }
}

/// The indentation of the file that all lines with one of the search have.
fn only_level(lines: &[(Vec<u8>, Vec<u8>)], indent: &[u8]) -> Option<Vec<u8>> {
    let mut found = lines.iter().filter(|(searched, _)| searched == indent);
    let (_, there) = found.next()?;
    found.all(|(_, other)| other == there).then(|| there.clone())
}

/// The character that all are, and how many.
fn uniform(indent: &[u8]) -> Option<(u8, usize)> {
    let first = *indent.first()?;
    indent.iter().all(|byte| *byte == first).then_some((first, indent.len()))
}

/// How many columns a line is indented, for comparing with others of the same text.
pub(super) fn depth(body: &[u8]) -> usize {
    width(indent(body))
}

/// How many columns an indentation takes.
pub(super) fn width(indent: &[u8]) -> usize {
    indent.iter().map(|byte| if *byte == b'\t' { 4 } else { 1 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pairs: &[(&str, &str)], indent: &str, expected: Option<&str>) {
        let pairs: Vec<_> = pairs.iter().map(|(a, b)| (a.as_bytes(), b.as_bytes())).collect();
        let levels = Levels::of(&pairs);
        let found = levels.and_then(|levels| levels.translate(indent.as_bytes()));
        assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{pairs:?}");
    }

    #[test]
    fn one_shift_or_one_scale_for_all() {
        check(&[("", "    "), ("    ", "        ")], "        ", Some("            "));
        check(&[("    ", ""), ("        ", "    ")], "            ", Some("        "));
        check(&[("", ""), ("  ", "    ")], "    ", Some("        "));
        check(&[("    ", "\t"), ("        ", "\t\t")], "            ", Some("\t\t\t"));
        check(&[("", "\t"), ("    ", "\t\t")], "        ", Some("\t\t\t"));
        check(&[("", "    ")], "    ", Some("        "));
        check(&[("    ", "\t")], "        ", Some("\t\t"));
    }

    #[test]
    fn what_does_not_follow_is_unknown() {
        check(&[("    ", "        ")], "        ", None);
        check(&[("", "\t")], "    ", None);
        check(&[("", "    "), ("    ", "    ")], "", None);
    }

    #[test]
    fn one_line_of_several_may_be_off() {
        check(&[("", ""), ("    ", "    "), ("  ", "    "), ("    ", "    ")], "        ", Some("        "));
    }
}
