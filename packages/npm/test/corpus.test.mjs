// The same corpus as everywhere: what comes out of the package is what the command line prints.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { isDeepStrictEqual } from "node:util";

import { Frames, PartialJson, ready, Reply, Tools, tools } from "reknit";
import { applyEdits, ready as readyForEdits } from "reknit/edits";
import { Chunks, chunks, history, ready as readyForSessions, Transcript } from "reknit/session";

import { cases, corpusFile, cuts, pretty } from "./corpus.mjs";

const counts = new Map();
/** A folder without files. */
const empty = mkdtempSync(join(tmpdir(), "reknit-npm-"));

/** Runs a check for each case of a kind, and counts them. */
function each(kind, depth, check) {
  const all = cases(kind, depth);
  for (const one of all) {
    try {
      check(one);
    } catch (error) {
      error.message = `corpus/${one.name}: ${error.message}`;
      throw error;
    }
  }
  counts.set(kind, all.length);
}

before(() => Promise.all([ready(), readyForEdits(), readyForSessions()]));

after(() => {
  rmSync(empty, { recursive: true });
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const parts = [...counts].map(([kind, count]) => `${kind} ${count}`).join(", ");
  console.log(`corpus: ${total} cases in the npm package: ${parts}`);
});

test("frames", () => {
  each("frame", 1, (one) => {
    const expected = one.text("frames.txt");
    for (const pieces of cuts(one.input)) {
      const decoder = new Frames();
      const found = [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.finish()];
      const lines = [...found.map(frameLine), `framing ${decoder.framing ?? "unknown"}`];
      assert.equal(`${lines.join("\n")}\n`, expected);
      decoder.dispose();
    }
  });
});

function frameLine(found) {
  if (found.type === "refused") return `error ${found.message}`;
  if (found.type === "problem") {
    return `problem ${found.kind} at ${found.atByte} in frame ${found.frame}: ${found.message}`;
  }
  const { number, type, startByte, endByte, data, event, id, retry } = found;
  let line = `frame ${number} ${type} ${startByte}..${endByte} ${JSON.stringify(data)}`;
  if (event !== undefined) line += ` event=${JSON.stringify(event)}`;
  if (id !== undefined) line += ` id=${JSON.stringify(id)}`;
  if (retry !== undefined) line += ` retry=${retry}`;
  return line;
}

test("wire", () => {
  each("wire", 2, (one) => {
    const dialect = one.name.split("/")[1];
    const message = one.text("message.json");
    const changes = one.text("changes.ndjson");
    for (const pieces of cuts(one.input)) {
      const reply = new Reply({ dialect, join: false });
      const lines = pieces.map((piece) => reply.pushLines(piece)).join("") + reply.finishLines();
      assert.equal(lines, changes);
      assert.equal(pretty(reply.jsonOfAll), message);
      assert.deepEqual(reply.messages, JSON.parse(message).map(withNamedBytes));
    }
    // Objects say the same as the text, and joined growth adds up to it.
    for (const join of [false, true]) {
      const reply = new Reply({ dialect, join });
      const objects = [...[...cuts(one.input)].at(-1).flatMap((piece) => reply.push(piece)), ...reply.finish()];
      assert.deepEqual(grown(objects), grown(changes.trim().split("\n").filter(Boolean).map((line) => JSON.parse(line))));
      checkUnits(objects);
    }
  });
});

function withNamedBytes(message) {
  return { ...message, diagnostics: message.diagnostics.map(named) };
}

function named({ at, offset, ...rest }) {
  if (at !== undefined) rest.atByte = at;
  if (offset !== undefined) rest.offsetByte = offset;
  return rest;
}

/** The changes without offsets, with neighbouring growth of a block as one. */
function grown(changes) {
  const joined = [];
  for (const change of changes) {
    const [[kind, body]] = Object.entries(change);
    const last = joined.at(-1);
    if (kind === "grew" && last?.kind === "grew" && `${last.block}` === `${body.block}`) {
      last.text += body.text;
    } else if (kind === "grew") {
      joined.push({ kind, block: body.block, text: body.text });
    } else {
      const { at: _at, notice, ...rest } = body;
      const place = kind === "noticed" ? noticeWords(body) : rest;
      joined.push({ kind, ...place, ...(notice === undefined ? {} : { notice: noticeWords(notice) }) });
    }
  }
  return joined;
}

function noticeWords({ kind, message, hint }) {
  return { kind, message, hint };
}

/** Each growth starts where the text of its block ends, in units of JavaScript's strings. */
function checkUnits(changes) {
  let texts = new Map();
  for (const change of changes) {
    if ("started" in change) texts = new Map();
    const grew = change.grew ?? (change.signed && { ...change.signed, block: `s${change.signed.block}`, text: change.signed.signature });
    if (grew === undefined) continue;
    const before = texts.get(`${grew.block}`) ?? "";
    assert.equal(grew.at, before.length);
    texts.set(`${grew.block}`, before + grew.text);
  }
}

test("json", () => {
  each("json", 1, (one) => {
    const expected = one.text("expected.txt");
    // An object of JavaScript has its numeric keys first, so the order of the states is that of the case.
    const order = [...expected.matchAll(/^(?:complete|partial) (".*")$/gm)].map(([, pointer]) => JSON.parse(pointer));
    for (const pieces of cuts(one.text("input.txt"))) assert.equal(jsonLines(pieces, order), expected);
  });
});

function jsonLines(pieces, order) {
  const json = new PartialJson();
  const changes = [];
  for (const piece of pieces) {
    for (const change of json.push(piece)) {
      const [[kind, { path, text }]] = Object.entries(change);
      const line = `${kind} ${JSON.stringify(path)}`;
      if (kind !== "grew") changes.push([line]);
      else if (changes.at(-1)?.[0] === line) changes.at(-1)[1] += text;
      else changes.push([line, text]);
    }
    // What is kept on this side is what the engine has.
    const text = json.json;
    assert.deepEqual(json.value, text === undefined ? undefined : JSON.parse(text));
  }
  const lines = [json.json === undefined ? "no value" : `value ${json.json}`];
  if (json.value !== undefined) {
    assert.deepEqual(pointers(json.value).sort(), [...order].sort());
    for (const pointer of order) lines.push(`${json.state(pointer)} ${JSON.stringify(pointer)}`);
  }
  const twice = json.duplicateKeys;
  if (twice !== undefined) lines.push(`duplicate keys ${twice.count}, the first at byte ${twice.firstByte}`);
  for (const [line, text] of changes) lines.push(text === undefined ? line : `${line} by ${JSON.stringify(text)}`);
  try {
    json.finish();
    lines.push(`whole ${json.json}`);
  } catch (error) {
    lines.push(`not whole: ${error.message.slice(0, error.message.lastIndexOf(` (${error.hint})`))}`);
  }
  json.dispose();
  return `${lines.join("\n")}\n`;
}

function pointers(value) {
  if (typeof value !== "object" || value === null) return [""];
  const below = Object.entries(value).flatMap(([key, child]) =>
    pointers(child).map((rest) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}${rest}`),
  );
  return ["", ...below];
}

test("tags", () => {
  const list = JSON.parse(corpusFile("tags/tools.json"));
  each("tags", 2, (one) => {
    const profile = one.name.split("/")[1];
    // These profiles have lists of tools themselves.
    const options = /^(cline|roo)/.test(profile) ? { profile } : { profile, tools: list };
    const expected = one.text("blocks.json");
    const value = JSON.parse(expected);
    let message;
    for (const pieces of cuts(one.input)) {
      const { profile: _profile, ...found } = tools(pieces, options);
      assert.deepEqual(found, { ...value, diagnostics: value.diagnostics.map(named) });
      const live = new Tools(options);
      pieces.forEach((piece) => live.push(piece));
      live.finish();
      message ??= live.json;
      assert.equal(live.json, message);
    }
    const calls = JSON.parse(message).blocks.filter((block) => block.type === "tool_call");
    assert.deepEqual(calls.map((call) => call.name), value.blocks.filter((block) => block.type === "tool_call").map((call) => call.name));
  });
});

test("chunks", () => {
  each("chunks", 1, (one) => {
    const events = one.lines("input.ndjson");
    const expected = one.text("chunks.json");
    const live = new Chunks();
    assert.equal(events.map((event) => `${live.appendLine(event)}\n`).join(""), one.text("changes.ndjson"));
    assert.equal(pretty(live.json), expected);
    live.dispose();
    assert.deepEqual(chunks(events), JSON.parse(expected));
    // Some cases have numbers that JavaScript writes differently.
    const objects = events.map((event) => JSON.parse(event));
    const written = objects.map((event) => JSON.stringify(event));
    if (written.every((event, at) => event === events[at])) assert.deepEqual(chunks(objects), JSON.parse(expected));
    // Saved after each event and read back, the rest gives the same.
    for (let at = 0; at <= events.length; at += 1) {
      const first = new Chunks();
      events.slice(0, at).forEach((event) => first.append(event));
      const second = new Chunks({ from: first.json });
      events.slice(at).forEach((event) => second.append(event));
      assert.deepEqual(second.list, JSON.parse(expected).chunks);
      first.dispose();
      second.dispose();
    }
  });
});

test("transcript", () => {
  each("transcript", 1, (one) => {
    const entries = one.lines("input.ndjson");
    const steps = one.lines("steps.ndjson");
    const [live, copy] = [new Transcript(), new Transcript()];
    entries.forEach((entry, at) => {
      const step = live.appendLine(entry);
      assert.equal(step, steps[at]);
      assert.equal(live.appendLine(entry), undefined, "an entry is taken once");
      copy.followLine(step);
    });
    assert.equal(pretty(live.json), one.text("transcript.json"));
    assert.equal(copy.json, live.json);
    const resumed = new Transcript({ from: live.json });
    assert.equal(resumed.json, live.json);
    const objects = new Transcript();
    entries.forEach((entry) => objects.append(JSON.parse(entry)));
    assert.deepEqual(objects.state, JSON.parse(live.json));
    for (const transcript of [live, copy, resumed, objects]) transcript.dispose();
  });
});

const DIALECTS = ["anthropic", "openai-chat", "openai-responses", "gemini", "bedrock-converse", "cohere", "ollama"];

test("history", () => {
  each("history", 1, (one) => {
    const entries = one.lines("input.ndjson");
    const repairs = one.text("repairs.txt");
    for (const dialect of DIALECTS) {
      const request = history(dialect, entries);
      const expected = one.text(`${dialect}.json`);
      assert.equal(pretty(request.messagesText), expected);
      assert.deepEqual(request.messages, JSON.parse(expected));
      for (const repair of request.repairs) {
        assert.ok(repairs.includes(`${repair.seq} ${repair.kind} in `), `${repair.seq} ${repair.kind} of ${dialect}`);
        assert.ok(repairs.includes(repair.message));
      }
    }
  });
});

test("edits", () => {
  each("edit", 1, (one) => {
    const [before, after] = [one.files("before"), one.files("after")];
    const answer = one.text("answer.txt");
    const format = one.has("format") ? one.text("format").trim() : "auto";
    const report = applyEdits(before, answer, { format, keepGoing: true });
    const files = new Map(before);
    for (const file of report.files) {
      files.delete(file.path);
      const content = file.content === undefined ? file.bytes : new TextEncoder().encode(file.content);
      if (content !== undefined) files.set(file.to ?? file.path, content);
    }
    assert.ok(same(same(files, before) ? new Map() : files, after), "the files are not those of `after`");
    compareWithReport(one, report);
    compareWithCommand(one, report, format);
    const isWhole = report.problems.length === 0 && report.files.every((file) => file.edits.every((edit) => edit.outcome !== "rejected"));
    const careful = applyEdits(before, answer, { format });
    const hasContent = careful.files.some((file) => file.content !== undefined || file.bytes !== undefined);
    assert.ok(isWhole || !hasContent, "all of an answer is applied, or nothing");
  });
});

/**
 * The command line says the same, for the folder or, since there it does not look for a file that an answer does not
 * name, for the one file.
 */
function compareWithCommand(one, report, format) {
  const root = one.has("before") ? join(one.folder, "before") : empty;
  const [file, ...others] = one.files("before").keys();
  const targets = [["--root", root, "--dry-run"]];
  if (file !== undefined && others.length === 0) targets.push(["--original", join(root, file)]);
  const isSame = targets.some((target) => {
    const words = ["apply", ...target, "--json", "--keep-going", "--format", format, join(one.folder, "answer.txt")];
    const { stdout } = spawnSync(process.env.REKNIT, words, { encoding: "utf8" });
    const isOne = target[0] === "--original";
    return isDeepStrictEqual(comparable(JSON.parse(stdout), isOne), comparable(report, isOne));
  });
  assert.ok(isSame, "the report is not that of the command line");
}

/** A report without what differs for good reason: the name of the one file, bytes, and how an option is written. */
function comparable(report, isOne) {
  const files = report.files.map(({ path, bytes, ...file }) => ({
    ...file,
    path: isOne ? "" : path,
    bytes: typeof bytes === "object" ? Buffer.from(bytes).toString("base64") : bytes,
  }));
  const problems = report.problems.map(({ hint, ...problem }) => (problem.kind === "no-edits" ? problem : { hint, ...problem }));
  return { ...report, files, problems };
}

function same(left, right) {
  return left.size === right.size && [...left].every(([path, content]) => {
    const other = right.get(path);
    return other !== undefined && Buffer.compare(content, other) === 0;
  });
}

/** The report of the engine's own tests has a line for each edit. */
function compareWithReport(one, report) {
  const lines = [];
  if (!one.has("format")) lines.push(`format ${report.format ?? "not found"}`);
  for (const file of report.files) {
    for (const edit of file.edits) {
      const start = `edit ${edit.index + 1}, line ${edit.line}: `;
      if (edit.outcome === "rejected") lines.push(`${start}rejected, ${edit.reason}: ${edit.message}`, `  hint: ${edit.hint}`);
      else if (edit.outcome === "applied") lines.push(`${start}applied, ${edit.how}, `);
      else lines.push(`${start}unchanged`);
    }
  }
  for (const problem of report.problems) {
    lines.push(problem.kind === "no-edits" ? "nothing" : `problem ${problem.kind}: `);
  }
  const expected = one.text("report.txt").split("\n");
  let at = 0;
  for (const line of lines) {
    at = expected.findIndex((other, index) => index >= at && other.startsWith(line));
    assert.ok(at >= 0, `not in report.txt, or not there: ${line}`);
    at += 1;
  }
  const edits = (text) => text.filter((line) => /^(edit|problem|nothing)/.test(line)).length;
  assert.equal(edits(lines), edits(expected), "edits and problems");
}
