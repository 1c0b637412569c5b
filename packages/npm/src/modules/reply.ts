// The module of `reknit`.

import { Engine, type ModuleSource } from "../engine.js";
import * as bindings from "../glue/reply.js";

export type Bindings = typeof bindings;

export const engine = new Engine(bindings, "reknit", "reknit/reply.wasm");

/** Loads the engine, once. `read` and `frames` do so themselves; the classes and other functions need it. */
export function ready(): Promise<void> {
  return engine.ready();
}

/** Starts the engine at once with a module, or the bytes of one, that the caller has. */
export function initSync(module: ModuleSource): void {
  engine.initSync(module);
}
