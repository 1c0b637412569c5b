// The entry point of sessions for Node: the module is a file next to this one.

import { readFile } from "node:fs/promises";

import { engine } from "../modules/session.js";

engine.provide(() => readFile(new URL("./session.wasm", import.meta.url)));

export * from "../session.js";
