//! `docs/errors.md` lists every public error type.

use std::fs;
use std::path::Path;

use crate::sources::{public_type, sources};

#[test]
fn every_error_type_is_on_the_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("../../docs/errors.md")).expect("the page is there");
    let mut count = 0;
    for file in sources(&root.join("src")) {
        let source = fs::read_to_string(&file).expect("it was listed");
        let module = file.strip_prefix(root.join("src")).expect("it lies there").with_extension("");
        let module = module.iter().next().expect("it has a name").to_string_lossy();
        for definition in source.split("thiserror::Error)]\n").skip(1) {
            let line = definition.lines().find(|line| !line.starts_with('#')).unwrap_or_default();
            if let Some(name) = public_type(line) {
                assert!(
                    page.contains(&format!("`{module}::{name}`")),
                    "docs/errors.md has no `{module}::{name}`"
                );
                count += 1;
            }
        }
    }
    assert!(count > 5, "only {count} errors are found");
}
