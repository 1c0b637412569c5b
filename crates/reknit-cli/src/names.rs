//! Names as values of arguments: listed in the help and in completions, and the nearest one for a wrong one.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A parser for one of some names. They are only asked for when they are listed.
#[derive(Clone)]
pub(crate) struct OneOf<T> {
    pub(crate) names: fn() -> Vec<&'static str>,
    pub(crate) parse: fn(&str) -> Option<T>,
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for OneOf<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        if let Some(parsed) = value.to_str().and_then(self.parse) {
            return Ok(parsed);
        }
        // Its error lists the names, and asks whether the nearest one was meant.
        let known = PossibleValuesParser::new((self.names)());
        match known.parse_ref(command, argument, value) {
            Err(error) => Err(error),
            Ok(_) => Err(clap::Error::new(clap::error::ErrorKind::InvalidValue).with_cmd(command)),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.names)().into_iter().map(PossibleValue::new)))
    }
}

/// How alike names must be: most of the letters in the same order, better if they begin alike.
const ALIKE: f64 = 0.8;

/// The name that is most like a wrong one, if any is.
pub(crate) fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let ranked = names.into_iter().map(|name| (strsim::jaro_winkler(&plain(wrong), &plain(name)), name));
    let alike = ranked.filter(|(alike, _)| *alike > ALIKE);
    alike.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, name)| name)
}

/// A name without its separators, in lower case.
fn plain(name: &str) -> String {
    name.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_by_what_it_resembles() {
        let names = ["cut", "cut-arguments", "unknown-dialect", "qwen3-coder", "deepseek-v3"];
        let check = |wrong, expected| assert_eq!(nearest(wrong, names), expected, "{wrong}");
        check("cut-argument", Some("cut-arguments"));
        check("cutt", Some("cut"));
        check("Qwen3Coder", Some("qwen3-coder"));
        check("deepseek3", Some("deepseek-v3"));
        check("weather", None);
        check("", None);
    }
}
