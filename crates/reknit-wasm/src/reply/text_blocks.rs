//! [`TextBlocks`]: the calls and thinking in a model's text, as blocks; and the profiles.

use reknit::tags::{self, Parser, profiles};
use serde::Serialize;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::options::{Options, named, tools_from};
use crate::failure::Failure;
use crate::json::{json, parse};

/// A model's text, which is read for its blocks at the end.
#[wasm_bindgen]
pub struct TextBlocks {
    parser: Parser,
}

#[wasm_bindgen]
impl TextBlocks {
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str) -> Result<TextBlocks, JsValue> {
        let options: Options = parse(options)?;
        let grammar = options.grammar()?.ok_or_else(|| {
            Failure::usage("neither `profile` nor `grammar` is set", "name the profile of the model")
        })?;
        let parser = Parser::new(&grammar, options.tools()?.as_ref())
            .map_err(|error| Failure::of("malformed-grammar", &error))?;
        Ok(Self { parser: parser.with_limits(&options.limits()) })
    }

    /// Takes a piece. That the text is too long becomes a diagnostic.
    pub fn push(&mut self, piece: &[u8]) {
        let _ = self.parser.push_bytes(piece);
    }

    /// Ends the text; returns its blocks and diagnostics.
    pub fn finish(&mut self) -> String {
        self.parser.finish();
        json(&self.parser)
    }
}

#[derive(Serialize)]
struct Found<'a> {
    profile: &'a str,
    why: &'a str,
}

/// The profile that fits a text best, and why. `tools` is a JSON array, or empty.
#[wasm_bindgen(js_name = detectProfile)]
pub fn detect_profile(text: &[u8], tools: &str) -> Result<String, JsValue> {
    let tools = if tools.is_empty() { None } else { Some(tools_from(tools)?) };
    let found = tags::detect(&String::from_utf8_lossy(text), tools.as_ref());
    Ok(json(&Found { profile: &found.grammar.name, why: &found.why }))
}

/// The names of the profiles, as a JSON array.
#[wasm_bindgen(js_name = profileNames)]
pub fn profile_names() -> String {
    json(&profiles().iter().map(|profile| &*profile.name).collect::<Vec<_>>())
}

/// A profile in TOML, to start a grammar from.
#[wasm_bindgen(js_name = profileSource)]
pub fn profile_source(name: &str) -> Result<String, JsValue> {
    let grammar = named(name)?;
    Ok(tags::profile_source(&grammar.name).unwrap_or_default().to_owned())
}
