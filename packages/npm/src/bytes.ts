// Pieces of input: bytes, or text that is cut anywhere.

import { described } from "./errors.js";

/** A piece of a stream. */
export type Piece = Uint8Array | ArrayBuffer | ArrayBufferView | string;

/** The bytes of a piece that is not a string; `undefined` if it is not a piece. */
export function bytesIn(piece: unknown): Uint8Array | undefined {
  if (piece instanceof Uint8Array) return piece;
  if (ArrayBuffer.isView(piece)) return new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength);
  if (isBuffer(piece)) return new Uint8Array(piece);
  return undefined;
}

/** An ArrayBuffer, also one of another window. */
function isBuffer(value: unknown): value is ArrayBuffer {
  const tag = Object.prototype.toString.call(value);
  return tag === "[object ArrayBuffer]" || tag === "[object SharedArrayBuffer]";
}

/** The bytes of a text in Base64. */
export function decoded(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

const encoder = new TextEncoder();

/** Texts to bytes, where a character may be cut in two. */
export class Encoder {
  /** The first half of a surrogate pair. */
  #half = "";

  /** The bytes of a piece; `what` takes it. */
  bytes(piece: Piece, what: string): Uint8Array {
    if (typeof piece === "string") return encoder.encode(this.text(piece));
    const bytes = bytesIn(piece);
    if (bytes === undefined) {
      throw new TypeError(`${what} takes bytes (Uint8Array, ArrayBuffer) or a string, not ${described(piece)}`);
    }
    return bytes;
  }

  /** A text that can be encoded now. */
  text(piece: string): string {
    const text = this.#half + piece;
    const last = text.charCodeAt(text.length - 1);
    const isHalf = last >= 0xd800 && last <= 0xdbff;
    this.#half = isHalf ? text.slice(-1) : "";
    return isHalf ? text.slice(0, -1) : text;
  }

  /** What is left at the end. */
  rest(): string {
    const rest = this.#half;
    this.#half = "";
    return rest;
  }
}
