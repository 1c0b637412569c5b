//! What may be written, and what may not, whatever the operation: the cases are in `paths.tsv`.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::Command;

use reknit_workspace::root::{self, Protected};
use reknit_workspace::write::Error;
use reknit_workspace::{Batch, Hash, Journal, RelPath, Root, Stamp, Undo, undo};

use crate::fixture::{Fixture, Tree, second};

const CASES: &str = include_str!("../paths.tsv");

/// The folder of the journal below the root.
const JOURNAL: &str = "state/journal";

/// A project with links that lead anywhere, repositories in every form, and the journal itself.
fn project() -> (Fixture, Vec<UnixListener>) {
    let mut fixture = Fixture::new(&[("src/lib.rs", "inside"), ("empty/.keep", "")]);
    fixture.journal = Journal::open(fixture.at(JOURNAL)).unwrap();
    let outside = fixture.folder.path().join("outside");
    fs::create_dir_all(outside.join("deep")).unwrap();
    fs::write(outside.join("secret"), "outside").unwrap();
    for name in ["project-secrets", "project.bak"] {
        fs::create_dir(fixture.folder.path().join(name)).unwrap();
    }
    for repository in [".git", "store", "elsewhere", "bare.git", "deep/er/bare", "common", "modules/m"] {
        for file in ["HEAD", "config", "hooks/pre-commit", "objects/x", "refs/x"] {
            fixture.put(&format!("{repository}/{file}"), "git");
        }
    }
    let files = [
        ("named/.git", "gitdir: ../elsewhere\n"),
        ("sub/module/.git", "gitdir: ../../modules/m\n"),
        ("client/.git", "gitdir: data\n"),
        ("client/data/config", "git"),
        ("worktree-data/HEAD", "git"),
        ("worktree-data/commondir", "../common\n"),
        ("worktree-data/gitdir", "/nowhere/.git\n"),
        ("almost/objects/x", "git"),
        ("almost/refs/x", "git"),
        ("half-bare/HEAD", "git"),
        ("half-bare/objects/x", "git"),
        (".repo/projects/p.git/config", "git"),
        (".repo/project-objects/p.git/hooks/pre-commit", "git"),
        ("repo-client/.git/HEAD", "git"),
    ];
    for (path, content) in files {
        fixture.put(path, content);
    }
    let links = [
        ("relative", "src"),
        ("twice", "relative"),
        ("file-link", "src/lib.rs"),
        ("out", "../outside"),
        ("out-file", "../outside/secret"),
        ("out-twice", "out"),
        ("src/out", "../../outside"),
        ("out-of-src", "src/out/secret"),
        ("up", ".."),
        ("slash", "/"),
        ("dangling", "nowhere"),
        ("dangling-out", "../outside/none"),
        ("loop-to-missing", "dangling"),
        ("circle", "circle"),
        ("one-of-two", "two-of-two"),
        ("two-of-two", "one-of-two"),
        ("via-link", ".git"),
        ("to-git", ".git"),
        ("to-hooks", ".git/hooks"),
        ("to-config", ".git/config"),
        ("linked/.git", "../store"),
        ("repo-client/.git/hooks", "../../.repo/project-objects/p.git/hooks"),
        ("to-journal", JOURNAL),
        ("to-state", "state"),
    ];
    for (link, to) in links {
        fs::create_dir_all(fixture.at(link).parent().unwrap()).unwrap();
        symlink(to, fixture.at(link)).unwrap();
    }
    symlink(fixture.at("src/lib.rs"), fixture.at("absolute")).unwrap();
    assert!(Command::new("mkfifo").arg(fixture.at("pipe")).status().unwrap().success());
    let socket = UnixListener::bind(fixture.at("socket")).unwrap();
    (fixture, vec![socket])
}

/// The text of a case, without its escapes.
fn unescaped(text: &str) -> String {
    let mut chars = text.chars();
    let mut plain = String::new();
    while let Some(char) = chars.next() {
        if char != '\\' {
            plain.push(char);
            continue;
        }
        plain.push(match chars.next().unwrap() {
            '0' => '\0',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '\\' => '\\',
            'x' => number(&chars.by_ref().take(2).collect::<String>()),
            'u' => number(
                chars.by_ref().take_while(|char| *char != '}').collect::<String>().trim_start_matches('{'),
            ),
            other => panic!("an escape with `{other}`"),
        });
    }
    plain
}

fn number(digits: &str) -> char {
    char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap()
}

/// The kind of an error, as the cases name it.
fn kind(error: &root::Error) -> &'static str {
    match error {
        root::Error::Empty => "empty",
        root::Error::Nul { .. } => "nul",
        root::Error::Parent { .. } => "parent",
        root::Error::Outside { .. } => "outside",
        root::Error::LeadsOutside { .. } => "leads-outside",
        root::Error::Dangling { .. } => "dangling",
        root::Error::NotADirectory { .. } => "not-a-directory",
        root::Error::NotAFile { .. } => "not-a-file",
        root::Error::Home { .. } => "home",
        root::Error::TooLong { .. } => "too-long",
        root::Error::Protected { what: Protected::Git, .. } => "git",
        root::Error::Protected { what: Protected::Journal, .. } => "journal",
        root::Error::Io { .. } => "io",
        _ => "another",
    }
}

/// Creates or updates the file at a path.
fn write(fixture: &Fixture, path: &RelPath) -> Result<(), Error> {
    let mut batch = Batch::new("apply");
    match fixture.root.read(path) {
        Ok(file) => batch.update(path.clone(), &file.stamp, [&b"written"[..]]),
        Err(root::Error::NotFound { .. }) => batch.create(path.clone(), [&b"written"[..]]),
        Err(_) => batch.update(path.clone(), &any(), [&b"written"[..]]),
    }
    let written = batch.commit(&fixture.root, &fixture.journal, second(0))?;
    assert_eq!(fixture.root.read(path).unwrap().bytes, b"written");
    Undo::of(written.entry.id).commit(&fixture.root, &fixture.journal, second(1)).unwrap();
    Ok(())
}

/// A stamp that no file here has.
fn any() -> Stamp {
    Stamp { hash: Hash::of(b"?"), size: 1, mode: 0 }
}

/// Everything but the journal.
fn tree(fixture: &Fixture) -> Tree {
    let mut tree = fixture.whole_tree();
    tree.retain(|path, _| !path.starts_with("project/state/"));
    tree
}

#[test]
fn every_path_is_written_or_refused_as_its_case_says() {
    let (fixture, _sockets) = project();
    let before = tree(&fixture);
    let (root, outside) = (fixture.root.path().to_str().unwrap(), fixture.folder.path().join("outside"));
    let mut count = 0;
    for line in CASES.lines().filter(|line| !line.starts_with('#')) {
        let (expected, path) = line.split_once('\t').unwrap_or_else(|| panic!("`{line}` has no tab"));
        let path = unescaped(path)
            .replace("{root}", root)
            .replace("{outside}", outside.to_str().unwrap())
            .replace("{journal}", JOURNAL);
        let resolved = fixture.root.resolve(&path);
        let outcome = match &resolved {
            Err(error) => kind(error),
            Ok(resolved) => match write(&fixture, resolved) {
                Ok(()) => "written",
                Err(Error::Path(error)) => kind(&error),
                Err(error) => panic!("{line}: {error}"),
            },
        };
        assert_eq!(outcome, expected, "{line}: {resolved:?}");
        if let (Ok(resolved), "git" | "journal") = (&resolved, expected) {
            check_all_operations(&fixture, resolved, line);
        }
        assert_eq!(tree(&fixture), before, "{line}");
        count += 1;
    }
    assert!(count >= 200, "{count} cases");
}

/// Nothing else gets there either: not a deletion, not a move in either direction.
fn check_all_operations(fixture: &Fixture, path: &RelPath, case: &str) {
    let source = fixture.path("src/lib.rs");
    let stamp = fixture.root.read(&source).unwrap().stamp;
    let own = fixture.root.read(path).map_or(any(), |file| file.stamp);
    let moved = RelPath::new("moved").unwrap();
    let operations: [&dyn Fn(&mut Batch<'_>); 5] = [
        &|batch| batch.delete(path.clone(), &own),
        &|batch| batch.move_to(path.clone(), &own, moved.clone()),
        &|batch| batch.move_to(source.clone(), &stamp, path.clone()),
        &|batch| batch.move_and_update(source.clone(), &stamp, path.clone(), [&b"x"[..]]),
        &|batch| batch.create(path.clone(), [&b"x"[..]]),
    ];
    for (index, operation) in operations.iter().enumerate() {
        let mut batch = Batch::new("attack");
        operation(&mut batch);
        let error = batch.commit(&fixture.root, &fixture.journal, second(0)).unwrap_err();
        // Where only a new file would make a repository, there is nothing to delete or to move.
        let is_refused = match &error {
            Error::Path(root::Error::Protected { .. }) => true,
            Error::Path(root::Error::NotFound { .. }) => index < 2 && !fixture.at(path.as_str()).exists(),
            _ => false,
        };
        assert!(is_refused, "{case}, {index}: {error}");
    }
}

#[test]
fn a_repository_does_not_come_into_being_file_by_file() {
    let fixture = Fixture::new(&[]);
    let mut batch = Batch::new("apply");
    for file in ["x/config", "x/HEAD", "x/objects/a", "x/refs/a"] {
        batch.create(fixture.path(file), [&b"x"[..]]);
    }
    let error = batch.commit(&fixture.root, &fixture.journal, second(0)).unwrap_err();
    assert_eq!(error.to_string(), "`x/config`: part of a git repository's own data");
    for file in ["x/config", "x/HEAD", "x/objects/a"] {
        fixture.create(file, "x");
    }
    let mut batch = Batch::new("apply");
    batch.create(fixture.path("x/refs/a"), [&b"x"[..]]);
    batch.commit(&fixture.root, &fixture.journal, second(0)).unwrap_err();
    assert!(!fixture.at("x/refs").exists());
}

/// The undo of an entry whose place became a repository, as a forged entry would have it.
#[test]
fn an_undo_does_not_write_into_a_repository_either() {
    let fixture = Fixture::new(&[("store/hooks/pre-commit", "old")]);
    let done = fixture.update("store/hooks/pre-commit", "new");
    for file in ["store/HEAD", "store/objects/x", "store/refs/x"] {
        fixture.put(file, "git");
    }
    let error = Undo::of(done.id).commit(&fixture.root, &fixture.journal, second(1)).unwrap_err();
    let undo::Error::Write(Error::Path(root::Error::Protected { what, .. })) = error else {
        panic!("{error}")
    };
    assert_eq!(what, Protected::Git);
    assert_eq!(fixture.read("store/hooks/pre-commit").bytes, b"new");
}

#[test]
fn a_root_that_is_a_repository_or_inside_one_is_not_written() {
    let fixture = Fixture::new(&[("HEAD", "x"), ("objects/x", "x"), ("refs/x", "x"), ("hooks/deep/x", "x")]);
    let create = |folder: &str| {
        let root = Root::open(fixture.at(folder)).unwrap();
        let mut batch = Batch::new("apply");
        batch.create(root.resolve("new").unwrap(), [&b"x"[..]]);
        batch.commit(&root, &fixture.journal, second(0)).map(drop).map_err(|error| error.to_string())
    };
    for folder in [".", "hooks", "hooks/deep"] {
        let refused = Err("`new`: part of a git repository's own data".to_owned());
        assert_eq!(create(folder), refused, "{folder}");
    }
    // A working tree may be inside a bare repository.
    fixture.put("main/.git", "gitdir: ../worktrees/main\n");
    fixture.put("main/src/lib.rs", "x");
    for folder in ["main", "main/src"] {
        assert_eq!(create(folder), Ok(()), "{folder}");
    }
}
