// The entry point for Node: the module is a file next to this one.

import { readFile } from "node:fs/promises";

import { engine } from "../modules/reply.js";

engine.provide(() => readFile(new URL("./reply.wasm", import.meta.url)));

export * from "../index.js";
