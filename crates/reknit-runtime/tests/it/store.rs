//! Both stores do what a store must do.

use std::sync::Arc;

use reknit_runtime::store::{Memory, Sqlite, conformance};

#[tokio::test]
async fn memory_conforms() {
    conformance::run(|| Arc::new(Memory::new())).await;
}

#[tokio::test]
async fn sqlite_conforms() {
    let folder = tempfile::tempdir().unwrap();
    let count = std::cell::Cell::new(0);
    conformance::run(|| {
        count.set(count.get() + 1);
        Arc::new(Sqlite::open(folder.path().join(format!("{}.db", count.get()))).unwrap())
    })
    .await;
}
