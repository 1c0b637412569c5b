//! Makes the JavaScript side of a WebAssembly module: `reknit-bindgen MODULE FOLDER NAME`.

use std::env;

use anyhow::{Context, Result, bail};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<()> {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    let [module, folder, name] = arguments.as_slice() else {
        bail!("usage: reknit-bindgen MODULE FOLDER NAME")
    };
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(module)
        .out_name(&name.to_string_lossy())
        .web(true)?
        // The package finds the module itself, in a way for each place where it runs.
        .omit_default_module_path(true)
        // After a panic the package starts a new instance.
        .reset_state_function(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .typescript(true);
    bindgen.generate(folder).context("cannot make the bindings")
}
