//! What git takes for a repository, by name and by content.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Whether git, on any system, takes a name for `.git`; or `repo`, for the folder with its own.
///
/// Git refuses the same names: `git~1` is the short form of `.git` on NTFS, where a name may also end in spaces,
/// dots or a stream, and HFS+ ignores case and some characters.
pub(super) fn is_name(name: &str) -> bool {
    let visible: String = name.chars().filter(|char| !is_ignored(*char)).collect();
    let stem = visible.split([':', '\\']).next().unwrap_or_default().trim_end_matches([' ', '.']);
    [".git", "git~1", ".repo"].iter().any(|known| stem.eq_ignore_ascii_case(known))
}

/// Characters that HFS+ ignores in names.
fn is_ignored(char: char) -> bool {
    matches!(char, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// Whether a directory is a repository's own: a bare one, that of a worktree, or one with another name than `.git`.
pub(super) fn is_repository(exists: impl Fn(&str) -> bool) -> bool {
    exists("HEAD") && (exists("objects") && exists("refs") || exists("commondir"))
}

/// Whether a directory is inside a repository's own: its hooks, for example. A working tree can be there too, and that
/// is not part of it.
pub(super) fn is_inside_repository(directory: &Path) -> bool {
    let inner =
        directory.ancestors().take_while(|directory| directory.join(".git").symlink_metadata().is_err());
    inner.into_iter().any(|directory| is_repository(|name| may_exist(&directory.join(name))))
}

/// Whether something is at a path. If the system cannot tell, there is: nothing is allowed because of an error.
///
/// A symlink that leads nowhere counts: git creates what it points to.
pub(super) fn may_exist(path: &Path) -> bool {
    let missing = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
    path.symlink_metadata().map_or_else(|error| !missing.contains(&error.kind()), |_| true)
}

/// The directories that git uses because of the `.git` in a directory, if it is a symlink or a file.
pub(super) fn directories_of(directory: &Path) -> Vec<PathBuf> {
    let git = directory.join(".git");
    if !may_exist(&git) {
        return Vec::new();
    }
    // If the system cannot tell what it is, anything may be used by git.
    let Ok(metadata) = git.symlink_metadata() else { return vec![directory.to_owned()] };
    let used = if metadata.is_symlink() {
        let target = fs::read_link(&git).map(|target| directory.join(target));
        [fs::canonicalize(&git).ok(), target.ok()].into_iter().flatten().collect()
    } else if metadata.is_file() {
        named(&git, "gitdir:", directory)
    } else {
        vec![git]
    };
    let common: Vec<_> = used.iter().flat_map(|git| named(&git.join("commondir"), "", git)).collect();
    used.into_iter().chain(common).collect()
}

/// The directory that a file of git names, in the form that it has and in canonical form.
fn named(file: &Path, prefix: &str, relative_to: &Path) -> Vec<PathBuf> {
    /// Longer than any path.
    const MAX: u64 = 64 * 1024;
    let mut text = String::new();
    // Opening a named pipe would block.
    if !fs::metadata(file).is_ok_and(|metadata| metadata.is_file()) {
        return Vec::new();
    }
    let Ok(file) = fs::File::open(file) else { return Vec::new() };
    if file.take(MAX).read_to_string(&mut text).is_err() {
        return Vec::new();
    }
    let Some(path) = text.strip_prefix(prefix).map(str::trim).filter(|path| !path.is_empty()) else {
        return Vec::new();
    };
    let path = relative_to.join(path);
    fs::canonicalize(&path).into_iter().chain([path]).collect()
}
