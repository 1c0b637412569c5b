// The module of `reknit/edits`.

import { Engine, type ModuleSource } from "../engine.js";
import * as bindings from "../glue/edits.js";

export type Bindings = typeof bindings;

export const engine = new Engine(bindings, "reknit/edits", "reknit/edits.wasm");

/** Loads the engine for edits, once, before the first of them. */
export function ready(): Promise<void> {
  return engine.ready();
}

/** Starts the engine at once with a module, or the bytes of one, that the caller has. */
export function initSync(module: ModuleSource): void {
  engine.initSync(module);
}
