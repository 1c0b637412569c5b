// The entry point of edits for browsers and bundlers: the module is fetched from where this file is.

import { fetched } from "../fetched.js";
import { engine } from "../modules/edits.js";

engine.provide(() => fetched(new URL("./edits.wasm", import.meta.url)));

export * from "../edits.js";
