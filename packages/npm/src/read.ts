// The content of a reply, as one async iterator.

import { described } from "./errors.js";
import type { Message, Slot } from "./forms.js";
import { parse } from "./json.js";
import { ready } from "./modules/reply.js";
import { type CallItem, finishItems, type PlainCall, pushItems, Reply, type ReplyOptions, withInput } from "./reply.js";
import { eventOfError, type Pieces, piecesOf, type Source } from "./source.js";
import { withNamedBytes } from "./units.js";

export interface ReadOptions extends Omit<ReplyOptions, "join"> {
  /** Ends the reading: the source is cancelled, and the last item is an `end` whose message is cut. */
  signal?: AbortSignal;
}

/** More text. */
export interface TextItem {
  type: "text";
  block: Slot;
  text: string;
}

/** More of the model's thinking. */
export interface ThinkingItem {
  type: "thinking";
  block: Slot;
  text: string;
}

/** The end of a message. */
export interface EndItem {
  type: "end";
  /** `stopped`: it is complete. `cut`: the stream ended before. `failed`: the provider reported an error. */
  status: Message["status"];
  message: Message;
  /** Why it ended early, if the source or the engine said so: what the source threw, or the reason of an abort. */
  error?: unknown;
}

/** A part of a reply. */
export type Item = TextItem | ThinkingItem | CallItem | EndItem;

type PlainItem = TextItem | ThinkingItem | PlainCall | { type: "end"; message: Message };

/**
 * Reads a reply: text and thinking while they arrive, the calls that may be run, and the end.
 *
 * ```js
 * for await (const item of read(await fetch(url, request))) {
 *   if (item.type === "text") page.append(item.text);
 *   if (item.type === "call") await run(item.name, item.input);
 *   if (item.type === "end" && item.status !== "stopped") warn(item.status, item.error);
 * }
 * ```
 *
 * However a reply ends, its last item is an `end`; a connection that breaks is no exception.
 */
export function read(source: Source, options: ReadOptions = {}): Reading {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`the options of read are an object, not ${described(options)}`);
  }
  const { signal, ...rest } = options;
  if (signal !== undefined && typeof signal.addEventListener !== "function") {
    throw new TypeError(`\`signal\` is an AbortSignal, not ${described(signal)}`);
  }
  return new Reading(piecesOf(source, "read"), rest, signal);
}

/** The items of a reply; made by `read`. */
export class Reading implements AsyncIterableIterator<Item, undefined> {
  readonly #pieces: Pieces;
  readonly #options: ReplyOptions;
  readonly #signal: AbortSignal | undefined;
  readonly #items: AsyncGenerator<Item, undefined>;
  #reply: Reply | undefined;
  #isStarted = false;

  /** @internal */
  constructor(pieces: Pieces, options: ReplyOptions, signal: AbortSignal | undefined) {
    this.#pieces = pieces;
    this.#options = options;
    this.#signal = signal;
    this.#items = this.#run();
  }

  /** The reply, as far as it was read; `undefined` before the first item. */
  get reply(): Reply | undefined {
    return this.#reply;
  }

  /** The current message, or the last one; `undefined` before the first item. */
  get message(): Message | undefined {
    return this.#reply?.message;
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    this.#isStarted = true;
    return this.#items.next();
  }

  /** Stops reading, and cancels the source. */
  async return(): Promise<IteratorResult<Item, undefined>> {
    // A generator that was never asked for anything has nothing to clean up.
    if (!this.#isStarted) await this.#pieces.cancel(undefined).catch(() => undefined);
    this.#isStarted = true;
    return this.#items.return(undefined);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async *#run(): AsyncGenerator<Item, undefined> {
    await ready();
    const reply = new Reply(this.#options);
    this.#reply = reply;
    const stop = new Stop(this.#signal);
    let error: unknown;
    let isOver = false;
    try {
      for (;;) {
        let piece: Uint8Array | string | undefined;
        try {
          piece = await stop.or(this.#pieces.next());
        } catch (reason) {
          if (reason instanceof TypeError && !stop.isRequested && isMistake(reason)) throw reason;
          error = reason;
          const said = stop.isRequested ? undefined : eventOfError(reason);
          if (said !== undefined) yield* this.#read(reply[pushItems](said), error);
          break;
        }
        if (piece === undefined) {
          isOver = true;
          break;
        }
        yield* this.#read(reply[pushItems](piece), undefined);
        // The rest is refused, so nobody has to send it.
        if (reply.error !== undefined) break;
      }
      const last = reply[finishItems]();
      yield* this.#read(last, error ?? reply.error);
      return undefined;
    } finally {
      stop.forget();
      if (!reply.isFinished) reply[finishItems]();
      if (!isOver) await this.#pieces.cancel(error).catch(() => undefined);
    }
  }

  *#read(items: string, error: unknown): Generator<Item> {
    if (items === "[]") return;
    const numbers = this.#options.numbers ?? "number";
    for (const item of parse<PlainItem[]>(items, numbers)) {
      if (item.type === "call") {
        yield withInput(item, numbers);
      } else if (item.type === "end") {
        const message = withNamedBytes(item.message);
        yield { type: "end", status: message.status, message, ...(error === undefined ? {} : { error }) };
      } else {
        yield item;
      }
    }
  }
}

/** Whether the source was wrong, and not the connection; `fetch` throws a TypeError for that too. */
function isMistake(error: TypeError): boolean {
  return error.message.startsWith("the source of read gave ");
}

/** Waits for a source, or until a signal ends the waiting. */
class Stop {
  readonly #signal: AbortSignal | undefined;
  /** Ends the current waiting. */
  #end: ((reason: unknown) => void) | undefined;
  readonly #listener = () => this.#end?.(this.#signal?.reason);

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    signal?.addEventListener("abort", this.#listener);
  }

  get isRequested(): boolean {
    return this.#signal?.aborted ?? false;
  }

  or<T>(work: Promise<T>): Promise<T> {
    if (this.#signal === undefined) return work;
    return new Promise((resolve, reject) => {
      this.#end = reject;
      if (this.isRequested) this.#listener();
      work.then(resolve, reject);
    });
  }

  forget(): void {
    this.#signal?.removeEventListener("abort", this.#listener);
  }
}
