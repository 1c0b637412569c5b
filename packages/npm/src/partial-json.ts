// A JSON value while its text arrives.

import { Encoder } from "./bytes.js";
import { Handle } from "./engine.js";
import { described, errorOf, type Failure, ReknitError } from "./errors.js";
import type { JsonChange } from "./forms.js";
import { type Numbers, numbersIn, parse } from "./json.js";
import { type Bindings, engine } from "./modules/reply.js";

export interface PartialJsonOptions {
  /** How deeply arrays and objects may be nested; 128 by default. */
  depth?: number;
  /** What an integer becomes that a `number` cannot hold exactly; by default it is rounded. */
  numbers?: Numbers;
}

/** How much of a value has arrived. */
export type JsonState = "missing" | "partial" | "complete";

type Container = Record<string, unknown> | unknown[];

/** What the engine returns: changes, and the error as the last of them. */
type Step = JsonChange | { failed: Failure };

/**
 * A JSON value whose text arrives in pieces, cut anywhere, such as the arguments of a call.
 *
 * `value` is one object that is changed in place: a look after every piece costs the piece, not the value.
 *
 * ```js
 * await ready();
 * const json = new PartialJson();
 * json.push('{"path": "a.rs", "content": "fn ma');
 * json.value; // { path: "a.rs", content: "fn ma" }
 * json.state("/content"); // "partial"
 * ```
 */
export class PartialJson extends Handle<InstanceType<Bindings["PartialJson"]>> {
  readonly #encoder = new Encoder();
  readonly #numbers: Numbers;
  #value: unknown;
  #error: ReknitError | undefined;
  /** A number alone, which only the end of the text completes. */
  #alone: string | undefined;
  /** The pointer to the value that changed last, its container and its key: most changes are at the same place. */
  #pointer = "";
  #parent: Container | undefined;
  #parentPointer: string | undefined;
  #key = "";

  constructor(options: PartialJsonOptions = {}) {
    const { depth, numbers } = options;
    if (depth !== undefined && !(Number.isInteger(depth) && depth >= 0)) {
      throw new TypeError(`\`depth\` is a number of levels, not ${described(depth)}`);
    }
    const checked = numbersIn(numbers);
    super(engine, engine.call((bindings) => new bindings.PartialJson(depth)));
    this.#numbers = checked;
  }

  /** Reads the next piece of the text; returns what it changed. After an error nothing changes any more. */
  push(piece: string): JsonChange[] {
    if (typeof piece !== "string") throw new TypeError(`push takes a string, not ${described(piece)}`);
    const text = this.#encoder.text(piece);
    const said = this.use((inner) => inner.push(text));
    if (said.startsWith('"')) {
      // Only the string grew that grew last.
      const grew = { path: this.#pointer, text: JSON.parse(said) as string };
      this.#grow(grew.path, grew.text);
      return [{ grew }];
    }
    const steps = parse<Step[]>(said, this.#numbers);
    const changes: JsonChange[] = [];
    for (const step of steps) {
      if ("failed" in step) {
        this.#error = errorOf(step.failed) as ReknitError;
      } else {
        this.#follow(step);
        changes.push(step);
      }
    }
    return changes;
  }

  /** The value so far; `undefined` if there is none. The same object every time, which grows. */
  get value(): unknown {
    return this.#value;
  }

  /** How much of the value at a JSON pointer has arrived: `""` is all of it, `"/edits/0/path"` a part. */
  state(pointer = ""): JsonState {
    return this.use((inner) => inner.state(String(pointer))) as JsonState;
  }

  /** Why the text can no longer become a value, if so. */
  get error(): ReknitError | undefined {
    return this.#error;
  }

  /** The value so far as JSON text, with every digit; `undefined` if there is none. */
  get json(): string | undefined {
    return this.#alone ?? this.use((inner) => inner.text());
  }

  /** How many keys were repeated, and the byte of the first; the last value of a key counts. */
  get duplicateKeys(): { count: number; firstByte: number } | undefined {
    const found = this.use((inner) => inner.duplicateKeys());
    return found === undefined ? undefined : { count: found[0] ?? 0, firstByte: found[1] ?? 0 };
  }

  /** The value, if the text is one complete value; otherwise an error that says what is wrong. */
  finish(): unknown {
    if (this.#encoder.rest() !== "") this.use((inner) => inner.push("\ufffd"));
    const alone = this.use((inner) => inner.finish());
    if (alone !== undefined) {
      this.#alone = alone;
      this.#value = parse(alone, this.#numbers);
    }
    return this.#value;
  }

  #follow(change: JsonChange): void {
    if ("grew" in change) {
      this.#grow(change.grew.path, change.grew.text);
    } else if ("opened" in change) {
      const value = change.opened.value;
      // The change keeps its own empty value, so that it says the same later.
      this.#set(change.opened.path, typeof value === "string" ? value : Array.isArray(value) ? [] : {});
    } else if ("scalar" in change) {
      this.#set(change.scalar.path, change.scalar.value);
    }
  }

  #grow(pointer: string, text: string): void {
    this.#find(pointer);
    const before = pointer === "" ? this.#value : own(this.#parent, this.#key);
    this.#put(typeof before === "string" ? before + text : text);
  }

  #set(pointer: string, value: unknown): void {
    if (typeof value === "object" && value !== null && this.#parentPointer?.startsWith(pointer)) {
      // A repeated key: what was found below the old value is void.
      this.#parentPointer = undefined;
      this.#pointer = "";
    }
    this.#find(pointer);
    this.#put(value);
  }

  /** Replaces the value that was found. */
  #put(value: unknown): void {
    if (this.#pointer === "") {
      this.#value = value;
    } else if (this.#parent !== undefined) {
      // A member that was replaced within the same piece may have no container any more.
      assign(this.#parent, this.#key, value);
    }
  }

  /** Finds the container and the key of the value at a pointer. */
  #find(pointer: string): void {
    if (this.#pointer === pointer) return;
    this.#pointer = pointer;
    const end = pointer.lastIndexOf("/");
    this.#key = unescaped(pointer.slice(end + 1));
    const parentPointer = pointer.slice(0, end);
    if (this.#parentPointer === parentPointer) return;
    let value: unknown = this.#value;
    if (parentPointer !== "") {
      for (const step of parentPointer.slice(1).split("/")) value = own(value, unescaped(step));
    }
    this.#parent = typeof value === "object" && value !== null ? (value as Container) : undefined;
    this.#parentPointer = parentPointer;
  }
}

/** A member that the text put there: an object inherits others. */
function own(container: unknown, key: string): unknown {
  if (typeof container !== "object" || container === null || !Object.hasOwn(container, key)) return undefined;
  return (container as Record<string, unknown>)[key];
}

function unescaped(step: string): string {
  return step.includes("~") ? step.replaceAll("~1", "/").replaceAll("~0", "~") : step;
}

function assign(container: Container, key: string, value: unknown): void {
  if (key === "__proto__") {
    // A plain assignment would change the prototype.
    Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    (container as Record<string, unknown>)[key] = value;
  }
}
