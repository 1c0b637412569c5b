//! [`Slip`]: what a model gets wrong when it copies lines of a file.

use crate::cuts::Random;

/// One thing that is wrong in a search text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Slip {
    /// A word of a line is another one.
    Word,
    /// The last line is missing.
    LastLine,
    /// A blank line is missing.
    BlankDropped,
    /// There is a blank line that the file does not have.
    BlankAdded,
    /// Plain quotes became typographic ones.
    Quotes,
    /// All lines are indented by a level more or less.
    Indentation,
    /// Lines are indented with tabs instead of spaces.
    Tabs,
    /// There is whitespace at the ends of lines.
    TrailingBlanks,
    /// The first line lacks its beginning.
    FirstLineCut,
}

impl Slip {
    /// In the order in which they are made: what is cut off was indented before.
    pub(super) const ALL: [Self; 9] = [
        Self::Word,
        Self::LastLine,
        Self::BlankDropped,
        Self::BlankAdded,
        Self::Quotes,
        Self::Indentation,
        Self::Tabs,
        Self::TrailingBlanks,
        Self::FirstLineCut,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Word => "word",
            Self::LastLine => "last line",
            Self::BlankDropped => "blank dropped",
            Self::BlankAdded => "blank added",
            Self::Quotes => "quotes",
            Self::Indentation => "indentation",
            Self::Tabs => "tabs",
            Self::TrailingBlanks => "trailing blanks",
            Self::FirstLineCut => "first line cut",
        }
    }
}

/// None of them, each alone, and every two that do not undo each other.
pub(super) fn combinations() -> Vec<Vec<Slip>> {
    let mut combinations = vec![Vec::new()];
    for (nth, one) in Slip::ALL.into_iter().enumerate() {
        combinations.push(vec![one]);
        combinations.extend(Slip::ALL[nth + 1..].iter().map(|other| vec![one, *other]));
    }
    combinations.retain(|slips| slips[..] != [Slip::BlankDropped, Slip::BlankAdded]);
    combinations
}

/// A search text that is being copied, line by line.
#[derive(Clone, Debug)]
pub(super) struct Copy {
    pub(super) rows: Vec<Row>,
    /// Lines of the block whose text is not in the copy as it is in the file.
    pub(super) spoilt: Vec<usize>,
    /// Lines of the block beside which a blank line came or went.
    pub(super) loosened: Vec<usize>,
}

/// A line of a copy.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) text: String,
    /// The line of the block that it replaces, if any.
    pub(super) of: Option<usize>,
}

impl Copy {
    pub(super) fn of(block: &[String]) -> Self {
        let row = |(of, text): (usize, &String)| Row { text: text.clone(), of: Some(of) };
        let rows = block.iter().enumerate().map(row).collect();
        Self { rows, spoilt: Vec::new(), loosened: Vec::new() }
    }

    /// Makes a slip, if there is anything in the lines that can slip so.
    pub(super) fn slip(&mut self, slip: Slip, unit: &str, random: &mut Random) -> Option<()> {
        match slip {
            Slip::Word => self.change_a_word(random),
            Slip::LastLine => {
                let last = self.rows.pop()?;
                self.spoilt.extend(last.of);
                Some(())
            }
            Slip::BlankDropped => {
                let inner = 1..self.rows.len().checked_sub(1)?;
                let blanks: Vec<_> = inner.filter(|at| is_blank(&self.rows[*at].text)).collect();
                let at = pick(&blanks, random)?;
                self.rows.remove(at);
                self.loosen(at);
                Some(())
            }
            Slip::BlankAdded => {
                let solid = |at: &usize| [at - 1, *at].iter().all(|at| !is_blank(&self.rows[*at].text));
                let at = pick(&(1..self.rows.len()).filter(solid).collect::<Vec<_>>(), random)?;
                self.loosen(at);
                self.rows.insert(at, Row { text: String::new(), of: None });
                Some(())
            }
            Slip::Quotes => self.change_all(curled),
            Slip::Indentation => self.indent(unit, random),
            Slip::Tabs => self.change_all(|text| {
                let (blanks, rest) = text.split_at(text.len() - text.trim_start_matches(' ').len());
                let tabs = blanks.len() / unit.len();
                format!("{}{}{rest}", "\t".repeat(tabs), " ".repeat(blanks.len() % unit.len()))
            }),
            Slip::TrailingBlanks => {
                let blanks = ["  ", " ", "\t"][random.below(3)];
                let every = 1 + random.below(2);
                let mut nth = 0;
                self.change_all(|text| {
                    nth += 1;
                    if nth % every == 0 { format!("{text}{blanks}") } else { text.to_owned() }
                })
            }
            Slip::FirstLineCut => self.cut_the_first_line(random),
        }
    }

    /// Notes that there are more or fewer blank lines before a row than the block has.
    fn loosen(&mut self, at: usize) {
        let beside = [self.rows[at - 1].of, self.rows[at].of];
        self.loosened.extend(beside.into_iter().flatten());
    }

    /// Changes every line; it is not a slip if all stay the same.
    fn change_all(&mut self, mut change: impl FnMut(&str) -> String) -> Option<()> {
        let mut changed = false;
        for row in self.rows.iter_mut().filter(|row| !is_blank(&row.text)) {
            let text = change(&row.text);
            changed |= text != row.text;
            row.text = text;
        }
        changed.then_some(())
    }

    fn indent(&mut self, unit: &str, random: &mut Random) -> Option<()> {
        let deep = self.rows.iter().filter(|row| !is_blank(&row.text)).all(|row| row.text.starts_with(unit));
        if deep && random.below(2) == 0 {
            return self.change_all(|text| text[unit.len()..].to_owned());
        }
        self.change_all(|text| format!("{unit}{text}"))
    }

    fn change_a_word(&mut self, random: &mut Random) -> Option<()> {
        let rows: Vec<_> = (0..self.rows.len()).filter(|at| words(&self.rows[*at].text).len() > 1).collect();
        let row = &mut self.rows[pick(&rows, random)?];
        let (start, end) = pick(&words(&row.text), random)?;
        let other = another_word(&row.text[start..end], random);
        row.text.replace_range(start..end, other);
        self.spoilt.extend(row.of);
        Some(())
    }

    fn cut_the_first_line(&mut self, random: &mut Random) -> Option<()> {
        let row = self.rows.first_mut()?;
        let indent = row.text.len() - row.text.trim_start().len();
        let visible: Vec<_> = row.text[indent..].char_indices().map(|(at, _)| indent + at).collect();
        if visible.len() < 8 {
            return None;
        }
        let cut = visible[1 + random.below(visible.len() / 2)];
        row.text.drain(..cut);
        self.spoilt.extend(row.of);
        Some(())
    }
}

pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// One of several.
pub(super) fn pick<T: std::marker::Copy>(items: &[T], random: &mut Random) -> Option<T> {
    (!items.is_empty()).then(|| items[random.below(items.len())])
}

/// Where the words of a line are.
pub(super) fn words(text: &str) -> Vec<(usize, usize)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (is_word(c), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                if at - from > 2 {
                    words.push((from, at));
                }
                start = None;
            }
            _ => {}
        }
    }
    words
}

/// A word that is not this one.
pub(super) fn another_word(word: &str, random: &mut Random) -> &'static str {
    const WORDS: [&str; 8] =
        ["value", "index", "current", "result", "previous_item", "Options", "handle", "len"];
    let others: Vec<_> = WORDS.into_iter().filter(|other| *other != word).collect();
    others[random.below(others.len())]
}

/// A text with typographic quotes, opening and closing in turn.
fn curled(text: &str) -> String {
    let (mut single, mut double) = (false, false);
    let mut curl = |c: char| {
        let (open, pair) = match c {
            '\'' => (&mut single, ['\u{2018}', '\u{2019}']),
            '"' => (&mut double, ['\u{201C}', '\u{201D}']),
            other => return other,
        };
        *open = !*open;
        pair[usize::from(!*open)]
    };
    text.chars().map(&mut curl).collect()
}
