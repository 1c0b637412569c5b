// The entry point of edits for Node: the module is a file next to this one.

import { readFile } from "node:fs/promises";

import { engine } from "../modules/edits.js";

engine.provide(() => readFile(new URL("./edits.wasm", import.meta.url)));

export * from "../edits.js";
