// The entry point of sessions for browsers and bundlers: the module is fetched from where this file is.

import { fetched } from "../fetched.js";
import { engine } from "../modules/session.js";

engine.provide(() => fetched(new URL("./session.wasm", import.meta.url)));

export * from "../session.js";
