//! [`Template`]: how an opening marker is written, with the places where a name stands in it.

use std::ops::Range;

use memchr::{memchr, memchr_iter};

use super::blank::leading;
use super::exact::{Exact, strip};

/// The longest name, list of attributes or stretch of blanks in a marker. What is longer is no marker.
pub(super) const LONGEST: usize = 256;

/// A marker such as `<function={name}>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    /// This very text.
    Literal(Exact),
    /// `{name}`: up to what follows in the template; at its end, up to a line end or `<`.
    Name,
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
    Listed(Listed),
}

/// Names out of a list, sorted, so that those that start with the same byte stand together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    names: Vec<Exact>,
    /// For each byte, how many names start with one before it.
    starts: Box<[usize; 257]>,
}

impl Names {
    pub(super) fn listed(names: impl IntoIterator<Item = String>) -> Self {
        let mut names: Vec<_> = names.into_iter().filter(|name| !name.is_empty()).collect();
        names.sort_unstable();
        names.dedup();
        let before = |byte| names.partition_point(|name| usize::from(name.as_bytes()[0]) < byte);
        let starts = Box::new(std::array::from_fn(before));
        Self::Listed(Listed { names: names.into_iter().map(Exact::new).collect(), starts })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        match self {
            Self::Free => !name.is_empty() && self.may_become(name),
            Self::Listed(listed) => listed.alike(name.as_bytes()).iter().any(|known| known.as_str() == name),
        }
    }

    /// Whether some name starts with `start`.
    pub(super) fn may_become(&self, start: &str) -> bool {
        match self {
            // A brace starts the JSON of a marker without a name.
            Self::Free => !start.contains('{'),
            Self::Listed(listed) => {
                listed.alike(start.as_bytes()).iter().any(|known| known.as_str().starts_with(start))
            }
        }
    }
}

impl Listed {
    /// Those that start with the same byte as `text`, or all if it has none.
    fn alike(&self, text: &[u8]) -> &[Exact] {
        match text.first().map(|&byte| usize::from(byte)) {
            Some(byte) => &self.names[self.starts[byte]..self.starts[byte + 1]],
            None => &self.names,
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
            pieces.push(Piece::Literal(Exact::new(rest[..end].to_owned())));
            rest = &rest[end..];
        }
        match pieces.first() {
            Some(Piece::Literal(_)) => Ok(Self { pieces }),
            _ => Err(format!("`{source}` does not start with a text of its own")),
        }
    }

    /// This template behind `first` and any blanks.
    pub(super) fn behind(&self, first: &str) -> Self {
        let mut pieces = vec![Piece::Literal(Exact::new(first.to_owned())), Piece::Blank];
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
            Some(Piece::Literal(literal)) => literal.as_str(),
            _ => unreachable!("a template starts with a literal"),
        }
    }

    /// Whether the marker with this very name stands at `at`; nothing follows the text is not considered.
    pub(super) fn stands(&self, text: &str, at: usize, name: &str) -> Match<usize> {
        let mut rest = &text.as_bytes()[at..];
        for piece in &self.pieces {
            let stripped = match piece {
                Piece::Literal(literal) => literal.strip(rest),
                Piece::Name => strip(rest, name),
                Piece::Attributes | Piece::Blank => continue,
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
            Piece::Name => name.to_owned(),
            Piece::Attributes | Piece::Blank => String::new(),
        };
        self.pieces.iter().map(piece).collect()
    }

    /// Whether the marker stands at `at`. `over` says that nothing follows the text.
    pub(super) fn find(&self, text: &str, at: usize, names: &Names, over: bool) -> Match<Found> {
        if let (Names::Listed(listed), [Piece::Literal(open), Piece::Name, Piece::Literal(close)]) =
            (names, self.pieces.as_slice())
        {
            return find_listed(text, at, open, close, listed, over);
        }
        let undecided = if over { Match::No } else { Match::Partial };
        let mut found = Found { end: at, ..Found::default() };
        let mut pieces = self.pieces.iter().peekable();
        while let Some(piece) = pieces.next() {
            let rest = &text[found.end..];
            match piece {
                Piece::Literal(literal) => match literal.strip(rest.as_bytes()) {
                    Match::Full(behind) => found.end = text.len() - behind.len(),
                    Match::Partial => return undecided,
                    Match::No => return Match::No,
                },
                Piece::Blank => {
                    let blanks = leading(&rest[..rest.floor_char_boundary(LONGEST + 1)]);
                    if blanks > LONGEST {
                        return Match::No;
                    }
                    if blanks == rest.len() && pieces.peek().is_some() {
                        return undecided;
                    }
                    found.end += blanks;
                }
                Piece::Name => match word(rest, pieces.peek().copied(), over) {
                    Word::Ends(len) => {
                        // Around a listed name nothing stands: `<read_file >` is a text about a tag.
                        let (name, blanks) = match names {
                            Names::Free => (rest[..len].trim(), len - rest[..len].trim_start().len()),
                            Names::Listed(_) => (&rest[..len], 0),
                        };
                        let start = found.end + blanks;
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

/// The marker `open` + name + `close` at `at`, with a name out of a list.
fn find_listed(
    text: &str,
    at: usize,
    open: &Exact,
    close: &Exact,
    listed: &Listed,
    over: bool,
) -> Match<Found> {
    let behind = match open.strip(&text.as_bytes()[at..]) {
        Match::Full(behind) => behind,
        Match::Partial if !over => return Match::Partial,
        Match::Partial | Match::No => return Match::No,
    };
    let mut begun = false;
    for name in listed.alike(behind) {
        let closed = match name.strip(behind) {
            Match::Full(behind) => close.strip(behind),
            partial_or_none => partial_or_none,
        };
        match closed {
            Match::Full(rest) => {
                let (start, end) = (text.len() - behind.len(), text.len() - rest.len());
                let name = start..start + name.as_str().len();
                return Match::Full(Found { end, name, ..Found::default() });
            }
            Match::Partial => begun = true,
            Match::No => {}
        }
    }
    if begun && !over { Match::Partial } else { Match::No }
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

    fn find(template: &str, text: &str) -> Match<Found> {
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
