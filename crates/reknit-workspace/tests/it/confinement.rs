//! Which paths are allowed, where symlinks may point, and what happens if something is swapped in between.

use reknit::Hint;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use proptest::prelude::*;
use reknit_workspace::root::{Error, Found};
use reknit_workspace::{Batch, RelPath, Root};
use rustix::fs::{RenameFlags, renameat_with};

use crate::fixture::{Fixture, second};

/// Resolving returns this path, or an error that starts with these words.
fn check(fixture: &Fixture, path: &str, expected: Result<&str, &str>) {
    let resolved = fixture.root.resolve(path);
    match (&resolved, expected) {
        (Ok(path), Ok(expected)) => assert_eq!(path.as_str(), expected),
        (Err(error), Err(expected)) => {
            assert!(error.to_string().starts_with(expected), "`{error}`, not `{expected}…`");
            assert!(!error.hint().is_empty());
        }
        _ => panic!("`{path}` is {resolved:?}, not {expected:?}"),
    }
}

#[test]
fn paths_are_normalised() {
    let fixture = Fixture::new(&[("src/lib.rs", "")]);
    check(&fixture, "src/lib.rs", Ok("src/lib.rs"));
    check(&fixture, "./src//./lib.rs", Ok("src/lib.rs"));
    check(&fixture, "new/deep/file", Ok("new/deep/file"));
    check(&fixture, "...", Ok("..."));
    check(&fixture, ".git/config", Ok(".git/config"));
    check(&fixture, "caf\u{e9}", Ok("caf\u{e9}"));
    let absolute = fixture.at("src/lib.rs");
    check(&fixture, absolute.to_str().unwrap(), Ok("src/lib.rs"));
    let absolute = fixture.at("src/new.rs");
    check(&fixture, absolute.to_str().unwrap(), Ok("src/new.rs"));
}

#[test]
fn paths_that_are_not_inside_the_root_are_refused() {
    let fixture = Fixture::new(&[("src/lib.rs", "")]);
    check(&fixture, "", Err("the path is empty"));
    check(&fixture, "a\0b", Err("`a\u{fffd}b`: contains a NUL at byte 1"));
    check(&fixture, "..", Err("`..`: contains `..`"));
    check(&fixture, "src/../src/lib.rs", Err("`src/../src/lib.rs`: contains `..`"));
    check(&fixture, "../project/src/lib.rs", Err("`../project/src/lib.rs`: contains `..`"));
    check(&fixture, "/etc/passwd", Err("`/etc/passwd`: outside the root"));
    check(&fixture, "/no/such/thing", Err("`/no/such/thing`: outside the root"));
    check(&fixture, ".", Err("`.`: not a file but a directory"));
    check(&fixture, "src/", Err("`src/`: not a file but a directory"));
    check(&fixture, "src/lib.rs/more/x", Err("`src/lib.rs/more/x`: `"));
    let root = fixture.root.path().to_str().unwrap().to_owned();
    check(&fixture, &root, Err(&format!("`{root}`: not a file but a directory")));
    // It starts with the name of the root, but it is not inside the root.
    let beside = format!("{root}-secrets/key");
    check(&fixture, &beside, Err(&format!("`{beside}`: outside the root")));
    let around = format!("{root}/../project/src/lib.rs");
    check(&fixture, &around, Err(&format!("`{around}`: contains `..`")));
}

#[test]
fn symlinks_are_followed_inside_the_root() {
    let fixture = Fixture::new(&[("src/lib.rs", "inside")]);
    let outside = fixture.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "outside").unwrap();
    symlink("src", fixture.at("relative")).unwrap();
    symlink(fixture.at("src/lib.rs"), fixture.at("absolute")).unwrap();
    symlink("relative", fixture.at("twice")).unwrap();
    symlink("../outside", fixture.at("out")).unwrap();
    symlink(outside.join("secret"), fixture.at("out-file")).unwrap();
    symlink("out", fixture.at("out-twice")).unwrap();
    symlink("nowhere", fixture.at("dangling")).unwrap();
    symlink("../outside/new", fixture.at("dangling-out")).unwrap();
    symlink("circle", fixture.at("circle")).unwrap();

    check(&fixture, "relative/lib.rs", Ok("src/lib.rs"));
    check(&fixture, "relative/new.rs", Ok("src/new.rs"));
    check(&fixture, "absolute", Ok("src/lib.rs"));
    check(&fixture, "twice/lib.rs", Ok("src/lib.rs"));
    check(&fixture, "out/secret", Err("`out/secret`: a symlink points outside the root, to `"));
    check(&fixture, "out/new", Err("`out/new`: a symlink points outside the root, to `"));
    check(&fixture, "out-file", Err("`out-file`: a symlink points outside the root, to `"));
    check(&fixture, "out-twice/secret", Err("`out-twice/secret`: a symlink points outside"));
    check(&fixture, "dangling", Err("`dangling`: the symlink `"));
    check(&fixture, "dangling/new", Err("`dangling/new`: the symlink `"));
    check(&fixture, "dangling-out", Err("`dangling-out`: the symlink `"));
    check(&fixture, "circle", Err("`circle`: resolving symlinks: "));
    let absolute = fixture.at("out/secret");
    let absolute = absolute.to_str().unwrap();
    check(&fixture, absolute, Err(&format!("`{absolute}`: a symlink points outside the root")));
}

#[test]
fn roots_and_absolute_paths_may_contain_symlinks() {
    let fixture = Fixture::new(&[("a.txt", "one")]);
    let other = fixture.folder.path().join("other-name");
    symlink(fixture.root.path(), &other).unwrap();
    let root = Root::open(&other).unwrap();
    assert_eq!(root.path(), fixture.root.path());
    assert_eq!(root.resolve(other.join("a.txt").to_str().unwrap()).unwrap().as_str(), "a.txt");
}

#[test]
fn the_last_name_can_be_resolved_without_following_it() {
    let fixture = Fixture::new(&[("src/lib.rs", "inside")]);
    symlink("src", fixture.at("folder")).unwrap();
    symlink("lib.rs", fixture.at("src/link.rs")).unwrap();
    let path = fixture.root.resolve_name("folder/link.rs").unwrap();
    assert_eq!(path.as_str(), "src/link.rs");
    let mut batch = Batch::new("delete");
    batch.delete(path, &fixture.read("src/lib.rs").stamp);
    let error = batch.commit(&fixture.root, &fixture.journal, second(0)).unwrap_err();
    assert_eq!(error.to_string(), "`src/link.rs`: `src/link.rs` is a symlink");
    assert!(matches!(fixture.root.resolve_name("."), Err(Error::NotAFile { .. })));
    let root = fixture.root.path().to_str().unwrap();
    assert!(matches!(fixture.root.resolve_name(root), Err(Error::NotAFile { .. })));
}

#[test]
fn errors_name_what_is_not_a_regular_file() {
    let fixture = Fixture::new(&[("src/lib.rs", "")]);
    let made = Command::new("mkfifo").arg(fixture.at("pipe")).status().unwrap();
    assert!(made.success());
    let _socket = UnixListener::bind(fixture.at("socket")).unwrap();
    let expect = |path: &str, expected: Found| match fixture.root.read(&fixture.path(path)) {
        Err(Error::NotAFile { found, .. }) => assert_eq!(found, expected),
        other => panic!("`{path}` is {other:?}"),
    };
    expect("src", Found::Directory);
    expect("pipe", Found::Fifo);
    expect("socket", Found::Socket);
    let missing = fixture.root.read(&fixture.path("src/none.rs")).unwrap_err();
    assert_eq!(missing.to_string(), "`src/none.rs`: no such file");

    let devices = Root::open("/dev").unwrap();
    let error = devices.read(&devices.resolve("null").unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "`null`: not a file but a device");
}

#[test]
fn symlinks_in_unresolved_paths_are_not_followed() {
    let fixture = Fixture::new(&[("src/lib.rs", "inside")]);
    symlink("src", fixture.at("folder")).unwrap();
    symlink("src/lib.rs", fixture.at("file")).unwrap();
    let read = |path: &str| fixture.root.read(&RelPath::new(path).unwrap()).unwrap_err().to_string();
    assert_eq!(read("folder/lib.rs"), "`folder/lib.rs`: `folder` is a symlink");
    assert_eq!(read("file"), "`file`: `file` is a symlink");
    assert_eq!(read("src/lib.rs/x"), "`src/lib.rs/x`: `src/lib.rs` is not a directory");
}

/// Names that exist in the project of the next test, and some that do not.
const NAMES: [&str; 10] = ["a", "b", "in", "up", "out", "file", "none", ".", "..", ""];

/// A path resolves to what the system says, or is refused if that is outside.
#[test]
fn no_path_leads_outside() {
    let fixture = Fixture::new(&[("a/b/file", ""), ("file", "")]);
    let outside = fixture.folder.path().join("outside");
    fs::create_dir_all(outside.join("a")).unwrap();
    fs::write(outside.join("file"), "").unwrap();
    symlink("a/b", fixture.at("in")).unwrap();
    symlink("../..", fixture.at("a/b/up")).unwrap();
    symlink(&outside, fixture.at("a/out")).unwrap();
    symlink(fixture.root.path(), outside.join("in")).unwrap();
    let root = fixture.root.path();

    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) };
    let names = prop::collection::vec(prop::sample::select(&NAMES[..]), 1..7);
    proptest!(config, |(names in names)| {
        let given = names.join("/");
        let resolved = fixture.root.resolve(&given);
        if let Ok(path) = &resolved {
            prop_assert!(!names.contains(&".."));
            // The part that exists is inside the root and contains no symlink.
            let place = root.join(path.as_str());
            let known = place.ancestors().find_map(|place| Some((place, fs::canonicalize(place).ok()?)));
            let (place, canonical) = known.unwrap();
            prop_assert_eq!(place, canonical.as_path());
            prop_assert!(canonical.starts_with(root));
        }
        let relative = !given.starts_with('/') && !names.contains(&"..");
        let truth = fs::canonicalize(root.join(&given));
        if let Ok(truth) = truth && truth.is_file() && relative {
            let inside = truth.strip_prefix(root).ok().map(Path::to_path_buf);
            prop_assert_eq!(resolved.ok().map(|path| PathBuf::from(path.as_str())), inside);
        }
    });
}

/// The attack: a path is resolved, and then one of its directories is swapped for a symlink.
#[test]
fn a_directory_swapped_for_a_symlink_is_not_followed() {
    let fixture = Fixture::new(&[("a/b/file", "inside")]);
    let outside = fixture.folder.path().join("outside");
    fs::create_dir_all(outside.join("b")).unwrap();
    fs::write(outside.join("b/file"), "inside").unwrap();
    let path = fixture.path("a/b/file");
    let new = fixture.path("a/b/new/file");
    let stamp = fixture.root.read(&path).unwrap().stamp;

    fs::rename(fixture.at("a"), fixture.at("was-a")).unwrap();
    symlink(&outside, fixture.at("a")).unwrap();

    let swapped = "`a/b/file`: `a` is a symlink";
    assert_eq!(fixture.root.read(&path).unwrap_err().to_string(), swapped);
    type Write = fn(&mut Batch<'_>, RelPath, &reknit_workspace::Stamp);
    let writes: [Write; 3] = [
        |batch, path, stamp| batch.update(path, stamp, [&b"x"[..]]),
        |batch, path, stamp| batch.delete(path, stamp),
        |batch, path, stamp| batch.move_to(path, stamp, RelPath::new("moved").unwrap()),
    ];
    for write in writes {
        let mut batch = Batch::new("attack");
        write(&mut batch, path.clone(), &stamp);
        let error = batch.commit(&fixture.root, &fixture.journal, second(0)).unwrap_err();
        assert_eq!(error.to_string(), swapped);
    }
    let mut batch = Batch::new("attack");
    batch.create(new, [&b"x"[..]]);
    let error = batch.commit(&fixture.root, &fixture.journal, second(0)).unwrap_err();
    assert_eq!(error.to_string(), "`a/b/new/file`: `a` is a symlink");

    assert_eq!(fs::read(outside.join("b/file")).unwrap(), b"inside");
    assert_eq!(fs::read_dir(outside.join("b")).unwrap().count(), 1);
    assert!(!fixture.at("moved").exists());
}

#[test]
fn a_file_swapped_for_a_symlink_is_not_followed() {
    let fixture = Fixture::new(&[("file", "inside")]);
    let outside = fixture.folder.path().join("secret");
    fs::write(&outside, "inside").unwrap();
    let path = fixture.path("file");
    let stamp = fixture.root.read(&path).unwrap().stamp;
    fs::remove_file(fixture.at("file")).unwrap();
    symlink(&outside, fixture.at("file")).unwrap();

    assert_eq!(fixture.root.read(&path).unwrap_err().to_string(), "`file`: `file` is a symlink");
    assert_eq!(fixture.root.open_file(&path).unwrap_err().to_string(), "`file`: `file` is a symlink");
    let mut batch = Batch::new("attack");
    batch.update(path, &stamp, [&b"x"[..]]);
    batch.commit(&fixture.root, &fixture.journal, second(0)).unwrap_err();
    assert_eq!(fs::read(&outside).unwrap(), b"inside");
    assert!(fixture.at("file").is_symlink());
}

/// The same during a batch: everything is checked, and the new content is staged.
#[test]
fn a_directory_swapped_during_the_write_is_not_followed() {
    let fixture = Fixture::new(&[("a/file", "inside")]);
    let outside = fixture.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "inside").unwrap();
    let stamp = fixture.read("a/file").stamp;
    let swap = [&b"x"[..]].into_iter().inspect(|_| {
        fs::rename(fixture.at("a"), fixture.at("was-a")).unwrap();
        symlink(&outside, fixture.at("a")).unwrap();
    });
    let mut batch = Batch::new("attack");
    batch.update(fixture.path("a/file"), &stamp, swap);
    let error = batch.commit(&fixture.root, &fixture.journal, second(0)).unwrap_err();
    assert_eq!(error.to_string(), "`a/file`: `a` is a symlink");
    assert_eq!(fs::read(outside.join("file")).unwrap(), b"inside");
    assert_eq!(fs::read(fixture.at("was-a/file")).unwrap(), b"inside");
    assert!(fixture.log().entries.is_empty());
}

/// A directory and a symlink that leads out change places all the time, while files are written there.
#[test]
fn no_write_follows_a_symlink_that_is_swapped_in_all_the_time() {
    const ROUNDS: usize = 400;
    let fixture = Fixture::in_memory(&[("a/file", "0"), ("a/deep/file", "0")]);
    let outside = fixture.folder.path().join("outside");
    fs::create_dir_all(outside.join("deep")).unwrap();
    for path in ["file", "deep/file"] {
        fs::write(outside.join(path), "0").unwrap();
    }
    symlink(&outside, fixture.at("link")).unwrap();
    let project = fs::File::open(fixture.root.path()).unwrap();
    let (is_over, swaps) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (written, rounds) = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(&project, "a", &project, "link", RenameFlags::EXCHANGE).unwrap();
                swaps.fetch_add(1, Ordering::Relaxed);
                thread::yield_now();
            }
        });
        let (mut written, mut round) = (0, 0);
        // Where others use the processor too, one of the two threads may wait long for it.
        while round < ROUNDS || swaps.load(Ordering::Relaxed) < ROUNDS {
            round += 1;
            let content = round.to_string();
            let mut batch = Batch::new("attack");
            for path in ["a/file", "a/deep/file"] {
                let path = RelPath::new(path).unwrap();
                if let Ok(file) = fixture.root.read(&path) {
                    batch.update(path, &file.stamp, [content.as_bytes()]);
                }
            }
            batch.create(RelPath::new(&format!("a/new/{round}")).unwrap(), [content.as_bytes()]);
            written += usize::from(batch.commit(&fixture.root, &fixture.journal, second(0)).is_ok());
        }
        is_over.store(true, Ordering::Relaxed);
        (written, round)
    });
    println!("{written} of {rounds} written, {} swaps", swaps.into_inner());
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 2);
    for path in ["file", "deep/file"] {
        assert_eq!(fs::read(outside.join(path)).unwrap(), b"0");
    }
}
