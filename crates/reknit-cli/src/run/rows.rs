//! [`Rows`]: where the rows of a flowing text break on a terminal.
//!
//! Every letter is written when it comes. A word that turns out not to fit its row is erased there, and goes on in the
//! next one.

use std::mem;

use unicode_width::UnicodeWidthChar;

/// A terminal that is narrower breaks rows itself.
const NARROWEST: usize = 12;

/// The rows of a text, as far as it was written.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// The columns before the text on each row.
    indent: usize,
    /// The columns that are taken.
    column: usize,
    /// The word at the end, which may go to the next row.
    word: String,
    width: usize,
}

/// What to write.
#[derive(Debug, PartialEq)]
pub(super) enum Part {
    Text(String),
    /// Goes back to this column, erases the rest of the row, and begins the next one.
    BreakFrom(usize),
}

impl Rows {
    /// A text that begins on an empty row, after so many columns.
    pub(super) fn begin(indent: usize) -> Self {
        Self { indent, column: indent, ..Self::default() }
    }

    /// More of the text, without line ends, on a terminal of so many columns.
    pub(super) fn push(&mut self, text: &str, columns: usize) -> Vec<Part> {
        if columns < NARROWEST {
            return vec![Part::Text(text.to_owned())];
        }
        let mut parts = Vec::new();
        let mut row = String::new();
        for char in text.chars() {
            let width = char.width().unwrap_or_default();
            if self.column + width > columns {
                self.break_row(char, &mut row, &mut parts);
                if char == ' ' {
                    // It is the end of the row.
                    continue;
                }
            }
            row.push(char);
            self.column += width;
            match char {
                ' ' => self.end_word(),
                // Scripts with wide characters have no spaces: each character is a word.
                _ if width > 1 => self.end_word(),
                _ => {
                    self.word.push(char);
                    self.width += width;
                }
            }
        }
        parts.extend((!row.is_empty()).then_some(Part::Text(row)));
        parts
    }

    /// Begins the next row before a character, with the word that it belongs to.
    fn break_row(&mut self, next: char, row: &mut String, parts: &mut Vec<Part>) {
        let is_all = self.indent + self.width >= self.column;
        let moves = next != ' ' && next.width() == Some(1) && !is_all;
        if !row.is_empty() {
            parts.push(Part::Text(mem::take(row)));
        }
        let (word, width) = (mem::take(&mut self.word), mem::take(&mut self.width));
        if moves {
            parts.push(Part::BreakFrom(self.column - width));
            self.column = self.indent + width;
            row.push_str(&word);
            (self.word, self.width) = (word, width);
        } else {
            parts.push(Part::BreakFrom(self.column));
            self.column = self.indent;
        }
    }

    fn end_word(&mut self) {
        self.word.clear();
        self.width = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The rows of a terminal to which these pieces are written.
    fn rows<'a>(pieces: impl IntoIterator<Item = &'a str>, columns: usize) -> Vec<String> {
        let mut of = Rows::begin(0);
        let mut rows = vec![String::new()];
        for part in pieces.into_iter().flat_map(|piece| of.push(piece, columns)) {
            let last = rows.last_mut().expect("there is one");
            match part {
                Part::Text(text) => last.push_str(&text),
                Part::BreakFrom(column) => {
                    let mut taken = 0;
                    last.retain(|char| {
                        taken += char.width().unwrap_or_default();
                        taken <= column
                    });
                    rows.push(String::new());
                }
            }
        }
        rows
    }

    #[test]
    fn rows_break_between_words() {
        let check = |text: &str, expected: &[&str]| assert_eq!(rows([text], 12), expected, "{text:?}");
        check("one two three four", &["one two ", "three four"]);
        check("exactly full again", &["exactly full", "again"]);
        check("a unbelievably-long word", &["a ", "unbelievably", "-long word"]);
        check("一二三四五六七", &["一二三四五六", "七"]);
        assert_eq!(rows(["one two three"], 4), ["one two three"], "a narrow one does it itself");
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_rows(text in "[ab 一]{0,60}", cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..8)) {
            let whole = rows([&*text], 12);
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            cuts.retain(|&cut| text.is_char_boundary(cut));
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]);
            prop_assert_eq!(&rows(pieces, 12), &whole);
            // Nothing but spaces is lost, and no row is too long.
            let letters = |text: &str| text.replace(' ', "");
            prop_assert_eq!(letters(&whole.concat()), letters(&text));
            prop_assert!(whole.iter().all(|row| row.chars().filter_map(UnicodeWidthChar::width).sum::<usize>() <= 12));
        }
    }
}
