// The calls and thinking in a model's text, all at once.

import { Encoder, type Piece } from "./bytes.js";
import { Handle } from "./engine.js";
import { described } from "./errors.js";
import type { TextBlocks } from "./forms.js";
import { numbersIn, parse } from "./json.js";
import { type Bindings, engine } from "./modules/reply.js";
import type { TextOptions } from "./reply.js";
import { withNamedBytes } from "./units.js";

class Blocks extends Handle<InstanceType<Bindings["TextBlocks"]>> {
  constructor(options: string) {
    super(engine, engine.call((bindings) => new bindings.TextBlocks(options)));
  }

  of(pieces: readonly Uint8Array[]): string {
    return this.use((inner) => {
      for (const piece of pieces) inner.push(piece);
      return inner.finish();
    });
  }
}

/** The blocks of a text, and the profile that they were found with. */
export type ToolsResult = TextBlocks & { profile?: string; why?: string };

/**
 * The text, thinking and calls that a model wrote into its text; what `reknit tools --json` prints.
 *
 * Without a profile or a grammar, the one that fits best is used; `why` says what shows that.
 */
export function tools(text: Piece | readonly Piece[], options: TextOptions = {}): ToolsResult {
  const { profile, numbers, ...rest } = options;
  const checked = numbersIn(numbers);
  const encoder = new Encoder();
  const given = Array.isArray(text) ? (text as readonly Piece[]) : [text as Piece];
  const pieces = given.map((piece) => encoder.bytes(piece, "tools"));
  // Half of a character that was never completed.
  if (encoder.rest() !== "") pieces.push(encoder.bytes("\ufffd", "tools"));
  if (profile !== undefined && typeof profile !== "string") {
    throw new TypeError(`\`profile\` is a name, not ${described(profile)}`);
  }
  const isNamed = profile !== undefined && profile !== "auto";
  const found = isNamed ? { profile } : rest.grammar === undefined ? detected(pieces, rest.tools) : {};
  const blocks = new Blocks(JSON.stringify({ ...rest, ...("profile" in found ? { profile: found.profile } : {}) }));
  try {
    return { ...withNamedBytes(parse<TextBlocks>(blocks.of(pieces), checked)), ...found };
  } finally {
    blocks.dispose();
  }
}

function detected(pieces: readonly Uint8Array[], tools: unknown): { profile: string; why: string } {
  const text = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    text.set(piece, at);
    at += piece.length;
  }
  const json = tools === undefined ? "" : JSON.stringify(tools);
  return engine.call((bindings) => JSON.parse(bindings.detectProfile(text, json)) as { profile: string; why: string });
}
