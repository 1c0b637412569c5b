//! The order of the engine's modules: each uses only those before it.

use std::collections::{BTreeMap, BTreeSet};

use super::code::ENGINE;
use super::tokens::{Token, engine_files, tokens};
use super::{Problem, Tree, numbered};

/// The modules in reading order.
const ORDER: [(&str, Role); 16] = [
    ("text", Role::Shared),
    ("slot", Role::Shared),
    ("json", Role::Stage),
    ("event", Role::Stage),
    ("frame", Role::Stage),
    ("wire", Role::Stage),
    ("tags", Role::Stage),
    ("message", Role::Stage),
    ("reply", Role::Stage),
    ("edit", Role::Stage),
    ("agent", Role::Stage),
    ("transcript", Role::Stage),
    ("history", Role::Stage),
    ("recording", Role::Stage),
    ("diagnostic", Role::Shared),
    ("limits", Role::Shared),
];

#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// Uses the modules before it and those that are shared.
    Stage,
    /// Used by all; uses only those that are shared.
    Shared,
}

const LIB: &str = "crates/reknit/src/lib.rs";
const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// What the text before the table of modules in [`ARCHITECTURE`] begins with.
const TABLE: &str = "Inside `crates/reknit/src`";

const NOT_BEFORE: &str = "a module may use only those before it in `ORDER` in xtask/src/tidy/modules.rs";

/// A name with its line.
type Named<'a> = (usize, &'a str);

/// A module uses only those before it, and they are declared and documented in the same order.
pub(super) fn order(tree: &Tree) -> Vec<Problem> {
    let lib = tokens(tree.text(LIB).unwrap_or_default());
    let exports = exports(&lib);
    let mut problems = Vec::new();
    for (path, tokens) in engine_files(tree) {
        let names: Vec<_> = path.trim_end_matches(".rs").split('/').collect();
        let (user, full_path) = (names[0], format!("{ENGINE}{path}"));
        if full_path == LIB {
            continue;
        }
        if names.len() == 1 && place(user).is_none() {
            let what = format!("module `{user}` has no place in the order of modules");
            let fix = "add it to `ORDER` in xtask/src/tidy/modules.rs";
            problems.push(Problem::new(&full_path, 1, what, fix));
        }
        let uses = root_names(&tokens, names.len());
        // Sorted, and each once on a line.
        let uses: BTreeSet<_> =
            uses.iter().map(|(line, name)| (*line, exports.get(name).unwrap_or(name))).collect();
        for (line, used) in uses.into_iter().filter(|(_, used)| !may_use(user, used)) {
            let what = format!("`{user}` uses `{used}`");
            problems.push(Problem::new(&full_path, line, what, NOT_BEFORE));
        }
    }
    problems.extend(misplaced(LIB, &declared(&lib)));
    problems.extend(misplaced(ARCHITECTURE, &listed(tree.text(ARCHITECTURE).unwrap_or_default())));
    problems
}

fn place(module: &str) -> Option<usize> {
    ORDER.iter().position(|(name, _)| *name == module)
}

/// Whether a module may use another. A name that has no place in the order may always be used.
fn may_use(user: &str, used: &str) -> bool {
    let (Some(user), Some(used)) = (place(user), place(used)) else { return true };
    user == used || ORDER[used].1 == Role::Shared || ORDER[user].1 == Role::Stage && used < user
}

/// The names right below the root of the crate that the paths in a file lead to. `depth` says how many modules
/// the file is below the root.
fn root_names(tokens: &[Token], depth: usize) -> Vec<Named<'_>> {
    let mut found = Vec::new();
    let mut braces = 0;
    // For each module that is open inside the file, how many braces are open outside of it.
    let mut modules = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.is_sign('{') {
            if at >= 2 && tokens[at - 2].word() == Some("mod") {
                modules.push(braces);
            }
            braces += 1;
        } else if token.is_sign('}') {
            braces -= 1;
            modules.pop_if(|outside| *outside == braces);
        }
        let supers = tokens[at..].chunks_exact(3).take_while(|tokens| starts_path(tokens, "super")).count();
        let is_continued = at > 0 && tokens[at - 1].is_sign(':');
        if starts_path(&tokens[at..], "crate") {
            found.extend(first_names(&tokens[at + 3..]));
        } else if supers > 0 && supers == depth + modules.len() && !is_continued {
            found.extend(first_names(&tokens[at + 3 * supers..]));
        }
    }
    found
}

fn starts_path(tokens: &[Token], word: &str) -> bool {
    matches!(tokens, [first, colon, second, ..]
        if first.word() == Some(word) && colon.is_sign(':') && second.is_sign(':'))
}

/// The word that a path begins with, or those of the paths in its braces.
fn first_names(tokens: &[Token]) -> Vec<Named<'_>> {
    let mut found = Vec::new();
    let mut braces = 0;
    let mut is_start = true;
    for token in tokens {
        if let Some(word) = token.word()
            && is_start
        {
            found.push((token.line, word));
        }
        braces += i32::from(token.is_sign('{')) - i32::from(token.is_sign('}'));
        if braces == 0 {
            break;
        }
        is_start = braces == 1 && (token.is_sign('{') || token.is_sign(','));
    }
    found
}

/// Which module each name is from that `lib.rs` exports.
fn exports(lib: &[Token]) -> BTreeMap<&str, &str> {
    let mut found = BTreeMap::new();
    for statement in lib.split(|token| token.is_sign(';')) {
        let words = statement.iter().filter_map(Token::word).skip_while(|word| *word != "use").skip(1);
        let mut words = words.filter(|word| !matches!(*word, "crate" | "self"));
        if let Some(module) = words.next() {
            found.extend(words.map(|name| (name, module)));
        }
    }
    found
}

/// The modules that `lib.rs` declares.
fn declared(lib: &[Token]) -> Vec<Named<'_>> {
    let pairs = lib.windows(2).filter(|pair| pair[0].word() == Some("mod"));
    pairs.filter_map(|pair| Some((pair[1].line, pair[1].word()?))).collect()
}

/// The modules in the table of [`ARCHITECTURE`].
fn listed(text: &str) -> Vec<Named<'_>> {
    let lines = numbered(text).skip_while(|(_, line)| !line.starts_with(TABLE)).skip(1);
    let table =
        lines.skip_while(|(_, line)| !line.starts_with('|')).take_while(|(_, line)| line.starts_with('|'));
    table
        .filter_map(|(number, line)| Some((number, line.split('`').nth(1)?.trim_end_matches(".rs"))))
        .collect()
}

/// The first module that is not where the order has it.
fn misplaced(path: &str, listed: &[Named<'_>]) -> Option<Problem> {
    let listed: Vec<_> = listed.iter().filter(|(_, name)| place(name).is_some()).collect();
    let mut sorted = listed.clone();
    sorted.sort_by_key(|(_, name)| place(name));
    let ((line, name), (_, expected)) =
        listed.into_iter().zip(sorted).find(|(is, should)| is.1 != should.1)?;
    let what = format!("`{name}` is where `{expected}` belongs");
    Some(Problem::new(path, *line, what, "follow `ORDER` in xtask/src/tidy/modules.rs"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::expect;
    use super::*;

    /// Checks one file beside a `lib.rs`; `expected` is what comes before [`NOT_BEFORE`].
    fn check(path: &str, text: &str, expected: &[&str]) {
        let lib = "pub mod text;\npub mod wire;\npub mod message;\n\
                   pub use message::{Message, Change as MessageChange};\npub use text::Text;\n";
        let path = format!("{ENGINE}{path}");
        let expected: Vec<_> =
            expected.iter().map(|problem| format!("{path}:{problem}, {NOT_BEFORE}")).collect();
        let expected: Vec<_> = expected.iter().map(String::as_str).collect();
        expect(order, &[(LIB, lib), (&path, text)], &expected);
    }

    #[test]
    fn a_later_module_is_reported_however_it_is_named() {
        let later = "2: `wire` uses `message`";
        check("wire.rs", "\nuse crate::message::Block;", &[later]);
        check("wire.rs", "\nuse crate::{event, message::{Block, history}, text::Text};", &[later]);
        check(
            "wire.rs",
            "use crate::{\n    message,\n    reply::Reply,\n};",
            &[later, "3: `wire` uses `reply`"],
        );
        check("wire.rs", "\nfn f(_: &crate::Message, _: crate::message::Id) {}", &[later]);
        check("wire/gemini/native.rs", "\nuse crate::Message;", &[later]);
        check("wire.rs", "\nuse super::message;", &[later]);
        check("wire/gemini/native.rs", "\nuse super::super::super::{message};", &[later]);
        check("wire/gemini.rs", "mod inner {\nuse super::super::super::message; }", &[later]);
    }

    #[test]
    fn earlier_and_shared_modules_may_be_used() {
        check("wire.rs", "use crate::{event, wire, Limits, limits, Text, diagnostic::Diagnostic};", &[]);
        check("wire/gemini/native.rs", "use super::super::message;\nuse super::Native;", &[]);
        check("wire/gemini.rs", "mod inner { use super::super::message; }\nuse super::text;", &[]);
        check("wire.rs", "pub(crate) fn f() {}\nuse message::Message;", &[]);
    }

    #[test]
    fn a_shared_module_uses_only_shared_ones() {
        check(
            "limits.rs",
            "use crate::{text, diagnostic};\nuse crate::json::Value;",
            &["2: `limits` uses `json`"],
        );
    }

    #[test]
    fn tests_and_docs_may_use_all() {
        let text =
            "/// See [`crate::message`].\nfn f() {}\n#[cfg(test)]\nmod tests { use crate::message; }\n";
        check("wire.rs", text, &[]);
        check("wire/tests.rs", "use crate::message;", &[]);
    }

    #[test]
    fn a_module_without_a_place_is_reported() {
        let expected = "crates/reknit/src/new.rs:1: module `new` has no place in the order of modules, \
                        add it to `ORDER` in xtask/src/tidy/modules.rs";
        let files = [("crates/reknit/src/new.rs", "use crate::wire;"), ("crates/reknit/src/new/part.rs", "")];
        expect(order, &files, &[expected]);
    }

    #[test]
    fn lists_of_modules_follow_the_order() {
        let table = "`wire.rs` first\n\nInside `crates/reknit/src`, in reading order:\n\n\
                     | Module | |\n| --- | --- |\n| `lib.rs` | |\n| `frame.rs`, `frame/` | `json` |\n\
                     | `json.rs` | |\n\n| `text.rs` | |\n";
        let expected = [
            "crates/reknit/src/lib.rs:2: `message` is where `wire` belongs, \
             follow `ORDER` in xtask/src/tidy/modules.rs",
            "ARCHITECTURE.md:8: `frame` is where `json` belongs, follow `ORDER` in xtask/src/tidy/modules.rs",
        ];
        let lib = "pub mod text;\npub mod message;\npub mod other;\npub mod wire;\n";
        expect(order, &[(ARCHITECTURE, table), (LIB, lib)], &expected);
    }
}
