// How the package answers to wrong use, and what becomes of its memory.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { before, test } from "node:test";
import { gzipSync } from "node:zlib";

import { Frames, PartialJson, profiles, profileSource, read, ready, ReknitError, Reply, Tools, tools } from "reknit";
import { applyEdits, ready as readyForEdits } from "reknit/edits";
import { Chunks, chunks, history, ready as readyForSessions, Transcript } from "reknit/session";

before(() => Promise.all([ready(), readyForEdits(), readyForSessions()]));

/** A TypeError whose words say what to do. */
const mistake = (words) => (error) => {
  assert.ok(error instanceof TypeError, `${error.name}: ${error.message}`);
  assert.match(error.message, words);
  return true;
};

const failure = (kind) => (error) => {
  assert.ok(error instanceof ReknitError, `${error.name}: ${error.message}`);
  assert.equal(error.kind, kind);
  assert.ok(error.hint.length > 0);
  return true;
};

test("a wrong argument is a TypeError that says what is taken", async () => {
  const reply = new Reply();
  for (const wrong of [5, null, undefined, {}, [1, 2], true]) {
    assert.throws(() => reply.push(wrong), mistake(/^push takes bytes .* not /));
  }
  assert.throws(() => read(5), mistake(/^read takes a Response, .* not a number$/));
  assert.throws(() => read("https://example.org"), mistake(/fetch the address first/));
  assert.throws(() => read(Promise.resolve()), mistake(/await it first/));
  assert.throws(() => read([], 5), mistake(/options of read are an object/));
  assert.throws(() => read([], { signal: 5 }), mistake(/`signal` is an AbortSignal/));
  await assert.rejects(read([5]).next(), mistake(/gave a number/));
  assert.throws(() => new Reply({ dialect: "antropic" }), mistake(/antropic.*anthropic/s));
  assert.throws(() => new Reply({ profile: "clyne" }), mistake(/there is no profile `clyne` .*cline/s));
  assert.throws(() => new Reply({ dialct: "anthropic" }), mistake(/unknown field `dialct`.*`dialect`/s));
  assert.throws(() => new Reply({ limits: { blocks: -1 } }), mistake(/options are wrong/));
  assert.throws(() => new Reply({ numbers: "big" }), mistake(/`numbers` is "number" or "bigint"/));
  assert.throws(() => new Reply({ join: 1 }), mistake(/`join` is true or false/));
  assert.throws(() => new Reply({ tools: [1] }), mistake(/not a list of tools/));
  assert.throws(() => new Tools({}), mistake(/neither `profile` nor `grammar`/));
  assert.throws(() => new PartialJson().push(5), mistake(/^push takes a string, not a number/));
  assert.throws(() => new PartialJson({ depth: "a" }), mistake(/`depth` is a number/));
  assert.throws(() => applyEdits(5, ""), mistake(/applyEdits takes an object or a Map/));
  assert.throws(() => applyEdits({}, 5), mistake(/the answer is the text/));
  assert.throws(() => applyEdits({ a: 5 }, ""), mistake(/content of `a`/));
  assert.throws(() => applyEdits({}, "", { format: "diff" }), mistake(/there is no format `diff`/));
  assert.throws(() => chunks(5), mistake(/iterable of events/));
  assert.throws(() => new Chunks().append(5), mistake(/an event is an object/));
  assert.throws(() => new Transcript().append(5), mistake(/an entry is an object/));
  assert.throws(() => history("anthropic", 5), mistake(/iterable of entries/));
  assert.throws(() => history("antropic", []), mistake(/antropic/));
  assert.throws(() => new Frames({ framing: "see" }), mistake(/there is no framing `see`/));
  assert.throws(() => tools("", { profile: "cline", grammar: "" }), mistake(/both `profile` and `grammar` are set/));
  assert.throws(() => tools(5), mistake(/^tools takes bytes/));
  assert.throws(() => profileSource("nobody"), mistake(/there is no profile `nobody`/));
});

test("a wrong input is a ReknitError with its kind and a hint", () => {
  assert.throws(() => new Reply({ grammar: "name = 5" }), failure("malformed-grammar"));
  assert.throws(() => new Chunks().append("{"), failure("malformed-event"));
  assert.throws(() => history("agent-c", []), failure("no-requests"));
  const json = new PartialJson();
  json.push('{"a": tru');
  assert.throws(() => json.finish(), failure("cut-json"));
  assert.equal(json.error, undefined);
  json.push("th");
  assert.equal(json.error.kind, "malformed-json");
  assert.deepEqual(json.value, {});
  const small = new Reply({ limits: { replyBytes: 10 } });
  small.push("data: {}\n\ndata: {}\n\n");
  assert.equal(small.error.kind, "limit-reached");
});

test("what is finished or disposed says so", () => {
  const reply = new Reply();
  reply.push('data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n');
  reply.finish();
  assert.equal(reply.message.blocks[0].text, "Hi");
  assert.throws(() => reply.push(""), mistake(/this Reply is finished/));
  assert.throws(() => reply.finish(), mistake(/this Reply is finished/));
  const json = new PartialJson();
  json.dispose();
  json.dispose();
  assert.throws(() => json.push("1"), mistake(/this PartialJson was disposed/));
  assert.equal(typeof json[Symbol.dispose], "function");
});

test("text may be cut inside a character", () => {
  const json = new PartialJson();
  for (const unit of '{"a": "🙂"}'.split("")) json.push(unit);
  assert.deepEqual(json.finish(), { a: "🙂" });
  const reply = new Reply({ join: false });
  for (const unit of 'data: {"choices":[{"delta":{"content":"🙂é"}}]}\n\n'.split("")) reply.push(unit);
  const [change] = reply.push('data: {"choices":[{"delta":{"content":"!"}}]}\n\n');
  assert.equal(change.grew.at, "🙂é".length);
});

test("keys that an object inherits are only keys", () => {
  const json = new PartialJson();
  json.push('{"__proto__": {"polluted": true}, "constructor": "x", "a~/b": [1]}');
  assert.equal({}.polluted, undefined);
  assert.deepEqual(Object.keys(json.finish()), ["__proto__", "constructor", "a~/b"]);
  assert.equal(json.state("/a~0~1b/0"), "complete");
});

test("before an engine is loaded its classes say what to do", () => {
  const uses = { "reknit": "new Reply()", "reknit/edits": 'applyEdits({}, "")', "reknit/session": "new Chunks()" };
  for (const [entry, use] of Object.entries(uses)) {
    const name = /\w+(?=\()/.exec(use)[0];
    // That another one is loaded does not help.
    const other = entry === "reknit" ? "reknit/edits" : "reknit";
    const program = `import { ready as other } from "${other}"; import { ${name}, ready } from "${entry}"; await other(); try { ${use} } catch (error) { console.log(error.kind, error.message) } await ready(); ${use}; console.log("ready")`;
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
    assert.equal(stderr, "");
    assert.match(stdout, new RegExp(`^not-ready .*await ready\\(\\).* of "${entry}" .*\nready\n$`));
  }
});

test("initSync takes the module", () => {
  const program = 'import { readFileSync } from "node:fs"; import { initSync, Reply } from "reknit"; try { initSync(5) } catch (error) { console.log(error.name) } initSync(new WebAssembly.Module(readFileSync("node_modules/reknit/dist/entry/reply.wasm"))); console.log(new Reply().message.status)';
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  assert.equal(stderr, "");
  assert.equal(stdout, "TypeError\nwaiting\n");
});

test("profiles are listed, and their sources can be used", () => {
  const names = profiles();
  assert.ok(names.length >= 30 && names.includes("hermes"), names.join(" "));
  const text = '<tool_call>{"name": "now", "arguments": {}}</tool_call>';
  const own = tools(text, { grammar: profileSource("hermes") });
  const { profile, why, ...found } = tools(text);
  assert.deepEqual(found, own);
  assert.equal(typeof why, "string");
  assert.equal(found.blocks[0].name, "now", profile);
});

/** How large each compressed module may be; `bench/records` says what takes the most. */
const LARGEST = { reply: 450_000, edits: 260_000, session: 260_000 };

test("the modules do not grow unnoticed", () => {
  for (const [name, largest] of Object.entries(LARGEST)) {
    const module = readFileSync(join(import.meta.dirname, `node_modules/reknit/dist/entry/${name}.wasm`));
    const compressed = gzipSync(module, { level: 9 }).length;
    console.log(`${name}: ${module.length} bytes, ${compressed} compressed`);
    assert.ok(compressed <= largest, `${name}: ${compressed} bytes compressed`);
  }
});
