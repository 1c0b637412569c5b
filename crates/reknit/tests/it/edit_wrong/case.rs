//! [`Case`]: an edit of a real file, and the only content that may come of it.

use super::slip::{Slip, curled, is_blank, other_word, renamed, words};
use super::source::Source;
use crate::cuts::Random;

/// How many lines the block has that is edited.
const HEIGHT: std::ops::RangeInclusive<usize> = 4..=12;

/// What is special about an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// The search text is there as it is, once.
    Literal,
    /// The same, beside copies whose names are a letter or two apart.
    Decoys(usize),
    /// There are only such copies.
    DecoysOnly(usize),
    /// The line that goes has another word in the file.
    OtherWord,
    /// The file has a line at the insertion point that the search does not name.
    UnnamedLine,
    /// One of the kept lines that nothing depends on is wrong.
    KeptLine,
    /// Search, or search and replacement, were copied with a slip.
    Slipped(Slip, Sides),
    /// The file consists of blocks that differ in a number only.
    Stanzas,
    /// The block has lines like dividers.
    Dividers,
}

/// Where a slip is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sides {
    Search,
    Both,
}

/// How an edit is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    Blocks,
    Diff,
    Patch,
    Arguments,
    Elements,
    Whole,
}

/// What may become of an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Right {
    /// This content, and nothing else will do.
    Applied(String),
    /// This content, or a refusal.
    Possible(String),
    /// A refusal.
    Refused,
}

/// A file, an answer, and what may become of it.
pub(crate) struct Case {
    pub(crate) form: Form,
    pub(crate) file: String,
    pub(crate) answer: String,
    pub(crate) right: Right,
}

/// What an edit does to the lines of a block.
struct Edit {
    search: Vec<String>,
    replacement: Vec<String>,
    /// The block afterwards.
    after: Vec<String>,
    /// The lines of the block that it changes or puts new ones between.
    touched: Vec<usize>,
    /// Whether the first of those goes.
    removes: bool,
}

impl Case {
    /// A case of a class, if one is found in the file.
    pub(crate) fn new(source: &Source, class: Class, random: &mut Random) -> Option<Self> {
        (0..60).find_map(|_| Self::attempt(source, class, random))
    }

    fn attempt(source: &Source, class: Class, random: &mut Random) -> Option<Self> {
        let mut lines = match class {
            Class::Stanzas => stanzas(source, random)?,
            Class::Dividers => with_dividers(source, random),
            _ => source.lines.clone(),
        };
        let height = (HEIGHT.start() + random.below(HEIGHT.end() - HEIGHT.start() + 1)).min(lines.len());
        let start = random.below(lines.len().checked_sub(height)? + 1);
        let block = lines[start..start + height].to_vec();
        if is_blank(&block[0]) || is_blank(&block[height - 1]) || places(&lines, &block) != 1 {
            return None;
        }
        let mut edit = Edit::new(&block, random)?;
        let mut at = start;
        let mut form = FORMS[random.below(FORMS.len())];
        let right: fn(String) -> Right = match class {
            Class::Literal | Class::Dividers => Right::Applied,
            Class::Stanzas => {
                if random.below(2) == 0 {
                    edit.slip_kept_line(&block, random);
                }
                Right::Possible
            }
            Class::Decoys(count) => {
                for _ in 0..count {
                    at += add_decoy(&mut lines, &block, at, random)?;
                }
                if places(&lines, &block) != 1 {
                    return None;
                }
                Right::Applied
            }
            Class::DecoysOnly(count) => {
                lines.drain(start..start + height);
                for _ in 0..count {
                    add_decoy(&mut lines, &block, usize::MAX, random)?;
                }
                if places(&lines, &edit.search) != 0 || has_look_alike(&lines, &block) {
                    return None;
                }
                return Self::refused(form, &lines, &edit);
            }
            Class::OtherWord => {
                let line = edit.touched.first().copied().filter(|_| edit.removes)?;
                lines[start + line] = other_word(&block[line], random)?;
                if places(&lines, &block) != 0 || has_look_alike(&lines, &block) {
                    return None;
                }
                return Self::refused(form, &lines, &edit);
            }
            Class::UnnamedLine => {
                let line = edit.touched.get(1).copied().filter(|line| !edit.removes && *line > 0)?;
                let indent = &block[line][..block[line].len() - block[line].trim_start().len()];
                lines.insert(start + line, format!("{indent}nobody_named_this({});", random.below(100)));
                return Self::refused(form, &lines, &edit);
            }
            Class::KeptLine => {
                edit.slip_kept_line(&block, random)?;
                let others = [&lines[..start], &lines[start + height..]].concat();
                // With another line, it may be what the file has elsewhere: then that is what it names.
                if has_look_alike(&others, &block) || occurs(&lines, &edit.search) {
                    return None;
                }
                Right::Possible
            }
            Class::Slipped(slip, sides) => {
                edit.slip(slip, sides, random)?;
                // The file has the line twice, or begins the next one with it.
                if slip == Slip::LineTwice && occurs(&lines, &edit.search) {
                    return None;
                }
                Right::Possible
            }
        };
        if matches!(class, Class::Slipped(..) | Class::KeptLine) && form == Form::Whole {
            form = Form::Blocks;
        }
        let before = &lines[..at];
        let after = [before, &edit.after, &lines[at + height..]].concat();
        let ends = Ends::any(form, random);
        let file = ends.joined(&lines);
        let answer = written(form, &edit, at, &after, &ends)?;
        Some(Self { form, file, answer, right: right(ends.joined(&after)) })
    }

    fn refused(form: Form, lines: &[String], edit: &Edit) -> Option<Self> {
        let form = if form == Form::Whole { Form::Patch } else { form };
        let ends = Ends { line: "\n", is_closed: true };
        let answer = written(form, edit, 0, lines, &ends)?;
        Some(Self { form, file: ends.joined(lines), answer, right: Right::Refused })
    }
}

const FORMS: [Form; 7] =
    [Form::Blocks, Form::Blocks, Form::Diff, Form::Patch, Form::Arguments, Form::Elements, Form::Whole];

/// How the lines of a file end.
struct Ends {
    line: &'static str,
    is_closed: bool,
}

impl Ends {
    fn any(form: Form, random: &mut Random) -> Self {
        // A patch closes the last line that it changes.
        let is_closed = form == Form::Patch || form == Form::Whole || random.below(5) > 0;
        Self { line: if random.below(5) == 0 { "\r\n" } else { "\n" }, is_closed }
    }

    fn joined(&self, lines: &[String]) -> String {
        let text: String = lines.iter().flat_map(|line| [line, self.line]).collect();
        if self.is_closed { text } else { text.strip_suffix(self.line).unwrap_or(&text).to_owned() }
    }
}

impl Edit {
    fn new(block: &[String], random: &mut Random) -> Option<Self> {
        let line = random.below(block.len());
        if is_blank(&block[line]) {
            return None;
        }
        let indent = &block[line][..block[line].len() - block[line].trim_start().len()];
        let new = |random: &mut Random| format!("{indent}rewritten_by_edit({});", random.below(1000));
        let mut after = block.to_vec();
        let (touched, removes) = match random.below(4) {
            0 => {
                after.insert(line, new(random));
                (vec![line.saturating_sub(1), line], false)
            }
            1 => {
                after[line] = new(random);
                (vec![line], true)
            }
            2 => {
                after.splice(line..=line, [new(random), new(random)]);
                (vec![line], true)
            }
            _ => {
                after.remove(line);
                (vec![line], true)
            }
        };
        // An insertion between two lines of which one is blank could be on either side of it.
        let is_clear = removes || touched.iter().all(|line| !is_blank(&block[*line]));
        let search = block.to_vec();
        is_clear.then(|| Self { search, replacement: after.clone(), after, touched, removes })
    }

    /// Gets a kept line wrong that is neither beside the change nor one that says which thing this is.
    fn slip_kept_line(&mut self, block: &[String], random: &mut Random) -> Option<()> {
        let depth = |line: &str| line.len() - line.trim_start().len();
        let solid: Vec<_> = (0..block.len()).filter(|line| !is_blank(&block[*line])).collect();
        let first = solid.iter().copied().find(|line| block[*line].contains(char::is_alphabetic))?;
        let is_free = |nth: &usize| {
            let line = solid[*nth];
            let opens = solid.get(nth + 1).is_some_and(|next| depth(&block[*next]) > depth(&block[line]));
            let is_beside = self.touched.iter().any(|touched| {
                let between =
                    solid.iter().filter(|other| (line.min(*touched)..line.max(*touched)).contains(*other));
                between.count() <= 1
            });
            let text = block[line].trim();
            let is_heading =
                text.starts_with(['#', '[', '*', '=', '-', '~']) || text.ends_with([':', '{', '(', '[']);
            line > first
                && !opens
                && !is_beside
                && !is_heading
                && line + 1 < block.len()
                && !words(text).is_empty()
        };
        let free: Vec<_> = (0..solid.len()).filter(is_free).collect();
        let line = solid[*free.get(random.below(free.len().max(1)))?];
        if block.iter().filter(|other| **other == block[line]).count() > 1 {
            return None;
        }
        let wrong = other_word(&block[line], random)?;
        let both = [&mut self.search, &mut self.replacement];
        // The line after the first one says whether that is the right one.
        let is_second = solid.iter().filter(|other| (first..line).contains(*other)).count() == 1;
        let drop = random.below(3) == 0 && !is_second;
        for lines in both {
            let at = lines.iter().position(|other| *other == block[line])?;
            if drop {
                lines.remove(at);
            } else {
                lines[at].clone_from(&wrong);
            }
        }
        Some(())
    }

    fn slip(&mut self, slip: Slip, sides: Sides, random: &mut Random) -> Option<()> {
        let seed = random.below(1 << 20) as u64;
        let slipped = |lines: &[String]| slip.of(lines, &mut Random::new(seed));
        let search = slipped(&self.search)?;
        // A line that the search lacks is not named, so the edit must be about others.
        let first = search.iter().zip(&self.search).take_while(|(a, b)| a == b).count();
        let is_beside = |line: &usize| line.abs_diff(first) <= 1;
        if search.len() < self.search.len()
            && (self.touched.iter().any(is_beside) || first + 1 >= search.len())
        {
            return None;
        }
        if sides == Sides::Both {
            // A line that the slip is made in must be the same on both sides.
            let replacement = match slip {
                Slip::BlankDropped
                | Slip::BlankAdded
                | Slip::Comment
                | Slip::IndentationOfALine
                | Slip::InnerWhitespace
                | Slip::LineTwice => carried(&self.search, &search, &self.replacement)?,
                Slip::Indentation => {
                    let unit = "    ";
                    let is_less = search[0].len() < self.search[0].len();
                    let other = |line: &String| match (is_blank(line), is_less) {
                        (true, _) => Some(line.clone()),
                        (false, true) => line.strip_prefix(unit).map(str::to_owned),
                        (false, false) => Some(format!("{unit}{line}")),
                    };
                    self.replacement.iter().map(other).collect::<Option<_>>()?
                }
                // A new line is not copied, so it has none at its end.
                Slip::TrailingWhitespace => {
                    let copied = |line: &String| self.search.iter().position(|other| other == line);
                    let copy = |line: &String| copied(line).map_or(line, |at| &search[at]).clone();
                    self.replacement.iter().map(copy).collect()
                }
                _ => slipped(&self.replacement)?,
            };
            self.replacement = replacement;
        }
        self.search = search;
        Some(())
    }
}

/// The replacement with what came or went between a search text and its slipped copy.
fn carried(search: &[String], slipped: &[String], replacement: &[String]) -> Option<Vec<String>> {
    let at = search.iter().zip(slipped).take_while(|(a, b)| a == b).count();
    let above = search[..at].last()?;
    // A line that is there twice does not say where the same place is in the replacement.
    if search.iter().filter(|line| *line == above).count() > 1 {
        return None;
    }
    let mut here = replacement.iter().enumerate().filter(|(_, line)| *line == above).map(|(at, _)| at + 1);
    let place = here.next().filter(|_| here.next().is_none())?;
    let mut carried = replacement.to_vec();
    match slipped.len().cmp(&search.len()) {
        std::cmp::Ordering::Less => {
            if carried.get(place) != search.get(at) {
                return None;
            }
            carried.remove(place);
        }
        std::cmp::Ordering::Greater => carried.insert(place, slipped[at].clone()),
        std::cmp::Ordering::Equal => {
            if carried.get(place) != search.get(at) {
                return None;
            }
            carried[place].clone_from(&slipped[at]);
        }
    }
    Some(carried)
}

/// Puts a copy of a block somewhere in a file, with the names of its first line a letter or two apart. How many lines
/// that adds before a line.
fn add_decoy(lines: &mut Vec<String>, block: &[String], at: usize, random: &mut Random) -> Option<usize> {
    let first = block.iter().position(|line| line.contains(char::is_alphabetic))?;
    let names = words(&block[first]);
    let (start, end) = *names.get(random.below(names.len().max(1)))?;
    let name = &block[first][start..end];
    let other = renamed(name, random);
    let is_same = |line: &String| {
        words(line).into_iter().map(|(start, end)| &line[start..end]).any(|word| word == name)
    };
    let everywhere = random.below(2) == 0;
    let decoy: Vec<_> = block
        .iter()
        .enumerate()
        .map(|(nth, line)| {
            if nth == first || everywhere && is_same(line) {
                line.replace(name, &other)
            } else {
                line.clone()
            }
        })
        .collect();
    let free: Vec<_> = (0..=lines.len())
        .filter(|place| at == usize::MAX || *place <= at || *place >= at + block.len())
        .collect();
    let place = free[random.below(free.len())];
    lines.splice(place..place, decoy);
    Some(if place <= at { block.len() } else { 0 })
}

/// Blocks of a file repeated with other numbers.
fn stanzas(source: &Source, random: &mut Random) -> Option<Vec<String>> {
    let height = 4 + random.below(5);
    let start = random.below(source.lines.len().checked_sub(height)?);
    let block = &source.lines[start..start + height];
    let line = block.iter().position(|line| !words(line).is_empty())?;
    let (_, end) = *words(&block[line]).first()?;
    let mut lines = Vec::new();
    for number in 0..30 {
        let mut stanza = block.to_vec();
        stanza[line].insert_str(end, &number.to_string());
        lines.append(&mut stanza);
    }
    Some(lines)
}

/// A file with a heading that is underlined as a divider is written.
fn with_dividers(source: &Source, random: &mut Random) -> Vec<String> {
    let mut lines = source.lines.clone();
    for number in 0..1 + random.below(3) {
        let at = random.below(lines.len() + 1);
        lines.splice(at..at, [format!("Heading {number}"), "=======".to_owned()]);
    }
    lines
}

/// Whether a file has a block; the last line of it may be the beginning of a longer one.
fn occurs(file: &[String], block: &[String]) -> bool {
    places(file, block) != 0 || file.join("\n").contains(&block.join("\n"))
}

/// How often a file has a block, blank lines and whitespace at both ends of lines aside.
fn places(file: &[String], block: &[String]) -> usize {
    let plain = |lines: &[String]| -> Vec<String> {
        let lines = lines.iter().map(|line| curled(line, false).trim().to_owned());
        lines.filter(|line| !line.is_empty()).collect()
    };
    let (file, block) = (plain(file), plain(block));
    file.windows(block.len()).filter(|window| *window == block).count()
}

/// Whether a file has a block that differs in one line, not the first, from this one: an edit may be applied there.
fn has_look_alike(file: &[String], block: &[String]) -> bool {
    let solid = |lines: &[String]| -> Vec<String> {
        lines.iter().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
    };
    let (file, block) = (solid(file), solid(block));
    let first = block.iter().position(|line| line.contains(char::is_alphabetic)).unwrap_or(0);
    file.windows(block.len()).any(|window| {
        let same = window.iter().zip(&block).filter(|(a, b)| a == b).count();
        window[first] == block[first] && same + 1 >= block.len()
    })
}

fn joined(lines: &[String], before: &str) -> String {
    lines.iter().flat_map(|line| [before, line, "\n"]).collect()
}

/// An edit in the words of a model.
fn written(form: Form, edit: &Edit, at: usize, after: &[String], ends: &Ends) -> Option<String> {
    let Edit { search, replacement, .. } = edit;
    let common = search.iter().zip(replacement).take_while(|(a, b)| a == b).count();
    let shorter = search.len().min(replacement.len()) - common;
    let last =
        search.iter().rev().zip(replacement.iter().rev()).take(shorter).take_while(|(a, b)| a == b).count();
    let (goes, comes) =
        (&search[common..search.len() - last], &replacement[common..replacement.len() - last]);
    let hunk = joined(&search[..common], " ")
        + &joined(goes, "-")
        + &joined(comes, "+")
        + &joined(&search[search.len() - last..], " ");
    // Lines of the file that would end a fence or begin a block are not what this is about.
    let is_plain = |line: &String| {
        !line.trim_start().starts_with("```")
            && !line.trim_start().starts_with("~~~")
            && !line.contains("SEARCH")
            && !line.contains("REPLACE")
            && !line.contains("<![CDATA[")
            && !line.contains("</")
            && !line.starts_with("***")
            && !line.starts_with("@@")
    };
    if !search.iter().chain(replacement).all(is_plain) || form == Form::Whole && !after.iter().all(is_plain) {
        return None;
    }
    let block = format!(
        "<<<<<<< SEARCH\n{}=======\n{}>>>>>>> REPLACE\n",
        joined(search, ""),
        joined(replacement, "")
    );
    Some(match form {
        Form::Blocks => format!("file.txt\n````\n{block}````\n"),
        Form::Elements => {
            format!(
                "<args>\n<file>\n<path>file.txt</path>\n<diff>\n<content><![CDATA[\n{block}]]></content>\n</diff>\n</file>\n</args>\n"
            )
        }
        Form::Diff => format!(
            "```diff\n--- a/file.txt\n+++ b/file.txt\n@@ -{},{} +{},{} @@\n{hunk}```\n",
            at + 1,
            search.len(),
            at + 1,
            replacement.len()
        ),
        Form::Patch => format!("*** Begin Patch\n*** Update File: file.txt\n@@\n{hunk}*** End Patch\n"),
        Form::Arguments => {
            let text = |lines: &[String]| {
                joined(lines, "").strip_suffix('\n').map(str::to_owned).unwrap_or_default()
            };
            let (old, new) = (text(search), text(replacement));
            serde_json::json!({"path": "file.txt", "old_string": old, "new_string": new}).to_string() + "\n"
        }
        Form::Whole if ends.line == "\n" => format!("file.txt\n````\n{}````\n", ends.joined(after)),
        Form::Whole => format!("file.txt\n````\n{}````\n", joined(after, "")),
    })
}
