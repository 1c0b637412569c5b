//! Edits that are not for whole lines: any stretch of text, as the edit tools of agents take it.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memmem};

use super::compose::line_end;
use super::lines::{begins, is_open, line_numbers, start_of_line};
use super::locate::Part;
use super::place::{Fit, PLACES};
use super::running::{Running, Site};
use super::{How, Reason, Rejection, Replace, Scope};

/// The places where the text occurs as it is, or except for its line ends.
pub(super) fn locate<'s>(
    running: &Running<'_>,
    replace: &'s Replace,
    loosest: How,
) -> Result<Option<Vec<Part<'s>>>, Box<Rejection>> {
    if replace.search.is_empty() {
        return Ok(None);
    }
    let spellings = [
        (How::Exact, Cow::Borrowed(&*replace.search)),
        (How::LineEnds, Cow::Owned(replace.search.replace("\r\n", "\n"))),
        (How::LineEnds, Cow::Owned(replace.search.replace("\r\n", "\n").replace('\n', "\r\n"))),
    ];
    for (how, search) in spellings.into_iter().filter(|(how, _)| *how <= loosest) {
        let is_for_one = replace.scope != Scope::Everywhere;
        let most = if is_for_one { PLACES } else { usize::MAX };
        let find = |text: &[u8]| stretches(text, &search, how, most);
        let mut sites = running.find(find).here;
        if sites.is_empty() {
            continue;
        }
        if is_for_one {
            let is_whole = |site: &Site| !cuts_a_word(running.ground(site.ground), &site.fit.range);
            if !sites.iter().any(is_whole) {
                return Err(Rejection::because(Reason::MidLine { lines: running.starts(&sites) }));
            }
            sites.retain(is_whole);
        }
        if is_for_one && sites.len() > 1 {
            return Err(Rejection::because(Reason::Ambiguous { how, lines: running.starts(&sites) }));
        }
        if replace.replacement.is_empty() {
            for site in &mut sites {
                take_the_line_end(running, site);
            }
        }
        let part =
            Part { search, replacement: Cow::Borrowed(&replace.replacement), scope: Scope::Within, sites };
        return Ok(Some(vec![part]));
    }
    Ok(None)
}

fn stretches(text: &[u8], search: &str, how: How, most: usize) -> Vec<Fit> {
    let mut line_of = line_numbers(text);
    let fit = |start| Fit { how, range: start..start + search.len(), line: line_of(start), rows: Vec::new() };
    memmem::find_iter(text, search).take(most).map(fit).collect()
}

/// Whether a stretch that is lines otherwise begins or ends inside a word: `limit = 1` is not `limit = 10`.
fn cuts_a_word(text: &[u8], range: &Range<usize>) -> bool {
    let is_word = |at: usize| text.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let begins_in_word = range.start > 0 && is_word(range.start - 1) && is_word(range.start);
    let ends_in_word = is_word(range.end - 1) && is_word(range.end);
    let is_tall = text[range.clone()].contains(&b'\n');
    let begins_line = text[start_of_line(text, range.start)..range.start].trim_ascii().is_empty();
    let rest = &text[range.end..];
    let ends_line = rest[..memchr(b'\n', rest).unwrap_or(rest.len())].trim_ascii().is_empty();
    ends_in_word && (is_tall || begins_line) || begins_in_word && (is_tall || ends_line)
}

/// Text that is all of its lines goes with the last line's end, so that no blank line is left over.
fn take_the_line_end(running: &Running<'_>, site: &mut Site) {
    let text = running.ground(site.ground);
    let range = &mut site.fit.range;
    let whole = begins(text, range.start) && is_open(&text[range.clone()]);
    let end = line_end(text, range.start);
    if whole && text[range.end..].starts_with(end) {
        range.end += end.len();
    }
}

/// The texts as whole lines, for the rungs that compare lines.
pub(super) fn as_lines<'s>(replace: &'s Replace) -> (Cow<'s, str>, Cow<'s, str>) {
    let is_closed = replace.search.ends_with('\n');
    let lines = |text: &'s str| {
        if is_closed || text.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(format!("{text}\n")) }
    };
    (lines(&replace.search), lines(&replace.replacement))
}
