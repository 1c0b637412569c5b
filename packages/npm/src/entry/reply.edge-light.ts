// The entry point for workers at the edge that import WebAssembly as a module if asked so.

import { engine } from "../modules/reply.js";

import module from "./reply.wasm?module";

engine.provide(() => module);

export * from "../index.js";
