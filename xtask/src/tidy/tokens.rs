//! The code of the engine as tokens: without comments, docs and tests.

use std::iter::Peekable;

use proc_macro2::token_stream::IntoIter;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::Tree;
use super::code::ENGINE;

pub(super) struct Token {
    pub(super) line: usize,
    pub(super) kind: Kind,
}

#[derive(PartialEq)]
pub(super) enum Kind {
    Word(String),
    /// What a literal has between its quotes, as it is written.
    Text(String),
    /// Punctuation, one character at a time, and brackets.
    Sign(char),
}

impl Token {
    pub(super) fn word(&self) -> Option<&str> {
        if let Kind::Word(word) = &self.kind { Some(word) } else { None }
    }

    pub(super) fn is_sign(&self, sign: char) -> bool {
        self.kind == Kind::Sign(sign)
    }
}

/// The files of the engine, by their path below [`ENGINE`]; not those with tests.
pub(super) fn engine_files(tree: &Tree) -> impl Iterator<Item = (&str, Vec<Token>)> {
    let files = tree.with_ends(&[".rs"]).filter_map(|(path, text)| Some((path.strip_prefix(ENGINE)?, text)));
    let code = files.filter(|(path, _)| !path.split('/').any(|name| matches!(name, "tests" | "tests.rs")));
    code.map(|(path, text)| (path, tokens(text)))
}

/// The tokens of a file. One that is not Rust has none, and the compiler reports it.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    flatten(text.parse().unwrap_or_default(), &mut found);
    found
}

fn flatten(stream: TokenStream, found: &mut Vec<Token>) {
    let mut trees = stream.into_iter().peekable();
    while let Some(tree) = trees.next() {
        let line = tree.span().start().line;
        match tree {
            TokenTree::Punct(sign) if sign.as_char() == '#' => match attribute(&mut trees) {
                Some(Attribute::Doc) => {}
                Some(Attribute::Test) => skip_item(&mut trees),
                Some(Attribute::Other(group)) => flatten_group(&group, found),
                None => found.push(Token { line, kind: Kind::Sign('#') }),
            },
            TokenTree::Punct(sign) => found.push(Token { line, kind: Kind::Sign(sign.as_char()) }),
            TokenTree::Ident(word) => found.push(Token { line, kind: Kind::Word(word.to_string()) }),
            TokenTree::Literal(literal) => {
                let literal = literal.to_string();
                let text = literal.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"'));
                found.extend(text.map(|(text, _)| Token { line, kind: Kind::Text(text.to_owned()) }));
            }
            TokenTree::Group(group) => flatten_group(&group, found),
        }
    }
}

fn flatten_group(group: &Group, found: &mut Vec<Token>) {
    let (open, close) = match group.delimiter() {
        Delimiter::Parenthesis => ('(', ')'),
        Delimiter::Brace => ('{', '}'),
        Delimiter::Bracket => ('[', ']'),
        Delimiter::None => return flatten(group.stream(), found),
    };
    found.push(Token { line: group.span_open().start().line, kind: Kind::Sign(open) });
    flatten(group.stream(), found);
    found.push(Token { line: group.span_close().start().line, kind: Kind::Sign(close) });
}

/// What follows a `#`.
enum Attribute {
    /// A comment of the docs, which is an attribute to the compiler.
    Doc,
    /// `cfg(test)`.
    Test,
    Other(Group),
}

fn attribute(trees: &mut Peekable<IntoIter>) -> Option<Attribute> {
    trees.next_if(|tree| matches!(tree, TokenTree::Punct(sign) if sign.as_char() == '!'));
    let is_attribute =
        |tree: &TokenTree| matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket);
    let TokenTree::Group(group) = trees.next_if(is_attribute)? else { return None };
    let text = group.stream().to_string().replace(' ', "");
    Some(match text.as_str() {
        "cfg(test)" => Attribute::Test,
        text if text.starts_with("doc=") => Attribute::Doc,
        _ => Attribute::Other(group),
    })
}

/// Skips to the end of an item: its body in braces, or its semicolon.
fn skip_item(trees: &mut Peekable<IntoIter>) {
    let ends = |tree: &TokenTree| match tree {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(sign) => sign.as_char() == ';',
        _ => false,
    };
    trees.find(ends);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_docs_and_tests_are_left_out() {
        let text = r##"
//! Of the module.
use a::b; // A comment.
/// Of the function.
#[must_use = "kept"]
fn f() -> char { call(r#"raw"#, b"bytes", '"', 1) }
#[cfg(test)]
use gone;
#[cfg(test)]
mod tests { fn gone() {} }
fn g() {}
"##;
        let shown: Vec<_> = tokens(text)
            .iter()
            .map(|token| match &token.kind {
                Kind::Word(text) | Kind::Text(text) => format!("{}:{text}", token.line),
                Kind::Sign(sign) => sign.to_string(),
            })
            .collect();
        let expected = "3:use 3:a : : 3:b ; [ 5:must_use = 5:kept ] 6:fn 6:f ( ) - > 6:char { 6:call ( 6:raw , \
                        6:bytes , , ) } 11:fn 11:g ( ) { }";
        assert_eq!(shown.join(" "), expected);
    }
}
