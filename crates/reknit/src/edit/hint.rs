//! What an edit says about where its place is: a line number, a heading, the end of the file.

use std::ops::Range;

use super::Reason;
use super::indentation::depth;
use super::lines::{Line, count, folded, lines, lines_from};
use super::running::{Ground, Site};

/// How far from a place a line number may be, beyond the height of the search: a model that counts lines is off by a
/// fence or a blank line or two, and one that guesses is off by more.
const NEAR: usize = 3;

/// Where the place of an edit is said to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hint {
    /// At this line, counted from 0.
    Line(usize),
    /// At the end of the file.
    End,
}

impl Hint {
    /// Which of several places is meant: the one at the very line, or the only one near it.
    pub(super) fn decide(self, text: &[u8], sites: &[Site], height: usize) -> Option<usize> {
        let only = |is: &dyn Fn(&Site) -> bool| {
            let mut fitting = (0..sites.len()).filter(|nth| is(&sites[*nth]));
            fitting.next().filter(|_| fitting.next().is_none())
        };
        match self {
            Self::End => only(&|site| site.ground == Ground::Untouched && site.fit.range.end == text.len()),
            Self::Line(line) if line > count(text, 0..text.len()) => None,
            Self::Line(line) => {
                let is_near = |site: &Site| site.fit.line.abs_diff(line) <= height + NEAR;
                only(&|site| site.fit.line == line).or_else(|| only(&is_near))
            }
        }
    }
}

/// A heading and the lines of its block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The byte after the heading.
    pub(super) first: usize,
    /// From the heading to the end of the block.
    pub(super) range: Range<usize>,
}

/// The blocks of the headings that an edit names, each inside that of the one before.
pub(super) fn blocks(text: &[u8], headings: &[String]) -> Result<Vec<Block>, Reason> {
    let mut blocks = vec![Block { first: 0, range: 0..text.len() }];
    for heading in headings {
        let wanted = folded(heading.as_bytes());
        let mut inner: Vec<Block> = Vec::new();
        for block in &blocks {
            let from = if headings.first() == Some(heading) { block.range.start } else { block.first };
            let inside = lines_from(text, from).take_while(|line| line.start < block.range.end);
            for line in inside.filter(|line| folded(line.body) == wanted) {
                let found = Block { first: line.next(), range: line.start..end_of_block(text, line) };
                if !inner.contains(&found) {
                    inner.push(found);
                }
            }
        }
        if inner.is_empty() {
            return Err(Reason::HeadingNotFound { heading: heading.clone() });
        }
        blocks = inner;
    }
    Ok(blocks)
}

/// Where the block of a heading ends: before the first line at or left of its indentation. The block of a heading of
/// Markdown ends at the next one of its level, and one that has none of its own belongs to the block around it.
fn end_of_block(text: &[u8], heading: Line<'_>) -> usize {
    let rest = || lines(&text[heading.next()..]).filter(|line| !line.is_blank());
    let own = depth(heading.body);
    let at = |line: Line<'_>| heading.next() + line.start;
    let level = |body: &[u8]| body.iter().take_while(|byte| **byte == b'#').count();
    let opens = rest().next().is_some_and(|line| depth(line.body) > own);
    // One mark may also be a comment, with the block of what follows it.
    if level(heading.body) > usize::from(opens) {
        let is_next = |line: &Line<'_>| (1..=level(heading.body)).contains(&level(line.body));
        return rest().find(is_next).map_or(text.len(), at);
    }
    for line in rest() {
        let (depth, body) = (depth(line.body), line.body.trim_ascii());
        if depth < own || depth == own && opens && !body.starts_with(b")") && !body.starts_with(b"}") {
            return at(line);
        }
        let goes_on = body.ends_with(b"{") || body.ends_with(b":");
        if depth == own && opens && !goes_on {
            return heading.next() + line.next();
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, headings: &[&str], expected: &[&str]) {
        let headings: Vec<_> = headings.iter().map(|heading| (*heading).to_owned()).collect();
        let found = blocks(text.as_bytes(), &headings).expect("the headings are there");
        let found: Vec<_> = found.into_iter().map(|block| &text[block.range]).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_block_ends_where_its_indentation_does() {
        let text = "class A:\n    def f():\n        x\n\n    def g():\n        x\nclass B:\n    def f():\n        x\n";
        check(text, &["class A:"], &[&text[..text.find("class B").unwrap()]]);
        check(text, &["class B:", "def f():"], &["    def f():\n        x\n"]);
        check("fn f() {\n    a\n}\nfn g() {\n}\n", &["fn f() {"], &["fn f() {\n    a\n}\n"]);
        check("# A\n\na\n\n## B\n\nb\n\n# C\n", &["# A"], &["# A\n\na\n\n## B\n\nb\n\n"]);
    }
}
