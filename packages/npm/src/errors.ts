/**
 * What went wrong, for programs.
 *
 * - `not-ready`: a class was used before `await ready()` or `initSync(module)` of its entry point
 * - `panicked`: the engine failed; everything made before has to be made again
 * - `limit-reached`: a limit in `limits` was reached
 * - `damaged-frame`: a checksum in the stream is wrong
 * - `unknown-dialect`, `wrong-dialect`: the input is not a stream that is known, or not the one that was named
 * - `malformed-json`, `cut-json`, `empty-json`: a text is not JSON, or not all of it
 * - `malformed-grammar`: a grammar cannot be used
 * - `malformed-event`: an event, an entry or a step cannot be read
 * - `misfit`: an entry or a step is not the next one
 * - `no-requests`: requests in this dialect are not supported
 */
export type ErrorKind =
  | "not-ready"
  | "panicked"
  | "limit-reached"
  | "damaged-frame"
  | "unknown-dialect"
  | "wrong-dialect"
  | "malformed-json"
  | "cut-json"
  | "empty-json"
  | "malformed-grammar"
  | "malformed-event"
  | "misfit"
  | "no-requests";

/** Something is wrong with what was read. A mistake in how the package is called is a `TypeError`. */
export class ReknitError extends Error {
  override readonly name = "ReknitError";
  /** What went wrong, for programs. */
  readonly kind: ErrorKind;
  /** What to do about it. */
  readonly hint: string;

  constructor(kind: ErrorKind, message: string, hint: string) {
    super(`${message} (${hint})`);
    this.kind = kind;
    this.hint = hint;
  }
}

/** An error as the engine writes it. */
export interface Failure {
  kind: ErrorKind | "usage";
  message: string;
  hint: string;
}

/** The error to throw for a failure. */
export function errorOf({ kind, message, hint }: Failure): Error {
  return kind === "usage" ? new TypeError(`${message} (${hint})`) : new ReknitError(kind, message, hint);
}

/** A value in the words of an error. */
export function described(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") {
    const name = value.constructor?.name;
    return name === undefined || name === "Object" ? "a plain object" : `an object of class ${name}`;
  }
  if (typeof value === "string") return `the string ${JSON.stringify(value.slice(0, 40))}`;
  return value === undefined ? "undefined" : `a ${typeof value}`;
}
