/// <reference lib="esnext.disposable" preserve="true" />
// The WebAssembly module: loading it, calling it, and starting again after a panic.

import { errorOf, ReknitError } from "./errors.js";
import * as glue from "./glue/engine.js";

export type Engine = typeof glue;

/** What can be compiled: a module, or its bytes. */
export type ModuleSource = WebAssembly.Module | BufferSource;

/** How an entry point of the package finds the module where it runs. */
type Loader = () => ModuleSource | Promise<ModuleSource>;

let load: Loader | undefined;
let loading: Promise<void> | undefined;
let isStarted = false;
/** Which instance is in use; handles of an earlier one are void. */
let generation = 0;

/** Says how to find the module. */
export function provide(loader: Loader): void {
  load = loader;
}

/** Loads the engine, once. `read` and `frames` do so themselves; the classes and other functions need it. */
export function ready(): Promise<void> {
  if (isStarted) return Promise.resolve();
  loading ??= start().catch((error: unknown) => {
    // The next call tries again.
    loading = undefined;
    throw error;
  });
  return loading;
}

async function start(): Promise<void> {
  if (load === undefined) throw new ReknitError("not-ready", "no module is known", "call `initSync(module)`");
  const source = await load();
  const module = source instanceof WebAssembly.Module ? source : await WebAssembly.compile(source);
  initSync(module);
}

/** Starts the engine at once with a module, or the bytes of one, that the caller has. */
export function initSync(module: ModuleSource): void {
  if (isStarted) return;
  const isModule = module instanceof WebAssembly.Module;
  if (!isModule && !(module instanceof ArrayBuffer) && !ArrayBuffer.isView(module)) {
    throw new TypeError("initSync takes a WebAssembly.Module, or the bytes of `reknit/engine.wasm`");
  }
  glue.initSync({ module });
  isStarted = true;
}

/** The engine, if it was loaded. */
function engine(): Engine {
  if (!isStarted) {
    throw new ReknitError(
      "not-ready",
      "the engine is not loaded",
      "call `await ready()` or `initSync(module)` once before; `read` loads it by itself",
    );
  }
  return glue;
}

/** How many bytes of memory the engine has. They are used again, and never given back to the system. */
export function memory(): number {
  // Without a module it returns what runs already.
  return (engine().initSync as () => glue.InitOutput)().memory.buffer.byteLength;
}

/** Calls the engine, and translates what it throws. */
export function call<T>(work: (engine: Engine) => T): T {
  const loaded = engine();
  try {
    return work(loaded);
  } catch (error) {
    throw translated(error);
  }
}

function translated(error: unknown): unknown {
  if (typeof error === "string") return errorOf(JSON.parse(error));
  // A stack that is too deep is a RangeError.
  if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) return retire(error);
  return error;
}

/** Replaces an instance that can no longer be trusted. */
function retire(cause: Error): ReknitError {
  let words = cause.message;
  try {
    words = glue.lastPanic() || words;
  } catch {
    // The instance does not even answer that.
  }
  generation += 1;
  glue.__wbg_reset_state();
  const hint = "this is a bug in Reknit: please report it; what was created before has to be created again";
  return Object.assign(new ReknitError("panicked", `the engine failed: ${words}`, hint), { cause });
}

/** What the engine made, and the memory that it takes. */
interface Inner {
  free(): void;
}

/** A value of the engine. Its memory is freed by `dispose`, by `using`, or some time after the last use. */
export abstract class Handle<T extends Inner> {
  #inner: T | undefined;
  readonly #generation: number;

  protected constructor(make: (engine: Engine) => T) {
    this.#inner = call(make);
    this.#generation = generation;
  }

  /** Frees the memory now. The object cannot be used any more. */
  dispose(): void {
    const inner = this.#inner;
    this.#inner = undefined;
    if (inner !== undefined && this.#generation === generation) inner.free();
  }

  declare [Symbol.dispose]: () => void;

  /** Calls a method of the engine's value. */
  protected use<R>(work: (inner: T) => R): R {
    const inner = this.#inner;
    if (inner === undefined) {
      throw new TypeError(`this ${this.constructor.name} was disposed: create a new one`);
    }
    if (this.#generation !== generation) {
      const hint = "create it again, and give it its input from the beginning";
      throw new ReknitError("panicked", `the engine failed while this ${this.constructor.name} was in use`, hint);
    }
    try {
      return work(inner);
    } catch (error) {
      throw translated(error);
    }
  }
}

// Some browsers do not have the symbol yet.
if (Symbol.dispose !== undefined) {
  Object.defineProperty(Handle.prototype, Symbol.dispose, {
    value(this: Handle<Inner>) {
      this.dispose();
    },
  });
}
