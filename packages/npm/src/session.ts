// What a person sees of a session, and what the model gets next: what `reknit/session` exports, wherever it runs.

import { Handle } from "./engine.js";
import { described } from "./errors.js";
import type { AgentEvent, Chunk, ChunkChange, Dialect, Diagnostic, Entry, Repair, Step, TranscriptState } from "./forms.js";
import { type Bindings, engine } from "./modules/session.js";
import type { Limits } from "./reply.js";
import { ChunkUnits } from "./units.js";

export type { ModuleSource } from "./engine.js";
export { type ErrorKind, ReknitError } from "./errors.js";
export type * from "./forms.js";
export { initSync, ready } from "./modules/session.js";
export type { Limits } from "./reply.js";

export interface FoldOptions<Saved> {
  /** What to continue from, as it was saved. */
  from?: Saved | string;
  limits?: Limits;
}

/** The chunks of a message, and what was wrong with its events. */
export interface ChunksState {
  chunks: Chunk[];
  diagnostics: Diagnostic[];
  diagnostics_omitted?: number;
}

/**
 * Agent events to the chunks that a person sees, event by event.
 *
 * Save `json` at any time, and continue with `new Chunks({ from: saved })`.
 */
export class Chunks extends Handle<InstanceType<Bindings["Chunks"]>> {
  readonly #units = new ChunkUnits();

  constructor(options: FoldOptions<ChunksState> = {}) {
    const { from, limits = {} } = options;
    super(engine, engine.call((bindings) => new bindings.Chunks(text(from, "`from`"), JSON.stringify(limits))));
    if (from !== undefined) this.#units.take(0, this.list);
  }

  /** Takes an event, as an object or as its line of JSON; returns what it changed. */
  append(event: AgentEvent | string): ChunkChange {
    const change = JSON.parse(this.appendLine(event)) as ChunkChange;
    this.#units.convert(0, change);
    return change;
  }

  /** The same, as the line that `reknit chunks --ndjson` prints, to send elsewhere. */
  appendLine(event: AgentEvent | string): string {
    const line = text(event, "an event");
    return this.use((inner) => inner.append(line));
  }

  /** The chunks. Asking after every event costs all of them each time: follow the changes instead. */
  get list(): Chunk[] {
    return this.state.chunks;
  }

  get state(): ChunksState {
    return JSON.parse(this.json) as ChunksState;
  }

  /** The chunks and diagnostics as JSON text, with every digit. */
  get json(): string {
    return this.use((inner) => inner.json());
  }
}

/** The chunks that a person sees of some events; what `reknit chunks --json` prints. */
export function chunks(events: Iterable<AgentEvent | string>): ChunksState {
  if (typeof events !== "object" || events === null || !(Symbol.iterator in events)) {
    throw new TypeError(`chunks takes an iterable of events, not ${described(events)}`);
  }
  const folded = new Chunks();
  try {
    for (const event of events) folded.appendLine(event);
    return folded.state;
  } finally {
    folded.dispose();
  }
}

/**
 * The messages of a session, from the entries of its log.
 *
 * Save `json` at any time, and continue with `new Transcript({ from: saved })`.
 */
export class Transcript extends Handle<InstanceType<Bindings["Transcript"]>> {
  readonly #units = new ChunkUnits();
  /** How many messages there are. */
  #count = 0;

  constructor(options: FoldOptions<TranscriptState> = {}) {
    const { from, limits = {} } = options;
    super(engine, engine.call((bindings) => new bindings.Transcript(text(from, "`from`"), JSON.stringify(limits))));
    if (from === undefined) return;
    for (const message of this.messages) this.#open(message.chunks);
  }

  /** Takes an entry of the log; returns what it changed, or `undefined` if it was taken before. */
  append(entry: Entry | string): Step | undefined {
    const line = this.appendLine(entry);
    return line === undefined ? undefined : this.#converted(JSON.parse(line) as Step);
  }

  /** The same, as a line of JSON, to send elsewhere. */
  appendLine(entry: Entry | string): string | undefined {
    const line = text(entry, "an entry");
    return this.use((inner) => inner.append(line));
  }

  /** Follows a line that `appendLine` of another transcript returned. */
  followLine(line: string): void {
    if (typeof line !== "string") throw new TypeError(`followLine takes a line of JSON, not ${described(line)}`);
    this.use((inner) => inner.follow(line));
    this.#converted(JSON.parse(line) as Step);
  }

  /** The messages. Asking after every entry costs all of them each time: follow the steps instead. */
  get messages(): TranscriptState["messages"] {
    return this.state.messages;
  }

  get state(): TranscriptState {
    return JSON.parse(this.json) as TranscriptState;
  }

  /** The transcript as JSON text, to save it. */
  get json(): string {
    return this.use((inner) => inner.json());
  }

  #converted(step: Step): Step {
    const { opened, effect } = step;
    if (opened !== undefined) this.#open(opened.chunks);
    if ("chunk" in effect) this.#units.convert(effect.chunk.message, effect.chunk.change);
    return step;
  }

  #open(list: Chunk[]): void {
    this.#units.take(this.#count, list);
    this.#count += 1;
  }
}

/** The messages of the next request, and what had to be repaired in the log for it. */
export interface NextRequest {
  /** The messages in the provider's form. */
  messages: unknown[];
  repairs: Repair[];
  /** The messages as JSON text, with every digit. */
  messagesText: string;
}

/** A session's log to the messages of its next request. */
export function history(dialect: Dialect, entries: Iterable<Entry | string>): NextRequest {
  if (typeof dialect !== "string") throw new TypeError(`the dialect is a name, not ${described(dialect)}`);
  if (typeof entries !== "object" || entries === null || !(Symbol.iterator in entries)) {
    throw new TypeError(`history takes an iterable of entries, not ${described(entries)}`);
  }
  const log = `[${Array.from(entries, (entry) => text(entry, "an entry")).join(",")}]`;
  const request = engine.call((bindings) => bindings.historyRequest(dialect, log));
  // The engine's text is `{"messages":[…],"repairs":[…]}`.
  const { messages, repairs } = JSON.parse(request) as { messages: unknown[]; repairs: Repair[] };
  const end = request.lastIndexOf(`,"repairs":${JSON.stringify(repairs)}}`);
  return { messages, repairs, messagesText: request.slice('{"messages":'.length, end) };
}

/** A value as JSON text; a string is one already. */
function text(value: unknown, what: string): string {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) {
    throw new TypeError(`${what} is an object or a line of JSON, not ${described(value)}`);
  }
  return JSON.stringify(value);
}

