// Where the bytes of a reply come from.

import { bytesIn } from "./bytes.js";
import { described } from "./errors.js";

/** An event that an SDK has parsed. */
type SdkEvent = object;

/** Something that a reply can be read from. */
export type Source =
  | Response
  | Blob
  | ReadableStream<Uint8Array | string>
  | AsyncIterable<Uint8Array | string | SdkEvent>
  | Iterable<Uint8Array | string | SdkEvent>
  | Uint8Array
  | ArrayBuffer
  | ArrayBufferView;

/** The pieces of a source, one after the other. */
export interface Pieces {
  next(): Promise<Uint8Array | string | undefined>;
  /** Nobody wants the rest. */
  cancel(reason: unknown): Promise<void>;
}

const WHAT = "a Response, a ReadableStream, an async iterable of bytes or of an SDK's events, or bytes";

/** The pieces of a source; `what` reads it. */
export function piecesOf(source: unknown, what: string): Pieces {
  const bytes = bytesIn(source);
  if (bytes !== undefined) return fromIterator([bytes].values(), what);
  if (typeof source === "object" && source !== null) {
    const { body, bodyUsed, getReader, stream, then } = source as Partial<Response & ReadableStream & Blob & Promise<unknown>>;
    if (typeof bodyUsed === "boolean") {
      if (bodyUsed) throw new TypeError(`the body of the response was read before: give ${what} the response first`);
      return body === null || body === undefined ? fromIterator([].values(), what) : piecesOf(body, what);
    }
    if (typeof getReader === "function") return fromStream(source as ReadableStream, what);
    if (typeof then === "function") throw new TypeError(`${what} takes ${WHAT}, not a promise of one: await it first`);
    if (Symbol.asyncIterator in source) {
      return fromIterator((source as AsyncIterable<unknown>)[Symbol.asyncIterator](), what);
    }
    if (Symbol.iterator in source) return fromIterator((source as Iterable<unknown>)[Symbol.iterator](), what);
    if (typeof stream === "function") return piecesOf((source as Blob).stream(), what);
  }
  const advice = typeof source === "string" ? ": fetch the address first, or encode the text" : "";
  throw new TypeError(`${what} takes ${WHAT}, not ${described(source)}${advice}`);
}

function fromStream(stream: ReadableStream, what: string): Pieces {
  if (stream.locked) throw new TypeError(`the stream is locked to another reader: give ${what} a stream of its own`);
  const reader = stream.getReader();
  return {
    async next() {
      const { done, value } = await reader.read();
      return done ? undefined : piece(value, what);
    },
    cancel: (reason) => reader.cancel(reason),
  };
}

function fromIterator(iterator: Iterator<unknown> | AsyncIterator<unknown>, what: string): Pieces {
  return {
    async next() {
      const { done, value } = await iterator.next();
      return done === true ? undefined : piece(value, what);
    },
    async cancel() {
      await iterator.return?.();
    },
  };
}

/** What an element of a source adds to the stream. */
function piece(value: unknown, what: string): Uint8Array | string {
  if (typeof value === "string") return value;
  const bytes = bytesIn(value);
  if (bytes !== undefined) return bytes;
  if (typeof value === "object" && value !== null) return eventText(value);
  throw new TypeError(`the source of ${what} gave ${described(value)}, not bytes, a string or an event`);
}

/** An event that an SDK has parsed, as the provider sent it. */
function eventText(event: object): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

/** What a provider said in an error that an SDK throws instead of returning an event; `undefined` if nothing. */
export function eventOfError(error: unknown): string | undefined {
  const body = (error as { error?: unknown } | undefined)?.error;
  if (typeof body !== "object" || body === null) return undefined;
  // Anthropic's SDK keeps the whole event, OpenAI's the `error` in it.
  return eventText((body as { type?: unknown }).type === "error" ? body : { error: body });
}
