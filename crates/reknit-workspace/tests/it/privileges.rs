//! Owner, group, permissions, access control lists, capabilities and other attributes: they stay, and never grant more.
//!
//! Most of this needs the rights of the superuser: without them the tests say so and check nothing.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::Path;

use reknit_workspace::write::Note;
use reknit_workspace::{Batch, EntryId, Undo};
use rustix::fs::{XattrFlags, getxattr, setxattr};

use crate::fixture::{Fixture, chmod, mode, second};

/// Whether the tests can give files away.
fn is_superuser() -> bool {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    File::create(&file).unwrap();
    let is = chown(&file, Some(2000), Some(3000)).is_ok();
    if !is {
        println!("left out: only the superuser can give files away");
    }
    is
}

/// Who owns a file, and its permissions.
fn owned(path: &Path) -> (u32, u32, u32) {
    let metadata = fs::metadata(path).unwrap();
    (metadata.uid(), metadata.gid(), mode(path))
}

fn give(path: &Path, (user, group, mode): (u32, u32, u32)) {
    chown(path, Some(user), Some(group)).unwrap();
    chmod(path, mode);
}

fn attribute(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 1024];
    let length = getxattr(path, name, &mut value[..]).ok()?;
    Some(value[..length].to_vec())
}

/// An access control list: what the owner, one more user, the group, the mask and all others may do.
fn access_list(owner: u16, user: (u32, u16), group: u16, mask: u16, others: u16) -> Vec<u8> {
    const UNDEFINED: u32 = u32::MAX;
    let entries = [
        (1, owner, UNDEFINED),
        (2, user.1, user.0),
        (4, group, UNDEFINED),
        (16, mask, UNDEFINED),
        (32, others, UNDEFINED),
    ];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, id) in entries {
        list.extend(u16::to_le_bytes(tag));
        list.extend(u16::to_le_bytes(rights));
        list.extend(u32::to_le_bytes(id));
    }
    list
}

const ACCESS: &str = "system.posix_acl_access";
const DEFAULT: &str = "system.posix_acl_default";

/// Every way in which a file is written or restored, each followed by its undo.
fn through_everything(fixture: &Fixture, check: impl Fn(&str, &Path)) {
    let undo = |id: EntryId| {
        let undone = Undo::of(id).commit(&fixture.root, &fixture.journal, second(1)).unwrap();
        assert_eq!(undone.notes, []);
        undone.entry.id
    };
    let stamp = fixture.read("a").stamp;
    let updated = fixture.update("a", "new").id;
    check("updated", &fixture.at("a"));
    undo(updated);
    check("update undone", &fixture.at("a"));

    let mut batch = Batch::new("delete");
    batch.delete(fixture.path("a"), &stamp);
    let deleted = fixture.commit(batch).id;
    let restored = undo(deleted);
    check("delete undone", &fixture.at("a"));
    undo(restored);
    undo(undo_of_undo(fixture));
    check("delete undone twice", &fixture.at("a"));

    let mut batch = Batch::new("move");
    batch.move_to(fixture.path("a"), &stamp, fixture.path("b"));
    let moved = fixture.commit(batch).id;
    check("moved", &fixture.at("b"));
    undo(moved);
    check("move undone", &fixture.at("a"));

    let mut batch = Batch::new("move and update");
    batch.move_and_update(fixture.path("a"), &stamp, fixture.path("b"), [&b"new"[..]]);
    let moved = fixture.commit(batch).id;
    check("moved and updated", &fixture.at("b"));
    undo(moved);
    check("move and update undone", &fixture.at("a"));
}

/// The newest entry.
fn undo_of_undo(fixture: &Fixture) -> EntryId {
    fixture.log().entries[0].id
}

#[test]
fn owner_group_and_special_bits_are_kept() {
    if !is_superuser() {
        return;
    }
    for given in [
        (2000, 3000, 0o4777),
        (2000, 3000, 0o2755),
        (2000, 3000, 0o6711),
        (0, 3000, 0o640),
        (2000, 0, 0o4755),
    ] {
        let fixture = Fixture::new(&[("a", "one")]);
        give(&fixture.at("a"), given);
        through_everything(&fixture, |what, path| assert_eq!(owned(path), given, "{what}"));
    }
}

/// Whoever undoes is not the owner and may not give files away: the bits do not come back, nor does the group get
/// to read what it could not.
#[test]
fn special_bits_never_come_back_under_another_owner() {
    if !is_superuser() {
        return;
    }
    let fixture = Fixture::new(&[("a", "one"), ("b", "two")]);
    give(&fixture.at("a"), (2000, 3000, 0o4777));
    give(&fixture.at("b"), (2000, 3000, 0o640));
    let mut batch = Batch::new("delete");
    batch.delete(fixture.path("a"), &fixture.read("a").stamp);
    batch.delete(fixture.path("b"), &fixture.read("b").stamp);
    let done = fixture.commit(batch);

    // As another user, in a process of its own.
    let folder = fixture.folder.path();
    fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for path in walk(folder) {
        chown(&path, Some(1000), Some(1000)).unwrap();
    }
    let program = std::env::current_exe().unwrap();
    let status = std::process::Command::new("setpriv")
        .args(["--reuid=1000", "--regid=1000", "--clear-groups"])
        .arg(program)
        .args(["--exact", "privileges::undo_as_somebody_else", "--nocapture"])
        .env("REKNIT_TEST_FOLDER", folder)
        .env("REKNIT_TEST_ENTRY", done.id.to_string())
        .status();
    let Ok(status) = status else {
        println!("left out: there is no `setpriv`");
        return;
    };
    assert!(status.success());
    assert_eq!(owned(&fixture.at("a")), (1000, 1000, 0o777));
    assert_eq!(owned(&fixture.at("b")), (1000, 1000, 0o600));
}

/// The other half of the test above.
#[test]
fn undo_as_somebody_else() {
    let Some(folder) = std::env::var_os("REKNIT_TEST_FOLDER") else { return };
    let entry: EntryId = std::env::var("REKNIT_TEST_ENTRY").unwrap().parse().unwrap();
    let root = reknit_workspace::Root::open(Path::new(&folder).join("project")).unwrap();
    let journal = reknit_workspace::Journal::open(Path::new(&folder).join("state/journal")).unwrap();
    let undone = Undo::of(entry).commit(&root, &journal, second(1)).unwrap();
    let not_kept = undone.notes.iter().filter(|note| matches!(note, Note::OwnerNotKept { .. })).count();
    assert_eq!(not_kept, 2, "{:?}", undone.notes);
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = vec![folder.to_owned()];
    if folder.is_dir() {
        for inner in fs::read_dir(folder).unwrap() {
            found.extend(walk(&inner.unwrap().path()));
        }
    }
    found
}

#[test]
fn attributes_of_a_user_are_kept() {
    let fixture = Fixture::new(&[("a", "one")]);
    if setxattr(fixture.at("a"), "user.origin", b"a\0b\xFF", XattrFlags::empty()).is_err() {
        println!("left out: the file system has no extended attributes");
        return;
    }
    through_everything(&fixture, |what, path| {
        assert_eq!(attribute(path, "user.origin").as_deref(), Some(&b"a\0b\xFF"[..]), "{what}");
    });
}

#[test]
fn access_control_lists_are_kept() {
    let fixture = Fixture::new(&[("a", "one")]);
    let list = access_list(6, (1234, 4), 0, 4, 0);
    if setxattr(fixture.at("a"), ACCESS, &list, XattrFlags::empty()).is_err() {
        println!("left out: the file system has no access control lists");
        return;
    }
    assert_eq!(mode(&fixture.at("a")), 0o640, "the mask is where the rights of the group are");
    through_everything(&fixture, |what, path| {
        assert_eq!(attribute(path, ACCESS).as_ref(), Some(&list), "{what}");
        assert_eq!(mode(path), 0o640, "{what}");
    });
}

/// A default list of the directory would let another user read a file that only its owner could.
#[test]
fn a_default_list_of_the_directory_does_not_widen_a_file() {
    let fixture = Fixture::new(&[("a", "one")]);
    chmod(&fixture.at("a"), 0o640);
    let list = access_list(7, (1234, 7), 7, 7, 7);
    if setxattr(fixture.root.path(), DEFAULT, &list, XattrFlags::empty()).is_err() {
        println!("left out: the file system has no access control lists");
        return;
    }
    through_everything(&fixture, |what, path| {
        assert_eq!(attribute(path, ACCESS), None, "{what}");
        assert_eq!(mode(path), 0o640, "{what}");
    });
    // A new file gets what the directory says.
    fixture.create("new", "new");
    assert!(attribute(&fixture.at("new"), ACCESS).is_some());
}

#[test]
fn capabilities_are_kept() {
    let fixture = Fixture::new(&[("a", "one")]);
    // `cap_net_bind_service`, permitted and effective.
    let mut capability = 0x0200_0001_u32.to_le_bytes().to_vec();
    capability.extend([1_u32 << 10, 0, 0, 0].iter().flat_map(|word| word.to_le_bytes()));
    chmod(&fixture.at("a"), 0o755);
    if setxattr(fixture.at("a"), "security.capability", &capability, XattrFlags::empty()).is_err() {
        println!("left out: only the superuser can set capabilities");
        return;
    }
    through_everything(&fixture, |what, path| {
        assert_eq!(attribute(path, "security.capability").as_ref(), Some(&capability), "{what}");
    });
}
