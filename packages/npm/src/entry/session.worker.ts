// The entry point of sessions for workers at the edge that import WebAssembly as a module.

import { engine } from "../modules/session.js";

import module from "./session.wasm";

engine.provide(() => module);

export * from "../session.js";
