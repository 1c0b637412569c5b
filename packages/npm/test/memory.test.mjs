// Memory: it comes back when replies are over, and a panic does not spoil the rest. Run in processes of their own,
// whose memory nobody else uses.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

function run(program) {
  const words = ["--expose-gc", "--input-type=module", "-e", program];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: import.meta.dirname, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

/** The engine of the installed package, which exports more inside than to its users. */
const INSIDE = `
  import { Handle } from "./node_modules/reknit/dist/engine.js";
  import { engine } from "./node_modules/reknit/dist/modules/reply.js";`;

test("10,000 replies leave the memory as it was", () => {
  const { first, last } = run(`${INSIDE}
    import { read, Reply, ready } from "reknit";
    await ready();
    const delta = 'data: {"choices":[{"delta":{"content":"' + "x".repeat(20000) + '"}}]}\\n\\n';
    const end = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\\n\\ndata: [DONE]\\n\\n';
    async function replies(count) {
      for (let at = 0; at < count; at += 1) {
        if (at % 3 === 0) for await (const item of read([delta, end])) item.type;
        else if (at % 3 === 1) { const reply = new Reply(); reply.push(delta); reply.finish(); }
        else { const reply = new Reply(); reply.push(delta); reply.dispose(); }
      }
      return engine.memory();
    }
    const first = await replies(200);
    console.log(JSON.stringify({ first, last: await replies(10000) }));`);
  console.log(`memory of the engine: ${first} bytes after 200 replies, ${last} after 10,000 more`);
  assert.equal(last, first);
});

test("what nobody disposed is freed by the garbage collector", () => {
  const { first, last } = run(`${INSIDE}
    import { Reply, ready } from "reknit";
    await ready();
    const delta = 'data: {"choices":[{"delta":{"content":"' + "x".repeat(20000) + '"}}]}\\n\\n';
    async function replies(rounds) {
      for (let round = 0; round < rounds; round += 1) {
        for (let at = 0; at < 100; at += 1) new Reply().push(delta);
        gc();
        // Finalizers run between two tasks.
        await new Promise((resolve) => setImmediate(resolve));
      }
      return engine.memory();
    }
    const first = await replies(5);
    console.log(JSON.stringify({ first, last: await replies(50) }));`);
  assert.ok(last <= 2 * first, `${first} bytes, then ${last}`);
});

test("a trap in the engine retires the instance, and new values get a fresh one", () => {
  const outcome = run(`${INSIDE}
    import { PartialJson, ready, ReknitError, Reply } from "reknit";
    await ready();
    class Broken extends Handle {
      constructor() { super(engine, engine.call((bindings) => new bindings.PartialJson())); }
      // The pointer of a value that is not there: the engine reads beyond its memory.
      trap() { return this.use((inner) => { inner.__wbg_ptr = 0xfffffff0; return inner.push("{}"); }); }
    }
    const before = new Reply();
    const kinds = [];
    const kind = (work) => { try { work(); kinds.push("none"); } catch (error) { kinds.push(error instanceof ReknitError ? error.kind : String(error)); } };
    kind(() => new Broken().trap());
    kind(() => before.push("data: {}\\n\\n"));
    before.dispose();
    const after = new Reply();
    after.push('data: {"choices":[{"delta":{"content":"Hi"}}]}\\n\\n');
    after.finish();
    gc();
    await new Promise((resolve) => setImmediate(resolve));
    console.log(JSON.stringify({ kinds, text: after.message.blocks[0].text }));`);
  assert.deepEqual(outcome, { kinds: ["panicked", "panicked"], text: "Hi" });
});
