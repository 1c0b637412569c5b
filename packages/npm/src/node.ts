// The entry point for Node: the module is a file next to this one.

import { readFile } from "node:fs/promises";

import { provide } from "./engine.js";

provide(() => readFile(new URL("./engine_bg.wasm", import.meta.url)));

export * from "./index.js";
