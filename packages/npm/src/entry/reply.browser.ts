// The entry point for browsers and bundlers: the module is fetched from where this file is.

import { fetched } from "../fetched.js";
import { engine } from "../modules/reply.js";

engine.provide(() => fetched(new URL("./reply.wasm", import.meta.url)));

export * from "../index.js";
