// The folders of `corpus/`, and how their inputs are cut.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = process.env.REKNIT_CORPUS;

/** One folder of the corpus. */
export class Case {
  constructor(folder, name) {
    this.folder = folder;
    this.name = name;
  }

  has(file) {
    return existsSync(join(this.folder, file));
  }

  text(file) {
    return readFileSync(join(this.folder, file), "utf8");
  }

  bytes(file) {
    return new Uint8Array(readFileSync(join(this.folder, file)));
  }

  lines(file) {
    return this.text(file).split("\n").filter((line) => line !== "");
  }

  /** The input, whatever the end of its name. */
  get input() {
    const [name] = readdirSync(this.folder).filter((file) => file.startsWith("input."));
    return this.bytes(name);
  }

  /** The files below one of its folders, by path. */
  files(folder) {
    const found = new Map();
    const below = join(this.folder, folder);
    if (!existsSync(below)) return found;
    for (const entry of readdirSync(below, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath ?? entry.path, entry.name);
      found.set(path.slice(below.length + 1), new Uint8Array(readFileSync(path)));
    }
    return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** The cases of a kind, `depth` folders below it. */
export function cases(kind, depth = 1) {
  let folders = [kind];
  for (let level = 0; level < depth; level += 1) {
    folders = folders.flatMap((folder) =>
      readdirSync(join(root, folder), { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map((entry) => `${folder}/${entry.name}`),
    );
  }
  folders.sort();
  assert.ok(folders.length > 10, `corpus/${kind} has ${folders.length} cases`);
  return folders.map((folder) => new Case(join(root, folder), folder));
}

export function corpusFile(path) {
  return readFileSync(join(root, path), "utf8");
}

/** Numbers that are the same in every run: SplitMix64. */
class Random {
  constructor(seed) {
    this.state = BigInt(seed);
  }

  below(bound) {
    const mask = (1n << 64n) - 1n;
    this.state = (this.state + 0x9e3779b97f4a7c15n) & mask;
    let mixed = this.state;
    mixed = ((mixed ^ (mixed >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
    mixed = ((mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn) & mask;
    return Number((mixed ^ (mixed >> 31n)) % BigInt(bound));
  }
}

/** How often each case is cut at random places. */
const RANDOM_CUTS = 3;

/** The ways in which an input is given: whole, unit by unit if it is short, and in random pieces. */
export function* cuts(input) {
  yield [input];
  if (input.length <= 2000) yield Array.from({ length: input.length }, (_, at) => input.slice(at, at + 1));
  for (let seed = 1; seed <= RANDOM_CUTS; seed += 1) yield randomPieces(input, seed);
}

/** An input, bytes or text, in pieces of random length, some of them empty. */
export function randomPieces(input, seed) {
  const random = new Random(seed);
  const longest = 2 + random.below(200);
  const pieces = [];
  for (let at = 0; at < input.length; ) {
    const end = Math.min(at + random.below(longest), input.length);
    pieces.push(input.slice(at, end));
    at = end;
  }
  return pieces;
}

/** A JSON text as the corpus has it: two spaces for each level. Numbers and strings stay as they are. */
export function pretty(json) {
  let out = "";
  let depth = 0;
  const line = () => `\n${"  ".repeat(depth)}`;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g)) {
    if (token === "{" || token === "[") {
      depth += 1;
      out += token + line();
    } else if (token === "}" || token === "]") {
      depth -= 1;
      const isEmpty = /[[{]\s*$/.test(out);
      out = isEmpty ? out.trimEnd() + token : out + line() + token;
    } else if (token === ",") {
      out += token + line();
    } else {
      out += token === ":" ? ": " : token;
    }
  }
  return `${out}\n`;
}
