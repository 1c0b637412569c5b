//! [`Template`]: how a marker is written, with placeholders such as `{name}`.

use std::ops::Range;

use memchr::{memchr, memchr_iter};

use super::exact::{self, Exact};
use super::names::{Markers, Names, is_tool_name};
use super::span::SmallRange;
use super::whitespace::skip_whitespace;

/// The longest name, list of attributes or whitespace in a marker. What is longer is not a marker, so no more
/// text than this is held back to find out.
pub(super) const MAX_PART: usize = 256;

/// The attribute of a parameter whose value is JSON and not a string.
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
    /// Literal text.
    Literal(Exact),
    /// `{name}` out of a list, with the literal text on both sides of it.
    Markers(Markers),
    /// `{name}`, up to what follows in the template; if nothing follows, up to a line end or `<`.
    Name(Names),
    /// `{attributes}`, up to what follows.
    Attributes,
    /// `{blank}`, any amount of whitespace.
    Whitespace,
}

/// Whether something is at a place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match<T> {
    /// It is not there.
    No,
    /// The text ends before that is decided.
    Partial,
    /// It is there.
    Full(T),
}

impl<T> Match<T> {
    /// If neither is there, one may still come.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Full(found), _) | (_, Self::Full(found)) => Self::Full(found),
            (Self::Partial, _) | (_, Self::Partial) => Self::Partial,
            (Self::No, Self::No) => Self::No,
        }
    }

    /// If the text is `finished`, what has not come is not there.
    #[inline]
    pub(super) fn at_end(self, finished: bool) -> Self {
        match self {
            Self::Partial if finished => Self::No,
            decided => decided,
        }
    }

    pub(super) fn map<U>(self, change: impl FnOnce(T) -> U) -> Match<U> {
        self.and_then(|found| Match::Full(change(found)))
    }

    /// If it is there, what `next` says of what follows it.
    pub(super) fn and_then<U>(self, next: impl FnOnce(T) -> Match<U>) -> Match<U> {
        match self {
            Self::Full(found) => next(found),
            Self::Partial => Match::Partial,
            Self::No => Match::No,
        }
    }

    /// Only whether it is there.
    pub(super) fn found(self) -> Match<()> {
        self.map(|_| ())
    }
}

/// A marker in the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Where it ends.
    pub(super) end: usize,
    /// The name in it; empty if the template has none.
    pub(super) name: Name,
    /// Whether its attributes say that what it opens is JSON.
    pub(super) json: bool,
}

/// The range of a name in the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Name {
    range: SmallRange,
    /// Its number in the list of names, if there is a list.
    pub(super) number: Option<u32>,
}

impl Name {
    /// A name out of a list.
    pub(super) fn listed(range: Range<usize>, number: u32) -> Self {
        Self { range: range.into(), number: Some(number) }
    }

    /// A name that is not from a list.
    pub(super) fn free(range: Range<usize>) -> Self {
        Self { range: range.into(), number: None }
    }

    pub(super) fn range(self) -> Range<usize> {
        self.range.range()
    }

    pub(super) fn of(self, text: &str) -> &str {
        &text[self.range()]
    }
}

impl Template {
    /// Parses a template. The error says what is wrong.
    pub(super) fn parse(source: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = source;
        while !rest.is_empty() {
            let known = [
                ("{name}", Piece::Name(Names::Free)),
                ("{attributes}", Piece::Attributes),
                ("{blank}", Piece::Whitespace),
            ];
            let place = known.into_iter().find_map(|(word, piece)| Some((rest.strip_prefix(word)?, piece)));
            if let Some((after, piece)) = place {
                pieces.push(piece);
                rest = after;
                continue;
            }
            if let Some(word) = placeholder(rest) {
                return Err(format!(
                    "`{{{word}}}` in `{source}` is not `{{name}}`, `{{blank}}` or `{{attributes}}`"
                ));
            }
            let first = rest.chars().next().map_or(0, char::len_utf8);
            let end = rest[first..].find('{').map_or(rest.len(), |at| at + first);
            pieces.push(Piece::Literal(Exact::new(&rest[..end])));
            rest = &rest[end..];
        }
        match pieces.first() {
            Some(Piece::Literal(literal)) => Ok(Self { first: literal.as_str().as_bytes()[0], pieces }),
            _ => Err(format!("`{source}` does not start with literal text")),
        }
    }

    /// The same template with names out of `names`, which are sorted.
    pub(super) fn with_names(mut self, names: &[String]) -> Self {
        match self.pieces.as_mut_slice() {
            [Piece::Literal(before), Piece::Name(_), Piece::Literal(after)] => {
                let markers = Markers::new(before.as_str(), names, after.as_str());
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

    /// The same template followed by whitespace and `other`.
    pub(super) fn followed_by(mut self, other: &Self) -> Self {
        self.pieces.push(Piece::Whitespace);
        self.pieces.extend(other.pieces.iter().cloned());
        self
    }

    /// The byte that every marker of this template starts with.
    pub(super) fn first_byte(&self) -> u8 {
        self.first
    }

    /// The same template, in which `{name}` is the name of a tool.
    pub(super) fn with_tool_name(mut self) -> Self {
        for piece in &mut self.pieces {
            if let Piece::Name(names @ Names::Free) = piece {
                *names = Names::Tool;
            }
        }
        self
    }

    /// The literal text with which a marker starts; empty if that depends on the name.
    pub(super) fn start(&self) -> &str {
        literal_of(self.pieces.first())
    }

    /// Whether `{name}` is the last of it.
    pub(super) fn ends_with_name(&self) -> bool {
        matches!(self.pieces.last(), Some(Piece::Name(_)))
    }

    /// Whether it contains `{name}`.
    pub(super) fn has_name(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Name(_) | Piece::Markers(_)))
    }

    /// Where the literal text ends with which a marker at `at` starts, if the template starts with its own.
    pub(super) fn head(&self, text: &str, at: usize) -> Option<usize> {
        let Some(Piece::Literal(literal)) = self.pieces.first() else { return None };
        match literal.find(text, at) {
            Match::Full(end) => Some(end),
            Match::Partial | Match::No => None,
        }
    }

    /// The name so far in a marker at `at` that the end of the text cuts after the literal text with which it
    /// starts; empty if the name has not come.
    pub(super) fn begun(&self, text: &str, at: usize) -> Option<Range<usize>> {
        let head = self.head(text, at)?;
        if self.find(text, at, false) != Match::Partial {
            return None;
        }
        let mut end = head;
        for (number, piece) in self.pieces.iter().enumerate().skip(1) {
            let rest = &text[end..];
            end += match piece {
                Piece::Name(_) => {
                    let start = end + rest.len() - rest.trim_start().len();
                    let name = &text[start..];
                    return Some(start..text.len() - name.trim_start_matches(is_tool_name).len());
                }
                Piece::Literal(literal) if rest.starts_with(literal.as_str()) => literal.as_str().len(),
                Piece::Attributes => match word(rest, self.pieces.get(number + 1), false) {
                    Word::Ends(length) => length,
                    Word::Open | Word::None => break,
                },
                Piece::Whitespace => skip_whitespace(rest, 0),
                Piece::Literal(_) | Piece::Markers(_) => break,
            };
        }
        Some(text.len()..text.len())
    }

    /// Matches the marker that has this name at `at`. A marker that is cut by the end of the text is
    /// `Partial`, even if nothing follows.
    pub(super) fn find_named(&self, text: &str, at: usize, name: &str) -> Match<usize> {
        let mut end = at;
        for piece in &self.pieces {
            let found = match piece {
                Piece::Literal(literal) => literal.find(text, end),
                Piece::Name(_) => exact::find(text, end, name),
                Piece::Markers(_) | Piece::Attributes | Piece::Whitespace => continue,
            };
            match found {
                Match::Full(after) => end = after,
                undecided => return undecided,
            }
        }
        Match::Full(end)
    }

    /// The marker with this name.
    pub(super) fn render(&self, name: &str) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Literal(literal) => literal.as_str().to_owned(),
            Piece::Name(_) => name.to_owned(),
            Piece::Markers(_) | Piece::Attributes | Piece::Whitespace => String::new(),
        };
        self.pieces.iter().map(piece).collect()
    }

    /// Matches the marker at `at`. `finished` says that nothing follows the text.
    #[inline]
    pub(super) fn find(&self, text: &str, at: usize, finished: bool) -> Match<Found> {
        let found = match self.pieces.as_slice() {
            // Most markers that are searched for have this form.
            [Piece::Markers(markers)] => markers.find(text, at),
            _ => self.find_pieces(text, at, finished),
        };
        found.at_end(finished)
    }

    /// The same, but what the end of the text cuts is `Partial`, even if nothing follows.
    fn find_pieces(&self, text: &str, at: usize, finished: bool) -> Match<Found> {
        let mut found = Found { end: at, ..Found::default() };
        let mut pieces = self.pieces.iter().peekable();
        while let Some(piece) = pieces.next() {
            let rest = &text[found.end..];
            match piece {
                Piece::Markers(markers) => match markers.find(text, found.end) {
                    Match::Full(marker) => found = Found { json: found.json, ..marker },
                    undecided => return undecided,
                },
                Piece::Literal(literal) => match literal.find(text, found.end) {
                    Match::Full(end) => found.end = end,
                    Match::Partial => return Match::Partial,
                    Match::No => return Match::No,
                },
                Piece::Whitespace => {
                    let Some(end) = skip_short_whitespace(text, found.end) else { return Match::No };
                    if end == text.len() && pieces.peek().is_some() {
                        return Match::Partial;
                    }
                    found.end = end;
                }
                Piece::Name(names) => match name_word(names, rest, pieces.peek().copied(), finished) {
                    Word::Ends(len) => {
                        // A listed name must match exactly: `<read_file >` is text about a tag.
                        let (name, skipped) = match names {
                            Names::Free | Names::Tool => {
                                (rest[..len].trim(), len - rest[..len].trim_start().len())
                            }
                            Names::Listed(_) => (&rest[..len], 0),
                        };
                        let start = found.end + skipped;
                        let range = start..start + name.len();
                        found.name = match names.number(name) {
                            Some(number) => Name::listed(range, number),
                            None if names.has(name) => Name::free(range),
                            None => return Match::No,
                        };
                        found.end += len;
                    }
                    Word::Open if names.may_become(rest, literal_of(pieces.peek().copied())) => {
                        return Match::Partial;
                    }
                    Word::Open | Word::None => return Match::No,
                },
                Piece::Attributes => match word(rest, pieces.peek().copied(), finished) {
                    Word::Ends(len) => {
                        found.json = rest[..len].contains(NO_STRING);
                        found.end += len;
                    }
                    Word::Open => return Match::Partial,
                    Word::None => return Match::No,
                },
            }
        }
        Match::Full(found)
    }
}

/// The word in braces at the start of a template, if there is one.
fn placeholder(source: &str) -> Option<&str> {
    let (word, _) = source.strip_prefix('{')?.split_once('}')?;
    let is_word = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
    is_word.then_some(word)
}

/// The end of the whitespace that starts at `from`; `None` if it is longer than a marker may have it.
pub(super) fn skip_short_whitespace(text: &str, from: usize) -> Option<usize> {
    let near = text.floor_char_boundary(from + MAX_PART + 1);
    let end = skip_whitespace(&text[..near], from);
    (end - from <= MAX_PART).then_some(end)
}

/// Matches literal text at `at`. `finished` says that nothing follows the text.
pub(super) fn literal(text: &str, at: usize, marker: &str, finished: bool) -> Match<usize> {
    exact::find(text, at, marker).at_end(finished)
}

/// Matches the first of `markers` that is at `at`.
pub(super) fn any_literal(
    text: &str,
    at: usize,
    markers: &[impl AsRef<str>],
    finished: bool,
) -> Match<usize> {
    let found = markers.iter().map(|marker| literal(text, at, marker.as_ref(), finished));
    found.fold(Match::No, Match::or)
}

/// The variable part at the start of a text.
enum Word {
    /// It has this many bytes.
    Ends(usize),
    /// Its end has not come.
    Open,
    /// It cannot be a name.
    None,
}

/// Where `marker` is in `text`. Both are short, so searching for the first byte is fast enough.
fn find(text: &str, marker: &str) -> Option<usize> {
    let (text, marker) = (text.as_bytes(), marker.as_bytes());
    memchr_iter(marker[0], text).find(|&at| text[at..].starts_with(marker))
}

/// The literal text of a piece.
fn literal_of(piece: Option<&Piece>) -> &str {
    match piece {
        Some(Piece::Literal(literal)) => literal.as_str(),
        _ => "",
    }
}

/// The name at the start of `rest`, up to `next`.
fn name_word(names: &Names, rest: &str, next: Option<&Piece>, finished: bool) -> Word {
    match (names, next) {
        (Names::Tool, None) => last_name(rest, finished),
        _ => word(rest, next, finished),
    }
}

/// The name at the end of a marker, right after the rest of the marker or on a line of its own.
fn last_name(rest: &str, finished: bool) -> Word {
    let near = &rest[..rest.floor_char_boundary(MAX_PART + 1)];
    let start = near.len() - near.trim_start().len();
    let end = near.len() - near[start..].trim_start_matches(is_tool_name).len();
    if end == rest.len() && !finished {
        return Word::Open;
    }
    let next = near[end..].chars().next();
    let ends = next.is_none_or(|c| c.is_whitespace() || matches!(c, '<' | '{'));
    let placed = start == 0 || near[..start].contains('\n');
    match placed && ends && start < end && (end < near.len() || near.len() == rest.len()) {
        true => Word::Ends(end),
        false => Word::None,
    }
}

/// The variable part of `rest` up to `next`.
fn word(rest: &str, next: Option<&Piece>, finished: bool) -> Word {
    let near = &rest[..rest.floor_char_boundary(MAX_PART + 1)];
    let end = match next {
        Some(Piece::Literal(literal)) => {
            let literal = literal.as_str();
            let end = find(near, literal);
            // A name does not contain `<`, unless that starts what follows the name.
            let before = &near[..end.unwrap_or(near.len())];
            let angle = memchr(b'<', before.as_bytes()).filter(|&at| !literal.starts_with(&near[at..]));
            if angle.is_some() {
                return Word::None;
            }
            end
        }
        Some(Piece::Whitespace) => near.find(|c: char| c.is_whitespace()),
        Some(Piece::Name(_) | Piece::Markers(_) | Piece::Attributes) => Some(0),
        None => near.find(['\n', '<']).or((finished && near.len() == rest.len()).then_some(near.len())),
    };
    match end {
        Some(end) if near[..end].trim().contains('\n') => Word::None,
        Some(end) => Word::Ends(end),
        None if rest.len() > MAX_PART => Word::None,
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
    fn a_name_ends_where_the_template_continues() {
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
    fn what_cannot_become_the_marker_is_not_one() {
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
