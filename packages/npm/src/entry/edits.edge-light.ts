// The entry point of edits for workers at the edge that import WebAssembly as a module if asked so.

import { engine } from "../modules/edits.js";

import module from "./edits.wasm?module";

engine.provide(() => module);

export * from "../edits.js";
