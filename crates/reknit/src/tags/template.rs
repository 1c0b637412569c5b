//! [`Template`]: how an opening marker is written, with the places where a name stands in it.

use std::ops::Range;

use super::blank::leading;

/// The longest name or list of attributes in a marker. What is longer is no marker.
const LONGEST: usize = 256;

/// A marker such as `<function={name}>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    /// This very text.
    Literal(String),
    /// `{name}`: up to what follows in the template; at its end, up to a line end or `<`.
    Name,
    /// `{attributes}`: up to what follows.
    Attributes,
    /// `{blank}`: any number of blanks.
    Blank,
}

/// What a template makes of a place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Match {
    /// The marker does not stand here.
    No,
    /// The text ends before that is decided.
    Partial,
    /// It stands here.
    Full(Found),
}

/// A marker that was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Where it ends.
    pub(super) end: usize,
    /// The name in it; empty if the template has none.
    pub(super) name: Range<usize>,
    /// The attributes in it.
    pub(super) attributes: Range<usize>,
}

/// The names that a marker may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// Any.
    Free,
    /// These, in order.
    Listed(Vec<String>),
}

impl Names {
    pub(super) fn listed(names: impl IntoIterator<Item = String>) -> Self {
        let mut names: Vec<_> = names.into_iter().collect();
        names.sort_unstable();
        names.dedup();
        Self::Listed(names)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        match self {
            Self::Free => !name.is_empty(),
            Self::Listed(names) => names.binary_search_by(|known| known.as_str().cmp(name)).is_ok(),
        }
    }

    /// Whether some name starts with `start`.
    pub(super) fn may_become(&self, start: &str) -> bool {
        match self {
            Self::Free => true,
            Self::Listed(names) => {
                let at = names.partition_point(|known| known.as_str() < start);
                names.get(at).is_some_and(|known| known.starts_with(start))
            }
        }
    }
}

impl Template {
    /// Reads a template; an error names the part that is not known.
    pub(super) fn parse(source: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = source;
        while !rest.is_empty() {
            let known =
                [("{name}", Piece::Name), ("{attributes}", Piece::Attributes), ("{blank}", Piece::Blank)];
            let place = known.into_iter().find_map(|(word, piece)| Some((rest.strip_prefix(word)?, piece)));
            if let Some((behind, piece)) = place {
                pieces.push(piece);
                rest = behind;
                continue;
            }
            let first = rest.chars().next().map_or(0, char::len_utf8);
            let end = rest[first..].find('{').map_or(rest.len(), |at| at + first);
            pieces.push(Piece::Literal(rest[..end].to_owned()));
            rest = &rest[end..];
        }
        match pieces.first() {
            Some(Piece::Literal(_)) => Ok(Self { pieces }),
            _ => Err(format!("`{source}` does not start with a text of its own")),
        }
    }

    /// This template behind `first` and any blanks.
    pub(super) fn behind(&self, first: &str) -> Self {
        let mut pieces = vec![Piece::Literal(first.to_owned()), Piece::Blank];
        pieces.extend(self.pieces.iter().cloned());
        Self { pieces }
    }

    /// The byte that every marker of this template starts with.
    pub(super) fn first_byte(&self) -> u8 {
        self.first_literal().as_bytes()[0]
    }

    /// What every marker of this template starts with.
    pub(super) fn first_literal(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Literal(literal)) => literal,
            _ => unreachable!("a template starts with a literal"),
        }
    }

    /// The marker with `name` in it.
    pub(super) fn written(&self, name: &str) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Literal(literal) => literal.clone(),
            Piece::Name => name.to_owned(),
            Piece::Attributes | Piece::Blank => String::new(),
        };
        self.pieces.iter().map(piece).collect()
    }

    /// Whether the marker stands at `at`. `over` says that nothing follows the text.
    pub(super) fn find(&self, text: &str, at: usize, names: &Names, over: bool) -> Match {
        let undecided = if over { Match::No } else { Match::Partial };
        let mut found = Found { end: at, ..Found::default() };
        let mut pieces = self.pieces.iter().peekable();
        while let Some(piece) = pieces.next() {
            let rest = &text[found.end..];
            match piece {
                Piece::Literal(literal) => {
                    let common = common_bytes(rest, literal);
                    if common < literal.len() {
                        return if common == rest.len() { undecided } else { Match::No };
                    }
                    found.end += literal.len();
                }
                Piece::Blank => {
                    let blanks = leading(rest);
                    if blanks == rest.len() && pieces.peek().is_some() {
                        return undecided;
                    }
                    found.end += blanks;
                }
                Piece::Name => match word(rest, pieces.peek().copied(), over) {
                    Word::Ends(len) => {
                        // Around a listed name nothing stands: `<read_file >` is a text about a tag.
                        let name = match names {
                            Names::Free => rest[..len].trim(),
                            Names::Listed(_) => &rest[..len],
                        };
                        let start = found.end + rest[..len].find(name).unwrap_or(0);
                        found.name = start..start + name.len();
                        if !names.has(name) {
                            return Match::No;
                        }
                        found.end += len;
                    }
                    Word::Open if names.may_become(rest) => return undecided,
                    Word::Open | Word::None => return Match::No,
                },
                Piece::Attributes => match word(rest, pieces.peek().copied(), over) {
                    Word::Ends(len) => {
                        found.attributes = found.end..found.end + len;
                        found.end += len;
                    }
                    Word::Open => return undecided,
                    Word::None => return Match::No,
                },
            }
        }
        Match::Full(found)
    }
}

/// Matches a plain marker at `at`.
pub(super) fn literal(text: &str, at: usize, marker: &str, over: bool) -> Match {
    let rest = &text[at..];
    let common = common_bytes(rest, marker);
    if common == marker.len() {
        Match::Full(Found { end: at + marker.len(), ..Found::default() })
    } else if common == rest.len() && !over {
        Match::Partial
    } else {
        Match::No
    }
}

/// The first of `markers` that stands at `at`.
pub(super) fn any_literal<'a>(
    text: &str,
    at: usize,
    markers: impl IntoIterator<Item = &'a String>,
    over: bool,
) -> Match {
    let mut undecided = false;
    for marker in markers {
        match literal(text, at, marker, over) {
            Match::No => {}
            Match::Partial => undecided = true,
            full @ Match::Full(_) => return full,
        }
    }
    if undecided { Match::Partial } else { Match::No }
}

/// How many bytes `a` and `b` have in common at their start.
fn common_bytes(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

/// The free part at the start of a text.
enum Word {
    /// It has this many bytes.
    Ends(usize),
    /// Its end has not come.
    Open,
    /// There is none that could be a name.
    None,
}

/// The free part of `rest` up to `next`.
fn word(rest: &str, next: Option<&Piece>, over: bool) -> Word {
    let near = &rest[..rest.floor_char_boundary(LONGEST + 1)];
    let end = match next {
        Some(Piece::Literal(literal)) => {
            let end = near.find(literal.as_str());
            // A `<` in a name is none, unless it starts what follows the name.
            let before = &near[..end.unwrap_or(near.len())];
            let angle = before.find('<').filter(|&at| !literal.starts_with(&near[at..]));
            if angle.is_some() {
                return Word::None;
            }
            end
        }
        Some(Piece::Blank) => near.find(|c: char| c.is_whitespace()),
        Some(Piece::Name | Piece::Attributes) => Some(0),
        None => near.find(['\n', '<']).or((over && near.len() == rest.len()).then_some(near.len())),
    };
    match end {
        Some(end) if near[..end].trim().contains('\n') => Word::None,
        Some(end) => Word::Ends(end),
        None if rest.len() > LONGEST => Word::None,
        None => Word::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(template: &str, text: &str) -> Match {
        Template::parse(template).unwrap().find(text, 0, &Names::Free, false)
    }

    fn name(template: &str, text: &str) -> Option<(String, String)> {
        match find(template, text) {
            Match::Full(found) => Some((text[found.name].to_owned(), text[found.end..].to_owned())),
            Match::No | Match::Partial => None,
        }
    }

    #[test]
    fn a_name_ends_where_the_template_goes_on() {
        let pair = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(name("<function={name}>", "<function=f>x"), pair("f", "x"));
        assert_eq!(name("<function={name}>", "<function= f\n>x"), pair("f", "x"));
        assert_eq!(
            name("<p name=\"{name}\"{attributes}>", "<p name=\"k\" string=\"true\">v"),
            pair("k", "v")
        );
        assert_eq!(name("<tool_call>{name}", "<tool_call>f\n<arg_key>"), pair("f", "\n<arg_key>"));
        assert_eq!(name("<a>{name}</a>{blank}<v>", "<a>k</a> \n <v>1"), pair("k", "1"));
    }

    #[test]
    fn every_proper_prefix_is_undecided() {
        for (template, text) in [
            ("<function={name}>", "<function=f>"),
            ("<p name=\"{name}\"{attributes}>", "<p name=\"k\" string=\"true\">"),
            ("<a>{name}</a>{blank}<v>", "<a>k</a> \n <v>"),
        ] {
            for end in 0..text.len() {
                assert_eq!(find(template, &text[..end]), Match::Partial, "{}", &text[..end]);
            }
        }
    }

    #[test]
    fn what_cannot_become_the_marker_is_none() {
        assert_eq!(find("<function={name}>", "<functions"), Match::No);
        assert_eq!(find("<function={name}>", "<function=a<b"), Match::No);
        assert_eq!(find("<function={name}>", "<function=a<b>"), Match::No);
        assert_eq!(find("<function={name}>", "<function=>"), Match::No);
        let names = Names::listed(["read_file".to_owned(), "run".to_owned()]);
        let template = Template::parse("<{name}>").unwrap();
        assert_eq!(template.find("<rea", 0, &names, false), Match::Partial);
        assert_eq!(template.find("<rea", 0, &names, true), Match::No);
        assert_eq!(template.find("<reb", 0, &names, false), Match::No);
        assert_eq!(template.find("<ru>", 0, &names, false), Match::No);
        assert_eq!(template.find("<run >", 0, &names, false), Match::No);
    }
}
