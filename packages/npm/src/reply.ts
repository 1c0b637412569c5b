// A provider's stream, or a model's text, to messages.

import { Encoder, type Piece } from "./bytes.js";
import { Handle } from "./engine.js";
import { described, errorOf, type Failure, type ReknitError } from "./errors.js";
import type { Change, Dialect, Message } from "./forms.js";
import { type Numbers, numbersIn, parse } from "./json.js";
import { type Bindings, engine } from "./modules/reply.js";
import { MessageUnits, withNamedBytes } from "./units.js";

/** How much of an input is accepted; docs.rs/reknit describes each at `Limits`. */
export interface Limits {
  frameBytes?: number;
  replyBytes?: number;
  values?: number;
  jsonDepth?: number;
  blocks?: number;
  diagnostics?: number;
  textBytes?: number;
  paramBytes?: number;
  fileBytes?: number;
}

/** A tool, as it is given to a provider; its schema gives the values of a call in text their types. */
export interface ToolDefinition {
  name: string;
  parameters?: unknown;
}

/** How calls and thinking are written into a text. */
export interface TextOptions {
  /** The name of a profile; `profiles()` lists them. */
  profile?: string;
  /** A grammar of your own, in TOML, instead of a profile. */
  grammar?: string;
  /** The text starts inside the thinking, because the marker that opens it is in the prompt. */
  thinking?: boolean;
  /** The tools that there are. */
  tools?: readonly ToolDefinition[];
  limits?: Limits;
  /** What an integer becomes that a `number` cannot hold exactly; by default it is rounded. */
  numbers?: Numbers;
}

/** How changes are returned. */
export interface ChangeOptions {
  /** `false` keeps each growth of a block as it came; by default the growth in one push is one change. */
  join?: boolean;
}

export interface ReplyOptions extends TextOptions, ChangeOptions {
  /** The dialect of the provider; by default it is detected. */
  dialect?: Dialect | "auto";
}

export interface ToolsOptions extends TextOptions, ChangeOptions {}

/** A call that may be run: its arguments are complete, and so is its message. */
export interface CallItem {
  type: "call";
  /** The id that its result has to refer to. */
  id: string;
  name: string;
  /** The arguments, as `JSON.parse` returns them. */
  input: unknown;
  /** The arguments as JSON text, with every digit. */
  inputText: string;
}

/** A call as the engine writes it. */
export type PlainCall = Omit<CallItem, "input">;

export function withInput(plain: PlainCall, numbers: Numbers): CallItem {
  const { inputText, ...rest } = plain;
  return { ...rest, input: parse(inputText, numbers), inputText };
}

/** Reads the items of a piece, for `read`. */
export const pushItems = Symbol("pushItems");
/** Reads the last items, for `read`. */
export const finishItems = Symbol("finishItems");

type Inner = InstanceType<Bindings["Reply"]>;

/** What is known at the end of the input, when the engine's memory is freed. */
interface Settled {
  json: string;
  all: string;
  calls: string;
  dialect: string | undefined;
  error: string | undefined;
}

/** Messages while they arrive. */
abstract class Messages extends Handle<Inner> {
  readonly #encoder = new Encoder();
  readonly #units = new MessageUnits();
  readonly #numbers: Numbers;
  readonly #join: boolean;
  /** The message as an object, until it changes. */
  #message: Message | undefined;
  #settled: Settled | undefined;

  protected constructor(make: (bindings: Bindings, options: string) => Inner, options: ReplyOptions) {
    const { join = true, numbers, ...rest } = optionsIn(options);
    if (typeof join !== "boolean") throw new TypeError(`\`join\` is true or false, not ${described(join)}`);
    const checked = numbersIn(numbers);
    super(engine, engine.call((bindings) => make(bindings, JSON.stringify(rest))));
    this.#numbers = checked;
    this.#join = join;
  }

  /** Reads the next piece of the input, which may be cut anywhere; returns what it changed. */
  push(piece: Piece): Change[] {
    const bytes = this.#taken(piece);
    return this.#changes(this.use((inner) => inner.push(bytes, this.#join)));
  }

  /** Ends the input; returns what that changed. A message that is not over is cut. */
  finish(): Change[] {
    return this.#changes(this.#end((inner) => inner.finish(this.#join), (inner, rest) => inner.push(rest, this.#join)));
  }

  /** The same as `push`, as the lines that `reknit read --ndjson` prints, to send elsewhere. */
  pushLines(piece: Piece): string {
    const bytes = this.#taken(piece);
    return this.use((inner) => inner.pushLines(bytes, this.#join));
  }

  /** The same as `finish`, as lines. */
  finishLines(): string {
    return this.#end(
      (inner) => inner.finishLines(this.#join),
      (inner, rest) => inner.pushLines(rest, this.#join),
    );
  }

  /** The current message, or the last one. Asking after every piece costs the whole message each time. */
  get message(): Message {
    this.#message ??= withNamedBytes(parse<Message>(this.json, this.#numbers));
    return this.#message;
  }

  /** All messages of the input, in order. Most have one. */
  get messages(): Message[] {
    return parse<Message[]>(this.jsonOfAll, this.#numbers).map(withNamedBytes);
  }

  /** The current message as JSON text, with every digit: what `reknit read --json` prints. */
  get json(): string {
    return this.#settled?.json ?? this.use((inner) => inner.message());
  }

  /** All messages as JSON text: what `reknit read --all --json` prints. */
  get jsonOfAll(): string {
    return this.#settled?.all ?? this.use((inner) => inner.messages());
  }

  /** The calls of the current message that may be run; none before it is over. */
  get calls(): CallItem[] {
    const calls = this.#settled?.calls ?? this.use((inner) => inner.calls());
    return (JSON.parse(calls) as PlainCall[]).map((plain) => withInput(plain, this.#numbers));
  }

  /** Why the rest of the input was refused, if it was. What came before is in the message. */
  get error(): ReknitError | undefined {
    const error = this.#settled === undefined ? this.use((inner) => inner.error()) : this.#settled.error;
    return error === undefined ? undefined : (errorOf(JSON.parse(error) as Failure) as ReknitError);
  }

  /** The dialect, once it is known. */
  protected get found(): string | undefined {
    return this.#settled === undefined ? this.use((inner) => inner.dialect()) : this.#settled.dialect;
  }

  get numbers(): Numbers {
    return this.#numbers;
  }

  [pushItems](piece: Piece): string {
    const bytes = this.#taken(piece);
    return this.use((inner) => inner.pushItems(bytes));
  }

  [finishItems](): string {
    return this.#end((inner) => inner.finishItems(), (inner, rest) => inner.pushItems(rest));
  }

  /** Whether the input is over. */
  get isFinished(): boolean {
    return this.#settled !== undefined;
  }

  #taken(piece: Piece): Uint8Array {
    if (this.#settled !== undefined) {
      throw new TypeError(`this ${this.constructor.name} is finished: create a new one for the next input`);
    }
    this.#message = undefined;
    return this.#encoder.bytes(piece, "push");
  }

  /** Ends the input with one call of the engine, keeps what is known, and frees the engine's memory. */
  #end(finish: (inner: Inner) => string, push: (inner: Inner, rest: Uint8Array) => string): string {
    const rest = this.#encoder.rest();
    const last = rest === "" ? undefined : this.#taken("\ufffd");
    if (this.#settled !== undefined) this.#taken(new Uint8Array());
    this.#message = undefined;
    return this.use((inner) => {
      const before = last === undefined ? "" : push(inner, last);
      const text = joined(before, finish(inner));
      this.#settled = {
        json: inner.message(),
        all: inner.messages(),
        calls: inner.calls(),
        dialect: inner.dialect(),
        error: inner.error(),
      };
      this.dispose();
      return text;
    });
  }

  #changes(text: string): Change[] {
    return this.#units.convert(parse<Change[]>(text, this.#numbers));
  }
}

/** Two arrays as one, or lines one after the other. */
function joined(before: string, after: string): string {
  if (!before.startsWith("[") || before === "[]") return before === "[]" ? after : before + after;
  return after === "[]" ? before : `${before.slice(0, -1)},${after.slice(1)}`;
}

function optionsIn(options: unknown): ReplyOptions {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`the options are an object, not ${described(options)}`);
  }
  return options;
}

/**
 * Reads the messages in a provider's stream.
 *
 * ```js
 * await ready();
 * const reply = new Reply();
 * for await (const piece of response.body) {
 *   for (const change of reply.push(piece)) page.apply(change);
 * }
 * reply.finish();
 * console.log(reply.message.status);
 * ```
 */
export class Reply extends Messages {
  constructor(options: ReplyOptions = {}) {
    super((bindings, json) => new bindings.Reply(json), options);
  }

  /** The dialect, once it is known. */
  get dialect(): Dialect | undefined {
    return this.found as Dialect | undefined;
  }
}

/** Finds the calls and the thinking that a model writes into its text, while the text arrives. */
export class Tools extends Messages {
  constructor(options: ToolsOptions) {
    super((bindings, json) => bindings.Reply.ofText(json), options);
  }
}

/** The names of the profiles: how some thirty models write calls into their text. */
export function profiles(): string[] {
  return engine.call((bindings) => JSON.parse(bindings.profileNames()) as string[]);
}

/** A profile in TOML, to start a grammar of your own from. */
export function profileSource(name: string): string {
  return engine.call((bindings) => bindings.profileSource(String(name)));
}
