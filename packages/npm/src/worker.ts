// The entry point for workers at the edge that import WebAssembly as a module.

import module from "./engine_bg.wasm";

import { provide } from "./engine.js";

provide(() => module);

export * from "./index.js";
