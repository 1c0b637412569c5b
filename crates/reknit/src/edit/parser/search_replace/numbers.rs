//! Line numbers before the lines of a block, as in `12 | code`.

/// Whether the lines of a replacement have numbers before them that are not content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    /// The search text has none, so nothing is taken away.
    Absent,
    /// The search text has them; no line of the replacement has decided yet.
    Untold,
    /// Those of the replacement have them too.
    Present,
    /// Those of the replacement have none.
    SearchOnly,
    /// Some have them and some have none.
    Mixed,
}

impl Numbers {
    /// Takes the next line of the replacement and gives what of it is content.
    pub(super) fn strip<'a>(&mut self, line: &'a str) -> &'a str {
        if *self == Self::Absent || line.trim_ascii().is_empty() {
            return line;
        }
        let numbered = numbered(line);
        *self = match (*self, numbered) {
            (Self::Untold | Self::Present, Some(_)) => Self::Present,
            (Self::Untold | Self::SearchOnly, None) => Self::SearchOnly,
            _ => Self::Mixed,
        };
        numbered.map_or(line, |(_, rest)| rest)
    }
}

/// A search text without its line numbers, and the first of them; none if not every line that is not blank
/// has one, in ascending order.
pub(super) fn strip_search(search: &str) -> Option<(usize, String)> {
    let mut first = None;
    let mut last = 0;
    let mut stripped = String::with_capacity(search.len());
    for line in search.split_inclusive('\n') {
        if line.trim_ascii().is_empty() {
            stripped.push_str(line);
            continue;
        }
        let (number, rest) = numbered(line).filter(|(number, _)| *number > last)?;
        first = first.or(Some(number));
        last = number;
        stripped.push_str(rest);
    }
    first.map(|first| (first, stripped))
}

/// The number before a line, and the line after `|` and one space.
fn numbered(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches([' ', '\t']);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number = text[..digits].parse().ok()?;
    let after = &text[digits..];
    let rest = after.trim_start_matches([' ', '\t']).strip_prefix('|')?;
    // `1 || x` is an expression.
    let marked = after.starts_with([' ', '\t']) && !rest.starts_with('|');
    marked.then(|| (number, rest.strip_prefix(' ').unwrap_or(rest)))
}
