//! Which lines of a search text its replacement keeps: a longest common subsequence.

use std::ops::Range;

/// How many pairs of lines are compared. In a larger middle nothing is kept.
const MOST_PAIRS: usize = 4_000_000;

/// Lines that go, and those that come in their place. One of the two may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hunk {
    pub(super) search: Range<usize>,
    pub(super) replacement: Range<usize>,
}

/// The longest sequence of pairs in ascending order on both sides.
pub(super) fn pair(
    searched: usize,
    replaced: usize,
    same: impl Fn(usize, usize) -> bool,
) -> Vec<(usize, usize)> {
    let shorter = searched.min(replaced);
    let first = (0..shorter).take_while(|at| same(*at, *at)).count();
    let last = (0..shorter - first).take_while(|at| same(searched - 1 - at, replaced - 1 - at)).count();
    let (rows, columns) = (searched - first - last, replaced - first - last);
    let mut pairs: Vec<_> = (0..first).map(|at| (at, at)).collect();
    if rows * columns <= MOST_PAIRS {
        let same = |row, column| same(first + row, first + column);
        pairs.extend(middle(rows, columns, same).map(|(row, column)| (first + row, first + column)));
    }
    pairs.extend((0..last).rev().map(|at| (searched - 1 - at, replaced - 1 - at)));
    pairs
}

fn middle(
    rows: usize,
    columns: usize,
    same: impl Fn(usize, usize) -> bool,
) -> impl Iterator<Item = (usize, usize)> {
    let cell = |row: usize, column: usize| row * (columns + 1) + column;
    let mut longest = vec![0u32; (rows + 1) * (columns + 1)];
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            let skipped = longest[cell(row + 1, column)].max(longest[cell(row, column + 1)]);
            let taken = longest[cell(row + 1, column + 1)] + 1;
            longest[cell(row, column)] = if same(row, column) { taken.max(skipped) } else { skipped };
        }
    }
    let mut pairs = Vec::new();
    let (mut row, mut column) = (0, 0);
    while row < rows && column < columns {
        if same(row, column) && longest[cell(row, column)] == longest[cell(row + 1, column + 1)] + 1 {
            pairs.push((row, column));
            row += 1;
            column += 1;
        } else if longest[cell(row + 1, column)] >= longest[cell(row, column + 1)] {
            row += 1;
        } else {
            column += 1;
        }
    }
    pairs.into_iter()
}

/// What lies between the pairs.
pub(super) fn hunks(pairs: &[(usize, usize)], searched: usize, replaced: usize) -> Vec<Hunk> {
    let mut hunks = Vec::new();
    let (mut row, mut column) = (0, 0);
    for (next_row, next_column) in pairs.iter().copied().chain([(searched, replaced)]) {
        if row < next_row || column < next_column {
            hunks.push(Hunk { search: row..next_row, replacement: column..next_column });
        }
        (row, column) = (next_row + 1, next_column + 1);
    }
    hunks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn paired(a: &str, b: &str) -> Vec<(usize, usize)> {
        let (a, b) = (a.as_bytes(), b.as_bytes());
        pair(a.len(), b.len(), |row, column| a[row] == b[column])
    }

    #[test]
    fn moved_lines_are_paired_once() {
        assert_eq!(paired("abcd", "bcda"), [(1, 0), (2, 1), (3, 2)]);
        assert_eq!(paired("abc", "abxc"), [(0, 0), (1, 1), (2, 3)]);
        assert_eq!(hunks(&paired("abcd", "axd"), 4, 3), [Hunk { search: 1..3, replacement: 1..2 }]);
        assert_eq!(hunks(&paired("ab", "ab"), 2, 2), []);
    }

    proptest! {
        #[test]
        fn no_sequence_is_longer(a in "[abc]{0,9}", b in "[abc]{0,9}") {
            let pairs = paired(&a, &b);
            prop_assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
            let subsequences = |text: &str| -> std::collections::BTreeSet<String> {
                (0..1u32 << text.len()).map(|bits| {
                    text.char_indices().filter(|(at, _)| bits >> at & 1 == 1).map(|(_, char)| char).collect()
                }).collect()
            };
            let (of_a, of_b) = (subsequences(&a), subsequences(&b));
            let longest = of_a.intersection(&of_b).map(String::len).max();
            prop_assert_eq!(Some(pairs.len()), longest);
        }
    }
}
