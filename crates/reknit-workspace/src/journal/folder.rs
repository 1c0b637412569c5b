//! The default folder of the journal.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use super::Error;

/// The user's state folder for the journal: `$XDG_STATE_HOME/reknit/journal`, or under `~/.local/state`.
pub(super) fn default() -> Result<PathBuf, Error> {
    choose(env::var_os("XDG_STATE_HOME"), env::home_dir())
}

fn choose(state: Option<OsString>, home: Option<PathBuf>) -> Result<PathBuf, Error> {
    // The XDG specification: a relative path in the variable is invalid and must be ignored.
    let state = state.map(PathBuf::from).filter(|state| state.is_absolute());
    let home = home.filter(|home| home.is_absolute()).map(|home| home.join(".local/state"));
    Ok(state.or(home).ok_or(Error::NoHome)?.join("reknit/journal"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(state: Option<&str>, home: Option<&str>, expected: Option<&str>) {
        let folder = choose(state.map(OsString::from), home.map(PathBuf::from));
        assert_eq!(folder.ok(), expected.map(PathBuf::from));
    }

    #[test]
    fn the_variable_takes_precedence_over_the_home_if_it_is_absolute() {
        check(Some("/state"), Some("/home/a"), Some("/state/reknit/journal"));
        check(Some("state"), Some("/home/a"), Some("/home/a/.local/state/reknit/journal"));
        check(Some(""), Some("/home/a"), Some("/home/a/.local/state/reknit/journal"));
        check(None, Some("/home/a"), Some("/home/a/.local/state/reknit/journal"));
        check(Some("/state"), None, Some("/state/reknit/journal"));
        check(Some("state"), Some(""), None);
        check(None, None, None);
    }
}
