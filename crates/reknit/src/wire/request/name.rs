//! Ids and names that a provider accepts.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Which ids or names a provider accepts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alphabet {
    /// In characters.
    pub(crate) longest: usize,
    pub(crate) allows: fn(char) -> bool,
}

impl Alphabet {
    /// Letters, digits, underscores and dashes.
    pub(crate) const fn of_words(longest: usize) -> Self {
        Self { longest, allows: |c| c.is_ascii_alphanumeric() || c == '_' || c == '-' }
    }

    /// Every character that can be seen. Some models read their own ids, such as `functions.read:0`.
    pub(crate) const fn of_graphics(longest: usize) -> Self {
        Self { longest, allows: |c| c.is_ascii_graphic() }
    }

    /// The closest text that the provider accepts; `otherwise` if `text` is empty.
    pub(crate) fn spell<'t>(&self, text: &'t str, otherwise: &'static str) -> Cow<'t, str> {
        if text.is_empty() {
            return otherwise.into();
        }
        let is_fine = text.chars().all(self.allows) && text.chars().nth(self.longest).is_none();
        if is_fine {
            return text.into();
        }
        let spell = |c| if (self.allows)(c) { c } else { '_' };
        text.chars().take(self.longest).map(spell).collect::<String>().into()
    }
}

/// Gives each call of a history an id of its own.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    taken: BTreeSet<String>,
    /// The last number that was appended to each id to make it unique.
    numbers: BTreeMap<String, u64>,
}

impl Ids {
    /// Reserves an id that cannot be changed.
    pub(crate) fn reserve(&mut self, id: &str) {
        self.taken.insert(id.to_owned());
    }

    pub(crate) fn give(&mut self, id: &str, alphabet: &Alphabet) -> String {
        let spelled = alphabet.spell(id, "call").into_owned();
        if self.taken.insert(spelled.clone()) {
            return spelled;
        }
        let number = self.numbers.entry(spelled.clone()).or_insert(1);
        loop {
            *number += 1;
            let suffix = format!("_{number}");
            let before: String = spelled.chars().take(alphabet.longest - suffix.len()).collect();
            let numbered = before + &suffix;
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Alphabet = Alphabet { longest: 6, allows: |c| c.is_ascii_alphanumeric() || c == '_' };

    #[test]
    fn an_id_that_is_taken_gets_a_number() {
        let mut ids = Ids::default();
        let given: Vec<_> =
            ["a", "a", "a_2", "a", "functions.read:0", "functi"].map(|id| ids.give(id, &SHORT)).into();
        assert_eq!(given, ["a", "a_2", "a_2_2", "a_3", "functi", "func_2"]);
    }

    #[test]
    fn what_is_not_allowed_becomes_an_underscore() {
        assert_eq!(SHORT.spell("a.b", "x"), "a_b");
        assert_eq!(SHORT.spell("", "x"), "x");
        assert_eq!(SHORT.spell("ééééééé", "x"), "______");
    }
}
