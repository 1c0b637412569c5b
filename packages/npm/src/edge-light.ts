// The entry point for workers at the edge that import WebAssembly as a module if asked so.

import module from "./engine_bg.wasm?module";

import { provide } from "./engine.js";

provide(() => module);

export * from "./index.js";
