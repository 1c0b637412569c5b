//! [`Slip`]: what a model gets wrong when it copies lines of a file.

use crate::cuts::Random;

/// One thing that is wrong in a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Slip {
    /// All lines are indented by a level more or less.
    Indentation,
    /// One line is.
    IndentationOfALine,
    /// Lines are indented with tabs instead of spaces, or the other way round.
    Tabs,
    /// Plain quotes became typographic ones.
    Quotes,
    /// There is whitespace at the ends of lines.
    TrailingWhitespace,
    BlankDropped,
    BlankAdded,
    /// A comment is missing or says something else.
    Comment,
    /// Whitespace inside a line is doubled.
    InnerWhitespace,
    /// A line is written twice.
    LineTwice,
}

impl Slip {
    pub(crate) const ALL: [Self; 10] = [
        Self::Indentation,
        Self::IndentationOfALine,
        Self::Tabs,
        Self::Quotes,
        Self::TrailingWhitespace,
        Self::BlankDropped,
        Self::BlankAdded,
        Self::Comment,
        Self::InnerWhitespace,
        Self::LineTwice,
    ];

    /// The lines with this slip; none if nothing in them can slip so.
    pub(crate) fn of(self, lines: &[String], random: &mut Random) -> Option<Vec<String>> {
        let mut slipped = lines.to_vec();
        let solid: Vec<_> = (0..lines.len()).filter(|line| !is_blank(&lines[*line])).collect();
        let any = |random: &mut Random| solid[random.below(solid.len())];
        match self {
            Self::Indentation => {
                let less = random.below(2) == 0 && solid.iter().all(|line| lines[*line].starts_with("    "));
                for line in &solid {
                    slipped[*line] =
                        if less { lines[*line][4..].to_owned() } else { format!("    {}", lines[*line]) };
                }
            }
            Self::IndentationOfALine => {
                let line = any(random);
                slipped[line] = format!("{}{}", ["  ", "    ", "\t"][random.below(3)], lines[line]);
            }
            Self::Tabs => {
                let has_tabs = lines.iter().any(|line| line.starts_with('\t'));
                for line in &mut slipped {
                    let text = line.trim_start().to_owned();
                    let indent = &line[..line.len() - text.len()];
                    let other =
                        if has_tabs { indent.replace('\t', "    ") } else { indent.replace("    ", "\t") };
                    *line = other + &text;
                }
            }
            Self::Quotes => slipped.iter_mut().for_each(|line| *line = curled(line, true)),
            Self::TrailingWhitespace => {
                solid.iter().for_each(|line| slipped[*line].push_str("  "));
            }
            Self::BlankDropped => {
                let blank: Vec<_> = (1..lines.len()).filter(|line| is_blank(&lines[*line])).collect();
                slipped.remove(*blank.get(random.below(blank.len().max(1)))?);
            }
            Self::BlankAdded => slipped.insert(1 + random.below(lines.len() - 1), String::new()),
            Self::Comment => {
                let is_comment = |line: &&usize| {
                    ["//", "# ", "/*"].iter().any(|mark| lines[**line].trim_start().starts_with(mark))
                };
                let comments: Vec<_> = solid.iter().filter(is_comment).filter(|line| **line > 0).collect();
                let line = **comments.get(random.below(comments.len().max(1)))?;
                if random.below(2) == 0 {
                    slipped.remove(line);
                } else {
                    slipped[line] = other_word(&lines[line], random)?;
                }
            }
            Self::LineTwice => {
                let line = any(random);
                slipped.insert(line, lines[line].clone());
            }
            Self::InnerWhitespace => {
                let line = any(random);
                let start = lines[line].len() - lines[line].trim_start().len();
                let space = start + lines[line][start..].find(' ')?;
                slipped[line].insert(space, ' ');
            }
        }
        (slipped != lines).then_some(slipped)
    }
}

pub(crate) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Where the words of a line are.
pub(crate) fn words(text: &str) -> Vec<(usize, usize)> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (c.is_alphanumeric() || c == '_', start) {
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

/// A name one or two letters apart.
pub(crate) fn renamed(name: &str, random: &mut Random) -> String {
    let mut letters: Vec<char> = name.chars().collect();
    for _ in 0..1 + random.below(2) {
        let letter = (b'a' + random.below(26) as u8) as char;
        match random.below(3) {
            0 => letters.push(letter),
            1 => letters.insert(random.below(letters.len()), letter),
            _ => {
                let at = random.below(letters.len());
                letters[at] = if letters[at] == letter { '_' } else { letter };
            }
        }
    }
    let other: String = letters.into_iter().collect();
    if other == name { other + "x" } else { other }
}

/// A line with another word.
pub(crate) fn other_word(line: &str, random: &mut Random) -> Option<String> {
    let all = words(line);
    let (start, end) = *all.get(random.below(all.len().max(1)))?;
    let word = match random.below(2) {
        0 => renamed(&line[start..end], random),
        _ => ["value", "index", "current", "handle"]
            .iter()
            .find(|word| **word != &line[start..end])?
            .to_string(),
    };
    Some(format!("{}{word}{}", &line[..start], &line[end..]))
}

/// A line with typographic quotes, or with plain ones again.
pub(crate) fn curled(line: &str, curl: bool) -> String {
    if !curl {
        return line.replace(['\u{201C}', '\u{201D}'], "\"").replace(['\u{2018}', '\u{2019}'], "'");
    }
    let mut open = false;
    let quote = |c: char| match c {
        '"' => {
            open = !open;
            if open { '\u{201C}' } else { '\u{201D}' }
        }
        '\'' => '\u{2019}',
        other => other,
    };
    line.chars().map(quote).collect()
}
