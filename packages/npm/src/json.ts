// JSON from the engine to values.

import { described } from "./errors.js";

/** What a number becomes: a `number`, or a `bigint` if it is an integer that a `number` cannot hold exactly. */
export type Numbers = "number" | "bigint";

/** Checks the option. */
export function numbersIn(value: unknown): Numbers {
  if (value === undefined || value === "number") return "number";
  if (value === "bigint") return "bigint";
  throw new TypeError(`\`numbers\` is "number" or "bigint", not ${described(value)}`);
}

/** Something that may be an integer of at least 16 digits. */
const LONG = /\d{16}/;

/** The value of a JSON text that is known to be valid. */
export function parse<T>(text: string, numbers: Numbers): T {
  if (numbers === "number" || !LONG.test(text)) return JSON.parse(text) as T;
  return JSON.parse(marked(text), revive) as T;
}

/** A string or a number in a JSON text. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** What the strings that stand for integers begin with, and all other strings that begin like that. */
const MARK = "\u0000";

/** The same text, with integers that are too long as marked strings. */
function marked(text: string): string {
  return text.replace(TOKEN, (token, at: number) => {
    // The engine writes no space after a key.
    if (text[at + token.length] === ":") return token;
    // A NUL is always escaped.
    if (token.startsWith('"\\u0000')) return `"\\u0000${token.slice(1)}`;
    if (token.startsWith('"') || !/^-?\d+$/.test(token)) return token;
    return Number.isSafeInteger(Number(token)) ? token : `"\\u0000${token}"`;
  });
}

function revive(_key: string, value: unknown): unknown {
  if (typeof value !== "string" || !value.startsWith(MARK)) return value;
  const rest = value.slice(1);
  return rest.startsWith(MARK) ? rest : BigInt(rest);
}
