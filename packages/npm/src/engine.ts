/// <reference lib="esnext.disposable" preserve="true" />
// A WebAssembly module: loading it, calling it, and starting again after a panic.

import { errorOf, ReknitError } from "./errors.js";

/** What can be compiled: a module, or its bytes. */
export type ModuleSource = WebAssembly.Module | BufferSource;

/** How an entry point of the package finds a module where it runs. */
type Loader = () => ModuleSource | Promise<ModuleSource>;

/** What the bindings of each module have. */
export interface Bindings {
  initSync(module: { module: ModuleSource }): { readonly memory: WebAssembly.Memory };
  lastPanic(): string;
  __wbg_reset_state(): void;
}

/** A module and its instance. */
export class Engine<B extends Bindings> {
  readonly #bindings: B;
  /** What its users import. */
  readonly #entry: string;
  /** The module, as the package exports it. */
  readonly #module: string;
  #load: Loader | undefined;
  #loading: Promise<void> | undefined;
  #isStarted = false;
  #generation = 0;

  constructor(bindings: B, entry: string, module: string) {
    this.#bindings = bindings;
    this.#entry = entry;
    this.#module = module;
  }

  /** Says how to find the module. */
  provide(loader: Loader): void {
    this.#load = loader;
  }

  /** Loads the module, once. */
  ready(): Promise<void> {
    if (this.#isStarted) return Promise.resolve();
    this.#loading ??= this.#start().catch((error: unknown) => {
      // The next call tries again.
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  async #start(): Promise<void> {
    if (this.#load === undefined) {
      throw new ReknitError("not-ready", "no module is known", "call `initSync(module)`");
    }
    const source = await this.#load();
    const module = source instanceof WebAssembly.Module ? source : await WebAssembly.compile(source);
    this.initSync(module);
  }

  /** Starts an instance at once, with a module or the bytes of one. */
  initSync(module: ModuleSource): void {
    if (this.#isStarted) return;
    const isModule = module instanceof WebAssembly.Module;
    if (!isModule && !(module instanceof ArrayBuffer) && !ArrayBuffer.isView(module)) {
      throw new TypeError(`initSync takes a WebAssembly.Module, or the bytes of \`${this.#module}\``);
    }
    this.#bindings.initSync({ module });
    this.#isStarted = true;
  }

  /** Which instance is in use; handles of an earlier one are void. */
  get generation(): number {
    return this.#generation;
  }

  /** How many bytes of memory the instance has. They are used again, and never given back to the system. */
  memory(): number {
    // Without a module it returns what runs already.
    return (this.#started().initSync as () => { readonly memory: WebAssembly.Memory })().memory.buffer.byteLength;
  }

  /** Calls the module, and translates what it throws. */
  call<T>(work: (bindings: B) => T): T {
    const bindings = this.#started();
    try {
      return work(bindings);
    } catch (error) {
      throw this.translated(error);
    }
  }

  /** The bindings, if the module was loaded. */
  #started(): B {
    if (!this.#isStarted) {
      const hint = `call \`await ready()\` or \`initSync(module)\` of "${this.#entry}" once before`;
      throw new ReknitError("not-ready", "the engine is not loaded", hint);
    }
    return this.#bindings;
  }

  /** The error to throw for what the module threw. */
  translated(error: unknown): unknown {
    if (typeof error === "string") return errorOf(JSON.parse(error));
    // A stack that is too deep is a RangeError.
    if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) return this.#retire(error);
    return error;
  }

  /** Replaces an instance that can no longer be trusted. */
  #retire(cause: Error): ReknitError {
    let words = cause.message;
    try {
      words = this.#bindings.lastPanic() || words;
    } catch {
      // The instance does not even answer that.
    }
    this.#generation += 1;
    this.#bindings.__wbg_reset_state();
    const hint = "this is a bug in Reknit: please report it; what was created before has to be created again";
    return Object.assign(new ReknitError("panicked", `the engine failed: ${words}`, hint), { cause });
  }
}

/** What a module made, and the memory that it takes. */
interface Inner {
  free(): void;
}

/** A value of a module. Its memory is freed by `dispose`, by `using`, or some time after the last use. */
export abstract class Handle<T extends Inner> {
  readonly #engine: Engine<Bindings>;
  #inner: T | undefined;
  readonly #generation: number;

  protected constructor(engine: Engine<Bindings>, inner: T) {
    this.#engine = engine;
    this.#inner = inner;
    this.#generation = engine.generation;
  }

  /** Frees the memory now. The object cannot be used any more. */
  dispose(): void {
    const inner = this.#inner;
    this.#inner = undefined;
    if (inner !== undefined && this.#generation === this.#engine.generation) inner.free();
  }

  declare [Symbol.dispose]: () => void;

  /** Calls a method of the engine's value. */
  protected use<R>(work: (inner: T) => R): R {
    const inner = this.#inner;
    if (inner === undefined) {
      throw new TypeError(`this ${this.constructor.name} was disposed: create a new one`);
    }
    if (this.#generation !== this.#engine.generation) {
      const hint = "create it again, and give it its input from the beginning";
      throw new ReknitError("panicked", `the engine failed while this ${this.constructor.name} was in use`, hint);
    }
    try {
      return work(inner);
    } catch (error) {
      throw this.#engine.translated(error);
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
