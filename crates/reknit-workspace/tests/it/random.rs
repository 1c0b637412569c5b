//! Whatever is written, undoing all of it restores the original tree.

use std::collections::BTreeSet;
use std::fs;

use proptest::prelude::*;
use reknit_workspace::journal::Change;
use reknit_workspace::undo::{Conflicts, Error, Standing};
use reknit_workspace::{Batch, EntryId, RelPath, Undo};

use crate::fixture::{Fixture, Node, Tree, chmod, second};

const PATHS: [&str; 8] = ["a", "b", "c.txt", "d/a", "d/b", "d/e/a", "f/g/h/a", "f/g/b"];
const MODES: [u32; 4] = [0o644, 0o600, 0o755, 0o664];

/// One write. What its numbers mean depends on the files at that time.
#[derive(Clone, Debug)]
struct Plan {
    path: usize,
    other: usize,
    kind: u8,
    content: Vec<u8>,
}

fn plan() -> impl Strategy<Value = Plan> {
    (0..PATHS.len(), 0..PATHS.len(), 0_u8..4, prop::collection::vec(any::<u8>(), 0..40))
        .prop_map(|(path, other, kind, content)| Plan { path, other, kind, content })
}

/// Adds a write to the batch if this tree allows it and no other write of the batch uses its paths.
fn add<'a>(
    batch: &mut Batch<'a>,
    fixture: &Fixture,
    tree: &Tree,
    taken: &mut BTreeSet<&str>,
    plan: &'a Plan,
) {
    let (path, to) = (PATHS[plan.path], PATHS[plan.other]);
    let rel = |path: &str| RelPath::new(path).unwrap();
    let pieces = || plan.content.chunks(7);
    if !taken.insert(path) {
        return;
    }
    if !matches!(tree.get(path), Some(Node::File { .. })) {
        batch.create(rel(path), pieces());
        return;
    }
    let stamp = fixture.read(path).stamp;
    match plan.kind {
        0 => batch.delete(rel(path), &stamp),
        1 if !tree.contains_key(to) && taken.insert(to) => batch.move_to(rel(path), &stamp, rel(to)),
        2 if !tree.contains_key(to) && taken.insert(to) => {
            batch.move_and_update(rel(path), &stamp, rel(to), pieces());
        }
        _ => batch.update(rel(path), &stamp, pieces()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn undoing_everything_restores_the_first_tree(
        files in prop::collection::btree_map(0..PATHS.len(), (0..MODES.len(), any::<u32>()), 0..6),
        batches in prop::collection::vec(prop::collection::vec(plan(), 1..5), 1..5),
    ) {
        let fixture = Fixture::new(&[]);
        for (path, (mode, content)) in &files {
            fixture.put(PATHS[*path], &content.to_string());
            chmod(&fixture.at(PATHS[*path]), MODES[*mode]);
        }
        let mut trees = vec![fixture.tree()];
        let mut entries: Vec<EntryId> = Vec::new();
        for plans in &batches {
            let mut batch = Batch::new("random");
            let mut taken = BTreeSet::new();
            for plan in plans {
                add(&mut batch, &fixture, &trees[trees.len() - 1], &mut taken, plan);
            }
            entries.push(fixture.commit(batch).id);
            trees.push(fixture.tree());
        }

        let undo = |id| Undo::of(id).commit(&fixture.root, &fixture.journal, second(1)).unwrap().entry.id;
        let mut undone = Vec::new();
        for (id, before) in entries.iter().zip(&trees).rev() {
            undone.push(undo(*id));
            prop_assert_eq!(&fixture.tree(), before);
        }
        for (id, after) in undone.iter().rev().zip(&trees[1..]) {
            undo(*id);
            prop_assert_eq!(&fixture.tree(), after);
        }
    }

    /// Another program writes files after a batch: an undo reverts all of the batch or touches nothing, and one
    /// that overwrites those files can itself be undone.
    #[test]
    fn what_others_wrote_is_never_lost(
        files in prop::collection::btree_set(0..PATHS.len(), 0..6),
        plans in prop::collection::vec(plan(), 1..5),
        others in prop::collection::vec((0..PATHS.len(), any::<Option<u8>>()), 0..4),
    ) {
        let fixture = Fixture::new(&[]);
        for path in &files {
            fixture.put(PATHS[*path], PATHS[*path]);
        }
        let before = fixture.tree();
        let mut batch = Batch::new("random");
        let mut taken = BTreeSet::new();
        for plan in &plans {
            add(&mut batch, &fixture, &before, &mut taken, plan);
        }
        let entry = fixture.commit(batch);
        for (path, content) in others {
            match content {
                Some(content) => fixture.put(PATHS[path], &content.to_string()),
                None => drop(fs::remove_file(fixture.at(PATHS[path]))),
            }
        }
        let theirs = fixture.tree();
        let is_move = |change: &Change| matches!(change, Change::Move { before, after, .. } if before == after);
        let is_back = |tree: &Tree| entry.changes.iter().all(|change| change.paths().all(|path| {
            let (now, before) = (tree.get(path.as_str()), before.get(path.as_str()));
            // A file that was only moved comes back with what they wrote into it.
            now == before || is_move(change) && now.is_some() == before.is_some()
        }));

        let undo = Undo::of(entry.id);
        let commit = |undo: Undo| undo.commit(&fixture.root, &fixture.journal, second(1));
        let undone = match commit(undo) {
            Ok(undone) => undone,
            Err(_) => {
                prop_assert_eq!(&fixture.tree(), &theirs);
                match commit(undo.conflicts(Conflicts::Overwrite)) {
                    Ok(undone) => undone,
                    // The journal has no copy of a file that was only moved, and they removed or replaced it.
                    Err(Error::Conflicts { files, .. }) => {
                        let is_moved = |path: &RelPath| entry.changes.iter().any(|change| {
                            is_move(change) && change.paths().any(|other| other == path)
                        });
                        let is_gone = |(path, standing): &_| *standing == Standing::Lost && is_moved(path);
                        prop_assert!(files.iter().all(is_gone), "{files:?}");
                        prop_assert_eq!(&fixture.tree(), &theirs);
                        return Ok(());
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        };
        prop_assert!(is_back(&fixture.tree()));
        commit(Undo::of(undone.entry.id)).unwrap();
        prop_assert_eq!(files_of(&fixture.tree()), files_of(&theirs));
    }
}

/// The files of a tree, without directories: empty ones may appear and disappear.
fn files_of(tree: &Tree) -> Tree {
    let files = tree.iter().filter(|(_, node)| matches!(node, Node::File { .. }));
    files.map(|(path, node)| (path.clone(), node.clone())).collect()
}
