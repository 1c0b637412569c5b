//! [`Template`]: how an opening marker is written, with the places where a name stands in it.

use std::ops::Range;

use memchr::{memchr, memchr_iter};

use super::blank::behind_blanks;
use super::exact::{Exact, strip};
use super::names::{Markers, Names};

/// The longest name, list of attributes or stretch of blanks in a marker. What is longer is no marker.
pub(super) const LONGEST: usize = 256;

/// The attribute of a parameter whose value is JSON and no string.
const NO_STRING: &str = "string=\"false\"";

/// A marker such as `<function={name}>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template {
    /// The byte that every marker of this template starts with.
    first: u8,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    /// This very text.
    Literal(Exact),
    /// `{name}` out of a list, with the texts on both sides of it.
    Markers(Markers),
    /// `{name}`: up to what follows in the template; at its end, up to a line end or `<`.
    Name(Names),
    /// `{attributes}`: up to what follows.
    Attributes,
    /// `{blank}`: any number of blanks.
    Blank,
}

/// What a marker makes of a place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match<T> {
    /// The marker does not stand here.
    No,
    /// The text ends before that is decided.
    Partial,
    /// It stands here; of one without a name all there is to say is where it ends.
    Full(T),
}

/// A marker that was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Where it ends.
    pub(super) end: usize,
    /// The name in it; empty if the template has none.
    pub(super) name: Name,
    /// Whether its attributes say that what it opens is JSON.
    pub(super) json: bool,
}

/// A name in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Name {
    start: usize,
    end: usize,
    /// Its number in the list of names, if there is one.
    pub(super) number: Option<u32>,
}

impl Name {
    /// One out of a list.
    pub(super) fn listed(range: Range<usize>, number: u32) -> Self {
        Self { start: range.start, end: range.end, number: Some(number) }
    }

    /// One that is in no list.
    pub(super) fn free(range: Range<usize>) -> Self {
        Self { start: range.start, end: range.end, number: None }
    }

    pub(super) fn range(self) -> Range<usize> {
        self.start..self.end
    }

    pub(super) fn of(self, text: &str) -> &str {
        &text[self.range()]
    }
}

impl Template {
    /// Reads a template; an error names the part that is not known.
    pub(super) fn parse(source: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = source;
        while !rest.is_empty() {
            let known = [
                ("{name}", Piece::Name(Names::Free)),
                ("{attributes}", Piece::Attributes),
                ("{blank}", Piece::Blank),
            ];
            let place = known.into_iter().find_map(|(word, piece)| Some((rest.strip_prefix(word)?, piece)));
            if let Some((behind, piece)) = place {
                pieces.push(piece);
                rest = behind;
                continue;
            }
            let first = rest.chars().next().map_or(0, char::len_utf8);
            let end = rest[first..].find('{').map_or(rest.len(), |at| at + first);
            pieces.push(Piece::Literal(Exact::new(&rest[..end])));
            rest = &rest[end..];
        }
        match pieces.first() {
            Some(Piece::Literal(literal)) => Ok(Self { first: literal.as_str().as_bytes()[0], pieces }),
            _ => Err(format!("`{source}` does not start with a text of its own")),
        }
    }

    /// This template with a name out of `names`, which are sorted.
    pub(super) fn with_names(mut self, names: &[String]) -> Self {
        match self.pieces.as_mut_slice() {
            [Piece::Literal(before), Piece::Name(_), Piece::Literal(behind)] => {
                let markers = Markers::new(before.as_str(), names, behind.as_str());
                self.pieces = vec![Piece::Markers(markers)];
            }
            pieces => {
                for piece in pieces.iter_mut().filter(|piece| matches!(piece, Piece::Name(_))) {
                    *piece = Piece::Name(Names::Listed(names.to_vec()));
                }
            }
        }
        self
    }

    /// This template, and any blanks, before `other`.
    pub(super) fn before(mut self, other: &Self) -> Self {
        self.pieces.push(Piece::Blank);
        self.pieces.extend(other.pieces.iter().cloned());
        self
    }

    /// The byte that every marker of this template starts with.
    pub(super) fn first_byte(&self) -> u8 {
        self.first
    }

    /// Whether the marker with this very name stands at `at`; nothing follows the text is not considered.
    pub(super) fn stands(&self, text: &str, at: usize, name: &str) -> Match<usize> {
        let mut rest = &text.as_bytes()[at..];
        for piece in &self.pieces {
            let stripped = match piece {
                Piece::Literal(literal) => literal.strip(rest),
                Piece::Name(_) => strip(rest, name),
                Piece::Markers(_) | Piece::Attributes | Piece::Blank => continue,
            };
            match stripped {
                Match::Full(behind) => rest = behind,
                Match::Partial => return Match::Partial,
                Match::No => return Match::No,
            }
        }
        Match::Full(text.len() - rest.len())
    }

    /// The marker with `name` in it.
    pub(super) fn written(&self, name: &str) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Literal(literal) => literal.as_str().to_owned(),
            Piece::Name(_) => name.to_owned(),
            Piece::Markers(_) | Piece::Attributes | Piece::Blank => String::new(),
        };
        self.pieces.iter().map(piece).collect()
    }

    /// Whether the marker stands at `at`. `over` says that nothing follows the text.
    #[inline]
    pub(super) fn find(&self, text: &str, at: usize, over: bool) -> Match<Found> {
        let undecided = if over { Match::No } else { Match::Partial };
        // Most markers that are looked for are of this form.
        let [Piece::Markers(markers)] = self.pieces.as_slice() else {
            return self.find_pieces(text, at, undecided, over);
        };
        match markers.find(text.as_bytes(), at) {
            Match::Partial => undecided,
            decided => decided,
        }
    }

    fn find_pieces(&self, text: &str, at: usize, undecided: Match<Found>, over: bool) -> Match<Found> {
        let mut found = Found { end: at, ..Found::default() };
        let mut pieces = self.pieces.iter().peekable();
        while let Some(piece) = pieces.next() {
            let rest = &text[found.end..];
            match piece {
                Piece::Markers(markers) => match markers.find(text.as_bytes(), found.end) {
                    Match::Full(marker) => found = Found { json: found.json, ..marker },
                    Match::Partial => return undecided,
                    Match::No => return Match::No,
                },
                Piece::Literal(literal) => match literal.strip(rest.as_bytes()) {
                    Match::Full(behind) => found.end = text.len() - behind.len(),
                    Match::Partial => return undecided,
                    Match::No => return Match::No,
                },
                Piece::Blank => {
                    let blanks = behind_blanks(&rest[..rest.floor_char_boundary(LONGEST + 1)], 0);
                    if blanks > LONGEST {
                        return Match::No;
                    }
                    if blanks == rest.len() && pieces.peek().is_some() {
                        return undecided;
                    }
                    found.end += blanks;
                }
                Piece::Name(names) => match word(rest, pieces.peek().copied(), over) {
                    Word::Ends(len) => {
                        // Around a listed name nothing stands: `<read_file >` is a text about a tag.
                        let (name, blanks) = match names {
                            Names::Free => (rest[..len].trim(), len - rest[..len].trim_start().len()),
                            Names::Listed(_) => (&rest[..len], 0),
                        };
                        let start = found.end + blanks;
                        let range = start..start + name.len();
                        found.name = match names.number(name) {
                            Some(number) => Name::listed(range, number),
                            None if names.has(name) => Name::free(range),
                            None => return Match::No,
                        };
                        found.end += len;
                    }
                    Word::Open if names.may_become(rest) => return undecided,
                    Word::Open | Word::None => return Match::No,
                },
                Piece::Attributes => match word(rest, pieces.peek().copied(), over) {
                    Word::Ends(len) => {
                        found.json = rest[..len].contains(NO_STRING);
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
pub(super) fn literal(text: &str, at: usize, marker: &str, over: bool) -> Match<usize> {
    match strip(&text.as_bytes()[at..], marker) {
        Match::Full(behind) => Match::Full(text.len() - behind.len()),
        Match::Partial if !over => Match::Partial,
        Match::Partial | Match::No => Match::No,
    }
}

/// The first of `markers` that stands at `at`.
pub(super) fn any_literal<'a>(
    text: &str,
    at: usize,
    markers: impl IntoIterator<Item = &'a String>,
    over: bool,
) -> Match<usize> {
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

/// The free part at the start of a text.
enum Word {
    /// It has this many bytes.
    Ends(usize),
    /// Its end has not come.
    Open,
    /// There is none that could be a name.
    None,
}

/// Where `marker` stands in `text`. Markers are short, and so is what stands before them.
fn find(text: &str, marker: &str) -> Option<usize> {
    let (text, marker) = (text.as_bytes(), marker.as_bytes());
    memchr_iter(marker[0], text).find(|&at| text[at..].starts_with(marker))
}

/// The free part of `rest` up to `next`.
fn word(rest: &str, next: Option<&Piece>, over: bool) -> Word {
    let near = &rest[..rest.floor_char_boundary(LONGEST + 1)];
    let end = match next {
        Some(Piece::Literal(literal)) => {
            let literal = literal.as_str();
            let end = find(near, literal);
            // A `<` in a name is none, unless it starts what follows the name.
            let before = &near[..end.unwrap_or(near.len())];
            let angle = memchr(b'<', before.as_bytes()).filter(|&at| !literal.starts_with(&near[at..]));
            if angle.is_some() {
                return Word::None;
            }
            end
        }
        Some(Piece::Blank) => near.find(|c: char| c.is_whitespace()),
        Some(Piece::Name(_) | Piece::Markers(_) | Piece::Attributes) => Some(0),
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

    fn find(template: &str, text: &str) -> Match<Found> {
        Template::parse(template).unwrap().find(text, 0, false)
    }

    fn name(template: &str, text: &str) -> Option<(String, String)> {
        match find(template, text) {
            Match::Full(found) => Some((found.name.of(text).to_owned(), text[found.end..].to_owned())),
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
        let names = ["read_file".to_owned(), "run".to_owned()];
        let template = Template::parse("<{name}>").unwrap().with_names(&names);
        assert_eq!(template.find("<", 0, false), Match::Partial);
        assert_eq!(template.find("<rea", 0, false), Match::Partial);
        assert_eq!(template.find("<rea", 0, true), Match::No);
        assert_eq!(template.find("<reb", 0, false), Match::No);
        assert_eq!(template.find("<ru>", 0, false), Match::No);
        assert_eq!(template.find("<run >", 0, false), Match::No);
    }
}
