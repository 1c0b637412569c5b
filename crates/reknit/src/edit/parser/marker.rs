//! [`Marker`]: the lines that divide a search and replace block.

/// A line that may divide a block, by itself: what it is depends on where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    /// `<<<<<<< SEARCH` or `------- SEARCH`.
    Search(Opening),
    /// `<<<<<<< HEAD`: a marker of a merge conflict, whose labels some models use.
    Conflict(Opening),
    /// `=======`.
    Divider { count: usize },
    /// `>>>>>>> REPLACE` or `+++++++ REPLACE`.
    Replace { written: Written },
    /// `>>>>>>>`, without a word.
    Bare { count: usize },
    /// `>>>>>>> feature`: the end of a merge conflict.
    Other,
}

/// The first marker of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opening {
    pub(super) count: usize,
    /// Whether it is called `HEAD` or the like: any end of a merge conflict ends the block.
    pub(super) is_conflict: bool,
    pub(super) written: Written,
}

/// Whether a marker has a form that its format knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// It has.
    Well,
    /// It has not, but there is nothing else that it could be.
    Badly,
}

/// Marker characters that every form has at least, and those that a badly written one has.
const FEWEST: usize = 3;
const FEWEST_IF_BADLY: usize = 5;

/// What is used for SEARCH in a merge conflict, and for REPLACE.
const BEFORE: [&str; 4] = ["HEAD", "ORIGINAL", "OLD", "CURRENT"];
const BEHIND: [&str; 2] = ["UPDATED", "NEW"];

impl Marker {
    /// What a line may be.
    pub(super) fn read(line: &str) -> Option<Self> {
        let text = line.trim_ascii();
        let byte = *text.as_bytes().first().filter(|byte| b"<>-+=".contains(byte))?;
        let count = text.bytes().take_while(|&other| other == byte).count();
        let label = &text[count..];
        let written = |word| written(line, count, label, word);
        match byte {
            b'=' => (count >= FEWEST && label.is_empty()).then_some(Self::Divider { count }),
            b'<' | b'-' => match written("SEARCH") {
                Some(written) => Some(Self::Search(Opening { count, is_conflict: false, written })),
                None => {
                    let conflict =
                        byte == b'<' && count >= FEWEST_IF_BADLY && BEFORE.contains(&label.trim_ascii());
                    let opening = Opening { count, is_conflict: true, written: Written::Badly };
                    conflict.then_some(Self::Conflict(opening))
                }
            },
            _ => match written("REPLACE") {
                Some(written) => Some(Self::Replace { written }),
                None if byte == b'+' || count < FEWEST_IF_BADLY => None,
                None if label.is_empty() => Some(Self::Bare { count }),
                None if BEHIND.contains(&label.trim_ascii()) => {
                    Some(Self::Replace { written: Written::Badly })
                }
                None => label.starts_with(' ').then_some(Self::Other),
            },
        }
    }
}

/// How a label was written, if it is the word.
fn written(line: &str, count: usize, label: &str, word: &str) -> Option<Written> {
    // Models close the tag that they think a marker is.
    let bare = label.strip_suffix(['>', '<']).unwrap_or(label);
    if bare.strip_prefix(' ') == Some(word) {
        return match count {
            FEWEST.. => Some(Written::Well),
            // `-- SEARCH` is a comment, and an indented `<< SEARCH` goes on with an expression.
            2 => (line.starts_with(['<', '>']) && bare == label).then_some(Written::Badly),
            _ => None,
        };
    }
    let bare = bare.trim_end_matches([':', '>', '<']).trim_ascii();
    (count >= FEWEST_IF_BADLY && bare.eq_ignore_ascii_case(word)).then_some(Written::Badly)
}

/// Whether a line of content looks like a divider: as many characters as models write for one.
pub(in crate::edit) fn is_divider_like(line: &str) -> bool {
    let line = line.trim_ascii();
    (5..=9).contains(&line.len()) && line.bytes().all(|byte| byte == b'=')
}
