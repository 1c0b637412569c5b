//! SPDX expressions, such as `(MIT OR Apache-2.0) AND Unicode-3.0`.

use std::collections::BTreeSet;

use anyhow::{Result, anyhow, bail};

/// Whether a licence is allowed, and with which of the allowed ones: all that would do. `None` if it is not.
pub(super) fn allow(expression: &str, allowed: &BTreeSet<String>) -> Result<Option<BTreeSet<String>>> {
    if expression.is_empty() {
        bail!("it names no licence");
    }
    // Before there were expressions, a slash meant `OR`.
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<_> = spaced.split_whitespace().collect();
    let mut parser = Parser { words: &words, allowed };
    let allowed = parser.any()?;
    match parser.words {
        [] => Ok(allowed),
        [word, ..] => Err(anyhow!("the licence `{expression}` is not an expression: `{word}` is left over")),
    }
}

/// What is left to read, from the first word on.
struct Parser<'a> {
    words: &'a [&'a str],
    allowed: &'a BTreeSet<String>,
}

impl Parser<'_> {
    /// One or more, with `OR` between them: one is enough.
    fn any(&mut self) -> Result<Option<BTreeSet<String>>> {
        let mut found = self.all()?;
        while self.takes("OR") {
            let other = self.all()?;
            found = match (found, other) {
                (Some(one), Some(other)) => Some(&one | &other),
                (one, other) => one.or(other),
            };
        }
        Ok(found)
    }

    /// One or more, with `AND` between them: every one is needed.
    fn all(&mut self) -> Result<Option<BTreeSet<String>>> {
        let mut found = self.one()?;
        while self.takes("AND") {
            let other = self.one()?;
            found = found.zip(other).map(|(one, other)| &one | &other);
        }
        Ok(found)
    }

    fn one(&mut self) -> Result<Option<BTreeSet<String>>> {
        if self.takes("(") {
            let found = self.any()?;
            if !self.takes(")") {
                bail!("the expression of its licence has no closing parenthesis");
            }
            return Ok(found);
        }
        let Some((name, rest)) = self.words.split_first() else {
            bail!("the expression of its licence ends early")
        };
        self.words = rest;
        let mut name = (*name).to_owned();
        // An exception makes it another licence.
        if self.takes("WITH") {
            let Some((exception, rest)) = self.words.split_first() else {
                bail!("`WITH` names no exception")
            };
            self.words = rest;
            name = format!("{name} WITH {exception}");
        }
        Ok(self.allowed.contains(&name).then(|| BTreeSet::from([name])))
    }

    fn takes(&mut self, word: &str) -> bool {
        match self.words {
            [first, rest @ ..] if *first == word => {
                self.words = rest;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_read_as_it_is_meant() {
        let known = ["MIT", "Apache-2.0", "Zlib"].map(str::to_owned).into();
        let check = |expression: &str, expected: Option<&[&str]>| {
            let found = allow(expression, &known).expect("it is an expression");
            let expected = expected.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
            assert_eq!(found, expected, "{expression}");
        };
        check("MIT", Some(&["MIT"]));
        check("GPL-3.0", None);
        check("MIT OR GPL-3.0", Some(&["MIT"]));
        check("MIT/Apache-2.0", Some(&["Apache-2.0", "MIT"]));
        check("MIT AND GPL-3.0", None);
        check("(GPL-3.0 OR MIT) AND Zlib", Some(&["MIT", "Zlib"]));
        // `AND` binds more tightly.
        check("GPL-3.0 AND MIT OR Zlib", Some(&["Zlib"]));
        check("Apache-2.0 WITH LLVM-exception OR Apache-2.0", Some(&["Apache-2.0"]));
        check("Apache-2.0 WITH LLVM-exception", None);
    }

    #[test]
    fn what_is_not_an_expression_is_an_error() {
        for wrong in ["", "MIT Apache-2.0", "MIT OR", "(MIT", "MIT WITH", "MIT )"] {
            assert!(allow(wrong, &BTreeSet::new()).is_err(), "{wrong}");
        }
    }
}
