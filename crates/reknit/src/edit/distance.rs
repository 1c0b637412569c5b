//! How alike two lines are, by the edits between them.

/// Lines longer than this are alike only if they are the same.
const LONGEST: usize = 4096;

/// Compares lines, one pair after another in the same memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Comparison {
    /// For each byte the rows that have it, as bits. All of it is 0 between two pairs.
    has: Vec<u64>,
    /// The steps up and down from row to row, as bits.
    column: Vec<(u64, u64)>,
}

impl Comparison {
    /// How alike two lines are, from 0 to 1: the part of the longer one that need not be edited. Less than
    /// `least` is 0.
    pub(super) fn likeness(&mut self, a: &[u8], b: &[u8], least: f64) -> f64 {
        if a == b {
            return 1.0;
        }
        let longer = a.len().max(b.len());
        let likeness_at = |distance: usize| 1.0 - distance as f64 / longer as f64;
        // No distance is less than the difference in length.
        if longer > LONGEST || likeness_at(a.len().abs_diff(b.len())) < least {
            return 0.0;
        }
        let likeness = likeness_at(self.distance(a, b));
        if likeness < least { 0.0 } else { likeness }
    }

    /// The number of bytes to insert, remove or change to get from one text to the other.
    ///
    /// It keeps a column of the table as bits and goes through it 64 rows at a time (Myers 1999, in the form of
    /// Hyyrö 2003).
    fn distance(&mut self, a: &[u8], b: &[u8]) -> usize {
        let (a, b) = without_common_ends(a, b);
        let (rows, columns) = if a.len() < b.len() { (a, b) } else { (b, a) };
        if rows.is_empty() {
            return columns.len();
        }
        let blocks = rows.len().div_ceil(64);
        if self.has.len() < 256 * blocks {
            self.has.resize(256 * blocks, 0);
        }
        for (row, byte) in rows.iter().enumerate() {
            self.has[usize::from(*byte) * blocks + row / 64] |= 1 << (row % 64);
        }
        self.column.clear();
        self.column.resize(blocks, (u64::MAX, 0));
        let last = 1u64 << ((rows.len() - 1) % 64);
        let mut distance = rows.len();
        for byte in columns {
            // The topmost row grows by one with each column.
            let mut carry_up = 1;
            let mut carry_down = 0;
            for (block, (up, down)) in self.column.iter_mut().enumerate() {
                let equal = self.has[usize::from(*byte) * blocks + block];
                let x = equal | carry_down;
                let diagonal = (((x & *up).wrapping_add(*up)) ^ *up) | x | *down;
                let mut right_up = *down | !(diagonal | *up);
                let mut right_down = *up & diagonal;
                if block == blocks - 1 {
                    distance += usize::from(right_up & last != 0);
                    distance -= usize::from(right_down & last != 0);
                }
                let (out_up, out_down) = (right_up >> 63, right_down >> 63);
                right_up = (right_up << 1) | carry_up;
                right_down = (right_down << 1) | carry_down;
                *up = right_down | !(diagonal | right_up);
                *down = right_up & diagonal;
                (carry_up, carry_down) = (out_up, out_down);
            }
        }
        // The table is large and most lines are short.
        for (row, byte) in rows.iter().enumerate() {
            self.has[usize::from(*byte) * blocks + row / 64] = 0;
        }
        distance
    }
}

fn without_common_ends<'t>(a: &'t [u8], b: &'t [u8]) -> (&'t [u8], &'t [u8]) {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[same..], &b[same..]);
    let same = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    (&a[..a.len() - same], &b[..b.len() - same])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The table itself.
    fn by_the_book(a: &[u8], b: &[u8]) -> usize {
        let mut row: Vec<usize> = (0..=b.len()).collect();
        for (i, x) in a.iter().enumerate() {
            let mut corner = row[0];
            row[0] = i + 1;
            for (j, y) in b.iter().enumerate() {
                let change = corner + usize::from(x != y);
                corner = row[j + 1];
                row[j + 1] = change.min(corner + 1).min(row[j] + 1);
            }
        }
        row[b.len()]
    }

    proptest! {
        #[test]
        fn is_the_distance_of_the_book(
            texts in proptest::collection::vec(proptest::collection::vec(b'a'..=b'd', 0..200), 2..5),
        ) {
            let mut comparison = Comparison::default();
            for pair in texts.windows(2) {
                prop_assert_eq!(comparison.distance(&pair[0], &pair[1]), by_the_book(&pair[0], &pair[1]));
            }
        }
    }

    #[test]
    fn likeness_is_a_part_of_the_longer() {
        let likeness = |a: &[u8], b: &[u8], least| Comparison::default().likeness(a, b, least);
        assert_eq!(likeness(b"", b"", 0.5), 1.0);
        assert_eq!(likeness(b"abcd", b"abxd", 0.5), 0.75);
        assert_eq!(likeness(b"abcd", b"abxy", 0.6), 0.0);
    }
}
