// Offsets: the engine counts bytes, a string of JavaScript has UTF-16 units.

import type * as forms from "./forms.js";

/** A diagnostic of the engine, before its offsets are named. */
interface Noticed {
  at?: number;
  offset?: number;
}

/** Names the byte offsets of a diagnostic so. */
export function named<T>(diagnostic: T): T {
  const { at, offset, ...rest } = diagnostic as Noticed;
  const place = at === undefined ? {} : { atByte: at };
  return { ...rest, ...place, ...(offset === undefined ? {} : { offsetByte: offset }) } as T;
}

/** Names the byte offsets of a message's diagnostics so. */
export function withNamedBytes<T extends { diagnostics: forms.Diagnostic[] }>(message: T): T {
  message.diagnostics = message.diagnostics.map(named);
  return message;
}

/** What a text is called: the number of a block is enough for most. */
type Name = string | number;

/** How long each text is that grows. */
class Lengths {
  readonly #units = new Map<Name, number>();

  /** A text with this name starts. */
  set(name: Name, text: string): void {
    this.#units.set(name, text.length);
  }

  /** Where `text` goes in the text with this name, which has `byte` bytes before it. */
  add(name: Name, byte: number, text: string): number {
    const unit = byte === 0 ? 0 : (this.#units.get(name) ?? 0);
    this.#units.set(name, unit + text.length);
    return unit;
  }

  clear(): void {
    this.#units.clear();
  }
}

/** Offsets in the changes of a message. */
export class MessageUnits {
  readonly #lengths = new Lengths();

  /** Changes the offsets in place. */
  convert(changes: forms.Change[]): forms.Change[] {
    for (const change of changes) {
      if ("grew" in change) {
        const grew = change.grew;
        grew.at = this.#lengths.add(typeof grew.block === "number" ? grew.block : `${grew.block}`, grew.at, grew.text);
      } else if ("signed" in change) {
        const signed = change.signed;
        signed.at = this.#lengths.add(`s${signed.block}`, signed.at, signed.signature);
      } else if ("started" in change) {
        this.#lengths.clear();
      } else if ("noticed" in change) {
        change.noticed = named(change.noticed);
      } else if ("closed" in change && change.closed.notice !== undefined) {
        change.closed.notice = named(change.closed.notice);
      } else if ("ended" in change && change.ended.notice !== undefined) {
        change.ended.notice = named(change.ended.notice);
      }
    }
    return changes;
  }
}

/** Offsets in the changes of chunks; `message` is the number of their message. */
export class ChunkUnits {
  readonly #lengths = new Lengths();

  /** Takes chunks that are there before the first change. */
  take(message: number, chunks: forms.Chunk[]): void {
    for (const [at, chunk] of chunks.entries()) this.#open(`${message}.${at}`, chunk);
  }

  /** Changes the offsets in place. */
  convert(message: number, change: forms.ChunkChange): void {
    if ("opened" in change) {
      this.#open(`${message}.${change.opened.chunk}`, change.opened.value);
    } else if ("called" in change) {
      this.#call(`${message}.${change.called.chunk}.${change.called.call}`, change.called.value);
    } else if ("grew" in change) {
      const grew = change.grew;
      grew.at = this.#lengths.add(`${message}.${grew.chunk}`, grew.at, grew.text);
    } else if ("input_grew" in change) {
      const grew = change.input_grew;
      grew.at = this.#lengths.add(`${message}.${grew.chunk}.${grew.call}.input`, grew.at, grew.text);
    } else if ("wrote" in change) {
      const wrote = change.wrote;
      const name = `${message}.${wrote.chunk}.${wrote.call}.${wrote.stream}`;
      wrote.at = this.#lengths.add(name, wrote.at, wrote.text);
    } else if ("previewed" in change) {
      const shown = change.previewed;
      shown.at = this.#lengths.add(`${message}.${shown.chunk}.${shown.call}.preview`, shown.at, shown.text);
    }
  }

  #open(name: string, chunk: forms.Chunk): void {
    if (chunk.type === "text" || chunk.type === "thinking") this.#lengths.set(name, chunk.text);
    if (chunk.type !== "tool-batch") return;
    for (const [at, call] of chunk.calls.entries()) this.#call(`${name}.${at}`, call);
  }

  #call(name: string, call: forms.ChunkCall): void {
    if (call.inputText !== undefined) this.#lengths.set(`${name}.input`, call.inputText);
    if (call.preview !== undefined) this.#lengths.set(`${name}.preview`, call.preview.text);
    if (call.shellOutput === undefined) return;
    this.#lengths.set(`${name}.stdout`, call.shellOutput.stdout);
    this.#lengths.set(`${name}.stderr`, call.shellOutput.stderr);
  }
}
