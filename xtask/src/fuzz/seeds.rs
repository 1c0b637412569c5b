//! What the fuzzer starts from: the inputs of the corpus, and the words in them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The corpus of a target that has none of its own, which is one that reads a whole reply.
const REPLIES: &str = "wire";

/// The folder of answers that contain edits.
const ANSWERS: &str = "edit-parse";

/// The folder of agent events.
const EVENTS: &str = "chunks";

/// The lengths of the pieces that a seed is cut into; `fuzz/src/lib.rs` reads them.
const LENGTHS: [u8; 4] = [7, 1, 0, 60];

/// The length of words that are worth trying elsewhere.
const WORD: std::ops::RangeInclusive<usize> = 2..=40;

/// Writes a file for each input of the target's corpus to the folder `seeds`, and their words to `words`.
pub(super) fn write(corpus: &Path, target: &str, seeds: &Path, words: &Path) -> Result<()> {
    let own = corpus.join(match target {
        "edit" => ANSWERS,
        "agent" => EVENTS,
        _ => target,
    });
    let folder = if own.is_dir() { own } else { corpus.join(REPLIES) };
    let mut found = BTreeSet::new();
    fs::create_dir_all(seeds).with_context(|| format!("cannot create `{}`", seeds.display()))?;
    for (choice, path) in inputs(&folder)? {
        let input = fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        collect_words(&input, &mut found);
        let mut seed = vec![choice];
        seed.extend(LENGTHS);
        seed.extend(input);
        let name = path.strip_prefix(corpus).unwrap_or(&path).to_string_lossy().replace(['/', '\\'], "-");
        let file = seeds.join(name);
        fs::write(&file, seed).with_context(|| format!("cannot write `{}`", file.display()))?;
    }
    let parent = words.parent().context("the file of words is in a folder")?;
    fs::create_dir_all(parent).with_context(|| format!("cannot create `{}`", parent.display()))?;
    let lines: String = found.iter().map(|word| format!("\"\\\"{word}\\\"\"\n")).collect();
    fs::write(words, lines).with_context(|| format!("cannot write `{}`", words.display()))
}

/// The inputs below a folder, each with its choice. Where cases are grouped in folders, such as dialects, the
/// choice is the number of the folder; otherwise it is 0.
fn inputs(folder: &Path) -> Result<Vec<(u8, PathBuf)>> {
    let mut found = Vec::new();
    // A file next to the folders, such as a list of tools, is for all cases.
    let folders = entries(folder)?.into_iter().filter(|path| path.is_dir());
    for (number, below) in (0..).zip(folders) {
        for path in entries(&below)? {
            if path.is_dir() {
                let inputs = entries(&path)?.into_iter().filter(|path| is_input(path));
                found.extend(inputs.map(|path| (number, path)));
            } else if is_input(&path) {
                found.push((0, path));
            }
        }
    }
    Ok(found)
}

fn is_input(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem == "input")
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// Collects the names in quotes: keys, types, reasons.
fn collect_words(input: &[u8], words: &mut BTreeSet<String>) {
    let is_name =
        |word: &str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
    let text = String::from_utf8_lossy(input);
    let found = text.split('"').filter(|word| WORD.contains(&word.len()) && is_name(word));
    words.extend(found.map(str::to_owned));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_names_in_quotes() {
        let mut words = BTreeSet::new();
        collect_words(br#"data: {"type":"text_delta","index":0,"text":"two words"}"#, &mut words);
        assert_eq!(words.into_iter().collect::<Vec<_>>(), ["index", "text", "text_delta", "type"]);
    }
}
