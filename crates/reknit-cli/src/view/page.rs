//! [`Page`]: styled characters to the bytes that put them on a terminal, row by row.
//!
//! Nothing is written twice. What cannot be placed yet is held back: a character that the next one may join
//! (an emoji and its parts), and a word that may not fit its row.

use std::mem;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::style::Style;
use super::terminal::Paint;

/// The page that characters are put on.
pub(super) struct Page {
    out: String,
    paint: Paint,
    columns: usize,
    wrap: Wrap,
    gutter: &'static str,
    /// The terminal's current style.
    style: Style,
    /// The last character with everything that joined it, which more may join.
    cluster: Span,
    /// Spaces before the word: written with it, or dropped where the row breaks.
    spaces: usize,
    word: Word,
    row: Row,
    /// The columns that are taken.
    column: usize,
    gap: Gap,
    /// How many line ends there are since the last character; enough at the start, where no gap is needed.
    ends: usize,
}

/// Where a row may break.
#[derive(Clone, Copy)]
pub(super) enum Wrap {
    Words,
    /// Anywhere: spaces matter.
    Letters,
}

/// Whether an empty line is to come before the next character.
#[derive(Clone, Copy, PartialEq)]
enum Gap {
    None,
    Due,
}

#[derive(Default)]
struct Span {
    style: Option<Style>,
    text: String,
}

/// The word that is being written.
enum Word {
    /// It may still go to the next row.
    Held { spans: Vec<(Style, String)>, width: usize },
    /// Its beginning is on the row.
    Placed,
}

#[derive(Clone, Copy, PartialEq)]
enum Row {
    /// The first of a line, with nothing on it.
    Fresh,
    /// A continuation of the line, from this column, with nothing on it.
    Continued(usize),
    /// It has something on it; if the line breaks, it continues at this column.
    Begun(Hang),
}

#[derive(Clone, Copy, PartialEq)]
enum Hang {
    /// Only spaces and a list marker so far.
    Unknown,
    At(usize),
}

/// No character of any script has more bytes than this.
const MAX_CLUSTER: usize = 64;

const TAB: usize = 4;

impl Page {
    pub(super) fn new(paint: Paint, columns: usize) -> Self {
        Self {
            out: String::new(),
            paint,
            columns: columns.max(2),
            wrap: Wrap::Words,
            gutter: "",
            style: Style::Plain,
            cluster: Span::default(),
            spaces: 0,
            word: Word::Placed,
            row: Row::Fresh,
            column: 0,
            gap: Gap::None,
            ends: 2,
        }
    }

    pub(super) fn resize(&mut self, columns: usize) {
        self.columns = columns.max(2);
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// Whether the row is full to the last column. A terminal waits there with the wrap for the next
    /// character, and forgets about it if the cursor is moved.
    pub(super) fn is_full(&self) -> bool {
        self.column >= self.columns
    }

    /// The bytes that are to be written now.
    pub(super) fn take(&mut self) -> String {
        mem::take(&mut self.out)
    }

    /// Begins a part of the page, after writing what is held back of the one before.
    pub(super) fn lay_out(&mut self, wrap: Wrap, gutter: &'static str) {
        self.settle();
        (self.wrap, self.gutter) = (wrap, gutter);
    }

    pub(super) fn put_str(&mut self, style: Style, text: &str) {
        text.chars().for_each(|char| self.put(style, char));
    }

    pub(super) fn put(&mut self, style: Style, char: char) {
        match (self.gap, char) {
            (Gap::Due, '\n') => return,
            (Gap::Due, _) => self.leave_gap(),
            (Gap::None, _) => {}
        }
        match char {
            '\n' => self.end_line(),
            '\t' => {
                self.end_cluster();
                let column = self.column + self.spaces + self.word.width();
                (0..TAB - column % TAB).for_each(|_| self.place(style, " ", 1));
            }
            _ => {
                if self.cluster.style != Some(style) || self.cluster.is_over(char) {
                    self.end_cluster();
                }
                self.cluster.style = Some(style);
                self.cluster.text.push(char);
            }
        }
    }

    /// Puts words that stay on one row if they fit.
    pub(super) fn put_phrase(&mut self, style: Style, words: &str) {
        if words.width() > self.columns {
            return self.put_str(style, words);
        }
        self.end_cluster();
        words.graphemes(true).for_each(|cluster| self.add_to_word(style, cluster, cluster.width()));
    }

    /// Ends the line if anything is on it.
    pub(super) fn fresh_line(&mut self) {
        self.settle();
        if self.row != Row::Fresh {
            self.end_line();
        }
    }

    /// What comes next is separated by an empty line. Line ends before it count towards that.
    pub(super) fn begin_paragraph(&mut self) {
        self.settle();
        self.gap = Gap::Due;
    }

    /// Writes what is held back.
    pub(super) fn settle(&mut self) {
        self.end_cluster();
        self.end_word();
        self.spaces = 0;
    }

    /// What is held back and fits the row, followed by `more`, which is held back elsewhere. It is not written.
    pub(super) fn preview(&mut self, more: &str) -> String {
        let Word::Held { spans, width } = &self.word else { return String::new() };
        let cluster = self.cluster.style.map(|style| (style, self.cluster.text.clone()));
        let width = self.spaces + width + self.cluster.text.width() + more.width();
        if !matches!(self.row, Row::Begun(_)) || self.column + width > self.columns {
            return String::new();
        }
        let spans: Vec<_> = spans.iter().cloned().chain(cluster).collect();
        let written = self.take();
        self.out.extend(std::iter::repeat_n(' ', self.spaces));
        for (style, text) in spans {
            self.write(style, &text);
        }
        self.write(Style::Plain, more);
        self.set_style(Style::Plain);
        mem::replace(&mut self.out, written)
    }

    /// Words in a style that are not part of the page.
    pub(super) fn aside(&mut self, style: Style, words: &str) -> String {
        let written = self.take();
        self.write(style, words);
        self.set_style(Style::Plain);
        mem::replace(&mut self.out, written)
    }

    fn leave_gap(&mut self) {
        self.gap = Gap::None;
        if self.row != Row::Fresh {
            self.ends = 1;
            self.break_row(Row::Fresh);
        }
        while self.ends < 2 {
            self.ends += 1;
            self.break_row(Row::Fresh);
        }
    }

    fn end_line(&mut self) {
        self.settle();
        if self.row == Row::Fresh {
            self.ends += 1;
            self.write(Style::Quiet, self.gutter.trim_end());
        } else {
            self.ends = 1;
        }
        self.break_row(Row::Fresh);
    }

    fn end_cluster(&mut self) {
        let Span { style: Some(style), text } = mem::take(&mut self.cluster) else { return };
        self.place(style, &text, text.width());
    }

    fn place(&mut self, style: Style, text: &str, width: usize) {
        let wrap = if style == Style::Fenced { Wrap::Letters } else { self.wrap };
        match (wrap, text) {
            (Wrap::Letters, _) => {
                self.end_word();
                self.write_placed(style, text, width);
            }
            (Wrap::Words, " ") => {
                self.end_word();
                match self.row {
                    // Indentation is kept.
                    Row::Fresh | Row::Begun(Hang::Unknown) => self.write_placed(style, text, width),
                    Row::Continued(_) | Row::Begun(Hang::At(_)) => self.spaces += 1,
                }
            }
            // Scripts with wide characters have no spaces: each character is a word.
            (Wrap::Words, _) if width > 1 => {
                self.end_word();
                self.add_to_word(style, text, width);
                self.end_word();
            }
            (Wrap::Words, _) => self.add_to_word(style, text, width),
        }
    }

    fn add_to_word(&mut self, style: Style, text: &str, added: usize) {
        let Word::Held { spans, width } = &mut self.word else {
            return self.write_placed(style, text, added);
        };
        match spans.last_mut() {
            Some((last, held)) if *last == style => held.push_str(text),
            _ => spans.push((style, text.to_owned())),
        }
        *width += added;
        let fits = self.column + self.spaces + *width <= self.columns;
        match self.row {
            Row::Begun(hang) if !fits => {
                let from = match hang {
                    // No hanging indent where it would leave too little room.
                    Hang::At(column) if column <= self.columns / 2 => column,
                    Hang::At(_) | Hang::Unknown => 0,
                };
                self.spaces = 0;
                self.break_row(Row::Continued(from));
                self.place_word();
            }
            Row::Begun(_) => {}
            Row::Fresh | Row::Continued(_) => self.place_word(),
        }
    }

    fn end_word(&mut self) {
        self.place_word();
        self.word = Word::Held { spans: Vec::new(), width: 0 };
    }

    fn place_word(&mut self) {
        let Word::Held { spans, .. } = mem::replace(&mut self.word, Word::Placed) else { return };
        for (style, text) in spans {
            (0..mem::take(&mut self.spaces)).for_each(|_| self.write_placed(style, " ", 1));
            text.graphemes(true).for_each(|cluster| self.write_placed(style, cluster, cluster.width()));
        }
    }

    /// Writes one character, and begins its row if it is the first.
    fn write_placed(&mut self, style: Style, text: &str, width: usize) {
        if self.column + width > self.columns && self.column > 0 {
            if self.gutter.is_empty() {
                // Let the terminal break the row, so that it is still one line when copied.
                self.column = 0;
            } else {
                self.break_row(Row::Continued(0));
            }
        }
        let hang = match self.row {
            Row::Begun(hang) => hang,
            Row::Fresh => {
                self.ends = 0;
                self.write(Style::Quiet, self.gutter);
                self.column = self.gutter.width();
                Hang::Unknown
            }
            Row::Continued(from) => {
                self.write(Style::Quiet, self.gutter);
                self.column = self.gutter.width();
                while self.column < from {
                    self.write(style, " ");
                    self.column += 1;
                }
                Hang::At(from)
            }
        };
        let is_lead = text == " " || style == Style::Bullet;
        self.row = Row::Begun(if hang == Hang::Unknown && !is_lead { Hang::At(self.column) } else { hang });
        self.write(style, text);
        self.column += width;
    }

    fn break_row(&mut self, next: Row) {
        if next == Row::Fresh {
            // Whatever ends the program, a style does not outlast its line.
            self.set_style(Style::Plain);
        }
        self.out.push('\n');
        self.row = next;
        self.column = 0;
    }

    fn write(&mut self, style: Style, text: &str) {
        if !text.is_empty() {
            self.set_style(style);
            self.out.push_str(text);
        }
    }

    pub(super) fn set_style(&mut self, style: Style) {
        if self.style != style && self.paint == Paint::Colours {
            self.out.push_str("\x1b[");
            self.out.push_str(style.parameters());
            self.out.push('m');
        }
        self.style = style;
    }
}

impl Span {
    /// Whether the next character does not join it.
    fn is_over(&self, next: char) -> bool {
        let Some(last) = self.text.chars().next_back() else { return true };
        if last.is_ascii() && next.is_ascii() || self.text.len() > MAX_CLUSTER {
            return true;
        }
        let joined: String = self.text.chars().chain([next]).collect();
        joined.graphemes(true).count() > 1
    }
}

impl Word {
    fn width(&self) -> usize {
        match self {
            Self::Held { width, .. } => *width,
            Self::Placed => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(columns: usize, gutter: &'static str, text: &str, rows: &[&str]) {
        let mut page = Page::new(Paint::None, columns);
        page.lay_out(Wrap::Words, gutter);
        page.put_str(Style::Plain, text);
        page.fresh_line();
        assert_eq!(page.take().lines().collect::<Vec<_>>(), rows);
    }

    #[test]
    fn words_stay_whole_where_they_can() {
        check(10, "", "one two three four", &["one two", "three four"]);
        check(10, "", "exactly 10 and more", &["exactly 10", "and more"]);
        // The terminal breaks what does not fit on a row.
        check(10, "", "a https://example.org/path b", &["a", "https://example.org/path b"]);
        let rows = ["┊ a", "┊ word-tha", "┊ t-is-lon", "┊ g", "┊", "┊ b"];
        check(10, "┊ ", "a word-that-is-long\n\nb", &rows);
        check(10, "", "  indented text goes on", &["  indented", "  text", "  goes on"]);
    }

    #[test]
    fn wide_characters_take_two_columns() {
        check(10, "", "日本語の文字は広い。", &["日本語の文", "字は広い。"]);
        check(5, "", "日本語", &["日本", "語"]);
        check(8, "", "👩‍💻 👩‍💻 👩‍💻 👩‍💻", &["👩‍💻 👩‍💻 👩‍💻", "👩‍💻"]);
        check(4, "", "🇩🇪🇫🇷🇮🇹", &["🇩🇪🇫🇷", "🇮🇹"]);
        check(4, "", "e\u{301}e\u{301}e\u{301}e\u{301} x", &["e\u{301}e\u{301}e\u{301}e\u{301}", "x"]);
    }

    #[test]
    fn tabs_are_spaces_up_to_the_next_stop() {
        check(40, "", "\ta\tbc\td", &["    a   bc  d"]);
    }
}
