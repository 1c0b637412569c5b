// The entry point for workers at the edge that import WebAssembly as a module.

import { engine } from "../modules/reply.js";

import module from "./reply.wasm";

engine.provide(() => module);

export * from "../index.js";
