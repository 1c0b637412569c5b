//! Real files: this repository's own, and those of the packages in its lock file.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cuts::Random;

/// How many files are taken, and how many bytes a file may have.
const FILES: usize = 1200;
const MOST_BYTES: u64 = 24_000;

pub(super) struct File {
    pub(super) name: String,
    pub(super) text: String,
}

/// The files: all Markdown, and as much code, in turns over the packages.
pub(super) fn all() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("docs"), root.join("bench"), root.join("xtask")];
    folders.extend(packages(&root));
    let mut found: Vec<Vec<PathBuf>> = folders.iter().map(|folder| in_folder(folder)).collect();
    let mut files = Vec::new();
    while files.len() < FILES && found.iter().any(|paths| !paths.is_empty()) {
        for paths in &mut found {
            let Some(path) = paths.pop() else { continue };
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
            let name = parts[parts.len().saturating_sub(4)..].join("/");
            files.push(File { name, text });
        }
    }
    files
}

/// The folders of the packages in the lock file, in cargo's registry.
fn packages(root: &Path) -> Vec<PathBuf> {
    let lock = fs::read_to_string(root.join("Cargo.lock")).expect("the workspace has a lock file");
    let home = std::env::var_os("CARGO_HOME")
        .map_or_else(|| std::env::home_dir().expect("a home folder").join(".cargo"), PathBuf::from);
    let registries: Vec<_> =
        fs::read_dir(home.join("registry/src")).into_iter().flatten().flatten().collect();
    let mut folders = Vec::new();
    for entry in lock.split("[[package]]").skip(1) {
        let value = |key| entry.split_once(key).and_then(|(_, rest)| rest.split('"').next());
        let (Some(name), Some(version)) = (value("name = \""), value("version = \"")) else { continue };
        let paths = registries.iter().map(|registry| registry.path().join(format!("{name}-{version}")));
        folders.extend(paths.filter(|path| path.is_dir()));
    }
    folders
}

/// The files in a folder that are Markdown or code and not too long; code first.
fn in_folder(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(folder, &mut found);
    found.sort_by_key(|path| (path.extension().is_some_and(|end| end == "md"), path.clone()));
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let ends = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
        if path.is_dir() && !path.ends_with("target") && !path.ends_with("node_modules") {
            collect(&path, found);
        } else if matches!(
            ends,
            "md" | "rs" | "toml" | "yml" | "py" | "js" | "c" | "h" | "sh" | "html" | "json"
        ) && path.metadata().is_ok_and(|file| file.len() <= MOST_BYTES)
        {
            found.push(path);
        }
    }
}

/// The text of a file with a sentence or an example about a marker, as documents have them, somewhere between
/// its lines.
pub(super) fn with_mention(file: &File, markers: &[String], random: &mut Random) -> String {
    let marker = &markers[random.below(markers.len())];
    let other = &markers[random.below(markers.len())];
    let mention = match random.below(16) {
        0 => format!("A model writes {marker} first, then the name."),
        1 => format!("The parser looks for `{marker}` in what the model wrote."),
        2 => format!("// After {marker} come the arguments."),
        3 => format!("- {marker}: opens a call\n- {other}: in another notation"),
        4 => format!("| `{marker}` | opens a call |"),
        5 => format!("```text\n{marker}\n```"),
        6 => format!("## {marker} and {other}"),
        7 => format!("const OPENER: &str = \"{marker}\";"),
        8 => format!("    if text.startswith('{marker}'):"),
        9 => format!("Do not confuse {marker} with {other}!"),
        10 => format!("\n    {marker} … \n\nis how a call begins."),
        11 => format!("See the issue about \"{marker}\" (it is not closed) for more."),
        12 => format!("/// Whether `{marker}` has come, or {other}."),
        13 => format!("~~~\n{marker}\n{other}\n~~~"),
        14 => format!("assert_eq!(find({marker:?}), None, \"{other}\");"),
        _ => format!("Without {marker}, the text that follows is no call."),
    };
    let lines: Vec<_> = file.text.lines().collect();
    let at = random.below(lines.len().max(1));
    let (before, after) = lines.split_at(at);
    // A text that begins with a marker, or ends with one, does not mention it.
    let or = |lines: &[&str], sentence: &str| match lines.iter().all(|line| line.trim().is_empty()) {
        true => sentence.to_owned(),
        false => lines.join("\n"),
    };
    format!("{}\n{mention}\n{}\n", or(before, "About calls."), or(after, "The end."))
}
