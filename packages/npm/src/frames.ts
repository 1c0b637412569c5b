// Bytes to frames.

import { Encoder, type Piece } from "./bytes.js";
import { Handle } from "./engine.js";
import type { Found, Framing } from "./forms.js";
import { type Bindings, engine, ready } from "./modules/reply.js";
import type { Limits } from "./reply.js";
import { piecesOf, type Source } from "./source.js";
import { named } from "./units.js";

export interface FramesOptions {
  /** How the stream is divided; by default that is detected. */
  framing?: Framing | "auto";
  /** Follow the standard for server-sent events to the letter, also at the end of the stream. */
  strict?: boolean;
  limits?: Limits;
}

/** Divides a stream into frames: server-sent events, lines, elements of an array, messages of AWS. */
export class Frames extends Handle<InstanceType<Bindings["Frames"]>> {
  readonly #encoder = new Encoder();

  constructor(options: FramesOptions = {}) {
    super(engine, engine.call((bindings) => new bindings.Frames(JSON.stringify(options))));
  }

  /** Reads the next piece of the stream; returns what was found. */
  push(piece: Piece): Found[] {
    const bytes = this.#encoder.bytes(piece, "push");
    return found(this.use((inner) => inner.push(bytes)));
  }

  /** Ends the stream; returns what was found last. */
  finish(): Found[] {
    // Half of a character that was never completed.
    const last = this.#encoder.rest() === "" ? [] : this.push("\ufffd");
    return [...last, ...found(this.use((inner) => inner.finish()))];
  }

  /** How the stream is divided, once that is known. */
  get framing(): Framing | undefined {
    return this.use((inner) => inner.framing()) as Framing | undefined;
  }
}

/** The frames of a stream, as one async iterator. */
export async function* frames(source: Source, options: FramesOptions = {}): AsyncGenerator<Found, undefined> {
  const pieces = piecesOf(source, "frames");
  await ready();
  const decoder = new Frames(options);
  let isOver = false;
  try {
    for (;;) {
      const piece = await pieces.next();
      if (piece === undefined) break;
      yield* decoder.push(piece);
    }
    isOver = true;
    yield* decoder.finish();
    return undefined;
  } finally {
    decoder.dispose();
    if (!isOver) await pieces.cancel(undefined).catch(() => undefined);
  }
}

function found(text: string): Found[] {
  const all = JSON.parse(text) as Found[];
  return all.map((one) => (one.type === "problem" ? named(one) : one));
}
