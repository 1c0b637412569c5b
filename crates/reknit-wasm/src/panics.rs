//! What is left of a panic: its message, for the error that the package throws.

use std::sync::Mutex;

use wasm_bindgen::prelude::wasm_bindgen;

static LAST: Mutex<String> = Mutex::new(String::new());

/// Called once for each instance of the module.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|info| {
        if let Ok(mut last) = LAST.lock() {
            *last = info.to_string();
        }
    }));
}

/// The message of the panic that ended this instance; empty if there was none.
#[wasm_bindgen(js_name = lastPanic)]
pub fn last_panic() -> String {
    LAST.lock().map_or_else(|_| String::new(), |last| last.clone())
}
